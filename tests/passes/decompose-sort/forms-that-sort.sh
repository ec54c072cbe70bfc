# Every fourth form of tests/fuzz/order_ops.py, of ops that sort and one_hot, at its first size: bits of numpy on both
# pipelines, and those of the simulator on reference. Ties, NaN, infinities, both zeros, limits of types; then a few at
# all sizes.
set -e
. "$TEST_ROOT/tests/shell.sh"
/usr/bin/python3 "$TEST_ROOT/tests/fuzz/forms.py" --groups order_ops --sizes 1 --share "$((4 * TEST_SHARE))" --keep . >out || fail
cat out
grep -qE '^[0-9]+ forms, [0-9]+ runs right, 0 wrong(, [0-9]+ forms refused)?$' out
/usr/bin/python3 "$TEST_ROOT/tests/fuzz/forms.py" --groups order_ops --only '^(sort-2-f16|argsort-1-bf16|topk3-2-f32|one_hot-i8|gates)' --share "$TEST_SHARE" --keep . >out || fail
cat out
grep -qE '^[1-9] forms, [0-9]+ runs right, 0 wrong$' out
