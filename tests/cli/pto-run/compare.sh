# --compare: the same inputs through two pipelines; outputs compared, what it took side by side with the ratio, the IR
# below.
. "$TEST_ROOT/tests/shell.sh"
row() { sed -n "s|^$1  *||p" page; }
compared() { # STATUS OPTIONS..
  exits "$@" >page 2>text || fail "$@"
}
case=$TEST_ROOT/examples/softmax/case.yaml
compared 0 pto-run --case "$case" --compare=default.yaml
says '^final IR: equal$' page
says '^y: 24576 elements, the same bits$' page
[ "$(row '[a-z0-9/ ]*[a-z]' | awk 'NF == 4 && $3 != 1' | grep -c .)" -eq 0 ] || fail "a ratio other than 1"

# One decision less: half of it on the page is about IR, half about cycles and numbers.
pto-run --case "$case" >other.txt 2>text && pto-run --case "$case" --set params.vec-bytes=1KiB >this.txt 2>text || exit 1
compared 0 pto-run --case "$case" --set params.vec-bytes=1KiB --compare=default.yaml
[ "$(grep -c '^y: ok, ' page)" -eq 2 ] && grep -qx 'this:' page && grep -qx 'other:' page || fail "two verdicts"
says '^this:  default.yaml --set=params.vec-bytes=1KiB$' page
says '^\* tile ' page
says '^final IR: differs, first here$' page
says '^y: 24576 elements, the same bits$' page
set -- $(row cycles)
[ "$1" = "$(sed -n 's/^cycles: \([0-9]*\) .*/\1/p' this.txt)" ] && [ "$2" = "$(sed -n 's/^cycles: \([0-9]*\) .*/\1/p' other.txt)" ] || fail "other cycles: $*"
[ "$3" = "$(awk "BEGIN { printf \"%.4g\", $2 / $1 }")" ] && [ "$4" = cycles ] || fail "the ratio: $*"
set -- $(row 'gm bytes read')
[ "$*" = "98304 98304 1 bytes" ] || fail "bytes: $*"
says '^vector / v / utilisation  *[0-9.]*  *[0-9.]*  *[0-9.]*  %$' page
grep -q 'stall' page && fail "details unasked"
compared 0 pto-run --case "$case" --set params.vec-bytes=1KiB --compare=default.yaml --counters
says '^vector 00 / mte2 / busy  *[0-9]*  *[0-9]*  *[0-9.]*  cycles$' page

# Sums in another order: other bits, the same numbers. Another backend, with other counters.
compared 0 pto-run --case "$TEST_ROOT/examples/rms_norm/case.yaml" --compare=reference.yaml
says '^y: 4847 elements, the same within rounding, largest error 0.[0-9]* of its limit$' page
says '^cycles  *[0-9]*  *-  *-  cycles$' page
says '^ops  *[0-9]*  *[0-9]*  *[0-9.]*  count$' page
says '^gm bytes read  *[0-9]*  *-  *-  bytes$' page

# Another result: where, both values, status 1; without a reference, too.
cat >f.ptir <<'END'
func @f(%x: tensor<4 x 8 x f32>) -> (tensor<4 x 8 x f32>, tensor<4 x 8 x f32>) {
  %y = tensor.exp %x : tensor<4 x 8 x f32>
  %z = tensor.neg %x : tensor<4 x 8 x f32>
  return %z, %y
}
END
other() { printf 'pto-pipeline: 1\npasses: [ %s ]\n%s\n' "$1" "$2" >p.yaml; }
run="pto-run f.ptir --random-inputs 1 --plugin=$TEST_PLUGINS/liar-numbers.so --passes=pto.canonicalize --backend=pto.reference --compare=p.yaml"
other '{ pass: test.liar-numbers-scales, with: { factor: 1.0000152587890625 } }' 'backend: pto.reference'
# shellcheck disable=SC2086
compared 1 $run
says '^z: 32 elements, the same bits$' page
says '^y: 32 elements, DIFFERS$' page
says '^  32 elements beyond their limit; worst at [0-9]*: this [0-9.]*, other [0-9.]*, error [0-9.]*e-05, limit [0-9.]*e-07$' page
other '{ pass: test.liar-numbers-scales, with: { factor: 1.00000011920928955078125 } }' 'backend: pto.reference'
# shellcheck disable=SC2086
compared 0 $run
says '^y: 32 elements, the same within rounding, ' page
other test.liar-numbers-drops 'backend: pto.reference'
# shellcheck disable=SC2086
compared 5 $run
grep -q 'error: \[E1904\] the outputs of the two pipelines differ in number, element type or extents' text || fail E1904
other pto.canonicalize ''
# shellcheck disable=SC2086
compared 2 $run
grep -q 'error: \[E1710\] the pipeline of --compare names no backend' text || fail E1710
# Hints that the backend of the other pipeline does not heed are said too.
cp "$TEST_ROOT/tests/backends/reference/hint-is-ignored.ptir" hint.ptir
printf 'pto-pipeline: 1\npasses: []\nbackend: pto.reference\n' >p.yaml
compared 0 pto-run hint.ptir --pipeline=p.yaml --random-inputs=1 --compare=p.yaml
[ "$(grep -c 'warning: ' text)" -eq "$((2 * $(pto-run hint.ptir --pipeline=p.yaml --random-inputs=1 2>&1 | grep -c 'warning: ')))" ] || fail "warnings of both"
grep -q 'warning: ' text || fail "no warning"
