# One pin that differs changes what it names and nothing else: a tile, a number of cores, stages, a walk.
. "$TEST_ROOT/tests/shell.sh"
. "$TEST_ROOT/tests/cli/schedule/inputs/pins.sh"
pin @softmax/softmax_0 tile '{ rows: 24, columns: 256 }'
ends 0 $compile "$softmax" --schedule=p.yaml --until tile
grep -q 'tile<24 x 256 x f32, ?>' out || fail "a pinned tile was not taken"
pin @softmax/softmax_0 cores 7
ends 0 $compile "$softmax" --schedule=p.yaml --until distribute
grep -q 'step 7' out || fail "a pinned number of cores was not taken"
pin @softmax/tx stages 3
ends 0 $compile "$softmax" --schedule=p.yaml --until pipeline
grep -q 'tile.load.*stages = 3' out || fail "pinned stages were not taken"
grep -q 'tile.store.*stages = 2' out || fail "the stages of the store are free"
pin @softmax/tx stages 1
ends 0 $compile "$softmax" --schedule=p.yaml --until pipeline
grep -q 'tile.load.*stages' out && fail "a load pinned at one buffer rotates"
pin @gemm/gemm_0 walk columns
ends 0 $compile "$gemm" --schedule=p.yaml -o columns.ptir
ends 0 $compile "$gemm" --set distribute.with.walk=columns -o option.ptir
cmp -s columns.ptir option.ptir || fail "a pinned walk differs from the option"
