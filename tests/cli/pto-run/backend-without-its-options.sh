# Another backend does not inherit the options that were written for the first one; its own may follow.
. "$TEST_ROOT/tests/shell.sh"
case=$TEST_ROOT/examples/softmax/case.yaml
pto-run --case "$case" --set backend.use=pto.reference >text 2>&1 || fail
grep -q '^time on this machine' text || fail
exits 2 pto-run --case "$case" --set backend.use=pto.reference --set backend.with.timing=true >text 2>&1 || fail
grep -q 'timing' text || fail
