# Examples of feed-forward blocks: the small size holds on reference and on the simulator.
. "$TEST_ROOT/tests/shell.sh"
small_holds ffn/swiglu ffn/relu
