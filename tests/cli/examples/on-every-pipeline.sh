# Every example at its small sizes, at one element, and at sizes with tails: within its rule on reference and on the
# simulator, and the simulator computes the bits of reference on the final IR.
. "$TEST_ROOT/tests/shell.sh"
runs="softmax/case:small softmax/rows:small softmax/rows:one softmax/rows:long rms_norm/case:small rms_norm/case:one
rms_norm/bf16:small rms_norm/bf16:one gemm/case:small gemm/case:one gemm/case:tails gemm/bf16:small gemm/bf16:one gemm/bf16:tails
gemm/transposed:small gemm/transposed:one gemm/transposed:tails ffn/case:small ffn/case:one ffn/case:paper
gemm_residual/case:small paged_attention/blocks:small ragged_expert/case:small sparse_flash_attention/case:one"
[ "$TEST_SHARE" -eq 1 ] || runs='softmax/rows:long rms_norm/bf16:one gemm/bf16:tails ffn/case:small'
for run in $runs; do
  case=${run%:*}
  size=${run#*:}
  example "$case"
  # The data are made once: --python=true.
  rm -rf data
  pto-run --case "$yaml" --size "$size" --pipeline=reference.yaml --data-dir data "$kept_data" >out.txt 2>&1 || complain "$run on reference"
  pto-run --case "$yaml" --size "$size" --pipeline=default.yaml --emit-schedule=s.yaml --out "$output=sim.npy" --data-dir data --python=true >out.txt 2>&1 || { complain "$run on the simulator"; continue; }
  pin_all s.yaml >decided.yaml # for these sizes
  pto-opt "$module" --pipeline=default.yaml --schedule=decided.yaml -o final.ptir
  pto-run --case "$yaml" --size "$size" final.ptir --backend=pto.reference --data-dir data --python=true --out "$output=ref.npy" >out.txt 2>&1 || complain "$run: final IR on reference"
  cmp -s sim.npy ref.npy || complain "$run: the simulator's bits differ from those of reference"
done
