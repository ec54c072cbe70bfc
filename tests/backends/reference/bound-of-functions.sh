# The option `bound` of functions element by element: what float64 makes lies in their sets, of operands without error
# and of those that may err.
. "$TEST_ROOT/tests/shell.sh"
exec /usr/bin/python3 "$TEST_ROOT/tests/backends/reference/inputs/bound_of_functions.py"
