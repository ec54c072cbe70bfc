# A function that works on both units: a kernel for each part, in the order in which memory and queues need them. What
# is loaded for a later part is loaded there; loops of a part stay, loops around parts are gone through.
. "$TEST_ROOT/tests/shell.sh"
cat >make.py <<'END'
import sys

def tile(loc, rows, cols=16):
    kinds = dict(vec="blayout=row_major, slayout=none_box, fractal=512", mat="blayout=col_major, slayout=row_major, fractal=512",
                 left="blayout=col_major, slayout=row_major, fractal=512", right="blayout=row_major, slayout=col_major, fractal=512",
                 acc="blayout=col_major, slayout=row_major, fractal=1024")
    return f"!pto.tile_buf<loc={loc}, dtype=f32, rows={rows}, cols={cols}, v_row={rows}, v_col={cols}, {kinds[loc]}, pad=0>"

def view(name):
    return (f"  %{name}v = pto.make_tensor_view %{name}, shape = [%c16, %c16], strides = [%c16, %c1] : !pto.tensor_view<?x?xf32>\n"
            f"  %{name}p = pto.partition_view %{name}v, offsets = [%c0, %c0], sizes = [%c16, %c16] : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<16x16xf32>\n")

NUMBERS = "".join(f"  %c{n} = arith.constant {n} : index\n" for n in (0, 1, 2, 3, 16)) + "  %two = arith.constant 2.0 : f32\n"
P = "!pto.partition_tensor_view<16x16xf32>"

def alloc(name, loc, rows=16):
    return f"  %{name} = pto.alloc_tile : {tile(loc, rows)}\n"

def copy(op, a, ta, b, tb):
    return f"  pto.{op} ins(%{a} : {ta}) outs(%{b} : {tb})\n"

def product(a, b, to):
    return (copy("tmov", a, tile("mat", 16), "l", tile("left", 16)) + copy("tmov", b, tile("mat", 16), "r", tile("right", 16)) +
            f"  pto.tmatmul ins(%l, %r : {tile('left', 16)}, {tile('right', 16)}) outs(%{to} : {tile('acc', 16)})\n")

def scaled(t):
    return f"  pto.tmuls ins(%{t}, %two : {tile('vec', 16)}, f32) outs(%{t} : {tile('vec', 16)})\n"

M, V, A = tile("mat", 16), tile("vec", 16), tile("acc", 16)
which = sys.argv[1]
if which in ("parts", "kept"):
    head = "func.func @k(%a: !pto.ptr<f32>, %b: !pto.ptr<f32>, %s: !pto.ptr<f32>, %y: !pto.ptr<f32>) {\n"
    body = NUMBERS + "".join(view(n) for n in "absy")
    body += "".join(alloc(n, "mat") for n in ("am", "bm", "sm")) + alloc("l", "left") + alloc("r", "right") + alloc("c", "acc") + alloc("t", "vec")
    body += copy("tload", "ap", P, "am", M) + copy("tload", "bp", P, "bm", M)
    body += product("am", "am", "c") + copy("tstore", "c", A, "sp", P)
    body += copy("tload", "sp", P, "t", V) + scaled("t") + copy("tstore", "t", V, "sp", P)
    body += copy("tload", "sp", P, "sm", M) + product("sm", "am" if which == "kept" else "bm", "c") + copy("tstore", "c", A, "yp", P)
    print(head + body + "  return\n}")
if which == "loop":
    head = "func.func @k(%a: !pto.ptr<f32>, %y: !pto.ptr<f32>) {\n"
    body = NUMBERS + "".join(view(n) for n in "ay") + alloc("am", "mat") + alloc("l", "left") + alloc("r", "right") + alloc("c", "acc") + alloc("t", "vec")
    body += "  scf.for %i = %c0 to %c3 step %c1 {\n  %is = arith.cmpi eq, %i, %c0 : index\n  scf.if %is {\n"
    body += copy("tload", "ap", P, "am", M) + product("am", "am", "c") + copy("tstore", "c", A, "yp", P)
    body += "  } else {\n" + copy("tload", "yp", P, "t", V) + scaled("t") + copy("tstore", "t", V, "yp", P) + "  }\n  }\n"
    print(head + body + "  return\n}")
END
cat >data.py <<'END'
import numpy as np
a, b = np.random.default_rng(3).integers(-3, 4, (2, 16, 16)).astype(np.float32)
zero = np.zeros((16, 16), np.float32)
for name, x in dict(a=a, b=b, zero=zero, y=2 * (a @ a) @ b, z=4 * (a @ a)).items():
    np.save(name + ".npy", x)
END
/usr/bin/python3 data.py
/usr/bin/python3 make.py parts >parts.pto
ends 0 pto-opt parts.pto
says 'block.kernel @k_0 core(cube)' out
says 'block.kernel @k_1 core(vector)' out
says 'block.kernel @k_2 core(cube) .* reads(%b, %s) writes(%y)' out
says '^ *block.launch @k_2 args(%b, %s, %y)' out
for how in --pipeline=pto-level2.yaml --backend=pto.reference; do
  ends 0 pto-run parts.pto "$how" --in a=a.npy --in b=b.npy --in s=zero.npy --in y=zero.npy --expect y=y.npy --rtol=0 --atol=0
done

# A tile that is loaded for the first part and used in the last one.
/usr/bin/python3 make.py kept >kept.pto
fails 4 '^kept.pto:[0-9]*:3: error: \[pto.read-ascend/unsupported\] `pto.t[a-z]*` keeps tiles from before what another unit does' pto-opt kept.pto

/usr/bin/python3 make.py loop >loop.pto
ends 0 pto-opt loop.pto
says 'block.kernel @k_0 core(cube)' out
says 'block.kernel @k_1 core(vector)' out
for how in --pipeline=pto-level2.yaml --backend=pto.reference; do
  ends 0 pto-run loop.pto "$how" --in a=a.npy --in y=zero.npy --expect y=z.npy --rtol=0 --atol=0
done
sed 's/%y: !pto.ptr<f32>)/%y: !pto.ptr<f32>, %n: index)/; s/to %c3 step/to %n step/' loop.pto >long.pto
fails 4 '`scf.for` carries integers, or works on several units; what is read of such loops has bounds' pto-opt long.pto
sed 's/%y: !pto.ptr<f32>)/%y: !pto.ptr<f32>, %n: index)/; s/eq, %i, %c0/eq, %n, %c0/' loop.pto >unknown.pto
fails 4 '`scf.if` works on vector and on matrix units in one piece' pto-opt unknown.pto
