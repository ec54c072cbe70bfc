# What an @f.init that the user writes must be, on every pipeline and before any step.
. "$TEST_ROOT/tests/shell.sh"
write() { # PARAMETERS-OF-INIT ITS-RESULT NAME-OF-F PARAMETERS-OF-F
  cat >m.ptir <<EOF2
func @f.init($1) -> tensor<$2> {
  %s = tensor.exp %w : tensor<$2>
  return %s
}
func @$3(%x: tensor<8 x f32>, $4) -> tensor<8 x f32> {
  %y = tensor.mul %x, %x : tensor<8 x f32>
  return %y
}
EOF2
}
write 'const %w: tensor<8 x f32>' '8 x f32' f 'const %s: tensor<8 x f32>'
ends 0 pto-opt m.ptir
ends 0 pto-opt m.ptir --pipeline=default.yaml
ends 0 pto-opt m.ptir --print-generic -o generic.ptir
ends 0 pto-opt generic.ptir
write '%w: tensor<8 x f32>' '8 x f32' f 'const %s: tensor<8 x f32>'
fails 4 'm.ptir:1:1: error: \[E1610\] @f.init has the parameter `w`, which is `in`: what it computes is kept over runs, so that all its parameters are `const`' pto-opt m.ptir
write 'inout %w: tensor<8 x f32>' '8 x f32' f 'const %s: tensor<8 x f32>'
fails 4 'E1610\] @f.init has the parameter `w`, which is `inout`' pto-run m.ptir --random-inputs=1
write 'const %w: tensor<8 x f32>' '8 x f32' g 'const %s: tensor<8 x f32>'
fails 4 'E1610\] @f.init computes constants of @f, which is not a function of the module' pto-opt m.ptir
write 'const %w: tensor<8 x f32>' '8 x f32' f 'const %t: tensor<8 x f32>'
fails 4 'E1610\] @f.init makes `s`, which is not a `const` parameter of @f' pto-opt m.ptir
write 'const %w: tensor<8 x f32>' '8 x f32' f '%s: tensor<8 x f32>'
fails 4 'E1610\] @f.init makes `s`, which is not a `const` parameter of @f' pto-run m.ptir --pipeline=reference.yaml --random-inputs=1
for type in '8 x f16' '8 x 1 x f32' '7 x f32'; do
  write "const %w: tensor<$type>" "$type" f 'const %s: tensor<8 x f32>'
  fails 4 'E1610\] @f.init makes `s` of another element type or other extents than the parameter of @f has' pto-opt m.ptir
done
