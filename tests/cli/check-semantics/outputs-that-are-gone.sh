# Integers; a function that is gone, another number of outputs or inputs, an error at run time; all public functions are
# run.
. "$TEST_ROOT/tests/shell.sh"
. "$TEST_ROOT/tests/cli/check-semantics/inputs/liar.sh"
cat >g.ptir <<'END'
func @f(%x: tensor<$N x 8 x i32>) -> (tensor<$N x 8 x i32>, tensor<$N x 8 x i32>) {
  %e = tensor.neg %x : tensor<$N x 8 x i32>
  return %x, %e
}
func @g(%x: tensor<$M x i32>) -> tensor<$M x i32> {
  %e = tensor.neg %x : tensor<$M x i32>
  return %e
}
END
checked 6 g.ptir erases
says 'error: \[E1902\] function @f is gone'
says "${blames}erases of plugin $liar) left a module that does not run on pto.reference, as it did before"
checked 6 g.ptir drops
says "${blames}drops of plugin $liar) changed number, element type or extents of the outputs of @f"
checked 6 g.ptir divides
says "error: \[pto.reference/division-by-zero\]"
says "${blames}divides of plugin $liar) left a module that does not run"
says 'note: @f was run on random inputs, seed 1, \$N = 37$'
checked 6 g.ptir adds-input
says "${blames}adds-input of plugin $liar) left a module that does not run"
says 'error: \[E1902\] @f has 2 inputs, it had 1'
# All public functions are run.
checked 0 g.ptir swaps
says '^semantics: @f on random inputs, \$N = 37$'
says '^semantics: @g on random inputs, \$M = 37$'
