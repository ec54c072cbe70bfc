# softmax 4096 x 4096, read off the swimlane: for more than 30 % of their time loads run beside vector work of earlier iterations,
# and the run takes less time than its pipes are busy. A load starts as soon as its stage is free: with two stages and vector work as
# the bottleneck, the load of iteration i + 1 runs beside work of i - 1 and is done when work of i begins.
set -u
sed 's/\$R/4096/g; s/\$C/4096/g' "$TEST_ROOT/examples/softmax/rows.ptir" >softmax.ptir
pto-run softmax.ptir --pipeline=default.yaml --set=backend.with.data=none --random-inputs=1 --report=report >out.txt 2>&1 || { cat out.txt; exit 1; }
/usr/bin/python3 - <<'END'
import collections, json, sys

trace = json.load(open("report/swimlane.json"))
if trace["otherData"]["slices-left-out"]:
    sys.exit("the trace is not complete")
names = {e["tid"]: e["args"]["name"] for e in trace["traceEvents"] if e["name"] == "thread_name"}
cores = collections.defaultdict(lambda: collections.defaultdict(list))
for e in trace["traceEvents"]:
    if e["ph"] == "X" and " / " in names.get(e["tid"], ""):
        core, pipe = names[e["tid"]].split(" / ")
        start, cycles = e["args"]["from"], e["args"]["cycles"]
        cores[core][pipe].append((start, start + cycles, e["name"]))
if len(cores) != 48:
    sys.exit(f"{len(cores)} cores in the trace")
load_time = rows = 0
ahead = collections.Counter()
for core, pipes in cores.items():
    loads = sorted(s for s in pipes["mte2"] if s[2] == "pto.tload")
    work = sorted(pipes["v"])
    iterations = len(loads)
    # One load in each iteration, and always the same vector instructions; a pipe runs in order.
    if iterations == 0 or len(work) % iterations:
        sys.exit(f"{core}: {iterations} loads, {len(work)} vector instructions")
    per = len(work) // iterations
    rows += iterations
    for i, (start, end, _) in enumerate(loads):
        load_time += end - start
        for j, (s, e, _) in enumerate(work):
            ahead[i - j // per] += max(0, min(end, e) - max(start, s))
share = sum(cycles for distance, cycles in ahead.items() if distance > 0) / load_time
busy = {p: max(sum(e - s for s, e, _ in pipes[p]) for pipes in cores.values()) for p in ("mte2", "v", "mte3")}
first = min(s for pipes in cores.values() for slices in pipes.values() for s, _, _ in slices)
total = trace["otherData"]["cycles"] - first
by_distance = {d: f"{c / load_time:.1%}" for d, c in sorted(ahead.items()) if c}
print(f"{rows} rows, {share:.1%} of the load time beside earlier work, by distance {by_distance}; {total} cycles, pipes busy {busy}")
if rows != 4096 or share <= 0.30 or total >= sum(busy.values()):
    sys.exit("does not hold")
END
