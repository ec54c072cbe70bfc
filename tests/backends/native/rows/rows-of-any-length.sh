# Rows whose length is known at run time alone are whole up to a border and in chunks beyond it: both are right, and so
# are rows of nothing, of one element, of NaN and of infinities. The border can be pinned.
. "$TEST_ROOT/tests/shell.sh"
cat >f.ptir <<'END'
func @f(%x: tensor<$R x $C x f32>, %g: tensor<$C x f32>) -> (tensor<$R x $C x f32>, tensor<$R x $C x f32>, tensor<$R x 1 x f32>) {
  %y = tensor.softmax %x : tensor<$R x $C x f32>
  %z = tensor.layer_norm %x, %g, %g : tensor<$R x $C x f32>
  %m = tensor.reduce_max %x {axis = 1} : tensor<$R x 1 x f32>
  return %y, %z, %m
}
END
ends 0 pto-opt f.ptir --pipeline=native.yaml --emit-schedule=s.yaml -o f.c
grep -qF 'if (C_ <= 16384)' f.c || fail 'no nest for whole rows'
pin() { # BORDER
  sed "/decide: whole-rows/{n;s/value: 16384/value: $1\n    pinned: true/;}" s.yaml >pinned.yaml
}
pin 99999
fails 2 'E1804. .whole-rows. of @f/f_0 is 99999; the largest legal value is 16384' pto-opt f.ptir --pipeline=native.yaml --schedule=pinned.yaml -o f.c
pin 9
ends 0 pto-opt f.ptir --pipeline=native.yaml --schedule=pinned.yaml -o f.c
grep -qF 'if (C_ <= 9)' f.c || fail 'the pinned border is not kept'

/usr/bin/python3 - <<'END' || exit 1
import numpy as np
for c in (1, 9, 10, 31, 1009, 16385):
    x = np.random.default_rng(c).standard_normal((5, c)).astype(np.float32)
    x[1], x[2], x[3, ::2] = -0.0, np.nan, -np.inf
    np.savez(f"x{c}.npz", x=x, g=np.ones(c, np.float32))
    d = x.astype(np.float64)
    with np.errstate(all="ignore"):
        e = np.exp(d - np.max(d, 1, keepdims=True))
        np.savez(f"y{c}.npz", y=(e / e.sum(1, keepdims=True)).astype(np.float32))
END
for c in 1 9 10 31 1009 16385; do
  for schedule in s.yaml pinned.yaml; do
    ends 0 pto-run f.ptir --pipeline=native.yaml --schedule=$schedule --in "x=x$c.npz:x" --in "g=x$c.npz:g" --expect "y=y$c.npz:y" \
      --atol 1e-6 --rtol 4e-6 --out "z=$schedule$c.npz:z" --out "m=$schedule$c.npz:m"
  done
  ends 0 pto-run f.ptir --backend=pto.reference --in "x=x$c.npz:x" --in "g=x$c.npz:g" --expect "z=s.yaml$c.npz:z" --expect "m=s.yaml$c.npz:m" \
    --atol 4e-6 --rtol 4e-6
done
ends 0 pto-run f.ptir --backend=pto.reference --sym R=3 --sym C=0 --random-inputs=3 --out m=r.npz:m
ends 0 pto-run f.ptir --pipeline=native.yaml --sym R=3 --sym C=0 --random-inputs=3 --expect m=r.npz:m
