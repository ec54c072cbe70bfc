# Ops of plugins are listed after ours, shown one by one like ours, and counted in JSON and Markdown; one that cannot be
# loaded is an entry that says so.
. "$TEST_ROOT/tests/shell.sh"
plugin=--plugin=$TEST_PLUGINS/acme-opset.so
shows() { # KEY VALUE
  sed 's/^ *//; s/  */ /g' out | grep -qxF "$1 $2" || fail "lacks: $1 $2"
}
ends 0 pto-inspect ops acme.squared_distance "$plugin"
shows acme.squared_distance 'Sum of (a - b)^2 along an axis. Of nothing: 0.'
shows level tensor/1
shows form '%r = acme.squared_distance %a, %b {..} : type'
shows operands 'a: tensor, b: tensor'
shows result tensor
shows 'element types' f32
shows traits 'pure, commutative'
shows axis 'axis of the sum, which stays with extent 1; negative: from the end; default -1'
shows numerics 'relative error at most (n + 2) 2^-24 for n terms'
shows plugin acme.opset
shows 'reference semantics' 'a function of the plugin'
ends 0 pto-inspect ops test.no_semantics --plugin="$TEST_PLUGINS/liar-ops.so"
shows 'reference semantics' none

pto-inspect ops --format=markdown >ours.md && pto-inspect ops --format=markdown "$plugin" >all.md || fail
diff ours.md all.md >difference && fail 'nothing is added'
grep '^[<>]' difference | grep -v '^>' && fail 'something of ours is lost'
[ "$(grep -c '^> ### ' difference)" -eq 1 ] && says '^> ### `acme.squared_distance`$' difference
pto-inspect ops acme.squared_distance --format=json "$plugin" >out || fail
/usr/bin/python3 - <<'EOF' || fail
import json

(entry,) = json.load(open("out"))
assert entry["name"] == "acme.squared_distance" and entry["plugin"] == "acme.opset", entry
EOF
ends 0 pto-inspect plugins acme.opset "$plugin"
says 'op:acme.squared_distance' out
# What is asked of another subject.
refuses 3 'pto-inspect: error: [E1504] `acme.opset` is a plugin: `pto-inspect plugins acme.opset` shows it' pto-inspect passes acme.opset "$plugin"
refuses 2 'pto-inspect: error: [E1504] there is no op `acme.squared`' pto-inspect ops acme.squared "$plugin"
