# Examples of kernels over pictures: the small size holds on reference and on the simulator.
. "$TEST_ROOT/tests/shell.sh"
small_holds conv2d/case conv2d/nchw conv2d/bf16
