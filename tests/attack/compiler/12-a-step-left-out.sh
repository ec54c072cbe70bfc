# Whether a pipeline lacks a step is said before anything runs, and of every module the same: also of those that have by
# chance, and for a while, what the step would establish.
. "$TEST_ROOT/tests/shell.sh"
func() { printf 'func @f(%%x: tensor<4 x 4 x f32>) -> tensor<4 x 4 x f32> {\n%s\n  return %%y\n}\n' "$1"; }
func '  %y = tensor.softmax %x : tensor<4 x 4 x f32>' >softmax.ptir
func '  %y = tensor.mul %x, %x : tensor<4 x 4 x f32>' >product.ptir
func '  %e = tensor.exp %x : tensor<4 x 4 x f32>
  %y = tensor.gelu %e : tensor<4 x 4 x f32>' >maths.ptir
printf 'func @f(%%x: tensor<4 x f32>) -> tensor<4 x f32> {\n  return %%x\n}\n' >nothing.ptir
while read -r step property needs; do
  for m in softmax product maths nothing; do
    fails 2 "error: \[E1702\] step \`$needs\` (pto.$needs) needs property $property, which no earlier step establishes" \
      pto-opt $m.ptir --pipeline=default.yaml --remove="$step" -o out.ptir
    [ ! -e out.ptir ] || fail "$m without $step left a file"
  done
done <<'STEPS'
fuse pto.grouped tile
expand-math pto.math-legal fuse
decompose-softmax pto.no-softmax expand-math
legalize-types pto.types-legal expand-math
STEPS
