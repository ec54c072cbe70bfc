# The bits of a number that a bitcast makes are read as such, and not as the number that is converted.
. "$TEST_ROOT/tests/shell.sh"
cat >f.ptir <<'END'
func @f(%x: tensor<4 x f32>, %h: tensor<4 x f16>) -> (tensor<4 x f32>, tensor<4 x f16>) {
  %b = tensor.bitcast %x : tensor<4 x i32>
  %e = scalar_of %b[1] : i32
  %y = if %e == 1069547520 {
    %n = tensor.neg %x : tensor<4 x f32>
    yield %n
  } else {
    yield %x
  } : tensor<4 x f32>
  %c = tensor.bitcast %h : tensor<4 x i16>
  %d = scalar_of %c[3] : i16
  %z = if %d == 15872 {
    %m = tensor.neg %h : tensor<4 x f16>
    yield %m
  } else {
    yield %h
  } : tensor<4 x f16>
  return %y, %z
}
END
/usr/bin/python3 - <<'END' || exit 1
import numpy as np
x = np.array([1, 1.5, 2, 2.5], np.float32)
np.savez("in.npz", x=x, h=x[[3, 2, 0, 1]].astype(np.float16))
np.savez("out.npz", y=-x, z=-x[[3, 2, 0, 1]].astype(np.float16))
END
for pipeline in reference.yaml native.yaml; do
  ends 0 pto-run f.ptir --pipeline=$pipeline --in=x=in.npz:x --in=h=in.npz:h --expect=y=out.npz:y --expect=z=out.npz:z
done
