# Ops that become other instructions: a sum of three, a part of a tile that is all of it, a division in place, windows
# of more dims, events by kinds of instructions; products with a bias.
. "$TEST_ROOT/tests/shell.sh"
full='!pto.tile_buf<loc=vec, dtype=f32, rows=8, cols=8, v_row=8, v_col=8, blayout=row_major, slayout=none_box, fractal=512, pad=0>'
part='!pto.partition_tensor_view<8x8xf32>'
deep='!pto.partition_tensor_view<1x2x2x2x8xf32>'
cat >k.pto <<END
func.func @k(%p: !pto.ptr<f32>, %q: !pto.ptr<f32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %three = arith.constant 3.0 : f32
  %v = pto.make_tensor_view %p, shape = [%c1, %c2, %c2, %c2, %c8], strides = [%c64, %c32, %c16, %c8, %c1] : !pto.tensor_view<?x?x?x?x?xf32>
  %o = pto.make_tensor_view %q, shape = [%c8, %c8], strides = [%c8, %c1] : !pto.tensor_view<?x?xf32>
  %a = pto.partition_view %v, offsets = [%c0, %c0, %c0, %c0, %c0], sizes = [%c1, %c2, %c2, %c2, %c8] : !pto.tensor_view<?x?x?x?x?xf32> -> $deep
  %b = pto.subview %o, offsets = [%c0, %c0], sizes = [8, 8] : !pto.tensor_view<?x?xf32> -> $part
  %t = pto.alloc_tile : $full
  %u = pto.alloc_tile : $full
  pto.tload ins(%a : $deep) outs(%t : $full)
  pto.taddc ins(%t, %t, %t : $full, $full, $full) outs(%u : $full)
  pto.tdivs ins(%u, %three : $full, f32) outs(%u : $full)
  pto.tstore ins(%u : $full) outs(%b : $part)
  return
}
END
cat >data.py <<'END'
import numpy as np
x = np.random.default_rng(1).standard_normal((8, 8)).astype(np.float32)
np.save("p.npy", x.reshape(1, 2, 2, 2, 8))
np.save("q.npy", np.zeros((8, 8), np.float32))
np.save("y.npy", ((x + x) + x) * (np.float32(1) / np.float32(3)))
END
/usr/bin/python3 data.py
for how in --pipeline=pto-level2.yaml --backend=pto.reference; do
  ends 0 pto-run k.pto "$how" --in p=p.npy --in q=q.npy --expect q=y.npy --rtol=0 --atol=0
  says 'k.pto:18:3: warning: \[pto.read-ascend/in-place\] `pto.tdivs` divides in place, which the library of the chip does by a product with 0.333333343'
done
# The chip of the other line divides.
{ echo 'module attributes {pto.target_arch = "a5"} {' && cat k.pto && echo '}'; } >a5.pto
ends 0 pto-opt a5.pto
says 'pto.tdivs ' out

refused() {
  sed "$1" k.pto >wrong.pto
  fails 4 "^wrong.pto:[0-9]*:[0-9]*: error: \[pto.read-ascend/unsupported\] $2" pto-opt wrong.pto
}
refused 's/outs(%u : \(.*\))$/outs(%t : \1)/; s/^  pto.tdivs.*//' '`pto.taddc` has its last operand as its target'
refused 's/sizes = \[%c1, %c2, %c2, %c2/sizes = [%c1, %c2, %c1, %c2/' '`pto.tload` moves a window of more than two dims'
sed "s/^  pto.tdivs.*/  pto.textract ins(%u, %c0, %c8 : $full, index, index) outs(%t : $full)/" k.pto >wrong.pto
fails 5 '^wrong.pto:18:3: error: .* textract: 8 x 8 elements from \[0, 8\] on leave the valid region of 8 x 8' \
  pto-run wrong.pto --pipeline=pto-level2.yaml --in p=p.npy --in q=q.npy
