# Examples of norms and of rope: the small size holds on reference and on the simulator.
. "$TEST_ROOT/tests/shell.sh"
small_holds layer_norm/bf16 rope/case rope/interleaved
