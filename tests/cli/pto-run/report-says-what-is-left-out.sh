# Pictures of large runs are cut: each says how much it lacks and which file has it. Small ones say nothing of the kind.
. "$TEST_ROOT/tests/shell.sh"
/usr/bin/python3 - <<'EOF' || exit 1
import os


def write(name, text):
    open(name, "w").write(text)


# 40 arrays that 59 launches read: more edges than are drawn.
names = [f"%x{i}" for i in range(40)]
parameters = ", ".join(f"{x}: gm<16 x 16 x f32>" for x in names)
launches = "".join(f"  block.launch @k args({', '.join(names)}, %y)\n" for _ in range(59))
write("edges.ptir", f"""func @f({parameters}, inout %y: gm<16 x 16 x f32>) {{
{launches}  return
}}
block.kernel @k core(vector) grid(%i: 1) reads({', '.join(names)}, %y) writes(%y) ({parameters}, inout %y: gm<16 x 16 x f32>) {{
  %a = tile.load %x7[0, 0] size(16, 16) : tile<16 x 16 x f32, vec, nd>
  tile.store %a, %y[0, 0]
}}
""")


# A chain of ops: more nodes than are drawn, and, of the long one, than graph.dot has.
def chain(count):
    ops = "".join(f"  %y{i + 1} = tensor.neg %y{i} : tensor<4 x f32>\n" for i in range(count))
    write(f"chain{count}.ptir", f"func @f(%y0: tensor<4 x f32>) -> tensor<4 x f32> {{\n{ops}  return %y{count}\n}}\n")


for count in (100, 300, 2500):
    chain(count)


# A loop on one core: ten instructions and flags an iteration.
def loop(count):
    write(f"loop{count}.ptir", f"""func @f(%x: gm<16 x 64 x f32>, out %y: gm<16 x 64 x f32>) {{
  exec.launch @k args(%x, %y)
  return
}}
block.kernel @k core(vector) grid(%i: 1) reads(%x) writes(%y) (%x: gm<16 x 64 x f32>, out %y: gm<16 x 64 x f32>) {{
  %p = block.buffer {{space = vec, bytes_per_stage = 4096, addr = 0}} : buffer
  %a = block.tile %p[0] valid(16, 64) : tile<16 x 64 x f32, vec, nd>
  for %j to {count} {{
    pto.tload %a, %x[0, 0]
    pto.set_flag mte2 -> v event(0)
    pto.wait_flag mte2 -> v event(0)
    pto.tneg %a, %a
    pto.set_flag v -> mte3 event(0)
    pto.wait_flag v -> mte3 event(0)
    pto.tstore %y[0, 0], %a
    pto.set_flag mte3 -> mte2 event(0)
    pto.wait_flag mte3 -> mte2 event(0)
  }}
}}
""")


for count in (20, 5000, 70000):
    loop(count)
machine = os.environ["TEST_ROOT"] + "/pipelines/machines/ascend-910b.yaml"
write("exec.yaml", f"pto-pipeline: 1\nmachine: {machine}\npasses: []\nbackend: pto.cpu-sim-unchecked\n")
EOF
cat >check.py <<'EOF'
import json, re, sys
from pathlib import Path

name, problems = sys.argv[1], []
folder = Path(name)
page = (folder / "index.html").read_text()


def said(pattern, picture):
    """The numbers of a note; None: there is none. The page has every picture."""
    found = re.findall(pattern, picture)
    if len(found) > 1 or len(found) != len(re.findall(pattern, page)):
        problems.append(f"the page and its picture say different things, or twice: {found}")
    return found[0] if found else None


def expect(what, got, wanted):
    if got != wanted:
        problems.append(f"{what}: {got}, not {wanted}")


dot = (folder / "graph.dot").read_text()
nodes, edges = len(re.findall(r"^  n\d+ \[", dot, re.M)), len(re.findall(r"^  n\d+ -> ", dot, re.M))
note = said(r"(\d+) of (\d+) nodes and (\d+) of ((?:more than )?\d+) edges are left out of the picture; graph.dot has (.*?)<", (folder / "graph.svg").read_text())
if name == "edges":
    expect("nodes and edges", (nodes, edges > 1200 + 60), (159, True)), expect("note", note, ("0", "159", str(edges - 1200), str(edges), "all"))
elif name == "chain300":
    expect("nodes and edges", (nodes, edges), (301, 300)), expect("note", note, ("141", "301", "141", "300", "all"))
elif name == "chain2500":
    expect("nodes and edges", (nodes, edges), (2000, 1999))
    expect("note", note, ("2341", "2501", "1840", "more than 1999", "more, the module all"))
    expect("graph.dot", re.findall(r"^  // .*", dot, re.M), ["  // 501 more nodes with their edges, and 0 more edges, are in the module only"])
else:
    expect("note", note, None), expect("graph.dot", "//" in dot, False)

if name.startswith("loop"):
    count, trace = int(name[4:]), json.loads((folder / "swimlane.json").read_text())["otherData"]
    timeline = next(folder.glob("timeline-*.svg")).read_text()
    note = said(r"left out: the last (\d+) of (\d+) slices of this kernel here; swimlane.json has (.*?)<", timeline)
    in_files = said(r"ui.perfetto.dev; the last (\d+) slices are left out\)", page)
    if count == 20:
        expect("note", note, None)
    else:
        kept, all = int(note[1]) - int(note[0]), int(note[1])
        expect("slices kept, and all", (kept, all > 6 * count), (20000, True))
        expect("who has all", note[2], "all" if count == 5000 else "more")
    expect("left out of the trace", in_files, str(trace["slices-left-out"]) if count == 70000 else None)
    expect("slices left out", trace["slices-left-out"] > 0, count == 70000)
for p in problems:
    print(f"{name}: {p}")
sys.exit(bool(problems))
EOF
for run in 'edges --backend=pto.reference' 'chain100 --backend=pto.reference' 'chain300 --backend=pto.reference' 'chain2500 --backend=pto.reference' \
  'loop20 --pipeline=exec.yaml' 'loop5000 --pipeline=exec.yaml' 'loop70000 --pipeline=exec.yaml'; do
  name=${run%% *}
  pto-run "$name.ptir" "${run#* }" --random-inputs=1 --report="$name" >out.txt 2>&1 || complain "$name"
  /usr/bin/python3 check.py "$name" || complain "$name"
done
