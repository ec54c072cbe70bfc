# Missing and unknown inputs and outputs.
set -u
cat >m.ptir <<'END'
func @f(%x: tensor<$N x f32>) -> tensor<$N x f32> {
  %y = tensor.neg %x : tensor<$N x f32>
  return %y
}
END
/usr/bin/python3 -c "import numpy; numpy.save('x.npy', numpy.zeros(4, numpy.float32))"
exits 4 pto-run m.ptir --backend=pto.reference --sym N=4 2>text || exit 1
grep -q 'm.ptir:1:1: error: \[E1605\] input `x` was not given \[@f\]$' text || { cat text; exit 1; }
exits 4 pto-run m.ptir --backend=pto.reference --in x=x.npy --in z=x.npy 2>text || exit 1
grep -q 'x.npy: error: \[E1605\] the function has no input `z`' text && grep -q 'note: input `x`' text || { cat text; exit 1; }
exits 4 pto-run m.ptir --backend=pto.reference --in x=x.npy --out z=z.npy 2>text || exit 1
grep -q 'pto-run: error: \[E1605\] the function has no output `z`' text && [ ! -e z.npy ] || { cat text; exit 1; }
