# The cost that orders a strategy's offers comes from a plugin that an option of the strategy names.
set -eu
. "$TEST_ROOT/tests/shell.sh"
softmax=$TEST_ROOT/examples/softmax/softmax.ptir
opt() { pto-opt "$softmax" --plugin="$TEST_PLUGINS/liar-costs.so" --pipeline=default.yaml "$@"; }
cost=tile.with.strategy.with.cost
opt --set=$cost=pto.cost-roofline --explain=schedule >roofline.txt
grep -q '^@softmax/softmax_0  *tile  *{ rows: 16, columns: 256 }  *pto.tiling-heuristic' roofline.txt || { cat roofline.txt; exit 1; }
# The one that comes first is the cheapest one, and the price is what the model said.
opt --set=$cost=test.cost-columns --explain=schedule >columns.txt
grep -q '^@softmax/softmax_0  *tile  *{ rows: [0-9]*, columns: 8 }  *pto.tiling-heuristic  *8 ' columns.txt || { cat columns.txt; exit 1; }
# Its options are checked, and written, as those of a strategy are.
opt --print-pipeline --set="$cost={ use: pto.cost-roofline, with: { prefer-whole-rows: false } }" >p.yaml
grep -q 'prefer-whole-rows: false' p.yaml
pto-opt "$softmax" --pipeline=p.yaml -o /dev/null
# refused STATUS COST TEXT
refused() {
  exits "$1" pto-opt "$softmax" --pipeline=default.yaml --set="$cost=$2" 2>text
  grep -q -e "$3" text || { cat text; exit 1; }
}
refused 3 pto.cost-rooflin 'error: \[E1307\] no plugin provides cost `pto.cost-rooflin`; did you mean `pto.cost-roofline`?'
refused 3 pto.tiling-manual 'error: \[E1307\] no plugin provides cost `pto.tiling-manual`'
refused 2 '{ use: pto.cost-roofline, with: { rows: 1 } }' '\[E1110\] unknown option of cost model `pto.cost-roofline`: `rows`'
pto-inspect costs | grep -q '^pto.cost-roofline  *Bytes and products against the rates of the machine'
pto-inspect costs pto.cost-roofline | grep -q 'option prefer-whole-rows'
