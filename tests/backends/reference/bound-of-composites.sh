# The option `bound` of the ops that are made of many: attention, cross_entropy, conv2d, var, scaled_matmul, and of
# orders and quantisation. What float64 makes lies in their sets, and so does f32 with its sums in another order; the
# sets are not much wider than that.
. "$TEST_ROOT/tests/shell.sh"
exec /usr/bin/python3 "$TEST_ROOT/tests/backends/reference/inputs/bound_of_composites.py"
