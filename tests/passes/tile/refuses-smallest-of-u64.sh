# On a machine that computes in u64 the start of a smallest element is not the value of any constant: said at the op.
set -e
. "$TEST_ROOT/tests/shell.sh"
sed 's/^  dtypes: \[f32,/  dtypes: [u64, f32,/' "$TEST_ROOT/pipelines/machines/ascend-910b.yaml" >machine.yaml
cat >f.ptir <<'END'
func @f(%x: tensor<8 x 64 x u64>) -> tensor<8 x 1 x u64> {
  %y = tensor.reduce_min %x {axis = 1} : tensor<8 x 1 x u64>
  return %y
}
END
exits 5 pto-opt f.ptir --pipeline=default.yaml --machine=./machine.yaml 2>err
grep -F 'f.ptir:2:8: error: [pto.tile/no-start] `tensor.reduce_min` in u64 starts from 2^64 - 1, which is not the value of any constant: choose a machine without u64 in `vector.dtypes`, or reduce numbers of i64' err
