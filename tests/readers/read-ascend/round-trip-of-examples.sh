# What pto.emit-ascend writes for the assembler is read back, of examples of which it writes every kernel: the same
# text again, byte by byte, and on the simulator the same bits and the same counters. A pointer that a kernel sees in
# two shapes is two parameters where it is read, so sinkhorn_premix is none of them; where kernels hand over bits as
# bytes, or memory of one dim, a kernel is read as one of bytes and rows.
. "$TEST_ROOT/tests/shell.sh"
. "$TEST_ROOT/tests/readers/read-ascend/inputs/round_trips.sh"
round_trips modules.txt 240 '^#'
