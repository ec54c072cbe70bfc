# A machine says which pipes need barriers between dependent instructions and which take none: compiled code has them or
# not, a barrier that the machine does not take is refused where it is, and the file may name its own pipes only.
. "$TEST_ROOT/tests/shell.sh"
chip=$TEST_ROOT/pipelines/machines/ascend-910b.yaml softmax=$TEST_ROOT/examples/softmax
sed 's/barriers: { v: needed }/barriers: { v: forbidden }/' "$chip" >later.yaml
sed '/barriers: { v: needed }/d' "$chip" >free.yaml
pto-opt "$softmax/softmax.ptir" --pipeline=default.yaml --machine="$chip" -o needed.ptir || fail
grep -q 'pto.barrier v' needed.ptir || fail 'no barrier'
for machine in later free; do
  pto-opt "$softmax/softmax.ptir" --pipeline=default.yaml --machine=$machine.yaml -o $machine.ptir || fail
  ! grep -q 'pto.barrier' $machine.ptir || fail "a barrier for $machine"
  grep -v 'pto.barrier' needed.ptir | diff - $machine.ptir || fail "$machine: more than barriers differs"
  pto-run --case "$softmax/case.yaml" --machine=$machine.yaml >out.txt 2>&1 || fail
done
printf 'pto-pipeline: 1\nmachine: later.yaml\npasses: []\nbackend: pto.cpu-sim-unchecked\n' >later-run.yaml
line=$(grep -n -m1 'pto.barrier' needed.ptir | cut -d: -f1)
sed '1s/^module {[^}]*} {//; $d' needed.ptir >plain.ptir
fails 5 "plain.ptir:$line:[0-9]*: error: \[pto.cpu-sim/barrier\] machine \`ascend-910b\` has no barrier of pipe v, whose instructions see each other's results; leave it out" \
  pto-run plain.ptir --pipeline=later-run.yaml --sym B=1 --random-inputs 1
sed 's/barriers: { v: needed }/barriers: { w: needed }/' "$chip" >none.yaml
line=$(grep -n 'barriers:' none.yaml | cut -d: -f1)
fails 2 "none.yaml:$line:[0-9]*: error: \[E1201\] no core of this machine has a pipe \`w\`" \
  pto-opt "$softmax/softmax.ptir" --pipeline=default.yaml --machine=none.yaml
sed 's/barriers: { v: needed }/barriers: { v: maybe }/' "$chip" >word.yaml
fails 2 "word.yaml:$line:[0-9]*: error: \[E1034\] \`v\` cannot be \`maybe\`" pto-opt "$softmax/softmax.ptir" --pipeline=default.yaml --machine=word.yaml
