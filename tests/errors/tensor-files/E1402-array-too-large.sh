# More dims or elements than are possible.
set -eu
cat >f.ptir <<'END'
func @f(%x: tensor<$n x f32>) -> tensor<$n x f32> {
  return %x
}
END
# array FILE SHAPE
array() {
  { printf '\223NUMPY\001\000\166\000'; printf '%-117s\n' "{'descr': '<f4', 'fortran_order': False, 'shape': $2}"; } >"$1"
}
array elements.npy '(4611686018427387904, 4)'
exits 4 pto-run --backend=pto.reference f.ptir --in=x=elements.npy 2>elements.txt
grep -qx 'elements.npy: error: \[E1402\] the array has more than 1152921504606846975 elements' elements.txt
array dims.npy '(1, 1, 1, 1, 1, 1, 1, 1, 1)'
exits 4 pto-run --backend=pto.reference f.ptir --in=x=dims.npy 2>dims.txt
grep -qx 'dims.npy: error: \[E1402\] the array has more than 8 dims' dims.txt
