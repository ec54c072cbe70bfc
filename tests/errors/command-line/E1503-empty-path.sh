# An empty file name, as a script makes it of a variable that is not set, is refused where it is given.
set -eu
cd "$TEST_TMP"
refused() { # TEXT COMMAND..
  text=$1
  shift
  exits 2 "$@" 2>err.txt
  grep -qxF "$text" err.txt || { cat err.txt; exit 1; }
}
case="$TEST_ROOT/examples/softmax/case.yaml"
refused 'pto-run: error: [E1503] option `--machine` wants a file, not an empty name' pto-run --case "$case" --machine=
refused 'pto-run: error: [E1503] option `--report` wants a folder, not an empty name' pto-run --case "$case" --report ''
refused 'pto-run: error: [E1503] option `--case` wants a file, not an empty name' pto-run --case=
refused 'pto-opt: error: [E1503] option `--output` wants a file, not an empty name' pto-opt - -o ''
refused 'pto-opt: error: [E1503] option `--dump-dir` wants a folder, not an empty name' pto-opt - --dump-dir=
