# Fewer elements than the shape says; both numbers of bytes are named.
set -eu
cat >f.ptir <<'END'
func @f(%x: tensor<$n x f32>) -> tensor<$n x f32> {
  return %x
}
END
{ printf '\223NUMPY\001\000\166\000'; printf '%-117s\n' "{'descr': '<f4', 'fortran_order': False, 'shape': (3,)}"; printf '01234567'; } >x.npy
exits 4 pto-run --backend=pto.reference f.ptir --in=x=x.npy 2>x.txt
grep -qx 'x.npy: error: \[E1405\] the file is truncated: its shape needs 12 bytes of elements, 8 are there' x.txt
