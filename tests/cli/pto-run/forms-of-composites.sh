# Norms, rope, swiglu, embedding, cross entropy, attention and conv2d of tests/fuzz/composites.py at their first sizes:
# numpy's results on both pipelines, NaN and infinities too, and the simulator's bits on reference.
. "$TEST_ROOT/tests/shell.sh"
# shellcheck disable=SC2153 # TEST_ROOT and TEST_SHARE come from run-golden
/usr/bin/python3 "$TEST_ROOT/tests/fuzz/forms.py" --groups composites --only '-(f32|bf16)-(special|i64|bool-causal)$|^(rope-.*-B x .*-(2-f32|64-bf16)|group_norm-4-f16|layer_norm-alone-f16|conv2d-(one-by-strides|padded|dilated|groups|first|first-groups)-(f32-f32-bias|i8-i32)|.*-(far-away|numbers|head|NaN))$' --sizes 1 --share "$TEST_SHARE" --keep . >out || fail
cat out
grep -qE '^[0-9]+ forms, [0-9]+ runs right, 0 wrong$' out
