# shell.sh: what test scripts share, read by `. "$TEST_ROOT/tests/shell.sh"`. run-golden has put the script into an
# empty folder of its own.
#
# ends STATUS COMMAND..           what it prints goes to the files `out` and `text` (standard error); another status
# ends the test refuses STATUS LINE COMMAND..   the same, and LINE is a whole line of `text`
# fails STATUS PATTERN COMMAND..  the same, and a line of `text` matches PATTERN, as of grep
# says PATTERN [FILE]             a line of the file matches, of `text` without one
# says_line LINE [FILE]           a line is LINE, to its end
# fail [WORDS..]                  ends the test: says the words and what the last command printed
# complain [WORDS..]              says the same and goes on: the test fails when it ends. Not in a subshell, where it
# would be lost. Scripts read what example() sets.
# shellcheck disable=SC2034
set -u
complaints=0 ended=''
trap '[ "$complaints" -eq 0 ] || exit 1' EXIT

shown() {
  [ $# -eq 0 ] || echo "$*"
  for shown_file in page out out.txt text err err.txt; do
    [ ! -s "$shown_file" ] || head -c 20000 "$shown_file"
  done
}
fail() {
  shown "$@"
  exit 1
}
complain() {
  shown "$@"
  complaints=$((complaints + 1))
}
ends() {
  ended="$*"
  ended="${ended#* }: "
  exits "$@" >out 2>text || fail
}
refuses() {
  refused_status=$1 refused_line=$2
  shift 2
  ends "$refused_status" "$@"
  says_line "$refused_line"
}
fails() {
  failed_status=$1 failed_pattern=$2
  shift 2
  ends "$failed_status" "$@"
  says "$failed_pattern"
}
says() {
  grep -q -e "$1" "${2:-text}" || fail "${ended}not said: $1"
}
says_line() {
  grep -qxF -e "$1" "${2:-text}" || fail "${ended}not said: $1"
}

# Sanitizers have memory, data and start-up code of their own, and are slow.
is_sanitized() {
  [ "$TEST_SHARE" -gt 1 ]
}

# short.ptir: FILE, with sanitizers with numbers for its symbols: for them --check=semantics draws long extents.
short_of() { # FILE SYMBOL=N..
  cp "$1" short.ptir
  shift
  ! is_sanitized || for short_symbol; do sed -i "s/\$${short_symbol%=*}\>/${short_symbol#*=}/g" short.ptir; done
}

# The cases of examples/, with sanitizers three that have vector work, products and both; and of one of them: `yaml` its
# file, `module` what it runs, `output` its output.
examples='softmax/case softmax/rows rms_norm/case rms_norm/bf16 gemm/case gemm/bf16 gemm/transposed ffn/case'
[ "$TEST_SHARE" -eq 1 ] || examples='softmax/rows gemm/bf16 ffn/case'
example() { # CASE
  yaml=$TEST_ROOT/examples/$1.yaml
  module=$TEST_ROOT/examples/${1%/*}/$(sed -n 's/^module: //p' "$yaml")
  output=$(sed -n '/^outputs:/,$ s/^  \([a-z]*\): .*/\1/p' "$yaml")
}

# For runs of cases: their data are kept for other tests and for the next run.
kept_data=--python=$TEST_ROOT/tests/kept-python

# Each at its size `small`, within its rule on both pipelines.
small_holds() { # CASE..
  for held; do
    rm -rf held-data
    pto-run --case "$TEST_ROOT/examples/$held.yaml" --pipeline=reference.yaml --data-dir held-data "$kept_data" >out.txt 2>&1 || complain "$held on reference"
    # --python=true: the data are there.
    pto-run --case "$TEST_ROOT/examples/$held.yaml" --pipeline=default.yaml --data-dir held-data --python=true >out.txt 2>&1 || complain "$held on default"
  done
}

# A schedule as --emit-schedule writes it, with every decision pinned.
pin_all() { # FILE
  sed 's/^    origin:/    pinned: true\n&/' "$1"
}

# The ids of the steps of a pipeline, one a line.
steps_of() { # PIPELINE
  pto-opt --pipeline="$1" --print-pipeline | sed -n 's/^ *\(- \)\{0,1\}id: \([a-z0-9-]*\).*/\2/p'
}

# A module of one negation of a tensor.
negation() { # [EXTENT [FUNCTION]]
  negated="tensor<${1:-4} x f32>"
  printf 'func @%s(%%x: %s) -> %s {\n  %%y = tensor.neg %%x : %s\n  return %%y\n}\n' "${2:-f}" "$negated" "$negated" "$negated"
}

# A .npy file of version 1.0: its header, and its elements as printf takes them.
# A product whose depth is a parameter: below 0, or above 4, it fails at its third line.
product_of_depth() {
  cat <<'END'
block.kernel @k core(any) grid(%i: 1) reads(%a, %b) writes(%y) (%a: gm<4 x 4 x f32>, %b: gm<4 x 4 x f32>, %d: i32, out %y: gm<4 x 4 x f32>) {
  %z = tile.zero_acc valid(4, 4) : tile<16 x 16 x f32, acc, nz>
  %c = tile.contract %z, %a[0, 0], %b[0, 0] depth(%d) : tile<16 x 16 x f32, acc, nz>
  tile.store %c, %y[0, 0]
}
func @f(%a: gm<4 x 4 x f32>, %b: gm<4 x 4 x f32>, %d: i32, out %y: gm<4 x 4 x f32>) {
  block.launch @k args(%a, %b, %d, %y)
  return
}
END
}
npy() { # FILE DICTIONARY ELEMENTS
  # shellcheck disable=SC2059
  { printf '\223NUMPY\001\000\166\000'; printf '%-117s\n' "$2"; printf "$3"; } >"$1"
}
