# --only: one step alone, from what the steps before it left; without that it is refused.
. "$TEST_ROOT/tests/shell.sh"
. "$TEST_ROOT/tests/cli/reports-of-a-run/inputs/run.sh"
compile --until=canonicalize-expanded -o before.ptir || exit 1
pto-opt before.ptir --pipeline=default.yaml --only=fuse >only.ptir 2>only.txt || fail "--only=fuse: $(cat only.txt)"
cmp only.ptir dump/??-fuse.ptir || exit 1
compile --only=tile >only.ptir 2>only.txt
[ $? -eq 2 ] && [ ! -s only.ptir ] && grep -q '\[E1707\] the module does not have property pto.no-softmax' only.txt ||
  fail "--only=tile: $(cat only.txt)"
