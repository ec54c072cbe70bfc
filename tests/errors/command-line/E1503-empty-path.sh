# An empty file name, as a script makes it of a variable that is not set, is refused where it is given.
set -e
. "$TEST_ROOT/tests/shell.sh"
case="$TEST_ROOT/examples/softmax/case.yaml"
refuses 2 'pto-run: error: [E1503] option `--machine` needs a file, not an empty name' pto-run --case "$case" --machine=
refuses 2 'pto-run: error: [E1503] option `--report` needs a folder, not an empty name' pto-run --case "$case" --report ''
refuses 2 'pto-run: error: [E1503] option `--case` needs a file, not an empty name' pto-run --case=
refuses 2 'pto-opt: error: [E1503] option `--output` needs a file, not an empty name' pto-opt - -o ''
refuses 2 'pto-opt: error: [E1503] option `--dump-dir` needs a folder, not an empty name' pto-opt - --dump-dir=
