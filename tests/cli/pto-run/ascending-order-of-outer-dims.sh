# A sum over a dim before those of the tile adds index by index: the bits of an ascending sum in f32. Other orders would
# compute other bits.
set -e
. "$TEST_ROOT/tests/shell.sh"
cat >sum.ptir <<'END'
func @f(%x: tensor<$A x $B x 40 x f32>, %z: tensor<$A x 1 x 40 x f32>) -> tensor<1 x $B x 40 x f32> {
  %m = tensor.mul %x, %z : tensor<$A x $B x 40 x f32>
  %s = tensor.reduce_sum %m {axis = 0, order = "ascending"} : tensor<1 x $B x 40 x f32>
  return %s
}
END
/usr/bin/python3 - <<'END'
import numpy as np
rng = np.random.default_rng(5)
x = np.ldexp(rng.uniform(-2, 2, (61, 7, 40)), rng.integers(0, 20, (61, 7, 40))).astype(np.float32)
z = np.ldexp(np.ones((61, 1, 40)), rng.integers(-3, 3, (61, 1, 40))).astype(np.float32)
def chain(order):
    acc = np.zeros((1, 7, 40), np.float32)
    for a in order:
        acc = acc + x[a] * z[a]
    return acc
want = chain(range(61))
assert np.mean(want != chain(range(60, -1, -1))) > 0.5 and np.mean(want != chain([*range(0, 61, 2), *range(1, 61, 2)])) > 0.5
np.save("x.npy", x), np.save("z.npy", z), np.save("want.npy", want)
END
pto-run sum.ptir --in x=x.npy --in z=z.npy --expect s=want.npy >out || fail
grep -q '^s: ok, max abs error 0' out
