# More than twenty faults that only silicon shows, each planted in a kernel that is right otherwise: `pto.reference`,
# which computes what instructions mean, runs every one of them; `pto.cpu-sim` names the instruction and its line.
. "$TEST_ROOT/tests/shell.sh"
exec /usr/bin/python3 -B "$TEST_ROOT/tests/backends/cpu-sim/chip/inputs/planted.py"
