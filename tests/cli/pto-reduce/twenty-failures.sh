# Twenty recorded failures become at least ten times smaller and fail as before.
. "$TEST_ROOT/tests/shell.sh"
unset n
/usr/bin/python3 -B "$TEST_ROOT/tests/cli/pto-reduce/inputs/failures.py" "$TEST_PLUGINS" "$TEST_SHARE"
