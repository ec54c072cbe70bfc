# The report of a run by the clock of this machine: time, bytes and operations of each kernel beside the peaks of the
# machine, a lane for each thread; of several executions medians; what the CPU did not count is not reported, and
# nothing is measured unless asked for.
. "$TEST_ROOT/tests/shell.sh"
export XDG_CACHE_HOME="$PWD"
cat >f.ptir <<'END'
func @f(%x: tensor<300 x 200 x f32>, %w: tensor<200 x 100 x f32>) -> tensor<300 x 100 x f32> {
  %y = tensor.matmul %x, %w : tensor<300 x 100 x f32>
  %m = tensor.reduce_max %y {axis = 0} : tensor<1 x 100 x f32>
  %z = tensor.sub %y, %m : tensor<300 x 100 x f32>
  return %z
}
END
ends 0 pto-run f.ptir --pipeline=native.yaml --random-inputs=1 --threads=2 --repeat=3 --report=report
says 'swimlane.json' text
cat >look.py <<'END'
import csv, json, re, xml.etree.ElementTree as tree
page = open("report/index.html").read()
tree.parse("report/index.html")
text = re.sub(r"<[^>]*>", "", page)
rows = {r["name"]: r for r in csv.DictReader(open("report/counters.csv"))}
times = {n.split(" / ")[0]: float(r["value"]) for n, r in rows.items() if n.endswith(" / kernel time")}
assert len(times) >= 2 and sum(times.values()) <= 1.001 * float(rows["time"]["value"]), rows
assert int(rows["launches"]["value"]) == sum(int(r["value"]) for n, r in rows.items() if n.endswith(" / kernel launches")), rows
kernels = {n: r for n, r in rows.items() if n.endswith(" / kernel time")}
assert all(float(r["min"]) <= float(r["median"]) <= float(r["min"]) + float(r["spread"]) for r in kernels.values()), kernels
assert any(float(r["spread"]) > 0 for r in kernels.values()), kernels
assert "medians of 3 executions" in text
table = page[page.index('<table id="kernels">'):]
table = table[:table.index("</table>")]
cells = [[re.sub(r"<[^>]*>", "", c) for c in re.findall(r"<td.*?</td>", row)] for row in re.findall(r"<tr>.*?</tr>", table)[1:]]
assert [c[0].lstrip("@") for c in cells] == list(times), cells
product = [c for c in cells if int(c[7].replace(",", "")) >= 2 * 300 * 200 * 100]
assert len(product) == 1, cells
for name, row in zip(times, cells):
    assert row[2] == "%.5g" % float(rows[f"{name} / kernel time"]["median"]), row
    for counter, cell in zip(("cpu cycles", "cpu instructions", "cache misses"), row[10:]):
        key = f"{name} / {counter}"
        assert (cell == "not reported") == (key not in rows), (key, cell)
        assert key not in rows or float(rows[key]["value"]) > 0 or counter == "cache misses", rows[key]
assert "by the clock of this machine" in text and "every thread; open it in ui.perfetto.dev" in text
assert "Instructions by pipe, with loops" in text and "takes its token" not in text  # kernels without flags
assert "does not report cycles" not in text and "No cycles" not in text
events = json.load(open("report/swimlane.json"))["traceEvents"]
lanes = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
assert lanes == {0: "launches", 1: "thread 00", 2: "thread 01"}, lanes
slices = [e for e in events if e["ph"] == "X"]
for name in times:
    launched = [e for e in slices if e["tid"] == 0 and e["name"] == name]
    pieces = [e for e in slices if e["tid"] > 0 and e["name"] == name]
    done = sorted(i for e in pieces for i in range(e["args"]["first instance"], e["args"]["first instance"] + e["args"]["instances"]))
    assert done == list(range(sum(e["args"]["instances"] for e in launched))), (name, done)
    assert abs(sum(e["dur"] for e in launched) - times[name]) < 0.01
for lane in (1, 2):
    ends = 0
    for e in sorted((e for e in slices if e["tid"] == lane), key=lambda e: e["ts"]):
        assert e["ts"] >= ends - 0.001, e
        ends = e["ts"] + e["dur"]
END
/usr/bin/python3 look.py || fail 'the report is not what the run was'

# Without a report there is none of that.
ends 0 pto-run f.ptir --pipeline=native.yaml --random-inputs=1 --threads=2 --repeat=3 --counters
! grep -q 'kernel time\|cpu cycles' out || fail 'kernels were measured that nobody asked about'
