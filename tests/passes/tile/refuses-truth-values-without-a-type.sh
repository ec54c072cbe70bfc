# A machine that cannot make bytes of truth values, or numbers of bytes, has none on tiles: said at the op.
set -e
. "$TEST_ROOT/tests/shell.sh"
sed 's/^    bool: \[f16\]//' "$TEST_ROOT/pipelines/machines/ascend-910b.yaml" >machine.yaml
cat >f.ptir <<'END'
func @f(%x: tensor<8 x 64 x f32>) -> tensor<8 x 64 x bool> {
  %c = tensor.isnan %x : tensor<8 x 64 x bool>
  return %c
}
END
exits 5 pto-opt f.ptir --pipeline=default.yaml --machine=./machine.yaml 2>err
grep -F 'f.ptir:2:8: error: [pto.tile/no-truth-values] `tensor.ne` needs truth values on tiles, and the machine has no float type that it compares, selects, fills, and converts to bool and from it: choose another machine with --machine, or compute with numbers' err
