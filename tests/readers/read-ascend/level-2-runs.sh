# A kernel without addresses and flags: what it is read as, and its numbers on the simulator and op by op. Views that
# loops carry and branches hand over, tiles under another shape and with another valid region, sections.
. "$TEST_ROOT/tests/shell.sh"
cat >k.pto <<'END'
module attributes {pto.target_arch = "a3"} {
  func.func @rows(%p: !pto.ptr<f32>, %q: !pto.ptr<f32>, %n: index, %w: i32) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %two = arith.constant 2.0 : f32
    %wide = arith.index_cast %w : i32 to index
    %v = pto.make_tensor_view %p, shape = [%n, %c8], strides = [%c16, %c1] {layout = #pto.layout<nd>} : !pto.tensor_view<?x?xf32>
    %o = pto.make_tensor_view %q, shape = [%n, %c8], strides = [%c8, %c1] : !pto.tensor_view<?x?xf32>
    pto.section.vector {
      %r = scf.for %i = %c0 to %n step %c1 iter_args(%u = %o) -> (!pto.tensor_view<?x?xf32>) {
        %t = pto.alloc_tile : !pto.tile_buf<loc=vec, dtype=f32, rows=1, cols=8, v_row=1, v_col=8, blayout=row_major, slayout=none_box, fractal=512, pad=0>
        %a = pto.partition_view %v, offsets = [%i, %c0], sizes = [%c1, %c8] : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<1x8xf32>
        %b = pto.partition_view %u, offsets = [%i, %c0], sizes = [%c1, %c8] : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<1x8xf32>
        pto.tload ins(%a : !pto.partition_tensor_view<1x8xf32>) outs(%t : !pto.tile_buf<x>)
        %odd = arith.remsi %i, %c2 : index
        %is = arith.cmpi eq, %odd, %c1 : index
        %x = scf.if %is -> (!pto.partition_tensor_view<1x8xf32>) {
          pto.tmuls ins(%t, %two : !pto.tile_buf<x>, f32) outs(%t : !pto.tile_buf<x>)
          scf.yield %b : !pto.partition_tensor_view<1x8xf32>
        } else {
          %d = pto.treshape %t : !pto.tile_buf<x> -> !pto.tile_buf<loc=vec, dtype=f32, rows=8, cols=1, v_row=8, v_col=1, blayout=col_major, slayout=none_box, fractal=512, pad=0>
          pto.tadds ins(%d, %two : !pto.tile_buf<x>, f32) outs(%d : !pto.tile_buf<x>)
          scf.yield %b : !pto.partition_tensor_view<1x8xf32>
        }
        pto.tstore ins(%t : !pto.tile_buf<x>) outs(%x : !pto.partition_tensor_view<1x8xf32>)
        pto.set_validshape %t, %c1, %wide : !pto.tile_buf<x>
        pto.tneg ins(%t : !pto.tile_buf<x>) outs(%t : !pto.tile_buf<x>)
        %e = pto.partition_view %u, offsets = [%i, %c0], sizes = [%c1, %wide] : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<1x?xf32>
        pto.tstore ins(%t : !pto.tile_buf<x>) outs(%e : !pto.partition_tensor_view<1x?xf32>)
        scf.yield %u : !pto.tensor_view<?x?xf32>
      }
    }
    return
  }
}
END
ends 0 pto-opt k.pto '--reader={ use: pto.read-ascend, with: { blocks: 1 } }'
cp out read.ptir
says 'block.kernel @rows core(vector) grid(%block: 1) reads(%p) writes(%q) (%p: gm<$n x 16 x f32>, inout %q: gm<$n x 8 x f32>, %w: i32)' read.ptir
says '%d = block.tile %t_b\[0\] valid(8, 1) : tile<8 x 1 x f32, vec, dn>' read.ptir
says '%t[0-9]* = block.tile %t_b\[0\] valid(1, %w) : tile<1 x 8 x f32, vec, nd>' read.ptir
says 'if %i mod 2 == 1 {' read.ptir
says 'func @launch_rows(%p: gm<$n x 16 x f32>, inout %q: gm<$n x 8 x f32>, %w: i32) {' read.ptir
ends 0 pto-opt read.ptir
cmp -s read.ptir out || fail 'what is read is not canonical'
ends 0 pto-opt --print-locations k.pto
says 'pto.tmuls .* loc("k.pto":21:11)' out

cat >data.py <<'END'
import numpy as np
x = np.random.default_rng(3).random((5, 16), dtype=np.float32)
y = np.where(np.arange(5)[:, None] % 2 == 1, 2 * x[:, :8], x[:, :8] + np.float32(2)).astype(np.float32)
y[:, :3] *= -1
np.save("p.npy", x)
np.save("q.npy", np.zeros((5, 8), np.float32))
np.save("y.npy", y)
END
/usr/bin/python3 data.py
for how in --pipeline=pto-level2.yaml --backend=pto.reference; do
  ends 0 pto-run k.pto "$how" --in p=p.npy --in q=q.npy --in w=3 --expect q=y.npy --rtol=0 --atol=0
done
# A pipeline for other text says what is missing.
fails 5 'buffer without an address\|no address' pto-run k.pto --pipeline=pto-level3.yaml --in p=p.npy --in q=q.npy --in w=3

# A tile in another shape has the valid region of what it shows until it gets its own.
cat >v.pto <<'END'
func.func @v(%p: !pto.ptr<f32>, %n: index) {
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %v = pto.make_tensor_view %p, shape = [%c8, %c8], strides = [%c8, %c1] : !pto.tensor_view<?x?xf32>
  %t = pto.alloc_tile valid_row = %c8 valid_col = %c8 : !pto.tile_buf<loc=vec, dtype=f32, rows=8, cols=8, v_row=?, v_col=?, blayout=row_major>
  %s = pto.treshape %t : !pto.tile_buf<x> -> !pto.tile_buf<loc=vec, dtype=i32, rows=8, cols=8, v_row=?, v_col=?, blayout=row_major>
  %u = pto.treshape %t : !pto.tile_buf<x> -> !pto.tile_buf<loc=vec, dtype=f32, rows=1, cols=64, v_row=?, v_col=?, blayout=row_major>
  pto.set_validshape %u, %c1, %c8 : !pto.tile_buf<x>
  pto.tload ins(%v : !pto.tensor_view<x>) outs(%t : !pto.tile_buf<x>)
  pto.tneg ins(%s : !pto.tile_buf<x>) outs(%s : !pto.tile_buf<x>)
  pto.texp ins(%u : !pto.tile_buf<x>) outs(%u : !pto.tile_buf<x>)
  return
}
END
ends 0 pto-opt v.pto
says '%s = block.tile %t_b\[0\] valid(8, 8) : tile<8 x 8 x i32, vec, nd>' out
says '%u = block.tile %t_b\[0\] valid(1, 8) : tile<1 x 64 x f32, vec, nd>' out
