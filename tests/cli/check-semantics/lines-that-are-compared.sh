# A sort compares each element with each of its line, and a kernel meets each window: symbols become as large as that
# allows, not as large as the results would.
. "$TEST_ROOT/tests/shell.sh"
cat >f.ptir <<'END'
func @f(%x: tensor<$N x f32>) -> (tensor<2 x f32>, tensor<2 x i32>) {
  %y, %i = tensor.topk %x {axis = 0, k = 2} : tensor<2 x f32>, tensor<2 x i32>
  return %y, %i
}
func @g(%x: tensor<1 x $N x 8 x 16 x f32>, %w: tensor<3 x 3 x 16 x 16 x f32>) -> tensor<1 x $N - 2 x 6 x 16 x f32> {
  %y = tensor.conv2d %x, %w : tensor<1 x $N - 2 x 6 x 16 x f32>
  return %y
}
END
for checked in f g; do
  ends 0 pto-run f.ptir --entry=$checked --random-inputs=1 --sym N=9 --passes=pto.decompose-sort,pto.decompose-conv2d --backend=pto.reference --check=semantics
  largest=$(sed -n "s/^semantics: @$checked on random inputs, \$N = //p" text | sort -n | tail -1)
  { [ "$largest" -gt 100 ] && [ "$largest" -lt 10000 ]; } || fail "@$checked up to $largest"
done
