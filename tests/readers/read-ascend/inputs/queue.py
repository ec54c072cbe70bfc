"""A function that calls one for a cube core and one for vector cores, with a queue between them."""


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
