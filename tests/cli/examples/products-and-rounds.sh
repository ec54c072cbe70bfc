# Examples of products, and of rounds in a loop: the small size holds on reference and on the simulator.
. "$TEST_ROOT/tests/shell.sh"
small_holds gemm/int8 gemm/turned gemm_residual/case sinkhorn_premix/case
