# Where a machine converts and multiplies floats of one byte, quantising to them, products of them and scales that are
# powers of two run on it; so they do on the machine without, which computes their bits and multiplies in f16.
. "$TEST_ROOT/tests/shell.sh"
sed 's/^name: .*/name: bytes/; s/^    f32: \[/&f8e4m3, f8e5m2, f8e8m0, /; s/^    u8: \[f16\]/&\n    f8e4m3: [f32]\n    f8e5m2: [f32]\n    f8e8m0: [f32]/
  s/^\( *convert: .*dtypes: \[\)/\1f8e4m3, f8e5m2, f8e8m0, /; s/^\( *cycles-per-box: { \)/\1f8e4m3: 1, f8e5m2: 1, /' \
  "$TEST_ROOT/pipelines/machines/ascend-910b.yaml" >machine.yaml

cat >quantize.ptir <<'END'
func @f(%x: tensor<33 x 64 x f32>, %s: tensor<33 x 1 x f32>) -> tensor<33 x 64 x f8e4m3> {
  %y = tensor.quantize %x, %s : tensor<33 x 64 x f8e4m3>
  return %y
}
END
cat >blocks.ptir <<'END'
func @f(%x: tensor<$B x 64 x bf16>) -> (tensor<$B x 64 x f8e5m2>, tensor<$B x 2 x f8e8m0>) {
  %y, %s = tensor.quantize_block %x {block = 32} : tensor<$B x 64 x f8e5m2>, tensor<$B x 2 x f8e8m0>
  return %y, %s
}
END
cat >product.ptir <<'END'
func @f(%a: tensor<33 x 64 x f8e4m3>, %b: tensor<17 x 64 x f8e4m3>, %c: tensor<17 x f32>) -> tensor<33 x 17 x f16> {
  %y = tensor.matmul %a, %b, %c {transpose_b = true, out = f16, activation = "relu"} : tensor<33 x 17 x f16>
  return %y
}
END
cat >scaled.ptir <<'END'
func @f(%a: tensor<33 x 64 x f8e4m3>, %b: tensor<64 x 17 x f8e5m2>, %s: tensor<33 x 2 x f8e8m0>, %t: tensor<2 x 17 x f8e8m0>) -> tensor<33 x 17 x f32> {
  %y = tensor.scaled_matmul %a, %b, %s, %t {block = 32} : tensor<33 x 17 x f32>
  return %y
}
END
/usr/bin/python3 - <<'END'
import numpy as np
r = np.random.default_rng(3)
np.save("x.npy", (r.normal(size=(33, 64)) * 9).astype(np.float32))
np.save("s.npy", np.abs(r.normal(size=(33, 1))).astype(np.float32))
np.save("x16.npy", (r.normal(size=(33, 64)).astype(np.float32).view(np.uint32) >> 16).astype(np.uint16))
# Small numbers: sums are exact in any order.
np.save("a.npy", r.choice(np.array([0, 0x38, 0xb8, 0x40, 0x30], np.uint8), (33, 64)))
np.save("b.npy", r.choice(np.array([0, 0x38, 0xb8, 0x40, 0x30], np.uint8), (17, 64)))
np.save("d.npy", r.choice(np.array([0, 0x3c, 0xbc, 0x40], np.uint8), (64, 17)))
np.save("c.npy", r.integers(-4, 5, 17).astype(np.float32))
np.save("p.npy", r.choice(np.array([126, 127, 128], np.uint8), (33, 2)))
np.save("t.npy", r.choice(np.array([126, 127, 128], np.uint8), (2, 17)))
END
same() {
  name=$1
  shift
  ends 0 pto-run "$name.ptir" --pipeline=reference.yaml "$@" --out y=y.npy
  ends 0 pto-run "$name.ptir" --machine=machine.yaml "$@" --expect y=y.npy
  says '^y: ok' out || says '^y: ok' text
  ends 0 pto-run "$name.ptir" --pipeline=default.yaml "$@" --expect y=y.npy
  says '^y: ok' out || says '^y: ok' text
}
same quantize --in x=x.npy --in s=s.npy
same blocks --in x=x16.npy
same product --in a=a.npy --in b=b.npy --in c=c.npy
same scaled --in a=a.npy --in b=d.npy --in s=p.npy --in t=t.npy
