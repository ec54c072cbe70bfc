# An offer must keep the granule and the extent, and have a finite cost: the strategy is blamed by name, with the
# numbers.
. "$TEST_ROOT/tests/shell.sh"
printf 'func @f(%%x: tensor<4 x f32>) -> tensor<4 x f32> {\n  return %%x\n}\n' >m.ptir
while IFS=: read -r way says; do
  cat >p.yaml <<YAML
pto-pipeline: 1
passes:
  - pass: test.hostile-problem
    id: asks
    with: { strategy: { use: test.hostile-offers, with: { way: $way } } }
YAML
  ends 5 pto-opt m.ptir --plugin="$TEST_PLUGINS/hostile-tiling.so" --pipeline=p.yaml -o out.ptir
  grep -qF "error: [E1330] tiling strategy \`test.hostile-offers\` of plugin \`test.hostile-tiling\` offered $says" text || fail "$way"
  [ "$(grep -c -e 'note: ' text)" -eq 1 ] && grep -q "p.yaml:5:.*note: in step \`asks\`" text || fail "$way: notes"
done <<'WAYS'
granule:rows = 24, which is not a multiple of 16
beyond:rows = 128, which is not between 1 and 112, the whole extent
zero:rows = 0, which is not between 1 and 112, the whole extent
nan:a tile at a cost of nan
infinite:a tile at a cost of inf
WAYS
