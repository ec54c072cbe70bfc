# The smallest of u64 starts from 2^64 - 1, which no constant has; the ends of i64 come through too, whatever the rows.
. "$TEST_ROOT/tests/shell.sh"
for t in u i; do
  cat >$t.ptir <<END
func @f(%x: tensor<\$N x \$K x ${t}64>) -> (tensor<\$N x 1 x ${t}64>, tensor<\$N x 1 x ${t}64>, tensor<1 x \$K x ${t}64>) {
  %min = tensor.reduce_min %x {axis = 1} : tensor<\$N x 1 x ${t}64>
  %max = tensor.reduce_max %x {axis = 1} : tensor<\$N x 1 x ${t}64>
  %columns = tensor.reduce_min %x {axis = 0} : tensor<1 x \$K x ${t}64>
  return %min, %max, %columns
}
END
done
/usr/bin/python3 - <<'END'
import numpy as np

for name, low, high in ("u", 0, 2**64 - 1), ("i", -(2**63), 2**63 - 1):
    d = np.dtype(name + "8")
    x = np.random.default_rng(1).integers(low, high, (5, 3001), dtype=d, endpoint=True)
    x[0], x[1], x[2, 7], x[3] = high, low, high, high - 1
    ends = [np.array([[n], [n]], d) for n in (low, high)]
    for case, rows in ("all", x), ("one", x[:2, :1]), ("none", x[:2, :0]):
        np.savez(f"{name}-{case}.npz", x=rows, columns=rows.min(0, keepdims=True), min=rows.min(1, keepdims=True) if rows.size else ends[1],
                 max=rows.max(1, keepdims=True) if rows.size else ends[0])
END
for t in u i; do
  for case in all one none; do
    for with in --pipeline=native.yaml '--pipeline=native.yaml --machine=cpu-generic.yaml' --backend=pto.reference; do
      # shellcheck disable=SC2086
      ends 0 pto-run $t.ptir $with --in "x=$t-$case.npz:x" --expect "min=$t-$case.npz:min" \
        --expect "max=$t-$case.npz:max" --expect "columns=$t-$case.npz:columns"
    done
  done
done
