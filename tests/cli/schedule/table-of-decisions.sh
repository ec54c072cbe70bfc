# --explain=schedule is a table of what was decided, by what and why; a pin that no step of the run decides is a
# warning.
. "$TEST_ROOT/tests/shell.sh"
. "$TEST_ROOT/tests/cli/schedule/inputs/pins.sh"
pin @gemm/gemm_0 walk columns
ends 0 $compile "$softmax" --schedule=p.yaml --explain=schedule --until fuse
says 'warning: \[E1801\] none of the steps that ran decides `walk` of @gemm/gemm_0'
pin @softmax/softmax_0 cores 7
ends 0 $compile "$softmax" --schedule=p.yaml --explain=schedule
grep -q '^@softmax/softmax_0  *cores  *7  *user  *ascend-910b has 48 vector cores$' out || fail "table"
grep -q '^@softmax/softmax_0  *tile  *{ rows: [0-9]*, columns: [0-9]* }  *pto.tiling-heuristic  *[0-9.]*  *vec: [0-9]* of 188416 bytes$' out ||
  fail "table"
ends 0 pto-run --pipeline=default.yaml "$softmax" --explain=schedule
grep -q '^@softmax/softmax_0  *tile' out || fail "table of pto-run"
