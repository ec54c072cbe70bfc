# Missing and unknown inputs and outputs.
. "$TEST_ROOT/tests/shell.sh"
cat >m.ptir <<'END'
func @f(%x: tensor<$N x f32>) -> tensor<$N x f32> {
  %y = tensor.neg %x : tensor<$N x f32>
  return %y
}
END
/usr/bin/python3 -c "import numpy; numpy.save('x.npy', numpy.zeros(4, numpy.float32))"
fails 4 'm.ptir:1:1: error: \[E1605\] input `x` was not given \[@f\]$' pto-run m.ptir --backend=pto.reference --sym N=4
ends 4 pto-run m.ptir --backend=pto.reference --in x=x.npy --in z=x.npy
grep -q 'x.npy: error: \[E1605\] the function has no input `z`' text && grep -q 'note: input `x`' text || fail
ends 4 pto-run m.ptir --backend=pto.reference --in x=x.npy --out z=z.npy
grep -q 'pto-run: error: \[E1605\] the function has no output `z`' text && [ ! -e z.npy ] || fail
