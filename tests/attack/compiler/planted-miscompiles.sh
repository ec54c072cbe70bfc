# Planted miscompiles, one at a time in the default pipeline: --check=semantics names the step that planted it and no
# other, whichever inputs that takes. Without one nobody is named.
. "$TEST_ROOT/tests/shell.sh"
. "$TEST_ROOT/tests/attack/compiler/inputs/planting.sh"
program() { # NAME INPUTS RESULTS OP..: the ops' results in order
  name=$1 inputs=$2 results=$3
  shift 3
  { printf 'func @f(%s) -> (%s) where ($N <= 300) {\n' "$inputs" "$results"
    for op in "$@"; do printf '  %s\n' "$op"; done
    printf '}\n'; } >"$name.ptir"
}
r="tensor<\$N x 64 x f32>"
program arithmetic "%a: $r, %b: $r" "$r, $r, $r, $r, tensor<1 x 64 x f32>" \
  "%d = tensor.sub %a, %b : $r" "%q = tensor.div %a, %b : $r" "%m = tensor.maximum %a, %b : $r" "%n = tensor.neg %a : $r" \
  "%s = tensor.reduce_sum %a {axis = 0} : tensor<1 x 64 x f32>" "return %d, %q, %m, %n, %s"
program functions "%a: $r, %g: tensor<64 x f32>" "$r, $r, $r, $r, $r, $r, $r, $r" \
  "%s = tensor.sqrt %a : $r" "%b = tensor.abs %a : $r" "%u = tensor.relu %a : $r" "%x = tensor.softmax %a : $r" "%e = tensor.gelu %a : $r" \
  "%y = tensor.rms_norm %a, %g : $r" "%z = tensor.sub %a, %a : $r" "%l = tensor.log %b : $r" "return %s, %b, %u, %x, %e, %y, %z, %l"
program rows "%a: $r, %e: tensor<4 x \$N x f32>" "tensor<\$N x 1 x f32>, tensor<4 x 1 x f32>, tensor<\$N x 64 x i32>" \
  "%m = tensor.reduce_max %a {axis = 1} : tensor<\$N x 1 x f32>" "%c = tensor.reduce_max %e {axis = 1} : tensor<4 x 1 x f32>" \
  "%i = tensor.cast %a {mode = \"floor\", saturate = true} : tensor<\$N x 64 x i32>" "return %m, %c, %i"
program empty "%e: tensor<4 x \$N x f32>" "tensor<4 x 1 x f32>" "%c = tensor.reduce_max %e {axis = 1} : tensor<4 x 1 x f32>" "return %c"
s="tensor<64 x 64 x f32>"
program shapes "%a: $s, %x: tensor<\$N x i16>, %y: tensor<\$N x i16>" "tensor<4096 x f32>, $s, $s, $s, tensor<\$N x i16>" \
  "%v = tensor.reshape %a : tensor<4096 x f32>" "%t = tensor.transpose %a {perm = [1, 0]} : $s" "%m = tensor.softmax %a {axis = 1} : $s" \
  "%k = tensor.reduce_sum %a {axis = 1} : tensor<64 x 1 x f32>" "%p = tensor.mul %a, %k : $s" "%i = tensor.add %x, %y : tensor<\$N x i16>" \
  "return %v, %t, %m, %p, %i"
program tiles "%a: $r, %b: $r" "$r, tensor<\$N x 1 x f32>" \
  "%d = tensor.sub %a, %b : $r" "%m = tensor.maximum %d, %a {nan = \"any\"} : $r" "%l = tensor.minimum %m, %b {nan = \"any\"} : $r" \
  "%e = tensor.exp %l : $r" "%q = tensor.div %e, %a : $r" "%x = tensor.reduce_max %q {axis = 1, nan = \"any\"} : tensor<\$N x 1 x f32>" \
  "return %q, %x"
program product "%a: tensor<\$N x 300 x f16>, %b: tensor<300 x 32 x f16>" "tensor<\$N x 32 x f32>" \
  "%c = tensor.matmul %a, %b {out = f32} : tensor<\$N x 32 x f32>" "return %c"
program sums "%a: $r" "tensor<\$N x 1 x f32>, tensor<\$N x 1 x f32>" \
  "%b = tensor.abs %a : $r" "%y = tensor.reduce_sum %b {axis = 1} : tensor<\$N x 1 x f32>" \
  "%m = tensor.reduce_max %a {axis = 1} : tensor<\$N x 1 x f32>" "return %y, %m"
on() { # INPUTS: what the last one was found on
  grep -qF "note: @f was run on $1" text && return
  complain "$plant in $module: found on other inputs than $1"
}
for module in arithmetic functions rows empty shapes tiles product sums; do
  run "$module" && continue
  complain "$module: nothing is planted"
done
finds tensor canonicalize arithmetic swaps-sub swaps-div repeats-operand min-for-max mul-for-div drops-neg
finds tensor canonicalize arithmetic loses-minus-zero && on "extreme inputs"
finds tensor canonicalize arithmetic loses-nan && on "inputs with NaN"
finds tensor canonicalize arithmetic only-at-0 && on 'random inputs, seed 1, $N = 0'
finds tensor canonicalize arithmetic only-at-1 && on 'random inputs, seed 1, $N = 1'
finds tensor canonicalize arithmetic only-from-200 && on 'random inputs, seed 1, $N = 257'
finds tensor canonicalize functions drops-abs drops-relu root-of-magnitude one-unit other-gelu larger-eps folds-x-minus-x log-of-more
finds tensor canonicalize functions flushes-denormals && on "extreme inputs"
finds tensor canonicalize rows min-for-max-of-rows loses-nan-of-rows rounds-by-trunc rounds-by-rint wraps
finds tensor canonicalize rows maximum-starts-at-zero && on "negative inputs"
finds tensor canonicalize empty maximum-starts-at-lowest
finds tensor canonicalize shapes other-axis turns-before-reshape turns-back other-axis-of-softmax saturates
finds reassociates canonicalize sums many-units drops-abs numbs
finds tile tile tiles swaps-sub min-for-max min-for-max-of-rows drops-exp drops-last-tile loads-first-tile
finds tile tile product drops-last-product starts-anew
finds block select tiles swaps-div max-for-min drops-store drops-load stores-first-tile loads-next-row swaps-arguments
finds block synchronize tiles one-tile-for-each-core
finds block select product adds-twice
finds exec task-graph tiles swaps-arguments drops-launch repeats-argument
[ "$planted" -ge 40 ] || complain "only $planted planted"
