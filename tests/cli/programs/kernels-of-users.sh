# Kernels of other kinds than the examples, at extents with 0 and 1, beside numpy in f64: states that a loop carries, a
# loop until it converges, rows that are chosen and put into places, a cache whose old row is read after it changed.
. "$TEST_ROOT/tests/shell.sh"
kernels=$TEST_ROOT/tests/cli/programs/inputs/kernels_of_users.py
/usr/bin/python3 -B "$kernels" reference.yaml >text 2>&1 || complain 'on reference'
/usr/bin/python3 -B "$kernels" default.yaml >text 2>&1 || complain 'on default'
is_sanitized || /usr/bin/python3 -B "$kernels" native.yaml sinkhorn delta_rule cache_step histogram >text 2>&1 || complain 'on native'
