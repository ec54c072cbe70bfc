# An instruction that goes by indices, and one of them is out of range: which, on both backends.
. "$TEST_ROOT/tests/shell.sh"
cat >rows.ptir <<'END'
func @f(%x: tensor<3 x 5 x f32>, %i: tensor<3 x 7 x i32>) -> tensor<3 x 7 x f32> {
  %y = tensor.gather %x, %i {axis = 1} : tensor<3 x 7 x f32>
  return %y
}
func @g(%x: tensor<3 x 5 x f32>, %i: tensor<3 x 7 x i32>, %v: tensor<3 x 7 x f32>) -> tensor<3 x 5 x f32> {
  %y = tensor.scatter %x, %i, %v {axis = 1} : tensor<3 x 5 x f32>
  return %y
}
END
/usr/bin/python3 -c 'import numpy as np
a = np.zeros((3, 7), np.int32)
a[2, 3] = 5
np.save("above.npy", a)
a[2, 3] = -1
np.save("below.npy", a)'
ends 5 pto-run rows.ptir --entry=f --random-inputs=1 --in i=above.npy
says 'rows.ptir:2:8: error: \[pto.cpu-sim/instruction\] in @f_0: tgather: index 5 at column 3 is out of the 5 elements'
ends 5 pto-run rows.ptir --entry=g --random-inputs=1 --in i=below.npy
says 'rows.ptir:6:8: error: \[pto.cpu-sim/instruction\] in @g_0: tscatter: index -1 at column 3 is out of the 5 elements'
ends 0 pto-opt rows.ptir --pipeline=default.yaml -o final.ptir
ends 5 pto-run final.ptir --entry=f --backend=pto.reference --random-inputs=1 --in i=above.npy
says 'tgather: index 5 at column 3 is out of the 5 elements'
