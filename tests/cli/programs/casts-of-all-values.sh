# Casts that take several instructions, and arithmetic on bytes, on all values of types of 16 bits and chosen ones of
# others: the bits of tests/kernels/elements.py on both pipelines. Rounding twice would show.
set -e
. "$TEST_ROOT/tests/shell.sh"
forms='cast-(f32|bf16|i16)-i8-(rint|floor)|cast-(f32|i64)-u8-odd|cast-i(32|64)-bf16|cast-i64-f16-r|cast-u8-bf16|cast-i8-f32-rint|cast-f16-bf16-r.*-saturate|^(add|sub|mul|neg)-|product'
/usr/bin/python3 "$TEST_ROOT/tests/fuzz/forms.py" --groups casts,byte_arithmetic --only "$forms" --share "$TEST_SHARE" --keep . >out || fail
cat out
grep -qE '^[0-9]+ forms, [1-9][0-9]* runs right, 0 wrong$' out
