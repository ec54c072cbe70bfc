# Every byte as two halves, signed and not, and every pair of bytes as halves of one, by each way to take them apart; at
# extents of one and of a tail.
. "$TEST_ROOT/tests/shell.sh"
cat >f.ptir <<'END'
func @f(%x: tensor<$R x $N x u8>, %p: tensor<$R x 2 * $N x i8>) -> (tensor<$R x 2 * $N x i8>, tensor<$R x 2 * $N x u8>, tensor<$R x $N x u8>) {
  %i = tensor.unpack %x : tensor<$R x 2 * $N x i8>
  %u = tensor.unpack %x : tensor<$R x 2 * $N x u8>
  %b = tensor.pack %p : tensor<$R x $N x u8>
  return %i, %u, %b
}
END
/usr/bin/python3 - <<'END'
import numpy as np

for name, shape in ("all", (1, 256)), ("tall", (256, 1)), ("tail", (5, 37)):
    x = np.resize(np.arange(256, dtype=np.uint8), shape)
    p = np.resize(np.arange(256, dtype=np.uint8) * 7, (shape[0], 2 * shape[1])).view(np.int8)
    u = np.stack([x & 15, x >> 4], 2).reshape(p.shape)
    low = p.view(np.uint8) & 15
    for key, value in dict(x=x, p=p, u=u, i=np.where(u > 7, u - 16, u).astype(np.int8), b=low[:, ::2] | low[:, 1::2] << 4).items():
        np.save(f"{name}-{key}", value)
END
for name in all tall tail; do
  for pipeline in native default reference; do
    ends 0 pto-run f.ptir --pipeline=$pipeline.yaml --in x=$name-x.npy --in p=$name-p.npy --expect i=$name-i.npy --expect u=$name-u.npy --expect b=$name-b.npy
    for result in i u b; do says "^$result: ok, max abs error 0," out; done
  done
done
