#!/bin/sh
# random-host-calls.sh [--seconds N] [--seed N] [--bin FOLDER] [--plugins FOLDER] [--keep FOLDER]: a plugin that calls
# all slots of the host table at random, with handles that are good, none, stale, forged or of another run
# (tests/plugins/hostile/hostile_calls.h says which), on modules of all four levels. Whatever it does ends well, or with
# status 5 or 6 and a diagnostic that names it; what is left after status 0 reads back. Without --seconds a few of each.
# A failure is printed as the command that shows it again.
set -u
seconds=0 seed=1 bin='' plugins=${TEST_PLUGINS:-} keep=$PWD
while [ $# -gt 1 ]; do
  case $1 in
  --seconds) seconds=$2 ;;
  --seed) seed=$2 ;;
  --bin) bin=$2/ ;;
  --plugins) plugins=$2 ;;
  --keep) mkdir -p "$2" && keep=$(cd "$2" && pwd) ;;
  *) echo "random-host-calls.sh: $1 is unknown" >&2; exit 2 ;;
  esac
  shift 2
done
root=${TEST_ROOT:-$(cd "$(dirname "$0")/../../.." && pwd)}
plugins=${plugins:-$root/build/tests/plugins}
cd "$keep" || exit 2

for kernel in softmax rms_norm gemm; do
  cp "$root/examples/$kernel/$kernel.ptir" "$kernel-tensor.ptir" || exit 2
  for level in tile:tile block:synchronize exec:task-graph; do
    "${bin}pto-opt" "$kernel-tensor.ptir" --pipeline=default.yaml --until="${level#*:}" -o "$kernel-${level%:*}.ptir" || exit 2
  done
done

failed() { # WHAT
  echo "$1: $command"
  head -n 5 text
  exit 1
}
# try STATUSES COMMAND...: one of these, and blamed on the plugin when it is not 0.
try() {
  wanted=$1
  shift
  command=$*
  "$@" >out 2>text
  status=$?
  case " $wanted " in *" $status "*) ;; *) failed "status $status" ;; esac
  [ "$status" -eq 0 ] || grep -q 'plugin `\?test.hostile-calls' text || failed 'nobody is blamed'
  ! grep -qE 'internal error|runtime error|Sanitizer' text || failed 'an internal error'
}
one_round() { # SEED
  for module in *-tensor.ptir *-tile.ptir *-block.ptir *-exec.ptir; do
    level=${module##*-}
    level=${level%.ptir}
    misuses=$(($1 % 3 * 6)) calls=$((10 + $1 * 37 % 600)) scope='' verify=each
    [ $(($1 / 3 % 2)) -eq 0 ] || scope=_module
    [ $(($1 % 5)) -ne 0 ] || verify=paranoid
    # Of no misuse at all few calls go well, too: a change that makes no sense is one.
    [ $misuses -ne 0 ] || calls=$((calls / 20))
    try '0 5 6' "${bin}pto-opt" "$module" --machine=ascend-910b --plugin="$plugins/hostile-calls.so" --verify=$verify \
      --passes="test.hostile-calls-$level$scope{seed=$1,calls=$calls,misuses=$misuses}" -o left.ptir
    [ "$status" -ne 0 ] || try 0 "${bin}pto-opt" left.ptir -o /dev/null
  done
  try '0 5' "${bin}pto-run" softmax-tensor.ptir --plugin="$plugins/hostile-calls.so" --pipeline=backend.yaml --sym B=1 --random-inputs=1 \
    --shuffle="$1" --report report
  rm -rf report
}

printf 'pto-pipeline: 1\npasses: [pto.canonicalize]\nbackend: test.hostile-calls-backend\n' >backend.yaml
end=$(($(date +%s) + seconds)) rounds=0
while [ $rounds -lt 5 ] || [ "$(date +%s)" -lt $end ]; do
  one_round $((seed + rounds))
  rounds=$((rounds + 1))
done
echo "$rounds rounds from seed $seed: no internal error"
