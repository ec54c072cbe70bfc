# Under "What you get", README.md shows what the tools print: the example, lines of its kernel in their order, of a run,
# and of C. `..` stands for what is left out. Errors against numpy depend on the C library and are not compared.
. "$TEST_ROOT/tests/shell.sh"
awk '/^## / { on = ($0 == "## What you get") } /^```$/ { inside = !inside; n += inside; next } on && inside { print > ("shown" n) }' "$TEST_ROOT/README.md"
set -- shown*
[ $# -eq 4 ] || fail "not four blocks: $*"

# in_order SHOWN PRINTED: each line of the first is in the second, in this order, except for indentation.
in_order() {
  sed -e '/^ *\.\.$/d' -e 's/, \.\.) {$//' -e 's/^ *//' "$1" >wanted
  [ "$(wc -l <wanted)" -ge 5 ] || fail "$1 shows too little"
  awk 'NR == FNR { wanted[++count] = $0; next }
       BEGIN { next_one = 1 }
       { sub(/^ */, "") }
       next_one <= count && index($0, wanted[next_one]) == 1 { next_one++ }
       END { if (next_one <= count) { print "not printed: " wanted[next_one]; exit 1 } }' wanted "$2" || fail "README.md is out of date"
}

softmax=$TEST_ROOT/examples/softmax
in_order "$1" "$softmax/softmax.ptir"
pto-opt "$softmax/softmax.ptir" --pipeline=default.yaml >kernel.ptir || fail "no kernel"
in_order "$2" kernel.ptir
[ "$(head -n 1 "$3")" = '$ pto-run --case examples/softmax/case.yaml --size paper --report report' ] || fail "another command: $(head -n 1 "$3")"
pto-run --case "$softmax/case.yaml" --size paper --report report >run.txt 2>&1 || fail "$(cat run.txt)"
sed -e 1d -e '/^y: ok, max abs error [0-9.e-]*, max rel error [0-9.e-]*, 262144 elements, rule f32-reduce$/d' "$3" >numbers
in_order numbers run.txt
# shellcheck disable=SC2016
[ "$(head -n 1 "$4")" = '$ pto-opt examples/softmax/softmax.ptir --pipeline=native.yaml -o softmax.c' ] || fail "another command: $(head -n 1 "$4")"
# On every CPU the C for the same machine.
cp "$TEST_ROOT/pipelines/machines/cpu-avx2.yaml" host.yaml
PTO_PIPELINE_PATH=$PWD pto-opt "$softmax/softmax.ptir" --pipeline=native.yaml -o softmax.c || fail "no C"
[ "$(wc -l <softmax.c)" -le 80 ] || fail "C of $(wc -l <softmax.c) lines"
sed 1d "$4" >c
in_order c softmax.c
