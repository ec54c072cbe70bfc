# The option `bound`: no row of tensor.def lets its results be anything on operands without error. On operands that may
# err the ops do that are listed in docs/checking.md, and no others.
. "$TEST_ROOT/tests/shell.sh"
exec /usr/bin/python3 "$TEST_ROOT/tests/backends/reference/inputs/every_row_has_bounds.py"
