# What `when` asks for and no form can be made of, and lists that are malformed.
. "$TEST_ROOT/tests/shell.sh"
write() { # LIST [OP]
  cat >m.ptir <<EOF2
func @f(%x: tensor<\$M x \$N x f32>, inout %c: tensor<\$M x \$N x f32>) -> tensor<\$M x \$N x f32> {when = $1} {
  $2
  return %x
}
EOF2
}
exp='%y = tensor.exp %x : tensor<$M x $N x f32>'
write '[["M", 0]]' "$exp"
fails 4 '\[E0412\] `func` has a malformed item 0 of `when`: it needs \["name", number of at least 1\]' pto-opt m.ptir
write '[["M", 4], "N"]' "$exp"
fails 4 'malformed item 1 of `when`' pto-opt m.ptir
write '[["K", 4]]' "$exp"
fails 4 '\[E0412\] `func` has in `when` a number of $K, which no parameter mentions' pto-opt m.ptir
write '[["M", 4], ["M", 8]]' "$exp"
fails 5 'm.ptir:1:1: error: \[pto.variants/twice\] asks for two forms for $M by `when`: one is made' pto-opt m.ptir --passes=pto.variants
write '[["M", 4]]' 'tune $KB in [16, 32] step 16'
fails 5 'm.ptir:1:1: error: \[pto.variants/one-form-only\] asks for forms by `when`, and a function with `bind`, `tune`, a result in the memory of a parameter or without an op has one form only' pto-opt m.ptir --passes=pto.variants
