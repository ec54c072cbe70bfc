# What is not understood is refused where it stands, with what would be: text, names, numbers, types, ops.
. "$TEST_ROOT/tests/shell.sh"
count=0

# Standard input: a file; then the line of the error, and what it says.
refused() {
  cat >k.pto
  fails 4 "^k.pto:$1: error: \[$2\] $3" pto-opt k.pto
  count=$((count + 1))
}
# The same of the body of a function: its first line is line 2 of the file.
in_body() {
  { echo 'func.func @k(%p: !pto.ptr<f32>, %n: index, %f: f32) {' && cat && printf '  return\n}\n'; } >body
  refused "$@" <body
}

printf '' >in
refused 1:1 pto.read-ascend/syntax 'the file has no function' <in
printf 'module {\n' >in
refused 1:8 pto.read-ascend/syntax 'a `{` without its `}`' <in
printf '}' >in
refused 1:1 pto.read-ascend/syntax 'a `}` without its `{`' <in
printf 'func.func @k(%%p: !pto.ptr<f32) {\n}\n' >in
refused 1:26 pto.read-ascend/syntax 'a `<` without its `>`' <in
printf 'func.func @k() attributes {a = "x} {\n}\n' >in
refused 1:32 pto.read-ascend/syntax 'a text without its closing' <in
printf 'func.func @k(%%p: !pto.ptr<f32>] {\n}\n' >in
refused 1:31 pto.read-ascend/syntax 'a `\]` where a `)` is expected' <in
printf 'func.func @k(%%p: index {\n}\n' >in
refused 1:13 pto.read-ascend/syntax 'a `(` without its `)`' <in
printf '^bb0:\n' >in
refused 1:1 pto.read-ascend/syntax 'a character that begins nothing' <in
printf '"func.func"() ({})\n' >in
refused 1:1 pto.read-ascend/syntax 'an op in the generic form of MLIR' <in
printf '%% = arith.constant 1 : index\n' >in
refused 1:2 pto.read-ascend/syntax 'a name is expected here' <in
{ i=0; while [ $i -lt 70 ]; do printf 'module {'; i=$((i + 1)); done; } >in
refused 1:520 pto.read-ascend/syntax 'brackets and regions are nested more than 64 deep' <in
{ printf 'func.func @'; i=0; while [ $i -lt 300 ]; do printf 'k'; i=$((i + 1)); done; echo '() { }'; } >in
refused 1:12 pto.read-ascend/syntax 'a name has more than 256 bytes' <in
echo 'gpu.module {}' >in
refused 1:1 pto.read-ascend/unsupported '`gpu.module` is not read here; a file has `func.func` in a `module`' <in
echo 'module' >in
refused 1:1 pto.read-ascend/syntax 'a module without its body' <in
echo 'func.func @k()' >in
refused 1:1 pto.read-ascend/unsupported '`func.func` without a body is not read' <in
echo 'func.func @k(%m: memref<2xf32>) { }' >in
refused 1:18 pto.read-ascend/type 'a parameter is a `!pto.ptr<..>` of an element type, an integer or a float; this is `memref`' <in

in_body 2:19 pto.read-ascend/name '`%a` is not defined' <<'END'
  %b = arith.addi %a, %n : index
END
in_body 3:3 pto.read-ascend/name '`%b` is defined twice' <<'END'
  %b = arith.addi %n, %n : index
  %b = arith.addi %n, %n : index
END
in_body 2:19 pto.read-ascend/name '`%p` is not an integer' <<'END'
  %b = arith.addi %p, %n : index
END
in_body 2:23 pto.read-ascend/number '`9223372036854775808` is not an integer of 64 bits' <<'END'
  %b = arith.constant 9223372036854775808 : index
END
in_body 2:23 pto.read-ascend/number '`0x1FFFFFFFF` is not a number of f32' <<'END'
  %b = arith.constant 0x1FFFFFFFF : f32
END
in_body 3:8 pto.read-ascend/unsupported '`arith.muli` leaves the range of 64 bits, or divides by 0' <<'END'
  %b = arith.constant 9223372036854775807 : index
  %c = arith.muli %b, %b : index
END
in_body 3:8 pto.read-ascend/unsupported '`arith.divsi` divides by -1; divisors are above 0' <<'END'
  %b = arith.constant -1 : index
  %c = arith.divsi %n, %b : index
END
in_body 2:8 pto.read-ascend/unsupported '`arith.shli` is not read; of arith are constant, cmpi,' <<'END'
  %b = arith.shli %n, %n : index
END
in_body 2:8 pto.read-ascend/unsupported '`arith.cmpi` compares by `ult`; read are eq, ne, slt, sle, sgt and sge' <<'END'
  %b = arith.cmpi ult, %n, %n : index
