# Rows without elements are not written: what lies after them stays.
. "$TEST_ROOT/tests/shell.sh"
cat >f.ptir <<'END'
func @f(%a: tensor<17 x 0 x f16>, %b: tensor<f16>, %x: tensor<2 x i32>, %n: tensor<$N x $N x f32>) -> (tensor<17 x 0 x bool>, tensor<2 x i32>, tensor<1 x 1 x bool>, tensor<$N x $N x f32>) {
  %g = tensor.ge %a, %b : tensor<17 x 0 x bool>
  %y = tensor.add %x, %x : tensor<2 x i32>
  %t = tensor.all %g {axis = [0, -1]} : tensor<1 x 1 x bool>
  %z = tensor.neg %n : tensor<$N x $N x f32>
  return %g, %y, %t, %z
}
END
for n in 0 1 2; do
  ends 0 pto-run f.ptir --backend=pto.reference --sym "N=$n" --random-inputs=3 --out g=r.npz:g --out y=r.npz:y --out t=r.npz:t --out z=r.npz:z
  ends 0 pto-run f.ptir --pipeline=native.yaml --sym "N=$n" --random-inputs=3 --expect g=r.npz:g --expect y=r.npz:y --expect t=r.npz:t --expect z=r.npz:z
done
