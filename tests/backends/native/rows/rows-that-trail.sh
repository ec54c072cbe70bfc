# Rows that are stored while the next one is worked on are those of numpy, whatever follows the sums: of one row, of the
# first and the last of many, with vectors that are not full, with results that go elsewhere too, and in f16.
. "$TEST_ROOT/tests/shell.sh"
for columns in '$C' 512 1000; do
  cat >f.ptir <<END
func @f(%x: tensor<\$R x $columns x f32>) -> (tensor<\$R x $columns x f32>, tensor<\$R x $columns x f32>, tensor<\$R x 1 x f32>) {
  %y = tensor.softmax %x : tensor<\$R x $columns x f32>
  %a = tensor.abs %x : tensor<\$R x $columns x f32>
  %n = tensor.neg %a : tensor<\$R x $columns x f32>
  %e = tensor.exp %n : tensor<\$R x $columns x f32>
  %s = tensor.reduce_sum %e {axis = 1} : tensor<\$R x 1 x f32>
  %p = tensor.mul %e, %s : tensor<\$R x $columns x f32>
  return %y, %p, %s
}
func @g(%x: tensor<\$R x $columns x f16>) -> tensor<\$R x $columns x f16> {
  %y = tensor.softmax %x : tensor<\$R x $columns x f16>
  return %y
}
END
  ends 0 pto-opt f.ptir --pipeline=native.yaml -o f.c
  # Rows of f32 that are not whole vectors are streamed from where each begins instead.
  told='of the row before'
  [ "$columns" != 1000 ] || told=PTO_SWEEP_FROM
  [ "$(grep -c "$told" f.c)" -ge 2 ] || fail "$columns columns: nothing trails"
  for rows in 1 2 67; do
    /usr/bin/python3 -c "
import numpy as np
r = np.random.default_rng($rows)
x = r.standard_normal(($rows, 777 if '$columns' == '\$C' else int('$columns' or 0))).astype(np.float32) * 9
x[-1, :3] = [0, -np.inf, 0]
np.savez('x.npz', x=x, h=x.astype(np.float16))" || fail "$columns columns"
    symbols="--sym=R=$rows"
    [ "$columns" != '$C' ] || symbols="$symbols --sym=C=777"
    for threads in 1 2; do
      # shellcheck disable=SC2086
      ends 0 pto-run f.ptir --entry=f --pipeline=native.yaml --in x=x.npz:x $symbols --set=backend.with.threads=$threads \
        --out y=$threads.npz:y --out p=$threads.npz:p --out s=$threads.npz:s
      # shellcheck disable=SC2086
      ends 0 pto-run f.ptir --entry=g --pipeline=native.yaml --in x=x.npz:h $symbols --set=backend.with.threads=$threads \
        --out y=$threads-16.npz:y
    done
    /usr/bin/python3 - <<'END' || fail "$columns columns, $rows rows"
import sys
import numpy as np

def softmax(x):
    e = np.exp(x - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)

data = np.load("x.npz")
got, half = np.load("1.npz"), np.load("1-16.npz")
x, h = data["x"].astype(np.float64), data["h"].astype(np.float64)
e = np.exp(-np.abs(x))
s = e.sum(1, keepdims=True)
for name, have, want, most in (("y", got["y"], softmax(x), 4e-6), ("p", got["p"], e * s, 4e-6), ("s", got["s"], s, 4e-6),
                               ("half", half["y"], softmax(h), 1e-3)):
    off = np.abs(have.astype(np.float64) - want).max() / np.abs(want).max()
    if not off <= most:
        sys.exit(f"{name}: {off}")
for name in "yps":
    if not np.array_equal(got[name], np.load("2.npz")[name]):
        sys.exit(f"{name}: other bits with two threads")
END
  done
done
