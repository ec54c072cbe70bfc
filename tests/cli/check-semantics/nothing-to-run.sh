# Nothing to run, and a module that fails before any step.
. "$TEST_ROOT/tests/shell.sh"
. "$TEST_ROOT/tests/cli/check-semantics/inputs/liar.sh"
sed 's/^func @f/func private @f/' f.ptir >private.ptir
checked 2 private.ptir scales
says '^private.ptir: error: \[E1903\] --check=semantics has nothing to run: the module has no public function'
cat >zero.ptir <<'END'
func @f(%x: tensor<4 x i32>) -> tensor<4 x i32> {
  %z = tensor.constant {value = 0} : tensor<4 x i32>
  %e = tensor.div %x, %z : tensor<4 x i32>
  return %e
}
END
checked 5 zero.ptir swaps
says "error: \[pto.reference/division-by-zero\]"
says "note: --check=semantics cannot go on: this is the module as it was given"
