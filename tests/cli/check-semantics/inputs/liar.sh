# What the scripts of this folder share: a module, and a pipeline in which a pass changes the numbers.
# shellcheck disable=SC2034
numbers=--plugin=$TEST_PLUGINS/liar-numbers.so
liar=test.liar-numbers
cat >f.ptir <<'END'
func @f(%x: tensor<$N x 8 x f32>) -> tensor<$N x 8 x f32> {
  %e = tensor.exp %x : tensor<$N x 8 x f32>
  %y = tensor.add %e, %x : tensor<$N x 8 x f32>
  return %y
}
END
checked() { # STATUS MODULE LIAR [OPTIONS]
  wanted=$1 module=$2 pass=$3
  shift 3
  printf 'pto-pipeline: 1\npasses:\n  - pto.canonicalize\n  - pass: %s-swaps\n  - pass: %s-%s\n    id: the-liar\n' \
    "$liar" "$liar" "$pass" >p.yaml
  rm -f out.ptir
  ends "$wanted" pto-opt "$module" "$numbers" --pipeline=p.yaml --check=semantics -o out.ptir "$@"
  [ "$wanted" -eq 0 ] || [ ! -e out.ptir ] || fail "$pass: an output"
}
blames="^p.yaml:5:11: error: \[E190[12]\] step \`the-liar\` (pass $liar-"