END
in_body 2:22 pto.read-ascend/syntax '`,` is expected here in `arith.addi`' <<'END'
  %b = arith.addi %n : index
END
in_body 2:34 pto.read-ascend/syntax 'nothing more is expected here in `arith.addi`' <<'END'
  %b = arith.addi %n, %n : index 7
END
in_body 2:3 pto.read-ascend/unsupported '`vector.print` is not read; ops of pto are, of arith,' <<'END'
  vector.print %n : index
END
in_body 2:3 pto.read-ascend/unsupported '`pto.tfoo` is not an instruction that is read; docs/reference/ascend.md lists them' <<'END'
  pto.tfoo ins(%n : index) outs(%n : index)
END
in_body 2:3 pto.read-ascend/unsupported '`pto.tgemv.mx.acc` multiplies by a scale for each block, which is not read: make f16 or bf16 of the operands, times their scales, and multiply these' <<'END'
  pto.tgemv.mx.acc ins(%n : index) outs(%n : index)
END
in_body 2:15 pto.read-ascend/unsupported '`PIPE_X` is not a pipe; read are PIPE_S, PIPE_V,' <<'END'
  pto.barrier <PIPE_X>
END
in_body 2:39 pto.read-ascend/unsupported '`EVENT_IDX` is not an event' <<'END'
  pto.set_flag[<PIPE_V>, <PIPE_MTE3>, <EVENT_IDX>]
END
in_body 3:8 pto.read-ascend/unsupported '`pto.make_tensor_view` has strides that are not those of an array' <<'END'
  %c = arith.constant 2 : index
  %v = pto.make_tensor_view %p, shape = [%n, %n], strides = [%n, %c] : !pto.tensor_view<?x?xf32>
END
in_body 4:10 pto.read-ascend/unsupported '`pto.make_tensor_view` has a shape that depends on more than parameters and numbers' <<'END'
  %c = arith.constant 1 : index
  scf.for %i = %c to %n step %c {
    %v = pto.make_tensor_view %p, shape = [%i, %n], strides = [%n, %c] : !pto.tensor_view<?x?xf32>
  }
