# What pto.emit-ascend writes for the assembler is read back, of examples of which it writes every kernel: the same
# text again, byte by byte, and on the simulator the same bits and the same counters. A pointer that a kernel sees in
# two shapes is two parameters where it is read, so sinkhorn_premix is none of them.
. "$TEST_ROOT/tests/shell.sh"
. "$TEST_ROOT/tests/readers/read-ascend/inputs/round_trips.sh"
round_trips 165 '^#'
