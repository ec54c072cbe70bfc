# Busy and stalled cycles of every pipe of every core add up to the total; reports do not change from run to run; the
# total is less than the sum of the pipes; half the bandwidth of global memory, of paths and in all, doubles the time of
# loads.
set -e
. "$TEST_ROOT/tests/shell.sh"
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
[ "$cycles" -lt "$sum" ] || fail "$cycles cycles, $sum of all pipes"

# Time is what loads need at the speed of their path; what they wait for one another, and for the first byte, is
# beside it.
mkdir machines
awk '
  /^  gm-bytes-per-cycle: / || /from: gm,/ || /to: gm,/ {
    at = match($0, /bytes-per-cycle: [0-9.]+/)
    split(substr($0, at, RLENGTH), part, " ")
    $0 = substr($0, 1, at - 1) part[1] " " part[2] / 2 substr($0, at + RLENGTH)
    halved++
  }
  { print }
  END { exit halved != 6 }' "$TEST_ROOT/pipelines/machines/ascend-910b.yaml" >machines/half.yaml
sed "s/^machine: .*/machine: half.yaml/" "$here/inputs/exec.yaml" >machines/exec.yaml
run machines/exec.yaml halved >half
for cause in latency 'shared bandwidth'; do
  grep -q "^vector 00 / mte2 / stall / $cause: [1-9]" half || fail "loads never wait: $cause"
done
grep -q '"latency":[1-9][0-9]*,"shared-bandwidth":[1-9]' halved/swimlane.json
awk -v a="$(busy first mte2)" -v b="$(busy half mte2)" 'BEGIN { print "loads take " b / a " times as long"; exit !(b > 1.8 * a && b < 2.2 * a) }'

# The swimlane tells the same: of every pipe, its slices hold the latency and the waits for bandwidth that are counted,
# and the rest of them is the busy time except for flags and barriers, which have no slices.
/usr/bin/python3 - <<'END'
import collections, csv, json, sys

trace = json.load(open("one/swimlane.json"))
names = {e["tid"]: e["args"]["name"] for e in trace["traceEvents"] if e["name"] == "thread_name"}
told = collections.Counter()
for e in trace["traceEvents"]:
    if e["ph"] == "X" and e["name"].startswith("pto."):
        a = e["args"]
        pipe, latency, shared = names[e["tid"]], a.get("latency", 0), a.get("shared-bandwidth", 0)
        told.update({f"{pipe} / stall / latency": latency, f"{pipe} / stall / shared bandwidth": shared, f"{pipe} / busy": a["cycles"] - latency - shared})
counted = {name: int(cycles) for name, unit, cycles in csv.reader(open("one/counters.csv")) if unit == "cycles"}
wrong = []
for name, cycles in told.items():
    found = counted.get(name, 0)
    # At most four flags and five barriers for each of 27 tiles and as many before and after, a cycle each.
    if not (cycles <= found <= cycles + 9 * 29 if name.endswith("busy") else found == cycles):
        wrong.append(f"{name}: {cycles} in the swimlane, {found} counted")
if trace["otherData"]["slices-left-out"] or len(told) != 48 * 3 * 3:
    wrong.append(f"{len(told)} numbers, {trace['otherData']['slices-left-out']} slices left out")
sys.exit("\n".join(wrong) if wrong else 0)
END
