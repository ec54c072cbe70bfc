# --json prints one document that parses, whatever happens: outputs that hold and differ, a wrong module, a plugin that
# dies, a case that does not exist, infinities.
set -e
. "$TEST_ROOT/tests/shell.sh"
negation '$n' >f.ptir
/usr/bin/python3 -c 'import numpy as np; x = np.array([1, 2, np.inf, 4], np.float32); np.save("x.npy", x); np.save("y.npy", -x); x[2] = 7; np.save("z.npy", -x)'
json() { # STATUS EXPRESSION COMMAND..: standard output is one document `d`, and the expression holds
  status=$1 expression=$2
  shift 2
  exits "$status" "$@" --json >out 2>text || fail "$*"
  /usr/bin/python3 -B -c 'import json, sys
d = json.loads(open("out", encoding="utf-8").read())
runs = d["runs"]
r = runs[0] if runs else None
sys.exit(0 if d["pto-run"] == 1 and d["status"] == int(sys.argv[1]) and eval(sys.argv[2]) else 1)' "$status" "$expression" || fail "$* : $expression"
}
json 0 'r["outputs"][0]["expectation"]["holds"] is True and r["outputs"][0]["expectation"]["worst"] is None and r["outputs"][0]["dims"] == [4] and r["cycles"] > 0' pto-run f.ptir --in=x=x.npy --expect=y=y.npy
json 0 'r["outputs"][0]["expectation"] is None and r["cycles"] is None and r["case"] is None and r["runs"] == 1' pto-run f.ptir --backend=pto.reference --in=x=x.npy
json 0 'any(c["name"] == "vector / v / busy" for c in r["counters"]) and r["runs"] == 3 and r["wall_ns"]["least"] <= r["wall_ns"]["median"]' pto-run f.ptir --in=x=x.npy --repeat=3
json 1 'r["outputs"][0]["expectation"]["worst"] == {"index": [2], "got": "-inf", "want": -7, "bound": 0} and r["outputs"][0]["expectation"]["beyond_bound"] == 1' pto-run f.ptir --in=x=x.npy --expect=y=z.npy
json 4 '[x["code"] for x in r["diagnostics"]] == ["E1605", None] and r["diagnostics"][0]["file"] == "f.ptir" and r["outputs"] == []' pto-run f.ptir --sym=n=4
json 2 'r["diagnostics"][0]["severity"] == "error" and r["status"] == 2' pto-run none.ptir --in=x=x.npy
json 2 'runs == [] and d["diagnostics"][0]["code"] == "E1501"' pto-run --case=none.yaml
json 70 'r["status"] == 70 and r["counters"] == []' pto-run f.ptir --in=x=x.npy --plugin="$TEST_PLUGINS/liar-dies.so" --passes=test.liar-dies --backend=pto.reference --reproducer=dead
json 2 'd["diagnostics"][0]["code"] == "E1509"' pto-run f.ptir --in=x=x.npy --out=y=-
