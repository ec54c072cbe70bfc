# Element types without a counterpart, and big endian ones; the way out is said.
set -e
. "$TEST_ROOT/tests/shell.sh"
cat >f.ptir <<'END'
func @f(%x: tensor<$n x f32>) -> tensor<$n x f32> {
  return %x
}
END
npy complex.npy "{'descr': '<c8', 'fortran_order': False, 'shape': (1,)}" 12345678
fails 4 '^complex.npy: error: \[E1403\] element type .<c8. of the .npy file is not supported$' pto-run --backend=pto.reference f.ptir --in=x=complex.npy
says '^note: supported: <f2 <f4 '
npy big.npy "{'descr': '>f4', 'fortran_order': False, 'shape': (1,)}" 12345678
fails 4 '^big.npy: error: \[E1403\] element type .>f4. is big endian; only little endian is read$' pto-run --backend=pto.reference f.ptir --in=x=big.npy
says '^note: convert it with array.astype'
