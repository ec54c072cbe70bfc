# Functions of a file that another one calls, with a queue between a cube and two vector cores: what is pushed lies in
# memory of the call, and each vector core takes its half.
. "$TEST_ROOT/tests/shell.sh"
cat >make.py <<'END'
def tile(loc, rows, cols=16):
    kinds = dict(vec="blayout=row_major, slayout=none_box, fractal=512", mat="blayout=col_major, slayout=row_major, fractal=512",
                 left="blayout=col_major, slayout=row_major, fractal=512", right="blayout=row_major, slayout=col_major, fractal=512",
                 acc="blayout=col_major, slayout=row_major, fractal=1024")
    return f"!pto.tile_buf<loc={loc}, dtype=f32, rows={rows}, cols={cols}, v_row={rows}, v_col={cols}, {kinds[loc]}, pad=0>"

M, L, R, A, V = tile("mat", 16), tile("left", 16), tile("right", 16), tile("acc", 16), tile("vec", 8)
print(f"""module {{
func.func @k(%a: !pto.ptr<f32>, %y: !pto.ptr<f32>) attributes {{pto.entry}} {{
  func.call @cube(%a) : (!pto.ptr<f32>) -> ()
  func.call @vector(%y) : (!pto.ptr<f32>) -> ()
  return
}}
func.func private @cube(%x: !pto.ptr<f32>) attributes {{pto.kernel_kind = #pto.kernel_kind<cube>}} {{
  %c0_i32 = arith.constant 0 : i32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c16 = arith.constant 16 : index
  %c48 = arith.constant 48 : index
  %to = pto.import_reserved_buffer {{name = "fifo", peer_func = @vector}} -> i32
  pto.aic_initialize_pipe {{dir_mask = 1, slot_size = 1024}} (c2v_consumer_buf = %to : i32, v2c_consumer_buf = %c0_i32 : i32)
  %m = pto.alloc_tile : {M}
  %l = pto.alloc_tile : {L}
  %r = pto.alloc_tile : {R}
  %c = pto.alloc_tile : {A}
  %v = pto.make_tensor_view %x, shape = [%c48, %c16], strides = [%c16, %c1] : !pto.tensor_view<?x?xf32>
  scf.for %i = %c0 to %c3 step %c1 {{
    %row = arith.muli %i, %c16 : index
    %p = pto.partition_view %v, offsets = [%row, %c0], sizes = [%c16, %c16] : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<16x16xf32>
    pto.tload ins(%p : !pto.partition_tensor_view<16x16xf32>) outs(%m : {M})
    pto.tmov ins(%m : {M}) outs(%l : {L})
    pto.tmov ins(%m : {M}) outs(%r : {R})
    pto.tmatmul ins(%l, %r : {L}, {R}) outs(%c : {A})
    pto.tpush_to_aiv(%c : {A}) {{split = 1}}
  }}
  return
}}
func.func private @vector(%out: !pto.ptr<f32>) attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{
  %c0_i32 = arith.constant 0 : i32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c48 = arith.constant 48 : index
  %sub = pto.get_subblock_idx
  %here = arith.index_cast %sub : i64 to index
  %from = pto.reserve_buffer {{name = "fifo", size = 8192, location = #pto.address_space<vec>, auto = true}} -> i32
  pto.aiv_initialize_pipe {{dir_mask = 1, slot_size = 1024}} (c2v_consumer_buf = %from : i32, v2c_consumer_buf = %c0_i32 : i32)
  %s = pto.alloc_tile : {V}
  %v = pto.make_tensor_view %out, shape = [%c48, %c16], strides = [%c16, %c1] : !pto.tensor_view<?x?xf32>
  scf.for %i = %c0 to %c3 step %c1 {{
    %t = pto.tpop_from_aic {{split = 1}} -> {V}
    pto.tneg ins(%t : {V}) outs(%s : {V})
    pto.tprint ins(%s : {V})
    pto.tfree_from_aic {{split = 1}}
    %first = arith.muli %i, %c16 : index
    %half = arith.muli %here, %c8 : index
    %row = arith.addi %first, %half : index
    %p = pto.partition_view %v, offsets = [%row, %c0], sizes = [%c8, %c16] : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<8x16xf32>
    pto.tstore ins(%s : {V}) outs(%p : !pto.partition_tensor_view<8x16xf32>)
  }}
  return
}}
}}""")
END
cat >data.py <<'END'
import numpy as np
a = np.random.default_rng(3).integers(-3, 4, (3, 16, 16)).astype(np.float32)
np.save("a.npy", a.reshape(48, 16))
np.save("zero.npy", np.zeros((48, 16), np.float32))
np.save("y.npy", -(a @ a).reshape(48, 16))
END
/usr/bin/python3 make.py >k.pto
/usr/bin/python3 data.py
ends 0 pto-opt k.pto
says '^k.pto:[0-9]*:5: warning: \[pto.read-ascend/print\] `pto.tprint` prints nothing here'
says 'block.kernel @k_0 core(cube) grid(%block: 1)' out
says 'block.kernel @k_1 core(vector) grid(%block: 2)' out
says 'block.workspace : gm<3 x 16 x 16 x f32>' out
says 'func @launch_k(%a: gm<48 x 16 x f32>, inout %y: gm<48 x 16 x f32>) {' out
for how in --pipeline=pto-level2.yaml --backend=pto.reference; do
  ends 0 pto-run k.pto "$how" --in a=a.npy --in y=zero.npy --expect y=y.npy --rtol=0 --atol=0
done

# What is wrong with it, changed in one place.
refused() {
  sed "$1" k.pto >wrong.pto
  fails 4 "^wrong.pto:[0-9]*:[0-9]*: error: \[pto.read-ascend/$2\] $3" pto-opt wrong.pto
}
refused '/pto.tpush/d' unsupported '`pto.tpop_from_aic` takes tile 3 out of its queue, and 0 are put in: it would wait for ever'
refused 's/tpop_from_aic {split = 1}/tpop_from_aic {split = 0}/' unsupported \
  '`pto.tpop_from_aic` moves a tile of 8 x 16 of f32 through a queue of tiles of 16 x 16 of f32'
refused 's/{split = 1} ->/{split = 3} ->/' unsupported 'a queue splits tiles by 3; read are 0, not at all, 1, rows, and 2,'
refused 's/dir_mask = 1/dir_mask = 4/' unsupported '`pto.aic_initialize_pipe` has dir_mask 4 and slot_size 1024; dir_mask is 1'
refused 's/call @vector(%y)/call @vec(%y)/' name '@vec is not a function of this module'
refused 's/call @vector(%y) : (!pto.ptr<f32>)/call @vector() : ()/' unsupported '`func.call` has 0 arguments; @vector takes 1'
refused 's/func.call @vector(%y)/%z = func.call @vector(%y)/' unsupported '`func.call` has no result: functions without'
refused 's/^  %sub = /  func.call @vector(%out) : (!pto.ptr<f32>) -> ()\n&/' unsupported \
  '`func.call` is the call in more than 8 others, or calls itself'
refused 's/%p : !pto.partition_tensor_view<8x16xf32>)$/%p : !pto.partition_tensor_view<8x16xf32>)\n    %is = arith.cmpi eq, %here, %c0 : index\n    scf.if %is {\n    pto.tfree_from_aic {split = 1}\n    %u = pto.tpop_from_aic {split = 1} -> !pto.tile_buf<loc=vec, dtype=f32, rows=8, cols=16, v_row=8, v_col=16>\n    }/' \
  unsupported '`pto.tpop_from_aic` is in a branch that is not taken always, or in a loop without constant bounds'
