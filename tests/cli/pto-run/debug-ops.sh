# debug.print and debug.assert say the same on `reference` and by the default pipeline: elements in the fewest digits of
# their type, cut when there are many; the first element that is false, and how many are.
set -e
. "$TEST_ROOT/tests/shell.sh"
cat >f.ptir <<'PTIR'
func @f(%x: tensor<4 x f32>, %w: tensor<$N x f16>) -> tensor<4 x f32> {
  %k = tensor.constant {value = dense [nan, inf, -0.0, 0.1, 1e-45, 3.4028235e38, 16777216.0] : tensor<7 x f32>} : tensor<7 x f32>
  debug.print %k {label = "k"}
  %h = tensor.cast %k : tensor<7 x bf16>
  debug.print %h
  %least = tensor.constant {value = -9223372036854775808} : tensor<2 x 1 x 2 x i64>
  debug.print %least
  %m = tensor.constant {value = -1} : tensor<i64>
  %u = tensor.cast %m : tensor<u64>
  debug.print %u
  %none = tensor.constant {value = 1.0} : tensor<0 x 3 x f32>
  debug.print %none
  debug.print %w {label = "w"}
  %b = tensor.eq %k, %k : tensor<7 x bool>
  debug.print %b
  %n = index_cast from($N * 2) : index
  debug.print %n
  %y = tensor.neg %x : tensor<4 x f32>
  return %y
}
PTIR
cat >want <<'TEXT'
f.ptir:3:3: note: [debug.print] k: 7 x f32 = [nan inf -0 0.1 1e-45 3.4028235e+38 16777216]
f.ptir:5:3: note: [debug.print] 7 x bf16 = [nan inf -0 0.1 0 inf 1.68e+07]
f.ptir:7:3: note: [debug.print] 2 x 1 x 2 x i64
    [[[-9223372036854775808 -9223372036854775808]]
     [[-9223372036854775808 -9223372036854775808]]]
f.ptir:10:3: note: [debug.print] u64 = 18446744073709551615
f.ptir:12:3: note: [debug.print] 0 x 3 x f32
    []
f.ptir:13:3: note: [debug.print] w: 160 x f16 = [1 1 1 ... 1 1 1]
f.ptir:15:3: note: [debug.print] 7 x bool = [false true true true true true true]
f.ptir:17:3: note: [debug.print] index = 320
TEXT
/usr/bin/python3 -c "
import numpy
numpy.save('w.npy', numpy.ones(160, numpy.float16))
numpy.save('x.npy', numpy.ones(4, numpy.float32))"
for way in --backend=pto.reference --pipeline=default.yaml; do
  ends 0 pto-run f.ptir "$way" --in x=x.npy --in w=w.npy
  grep -vE '^  (debug.print|\^)' text >got
  diff want got || fail
done

# One that fails ends the run. What holds is not mentioned, of no elements either.
cat >a.ptir <<'PTIR'
func @f(%x: tensor<2 x $N x f32>) -> tensor<2 x $N x f32> {
  %two = tensor.constant {value = 2.0} : tensor<f32>
  %y = tensor.mul %x, %two : tensor<2 x $N x f32>
  %ok = tensor.lt %y, %two : tensor<2 x $N x bool>
  debug.assert %ok {message = "y is below 2"}
  %s = scalar_of %two[] : f32
  %same = compare %s eq %s : bool
  debug.assert %same
  %other = compare %s ne %s : bool
  debug.assert %other
  return %y
}
PTIR
/usr/bin/python3 -c "
import numpy
x = numpy.zeros((2, 5), numpy.float32)
numpy.save('right.npy', x)
x[1, 2:4] = 1
numpy.save('wrong.npy', x)
numpy.save('empty.npy', x[:, :0])"
for way in --backend=pto.reference --pipeline=default.yaml; do
  fails 5 '^a.ptir:5:3: error: \[pto\.[a-z-]*/assertion\] `debug.assert` fails, y is below 2: element \[1, 2\] is false, the first of 2 among 10 \[@f/debug.assert\]$' \
    pto-run a.ptir "$way" --in x=wrong.npy
  for x in right empty; do
    fails 5 '^a.ptir:10:3: error: \[pto\.[a-z-]*/assertion\] `debug.assert` fails: it is false \[@f/debug.assert#[23]\]$' \
      pto-run a.ptir "$way" --in x=$x.npy
    test "$(grep -c error: text)" = 1 || fail
  done
done

# As many as --max-errors says; then one line that counts the rest. Without elements there is nothing to print.
cat >l.ptir <<'PTIR'
func @f(%x: tensor<4 x f32>) -> tensor<4 x f32> {
  for %i to 25 {
    debug.print %i
  }
  debug.print %x
  %y = tensor.neg %x : tensor<4 x f32>
  return %y
}
PTIR
ends 0 pto-run l.ptir --pipeline=default.yaml --random-inputs=1
test "$(grep -c 'debug.print\] index' text)" = 20 || fail
says_line '6 more notes not shown'
printf 'pto-pipeline: 1\nextends: default.yaml\nbackend: { use: pto.cpu-sim, with: { data: none } }\n' >timing.yaml
fails 0 'l.ptir:5:3: warning: \[pto.cpu-sim/no-data\] `debug.print` does nothing: this run has no elements' \
  pto-run l.ptir --pipeline=timing.yaml --random-inputs=1
