# Every pass that breaks its contract is blamed by plugin, step and line of the pipeline, with status 5 or 6; the module
# is as it was: the input is not touched, the output is neither made nor, when it is there, changed, nothing is printed,
# nothing half-made is left, and of the dumps there is none after the step.
. "$TEST_ROOT/tests/shell.sh"
cat >tensor.ptir <<'END'
func @f(%x: tensor<4 x f32>) -> tensor<4 x f32> {
  %a = tensor.neg %x : tensor<4 x f32>
  %b = tensor.exp %a : tensor<4 x f32>
  return %b
}
func @g(%x: tensor<4 x f32>) -> tensor<4 x f32> {
  %a = tensor.neg %x : tensor<4 x f32>
  return %a
}
END
cat >block.ptir <<'END'
func @f(%x: gm<16 x 8 x f32>, out %y: gm<16 x 8 x f32>) {
  block.launch @k args(%x, %y)
  return
}
block.kernel @k core(vector) grid(%core: 1) reads(%x) writes(%y) (%x: gm<16 x 8 x f32>, out %y: gm<16 x 8 x f32>) {
  %b = block.buffer {space = vec, bytes_per_stage = 512, addr = 0} : buffer
  %t = block.tile %b[0] valid(16, 8) : tile<16 x 8 x f32, vec, nd>
  pto.tload %t, %x[0, 0]
  pto.tstore %y[0, 0], %t
}
END
sed 's/, addr = 0//' block.ptir >no-address.ptir
echo 'what was there before' >before.txt
blamed() { # STATUS MODULE LIAR CODE [PASS-BEFORE]
  liar=test.liar-$3
  {
    printf 'pto-pipeline: 1\nmachine: ascend-910b.yaml\npasses:\n'
    [ $# -lt 5 ] || printf '  - %s\n' "$5"
    printf '  - pass: %s\n    id: the-liar\n' "$liar"
  } >p.yaml
  line=$(sed -n "/pass: $liar/=" p.yaml)
  plugins=--plugin=$TEST_PLUGINS/liar-$3.so
  [ $# -lt 5 ] || plugins="$plugins --plugin=$TEST_PLUGINS/liar-${5#test.liar-}.so"
  cp "$2" given.ptir
  cp before.txt kept.ptir
  rm -rf dumps
  # shellcheck disable=SC2086
  ends "$1" pto-opt given.ptir $plugins --pipeline=p.yaml -o out.ptir
  grep -q "error: \[$4\]" text || fail "$3: no $4"
  # One line of the message names the place, one the step, one pass and plugin; often they are the same.
  grep -q "^p.yaml:$line:[0-9]*: \(error\|note\): .*the-liar" text || fail "$3: no line $line of step the-liar"
  grep "^p.yaml:$line:[0-9]*: \(error\|note\)" text | grep -q "plugin \`\?$liar\b" || fail "$3: no plugin"
  # shellcheck disable=SC2086
  ends "$1" pto-opt given.ptir $plugins --pipeline=p.yaml -o kept.ptir --dump-dir=dumps
  cmp kept.ptir before.txt && cmp given.ptir "$2" || fail "$3: files changed"
  for dump in dumps/*; do
    case $dump in
    */00-input.ptir) ;;
    *) [ $# -ge 5 ] && [ "$dump" = "dumps/01-${5#test.}.ptir" ] || fail "$3: left $dump" ;;
    esac
  done
  # shellcheck disable=SC2086
  exits "$1" pto-opt given.ptir $plugins --pipeline=p.yaml >printed 2>text || fail "$3"
  [ ! -s printed ] || fail "$3: printed something"
  [ "$(echo out.ptir* kept.ptir*)" = 'out.ptir* kept.ptir' ] || fail "$3: left $(echo out.ptir* kept.ptir*)"
}
blamed 6 no-address.ptir does-nothing E1707
blamed 5 tensor.ptir wrong-level E1322
blamed 5 tensor.ptir uses-erased E1320
blamed 5 tensor.ptir writes-sibling E1321
blamed 5 tensor.ptir silent E1326
blamed 6 block.ptir breaks-property E1707 test.liar-does-nothing
blamed 5 tensor.ptir keeps-handle E1320
blamed 6 tensor.ptir breaks-order E1706
blamed 6 tensor.ptir stays E1708
blamed 5 tensor.ptir erases-used E1324
blamed 5 tensor.ptir reads-option E1323
