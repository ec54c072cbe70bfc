# Calls run where no call is known: kernels of the simulator compute what the interpreter of calls computes.
. "$TEST_ROOT/tests/shell.sh"
cat >m.ptir <<'EOF'
func private @normalise(%x: tensor<$N x $C x f32>, %g: tensor<$C x f32>) -> tensor<$N x $C x f32> where ($C >= 1) {
  %s = tensor.softmax %x : tensor<$N x $C x f32>
  %y = tensor.rms_norm %s, %g : tensor<$N x $C x f32>
  return %y
}
func @f(%x: tensor<$B x 37 x f32>, %g: tensor<37 x f32>) -> (tensor<$B x 37 x f32>, tensor<$B x 37 x f32>) {
  %y = call @normalise(%x, %g) : tensor<$B x 37 x f32>
  %a = tensor.add %y, %x : tensor<$B x 37 x f32>
  %z = call @normalise(%a, %g) : tensor<$B x 37 x f32>
  return %y, %z
}
EOF
for rows in 1 13 0; do
  run() { ends 0 pto-run m.ptir --sym=B=$rows --random-inputs=7 --pipeline="$1.yaml" "--out=y=$1-y.npy" "--out=z=$1-z.npy"; }
  run reference
  run default
  /usr/bin/python3 -c '
import numpy, sys
for name in "yz":
    a, b = (numpy.load(f"{p}-{name}.npy") for p in ("reference", "default"))
    assert a.shape == (int(sys.argv[1]), 37) and numpy.allclose(a, b, 1e-4, 1e-6), (name, a, b)' $rows || fail "$rows rows"
done
