# On a machine of other names a flag that is left out is a race between its pipes, and the swimlane has a lane for each
# of them.
. "$TEST_ROOT/tests/shell.sh"
machine=$TEST_ROOT/tests/machines/inputs/gpu-like.yaml
run() { pto-run --case "$TEST_ROOT/examples/gemm/case.yaml" --size tails "$kept_data" --pipeline=default.yaml --machine="$machine" "$@"; }
races=0
for wait in 0 1 2 3 4 5 6 7 8 9 10 11; do
  run --set=backend.with.drop-wait=$wait >out 2>text && fail "wait $wait is not needed"
  pipe='\(ldg\|lds\|mma\|epilogue\)'
  grep -q "^[^ ]*: error: \[pto.cpu-sim/race\] \`[^ ]*\` on pipe $pipe .* on pipe $pipe " text && races=$((races + 1)) && continue
  says "^[^ ]*: error: \[pto.cpu-sim/leftover-tokens\] 1 token of $pipe -> $pipe "
done
[ $races -ge 6 ] || fail "$races races"

run --report=page >out || fail
for pipe in warp ldg lds stg simd mma epilogue; do says "\"name\":\"sm 00 / $pipe\"" page/swimlane.json; done
! grep -qE 'sm 00 / (s|v|m|mte[123]|fix)"' page/swimlane.json || fail 'a standard name'
