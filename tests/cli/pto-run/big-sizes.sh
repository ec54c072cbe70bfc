# gemm 1000 x 4099 x 517 and rows of 100,003 elements, more than vec holds: within the rule on reference, op by op, and
# on the simulator, which computes the bits of reference on the final IR.
. "$TEST_ROOT/tests/shell.sh"
# With sanitizers the first alone.
for run in softmax/rows:long gemm/case:large gemm/bf16:large gemm/transposed:large; do
  [ "$TEST_SHARE" -eq 1 ] || [ "$run" = softmax/rows:long ] || continue
  yaml=$TEST_ROOT/examples/${run%:*}.yaml size=${run#*:}
  module=$TEST_ROOT/examples/$(dirname "$run")/$(sed -n 's/^module: //p' "$yaml")
  output=$(sed -n '/^outputs:/,$ s/^  \([a-z]*\): .*/\1/p' "$yaml")
  inputs=$(sed -n 's/^inputs: {\(.*\)}/\1/p' "$yaml" | tr ',' '\n' | sed 's|^ *\([a-z0-9]*\): *\([a-z0-9.]*\) *$|--in=\1=data/\2|')
  ok() { # WHAT OPTIONS..
    what=$1
    shift
    pto-run --case "$yaml" --size "$size" --data-dir data "$@" >out.txt 2>&1 && grep -q "^$output: ok, " out.txt && return
    complain "$run $what"
  }
  ok "on reference" "$kept_data" --pipeline=reference.yaml
  # The data are made once: --python=true.
  ok "on the simulator" --python=true --pipeline=default.yaml --emit-schedule=s.yaml --out "$output=sim.npy"
  pin_all s.yaml >decided.yaml # for these sizes
  pto-opt "$module" --pipeline=default.yaml --schedule=decided.yaml -o final.ptir || exit 1
  # shellcheck disable=SC2086
  pto-run final.ptir --backend=pto.reference $inputs --out="$output=ref.npy" >out.txt 2>&1 || complain
  cmp sim.npy ref.npy || complain "$run: the simulator's bits differ from those of reference"
  rm -rf data sim.npy ref.npy
done
