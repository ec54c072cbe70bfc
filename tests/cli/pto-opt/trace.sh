# --trace writes down what took how long: the same spans each time, nested, in the order of the work.
. "$TEST_ROOT/tests/shell.sh"
softmax=$TEST_ROOT/examples/softmax/softmax.ptir
inputs=$TEST_ROOT/tests/cli/pto-opt/inputs
for i in 1 2; do
  ends 0 pto-opt "$inputs/two-functions.ptir" --pipeline="$inputs/to-tiles.yaml" --verify=paranoid --check=semantics --trace=t$i.json -o out.ptir
  sed 's/"\(ts\|dur\)": [0-9.]*/"\1": 0/g' t$i.json >same$i
done
cmp same1 same2 || fail "other spans"
ends 0 pto-run "$softmax" --random-inputs 1 --sym B=2 --trace=run.json
ends 5 pto-opt "$softmax" "--plugin=$TEST_PLUGINS/liar-silent.so" --passes=pto.canonicalize,test.liar-silent --trace=failed.json
/usr/bin/python3 - <<'END' || exit 1
import json
def read(name):
    events = json.load(open(name))["traceEvents"]
    assert all(e["ph"] == "X" and e["ts"] >= 0 and e["dur"] >= 0 for e in events)
    stack = []
    for e in events:
        while stack and e["ts"] > stack[-1]["ts"] + stack[-1]["dur"]: stack.pop()
        e["inside"] = [s["name"] for s in stack]
        if stack: assert e["ts"] + e["dur"] <= stack[-1]["ts"] + stack[-1]["dur"] + 0.0011, e
        stack.append(e)
    return events
events = read("t1.json")
assert events[0]["name"] == "pto-opt" and [e["name"] for e in events[1:4]] == ["open pipeline", "parse", "verify"]
steps = [e for e in events if e["cat"] == "step"]
assert [e["name"] for e in steps[5:]] == ["again", "fuse", "tile"] and steps[7]["args"]["detail"] == "pto.tile" and steps[7]["args"]["ops"] > 0
tile = [e for e in events if e["inside"] == ["pto-opt", "tile"]]
assert [e["name"] for e in tile][:6] == ["f", "g", "verify", "properties", "print and read", "semantics"], tile
again = [e["name"] for e in events if e["cat"] == "unit" and "again" in e["inside"]]
assert sorted(again) == ["f", "g"], again
assert events[-1]["name"] == "print"
assert [e["name"] for e in read("run.json")][-1] == "pto.cpu-sim"
failed = read("failed.json")
assert [e["name"] for e in failed if e["cat"] == "step"] == ["canonicalize", "liar-silent"]
END
fails 74 'absent/t.json.*E1501\|\[E1501\].*absent/t.json' pto-opt "$softmax" --pipeline=default.yaml --trace=absent/t.json -o out.ptir
