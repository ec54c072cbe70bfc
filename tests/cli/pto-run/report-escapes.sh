# Names and texts of users are in the report as text: markup in the name of a file, of a machine and of a case does
# nothing.
. "$TEST_ROOT/tests/shell.sh"
name='<script>alert(1)<!--&"'\''.ptir'
cp "$TEST_ROOT/examples/softmax/rows.ptir" "$name" || exit 1
bytes=$(printf 'x\377\342\200\256<i>.npy')
/usr/bin/python3 -c 'import numpy, sys; numpy.save(sys.stdout.buffer, numpy.zeros((4, 8), numpy.float32))' >"$bytes" || exit 1
sed 's/^doc: .*/doc: "<script src=x> \& ]]>"/; s/^name: .*/name: "<b>\&"/' "$TEST_ROOT/pipelines/machines/ascend-910b.yaml" >machine.yaml
pto-run "$name" --pipeline=default.yaml --machine=./machine.yaml --in "x=$bytes" --report='<b>' >out.txt 2>&1 || fail
/usr/bin/python3 - "$name" <<'END' || exit 1
import re, sys, xml.etree.ElementTree as tree
from pathlib import Path

name = sys.argv[1]
for path in [*Path("<b>").glob("*.svg"), Path("<b>/index.html")]:
    text = path.read_text()
    if re.search(r"<(script|b>&|i>|!--)", text):
        sys.exit(f"{path} holds markup of a user")
    if "\u202e" in text:
        sys.exit(f"{path} holds a character that turns text around")
    tree.fromstring(text)
page = tree.parse("<b>/index.html").getroot()
shown = "".join(page.itertext())
quoted = name.replace("'", "'\\''")
for wanted in (f"'{quoted}'", "<script src=x> & ]]>", "x=x\ufffd\ufffd<i>.npy", "--report='<b>'"):
    if wanted not in shown:
        sys.exit(f"{wanted} is not on the page")
if name + ":" not in shown:
    sys.exit("no line of the user's file is named")
END
