# softmax 4096 x 4096, read off the swimlane: loads of iteration i + 1 run beside vector work of iteration i for more
# than 30 % of all load time, that of first loads included; and the run takes less time than its pipes are busy.
. "$TEST_ROOT/tests/shell.sh"
sed 's/\$R/4096/g; s/\$C/4096/g' "$TEST_ROOT/examples/softmax/rows.ptir" >softmax.ptir
pto-run softmax.ptir --pipeline=default.yaml --set=backend.with.data=none --random-inputs=1 --report=report >out.txt 2>&1 || fail
/usr/bin/python3 - <<'END'
import collections, csv, json, re, sys

trace = json.load(open("report/swimlane.json"))
if trace["otherData"]["slices-left-out"]:
    sys.exit("the trace is not complete")
names = {e["tid"]: e["args"]["name"] for e in trace["traceEvents"] if e["name"] == "thread_name"}
cores = collections.defaultdict(lambda: collections.defaultdict(list))
loaded = 0
for e in trace["traceEvents"]:
    if e["ph"] == "X" and " / " in names.get(e["tid"], ""):
        core, pipe = names[e["tid"]].split(" / ")
        start, cycles = e["args"]["from"], e["args"]["cycles"]
        cores[core][pipe].append((start, start + cycles, e["name"]))
        loaded += e["args"]["bytes"] if e["name"] == "pto.tload" else 0
if len(cores) != 48:
    sys.exit(f"{len(cores)} cores in the trace")
load_time = beside = loads_in_all = 0
for core, pipes in cores.items():
    loads = sorted(s for s in pipes["mte2"] if s[2] == "pto.tload")
    work = sorted(pipes["v"])
    iterations = len(loads)
    # One load in each iteration, and always the same vector instructions; a pipe runs in order.
    if iterations == 0 or len(work) % iterations:
        sys.exit(f"{core}: {iterations} loads, {len(work)} vector instructions")
    per = len(work) // iterations
    loads_in_all += iterations
    for i, (start, end, _) in enumerate(loads):
        load_time += end - start
        for s, e, _ in work[(i - 1) * per : i * per] if i > 0 else []:
            beside += max(0, min(end, e) - max(start, s))
share = beside / load_time
# What a transfer waits for its first byte and for other cores is not work of the pipe.
busy = collections.Counter()
for name, _, cycles in csv.reader(open("report/counters.csv")):
    if m := re.fullmatch(r"vector \d+ / (mte2|v|mte3) / busy", name):
        busy[m[1]] = max(busy[m[1]], int(cycles))
first = min(s for pipes in cores.values() for slices in pipes.values() for s, _, _ in slices)
total = trace["otherData"]["cycles"] - first
print(f"{loads_in_all} loads, {share:.1%} of the load time beside work of the iteration before; {total} cycles, pipes busy {dict(busy)}")
if loaded != 4096 * 4096 * 4 or share <= 0.30 or total >= sum(busy.values()):
    sys.exit("does not hold")
END
