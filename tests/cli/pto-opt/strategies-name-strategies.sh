# The options of a strategy may name another strategy with options of its own, which are checked before anything runs.
set -e
. "$TEST_ROOT/tests/shell.sh"
opt() { pto-opt "$TEST_ROOT/examples/softmax/softmax.ptir" --plugin="$TEST_PLUGINS/probe-wraps.so" --pipeline=default.yaml "$@"; }
for with in '{}' '{ vec-bytes: 4KiB }'; do
  opt --set="tile.with.strategy={ use: pto.tiling-heuristic, with: $with }" -o plain.ptir
  opt --set="tile.with.strategy={ use: test.tiling-wraps, with: { inner: { use: pto.tiling-heuristic, with: $with } } }" -o one.ptir
  cmp one.ptir plain.ptir
done
inner='{ use: pto.tiling-heuristic, with: { vec-bytes: 4KiB } }'
opt --set="tile.with.strategy={ use: test.tiling-wraps, with: { inner: { use: test.tiling-wraps, with: { inner: $inner } } } }" -o two.ptir
cmp two.ptir plain.ptir
opt --print-pipeline --set="tile.with.strategy={ use: test.tiling-wraps, with: { inner: $inner } }" >p.yaml
grep -q 'vec-bytes: 4KiB' p.yaml
pto-opt "$TEST_ROOT/examples/softmax/softmax.ptir" --plugin="$TEST_PLUGINS/probe-wraps.so" --pipeline=p.yaml -o again.ptir
cmp again.ptir plain.ptir

# What the inner one chooses for the outer one is not a decision of its own.
opt --explain=schedule --set="tile.with.strategy={ use: test.tiling-wraps, with: { inner: $inner } }" >decided.txt
[ "$(grep -c ' tile ' decided.txt)" = 1 ] && grep -q ' tile .* test.tiling-wraps ' decided.txt || { cat decided.txt; exit 1; }

# refused STATUS STRATEGY TEXT
refused() {
  exits "$1" pto-opt --plugin="$TEST_PLUGINS/probe-wraps.so" --passes="pto.tile{strategy=$2}" /dev/null 2>text
  grep -q "$3" text || fail
}
refused 3 'pto.tiling-heuristik' "1:19: error: \[E1307\] no plugin provides tiling \`pto.tiling-heuristik\`; did you mean \`pto.tiling-heuristic\`?"
refused 3 '{use: test.tiling-wraps, with: {inner: nobody}}' "1:58: error: \[E1307\] no plugin provides tiling \`nobody\`"
refused 2 '{use: test.tiling-wraps, with: {inner: {use: pto.tiling-heuristic, with: {rows: 1}}}}' '\[E1110\] unknown option of tiling strategy `pto.tiling-heuristic`: `rows`'
refused 2 test.tiling-circle '\[E1033\] tiling strategy `test.tiling-circle` refers to a strategy, 9 deep; the maximum is 8'

# Another strategy starts without the options of the one before it; the same one keeps them.
tiles() { pto-opt --print-pipeline --pipeline=default.yaml "$@" | sed -n '/id: tile$/,/in-place/p'; }
tiles --set=tile.with.strategy.use=pto.tiling-manual >other.txt
grep -q 'use: pto.tiling-manual' other.txt && grep -q 'rows: 0  # default' other.txt
if grep vec-bytes other.txt; then exit 1; fi
tiles --set=tile.with.strategy.use=pto.tiling-heuristic >same.txt
grep -q 'vec-bytes: $params.vec-bytes' same.txt
