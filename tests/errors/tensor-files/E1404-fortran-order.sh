# numpy.save keeps Fortran order; it is refused, not read in the wrong order.
set -e
. "$TEST_ROOT/tests/shell.sh"
cat >f.ptir <<'END'
func @f(%x: tensor<2 x 2 x f32>) -> tensor<2 x 2 x f32> {
  return %x
}
END
npy x.npy "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2)}" 0123456789abcdef
fails 4 '^x.npy: error: \[E1404\] the array is in Fortran order; only C order is read$' pto-run --backend=pto.reference f.ptir --in=x=x.npy
says '^note: save it with numpy.save(path, numpy.ascontiguousarray(array))$'
