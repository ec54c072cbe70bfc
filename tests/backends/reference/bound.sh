# The option `bound`: outputs hold the least or the most that the rows of the ops allow, or whether they allow NaN. What
# is exact on exact operands is what it is; errors grow with terms and magnitudes; a jump has both its sides; at every
# level.
. "$TEST_ROOT/tests/shell.sh"
run() { # MODULE OUTPUT OPTIONS..: o.npy, o-least.npy, o-most.npy, o-nan.npy
  module=$1 output=$2
  shift 2
  for mode in none least most nan; do
    printf 'pto-pipeline: 1\npasses: []\nbackend: { use: pto.reference, with: { bound: %s } }\n' "$mode" >p.yaml
    pto-run "$module" --pipeline=p.yaml "$@" --out "$output=o-$mode.npy" >out.txt 2>&1 || fail "$module, $mode"
  done
}
wants() { # WHAT CONDITION, in numpy with v, a, b, n: value, least, most, NaN
  /usr/bin/python3 -c "
import sys, numpy as np
v, a, b, n = [np.load(f'o-{m}.npy') for m in ('none', 'least', 'most', 'nan')]
u = 2.0**-23
with np.errstate(all='ignore'): sys.exit(not np.all($2))" || { /usr/bin/python3 -c "
import numpy as np
for m in ('none', 'least', 'most', 'nan'): print(m, np.load(f'o-{m}.npy').reshape(-1)[:8])"; fail "$1: $2"; }
}
/usr/bin/python3 - <<'END'
import numpy as np
np.save("x.npy", np.float32([[0.0, -0.0, 1, -1, 3e38, np.inf, -np.inf, np.nan]] * 2))
np.save("z.npy", np.float32([[0.0, 1.0, -1.0, 0.5, 2.5, -2.5, 30, -30]] * 2))
np.save("c.npy", np.float32([[1e8, 1.0, -1e8, 1.0]] * 2))
END
op() { # TEXT RESULT-DTYPE
  printf 'func @f(%%x: tensor<2 x 8 x f32>) -> tensor<2 x 8 x %s> {\n  %s\n  return %%y\n}\n' "$2" "$1" >f.ptir
}
op '%y = tensor.add %x, %x : tensor<2 x 8 x f32>' f32
run f.ptir y --in x=x.npy
wants "exact ops" '(a.view(np.uint32) == v.view(np.uint32)) & (b.view(np.uint32) == v.view(np.uint32)) & (n == np.isnan(v))'
op '%y = tensor.exp %x : tensor<2 x 8 x f32>' f32
run f.ptir y --in x=z.npy
wants "two units" '((v - a >= 0.9 * u * v) & (v - a <= 4.1 * u * v) & (b - v >= 0.9 * u * v) & (b - v <= 4.1 * u * v) | (v == np.inf) | (v < 1e-30)) & (n == 0)'
run f.ptir y --in x=x.npy
wants "overflow" '(b[:, 4:6] == np.inf) & (n[:, 7] == 1) & (n[:, :7].max() == 0)'
# What follows from an error: floor of e to the power of 0, which may be below 1; a pole on both sides; a wrap.
op '%e = tensor.exp %x : tensor<2 x 8 x f32>
  %y = tensor.cast %e {mode = "floor"} : tensor<2 x 8 x i32>' i32
run f.ptir y --in x=z.npy
wants "floor beside a whole number" '(a[:, 0] == 0) & (b[:, 0] == 1) & (a[:, 1] == b[:, 1]) & (a[:, 3] == b[:, 3])'
wants "a wrap" '(a[:, 6] == -2**31) & (b[:, 6] == 2**31 - 1)'
op '%e = tensor.exp %x : tensor<2 x 8 x f32>
  %g = tensor.log %e : tensor<2 x 8 x f32>
  %y = tensor.reciprocal %g : tensor<2 x 8 x f32>' f32
run f.ptir y --in x=z.npy
wants "a pole" '(a[:, 0] == -np.inf) & (b[:, 0] == np.inf) & (abs(b[:, 1] - a[:, 1]) < 1e-5)'
# All three operands of a clip count.
op '%e = tensor.exp %x : tensor<2 x 8 x f32>
  %c = tensor.constant {value = 100.0} : tensor<2 x 8 x f32>
  %y = tensor.clip %c, %c, %e : tensor<2 x 8 x f32>' f32
run f.ptir y --in x=z.npy
wants "a clip" '(a[:, :6] < v[:, :6]).all() & (v[:, :6] < b[:, :6]).all() & (a[:, 6] == 100) & (b[:, 6] == 100)'
# Zeros have signs; a root of what may be below zero may be NaN.
op '%y = tensor.neg %x : tensor<2 x 8 x f32>' f32
run f.ptir y --in x=x.npy
wants "signs of zeros" 'np.signbit(a[:, 0]) & np.signbit(b[:, 0]) & ~np.signbit(a[:, 1])'
op '%e = tensor.exp %x : tensor<2 x 8 x f32>
  %g = tensor.log %e : tensor<2 x 8 x f32>
  %y = tensor.sqrt %g : tensor<2 x 8 x f32>' f32
