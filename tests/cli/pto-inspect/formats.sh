# Every subject in every format: JSON parses and names what text and markdown name; names that do not exist are refused.
set -u
for subject in plugins passes tilings costs backends properties ops machines options errors host; do
  for format in text json markdown; do
    exits 0 pto-inspect $subject --format=$format >$format 2>stderr || { cat stderr; exit 1; }
    [ -s $format ] && [ ! -s stderr ] || { echo "$subject in $format: nothing, or words on stderr"; exit 1; }
  done
  /usr/bin/python3 - $subject <<'END' || exit 1
import json, sys
def unique(pairs):
    keys = [key for key, _ in pairs]
    assert len(keys) == len(set(keys)), f"{sys.argv[1]}: a key occurs twice in {keys}"
    return dict(pairs)
entries = json.load(open("json"), object_pairs_hook=unique)
assert entries and all(e["name"] for e in entries), sys.argv[1]
text, markdown = open("text").read().splitlines(), open("markdown").read().splitlines()
for e in entries:
    assert any(line.split(" ")[0] == e["name"].split(" ")[0] for line in text), f"{sys.argv[1]}: {e['name']} is not in the text"
    assert f"### `{e['name']}`" in markdown, f"{sys.argv[1]}: {e['name']} is not in the markdown"
END
done
for one in 'plugins pto.fuse' 'passes pto.tile' 'tilings pto.tiling-heuristic' 'costs pto.cost-roofline' 'backends pto.cpu-sim' 'properties pto.grouped' 'ops tensor.add' \
  'machines ascend-910b' 'errors E1702' 'host pto_op_operand'; do
  exits 0 pto-inspect $one --format=json >json || exit 1
  /usr/bin/python3 -c "import json; (e,) = json.load(open('json')); assert e['name'] == '${one#* }', e" || exit 1
  exits 0 pto-inspect $one >text || exit 1
done
exits 2 pto-inspect ops tensor.nog 2>stderr || exit 1
grep -q 'did you mean `tensor.neg`' stderr || { cat stderr; exit 1; }
# The name of something else: what it is, and what shows it.
is() { # STATUS SUBJECT NAME WHAT SHOWS
  exits "$1" pto-inspect "$2" "$3" 2>stderr >out || exit 1
  [ "$(cat stderr)" = "pto-inspect: error: [E1504] \`$3\` is $4: \`pto-inspect $5 $3\` shows it" ] || { cat stderr; exit 1; }
  exits 0 pto-inspect "$5" "$3" >out || exit 1
}
is 3 passes pto.native 'a backend' backends
is 3 backends pto.tile 'a pass' passes
is 3 passes pto.tiling-heuristic 'a tiling strategy' tilings
is 3 passes pto.cost-roofline 'a cost model' costs
is 3 passes pto.emit-c 'a code generator' generators
is 3 passes pto.read-ascend 'a reader' readers
is 3 options pto.grouped 'a property' properties
is 3 plugins pto.grouped 'a property' properties
is 3 passes tensor.add 'an op' ops
is 2 ops pto.tile 'a pass' passes
exits 2 pto-inspect host pto_op_operands 2>stderr || exit 1
grep -qF 'error: [E1504] there is no host function `pto_op_operands`' stderr || { cat stderr; exit 1; }
pto-inspect host decision_made >text && grep -q '^ *callers  *passes only$' text && grep -q '^ *table  *pto.schedule$' text || { cat text; exit 1; }
pto-inspect host opt_str >text && grep -q '^ *valid  *until the tool ends$' text && ! grep -q '\[session\]' text || { cat text; exit 1; }
exits 3 pto-inspect passes pto.no-such 2>stderr || exit 1
# A plugin that ends the process when it is looked at is refused.
exits 3 pto-inspect passes test.abi-dies-in-constructor --plugin="$TEST_PLUGINS/abi-dies-in-constructor.so" 2>stderr || exit 1
grep -q "error: \[E1328\] plugin \`test.abi-dies-in-constructor\` .* its code ended the process by signal 6 (Aborted)" stderr || { cat stderr; exit 1; }
