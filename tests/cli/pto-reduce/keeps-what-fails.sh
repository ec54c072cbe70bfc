# What pto-reduce prints, names and refuses; the same result each time; bounds; plugins and pins are those of the line.
set -e
. "$TEST_ROOT/tests/shell.sh"
cat >f.ptir <<'END'
func private @g(%x: tensor<$N x 64 x f32>) -> tensor<$N x 64 x f32> {
  %y = tensor.softmax %x : tensor<$N x 64 x f32>
  return %y
}
func @f(%x: tensor<$B x 64 x f32>, %z: tensor<$B x 1 x 1 x 1 x 1 x 1 x 1 x 4 x i64>, %k: tensor<$B x 64 x i32>) -> (tensor<$B x 64 x f32>, tensor<$B x 1 x 1 x 1 x 1 x 1 x 1 x 4 x i64>) {
  %a = call @g(%x) : tensor<$B x 64 x f32>
  %b = tensor.exp %a : tensor<$B x 64 x f32>
  %i = tensor.add %z, %z : tensor<$B x 1 x 1 x 1 x 1 x 1 x 1 x 4 x i64>
  %c = tensor.add %b, %x : tensor<$B x 64 x f32>
  return %c, %i
}
END
code=pto.legalize-types/no-exact-way
for i in 1 2; do
  ends 0 pto-reduce f.ptir --pipeline=default.yaml --code=$code -o small-$i.ptir
done
cmp small-1.ptir small-2.ptir
cat >want.ptir <<'END'
func @f(%z: tensor<1 x 1 x 1 x 1 x 1 x 1 x 1 x 1 x i64>) -> tensor<1 x 1 x 1 x 1 x 1 x 1 x 1 x 1 x i64> {
  %i = tensor.add %z, %z : tensor<1 x 1 x 1 x 1 x 1 x 1 x 1 x 1 x i64>
  return %i
}
END
cmp small-1.ptir want.ptir
says '^pto-reduce: 9 ops became 3 in [0-9]* tests$'
# The steps that are named are not needed.
removed=$(sed -n 's/^pto-reduce: not needed for it: //p' text)
[ -n "$removed" ] || fail 'no step is named'
# shellcheck disable=SC2086
fails 5 "error: \[$code\]" pto-opt small-1.ptir --pipeline=default.yaml $removed

# By a command, with a name that a shell would take apart; standard output has the module alone.
mkdir 'a b' && TMPDIR="$PWD/a b" ends 0 pto-reduce f.ptir --test 'pto-opt {} --pipeline=default.yaml 2>&1 | grep -q no-exact-way' --quiet
cmp out want.ptir
[ ! -s text ] && [ -z "$(ls 'a b')" ] || fail 'something is left'

# A text that cannot be read loses lines.
printf 'func @f(%%x: tensor<4 x f32>) {\n  %%a = tensor.neg %%x : tensor<4 x f32>\n  %%b = tensor.nag %%x : tensor<4 x f32>\n  return\n}\n' >wrong.ptir
ends 0 pto-reduce wrong.ptir --code=E0109
says '^  %b = tensor.nag %x : tensor<4 x f32>$' out
says '^pto-reduce: [0-9]* bytes became [0-9]* in [0-9]* tests$'

# Of a plugin that is given, and what a schedule pins.
ends 0 pto-reduce f.ptir --plugin="$TEST_PLUGINS/liar-ops.so" --pipeline=default.yaml --code=$code -o /dev/null
ends 0 pto-reduce f.ptir --pipeline=default.yaml --code=$code --tests=3 -o bound.ptir
says '^pto-reduce: 9 ops became [0-9]* in 3 tests, and a bound was reached$'
pto-opt bound.ptir >/dev/null

fails 1 '^f.ptir: error: \[E1510\] compiling it does not report `E0110`$' pto-reduce f.ptir --code=E0110
fails 1 '^f.ptir: error: \[E1510\] the test does not end with status 0 for it: false {}$' pto-reduce f.ptir --test='false {}'
fails 2 "error: \[E1503\] option \`--test\` needs a command with {} for the file, not \`true\`$" pto-reduce f.ptir --test=true
fails 2 'error: \[E1504\] one file and one of --test and --code are needed$' pto-reduce f.ptir
fails 2 'error: \[E1501\]' pto-reduce none.ptir --code=E0115
