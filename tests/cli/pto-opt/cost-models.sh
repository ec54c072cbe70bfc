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

# The prices of pto.cost-pipes are cycles, near those of the simulator, where extents are static or expected; else they
# compare several sizes.
cat >wide.ptir <<'X'
func @f(%x: tensor<$N x 1024 x f32>) -> tensor<1 x 1024 x f32> {
  %y = tensor.reduce_sum %x {axis = 0} : tensor<1 x 1024 x f32>
  return %y
}
X
wide() { pto-opt wide.ptir --pipeline=default.yaml --set=$cost=pto.cost-pipes --explain=schedule "$@" | grep ' tile '; }
wide --expect N=512 >expected.txt
price=$(sed -n 's/^@f\/f_0  *tile .*pto.tiling-heuristic  *\([0-9]*\).*/\1/p' expected.txt)
cycles=$(pto-run wide.ptir --pipeline=default.yaml --set=$cost=pto.cost-pipes --expect=N=512 --sym N=512 --random-inputs 1 | sed -n 's/^cycles: \([0-9]*\).*/\1/p')
grep -q '^@f/f_0_combine  *tile ' expected.txt || { cat expected.txt; exit 1; } # instances share the rows
[ "$price" -gt $((cycles * 9 / 10)) ] && [ "$price" -lt $((cycles * 11 / 10)) ] || { echo "$price, and $cycles cycles"; exit 1; }
wide >open.txt
grep -q 'pto.tiling-heuristic  *[3-9]\(\.[0-9]*\)\{0,1\} ' open.txt || { cat open.txt; exit 1; }
pto-inspect costs pto.cost-pipes | grep -q 'Cycles of the busiest core'
