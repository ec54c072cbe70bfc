# Element types without a counterpart, and big endian ones; the way out is said.
set -eu
cat >f.ptir <<'END'
func @f(%x: tensor<$n x f32>) -> tensor<$n x f32> {
  return %x
}
END
# array FILE DESCR
array() {
  { printf '\223NUMPY\001\000\166\000'; printf '%-117s\n' "{'descr': '$2', 'fortran_order': False, 'shape': (1,)}"; printf '12345678'; } >"$1"
}
array complex.npy '<c8'
exits 4 pto-run --backend=pto.reference f.ptir --in=x=complex.npy 2>complex.txt
grep -qx 'complex.npy: error: \[E1403\] element type .<c8. of the .npy file is not supported' complex.txt
grep -q '^note: supported: <f2 <f4 ' complex.txt
array big.npy '>f4'
exits 4 pto-run --backend=pto.reference f.ptir --in=x=big.npy 2>big.txt
grep -qx 'big.npy: error: \[E1403\] element type .>f4. is big endian; only little endian is read' big.txt
grep -q '^note: convert it with array.astype' big.txt
