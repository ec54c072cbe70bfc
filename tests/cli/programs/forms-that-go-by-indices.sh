# Ops that go by indices, and scans, of tests/fuzz/index_ops.py at their first size: numpy's results on both pipelines,
# and the simulator's bits on reference. Then a table and an index that are larger than a tile.
set -e
. "$TEST_ROOT/tests/shell.sh"
/usr/bin/python3 "$TEST_ROOT/tests/fuzz/forms.py" --groups index_ops --sizes 1 --share "$TEST_SHARE" --keep . >out || fail
cat out
grep -qE '^[0-9]+ forms, [0-9]{2,} runs right, 0 wrong$' out
/usr/bin/python3 "$TEST_ROOT/tests/fuzz/forms.py" --groups index_ops --only '^(take-1|index_add-1|cumsum-1)-f32' --sizes 6 --keep . >out || fail
cat out
