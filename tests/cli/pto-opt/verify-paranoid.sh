# --verify=paranoid: what a step leaves survives printing and reading, in both forms, or the step is blamed; every
# checker is asked after every step.
. "$TEST_ROOT/tests/shell.sh"
for case in $examples; do
  example "$case"
  pto-opt "$module" --pipeline=default.yaml -o each.ptir && exits 0 pto-opt "$module" --pipeline=default.yaml --verify=paranoid -o out.ptir 2>text || fail "$module"
  cmp each.ptir out.ptir && [ ! -s text ] || fail "$module"
done
cat >composites.ptir <<'END'
func @f(%x: tensor<$N x 8 x bf16>, %g: tensor<8 x bf16>) -> tensor<$N x 8 x bf16> where ($N <= 150) {
  %y = tensor.softmax %x {axis = 1} : tensor<$N x 8 x bf16>
  %z = tensor.gelu %y : tensor<$N x 8 x bf16>
  %r = tensor.rms_norm %z, %g : tensor<$N x 8 x bf16>
  %w = tensor.tanh %r : tensor<$N x 8 x bf16>
  return %w
}
END
ends 0 pto-opt composites.ptir --pipeline=default.yaml --verify=paranoid --check=semantics -o out.ptir

cat >f.ptir <<'END'
func @f(%x: tensor<4 x 8 x f32>) -> tensor<4 x 1 x f32> {
  %s = tensor.reduce_sum %x {axis = 1} : tensor<4 x 1 x f32>
  return %s
}
END
liar() { # STATUS PASS OPTIONS..
  wanted=$1
  printf 'pto-pipeline: 1\nverify: %s\npasses:\n  - pass: test.liar-prints-%s\n    id: the-liar\n' "$3" "$2" >p.yaml
  shift 3
  rm -f out.ptir
  ends "$wanted" pto-opt f.ptir "--plugin=$TEST_PLUGINS/liar-prints.so" --pipeline=p.yaml -o out.ptir "$@"
  [ "$wanted" -eq 0 ] || [ ! -e out.ptir ] || fail "an output"
}
blames='^p.yaml:4:11: error: \[E1905\] what step `the-liar` (pass test.liar-prints-'
liar 0 respells each
liar 0 respells paranoid --verify=each
liar 6 respells paranoid
says "${blames}respells of plugin test.liar-prints) left does not come back when it is printed and read: the generic form differs from line 4 on"
says '^note: printed: %s = "pto_tensor.reduce_sum"(%x) {axis = 1 : i64} : '
says '^note: read and printed: %s = "pto_tensor.reduce_sum"(%x) {axis = \[1 : i64\]} : '
liar 0 adds off
liar 6 adds each --verify=paranoid
says "${blames}adds of plugin test.liar-prints) left does not come back when it is printed and read: the text is refused"
says '^note: line [0-9]*, column [0-9]* of the text: \[E0114\] '

# Checkers are asked again though nothing changed.
negation >m.ptir
asked() {
  pto-opt m.ptir "--plugin=$TEST_PLUGINS/probe-checks.so" --passes='test.claim-no-exp,test.change{in=nobody},pto.canonicalize' "--verify=$1" \
    --remarks=- -o out.ptir 2>text || fail "$1"
  grep -c 'remark: \[test.probe-checks/own\]' text
}
[ "$(asked each)" -eq 1 ] && [ "$(asked paranoid)" -eq 3 ] || fail "asked $(asked each) and $(asked paranoid) times"

pto-opt --pipeline=p.yaml "--plugin=$TEST_PLUGINS/liar-prints.so" --print-pipeline | grep -q '^verify: each' || exit 1
printf 'pto-pipeline: 1\nverify: paranoid\npasses: [ pto.canonicalize ]\n' >p.yaml
pto-opt --pipeline=p.yaml --print-pipeline | grep -q '^verify: paranoid' || exit 1
ends 2 pto-opt f.ptir --pipeline=p.yaml --verify=very
says 'error: \[E1503\] option `--verify` needs off, each or paranoid, not `very`'
