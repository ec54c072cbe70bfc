# examples/demo ends in three commands that work when pasted, in the source tree and elsewhere; the numbers it shows are
# there.
set -e
. "$TEST_ROOT/tests/shell.sh"
mkdir build
ln -s "$TEST_BUILD/bin" "$TEST_BUILD/lib" "$TEST_BUILD/share" build/

# pasted FROM: runs the demo as if started in FROM, then there the commands that it prints.
pasted() {
  "$TEST_ROOT/examples/demo" "$TEST_TMP/build" "$1" >demo.log || { cat demo.log; exit 1; }
  for shown in 'tensor.reduce_max' 'pto.tload' 'y: ok, max abs error ' 'cycles: [1-9]' 'time on this machine: ' '^memory: [0-9.]* GB/s, ' '^pto.native  *[0-9.]*  *[0-9.]*  *[0-9]*%$' '^numpy  ' '^a copy  .* 100%$'; do
    grep -q "$shown" demo.log || fail "the demo does not show '$shown'"
  done
  sed -n '/^Try next/,$s/^    //p' demo.log >commands
  [ "$(wc -l <commands)" -eq 3 ] || { cat commands; echo "not three commands"; exit 1; }
  # The edit that the demo proposes.
  [ "$(grep -o '\<48\>' build/demo/steps/*-pipeline.ptir | wc -l)" -eq 2 ] || fail "not two 48 to edit"
  sed -i 's/\<48\>/24/' build/demo/steps/*-pipeline.ptir
  while IFS= read -r command; do
    (cd "$1" && sh -c "$command") >log 2>&1 || { cat log; echo "in $1: $command: exit status $?"; exit 1; }
    case $command in *pto-run*) grep -q '^y: ok' log ;; *) [ "$(wc -l <log)" -gt 20 ] ;; esac || { cat log; exit 1; }
  done <commands
  [ "$(grep '^cycles' log)" != "$(grep '^cycles' demo.log)" ] || fail "half the cores take the same time"
}
pasted "$TEST_ROOT"
pasted "$TEST_TMP"
