# Counters of a backend that is not ours are printed without being asked for, except for what it sums up itself; of very
# many the first, with a word about the rest. --repeat says of each its median, least value and spread, everywhere.
set -eu
printf 'func @f(%%x: tensor<4 x f32>) {\n  return\n}\n' >m.ptir
printf 'pto-pipeline: 1\npasses: []\nbackend: test.counts\n' >p.yaml
run="pto-run m.ptir --pipeline=p.yaml --plugin=$TEST_PLUGINS/probe-counts.so --random-inputs=1"
time='^time on this machine: [0-9.]* ms'

$run >out
grep -qx 'macs / total: 1234 count' out
grep -qx 'dma / 0 / tokens: 40 count' out
grep -qx 'core 00 / dma / busy: 7 cycles' out
grep -q "$time\$" out

$run --set=backend.with.names=unit >out
if grep 'busy' out; then exit 1; fi
grep -qx 'core / dma / utilisation: 50 %' out
$run --set=backend.with.names=unit --counters >out
grep -qx 'core 00 / dma / busy: 7 cycles' out

$run --set=backend.with.names=many >out
[ "$(grep -c '^slot' out)" -eq 61 ]
[ "$(tail -n 1 out)" = '39 counters more: --counters prints them' ]
$run --set=backend.with.names=many --counters >out
[ "$(grep -c '^slot' out)" -eq 100 ]
if grep more out; then exit 1; fi

# Four runs: 40, 10, 20, 30.
$run --repeat=4 --report=report >out
[ "$(head -n 1 out)" = '4 runs: medians; where runs differ, the least and the spread to the most' ]
grep -qx 'macs / total: 1234 count' out
grep -qx 'dma / 0 / tokens: 25 count, min 10 count, spread 30 count' out
grep -qx 'warm up: 5' out
grep -q "$time, min [0-9.]* ms, spread [0-9.]* ms\$" out
cat >want.csv <<'END'
name,unit,value,min,median,spread
macs / total,count,1234,1234,1234,0
dma / 0 / tokens,count,30,10,25,30
core 00 / dma / busy,cycles,7,7,7,0
warm up,,5,5,5,0
END
cmp report/counters.csv want.csv
grep -q '<th>of 4 runs</th><th class="n">the last</th><th class="n">min</th><th class="n">median</th><th class="n">spread</th>' report/index.html
grep -q '<tr><td>dma / 0 / tokens</td>.*>30<.*>10<.*>25<.*>30<.*count' report/index.html
# Three: 40, 10, 20.
$run --repeat=3 >out
grep -qx 'dma / 0 / tokens: 20 count, min 10 count, spread 30 count' out
$run --repeat=3 --compare=p.yaml >out
grep -q '^dma / 0 / tokens  *20  *20  *1  count$' out
