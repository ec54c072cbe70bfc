# A pointer that a kernel sees in two shapes is launched in the one whose extents are its symbols, of which the other is
# a view, whichever comes first in the text; a pointer that no view is made of is not a parameter.
. "$TEST_ROOT/tests/shell.sh"
cat >k.pto <<'END'
func.func @k(%x: !pto.ptr<f32>, %unused: !pto.ptr<f32>, %n: index) {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %rows = arith.muli %n, %c4 : index
  %a = pto.make_tensor_view %x, shape = [%rows, %c4], strides = [%c4, %c1] : !pto.tensor_view<?x?xf32>
  %b = pto.make_tensor_view %x, shape = [%n, %c4, %c4], strides = [%c16, %c4, %c1] : !pto.tensor_view<?x?x?xf32>
  return
}
END
ends 0 pto-opt k.pto -o k.ptir
[ ! -s text ] || fail 'it warns'
says '^func @launch_k(%x: gm<$n x 4 x 4 x f32>) {$' k.ptir
says '^  %[a-z0-9_]* = view %x : gm<4 \* $n x 4 x f32>$' k.ptir
ends 0 pto-opt k.ptir --passes=
