# The host checks what a cost model returns, and blames it by name; a tile that was not priced has no cost either.
set -u
. "$TEST_ROOT/tests/shell.sh"
# refused STATUS WHAT TEXT
refused() {
  exits "$1" pto-opt "$TEST_ROOT/examples/softmax/softmax.ptir" --plugin="$TEST_PLUGINS/liar-costs.so" \
    --pipeline=default.yaml --set="tile.with.strategy.with.cost={ use: test.liar-costs, with: { says: $2 } }" 2>text
  grep -q -e "$3" text || fail "$2"
}
who='error: \[E1333\] cost model `test.liar-costs` of plugin `test.liar-costs` returned the cost'
refused 5 nothing "$who -*nan for tile 2 of [0-9]*; costs are finite and not negative"
refused 5 infinite "$who inf for tile 2 of [0-9]*; costs are finite and not negative"
refused 5 negative "$who -2.5 for tile 2 of [0-9]*; costs are finite and not negative"
refused 5 failed 'error: \[E1326\] cost model `test.liar-costs` of plugin `test.liar-costs` failed without'
refused 5 as-what-it-is-not 'error: \[E1323\] cost model `test.liar-costs` of plugin `test.liar-costs` asked option 0 for a cost model, which it does not name'
grep -q 'note: .*step `tile`' text || fail
