# A move from an accumulator to a vector core, or back to the memory of a cube core, is a store in one part and a load
# in the next one; what cores tell each other says nothing then.
. "$TEST_ROOT/tests/shell.sh"
cat >make.py <<'END'
import sys

KINDS = dict(vec="blayout=row_major, slayout=none_box, fractal=512", mat="blayout=col_major, slayout=row_major, fractal=512",
             left="blayout=col_major, slayout=row_major, fractal=512", right="blayout=row_major, slayout=col_major, fractal=512",
             acc="blayout=col_major, slayout=row_major, fractal=1024")
T = {loc: f"!pto.tile_buf<loc={loc}, dtype=f32, rows=16, cols=16, v_row=16, v_col=16, {kind}, pad=0>" for loc, kind in KINDS.items()}
P = "!pto.partition_tensor_view<16x16xf32>"
lines = [f"%c{n} = arith.constant {n} : index" for n in (0, 1, 16, 32)]
back = sys.argv[1] == "back"
lines += ["%block = pto.get_block_idx", f"%sub = pto.get_{'block' if back else 'subblock'}_idx", "%subs = pto.get_subblock_num",
          "%base = arith.muli %block, %subs : i64", "%number = arith.addi %base, %sub : i64", "%half = arith.index_cast %number : i64 to index",
          "%row = arith.muli %half, %c16 : index"]
for name, at, rows in (("a", "%c0", "%c16"), ("y", "%row", "%c32"), ("z", "%c0", "%c16")):
    lines += [f"%{name}v = pto.make_tensor_view %{name}, shape = [{rows}, %c16], strides = [%c16, %c1] : !pto.tensor_view<?x?xf32>",
              f"%{name}p = pto.partition_view %{name}v, offsets = [{at}, %c0], sizes = [%c16, %c16] : !pto.tensor_view<?x?xf32> -> {P}"]
tiles = dict(am="mat", bm="mat", l="left", r="right", c="acc", d="acc", t="vec")
lines += [f"%{name} = pto.alloc_tile : {T[loc]}" for name, loc in tiles.items()]

def op(name, ins, outs):
    types = lambda names: ", ".join(T[tiles[n]] if n in tiles else P for n in names)
    lines.append(f"pto.{name} ins({', '.join('%' + n for n in ins)} : {types(ins)}) outs(%{outs} : {types([outs])})")

op("tload", ["ap"], "am")
op("tmov", ["am"], "l")
op("tmov", ["am"], "r")
op("tmatmul", ["l", "r"], "c")
op("tmov", ["c"], "t")
lines += ["pto.sync.set <PIPE_FIX>, 0", "pto.sync.wait <PIPE_V>, 0 {ffts_mode = 2 : i32}"]
op("tadd", ["t", "t"], "t")
op("tstore", ["t"], "yp")
if back:
    op("tmov", ["t"], "bm")
    op("tload", ["ap"], "am")
    op("tmov", ["am"], "l")
    op("tmov", ["bm"], "r")
    op("tmatmul", ["l", "r"], "d")
    op("tstore", ["d"], "zp")
print("func.func @k(%a: !pto.ptr<f32>, %y: !pto.ptr<f32>, %z: !pto.ptr<f32>) {\n  " + "\n  ".join(lines) + "\n  return\n}")
END
cat >data.py <<'END'
import numpy as np
a = np.random.default_rng(3).integers(-3, 4, (16, 16)).astype(np.float32)
twice = 2 * (a @ a)
none = np.zeros((16, 16), np.float32)
for name, x in dict(a=a, none=np.concatenate([none, none]), y=np.concatenate([twice, twice]), once=np.concatenate([twice, none]), z=a @ twice, z0=none).items():
    np.save(name + ".npy", x)
END
/usr/bin/python3 data.py
/usr/bin/python3 make.py there >k.pto
/usr/bin/python3 make.py back >back.pto
ends 0 pto-opt k.pto
says 'block.kernel @k_0 core(cube) grid(%[a-z]*: 1)' out
says 'block.kernel @k_1 core(vector) grid(%block: 2)' out
says 'block.workspace : gm<1 x 16 x 16 x f32>' out
for how in --pipeline=pto-level2.yaml --backend=pto.reference; do
  ends 0 pto-run k.pto "$how" --in a=a.npy --in y=none.npy --in z=z0.npy --expect y=y.npy --rtol=0 --atol=0
  ends 0 pto-run back.pto "$how" --in a=a.npy --in y=none.npy --in z=z0.npy --expect y=once.npy --expect z=z.npy --rtol=0 --atol=0
done

# refused SCRIPT TEXT
refused() {
  sed "$1" k.pto >wrong.pto
  fails 4 "^wrong.pto:[0-9]*:[0-9]*: error: \[pto.read-ascend/[a-z]*\] $2" pto-opt wrong.pto
}
refused 's/loc=vec, dtype=f32, rows=16, cols=16, v_row=16/loc=vec, dtype=f32, rows=32, cols=16, v_row=16/; /tadd/d; /outs(%yp/d' \
  '`pto.tmov` moves a tile of 32 x 16 of f32 through a queue of tiles of 16 x 16 of f32'
refused 's/sync.set <PIPE_FIX>, 0/sync.set <PIPE_FIX>/' '`,` and an event is expected after this'
refused 's/{ffts_mode = 2 : i32}/{mode = 2}/' '`ffts_mode = ..` is expected here'
refused 's/^  pto.sync.set <PIPE_FIX>/  pto.sync.set <PIPE_X>/' '`PIPE_X` is not a pipe'
sed 's/^  \(pto.tmov ins(%c .*\)/  %is = arith.cmpi eq, %half, %c0 : index\n  scf.if %is {\n  \1\n  }/' k.pto >wrong.pto
fails 4 '`scf.if` works on vector and on matrix units in one piece\|`pto.tmov` is in a branch that is not taken always' pto-opt wrong.pto
