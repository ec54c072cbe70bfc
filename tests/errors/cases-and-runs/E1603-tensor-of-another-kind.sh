# Element type, rank and shape of tensor files.
. "$TEST_ROOT/tests/shell.sh"
cat >m.ptir <<'END'
func @f(%x: tensor<$N x bf16>) -> tensor<$N x bf16> {
  return %x
}
END
/usr/bin/python3 -c "
import numpy
numpy.save('f32.npy', numpy.zeros(4, numpy.float32))
numpy.save('square.npy', numpy.zeros((2, 2), numpy.uint16))
numpy.save('bf16.npy', numpy.zeros(4, numpy.uint16))
numpy.save('longer.npy', numpy.zeros(5, numpy.uint16))"
ends 4 pto-run m.ptir --backend=pto.reference --in x=f32.npy
grep -q 'f32.npy: error: \[E1603\] `x` needs elements of type bf16, the file has <f4' text && grep -q 'note: bf16 is stored as <u2' text || fail
fails 4 'square.npy: error: \[E1603\] `x` needs rank 1, the file has rank 2' pto-run m.ptir --backend=pto.reference --in x=square.npy
fails 4 'pto-run: error: \[E1603\] the reference of `x` has the shape \[5\], the output \[4\]$' \
  pto-run m.ptir --backend=pto.reference --in x=bf16.npy --expect x=longer.npy