run f.ptir y --in x=z.npy
wants "NaN or not" '(n[:, 0] == 1) & (n[:, 1] == 0) & np.isnan(a[:, 2]) & (n[:, 2] == 1)'
# Sums: by terms and magnitudes; none where all sums are numbers of the type.
cat >sum.ptir <<'END'
func @f(%x: tensor<2 x 4 x f32>) -> tensor<2 x 1 x f32> {
  %y = tensor.reduce_sum %x {axis = 1} : tensor<2 x 1 x f32>
  return %y
}
END
run sum.ptir y --in x=c.npy
wants "cancellation" '(v == 2) & (a >= 2 - 60) & (a <= 2 - 8) & (b >= 2 + 8) & (b <= 2 + 60)'
/usr/bin/python3 -c "import numpy as np; np.save('i.npy', np.float32([[5, -3, 2, 1]] * 2))"
run sum.ptir y --in x=i.npy
wants "whole numbers" '(a == 5) & (b == 5)'
# Each of four products of bf16, and each of their three sums, may be 0 where it is below 2^-126; no more is missing
# than there is. Multiples of 2^-126 have no such sums, and those of f32 stay as they are.
products() { # TYPE
  cat >products.ptir <<END
func @f(%a: tensor<3 x 4 x $1>, %b: tensor<4 x 2 x $1>) -> tensor<3 x 2 x f32> {
  %y = tensor.matmul %a, %b {out = f32} : tensor<3 x 2 x f32>
  return %y
}
END
  run products.ptir y --in a="a-$1.npy" --in b="b-$1.npy"
}
/usr/bin/python3 - <<'END'
import numpy as np
a = 2.0**-64 * np.float32([[1, 1, 1, 1], [64, 64, 64, 1], [1, 1, -1, 0]])
b = 2.0**-64 * np.float32([[1, 1024], [1, 1024], [1, 1024], [1.5, 1024]])
for name, x in ("a", a), ("b", b):
    np.save(f"{name}-f32.npy", x)
    np.save(f"{name}-bf16.npy", (x.view(np.uint32) >> 16).astype(np.uint16))
END
products f32
wants "products of f32" '(a == v) & (b == v)'
products bf16
wants "seven zeros" '(v[1, 0] - a[1, 0] == 7 * 2.0**-126) & (b[1, 0] - v[1, 0] == 7 * 2.0**-126)'
wants "no more than there is" '(a[0, 0] == 0) & (a[2, 0] == -2.0**-127) & (b[2, 0] == 2.0**-126)'
wants "sums without subnormal numbers" '(a[:, 1] == v[:, 1]) & (b[:, 1] == v[:, 1])'
# A sum that overflows in f32, and not in a wider type.
cat >mean.ptir <<'END'
func @f(%x: tensor<2 x 3 x f32>) -> tensor<2 x 1 x f32> {
  %y = tensor.reduce_mean %x {axis = [1]} : tensor<2 x 1 x f32>
  return %y
}
END
/usr/bin/python3 -c "import numpy as np; np.save('m.npy', np.float32([[2e38, 2e38, 2e38], [-2e38, -2e38, -2e38]]))"
run mean.ptir y --in x=m.npy
wants "means beyond f32" '(a[0] <= 2e38) & (a[0] >= 1.99e38) & (b[0] == np.inf) & (a[1] == -np.inf) & (b[1] >= -2e38) & (b[1] <= -1.99e38)'
# The same program as instructions.
pto-opt sum.ptir --pipeline=default.yaml -o low.ptir || exit 1
run low.ptir y --in x=c.npy
wants "instructions" '(a <= 2 - 8) & (b >= 2 + 8) & (a >= 2 - 60) & (b <= 2 + 60)'
for m in least most; do mv "o-$m.npy" "low-$m.npy"; done
exits 5 sh -c 'sed -i "s/bound: nan/bound: all/" p.yaml && pto-run sum.ptir --pipeline=p.yaml --in x=c.npy' >out.txt 2>&1 || fail "all without memory"
grep -q 'error: \[pto.reference/arguments\] `bound: all` needs three times the memory of every output' out.txt || fail "all: text"
# A whole model keeps its values within its bounds.
pto-opt "$TEST_ROOT/examples/ffn/ffn.ptir" --pipeline=default.yaml --until=expand-math -o ffn.ptir || exit 1
run ffn.ptir y --sym T=2 --random-inputs 1
/usr/bin/python3 - <<'END' || fail "ffn"
import numpy as np
v, a, b = [(np.load(f"o-{m}.npy").astype(np.uint32) << 16).view(np.float32) for m in ("none", "least", "most")]
assert np.all((a <= v) & (v <= b)) and np.mean(b - a) < np.mean(np.abs(v)) / 10
END
