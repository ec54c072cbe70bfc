# Casts from and to floats of one byte and within the limits of unsigned types, and sums, products and scalars of 64
# bits, against numpy's bits on both pipelines: ascend-910b has instructions for none of these.
set -e
. "$TEST_ROOT/tests/shell.sh"
casts='cast-(f32-f8e(4m3|5m2|8m0)-(rint|floor|odd)|f8e4m3-f16-r|f8e5m2-(f16-rint|i8-floor)|f8e8m0-bf16-c|f8e4m3-bool|i64-f8e4m3-rint|f32-u(32|64)-floor|[iu]64-)'
/usr/bin/python3 "$TEST_ROOT/tests/fuzz/forms.py" --groups casts_by_bits --only "$casts" --share "$((6 * TEST_SHARE))" --keep . >out || fail
grep -qE '^[0-9]+ forms, [1-9][0-9]* runs right, 0 wrong$' out
/usr/bin/python3 "$TEST_ROOT/tests/fuzz/forms.py" --groups wide_sums,wide_products,wide_products_at,wide_scalars --sizes 5 --share "$((4 * TEST_SHARE))" --keep . >out || fail
grep -qE '^[0-9]+ forms, [1-9][0-9]* runs right, 0 wrong$' out
