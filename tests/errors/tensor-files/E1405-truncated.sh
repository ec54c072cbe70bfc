# Fewer elements than the shape says; both numbers of bytes are named.
set -e
. "$TEST_ROOT/tests/shell.sh"
cat >f.ptir <<'END'
func @f(%x: tensor<$n x f32>) -> tensor<$n x f32> {
  return %x
}
END
npy x.npy "{'descr': '<f4', 'fortran_order': False, 'shape': (3,)}" 01234567
fails 4 '^x.npy: error: \[E1405\] the file is truncated: its shape needs 12 bytes of elements, 8 are there$' pto-run --backend=pto.reference f.ptir --in=x=x.npy
