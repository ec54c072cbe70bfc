# Each wait_flag of correct kernels, left out, is a race or redundant by happens-before; each set_flag left out is a
# deadlock.
set -e
. "$TEST_ROOT/tests/shell.sh"
here=$TEST_ROOT/tests/backends/cpu-sim
try() { # FILE SYMBOL wait|set NUMBER
  status=0
  pto-run "$here/inputs/$1.ptir" --pipeline="$here/inputs/exec.yaml" --random-inputs 1 --sym "$2" \
    --set "backend.with.drop-$3=$4" >/dev/null 2>errors || status=$?
  [ $status -eq 5 ] || fail "$1 without $3 $4: exit status $status"
}
check() { # FILE SYMBOL NUMBER-OF-FLAGS
  races=0
  for n in $(seq 0 $(($3 - 1))); do
    try "$1" "$2" wait "$n"
    if grep -q 'pto.cpu-sim/race' errors; then
      races=$((races + 1))
      grep -q 'the other access' errors || fail "$1 without wait $n: only one place"
    else
      grep -q 'pto.cpu-sim/leftover-tokens. 1 token of [a-z0-9]* -> [a-z0-9]* event([0-9]*), set here, is left .* redundant by happens-before: ' errors || fail "$1 without wait $n"
    fi
    try "$1" "$2" set "$n"
    grep -q 'pto.cpu-sim/deadlock. pipe [a-z0-9]* waits for a token of.* \[@[a-z0-9_]*/pto.wait_flag#*[0-9]*\]$' errors || fail "$1 without set $n"
  done
  try "$1" "$2" wait "$3"
  grep -q 'pto.cpu-sim/no-such-flag' errors || fail "$1 has more flags"
  echo "$1: $3 waits, $races of them races when left out"
  [ $races -ge 4 ] || exit 1
}
check softmax R=2000 8
check gemm M=70 5
