# A plugin whose note says which ops its pass is for is opened when a module has one of them and not before; what is
# wrong with it is said then. Contracts, statistics and what is printed are as with one that is opened at once.
. "$TEST_ROOT/tests/shell.sh"
cat >without.ptir <<'END'
func @f(%x: tensor<4 x f32>) -> tensor<4 x f32> {
  %y = tensor.exp %x : tensor<4 x f32>
  return %y
}
END
sed 's/tensor.exp/tensor.neg/' without.ptir >with.ptir
opened() { # FILE PASS..
  rm -f loader.*
  file=$1
  shift
  LD_DEBUG=files LD_DEBUG_OUTPUT=loader exits 0 pto-opt "$file" "$@" >out 2>text || fail "$file"
  cat loader.* | grep -o '/[^ ;]*\.so' | sed 's|.*/||' | sort -u
}
tests="--plugin-path=$TEST_PLUGINS"
opened without.ptir "$tests" --passes=test.abi-rewrites | grep -q abi-rewrites && fail 'opened for another op'
cmp -s out without.ptir || fail 'the module'
opened with.ptir "$tests" --passes=test.abi-rewrites | grep -q '^abi-rewrites.so$' || fail 'not opened for its op'
cmp -s out with.ptir || fail 'the module with the op'

# With options it is opened at once: they are checked before anything runs.
ends 2 pto-opt without.ptir --passes='pto.decompose-sort{max-extend=3}'
grep -q '^<command line>:1:20: error: \[E1110\] unknown option of pass `pto.decompose-sort`: `max-extend`' text || { cat text; fail options; }

# What its descriptor has beyond the promise is refused where it is loaded.
ends 0 pto-opt without.ptir "$tests" --passes=test.abi-rewrites-more
ends 3 pto-opt with.ptir "$tests" --passes=test.abi-rewrites-more
grep -q '^<command line>:1:[0-9]*: error: \[E1311\] plugin `test.abi-rewrites-more` (.*): its note and its descriptor differ in what its pass is for: rewrites:tensor.neg and a pass that needs, changes or asks for more than the op$' text ||
  { cat text; fail 'a promise that is not kept'; }

opened "$TEST_ROOT/examples/softmax/softmax.ptir" --pipeline=default.yaml >softmax
opened "$TEST_ROOT/examples/layer_norm/layer_norm.ptir" --pipeline=default.yaml >layer_norm
! grep -q '^decompose-\(attention\|rope\|layer-norm\|sort\).so$' softmax || fail 'plugins of other ops'
grep -q '^decompose-layer-norm.so$' layer_norm || fail 'layer_norm'
