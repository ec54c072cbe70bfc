# --report of softmax, gemm and ffn: all files are there and listed, pages and pictures are well-formed and hold no
# outside reference and no dead link, their numbers are those of counters.csv and of pto.allocate, and a second run
# writes the same bytes.
. "$TEST_ROOT/tests/shell.sh"
cat >check.py <<'END'
import csv, re, sys, xml.etree.ElementTree as tree
from pathlib import Path

folder, listed, allocated = Path(sys.argv[1]), sys.argv[2].split(), int(sys.argv[3])
problems = []


def expect(what, got, wanted):
    if got != wanted:
        problems.append(f"{what}: {got}, not {wanted}")


def texts(element):
    return "".join(element.itertext())


def name(element):
    return element.tag.rsplit("}", 1)[-1]


expect("files", sorted([".pto-files", *listed]), sorted(p.name for p in folder.iterdir()))
kernels = [p.name[len("kernel-") : -len(".svg")] for p in folder.glob("kernel-*.svg")]
wanted = ["index.html", "swimlane.json", "counters.csv", "memory.csv", "graph.svg", "graph.dot", "cores.svg"]
wanted += [f"{what}-{k}.svg" for k in kernels for what in ("kernel", "memory", "timeline")]
expect("files", sorted(listed), sorted(wanted))

# Well-formed, nothing from outside, every link to a line leads to one.
page = tree.parse(folder / "index.html").getroot()
expect("what arrows of flags mean", texts(page).count("takes its token"), len(kernels))
ids = [e.get("id") for e in page.iter() if e.get("id")]
expect("ids that occur twice", len(ids) - len(set(ids)), 0)
# What is too wide for a screen scrolls in a box of its own, and none of it is cut off.
boxed = {t for e in page.iter() if e.get("class") == "scroll" for t in e if name(t) == "table"}
expect("tables outside of boxes", [t.get("id") for t in page.iter() if name(t) == "table" and t not in boxed], [])
style = "".join(texts(e) for e in page.iter() if name(e) == "style")
expect("boxes that scroll", ".scroll,.picture{overflow-x:auto}" in style and "text-overflow" not in style, True)
for path in [folder / "index.html", *folder.glob("*.svg")]:
    root = tree.parse(path).getroot()
    if path.suffix == ".svg" and (name(root) != "svg" or not root.get("viewBox")):
        problems.append(f"{path.name} is not a picture")
    for e in root.iter():
        if name(e) in ("script", "link", "img", "iframe", "object", "foreignObject"):
            problems.append(f"{path.name} has <{name(e)}>")
        for key, value in e.attrib.items():
            if re.search(r"(https?:)?//|url\(|@import", value):
                problems.append(f"{path.name}: {key}={value}")
            if key.endswith("href"):
                file, _, anchor = value.partition("#")
                if anchor and anchor not in ids:
                    problems.append(f"{path.name} links to #{anchor}, which is not there")
                if file and not (folder / file).exists():
                    problems.append(f"{path.name} links to {file}, which is not there")
        for key in ("x", "y", "width", "height", "x1", "y1", "x2", "y2"):
            if name(root) == "svg" and e.get(key) and not -1e-9 <= float(e.get(key)) < 20000:
                problems.append(f"{path.name}: {name(e)} {key}={e.get(key)}")

# The numbers of the page are those of the table.
counters = {row["name"]: float(row["value"]) for row in csv.DictReader((folder / "counters.csv").open())}
by_id = {e.get("id"): e for e in page.iter() if e.get("id")}


def cells(row):
    return [c for c in row.iter() if name(c) in ("td", "th")]


def value(cell):
    data = [d for d in cell.iter() if name(d) == "data"]
    shown = texts(cell).replace(",", "").replace("\xa0%", "").strip()
    if data:
        exact = float(data[0].get("value"))
        if abs(exact - float(shown)) > 0.006 + 1e-5 * abs(exact):
            problems.append(f"{shown} is shown for {exact}")
        return exact
    return shown


totals = {texts(cells(r)[0]): value(cells(r)[1]) for r in by_id["counters"].iter() if name(r) == "tr"}
expect("totals", totals, {k: v for k, v in counters.items() if " / " not in k})
rows = [r for r in by_id["units"].iter() if name(r) == "tr"]
heads = [texts(c) for c in cells(rows[0])]
units = {}
for r in rows[1:]:
    c = cells(r)
    unit = f"{texts(c[0])} / {texts(c[1])}"
    units[f"{unit} / busy"], units[f"{unit} / utilisation"] = value(c[3]), value(c[4])
    units.update({f"{unit} / stall / {head}": value(cell) for head, cell in zip(heads[6:], c[6:])})
