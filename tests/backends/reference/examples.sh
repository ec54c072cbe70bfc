# Every case of examples/ at every size but the large ones, as it is written: no pass runs. tests/cli/examples has the
# small sizes. With sanitizers some of them.
. "$TEST_ROOT/tests/shell.sh"
runs=0
for case in "$TEST_ROOT"/examples/*/*.yaml; do
  for size in $(sed -n '/^sizes:/,/^inputs:/s/^  \([a-z]*\): {.*/\1/p' "$case"); do
    case $size in small | bench | large) continue ;; esac
    runs=$((runs + 1))
    [ $((runs % TEST_SHARE)) -eq 0 ] || continue
    if ! pto-run --case "$case" --size "$size" --pipeline reference.yaml --data-dir "$TEST_TMP/data" "$kept_data" >"$TEST_TMP/out" 2>&1; then
      complain "$case, size $size"
    fi
  done
done
[ "$runs" -ge 20 ] || complain "only $runs cases were found"
