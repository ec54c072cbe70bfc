# Some ops of tests/fuzz/single_ops.py on NaN, infinities, zeros, denormals and limits of types: numpy's results,
# rounded once, on both pipelines, and the simulator's bits on reference. `./dev fuzz forms` tries all ops and extents.
set -e
. "$TEST_ROOT/tests/shell.sh"
forms='^(mul-f16|div-f32|div-bf16|rsqrt-f16|sigmoid-f16|gelu-f16|silu-f32|tanh-bf16|maximum-ignore-f16|relu-i8|sub-u8|mean-.A x B.-.1.-f16|product-bf16|transpose-u8|neg-u16)$'
/usr/bin/python3 "$TEST_ROOT/tests/fuzz/forms.py" --groups single_ops --only "$forms" --sizes 1 --keep . >out || fail
cat out
grep -qx '15 forms, 30 runs right, 0 wrong' out
