# Loops that carry integers are gone through round by round, and what a branch hands over may be an integer or one of
# two tiles. scf.while with a condition that numbers decide.
. "$TEST_ROOT/tests/shell.sh"
full='!pto.tile_buf<loc=vec, dtype=f32, rows=1, cols=8, v_row=1, v_col=8, blayout=row_major, slayout=none_box, fractal=512, pad=0>'
part='!pto.partition_tensor_view<1x8xf32>'
head() {
  cat <<END
func.func @k(%p: !pto.ptr<f32>, %q: !pto.ptr<f32>, %n: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %true = arith.constant true
  %one = arith.constant 1.0 : f32
  %ten = arith.constant 10.0 : f32
  %v = pto.make_tensor_view %p, shape = [%c4, %c8], strides = [%c8, %c1] : !pto.tensor_view<?x?xf32>
  %o = pto.make_tensor_view %q, shape = [%c4, %c8], strides = [%c8, %c1] : !pto.tensor_view<?x?xf32>
  %m = arith.index_cast %n : i32 to index
  %t = pto.alloc_tile : $full
  %u = pto.alloc_tile : $full
  %a = pto.partition_view %v, offsets = [%c0, %c0], sizes = [%c1, %c8] : !pto.tensor_view<?x?xf32> -> $part
  %b = pto.partition_view %o, offsets = [%c0, %c0], sizes = [%c1, %c8] : !pto.tensor_view<?x?xf32> -> $part
  pto.tload ins(%a : $part) outs(%t : $full)
END
}
tail() {
  echo "  pto.tstore ins(%$1 : $full) outs(%b : $part)"
  printf '  return\n}\n'
}
add() { echo "  pto.tadds ins(%t, %$1 : $full, f32) outs(%t : $full)"; }
cat >data.py <<'END'
import numpy as np
x = np.arange(32, dtype=np.float32).reshape(4, 8)
np.save("p.npy", x)
np.save("q.npy", x)
for k in (1, 10, 21, 23):
    y = x.copy()
    y[0] = x[0] + k
    np.save(f"y{k}.npy", y)
END
/usr/bin/python3 data.py
# File, number of the parameter, what the first row grows by.
runs() {
  for how in --pipeline=pto-level2.yaml --backend=pto.reference; do
    ends 0 pto-run "$1" "$how" --in p=p.npy --in q=q.npy --in n="$2" --expect q="y$3.npy" --rtol=0 --atol=0
  done
}

# 1 and 10 in rounds 0 and 1, 1 in round 2, in which it stops, and nothing in round 3.
{
  head
  echo '  %end = scf.for %i = %c0 to %c4 step %c1 iter_args(%alive = %true) -> (i1) {'
  echo '  %next = scf.if %alive -> (i1) {'
  add one
  echo '  %now = arith.cmpi eq, %i, %c2 : index'
  echo '  %after = scf.if %now -> (i1) {'
  echo '    %false = arith.constant false'
  echo '    scf.yield %false : i1'
  echo '  } else {'
  add ten
  printf '    scf.yield %%true : i1\n  }\n    scf.yield %%after : i1\n  } else {\n    scf.yield %%alive : i1\n  }\n'
  printf '  scf.yield %%next : i1\n  }\n  %%stopped = arith.xori %%end, %%true : i1\n  scf.if %%stopped {\n  }\n'
  tail t
} >for.pto
runs for.pto 0 23

{
  head
  echo '  %end:2 = scf.while (%i = %c0, %alive = %true) : (index, i1) -> (index, i1) {'
  echo '    %below = arith.cmpi slt, %i, %c2 : index'
  echo '    %go = arith.andi %below, %alive : i1'
  printf '    scf.condition(%%go) %%i, %%alive : index, i1\n  } do {\n  ^bb0(%%j: index, %%on: i1):\n'
  add ten
  printf '    %%k = arith.addi %%j, %%c1 : index\n    scf.yield %%k, %%on : index, i1\n  }\n'
  echo '  %is = arith.cmpi eq, %end#0, %c2 : index'
  echo '  scf.if %is {'
  add one
  echo '  }'
  tail t
} >while.pto
runs while.pto 0 21

# One of two tiles, and one of two numbers, by a parameter.
{
  head
  echo "  pto.tadds ins(%t, %ten : $full, f32) outs(%u : $full)"
  echo '  %is = arith.cmpi sgt, %m, %c4 : index'
  echo "  %s, %w = scf.if %is -> ($full, index) {"
  echo "    scf.yield %u, %c8 : $full, index"
  echo '  } else {'
  add one
  printf '    scf.yield %%t, %%c1 : %s, index\n  }\n' "$full"
  echo "  %all = arith.cmpi sge, %w, %c1 : index"
  echo '  scf.if %all {'
  echo "  pto.tstore ins(%s : $full) outs(%b : $part)"
  printf '  }\n  return\n}\n'
} >either.pto
runs either.pto 5 10
runs either.pto 4 1
ends 0 pto-opt either.pto
says 'if min(1, max(0, %n - 4)) != 0 {' out

sed 's/%c0 to %c4 step/%c0 to %m step/' for.pto >long.pto
fails 4 '^long.pto:[0-9]*:10: error: \[pto.read-ascend/unsupported\] `scf.for` carries integers, or works on several units' pto-opt long.pto
sed 's/slt, %i, %c2/slt, %i, %m/' while.pto >unknown.pto
fails 4 '`scf.while` goes on by a condition that numbers alone do not decide' pto-opt unknown.pto
sed 's/slt, %i, %c2/sge, %i, %c0/' while.pto >endless.pto
fails 4 '`scf.while` has more than 64 rounds' pto-opt endless.pto
sed 's/scf.condition(%go) %i, %alive : index, i1/%x = arith.addi %i, %c1 : index/' while.pto >no-end.pto
fails 4 '`scf.while` has a first region that does not end with `scf.condition`' pto-opt no-end.pto
sed 's/\^bb0(%j: index, %on: i1):/^bb0(%j: index):/' while.pto >few.pto
fails 4 'an argument for each value is expected' pto-opt few.pto
