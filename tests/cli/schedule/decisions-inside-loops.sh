# What is decided inside of a loop over tensors is named like what is outside, and can be pinned: all decisions give the
# same kernels again, and another one changes just what it names.
. "$TEST_ROOT/tests/shell.sh"
cat >m.ptir <<'EOF'
func @f(%x: tensor<$M x 64 x f32>, %w: tensor<$M x 64 x f32>) -> tensor<$M x 64 x f32> {
  tune $K in [1, 4]
  %r = for %i to $K carry(%a = %x) {
    %y = tensor.mul %a, %w : tensor<$M x 64 x f32>
    %z = tensor.sub %y, %x : tensor<$M x 64 x f32>
    yield %z
  } : tensor<$M x 64 x f32>
  return %r
}
EOF
ends 0 pto-opt m.ptir --pipeline=default.yaml --emit-schedule=s.yaml -o 1.ptir
says '  - at: "@f/f_0"' s.yaml
says '  - at: "@f/K"' s.yaml
says '  - at: "@f/z"' s.yaml
sed 's/^\( *\)origin:/\1pinned: true\n&/' s.yaml >all.yaml
ends 0 pto-opt m.ptir --pipeline=default.yaml --schedule=all.yaml -o 2.ptir
cmp -s 1.ptir 2.ptir || fail 'other kernels'
says 'for %i to 4 ' 2.ptir
sed '/decide: symbol/{n;s/value: 4/value: 3/}' all.yaml >other.yaml
ends 0 pto-opt m.ptir --pipeline=default.yaml --schedule=other.yaml -o 3.ptir
says 'for %i to 3 ' 3.ptir
