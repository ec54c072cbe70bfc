# Every case of examples/ at its size `small` holds as C for cpu-generic, whose tiles have 24 KiB: what `host` is on a
# CPU without AVX2.
. "$TEST_ROOT/tests/shell.sh"
runs=0
for case in "$TEST_ROOT"/examples/*/case*.yaml; do
  runs=$((runs + 1))
  [ $((runs % TEST_SHARE)) -eq 0 ] || continue
  pto-run --case "$case" --pipeline=native.yaml --machine=cpu-generic "$kept_data" >out 2>&1 || complain "$case"
  grep -q ': ok, ' out || complain "$case: nothing was compared"
done
[ "$runs" -ge 20 ] || complain "only $runs cases were found"
