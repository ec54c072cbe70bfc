# What a plugin prints while it is loaded, in a constructor or in its entry, is not mixed with the result.
. "$TEST_ROOT/tests/shell.sh"
m="$TEST_ROOT/tests/attack/inputs/one-product.ptir"
plugin=--plugin=$TEST_PLUGINS/hostile-loads.so
pto-opt "$m" >want.ptir && pto-inspect passes test.hostile-loads "$plugin" --format=json >want.json || exit 1
for when in constructor entry; do
  export PTO_TEST_LOADING=$when-print
  exits 0 pto-opt "$m" "$plugin" --passes=test.hostile-loads >got.ptir 2>text || fail "$when"
  cmp want.ptir got.ptir && [ "$(cat text)" = GARBAGE ] || fail "$when: pto-opt"
  exits 0 pto-inspect passes test.hostile-loads "$plugin" --format=json >got.json 2>text || fail "$when"
  cmp want.json got.json && [ "$(cat text)" = GARBAGE ] || fail "$when: pto-inspect"
  pto-plugin lint "$TEST_PLUGINS/hostile-loads.so" >out 2>text
  grep -q GARBAGE text && ! grep -q GARBAGE out || fail "$when: pto-plugin"
done