END
in_body 2:70 pto.read-ascend/unsupported 'the layout `nz` of memory is not read; nd and dn are' <<'END'
  %v = pto.make_tensor_view %p, shape = [1], strides = [1] {layout = #pto.layout<nz>} : !pto.tensor_view<?xf32>
END
tile() { echo "  %t = pto.alloc_tile : !pto.tile_buf<$1>"; }
full='loc=vec, dtype=f32, rows=8, cols=8, v_row=8, v_col=8, blayout=row_major, slayout=none_box, fractal=512, pad=0'
tile "$full, colour=red" >in
in_body 2:25 pto.read-ascend/type 'a tile has loc, dtype, .* and compact; this is another part: `colour=red`' <in
tile "$full, pad=1" >in
in_body 2:25 pto.read-ascend/type 'a part of a tile that is given twice or is empty: `pad=1`' <in
tile "${full#loc=vec, }" >in
in_body 2:25 pto.read-ascend/type 'loc is vec, mat, left, right, acc, bias or scaling' <in
tile "loc=vec, dtype=f128, rows=8, cols=8, v_row=8, v_col=8" >in
in_body 2:25 pto.read-ascend/type 'an element type that is not read: `f128`' <in
tile "loc=left, dtype=f8E4M3FN, rows=16, cols=32, v_row=16, v_col=32" >in
in_body 2:25 pto.read-ascend/type 'floats of 8 and 4 bits have a scale for each block on the chip, which is not read: make f16 or bf16 of them, times their scales: `f8E4M3FN`' <in
tile "loc=vec, dtype=f32, rows=99999999999999999999, cols=8, v_row=8, v_col=8" >in
in_body 2:25 pto.read-ascend/type 'rows is from 1 to 1048576: `99999999999999999999`' <in
tile "loc=vec, dtype=f32, rows=8, cols=8, v_row=9, v_col=8" >in
in_body 2:25 pto.read-ascend/type 'v_row is `?` or from 0 to rows: `9`' <in
tile "loc=vec, dtype=f32, rows=8, cols=8, v_row=?, v_col=8" >in
in_body 2:8 pto.read-ascend/unsupported '`pto.alloc_tile` has `?` in its type and no `valid_row`' <in
echo '  %t = pto.alloc_tile : index' >in
in_body 2:25 pto.read-ascend/type 'a tile is expected, `!pto.tile_buf<..>`; this is: `index`' <in
{ tile "$full"; echo '  pto.texp ins(%t, %t : !pto.tile_buf<x>, !pto.tile_buf<x>) outs(%t : !pto.tile_buf<x>)'; } >in
in_body 3:3 pto.read-ascend/unsupported '`pto.texp` does not take 2 operands of these kinds' <in
{ tile "$full"; echo '  pto.texpands ins(%n : index) outs(%t : !pto.tile_buf<x>)'; } >in
in_body 3:3 pto.read-ascend/unsupported '`pto.texpands` has the scalar `%n` of index beside tiles of f32' <in
half='loc=vec, dtype=f32, rows=4, cols=8, v_row=4, v_col=8'
{ tile "$full"; echo "  %u = pto.treshape %t : !pto.tile_buf<x> -> !pto.tile_buf<$half>"; } >in
in_body 3:8 pto.read-ascend/unsupported '`pto.treshape` makes a tile of 128 bytes of one of 256' <in
memory() {
  printf '  %%c8 = arith.constant 8 : index\n  %%c1 = arith.constant 1 : index\n'
  echo '  %v = pto.make_tensor_view %p, shape = [%c8, %c8], strides = [%c8, %c1] : !pto.tensor_view<?x?xf32>'
}
{ memory; tile "loc=vec, dtype=f32, rows=16, cols=8, v_row=8, v_col=8, pad=1"; echo '  pto.tload ins(%v : !pto.tensor_view<x>) outs(%t : !pto.tile_buf<x>)'; } >in
in_body 6:3 pto.read-ascend/unsupported '`pto.tload` fills its target beyond the valid region, which is not read; pto.tfillpad does it too' <in
{ memory; tile "$half"; echo '  pto.tload ins(%v : !pto.tensor_view<x>) outs(%t : !pto.tile_buf<x>)'; } >in
in_body 6:3 pto.read-ascend/unsupported '`pto.tload` moves 8 rows of memory through a tile with 4 valid ones' <in
store='  pto.tstore ins(%t : !pto.tile_buf<x>) outs(%v : !pto.tensor_view<x>)'
{ memory; tile "$full"; echo "$store {atomicType = #pto<atomic_type atomic_add>}"; } >in
in_body 6:73 pto.read-ascend/syntax '`reluPreMode = #pto<relu_pre_mode normal_relu>` or `no_relu` is expected here in `pto.tstore`' <in
{ memory; tile "$full"; echo "$store {reluPreMode = #pto<relu_pre_mode leaky>}"; } >in
in_body 6:87 pto.read-ascend/syntax '`reluPreMode = #pto<relu_pre_mode normal_relu>` or `no_relu` is expected after this in `pto.tstore`' <in
{ memory; echo '  %r = scf.for %i = %c1 to %c8 step %c1 iter_args(%u = %v) -> (!pto.tensor_view<x>) {'; echo '  }'; } >in
in_body 5:8 pto.read-ascend/unsupported '`scf.for` hands over 1 values and 0' <in
{ memory; echo '  %r = scf.for %i = %c1 to %c8 step %c1 iter_args(%u = %c1) -> (index) {'; echo '  }'; } >in
in_body 5:8 pto.read-ascend/unsupported '`scf.for` hands over 1 values and 0' <in
{
  memory
  tile "$full"
  echo '  %r = scf.for %i = %c1 to %c8 step %c1 iter_args(%u = %v) -> (!pto.tensor_view<x>) {'
  printf '    scf.yield %%t : !pto.tile_buf<x>\n  }\n'
} >in
in_body 6:8 pto.read-ascend/unsupported '`scf.for` hands over value 0, which is not one view or tile whichever way is taken' <in
{ memory; printf '  %%is = arith.cmpi eq, %%n, %%c1 : index\n  %%r = scf.if %%is -> (index) {\n    scf.yield %%n : index\n  } else {\n  }\n'; } >in
in_body 6:8 pto.read-ascend/unsupported '`scf.if` hands over 1 values and 0' <in
{
  memory
  tile "$full"
  printf '  %%is = arith.cmpi eq, %%n, %%c1 : index\n  %%r = scf.if %%is -> (x) {\n    scf.yield %%v : x\n  } else {\n    scf.yield %%t : x\n  }\n'
} >in
in_body 7:8 pto.read-ascend/unsupported '`scf.if` hands over value 0, which is not one view or tile whichever way is taken' <in
echo '  %r = arith.andi %n, %n : index' >in
in_body 2:8 pto.read-ascend/unsupported '`arith.andi` is of `index`; conditions are read, of i1' <in

# Bits, records, integers as f64.
in_body 2:23 pto.read-ascend/number '`1.5` of f64 is not an integer of 64 bits, and others are not read' <<'END'
  %b = arith.constant 1.5 : f64
END
in_body 2:23 pto.read-ascend/syntax 'a number is expected here in `arith.constant`' <<'END'
  %b = arith.constant sparse<0> : vector<4xi16>
END
line='!pto.tile_buf<loc=vec, dtype=f32, rows=1, cols=64, v_row=1, v_col=64, blayout=row_major, slayout=none_box>'
lists() { # LINE..: after four tiles and the counts
  printf '  %%c%s = arith.constant %s : i64\n' 0 0 1 1024 2 2048 3 4096 4 8192
  printf "  %%t%s = pto.alloc_tile addr = %%c%s : $line\n" 0 0 1 1 2 2 3 3 4 4
  printf '  %%counts = arith.constant dense<0> : vector<4xi16>\n'
  printf '%s\n' "$@"
}
lists "  pto.tcmp ins(%t1, %t2 {cmpMode = #pto<cmp un>} : $line, $line) outs(%t0 : $line)" >in
in_body 13:3 pto.read-ascend/unsupported '`pto.tcmp` compares by `un`; read are eq, ne, lt, le, gt and ge' <in
lists "  pto.tcmp ins(%t1, %t2 {mode = 1} : $line, $line) outs(%t0 : $line)" >in
in_body 13:26 pto.read-ascend/syntax '`rmode = #pto<round_mode ..>`, `sat_mode = #pto<saturation_mode ..>`, `cmpMode = #pto<cmp ..>`, `maskPattern = #pto.mask_pattern<P1010>` or `exhausted = false` is expected here' <in
lists "  %run = arith.constant 3 : i32" "  pto.tmrgsort ins(%t1, %run : $line, i32) outs(%t0 : $line)" >in
in_body 14:3 pto.read-ascend/unsupported '`pto.tmrgsort` has runs of a length that is not known, or not of whole records' <in
lists '  %n1 = arith.index_cast %n : index to i32' "  pto.tmrgsort ins(%t1, %n1 : $line, i32) outs(%t0 : $line)" >in
in_body 14:3 pto.read-ascend/unsupported '`pto.tmrgsort` has runs of a length that is not known, or not of whole records' <in
lists "  pto.tmrgsort ins(%t1, %t2, %t3, %t4 {exhausted = false} : $line, $line, $line, $line) outs(%t0, %counts : $line, vector<4xi16>)" >in
in_body 13:3 pto.read-ascend/unsupported '`pto.tmrgsort` merges 3 lists; read are two of which the first is as long as the result, and up to four of one length that are one tile' <in
lists "  pto.tmrgsort ins(%t1, %c1, %t4 {exhausted = false} : $line, i32, $line) outs(%t0, %counts : $line, vector<4xi16>)" >in
in_body 13:3 pto.read-ascend/unsupported '`pto.tmrgsort` merges tiles alone' <in
lists "  pto.tmrgsort ins(%t1, %t2, %t4 {exhausted = false} : $line, $line, $line) outs(%counts : vector<4xi16>)" >in
in_body 13:3 pto.read-ascend/unsupported '`pto.tmrgsort` merges into a tile' <in

cat >k.pto <<'END'
func.func @k(%p: !pto.ptr<f32>, %n: index) {
  %two = arith.constant 2 : index
  %one = arith.constant 1 : index
  %even = arith.muli %n, %two : index
  %v = pto.make_tensor_view %p, shape = [%even, %even], strides = [%even, %one] : !pto.tensor_view<?x?xf32>
  return
}
END
ends 0 pto-opt k.pto
says '^k.pto:1:1: warning: \[pto.read-ascend/no-launch\] @k has no function that launches it: `n` is in extents of its memory'
[ "$count" -ge 55 ] || fail "$count refusals"

# Which reader, and what of it.
fails 3 'error: \[E1307\] no plugin provides reader .none.' pto-opt k.pto --reader=none
fails 2 'error: \[E1503\] a reader is an id, or' pto-opt k.pto '--reader={ with: { blocks: 1 } }'
fails 2 'blocks' pto-opt k.pto '--reader={ use: pto.read-ascend, with: { blocks: 0 } }'
cp k.pto k.txt
ends 0 pto-opt k.txt --reader=pto.read-ascend
ends 0 pto-opt k.pto '--reader={ use: pto.read-ascend, with: { blocks: 7 } }'
says 'grid(%block: 7)' out
fails 4 'error: ' pto-opt k.txt

# Files that are no text.
printf "a\\0b" >nul.pto
fails 4 "^nul.pto: error: .*it has a byte 0" pto-opt nul.pto
mkdir d.pto
fails 2 "^d.pto: error: .*it is a directory" pto-opt d.pto
fails 2 "^none.pto: error: " pto-opt none.pto
ends 0 sh -c "pto-opt - --reader=pto.read-ascend <k.pto"
