# Buffer ids of the A5 order what is done while they are had, on all pipes: a kernel that has them alone runs without a
# race and with its result; without them the simulator names the race. What is not a buffer id is refused.
. "$TEST_ROOT/tests/shell.sh"
tile='!pto.tile_buf<loc=vec, dtype=f32, rows=8, cols=16, v_row=8, v_col=16, blayout=row_major, slayout=none_box, fractal=512, pad=0>'
window='!pto.partition_tensor_view<8x16xf32>'

# kernel GET RLS: a kernel with these ops, given a kind of instructions and an id, around each of three instructions
kernel() {
  cat <<END
func.func @k(%p: !pto.ptr<f32>, %q: !pto.ptr<f32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %f = arith.constant 2.0 : f32
  %first = arith.constant 0 : i64
  %second = arith.constant 512 : i64
  %v = pto.make_tensor_view %p, shape = [%c8, %c16], strides = [%c16, %c1] : !pto.tensor_view<?x?xf32>
  %o = pto.make_tensor_view %q, shape = [%c8, %c16], strides = [%c16, %c1] : !pto.tensor_view<?x?xf32>
  %a = pto.partition_view %v, offsets = [%c0, %c0], sizes = [%c8, %c16] : !pto.tensor_view<?x?xf32> -> $window
  %b = pto.partition_view %o, offsets = [%c0, %c0], sizes = [%c8, %c16] : !pto.tensor_view<?x?xf32> -> $window
  %t = pto.alloc_tile addr = %first : $tile
  %y = pto.alloc_tile addr = %second : $tile
  $1[#pto.pipe_event_type<TLOAD>, 0] {mode = 0}
  pto.tload ins(%a : $window) outs(%t : $tile)
  $2[#pto.pipe_event_type<TLOAD>, 0]
  $1[#pto.sync_op_type<TVEC>, 0]
  pto.tmuls ins(%t, %f : $tile, f32) outs(%y : $tile)
  $2[#pto.sync_op_type<TVEC>, 0]
  $1[#pto.pipe_event_type<TSTORE_VEC>, 0]
  pto.tstore ins(%y : $tile) outs(%b : $window)
  $2[#pto.pipe_event_type<TSTORE_VEC>, 0]
  return
}
END
}
cat >data.py <<'END'
import numpy as np
x = np.random.default_rng(1).standard_normal((8, 16)).astype(np.float32)
np.save("p.npy", x)
np.save("q.npy", np.zeros((8, 16), np.float32))
np.save("y.npy", 2 * x)
END
/usr/bin/python3 data.py
kernel pto.get_buf pto.rls_buf >k.pto
kernel '// ' '// ' >bare.pto
for machine in ascend-950 ascend-910b; do
  ends 0 pto-run k.pto --pipeline=pto-level3.yaml --machine=$machine --in p=p.npy --in q=q.npy --expect q=y.npy
  fails 5 'bare.pto:.*race' pto-run bare.pto --pipeline=pto-level3.yaml --machine=$machine --in p=p.npy --in q=q.npy
done

# refused COLUMN ARGUMENTS TEXT
refused() {
  printf 'func.func @k() {\n  pto.get_buf%s\n  return\n}\n' "$2" >bad.pto
  fails 4 "^bad.pto:2:$1: error: \[pto.read-ascend/.*\] $3" pto-opt bad.pto
}
refused 43 '[#pto.pipe_event_type<TVEC>, 32]' '`32` is not a buffer id; those are 0 to 31'
refused 43 '[#pto.pipe_event_type<TVEC>, -1]' '`-1` is not a buffer id'
refused 15 '[#pto.pipe_event_type<TALL>, 0]' '`TALL` is not a kind of instructions'
refused 54 '[#pto.pipe_event_type<TVEC>, 0] {mode = 1}' 'mode 1 of a buffer id is not read; 0 is'
refused 43 '[#pto.pipe_event_type<TVEC>, 1.0]' '`1.0` is not a buffer id'
refused 15 '[0, 0]' '`#pto.pipe_event_type<..>` is expected here'
