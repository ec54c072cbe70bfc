# Windows, parts, padding and updates of tests/fuzz/forms.py in types of each width: numpy's bits on both pipelines, and
# the simulator's bits on reference.
set -e
. "$TEST_ROOT/tests/shell.sh"
/usr/bin/python3 "$TEST_ROOT/tests/fuzz/forms.py" --groups moves '--only=-(f32|bf16|i64|u8|bool)$|^[a-z-]*$' --sizes 1 --share "$TEST_SHARE" --keep . >out || fail
cat out
grep -qE '^[0-9]{2,} forms, [0-9]{2,} runs right, 0 wrong$' out
