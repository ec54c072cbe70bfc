# Sums that stay on chip for another product, each column times a factor, through the passes: what they mean comes out.
. "$TEST_ROOT/tests/shell.sh"
cat >f.ptir <<'MODULE'
func @f(%x: gm<16 x 64 x f16>, %w: gm<64 x 32 x f16>, %s: gm<1 x 64 x f32>, %z: gm<32 x 32 x i8>, %v: gm<32 x 16 x i8>, out %y: gm<64 x 16 x i32>) {
  forall "n" (%i) to (1) {
    %a = tile.load %x[0, 0] size(16, 64) : tile<16 x 64 x f16, ?>
    %b = tile.load %w[0, 0] size(64, 32) : tile<64 x 32 x f16, ?>
    %g = tile.load %s[0, 0] size(1, 64) : tile<1 x 64 x f32, ?>
    %base = tile.load %z[0, 0] size(32, 32) : tile<32 x 32 x i8, ?>
    %d = tile.load %v[0, 0] size(32, 16) : tile<32 x 16 x i8, ?>
    %e = tile.load %v[0, 0] size(16, 16) : tile<32 x 16 x i8, ?>
    %c = tile.matmul %a, %b : tile<16 x 32 x f32, ?>
    %whole = tile.move_fp %c, %g : tile<16 x 32 x i8, ?>
    %part = tile.extract_fp %c[0, 16], %g valid(16, 16) : tile<16 x 32 x i8, ?>
    %to = tile.insert_fp %base, %c[8, 0], %g : tile<32 x 32 x i8, ?>
    %p = tile.matmul %whole, %d : tile<16 x 16 x i32, ?>
    %q = tile.matmul %part, %e : tile<16 x 16 x i32, ?>
    %r = tile.matmul %to, %d : tile<32 x 16 x i32, ?>
    tile.store %p, %y[0, 0]
    tile.store %q, %y[16, 0]
    tile.store %r, %y[32, 0]
  }
  return
}
MODULE
cat >data.py <<'PY'
import numpy as np
rng = np.random.default_rng(7)
x, w = (rng.integers(-3, 4, n).astype(np.float16) for n in ((16, 64), (64, 32)))
z, v = (rng.integers(-128, 128, n).astype(np.int8) for n in ((32, 32), (32, 16)))
factors = rng.choice(np.array([0.25, 0.5, 1.5, -2], np.float32), 32)
words = np.stack([factors.view(np.uint32), np.full(32, 0x4000, np.uint32)], 1).view(np.float32).reshape(1, 64)
whole = np.clip(np.rint(x.astype(np.float64) @ w * factors), -128, 127).astype(np.int64)
to = z.astype(np.int64)
to[8:24] = whole
y = np.concatenate([whole @ v, whole[:, 16:] @ v[:16], to @ v]).astype(np.int32)
for name, a in (("x", x), ("w", w), ("s", words), ("z", z), ("v", v), ("y", y)):
    np.save(name + ".npy", a)
PY
/usr/bin/python3 data.py
ends 0 pto-opt f.ptir
says '%part = tile.extract_fp %c\[0, 16\], %g valid(16, 16) : tile<16 x 32 x i8, ?>' out
says '%to = tile.insert_fp %base, %c\[8, 0\], %g : tile<32 x 32 x i8, ?>' out
for how in reference.yaml "default.yaml --from=bufferize"; do
  # shellcheck disable=SC2086
  ends 0 pto-run f.ptir --pipeline=$how --in x=x.npy --in w=w.npy --in s=s.npy --in z=z.npy --in v=v.npy --expect y=y.npy --rtol=0 --atol=0
done
ends 0 pto-opt f.ptir --pipeline=default.yaml --from=bufferize
says 'pto.tmov_fp %whole, %c, %[a-z_]*$' out
says 'pto.textract_fp %part, %c\[0, 16\], %[a-z_]*$' out
says 'pto.tinsert_fp %base, %base, %c\[8, 0\], %[a-z_]*$' out

# A machine whose stores do not scale columns.
sed 's/store-scaled-columns:.*/store-scaled-columns: { i32: [f16] }/' "$TEST_BUILD/share/pto/pipelines/machines/ascend-910b.yaml" >less.yaml
fails 5 '\[pto.select/no-scale\] stores of the machine do not scale columns of f32 to i8 (`matrix.store-scaled-columns`)' \
  pto-opt f.ptir --pipeline=default.yaml --from=bufferize --machine=less.yaml
