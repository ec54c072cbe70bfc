# Examples that choose: the largest of a row, experts, keys. The small size holds on reference and on the simulator.
. "$TEST_ROOT/tests/shell.sh"
small_holds topk/case select_experts/case lightning_indexer/case
