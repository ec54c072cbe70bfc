# Sums with {order = "ascending"} add their terms one by one as the index grows, on both pipelines. The terms are such
# that other orders compute other bits: numpy emulates the sums exactly and checks that of itself first. Passes before
# `tile` keep the attribute.
. "$TEST_ROOT/tests/shell.sh"
cat >sums.py <<'END'
import sys

import numpy as np

f32, f64 = np.float32, np.float64
K, C = 517, 300


def fused(acc, x, y):
    """round(acc + x * y) to f32 once: the product of two f32 is exact in f64, and a sum rounded to odd rounds on without harm."""
    p, a = x.astype(f64) * y.astype(f64), acc.astype(f64)
    s = a + p
    t = s - a
    lost = (a - (s - t)) + (p - t)
    bits = s.view(np.int64).copy()
    towards = np.where((lost > 0) == (s > 0), 1, -1)
    odd = (lost != 0) & ((bits & 1) == 0)
    return np.where(odd, bits + towards, bits).view(f64).astype(f32)


def chain_fused(a, b, order):
    acc = np.zeros((a.shape[0], b.shape[1]), f32)
    for k in order:
        acc = fused(acc, a[:, k : k + 1], b[k : k + 1, :])
    return acc


def chain_wide(a, b, order):
    acc = np.zeros((a.shape[0], b.shape[1]), f64)
    for k in order:
        acc = acc + a[:, k : k + 1].astype(f64) * b[k : k + 1, :].astype(f64)
    return acc.astype(f32)


def chain(x, order, width):
    acc = np.zeros(x.shape[0], width)
    for k in order:
        acc = acc + x[:, k].astype(width)
    return acc.astype(f32)


def chunks(n, size):
    return [range(i, min(i + size, n)) for i in range(0, n, size)]


def cancelling(rng, terms, count):
    """`count` terms (dim 0) of all sizes, most with their opposite somewhere else: what remains is what rounding leaves."""
    x = np.ldexp(rng.uniform(1, 2, (count, terms)), rng.integers(0, 60, (count, terms)))
    half = count // 2
    x[half : 2 * half] = -x[:half]
    return x.astype(f32)


def differs(name, want, other):
    if want.tobytes() == other.tobytes() or np.mean(want.view(np.uint32) != other.view(np.uint32)) < 0.5:
        sys.exit(f"{name} would go unnoticed")


def notice(name, n, whole, add):
    """`whole(order)` sums in an order; other orders, and sums of parts, must differ from the ascending one."""
    want = whole(range(n))
    differs(f"{name}: descending order", want, whole(range(n - 1, -1, -1)))
    differs(f"{name}: odd after even", want, whole([*range(0, n, 2), *range(1, n, 2)]))
    for size in (8, 16, 32, 64, 128, 256):
        parts = [whole(part) for part in chunks(n, size)]
        together = parts[0]
        for part in parts[1:]:
            together = add(together, part)
        differs(f"{name}: sums of {size} put together", want, together)
        differs(f"{name}: blocks of {size} exchanged", want, whole([k for part in reversed(chunks(n, size)) for k in part]))
    return want


rng = np.random.default_rng(20)
narrow = lambda p, q: p + q
wide = lambda p, q: (p.astype(f64) + q.astype(f64)).astype(f32)
a, b = cancelling(rng, 37, K).T, rng.uniform(1, 2, (K, 24)).astype(f32)
b[K // 2 : K // 2 * 2] = b[: K // 2]
mixed = rng.permutation(K)
a, b = np.ascontiguousarray(a[:, mixed]), np.ascontiguousarray(b[mixed])
x = np.ascontiguousarray(cancelling(rng, 11, C)[rng.permutation(C)].T)
np.save("a.npy", a), np.save("b.npy", b), np.save("x.npy", x), np.save("xt.npy", np.ascontiguousarray(x.T))
np.save("product.default.npy", notice("f32 products", K, lambda order: chain_fused(a, b, order), narrow))
np.save("product.reference.npy", notice("f64 products", K, lambda order: chain_wide(a, b, order), wide))
narrow_sum = notice("f32 sums", C, lambda order: chain(x, order, f32), narrow)
wide_sum = notice("f64 sums", C, lambda order: chain(x, order, f64), wide)
np.save("sum.default.npy", narrow_sum[:, None]), np.save("down.default.npy", narrow_sum[None, :])
np.save("sum.reference.npy", wide_sum[:, None]), np.save("down.reference.npy", wide_sum[None, :])
np.save("mean.default.npy", (narrow_sum * f32(1 / C))[:, None])
np.save("mean.reference.npy", (np.add.accumulate(x.astype(f64), axis=1)[:, -1:] / C).astype(f32))
# What sums in any order may be away from each other: the sum of the magnitudes, for each term half a unit in the last
# place.
print(np.max(np.abs(a) @ np.abs(b)) * K * 2.0**-24 + np.max(np.sum(np.abs(x), axis=1)) * C * 2.0**-24)
END
any=$(/usr/bin/python3 sums.py) || fail "$any"

cat >ascending.ptir <<'END'
func @f(%a: tensor<37 x 517 x f32>, %b: tensor<517 x 24 x f32>, %x: tensor<11 x 300 x f32>, %xt: tensor<300 x 11 x f32>)
    -> (tensor<37 x 24 x f32>, tensor<11 x 1 x f32>, tensor<1 x 11 x f32>, tensor<11 x 1 x f32>) {
  %product = tensor.matmul %a, %b {order = "ascending"} : tensor<37 x 24 x f32>
  %sum = tensor.reduce_sum %x {axis = 1, order = "ascending"} : tensor<11 x 1 x f32>
  %down = tensor.reduce_sum %xt {axis = 0, order = "ascending"} : tensor<1 x 11 x f32>
  %mean = tensor.reduce_mean %x {axis = 1, order = "ascending"} : tensor<11 x 1 x f32>
  return %product, %sum, %down, %mean
}
END
sed 's/, order = "ascending"//; s/ {order = "ascending"}//' ascending.ptir >any.ptir
grep -q order any.ptir && exit 1

# run MODULE TOLERANCE OPTIONS...: against the sums of pipeline $sums.
run() {
  module=$1 tolerance=$2
  shift 2
  set -- "$@" --in a=a.npy --in b=b.npy --in x=x.npy --in xt=xt.npy --rtol 0 --atol "$tolerance"
  for output in product sum down mean; do set -- "$@" --expect "$output=$output.$sums.npy"; done
  if ! pto-run "$module" "$@" >out.txt 2>&1 || [ "$(grep -c ': ok, ' out.txt)" -ne 4 ]; then
    complain "$module: other bits than numpy's $sums sums: $*"
  fi
}
for sums in default reference; do
  run ascending.ptir 0 --pipeline=$sums.yaml
  run any.ptir "$any" --pipeline=$sums.yaml
done
sums=default
run ascending.ptir 0 --pipeline=default.yaml --backend=pto.reference
# Several blocks of k, so that the blocks' sums could have been put together in another way.
pto-opt ascending.ptir --pipeline=default.yaml --until=tile | grep -qE 'for %ik to ([2-9]|[1-9][0-9]) carry' ||
  complain "the product is not summed in blocks of k"
[ "$(pto-opt ascending.ptir --pipeline=default.yaml --until=expand-math | grep -c 'order = "ascending"')" -eq 4 ] ||
  complain "a pass before tile loses the attribute"
