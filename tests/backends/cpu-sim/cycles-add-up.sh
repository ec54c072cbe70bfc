#!/bin/sh
# Busy and stalled cycles of every pipe of every core add up to the total; reports do not change from run to run; the
# total is less than the sum of the pipes; half the bandwidth doubles the time of
# loads.
set -eu
here=$TEST_ROOT/tests/backends/cpu-sim
run() { # PIPELINE REPORT
  pto-run "$here/inputs/softmax.ptir" --pipeline="$1" --random-inputs 1 --sym R=20000 --counters --report "$2"
}
run "$here/inputs/exec.yaml" one >first
run "$here/inputs/exec.yaml" two >second
cmp first second
cmp one/swimlane.json two/swimlane.json
awk -F'[:/] *' '
  $1 == "cycles" { total = $2 + 0 }
  /^vector [0-9]+ \// { sub(/ $/, "", $2); sum[$1 $2] += $NF }
  END {
    for (pipe in sum) {
      pipes++
      if (sum[pipe] != total) { print pipe ": " sum[pipe] " of " total; bad = 1 }
    }
    if (pipes != 192) { print pipes " pipes"; bad = 1 }
    exit bad
  }' first
busy() { sed -n "s/^vector 00 \/ $2 \/ busy: \([0-9]*\) .*/\1/p" "$1"; }
total=$(sed -n 's/^vector 00 \/ mte2 \/ stall \/ launch: \([0-9]*\) .*/\1/p' first)
cycles=$(($(sed -n 's/^cycles: \([0-9]*\) .*/\1/p' first) - total))
sum=$(($(busy first v) + $(busy first mte2) + $(busy first mte3)))
[ "$cycles" -lt "$sum" ] || { echo "$cycles cycles, $sum of all pipes"; exit 1; }

# Without the limit that all cores share, so that stores of other cores do not get in the way.
mkdir machines
for share in 58.6 29.3; do
  sed "s/gm-bytes-per-cycle: 2640 /gm-bytes-per-cycle: 0 /; s/bytes-per-cycle: 58.6,/bytes-per-cycle: $share,/" \
    "$TEST_ROOT/pipelines/machines/ascend-910b.yaml" >"machines/at-$share.yaml"
  sed "s/^machine: .*/machine: at-$share.yaml/" "$here/inputs/exec.yaml" >"machines/exec-$share.yaml"
  run "machines/exec-$share.yaml" "report-$share" >"at-$share"
done
awk -v a="$(busy at-58.6 mte2)" -v b="$(busy at-29.3 mte2)" 'BEGIN { print "loads take " b / a " times as long"; exit !(b > 1.8 * a && b < 2.2 * a) }'
