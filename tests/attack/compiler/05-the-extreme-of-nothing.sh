# The maximum of no element is the lowest value of its type, the minimum the highest: on both pipelines, whatever NaN
# does, for bytes that are compared in a wider type, for each axis, with extents as numbers and as symbols. A row of NaN
# is not one of nothing.
set -e
. "$TEST_ROOT/tests/shell.sh"
forms='^(max|min)-ignore-\[A x B\]-\[1\]-f32|^max-ignore-\[A x B x C\]-\[0, 2\]-f16|^max-\[A x B\]-\[0\]-u8|^min-\[A x B\]-\[1\]-i8|^max-propagate-\[A x B x C\]-\[0, 1, 2\]-f32'
/usr/bin/python3 "$TEST_ROOT/tests/fuzz/forms.py" --groups single_ops --only "$forms" --empty --keep . >out || fail
cat out
grep -qE '^6 forms, [0-9]{2} runs right, 0 wrong$' out
for nan in ignore any propagate; do
  cat >e.ptir <<END
func @f(%x: tensor<2 x \$C x f32>) -> tensor<2 x 1 x f32> {
  %m = tensor.reduce_max %x {axis = 1, nan = "$nan"} : tensor<2 x 1 x f32>
  return %m
}
END
  pto-run e.ptir --sym C=0 --random-inputs 1 --compare=reference.yaml >out || fail
  grep -q 'm: 2 elements, the same bits' out || fail "$nan"
done
