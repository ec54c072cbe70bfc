# A machine that fills no tiles of a float type cannot pad in it: said at the op. Of integers it copies a constant.
set -e
. "$TEST_ROOT/tests/shell.sh"
sed 's/^  fill: \(.*\)dtypes: \[f32, /  fill: \1dtypes: [/' "$TEST_ROOT/pipelines/machines/ascend-910b.yaml" >machine.yaml
pad() { # TYPE
  printf 'func @f(%%x: tensor<8 x 64 x %s>) -> tensor<8 x 66 x %s> {\n  %%y = tensor.pad %%x low(0, 1) high(0, 1) : tensor<8 x 66 x %s>\n  return %%y\n}\n' "$1" "$1" "$1"
}
pad f32 >f.ptir
exits 5 pto-opt f.ptir --pipeline=default.yaml --machine=./machine.yaml 2>err
grep -F 'f.ptir:2:8: error: [pto.tile/no-fill] `tensor.pad` needs tiles filled with f32, which the machine does not do: pad in another type' err
pad i64 >i.ptir
pto-opt i.ptir --pipeline=default.yaml --machine=./machine.yaml --until=tile >out
grep -F '%tpad = tile.load %pad[0, 0]' out || grep -F 'tile.load %pad[0, 0] size(1, 1)' out
