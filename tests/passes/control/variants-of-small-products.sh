# A product of few rows has a form of its own: right on both sides of the border, with fewer cycles than without, listed
# in the schedule, kept when pinned, and replayed byte by byte.
. "$TEST_ROOT/tests/shell.sh"
cat >m.ptir <<'END'
func @f(%x: tensor<$M x 1024 x bf16>, %w: tensor<1024 x 4096 x bf16>, %b: tensor<$N x f32>) -> (tensor<$M x 4096 x f32>, tensor<$N x f32>) {
  %y = tensor.matmul %x, %w {out = f32} : tensor<$M x 4096 x f32>
  %e = tensor.exp %b : tensor<$N x f32>
  return %y, %e
}
END
compile='pto-opt m.ptir --pipeline=default.yaml'
pin() { printf 'pto-schedule: 1\ndecisions:\n  - { at: "%s", decide: variants, value: %s, pinned: true }\n' "$1" "$2" >p.yaml; }

ends 0 $compile --emit-schedule=none.yaml -o plain.ptir
grep -A1 'decide: variants' none.yaml | grep -q 'value: { M: 0, N: 0 }' || fail "not listed: $(cat none.yaml)"
pto-opt m.ptir --pipeline=default.yaml -o without.ptir
cmp plain.ptir without.ptir || fail "without a variant the module is another one"
pin @f '{ M: 16, N: 0 }'
ends 0 $compile --schedule=p.yaml --emit-schedule=s.yaml -o few.ptir
grep -q 'if $M <= 16 {' few.ptir || fail "no variant"
ends 0 $compile --set 'variants.with.symbol=M' -o option.ptir
cmp few.ptir option.ptir || fail "a pin and the option differ"
sed '/pinned: true/d; s/^    value: .*/&\n    pinned: true/' s.yaml >pinned.yaml
ends 0 $compile --schedule=pinned.yaml -o again.ptir
cmp few.ptir again.ptir || fail "the schedule makes another module"

# Both sides of the border, and none; each against every number of rows of the other form.
run() { # FILE SCHEDULE ROWS NAME
  ends 0 pto-run m.ptir --pipeline="$1" $2 --sym M="$3" --sym N=40 --random-inputs 4 --out y="$4.npy" --out e=e.npy
  sed -n 's/^cycles: \([0-9]*\) cycles$/\1/p' out
}
variant='--schedule=p.yaml'
rows_tried='0 1 15 16 17 130'
if is_sanitized; then rows_tried='1 17'; fi
for rows in $rows_tried; do
  run default.yaml "$variant" $rows two >/dev/null
  run reference.yaml '' $rows reference >/dev/null
  /usr/bin/python3 -c "
import numpy
a, b = numpy.load('two.npy'), numpy.load('reference.npy')
assert a.shape == ($rows, 4096) and numpy.allclose(a, b, 1e-5, 1e-5)" || fail "$rows rows"
done
# Cycles are the same with sanitizers.
if ! is_sanitized; then
  few=$(run default.yaml "$variant" 8 few)
  any=$(run default.yaml '' 8 any)
  [ "$((few * 100))" -lt "$((any * 97))" ] || fail "8 rows take $few cycles, without a variant $any"
  many=$(run default.yaml "$variant" 512 many)
  all=$(run default.yaml '' 512 all)
  [ "$many" -le "$((all * 101 / 100))" ] || fail "512 rows take $many cycles, without a variant $all"
fi

# Pins that cannot hold are refused at their line.
pin @f '{ M: -1, N: 0 }'
fails 2 'p.yaml:3:' $compile --schedule=p.yaml
says '`variants.M` of @f is -1; the least legal value is 0'
pin @f '{ M: 16 }'
fails 2 'p.yaml:3:' $compile --schedule=p.yaml
pin @g '{ M: 16, N: 0 }'
fails 2 'no step decides `variants` of @g' $compile --schedule=p.yaml
sed 's/ {$/ where ($M <= 12) {/' m.ptir >narrow.ptir
pin @f '{ M: 16, N: 0 }'
fails 2 'the largest legal value is 11' pto-opt narrow.ptir --pipeline=default.yaml --schedule=p.yaml
sed 's/ {$/ where ($M >= 32) {/' m.ptir >wide.ptir
fails 2 '\[pto.variants/never-taken\] a variant for $M of at most 16 is never taken: $M is at least 32' pto-opt wide.ptir --pipeline=default.yaml --schedule=p.yaml
says 'p.yaml:3:'
fails 5 '\[pto.variants/no-symbol\] no function that can have variants has a parameter with an extent $Q; this one has $M, $N \[@f\]' $compile --set variants.with.symbol=Q
# Said of what the user wrote, not of a nest that became a function.
fails 5 'an extent $Q; this one has $B, $S, $T \[@attention\]' pto-opt "$TEST_ROOT/examples/attention/attention.ptir" --pipeline=native.yaml --set variants.with.symbol=Q
cat >wide.ptir <<'END'
func @f(%x: tensor<$A x $B x $C x $D x f32>) -> tensor<$A x $B x $C x $D x f32> {
  %y = tensor.exp %x : tensor<$A x $B x $C x $D x f32>
  return %y
}
END
pin @f '{ A: 1, B: 2, C: 3, D: 4 }'
fails 2 '\[pto.variants/too-many\] a function has at most 3 variants beside the rest' pto-opt wide.ptir --passes=pto.variants --schedule=p.yaml
says 'p.yaml:3:'
pin @f '{ A: 0, B: 2, C: 3, D: 4 }'
ends 0 pto-opt wide.ptir --passes=pto.variants --schedule=p.yaml
[ "$(grep -c ' if \$' out)" = 3 ] || fail "not three borders"
