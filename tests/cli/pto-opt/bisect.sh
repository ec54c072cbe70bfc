# --bisect=N: the first N optional unit runs are done, the others are not; what contracts need always runs; one line for each decision.
. "$TEST_ROOT/tests/shell.sh"
ffn=$TEST_ROOT/examples/ffn/ffn.ptir
pto-opt "$ffn" --pipeline=default.yaml -o plain.ptir || exit 1
ends 0 pto-opt "$ffn" --pipeline=default.yaml --bisect=-1 -o all.ptir
cmp plain.ptir all.ptir || exit 1
grep -q 'NOT running' text && fail "-1 leaves something out"
count=$(grep -c '^bisect: running pass ([0-9]*) ' text)
[ "$count" -ge 6 ] || fail "$count optional runs"
ends 0 pto-opt "$ffn" --pipeline=default.yaml --bisect=4 -o four.ptir
says_line 'bisect: running pass (1) pto.canonicalize on @ffn, step `canonicalize`'
says_line 'bisect: step `expand-math` always runs: it establishes pto.math-legal, which step `fuse` needs'
says_line 'bisect: running pass (2) pto.canonicalize on @ffn, step `canonicalize-expanded`'
says_line 'bisect: step `tile` always runs: it takes tensor/1 to tile/1'
says_line 'bisect: running pass (3) pto.pipeline on @ffn, step `pipeline`'
says_line 'bisect: running pass (4) pto.order on @ffn_0, step `order`'
says_line 'bisect: NOT running pass (5) pto.order on @ffn_1, step `order`'
says_line 'bisect: step `synchronize` always runs: it establishes pto.synchronised, which backend pto.cpu-sim needs'
# As many as there are is all; a part of the pipeline decides as the whole does.
ends 0 pto-opt "$ffn" --pipeline=default.yaml --bisect="$count" -o all.ptir
cmp plain.ptir all.ptir || exit 1
ends 0 pto-opt "$ffn" --pipeline=default.yaml --bisect=4 --until select -o select.ptir
says_line 'bisect: step `select` always runs: it establishes pto.selected, which step `order` needs'
ends 0 pto-opt select.ptir --pipeline=default.yaml --bisect=1 --from order -o resumed.ptir
says_line 'bisect: NOT running pass (2) pto.order on @ffn_1, step `order`'
cmp four.ptir resumed.ptir || exit 1
# Every prefix is a pipeline that works, and gives the same numbers.
n=0
while [ "$n" -le "$count" ]; do
  pto-run --case "$TEST_ROOT/examples/ffn/case.yaml" --size one --bisect="$n" >out.txt 2>text || fail "$n"
  [ "$(grep -c '^bisect: running' text)" -eq "$n" ] || fail "$n: not so many runs"
  n=$((n + 1))
done

# What it is for: the run from which on the numbers are wrong.
cat >f.ptir <<'END'
func @f(%x: tensor<$N x 8 x f32>) -> tensor<$N x 8 x f32> {
  %y = tensor.add %x, %x : tensor<$N x 8 x f32>
  return %y
}
func @g(%x: tensor<$N x 8 x f32>) -> tensor<$N x 8 x f32> {
  %y = tensor.exp %x : tensor<$N x 8 x f32>
  return %y
}
END
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
  fails 2 'error: \[E1503\] option `--bisect` wants' pto-opt f.ptir --passes=pto.canonicalize --bisect=$wrong
done
fails 2 'error: \[E1504\] option `--bisect` has no effect without --pipeline or --passes' pto-opt f.ptir --bisect=1
