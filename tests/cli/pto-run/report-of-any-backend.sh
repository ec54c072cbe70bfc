# A backend of somebody else that reports some of what <pto/profile.h> has gets a whole page: what it gave is there,
# what it does not report is said and not printed as 0, and pipes that no machine file knows are drawn. Names that are
# not those of the profile are findings of `pto-plugin lint`, and giving what was not declared is an error.
. "$TEST_ROOT/tests/shell.sh"
run() { # STATUS OPTIONS..: softmax on the backend
  wanted=$1
  shift
  ends "$wanted" pto-run --case "$TEST_ROOT/examples/softmax/case.yaml" --plugin="$TEST_PLUGINS/probe-profile.so" "$@"
}
# It computes nothing, so outputs differ: status 1.
run 1 --set=backend.use=test.partial --report=report
/usr/bin/python3 - <<'END' || fail "the page"
import glob, re, sys, xml.etree.ElementTree as tree
for file in ["report/index.html"] + glob.glob("report/*.svg"):
    tree.parse(file)
page = open("report/index.html").read()
text = re.sub(r"<[^>]*>", "", page)
def expect(what, found):
    if not found: sys.exit(f"not on the page: {what}")
missing = "time gm_bytes_written ops instructions launches instances utilisation latency shared_bandwidth result barrier queue_full queue_empty launch"
expect("what it lacks", "This backend does not report " + ", ".join(missing.split()).replace("_", " ") + "." in text)
expect("what slices lack", "This backend does not report bytes of slices." in text)
# No column, row or number stands for what is not there.
for absent in ("written to global memory", "through global memory", "bytes a cycle", ">shared bandwidth</th>", "simulated time"):
    if absent in page: sys.exit(f"on the page: {absent}")
units = re.search(r'<table id="units">.*?</table>', page, re.S)[0]
rows = [re.findall(r"<td[^>]*>(.*?)</td>", r) for r in re.findall(r"<tr>(.*?)</tr>", units.split("<tbody>")[1])]
rows = [[re.sub(r"<[^>]*>", "", c) for c in r] for r in rows]
expect("its units", [r[:2] + r[3:5] + r[6:] for r in rows] ==
       [["vector 00", "dma", "40", "not reported", "0"], ["vector 00", "alu", "60", "not reported", "3"]])
expect("its verdict", "Bound by pipe alu" in text and "Bound by pipe alu (" not in text)
expect("a counter of its own", re.search(r"<td>test.partial tokens</td>.*?>17<", page))
chart = open(glob.glob("report/timeline-*.svg")[0]).read()
expect("its pipes", ">dma<" in chart and ">alu<" in chart)
END

# What is not declared, or has another unit, is an error that names it.
refused() { # WAY SENTENCE
  run 5 --set=backend.use=test.partial --set=backend.with.way="$1" --report=report
  says "error: \[E1342\] backend \`test.partial\` of plugin \`test.profile\` $2"
}
refused undeclared 'gave the counter `launches`, which it does not declare'
refused unit 'gave the counter `vector 01 / dma / busy` in `us`; its unit is `cycles`'
refused cause 'gave slices with the cause `barrier`, which it does not declare'
# Of one that declares nothing, what it gave in this run is what it reports.
run 1 --set=backend.use=test.silent --set=backend.with.way=undeclared --report=report
/usr/bin/python3 -c 'import re; t = re.sub("<[^>]*>", "", open("report/index.html").read()); exit("not report time, gm bytes written, ops, instructions, instances, " not in t)' ||
  fail "what a silent one lacks"

ends 1 pto-plugin lint "$TEST_PLUGINS/probe-profile.so"
sed "s|^.*/probe-profile.so: backend ||" out >found
cat >wanted <<'END'
test.misnamed declares the counter `gm byte read`, which <pto/profile.h> does not have (`gm bytes read` is near); names of its own begin with `test.misnamed `
test.misnamed declares the counter `stall / flags`, which <pto/profile.h> does not have (`stall / flag` is near); names of its own begin with `test.misnamed `
test.misnamed declares the counter `wholly else`, which <pto/profile.h> does not have; names of its own begin with `test.misnamed `
test.silent does not declare its counters (`pto-inspect counters` lists names): no report can say what it lacks
END
cmp wanted found || fail "findings of lint"
ends 0 pto-inspect counters 'stall / flag'
says '^ *adds up to  *cycles' out
fails 2 'there is no counter `stall / flak`' pto-inspect counters 'stall / flak'
says 'did you mean `stall / flag`'
