# Sums in ascending order have the bits of a chain of additions in f32 where extents are symbols, and where rows are
# longer than a tile: along the last dim and the one before it. Other orders would compute other bits.
. "$TEST_ROOT/tests/shell.sh"
cat >sum.ptir <<'END'
func @f(%x: tensor<$M x $N x f32>, %z: tensor<$N x f32>, %w: tensor<3 x 2 x 20011 x f32>)
    -> (tensor<$M x 1 x f32>, tensor<$N x f32>, tensor<3 x 2 x f32>) {
  %t = tensor.mul %x, %z : tensor<$M x $N x f32>
  %across = tensor.reduce_sum %t {axis = 1, order = "ascending"} : tensor<$M x 1 x f32>
  %down = tensor.reduce_sum %t {axis = 0, order = "ascending", keepdim = false} : tensor<$N x f32>
  %long = tensor.reduce_sum %w {axis = -1, order = "ascending", keepdim = false} : tensor<3 x 2 x f32>
  return %across, %down, %long
}
END
/usr/bin/python3 - <<'END'
import numpy as np
rng = np.random.default_rng(5)
def numbers(*shape):
    return np.ldexp(rng.uniform(-2, 2, shape), rng.integers(0, 20, shape)).astype(np.float32)
x, w, z = numbers(61, 700), numbers(3, 2, 20011), np.ldexp(np.ones(700), rng.integers(-3, 3, 700)).astype(np.float32)
t = x * z
def chain(a, order):
    acc = np.zeros(a.shape[1:], np.float32)
    for i in order:
        acc = acc + a[i]
    return acc
for name, a, shape in (("across", t.T, (61, 1)), ("down", t, (700,)), ("long", np.moveaxis(w, 2, 0), (3, 2))):
    n = len(a)
    want = chain(a, range(n))
    assert np.mean(want != chain(a, range(n - 1, -1, -1))) > 0.5 and np.mean(want != chain(a, [*range(0, n, 2), *range(1, n, 2)])) > 0.5
    np.save(name + ".npy", want.reshape(shape))
np.save("x.npy", x), np.save("z.npy", z), np.save("w.npy", w)
END
ends 0 pto-run sum.ptir --in x=x.npy --in z=z.npy --in w=w.npy --expect across=across.npy --expect down=down.npy --expect long=long.npy --rtol=0 --atol=0
[ "$(grep -c ': ok, max abs error 0' out)" = 3 ] || fail "$(cat out)"
