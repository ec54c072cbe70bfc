# Kernels with compares, selects, sorts and merges are read back: masks and records, which the text has as bytes and as
# pairs of floats. The same bits on the simulator; the text is another one where waits for the scalar unit are read as
# flags, or runs of records as tiles of their own.
. "$TEST_ROOT/tests/shell.sh"
. "$TEST_ROOT/tests/readers/read-ascend/inputs/round_trips.sh"
round_trips modules_of_bits.txt 60 '^#' --bits
