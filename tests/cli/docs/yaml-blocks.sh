# Every pipeline in the guides opens, prints, and reads back to the same; every schedule is kept for the softmax of the
# examples, which runs on every machine.
. "$TEST_ROOT/tests/shell.sh"
n=0
for page in "$TEST_ROOT"/docs/*.md; do
  rm -f block-*
  awk '/^```yaml$/ { on = 1; k++; next } /^```$/ { on = 0 } on { print > ("block-" k ".yaml") }' "$page"
  for block in block-*.yaml; do
    [ -e "$block" ] || continue
    n=$((n + 1))
    if grep -q '^pto-schedule' "$block"; then
      pto-opt --pipeline=default.yaml "$TEST_ROOT/examples/softmax/softmax.ptir" --schedule="$block" -o out || fail "$page: $block"
      continue
    fi
    if grep -q '^pto-machine' "$block"; then
      pto-run --case "$TEST_ROOT/examples/softmax/case.yaml" --size small --pipeline=default.yaml --machine="$block" >out || fail "$page: $block"
      continue
    fi
    grep -q '^pto-case' "$block" && continue # cases-run.sh runs them
    pto-opt --pipeline="$block" --print-pipeline >printed.yaml || fail "$page: $block"
    pto-opt --pipeline=printed.yaml --explain >/dev/null || exit 1
  done
done
[ "$n" -gt 0 ] || fail "no YAML block was found"
