# A machine that cannot make numbers of truth values: said at the op.
set -e
. "$TEST_ROOT/tests/shell.sh"
sed 's/^    bool: \[f16\]//' "$TEST_ROOT/pipelines/machines/ascend-910b.yaml" >machine.yaml
cat >f.ptir <<'END'
func @f(%x: tensor<8 x 64 x bool>) -> tensor<8 x 1 x bool> {
  %y = tensor.any %x {axis = 1} : tensor<8 x 1 x bool>
  return %y
}
END
exits 5 pto-opt f.ptir --pipeline=default.yaml --machine=./machine.yaml 2>err
grep -F 'f.ptir:2:8: error: [pto.expand-math/no-truth-values] `tensor.any` becomes the largest of numbers 0 and 1, and the machine has no float type that it converts bool to, reduces and compares: choose another machine with --machine, or reduce numbers in the source' err
