# Every cast with every option that has an effect becomes casts that the verifier takes.
. "$TEST_ROOT/tests/shell.sh"
exec /usr/bin/python3 -B "$TEST_ROOT/tests/passes/legalize-types/inputs/all_casts.py"
