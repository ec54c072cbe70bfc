# Functions of a file that another one calls, with a queue between a cube and two vector cores: what is pushed lies in
# memory of the call, and each vector core takes its half.
. "$TEST_ROOT/tests/shell.sh"
cat >data.py <<'END'
import numpy as np
a = np.random.default_rng(3).integers(-3, 4, (3, 16, 16)).astype(np.float32)
np.save("a.npy", a.reshape(48, 16))
np.save("zero.npy", np.zeros((48, 16), np.float32))
np.save("y.npy", -(a @ a).reshape(48, 16))
END
/usr/bin/python3 -B "$TEST_ROOT/tests/readers/read-ascend/inputs/queue.py" >k.pto
/usr/bin/python3 data.py
ends 0 pto-opt k.pto
says 'block.kernel @k_0 core(cube) grid(%block: 1)' out
says 'block.kernel @k_1 core(vector) grid(%block: 2)' out
says '^ *pto.tprint %s$' out
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
