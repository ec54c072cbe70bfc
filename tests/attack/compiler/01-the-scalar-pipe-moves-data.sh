# No instruction is skipped, on whatever pipe the machine file puts its path: results stay those of `reference`, a
# transfer by the scalar unit takes its time there, and the cycles of every pipe still add up.
set -e
. "$TEST_ROOT/tests/shell.sh"
machine=$TEST_ROOT/pipelines/machines/ascend-910b.yaml
cat >mm.ptir <<'END'
func @mm(%a: tensor<50 x 96 x f16>, %b: tensor<96 x 70 x f16>) -> tensor<50 x 70 x f32> {
  %c = tensor.matmul %a, %b {out = f32} : tensor<50 x 70 x f32>
  return %c
}
END
cat >rows.ptir <<'END'
func @rows(%x: tensor<$B x 70 x f32>) -> tensor<$B x 70 x f32> {
  %y = tensor.softmax %x : tensor<$B x 70 x f32>
  return %y
}
END
try() { # MACHINE FILE [SYMBOL]
  pto-run "$2.ptir" --pipeline=default.yaml --machine="./$1.yaml" --random-inputs=3 ${3:+--sym "$3"} --compare=reference.yaml >out 2>&1 ||
    fail "$1, $2"
  grep -q 'the same within rounding' out || fail "$1, $2"
}
# Lines of paths, one after the other, then all at once.
n=0
for line in $(awk '/- { from:/ { print NR }' "$machine"); do
  n=$((n + 1))
  sed "${line}s/pipe: [a-z0-9]*,/pipe: s,/" "$machine" >path.yaml
  cmp -s path.yaml "$machine" && fail "line $line is as before"
  try path mm
  try path rows B=1000
done
[ "$n" -eq 11 ] || fail "$n paths"
sed '/- { from:/s/pipe: [a-z0-9]*,/pipe: s,/' "$machine" >every.yaml
try every mm
try every rows B=1000

# On its own pipe or on that of the scalar unit, bytes take the same time. All of that pipe's cycles have a name.
counters() { # MACHINE REPORT
  pto-run rows.ptir --pipeline=default.yaml --machine="$1" --random-inputs=3 --sym B=1000 --counters --report "$2" >"$2.out"
}
counters "$machine" usual
sed 's/\(from: gm, to: vec,.*pipe: \)[a-z0-9]*,/\1s,/' "$machine" >loads.yaml
counters ./loads.yaml scalar
/usr/bin/python3 - <<'END'
import collections, csv, json, sys

def read(name):
    counted = {n: float(v) for n, _, v in csv.reader(open(f"{name}/counters.csv")) if n != "name"}
    trace = json.load(open(f"{name}/swimlane.json"))["traceEvents"]
    lanes = {e["tid"]: e["args"]["name"] for e in trace if e["name"] == "thread_name"}
    loads = collections.Counter()
    for e in trace:
        if e["ph"] == "X" and e["name"] == "pto.tload":
            a = e["args"]
            loads[lanes[e["tid"]].split("/")[1].strip()] += a["cycles"] - a.get("latency", 0) - a.get("shared-bandwidth", 0)
    return counted, loads

usual, of_mte2 = read("usual")
scalar, of_scalar = read("scalar")
wrong = []
if list(of_mte2) != ["mte2"] or list(of_scalar) != ["s"]:
    wrong.append(f"loads on {list(of_mte2)} and {list(of_scalar)}")
if abs(of_scalar["s"] - of_mte2["mte2"]) > 0.02 * of_mte2["mte2"]:
    wrong.append(f"loads take {of_scalar['s']} cycles on s, {of_mte2['mte2']} on mte2")
for name in ("gm bytes read", "gm bytes written", "instructions"):
    if usual[name] != scalar[name]:
        wrong.append(f"{name}: {scalar[name]} instead of {usual[name]}")
sums = collections.Counter()
for name, value in scalar.items():
    core = name.split(" / ")[0]
    if core.split(" ")[-1].isdigit():
        sums[" / ".join(name.split(" / ")[:2])] += value
if len(sums) < 48 * 4 or set(sums.values()) != {scalar["cycles"]}:
    wrong.append(f"{len(sums)} pipes of {set(sums.values())} cycles, the run has {scalar['cycles']}")
sys.exit("\n".join(wrong) if wrong else 0)
END

# A flag that is missing is a race there, too.
cat >kernel.ptir <<'END'
func @f(%x: gm<16 x 64 x f32>, out %y: gm<16 x 64 x f32>) {
  exec.launch @k args(%x, %y)
  return
}
block.kernel @k core(vector) grid(%i: 1) reads(%x) writes(%y) (%x: gm<16 x 64 x f32>, out %y: gm<16 x 64 x f32>) {
  %p = block.buffer {space = vec, bytes_per_stage = 4096, addr = 0} : buffer
  %a = block.tile %p[0] valid(16, 64) : tile<16 x 64 x f32, vec, nd>
  pto.tload %a, %x[0, 0]
  pto.tstore %y[0, 0], %a
}
END
printf 'pto-pipeline: 1\nname: exec\ndoc: no passes\nmachine: loads.yaml\npasses: []\nbackend: pto.cpu-sim-unchecked\n' >exec.yaml
status=0
pto-run kernel.ptir --pipeline=./exec.yaml --random-inputs 1 >out 2>&1 || status=$?
grep -q "pto.cpu-sim/race. .pto.tstore. on pipe mte3 reads bytes 0 to 4096 of .vec., which .pto.tload. on pipe s writes without any order" out ||
  fail "status $status"
