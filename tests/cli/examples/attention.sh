# Examples of attention: the small size holds on reference and on the simulator.
. "$TEST_ROOT/tests/shell.sh"
small_holds attention/case attention/masked
