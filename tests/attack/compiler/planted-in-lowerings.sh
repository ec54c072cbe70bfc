# Planted miscompiles in what ops of many steps become: integers of 64 bits in two planes, reductions in parts for each
# core, what follows a product, ranks of a sort, instructions that sort, loops that change memory in place, inlined
# calls; and in the composites themselves, by a pass that may change the order of sums. Each time the step that planted
# it is named, and no other.
. "$TEST_ROOT/tests/shell.sh"
. "$TEST_ROOT/tests/attack/compiler/inputs/planting.sh"
cat >planes.ptir <<'END'
func @f(%a: tensor<$N x 16 x i64>, %b: tensor<$N x 16 x i64>) -> (tensor<$N x 16 x i64>, tensor<$N x 1 x i64>) where ($N <= 60) {
  %c = tensor.add %a, %b : tensor<$N x 16 x i64>
  %s = tensor.reduce_sum %a {axis = 1} : tensor<$N x 1 x i64>
  return %c, %s
}
END
cat >parts.ptir <<'END'
func @f(%a: tensor<1 x 262144 x f32>) -> tensor<1 x 1 x f32> {
  %s = tensor.reduce_sum %a {axis = 1} : tensor<1 x 1 x f32>
  return %s
}
END
cat >epilogue.ptir <<'END'
func @f(%a: tensor<$N x 300 x f16>, %b: tensor<300 x 32 x f16>, %bias: tensor<32 x f16>) -> tensor<$N x 32 x f16> where ($N <= 60) {
  %c = tensor.matmul %a, %b, %bias {activation = "relu"} : tensor<$N x 32 x f16>
  return %c
}
END
cat >ranks.ptir <<'END'
func @f(%x: tensor<$N x 12 x i32>) -> tensor<$N x 12 x i32> where ($N <= 60) {
  %t = tensor.sort %x {axis = 1} : tensor<$N x 12 x i32>
  return %t
}
END
cat >sorts.ptir <<'END'
func @f(%x: tensor<$N x 300 x f32>) -> (tensor<$N x 8 x f32>, tensor<$N x 8 x i32>, tensor<$N x 300 x f32>) where ($N <= 7) {
  %v, %p = tensor.topk %x {axis = 1, k = 8} : tensor<$N x 8 x f32>, tensor<$N x 8 x i32>
  %s = tensor.sort %x {axis = 1, descending = true} : tensor<$N x 300 x f32>
  return %v, %p, %s
}
END
cat >chunks.ptir <<'END'
func @f(%x: tensor<1 x $L x f32>) -> (tensor<1 x 4 x f32>, tensor<1 x 4 x i32>) where ($L >= 600, $L <= 2000) {
  %v, %p = tensor.topk %x {axis = 1, k = 4} : tensor<1 x 4 x f32>, tensor<1 x 4 x i32>
  return %v, %p
}
END
cat >loop.ptir <<'END'
func @row(%x: tensor<1 x 64 x f32>, %b: tensor<1 x 64 x f32>) -> tensor<1 x 64 x f32> {
  %d = tensor.sub %x, %b : tensor<1 x 64 x f32>
  return %d
}
func @f(%b: tensor<1 x 64 x f32>, inout %c: tensor<8 x 64 x f32>) -> tensor<8 x 64 x f32> aliases %c {
  %r = for %i to 5 carry(%a = %c) {
    %v = tensor.view %a[%i, 0] : tensor<1 x 64 x f32>
    %d = call @row(%v, %b) : tensor<1 x 64 x f32>
    %w = tensor.assemble %d, %a[%i + 1, 0] : tensor<8 x 64 x f32>
    yield %w
  } : tensor<8 x 64 x f32>
  return %r
}
END
cat >composites.ptir <<'END'
func @f(%q: tensor<2 x 8 x 64 x f16>, %k: tensor<2 x 11 x 64 x f16>, %v: tensor<2 x 11 x 24 x f16>, %x: tensor<3 x 40 x f32>,
        %i: tensor<1 x 5 x 6 x 4 x f16>, %w: tensor<3 x 2 x 4 x 8 x f16>, %a: tensor<8 x 64 x i8>, %b: tensor<64 x 8 x i8>,
        %s: tensor<8 x 2 x f32>, %t: tensor<2 x 8 x f32>, %p: tensor<3 x 40 x f32>)
    -> (tensor<2 x 8 x 24 x f16>, tensor<3 x 1 x f32>, tensor<3 x f32>, tensor<1 x 3 x 5 x 8 x f16>, tensor<8 x 8 x f32>, tensor<3 x 40 x f32>, tensor<3 x 40 x f32>) {
  %o = tensor.attention %q, %k, %v {causal = true} : tensor<2 x 8 x 24 x f16>
  %r = tensor.var %x {axis = 1, correction = 1} : tensor<3 x 1 x f32>
  %n = tensor.constant {value = dense [3, 0, 39] : tensor<3 x i32>} : tensor<3 x i32>
  %e = tensor.cross_entropy %x, %n : tensor<3 x f32>
  %c = tensor.conv2d %i, %w : tensor<1 x 3 x 5 x 8 x f16>
  %m = tensor.scaled_matmul %a, %b, %s, %t {block = 32} : tensor<8 x 8 x f32>
  %g = tensor.tan %p : tensor<3 x 40 x f32>
  %u = tensor.abs %p : tensor<3 x 40 x f32>
  %h = tensor.pow %u, %x : tensor<3 x 40 x f32>
  return %o, %r, %e, %c, %m, %g, %h
}
END
for module in planes parts epilogue ranks sorts chunks loop composites; do
  run "$module" || complain "$module: nothing is planted, and $(grep -m 1 error text)"
done
finds tensor legalize-types planes swaps-planes reads-low-plane carries-always and-for-or shifts-up
finds tile tile parts drops-last-part sums-first-part drops-last-iteration
finds tensor canonicalize epilogue drops-activation
finds tile tile epilogue drops-relu starts-anew
finds block select epilogue drops-relu drops-products
finds tensor decompose-sort ranks ranks-equals-alike ranks-backwards ranks-from-one
finds tensor decompose-sort sorts smallest-for-largest sorts-up
finds tile tile sorts sorts-by-magnitude pads-with-zero infinity-is-no-number sign-of-others merges-longer-runs
finds tile tile chunks drops-last-iteration later-chunk-first value-of-other-chunks place-beyond-chunk
finds block select sorts merges-one-run counts-no-places
finds block select chunks keeps-old-list
finds tensor inline loop swaps-sub repeats-operand
finds tensor canonicalize loop joins-first-part
finds tile bufferize loop drops-last-iteration
finds tile inline-nests loop drops-last-iteration swaps-sub
finds reassociates canonicalize composites scores-off sees-later-keys values-off forgets-correction windows-off entropy-off scales-off \
  sine-for-tangent power-off
[ "$planted" -ge 44 ] || complain "only $planted planted"
