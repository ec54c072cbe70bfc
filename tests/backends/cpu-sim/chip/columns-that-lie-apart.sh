# Kernels that compute with columns of matrices, and store columns into them, run on chips that move lines of elements
# that follow each other alone.
. "$TEST_ROOT/tests/shell.sh"
exec /usr/bin/python3 -B "$TEST_ROOT/tests/backends/cpu-sim/chip/inputs/columns.py"
