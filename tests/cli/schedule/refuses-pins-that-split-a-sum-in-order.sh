# A pinned tile that splits the row of a sum in ascending order is refused at the pin, with the op.
set -e
. "$TEST_ROOT/tests/shell.sh"
cat >f.ptir <<'END'
func @f(%x: tensor<4 x 64 x f32>) -> tensor<4 x 1 x f32> {
  %y = tensor.reduce_sum %x {axis = 1, order = "ascending"} : tensor<4 x 1 x f32>
  return %y
}
END
cat >pins.yaml <<'END'
pto-schedule: 1
decisions:
  - at: "@f/f_0"
    decide: tile
    value: { rows: 4, columns: 8 }
    pinned: true
END
exits 2 pto-opt f.ptir --pipeline=default.yaml --schedule=pins.yaml -o out.ptir 2>err
grep -F 'f.ptir:2:8: error: [pto.tile/ascending-sum] a sum in ascending order needs its row in one tile, and rows are split into chunks of 8 columns' err
grep -x 'pins.yaml:3:5: note: the schedule pins it here' err
