# Another backend does not inherit the options that were written for the first one; its own may follow.
set -u
case=$TEST_ROOT/examples/softmax/case.yaml
pto-run --case "$case" --set backend.use=pto.reference >text 2>&1 || { cat text; exit 1; }
grep -q '^time on this machine' text || { cat text; exit 1; }
exits 2 pto-run --case "$case" --set backend.use=pto.reference --set backend.with.timing=true >text 2>&1 || { cat text; exit 1; }
grep -q 'timing' text || { cat text; exit 1; }
