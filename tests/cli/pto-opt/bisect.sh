# --bisect=N: the first N optional unit runs are done, the others are not; what contracts need always runs; one line for
# each decision.
. "$TEST_ROOT/tests/shell.sh"
inputs=$TEST_ROOT/tests/cli/pto-opt/inputs
cp "$inputs/two-functions.ptir" f.ptir
bisect() { # N FILE OPTION..: of the pipeline whose steps are counted here
  number=$1 file=$2
  shift 2
  ends 0 pto-opt "$file" --pipeline="$inputs/to-tiles.yaml" --bisect="$number" "$@"
}
pto-opt f.ptir --pipeline="$inputs/to-tiles.yaml" -o plain.ptir || exit 1
bisect -1 f.ptir -o all.ptir
cmp plain.ptir all.ptir || exit 1
grep -q 'NOT running' text && fail "-1 leaves something out"
[ "$(grep -c '^bisect: running pass ([0-9]*) ' text)" -eq 4 ] || fail "optional runs"
bisect 3 f.ptir -o three.ptir
says_line 'bisect: running pass (1) pto.canonicalize on @f, step `canonicalize`'
says_line 'bisect: running pass (2) pto.canonicalize on @g, step `canonicalize`'
says_line 'bisect: step `expand-math` always runs: it establishes pto.math-legal, which step `fuse` needs'
says_line 'bisect: running pass (3) pto.canonicalize on @f, step `again`'
says_line 'bisect: NOT running pass (4) pto.canonicalize on @g, step `again`'
says_line 'bisect: step `tile` always runs: it takes tensor/1 to tile/1'
# As many as there are is all; a part of the pipeline decides as the whole does.
bisect 4 f.ptir -o all.ptir
cmp plain.ptir all.ptir || exit 1
bisect 3 f.ptir --until expand-math -o part.ptir
says_line 'bisect: step `expand-math` always runs: it establishes pto.math-legal, which step `fuse` needs'
bisect 1 part.ptir --from again -o resumed.ptir
says_line 'bisect: NOT running pass (2) pto.canonicalize on @g, step `again`'
cmp three.ptir resumed.ptir || exit 1
# Every prefix of the default pipeline works, and computes the same numbers; with sanitizers some are tried.
ffn=$TEST_ROOT/examples/ffn/ffn.ptir
ends 0 pto-opt "$ffn" --pipeline=default.yaml --bisect=-1 -o all.ptir
says_line 'bisect: step `synchronize` always runs: it establishes pto.synchronised, which backend pto.cpu-sim needs'
count=$(grep -c '^bisect: running pass ([0-9]*) ' text)
n=0
while [ "$n" -le "$count" ]; do
  pto-run --case "$TEST_ROOT/examples/ffn/case.yaml" --size one --bisect="$n" "$kept_data" >out.txt 2>text || fail "$n"
  [ "$(grep -c '^bisect: running' text)" -eq "$n" ] || fail "$n: not so many runs"
  n=$((n + TEST_SHARE))
done

# Decompositions, and what puts nests in the place of their calls, always run: what they replace has no form afterwards.
for module in layer_norm/bf16 attention/attention; do
  ends 0 pto-opt "$TEST_ROOT/examples/$module.ptir" --pipeline=native.yaml --bisect=-1 -o all.c
  count=$(grep -c '^bisect: running pass ([0-9]*) ' text)
  n=0
  while [ "$n" -le "$count" ]; do
    ends 0 pto-opt "$TEST_ROOT/examples/$module.ptir" --pipeline=native.yaml --bisect="$n" -o out.c
    n=$((n + TEST_SHARE))
  done
done
needed='always runs: later steps have no form for what it replaces'
says_line "bisect: step \`decompose-matmul\` $needed"
says_line "bisect: step \`inline-nests\` $needed"
ends 0 pto-opt "$TEST_ROOT/examples/layer_norm/bf16.ptir" --pipeline=native.yaml --bisect=0 -o out.c
says_line "bisect: step \`decompose-layer-norm\` $needed"
# A pass whose ops are not there is not counted.
! grep -q decompose-rope text || fail "a pass that has nothing to do"
# So does what spreads scalars. The exception that docs/checking.md names is split.
cat >small.ptir <<'END'
func @f(%x: tensor<4 x 8 x f32>, %a: f32, %b: f32) -> (tensor<4 x 4 x f32>, tensor<4 x 4 x f32>) {
  %c = tensor.clip %x, %a, %b : tensor<4 x 8 x f32>
  %y, %z = tensor.split %c {axis = 1} : tensor<4 x 4 x f32>, tensor<4 x 4 x f32>
  return %y, %z
}
END
fails 5 'small.ptir:3:.* error: \[pto.tile/unsupported-op\] `tensor.split` has no tile form' pto-opt small.ptir --pipeline=default.yaml --bisect=0
says_line "bisect: step \`spread-scalars\` $needed"
canonicalizes=$(sed -n 's/^bisect: NOT running pass (\([0-9]*\)) .*, step `canonicalize`$/\1/p' text)
ends 0 pto-opt small.ptir --pipeline=default.yaml --bisect="$canonicalizes"

# What it is for: the run from which on the numbers are wrong.
liar=test.liar-numbers
low=0 high=6
while [ $((high - low)) -gt 1 ]; do
  middle=$(((low + high) / 2))
  if pto-opt f.ptir "--plugin=$TEST_PLUGINS/liar-numbers.so" --passes=$liar-swaps,$liar-scales,pto.canonicalize --check=semantics \
    --bisect=$middle >/dev/null 2>text; then low=$middle; else high=$middle; fi
done
[ $high -eq 4 ] || fail "found $high, not 4"
fails 6 '^bisect: running pass (4) test.liar-numbers-scales on @g, step `liar-numbers-scales`$' \
  pto-opt f.ptir "--plugin=$TEST_PLUGINS/liar-numbers.so" --passes=$liar-swaps,$liar-scales --check=semantics --bisect=4
grep -q 'error: \[E1901\].*of @g' text || fail "blame"

# A property that nobody needs is not asked for where the pass was left out.
cat >scheduled.yaml <<'END'
pto-pipeline: 1
machine: ascend-910b.yaml
passes: [ pto.fuse ]
END
sed '/pto.fuse/s/\[.*\]/[ pto.decompose-softmax, pto.decompose-rms-norm, pto.legalize-types, pto.expand-math, pto.fuse ]/' scheduled.yaml >three.yaml
ends 0 pto-opt f.ptir --pipeline=three.yaml --bisect=0 -o out.ptir
says_line 'bisect: NOT running pass (1) pto.fuse on @f, step `fuse`'
ends 0 pto-opt f.ptir --pipeline=three.yaml --bisect=1 -o out.ptir
says_line 'bisect: NOT running pass (2) pto.fuse on @g, step `fuse`'
# Passes on the module.
ends 0 pto-opt f.ptir "--plugin=$TEST_PLUGINS/liar-numbers.so" --passes=$liar-erases --bisect=0 -o out.ptir
says_line 'bisect: NOT running pass (1) test.liar-numbers-erases on the module, step `liar-numbers-erases`'

for wrong in -2 x 1.5; do
  fails 2 'error: \[E1503\] option `--bisect` needs' pto-opt f.ptir --passes=pto.canonicalize --bisect=$wrong
done
fails 2 'error: \[E1504\] option `--bisect` has no effect without --pipeline or --passes' pto-opt f.ptir --bisect=1
