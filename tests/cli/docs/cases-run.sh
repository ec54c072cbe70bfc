# The example of docs/cases.md runs as it stands there, and every key that the page names is in the document that --json
# prints.
set -e
. "$TEST_ROOT/tests/shell.sh"
page=$TEST_ROOT/docs/cases.md
block() { # NAME: the block after the line that names the file
  awk -v name="\`$1\`:" '$0 == name { wanted = 1 } wanted && /^```$/ && on { exit } on { print } wanted && /^```/ { on = 1 }' "$page" >"$1"
  [ -s "$1" ] || fail "no block $1"
}
for file in maths.ptir maths.yaml make_data.py; do block $file; done
commands=0
grep '^pto-run ' "$page" >commands
while read -r line; do
  commands=$((commands + 1))
  sh -c "$line" >out 2>text </dev/null || fail "$line"
done <commands
[ "$commands" -eq 2 ]
pto-run --case maths.yaml >out
grep -c '^y: ok' out | grep -qx 2
pto-run --case maths.yaml --json >document.json
XDG_CACHE_HOME=$PWD pto-run --case maths.yaml:root --json --pipeline=native.yaml >timed.json
cat >keys.py <<'END'
import json, re, sys
page = open(sys.argv[1], encoding="utf-8").read()
document = json.load(open("document.json"))
keys = set()
def walk(v):
    if isinstance(v, dict):
        keys.update(v)
        v = v.values()
    for each in v if isinstance(v, (list, type({}.values()))) else ():
        walk(each)
walk(document)
walk(json.load(open("timed.json")))
keys |= {"severity", "code", "file", "line", "column", "text", "op"}  # of a diagnostic
named = re.findall(r"`\.?(?:runs\[\]\.)?([a-z_]+)(?:\[\])?`", page[page.index("## `--json`"):])
missing = keys - set(named) - {"pto-run"}
assert not missing, f"the page does not name {missing}"
unknown = set(named) - keys - {"standard", "cycles", "function"}
assert not unknown, f"the document does not have {unknown}"
assert [r["case"] for r in document["runs"]] == ["maths/double", "maths/root"]
END
/usr/bin/python3 -B keys.py "$page"
