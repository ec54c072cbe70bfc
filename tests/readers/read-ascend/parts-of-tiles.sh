# A part of a tile, and two tiles side by side, and printed: what runs, and what is written again for the assembler and
# as C++.
. "$TEST_ROOT/tests/shell.sh"
tile() { echo "!pto.tile_buf<loc=vec, dtype=f32, rows=$1, cols=$2, v_row=$1, v_col=$2, blayout=row_major, slayout=none_box, fractal=512, pad=0>"; }
whole=$(tile 8 24) part=$(tile 4 8) both=$(tile 4 16)
from='!pto.partition_tensor_view<8x24xf32>' to='!pto.partition_tensor_view<4x16xf32>'
cat >k.pto <<END
func.func @k(%p: !pto.ptr<f32>, %q: !pto.ptr<f32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c24 = arith.constant 24 : index
  %v = pto.make_tensor_view %p, shape = [%c8, %c24], strides = [%c24, %c1] : !pto.tensor_view<?x?xf32>
  %o = pto.make_tensor_view %q, shape = [%c4, %c16], strides = [%c16, %c1] : !pto.tensor_view<?x?xf32>
  %a = pto.partition_view %v, offsets = [%c0, %c0], sizes = [%c8, %c24] : !pto.tensor_view<?x?xf32> -> $from
  %b = pto.partition_view %o, offsets = [%c0, %c0], sizes = [%c4, %c16] : !pto.tensor_view<?x?xf32> -> $to
  %t = pto.alloc_tile : $whole
  %l = pto.alloc_tile : $part
  %r = pto.alloc_tile : $part
  %y = pto.alloc_tile : $both
  pto.tload ins(%a : $from) outs(%t : $whole)
  pto.textract ins(%t, %c3, %c16 : $whole, index, index) outs(%l : $part)
  pto.textract ins(%t, %c4, %c0 : $whole, index, index) outs(%r : $part)
  pto.tconcat ins(%l, %r : $part, $part) outs(%y : $both)
  pto.tstore ins(%y : $both) outs(%b : $to)
  pto.tprint ins(%y : $both)
  pto.tprint ins(%b : $to)
  return
}
END
cat >data.py <<'END'
import numpy as np
x = np.random.default_rng(1).standard_normal((8, 24)).astype(np.float32)
np.save("p.npy", x)
np.save("q.npy", np.zeros((4, 16), np.float32))
np.save("y.npy", np.concatenate([x[3:7, 16:], x[4:, :8]], 1))
END
/usr/bin/python3 data.py
for how in --pipeline=pto-level2.yaml --backend=pto.reference; do
  ends 0 pto-run k.pto "$how" --in p=p.npy --in q=q.npy --expect q=y.npy --rtol=0 --atol=0
  says '^k.pto:[0-9]*:3: note: \[pto.tprint\] instance \[0\]: 4 x 16 x f32$'
  says '^k.pto:[0-9]*:3: warning: \[pto.read-ascend/print\] `pto.tprint` prints tiles of vector cores here: of other memory it is left out; load or move what is to be seen to such a tile$'
done
ends 0 pto-opt k.pto --pipeline=pto-level2.yaml -o tree/
says 'TEXTRACT(l, t, 3, 16);' tree/kernel_k.cpp
says 'TCONCAT(y, l, r);' tree/kernel_k.cpp
says 'print_tile(y);' tree/kernel_k.cpp
ends 0 pto-opt k.pto --pipeline=pto-level2.yaml \
  '--set=backend.with.generator={ use: pto.emit-ascend, with: { form: assembler } }' -o again/
says 'pto.textract ins(%t, %c3_index_, %c16_index_ : ' again/kernel_k.pto
says 'pto.tconcat ins(%l, %r : ' again/kernel_k.pto
# What was written is read again, with its addresses and flags.
ends 0 pto-run again/kernel_k.pto --pipeline=pto-level3.yaml --in p=p.npy --in q=q.npy --expect q=y.npy --rtol=0 --atol=0
