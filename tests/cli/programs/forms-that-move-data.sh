# Transposes, constants and products of tests/fuzz/forms.py at their first sizes: numpy's results on both pipelines, and
# the simulator's bits on reference.
set -e
. "$TEST_ROOT/tests/shell.sh"
/usr/bin/python3 "$TEST_ROOT/tests/fuzz/forms.py" --groups transposes,constants,products --sizes 2 --share "$((TEST_SHARE == 1 ? 2 : TEST_SHARE))" --keep . >out || fail
cat out
grep -qE '^[0-9]{2,} forms, [0-9]{2,} runs right, 0 wrong$' out