sed 's/^  pto.tdivs.*/  pto.record_event[#pto.sync_op_type<TROW>, #pto.sync_op_type<TVEC>, <EVENT_ID0>]/' k.pto >wrong.pto
fails 4 '^wrong.pto:18:20: error: \[pto.read-ascend/unsupported\] `TROW` is not a kind of instructions; read are TLOAD,' pto-opt wrong.pto
sed 's/^  pto.tdivs.*/  pto.record_event[#pto.sync_op_type<TLOAD>, #pto.sync_op_type<TVEC>, <EVENT_ID0>]\
  pto.wait_event[#pto.sync_op_type<TLOAD>, #pto.sync_op_type<TVEC>, <EVENT_ID0>]/' k.pto >event.pto
ends 0 pto-opt event.pto
says 'pto.set_flag mte2 -> v event(0)' out

# A product with a bias, at level 3: addresses and flags.
cat >bias.py <<'END'
import numpy as np

def tile(loc, rows, at=None):
    kinds = dict(mat="blayout=col_major, slayout=row_major, fractal=512", left="blayout=col_major, slayout=row_major, fractal=512",
                 right="blayout=row_major, slayout=col_major, fractal=512", acc="blayout=col_major, slayout=row_major, fractal=1024",
                 bias="blayout=row_major, slayout=none_box, fractal=512")
    where = "mat" if loc == "line" else loc
    kind = kinds["bias" if loc == "line" else loc]
    return f"!pto.tile_buf<loc={where}, dtype=f32, rows={rows}, cols=16, v_row={rows}, v_col=16, {kind}, pad=0>"

M, L, R, A, B, N = tile("mat", 16), tile("left", 16), tile("right", 16), tile("acc", 16), tile("bias", 1), tile("line", 1)
P, Q = "!pto.partition_tensor_view<16x16xf32>", "!pto.partition_tensor_view<1x16xf32>"
print("func.func @k(%a: !pto.ptr<f32>, %b: !pto.ptr<f32>, %y: !pto.ptr<f32>) {")
for n in (0, 1, 16):
    print(f"  %c{n} = arith.constant {n} : index")
for n, rows in (("a", 16), ("b", 1), ("y", 16)):
    print(f"  %{n}v = pto.make_tensor_view %{n}, shape = [%c{rows}, %c16], strides = [%c16, %c1] : !pto.tensor_view<?x?xf32>")
    print(f"  %{n}p = pto.partition_view %{n}v, offsets = [%c0, %c0], sizes = [%c{rows}, %c16] : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<{rows}x16xf32>")
for n, t in (("m", M), ("n", N), ("l", L), ("r", R), ("c", A), ("d", B)):
    print(f"  %{n} = pto.alloc_tile : {t}")
print(f"""  pto.tload ins(%ap : {P}) outs(%m : {M})
  pto.tload ins(%bp : {Q}) outs(%n : {N})
  pto.tmov ins(%m : {M}) outs(%l : {L})
  pto.textract ins(%m, %c0, %c0 : {M}, index, index) outs(%r : {R})
  pto.tmov ins(%n : {N}) outs(%d : {B})
  pto.tmatmul.bias ins(%l, %r, %d : {L}, {R}, {B}) outs(%c : {A})
  pto.tstore ins(%c : {A}) outs(%yp : {P})
  return
}}""")
a, b = np.random.default_rng(1).integers(-9, 10, (2, 16, 16)).astype(np.float32)
np.save("a.npy", a)
np.save("b.npy", b[:1])
np.save("y.npy", a @ a + b[:1])
np.save("zero.npy", 0 * a)
END
/usr/bin/python3 bias.py >bias.pto
for how in --pipeline=pto-level2.yaml --backend=pto.reference; do
  ends 0 pto-run bias.pto "$how" --in a=a.npy --in b=b.npy --in y=zero.npy --expect y=y.npy --rtol=0 --atol=0
done
ends 0 pto-opt bias.pto --pipeline=pto-level2.yaml -o tree/
says 'TMATMUL_BIAS(' tree/kernel_k.cpp
text='--set=backend.with.generator={ use: pto.emit-ascend, with: { form: assembler } }'
ends 0 pto-opt bias.pto --pipeline=pto-level2.yaml "$text" -o asm/
says 'pto.tmatmul.bias ins(' asm/kernel_k.pto
