# A product stored with a factor for each column: factors are words of 64 bits in the text, in memory and on chip.
. "$TEST_ROOT/tests/shell.sh"
tile() { echo "!pto.tile_buf<loc=$1, dtype=$2, rows=$3, cols=$4, v_row=$3, v_col=$4, blayout=$5, slayout=$6, fractal=$7, pad=0>"; }
A=$(tile mat f16 16 32 col_major row_major 512) L=$(tile left f16 16 32 row_major row_major 512)
B=$(tile mat f16 32 16 col_major row_major 512) R=$(tile right f16 32 16 row_major col_major 512)
C=$(tile acc f32 16 16 col_major row_major 1024) F=$(tile mat ui64 1 16 row_major none_box 512)
G=$(tile scaling ui64 1 16 row_major none_box 512)
view() { echo "  %$1v = pto.make_tensor_view %$1, shape = [%c$2, %c$3], strides = [%c$3, %c1] : !pto.tensor_view<?x?x$4>
  %$1p = pto.partition_view %$1v, offsets = [%c0, %c0], sizes = [%c$2, %c$3] : !pto.tensor_view<?x?x$4> -> !pto.partition_tensor_view<$2x$3x$4>"; }
cat >k.pto <<MODULE
func.func @k(%a: !pto.ptr<f16>, %b: !pto.ptr<f16>, %s: !pto.ptr<ui64>, %y: !pto.ptr<i8>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
$(view a 16 32 f16)
$(view b 32 16 f16)
$(view s 1 16 ui64)
$(view y 16 16 i8)
  %ta = pto.alloc_tile : $A
  %tb = pto.alloc_tile : $B
  %tf = pto.alloc_tile : $F
  %l = pto.alloc_tile : $L
  %r = pto.alloc_tile : $R
  %c = pto.alloc_tile : $C
  %g = pto.alloc_tile : $G
  pto.tload ins(%ap : !pto.partition_tensor_view<16x32xf16>) outs(%ta : $A)
  pto.tload ins(%bp : !pto.partition_tensor_view<32x16xf16>) outs(%tb : $B)
  pto.tload ins(%sp : !pto.partition_tensor_view<1x16xui64>) outs(%tf : $F)
  pto.tmov ins(%ta : $A) outs(%l : $L)
  pto.tmov ins(%tb : $B) outs(%r : $R)
  pto.tmov ins(%tf : $F) outs(%g : $G)
  pto.tmatmul ins(%l, %r : $L, $R) outs(%c : $C)
  pto.tstore_fp ins(%c, %g : $C, $G) outs(%yp : !pto.partition_tensor_view<16x16xi8>)
  return
}
MODULE
cat >data.py <<'PY'
import numpy as np
rng = np.random.default_rng(9)
a, b = (rng.integers(-3, 4, n).astype(np.float16) for n in ((16, 32), (32, 16)))
factors = rng.choice(np.array([0.25, 0.5, 1.5, -2], np.float32), 16)
np.save("a.npy", a)
np.save("b.npy", b)
np.save("s.npy", (factors.view(np.uint32).astype(np.uint64) | np.uint64(0x4000) << np.uint64(32)).reshape(1, 16))
np.save("zero.npy", np.zeros((16, 16), np.int8))
np.save("y.npy", np.clip(np.rint(a.astype(np.float64) @ b * factors), -128, 127).astype(np.int8))
PY
/usr/bin/python3 data.py
data='--in a=a.npy --in b=b.npy --in s=s.npy --in y=zero.npy --expect y=y.npy --rtol=0 --atol=0'
ends 0 pto-opt k.pto
says 'pto.tmov %g, %tf_factors$' out
says 'pto.tstore_fp %y\[0, 0\], %c, %g$' out
for how in --pipeline=pto-level2.yaml --backend=pto.reference; do
  # shellcheck disable=SC2086
  ends 0 pto-run k.pto "$how" $data
done
ends 0 pto-opt k.pto --pipeline=pto-level2.yaml -o tree/
says 'TSTORE_FP(y_at, c, g);' tree/kernel_k.cpp

# What is wrong with it.
sed 's/ins(%c, %g : /ins(%c : /' k.pto >wrong.pto
fails 4 '^wrong.pto:[0-9]*:[0-9]*: error: .*`,` and factors' pto-opt wrong.pto
sed 's/tstore_fp ins(%c, %g : \(.*\)) outs/tstore_fp ins(%c, %g : f32) outs/' k.pto >wrong.pto
fails 4 '^wrong.pto:[0-9]*:[0-9]*: error: .*`,` and a type' pto-opt wrong.pto
