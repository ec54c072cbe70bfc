# 5: a pass fails, or breaks a rule of the host. 6: what a pass left is wrong.
. "$TEST_ROOT/tests/shell.sh"
. "$TEST_ROOT/tests/cli/exit-codes/inputs/files.sh"
wants 5 pto-opt good.ptir $(liar silent)
wants 5 pto-opt good.ptir $(liar uses-erased)
cat >two.ptir <<'END'
func @f(%x: tensor<4 x f32>) -> tensor<4 x f32> {
  %a = tensor.neg %x : tensor<4 x f32>
  %b = tensor.exp %a : tensor<4 x f32>
  return %b
}
END
wants 6 pto-opt two.ptir $(liar breaks-order)
