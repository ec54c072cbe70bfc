# Weights of 4 bits, two in a byte, the low half first: made i8, scaled by a factor for each 32 of k, and multiplied; on
# both pipelines what numpy has, to the bit: all sums are exact.
. "$TEST_ROOT/tests/shell.sh"
cat >f.ptir <<'END'
func @f(%x: tensor<$T x 128 x f16>, %q: tensor<$T x 128 x i8>, %w: tensor<128 x 32 x u8>, %s: tensor<4 x 1 x 64 x f16>) -> (tensor<$T x 64 x f32>, tensor<$T x 64 x i32>) {
  %i = tensor.unpack %w : tensor<128 x 64 x i8>
  %h = tensor.cast %i : tensor<128 x 64 x f16>
  %g = tensor.reshape %h : tensor<4 x 32 x 64 x f16>
  %d = tensor.mul %g, %s : tensor<4 x 32 x 64 x f16>
  %r = tensor.reshape %d : tensor<128 x 64 x f16>
  %y = tensor.matmul %x, %r {out = f32} : tensor<$T x 64 x f32>
  %z = tensor.matmul %q, %i {out = i32} : tensor<$T x 64 x i32>
  return %y, %z
}
END
/usr/bin/python3 - <<'END'
import numpy as np

rng = np.random.default_rng(4)
x, q = (rng.integers(-64, 65, (33, 128)) / 8).astype(np.float16), rng.integers(-128, 128, (33, 128), np.int8)
i, s = rng.integers(-8, 8, (128, 64), np.int8), 2.0 ** rng.integers(-4, 1, (4, 1, 64))
s = s.astype(np.float16)
nibbles = i.view(np.uint8) & 15
w = (i.reshape(4, 32, 64).astype(np.float16) * s).reshape(128, 64)
np.save("x", x), np.save("q", q), np.save("s", s), np.save("w", nibbles[:, ::2] | nibbles[:, 1::2] << 4)
np.save("y", x.astype(np.float32) @ w.astype(np.float32)), np.save("z", q.astype(np.int32) @ i.astype(np.int32))
END
for pipeline in default reference; do
  ends 0 pto-run f.ptir --pipeline=$pipeline.yaml --in x=x.npy --in q=q.npy --in w=w.npy --in s=s.npy --expect y=y.npy --expect z=z.npy
  says '^y: ok, max abs error 0,' out
  says '^z: ok, max abs error 0,' out
done
