# On a machine none of whose names is that of ir/ops, the examples compile with the default pipeline, run on both
# backends with the right numbers, and are reported with its names.
. "$TEST_ROOT/tests/shell.sh"
machine=$TEST_ROOT/tests/machines/inputs/gpu-like.yaml
for case in softmax/case:small gemm/case:tails gemm/transposed:tails; do
  yaml=$TEST_ROOT/examples/${case%:*}.yaml
  for backend in reference cpu-sim; do
    ends 0 pto-run --case "$yaml" --size "${case#*:}" --pipeline=default.yaml --machine="$machine" --backend=pto.$backend "$kept_data"
    says '^[cy]: ok, ' out
  done
done

# What comes out has no name but those of the machine, and is read back without it.
for example in softmax gemm; do
  pto-opt "$TEST_ROOT/examples/$example/$example.ptir" --pipeline=default.yaml --machine="$machine" --verify=paranoid -o "$example.ptir" || fail
  grep -nwE 'vec|mat|left|right|acc|mte[123]|nd|dn|nz|zn|zz' "$example.ptir" | grep -v '^1:' && fail "$example: standard names"
  pto-opt "$example.ptir" | cmp - "$example.ptir" || fail "$example reads back as something else"
done
[ "$(head -n 1 softmax.ptir)" = 'module {layouts = {columns = "column", rows = "row", tiled_a = "row-row", tiled_b = "row-column", tiled_out = "column-row"}, machine = "gpu-like", pipes = {epilogue = "fix", ldg = "load", lds = "move", mma = "matrix", simd = "vector", stg = "store", warp = "scalar"}, spaces = {frag_a = "left", frag_b = "right", frag_c = "accumulator", hbm = "global", smem = "scratchpad", stage = "panel"}} {' ] ||
  fail "softmax.ptir begins with $(head -n 1 softmax.ptir)"
for example in softmax gemm; do
  grep -q '^ *block.kernel @[a-z_0-9]* core(sm) ' $example.ptir || fail "$example: no kernel for its cores"
done
grep -q 'block.buffer {space = frag_c' gemm.ptir || fail "no accumulators in frag_c"
grep -q 'tile<128 x 16 x f32, frag_a, tiled_a>' gemm.ptir || fail "no left operands in frag_a"
grep -q 'pto.set_flag mma -> lds' gemm.ptir || fail "no flags between its pipes"

ends 0 pto-run --case "$TEST_ROOT/examples/gemm/case.yaml" --size small --pipeline=default.yaml --machine="$machine" --report page
for name in sm stage frag_c ldg lds mma epilogue; do grep -qw "$name" page/index.html || fail "the report does not name $name"; done
grep -q 'on a sm core' page/index.html || fail "the report does not say on which cores"
grep -qwE 'mte[123]|acc' page/index.html && fail "the report has standard names"
exit 0
