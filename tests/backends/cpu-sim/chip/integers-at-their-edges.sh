# Comparisons, quotients, shifts and roundings of integers at the ends of their range, as this chip computes them: those
# of numpy and of whole numbers.
. "$TEST_ROOT/tests/shell.sh"
exec /usr/bin/python3 -B "$TEST_ROOT/tests/backends/cpu-sim/chip/inputs/edges.py"
