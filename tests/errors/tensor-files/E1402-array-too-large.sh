# More dims or elements than are possible.
set -e
. "$TEST_ROOT/tests/shell.sh"
cat >f.ptir <<'END'
func @f(%x: tensor<$n x f32>) -> tensor<$n x f32> {
  return %x
}
END
npy elements.npy "{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4)}" ''
fails 4 '^elements.npy: error: \[E1402\] the array has more than 1152921504606846975 elements$' pto-run --backend=pto.reference f.ptir --in=x=elements.npy
npy dims.npy "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 1, 1, 1, 1, 1, 1, 1)}" ''
fails 4 '^dims.npy: error: \[E1402\] the array has more than 8 dims$' pto-run --backend=pto.reference f.ptir --in=x=dims.npy
