# Sums that stay on chip, each column times a factor: all of them, a part of them, and put into a tile. Numbers beside
# numpy, C++, the text of the assembler, and that read back.
. "$TEST_ROOT/tests/shell.sh"
cat >k.ptir <<'MODULE'
module {machine = "ascend-910b"} {
  block.kernel @k core(cube) grid(%i: 1) reads(%x, %w, %s, %z) writes(%y) (%x: gm<16 x 64 x f16>, %w: gm<64 x 32 x f16>, %s: gm<1 x 64 x f32>, %z: gm<32 x 32 x i8>, out %y: gm<64 x 32 x i8>) {
    %m = block.buffer {space = mat, bytes_per_stage = 16384, addr = 0} : buffer
    %lb = block.buffer {space = left, bytes_per_stage = 2048, addr = 0} : buffer
    %rb = block.buffer {space = right, bytes_per_stage = 4096, addr = 0} : buffer
    %cb = block.buffer {space = acc, bytes_per_stage = 2048, addr = 0} : buffer
    %sb = block.buffer {space = scaling, bytes_per_stage = 256, addr = 0} : buffer
    %a = block.tile %m[0] valid(16, 64) : tile<16 x 64 x f16, mat, nz>
    %b = block.tile %m[0] {offset = 2048} valid(64, 32) : tile<64 x 32 x f16, mat, nz>
    %f = block.tile %m[0] {offset = 6144} valid(1, 64) : tile<1 x 64 x f32, mat, nd>
    %whole = block.tile %m[0] {offset = 8192} valid(16, 32) : tile<16 x 32 x i8, mat, nz>
    %part = block.tile %m[0] {offset = 10240} valid(16, 16) : tile<16 x 32 x i8, mat, nz>
    %to = block.tile %m[0] {offset = 12288} valid(32, 32) : tile<32 x 32 x i8, mat, nz>
    %l = block.tile %lb[0] valid(16, 64) : tile<16 x 64 x f16, left, zz>
    %r = block.tile %rb[0] valid(64, 32) : tile<64 x 32 x f16, right, zn>
    %c = block.tile %cb[0] valid(16, 32) : tile<16 x 32 x f32, acc, nz>
    %g = block.tile %sb[0] valid(1, 64) : tile<1 x 64 x f32, scaling, nd>
    pto.tload %a, %x[0, 0]
    pto.tload %b, %w[0, 0]
    pto.tload %f, %s[0, 0]
    pto.tload %to, %z[0, 0]
    pto.set_flag mte2 -> mte1 event(0)
    pto.set_flag mte2 -> fix event(0)
    pto.wait_flag mte2 -> mte1 event(0)
    pto.wait_flag mte2 -> fix event(0)
    pto.tmov %g, %f
    pto.tmov %l, %a
    pto.tmov %r, %b
    pto.set_flag mte1 -> m event(0)
    pto.wait_flag mte1 -> m event(0)
    pto.tmatmul %c, %l, %r
    pto.set_flag m -> fix event(0)
    pto.wait_flag m -> fix event(0)
    pto.barrier fix
    pto.tmov_fp %whole, %c, %g
    pto.textract_fp %part, %c[0, 16], %g
    pto.tinsert_fp %to, %to, %c[8, 0], %g
    pto.set_flag fix -> mte3 event(0)
    pto.wait_flag fix -> mte3 event(0)
    pto.tstore %y[0, 0], %whole
    pto.tstore %y[16, 0], %part
    pto.tstore %y[32, 0], %to
  }
  func @f(%x: gm<16 x 64 x f16>, %w: gm<64 x 32 x f16>, %s: gm<1 x 64 x f32>, %z: gm<32 x 32 x i8>, out %y: gm<64 x 32 x i8>) {
    exec.launch @k args(%x, %w, %s, %z, %y)
    return
  }
}
MODULE
cat >data.py <<'PY'
import numpy as np
rng = np.random.default_rng(7)
x, w = (rng.integers(-3, 4, n).astype(np.float16) for n in ((16, 64), (64, 32)))
z = rng.integers(-128, 128, (32, 32)).astype(np.int8)
factors = rng.choice(np.array([0.25, 0.5, 1.5, -2], np.float32), 32)
words = np.stack([factors.view(np.uint32), np.full(32, 0x4000, np.uint32)], 1).view(np.float32).reshape(1, 64)
whole = np.clip(np.rint(x.astype(np.float64) @ w * factors), -128, 127).astype(np.int8)
part = np.zeros((16, 32), np.int8)
part[:, :16] = whole[:, 16:]
to = z.copy()
to[8:24] = whole
for name, a in (("x", x), ("w", w), ("s", words), ("z", z), ("y", np.concatenate([whole, part, to]))):
    np.save(name + ".npy", a)
PY
/usr/bin/python3 data.py
data='--in x=x.npy --in w=w.npy --in s=s.npy --in z=z.npy --in y=zero.npy --expect y=y.npy --rtol=0 --atol=0'
/usr/bin/python3 -c "import numpy; numpy.save('zero.npy', numpy.zeros((64, 32), numpy.int8))"
sed 's/out %y:/inout %y:/' k.ptir >full.ptir
for backend in pto.reference pto.cpu-sim-unchecked; do
  # shellcheck disable=SC2086
  ends 0 pto-run full.ptir --passes= --machine=ascend-910b.yaml --backend=$backend $data
done

emit="$TEST_ROOT/tests/generators/emit-ascend/inputs/emit.yaml"
ends 0 pto-opt full.ptir --pipeline="$emit" -o tree/
says 'TMOV_FP(whole, c, g);' tree/kernel_k.cpp
says 'TEXTRACT_FP(part, c, g, 0, 16);' tree/kernel_k.cpp
says 'TINSERT_FP(to, c, g, 8, 0);' tree/kernel_k.cpp
ends 0 pto-opt full.ptir --pipeline="$emit" \
  '--set=backend.with.generator={ use: pto.emit-ascend, with: { form: assembler } }' -o assembler/
says 'pto.tmov.fp ins(%c, %g : ' assembler/kernel_k.pto
says 'pto.textract_fp ins(%c, %g, %' assembler/kernel_k.pto
says 'pto.tinsert_fp ins(%c, %g, %' assembler/kernel_k.pto
# shellcheck disable=SC2086
ends 0 pto-run assembler/kernel_k.pto --pipeline=pto-level3.yaml --backend=pto.reference $data
# shellcheck disable=SC2086
ends 0 pto-run assembler/kernel_k.pto --pipeline=pto-level3.yaml $data

# What cannot be.
sed 's/c\[0, 16\]/c[0, 8]/' full.ptir >wrong.ptir
# shellcheck disable=SC2086
fails 5 'textract_fp: column 8 is not a multiple of 16, at which factors begin' pto-run wrong.ptir --passes= --machine=ascend-910b.yaml --backend=pto.reference $data
sed 's/x i8/x u8/' full.ptir >wrong.ptir
fails 4 '\[E0212\] `pto.tmov_fp` makes f32 i8 and i32 as f16, i8 or u8; got f32 as u8' pto-opt wrong.ptir
sed 's/%g = block.tile %sb\[0\] valid(1, 64)/%g = block.tile %sb[0] valid(1, 62)/' full.ptir >wrong.ptir
fails 4 '\[E0223\] `pto.tmov_fp` needs two words in %g for each column that it stores, got 62 for 32' pto-opt wrong.ptir
