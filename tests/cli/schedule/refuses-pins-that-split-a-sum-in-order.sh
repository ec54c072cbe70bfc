# A pinned tile that splits the row of a sum in ascending order is refused at the pin: with the op where no tile holds
# the row, with the extent where one does.
set -e
. "$TEST_ROOT/tests/shell.sh"
cat >f.ptir <<'END'
func @f(%x: tensor<1 x 100000 x f32>) -> tensor<1 x 1 x f32> {
  %y = tensor.reduce_sum %x {axis = 1, order = "ascending"} : tensor<1 x 1 x f32>
  return %y
}
END
cat >pins.yaml <<'END'
pto-schedule: 1
decisions:
  - at: "@f/f_0"
    decide: tile
    value: { rows: 1, columns: 8 }
    pinned: true
END
exits 2 pto-opt f.ptir --passes=pto.fuse,pto.tile --machine=ascend-910b --schedule=pins.yaml -o out.ptir 2>err
grep -F 'f.ptir:2:8: error: [pto.tile/ascending-sum] a sum in ascending order needs its row in one tile, and rows are split into chunks of 8 columns' err
grep -x 'pins.yaml:3:5: note: the schedule pins it here' err

sed 's/100000/64/' f.ptir >short.ptir
exits 2 pto-opt short.ptir --pipeline=default.yaml --schedule=pins.yaml -o out.ptir 2>err
grep -xF 'pins.yaml:3:5: error: [E1804] the pinned tile has columns = 8, which must be a multiple of 64, or cover the whole extent' err