known = {k: v for k, v in counters.items() if re.match(r"[a-z]+ / ", k)}
expect("units", {k: v for k, v in units.items() if k in known}, known)
expect("stalls that no counter has", {k: v for k, v in units.items() if k not in known and v}, {})

# Slices say the same as counters: what pipes waited for, what ran, how much moved.
stalls, sums = {}, {"instructions": 0, "instances": 0}
for i in range(len(kernels)):
    section = by_id[f"kernel-{i}"]
    table = [t for t in section.iter() if name(t) == "table"][0]
    rows = [cells(r) for r in table.iter() if name(r) == "tr"]
    heads = [texts(c) for c in rows[0]]
    for c in rows[1:]:
        sums["instructions"] += value(c[2])
        for head, cell in zip(heads[8:], c[8:]):
            key = f"{texts(c[0])} / stall / {head}"
            stalls[key] = stalls.get(key, 0) + value(cell)
    for tile in section.iter():
        if tile.get("class") == "tile" and texts(tile).rstrip("s").endswith("instance") and " " not in texts(tile):
            sums["instances"] += int(re.match(r"[\d,]+", texts(tile)).group().replace(",", ""))
expect("sums over kernels", sums, {k: counters[k] for k in sums})
both = {}
for k, v in counters.items():
    m = re.fullmatch(r"[a-z]+ / ((?!s )\w+ / stall / (?!queue|launch).*)", k)
    if m:
        both[m.group(1)] = both.get(m.group(1), 0) + v
expect("stalls by slices", {k: v for k, v in stalls.items() if v}, both)
listing = [e for e in page.iter() if e.get("class") == "code" and name(e) == "pre"]
runs = sum(int(u.text.replace(",", "")) for l in by_id.values() if name(l) == "span" for u in list(l)[1:2] if name(u) == "u" and u.text)
expect("runs of all lines", runs, counters["instructions"])

# Maps: what allocate gave out, and nothing unaccounted for.
memory = {}
for row in csv.DictReader((folder / "memory.csv").open()):
    memory.setdefault((row["kernel"], row["space"]), {}).setdefault(row["what"], []).append(row)
used = 0
for space, m in memory.items():
    n = {what: int(m[what][0]["bytes"]) for what in ("used", "free", "reserved", "limit")}
    used += n["used"]
    expect(f"{space} used", n["used"], max(int(b["address"]) + int(b["bytes"]) for b in m["buffer"]))
    expect(f"{space} in all", n["used"] + n["free"] + n["reserved"], n["limit"])
    for b in m["buffer"]:
        expect(f"{b['name']} bytes", int(b["bytes"]), int(b["bytes per stage"]) * int(b["stages"]))
        if not 0 < int(b["first line"]) <= int(b["last line"]):
            problems.append(f"{b['name']} lives from {b['first line']} to {b['last line']}")
expect("bytes given out", used, allocated)

dot = (folder / "graph.dot").read_text()
expect("launches in the graph", len(re.findall(r'label="@', dot)), counters["launches"])
sys.exit("\n".join(problems) if problems else 0)
END
for run in softmax:paper gemm:tails ffn:paper; do
  case=$TEST_ROOT/examples/${run%:*}/case.yaml
  given=$(pto-run --case "$case" --size "${run#*:}" --pipeline=default.yaml --stats 2>&1 >/dev/null |
    sed -n 's/^ *\([0-9]*\)  bytes given out, all spaces$/\1/p')
  for folder in one two; do
    mkdir -p "$folder"
    (cd "$folder" && pto-run --case "$case" --size "${run#*:}" --pipeline=default.yaml --report=report >out.txt 2>text) ||
      { echo "$run"; cat "$folder/out.txt" "$folder/text"; exit 1; }
  done
  files=$(sed -n 's/^report in report: //p' one/text)
  echo "$run"
  /usr/bin/python3 check.py one/report "$files" "$given" || complain
  diff -r one/report two/report || complain "$run: a second run writes other bytes"
  rm -rf one two
done
