# A machine that calls its pipes otherwise is the same machine: the IR differs in the names alone, the cycles not at
# all, races are found under the names, and the page and the swimlane show them, with the colours and words of their
# units.
. "$TEST_ROOT/tests/shell.sh"
others='s/\bmte2\b/ldg/g; s/\bmte3\b/stg/g; s/\bmte1\b/lds/g; s/\bpipe: v\b/pipe: simd/; s/{ v: needed }/{ simd: needed }/; s/\bv-s-0\b/simd-warp-0/; s/\b\([a-z]\+\)-s-0\b/\1-warp-0/; s/s-v-0/warp-simd-0/; s/\bpipe: fix\b/pipe: epilogue/'
sed -e 's/pipes: \[s, mte2, mte1, m, fix, mte3\]/pipes: { warp: scalar, lds: move, ldg: load, stg: store, mma: matrix, epilogue: fix }/' \
  -e 's/pipes: \[s, mte2, v, mte3\]/pipes: { warp: scalar, simd: vector, ldg: load, stg: store }/' -e "$others" \
  "$TEST_ROOT/pipelines/machines/ascend-910b.yaml" >own.yaml
back='s/\bldg\b/mte2/g; s/\bstg\b/mte3/g; s/\blds\b/mte1/g; s/\bsimd\b/v/g; s/\bmma\b/m/g; s/\bepilogue\b/fix/g; s/\bwarp\b/s/g'
for example in softmax/softmax gemm/gemm ffn/ffn; do
  text=$TEST_ROOT/examples/$example.ptir
  pto-opt "$text" --pipeline=default.yaml -o standard.ptir || fail
  pto-opt "$text" --pipeline=default.yaml --machine=own.yaml -o own.ptir || fail
  grep -q 'pto.set_flag.*ldg' own.ptir || fail "$example: no flag names ldg"
  # Flags at one place stand in the order in which the machine names their pipes.
  sed -e '1s/, pipes = {[^}]*}//' -e "$back" own.ptir | sort >own.txt
  sort standard.ptir | diff - own.txt || fail "$example: more than the names differs"
  pto-opt own.ptir >/dev/null || fail "$example: the module cannot be read without its machine"
  case=$TEST_ROOT/examples/$(dirname "$example")/case.yaml
  pto-run --case "$case" >standard.txt || fail
  pto-run --case "$case" --machine=own.yaml --report=report >own.txt || fail
  [ "$(grep '^cycles' own.txt)" = "$(grep '^cycles' standard.txt)" ] || fail "$example: $(grep -h '^cycles' own.txt standard.txt)"
done
# ffn is the last one: it uses all pipes.
for pipe in ldg lds mma epilogue; do
  grep -qE "^cube / $pipe / utilisation: 0?[.0]*[1-9]" own.txt || fail "$pipe does not work"
  grep -q "\"name\":\"cube 00 / $pipe\"" report/swimlane.json || fail "no lane of $pipe"
  grep -q "cube 00 / $pipe / busy" report/counters.csv || fail "no counter of $pipe"
  grep -q "\b$pipe\b" report/index.html || fail "the page does not show $pipe"
done
says '#b26fa0[^>]*>epilogue<' report/kernel-0-ffn_0.svg # the colour of the unit
! grep -qw 'mte2' report/index.html report/swimlane.json || fail 'a standard name'

fails 5 'error: \[pto.cpu-sim/race\] .* on pipe simd writes .* on pipe stg reads' \
  pto-run --case "$TEST_ROOT/examples/softmax/case.yaml" --size=bench --machine=own.yaml --set=backend.with.drop-wait=2
