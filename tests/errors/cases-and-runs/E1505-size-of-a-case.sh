# A case names its sizes when another one is asked for.
. "$TEST_ROOT/tests/shell.sh"
ends 2 pto-run --case "$TEST_ROOT/examples/gemm/case.yaml" --size huge --backend=pto.reference
grep -q 'case.yaml:[0-9]*:[0-9]*: error: \[E1505\] the case has no size `huge`' text && grep -q 'note: size `tails`' text || fail
