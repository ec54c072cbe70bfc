# Independent instances run in a random order compute the same bits on reference, with tiles and with instructions, for
# every example; with sanitizers two.
. "$TEST_ROOT/tests/shell.sh"
for run in softmax/case:paper softmax/rows:paper rms_norm/case:small rms_norm/bf16:small gemm/case:tails gemm/bf16:tails \
  gemm/transposed:tails ffn/case:paper; do
  [ "$TEST_SHARE" -eq 1 ] || case $run in rms_norm/case:* | gemm/bf16:*) ;; *) continue ;; esac
  example "${run%:*}"
  pto-run --case "$yaml" --size "${run#*:}" --pipeline=reference.yaml --data-dir data "$kept_data" >out.txt 2>&1 || fail
  inputs=$(sed -n 's/^inputs: {\(.*\)}/\1/p' "$yaml" | tr ',' '\n' | sed 's|^ *\([a-z0-9]*\): *\([a-z0-9.]*\) *$|--in=\1=data/\2|')
  for step in tile distribute task-graph; do
    pto-opt "$module" --pipeline=default.yaml --until=$step -o part.ptir || exit 1
    rm -f none.npy
    for seed in none 1 2 3; do
      order=
      [ $seed = none ] || order=--shuffle=$seed
      # shellcheck disable=SC2086
      pto-run part.ptir --backend=pto.reference $inputs --out="$output=$seed.npy" $order >out.txt 2>&1 ||
        { complain "$run after $step, seed $seed"; continue; }
      cmp none.npy $seed.npy || complain "$run after $step: other bits with seed $seed"
    done
  done
  rm -rf data
done
