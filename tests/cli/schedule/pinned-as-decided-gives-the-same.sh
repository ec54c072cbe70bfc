# What was decided is written, and when all of it is pinned and fed back, it is kept: the same IR, and the same again.
. "$TEST_ROOT/tests/shell.sh"
. "$TEST_ROOT/tests/cli/schedule/inputs/pins.sh"
for e in softmax rms_norm gemm ffn; do
  m=$TEST_ROOT/examples/$e/$e.ptir
  ends 0 $compile "$m" --emit-schedule=s.yaml -o plain.ptir
  grep -q '^    decide: tile$' s.yaml && grep -q '^    decide: cores$' s.yaml && grep -q '^    decide: stages$' s.yaml ||
    fail "$e: decisions are missing: $(cat s.yaml)"
  # Everything pinned as it was decided anyway.
  pin_all s.yaml >pinned.yaml
  ends 0 $compile "$m" --schedule=pinned.yaml --emit-schedule=again.yaml -o kept.ptir
  [ -s text ] && fail "$e"
  cmp -s plain.ptir kept.ptir || fail "$e: pins of what is decided anyway give another module"
  grep -q 'origin: pto' again.yaml && fail "$e: a pinned decision has another origin than the user"
  for s in s.yaml again.yaml; do
    grep -v -e '^    pinned' -e '^    origin' -e '^    cost' -e '^    limit' "$s" >"$s.values"
  done
  sort s.yaml.values >a
  sort again.yaml.values >b
  cmp -s a b || fail "$e: pinned values were not kept: $(diff a b)"
  # What is written is pinned again when it is fed back.
  ends 0 $compile "$m" --schedule=again.yaml -o again.ptir
  cmp -s plain.ptir again.ptir || fail "$e: the schedule of a pinned compilation makes another module"
done
