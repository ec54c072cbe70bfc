# Both arguments and both numbers are named.
. "$TEST_ROOT/tests/shell.sh"
cat >m.ptir <<'END'
func @f(%a: tensor<$N x f32>, %b: tensor<$N x f32>, %c: tensor<3 x f32>) -> tensor<$N x f32> {
  %y = tensor.add %a, %b : tensor<$N x f32>
  return %y
}
END
/usr/bin/python3 -c "
import numpy
for name, n in (('four', 4), ('five', 5), ('three', 3)):
    numpy.save(name + '.npy', numpy.zeros(n, numpy.float32))"
fails 4 'm.ptir:1:1: error: \[E1602\] \$N is 4 by dim 0 of `a` but 5 by dim 0 of `b`' \
  pto-run m.ptir --backend=pto.reference --in a=four.npy --in b=five.npy --in c=three.npy
fails 4 'four.npy: error: \[E1602\] dim 0 of `c` must be 3, the file has 4' \
  pto-run m.ptir --backend=pto.reference --in a=four.npy --in b=four.npy --in c=four.npy
cat >twice.ptir <<'END'
func @f(%a: tensor<$N x f32>, %b: tensor<2 * $N x f32>) -> tensor<$N x f32> {
  return %a
}
END
refuses 4 'five.npy: error: [E1602] dim 0 of `b` must be 2 * $N = 8, the file has 5; $N is 4 by dim 0 of `a`' \
  pto-run twice.ptir --backend=pto.reference --in a=four.npy --in b=five.npy
