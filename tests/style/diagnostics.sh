# Every diagnostic code - the rows of the tables of ir/, core/ and tools/, and the "pto.x/y" codes of the plugins - is
# expected by a golden file or script below tests/ together with its text: at least three words after the code, patterns
# apart. Names the codes whose text no test reads, and rows that no file of the table's own folder reports. Run from the
# root of the tree.
set -u
PYTHONPATH=$(dirname "$0") /usr/bin/python3 -B - <<'END'
import re, sys

from tree import tracked

TABLES = ("ir/base/diag.def", "core/diag.def", "tools/base/diag.def")
FILES = tracked()
WORDS_MIN = 3


def text_of(name):
    return open(name, encoding="utf-8", errors="replace").read()


rows = {table: re.findall(r"^DIAG\((E[0-9]+),", text_of(table), re.M) for table in TABLES if table in FILES}
own = [f for f in FILES if f.startswith("plugins/") and f.endswith((".c", ".h"))]
codes = {code for table in rows.values() for code in table}
codes |= {code for f in own for code in re.findall(r'"(pto\.[a-z0-9-]+/[a-z0-9-]+)"', text_of(f))}

said = {}  # the most words of its text that a test has
for name in FILES:
    if not name.startswith("tests/") or not name.endswith((".ptir", ".sh", ".yaml")):
        continue
    for m in re.finditer(r"(?<![a-z0-9-])(E[0-9]{4}|pto\.[a-z0-9-]+/[a-z0-9-]+)(?![a-z0-9-])([^\n]*)", text_of(name)):
        text = re.sub(r"\{\{.*?\}\}|\[\[.*?\]\]", " ", m[2])
        said[m[1]] = max(said.get(m[1], 0), len(re.findall(r"[A-Za-z]{2,}", text)))
bad = 0
for code in sorted(codes):
    if said.get(code, 0) < WORDS_MIN:
        print(f"{code}: no test " + ("reads its text" if code in said else "triggers it"))
        bad += 1
for table, table_codes in rows.items():
    top = table.split("/")[0] + "/"
    used = {c for f in FILES if f.startswith(top) and f.endswith((".c", ".h")) for c in re.findall(r"\bE[0-9]{4}\b", text_of(f))}
    for code in table_codes:
        if code not in used:
            print(f"{table}: nothing in {top} reports {code}")
            bad += 1
if not codes:
    print("there are no codes: is the pattern right?")
sys.exit(bad != 0 or not codes)
END
