# A standard file that is closed is an error where it is needed, and no file that is opened later is taken for it.
. "$TEST_ROOT/tests/shell.sh"
echo 'func @f(%x: tensor<4 x f32>) -> tensor<4 x f32> { return %x }' >good.ptir
exits 4 pto-opt - <&- 2>text || fail
grep -q 'Bad file descriptor' text || fail
exits 74 pto-opt good.ptir >&- 2>text || fail
grep -q '^<stdout>: error: \[E1501\] cannot write: Bad file descriptor$' text || fail
exits 0 pto-opt good.ptir -o out.ptir <&- >&- 2>&- || exit 1
pto-opt good.ptir | cmp - out.ptir

# The program that makes a case's data gets files in their place, whatever is closed.
case="$TEST_ROOT/examples/softmax/case.yaml"
exits 74 pto-run --case "$case" >&- 2>text || fail
if grep -i python text; then exit 1; fi
exits 0 pto-run --case "$case" --out y=y.npy <&- 2>&- >/dev/null || exit 1
[ -s y.npy ]
