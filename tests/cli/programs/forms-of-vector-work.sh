# Broadcasts and reductions of every kind that tests/fuzz/forms.py lists, at their first sizes: numpy's results on both
# pipelines, and the simulator's bits on reference. `./dev fuzz forms` tries all sizes, all steps and random programs.
set -e
. "$TEST_ROOT/tests/shell.sh"
/usr/bin/python3 "$TEST_ROOT/tests/fuzz/forms.py" --groups broadcasts,reductions --sizes 2 --share "$((TEST_SHARE == 1 ? 2 : TEST_SHARE))" --keep . >out || fail
cat out
grep -qE '^[0-9]{2,} forms, [0-9]{2,} runs right, 0 wrong$' out
