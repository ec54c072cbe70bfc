# Lines that nobody asked for are not there with --quiet; errors and what was asked for are.
. "$TEST_ROOT/tests/shell.sh"
softmax=$TEST_ROOT/examples/softmax/softmax.ptir
case="pto-run --case $TEST_ROOT/examples/softmax/case.yaml --data-dir data --report report"
$case --check=semantics >loud.txt 2>text || fail loud
[ "$(grep -c '^softmax, size small, data in data$\|^report in report: \|^semantics: ' text)" -ge 4 ] || fail "loud: lines"
grep -vq '^softmax, size small, data in data$\|^report in report: \|^semantics: ' text && fail "loud: other lines"
$case --check=semantics --quiet >quiet.txt 2>text || fail quiet
[ ! -s text ] && cmp loud.txt quiet.txt || fail "quiet: lines"
ends 0 pto-opt "$softmax" --pipeline=default.yaml --bisect=0 --quiet -o out.ptir
[ ! -s text ] || fail "quiet bisect: lines"
ends 0 pto-opt "$softmax" --pipeline=default.yaml --quiet --stats --print-after=fuse -o out.ptir
grep -q '^// after step fuse$' text && grep -q '^allocate: ' text || fail "asked for: lines"
ends 5 pto-opt "$softmax" "--plugin=$TEST_PLUGINS/liar-silent.so" --passes=test.liar-silent --quiet
grep -q 'error: \[E1326\]' text && grep -q 'note: ' text || fail "quiet error: text"
# A warning: a hint that the backend does not heed.
hint="pto-run $TEST_ROOT/tests/backends/reference/hint-is-ignored.ptir --backend=pto.reference --random-inputs=1"
$hint >out.txt 2>text
grep -q 'warning: ' text || fail "no warning"
$hint --quiet >out.txt 2>text
[ ! -s text ] || fail "a warning with --quiet"
fails 2 'error: \[E1504\] --quiet excludes --progress' pto-opt "$softmax" --pipeline=default.yaml --quiet --progress
