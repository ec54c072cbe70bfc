# Independent instances run in a random order give the same bits on reference, with tiles and with instructions, for every example.
set -u
failed=0
for run in softmax/case:paper softmax/rows:paper rms_norm/case:small rms_norm/bf16:small gemm/case:tails gemm/bf16:tails gemm/transposed:tails ffn/case:paper; do
  yaml=$TEST_ROOT/examples/${run%:*}.yaml
  module=$TEST_ROOT/examples/$(dirname "$run")/$(sed -n 's/^module: //p' "$yaml")
  output=$(sed -n '/^outputs:/,$ s/^  \([a-z]*\): .*/\1/p' "$yaml")
  for step in tile distribute task-graph; do
    pto-opt "$module" --pipeline=default.yaml --until=$step -o part.ptir || exit 1
    rm -f none.npy
    for seed in none 1 2 3; do
      order=
      [ $seed = none ] || order=--shuffle=$seed
      # shellcheck disable=SC2086
      pto-run --case "$yaml" --size "${run#*:}" part.ptir --backend=pto.reference --data-dir data --out "$output=$seed.npy" $order >out.txt 2>&1 ||
        { echo "$run after $step, seed $seed"; cat out.txt; failed=1; continue; }
      cmp none.npy $seed.npy || { echo "$run after $step: other bits with seed $seed"; failed=1; }
    done
  done
  rm -rf data
done
exit $failed
