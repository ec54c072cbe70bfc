# numpy.save keeps Fortran order; it is refused, not read in the wrong order.
set -eu
cat >f.ptir <<'END'
func @f(%x: tensor<2 x 2 x f32>) -> tensor<2 x 2 x f32> {
  return %x
}
END
{ printf '\223NUMPY\001\000\166\000'; printf '%-117s\n' "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2)}"; printf '0123456789abcdef'; } >x.npy
exits 4 pto-run --backend=pto.reference f.ptir --in=x=x.npy 2>x.txt
grep -qx 'x.npy: error: \[E1404\] the array is in Fortran order; only C order is read' x.txt
grep -qx 'note: save it with numpy.save(path, numpy.ascontiguousarray(array))' x.txt
