# A remark says why a function is not called: the machine lists none. Where it is called, and where steps are asked for,
# there is none.
. "$TEST_ROOT/tests/shell.sh"
cat >f.ptir <<'END'
func @f(%x: tensor<8 x 64 x f32>) -> tensor<8 x 64 x f32> {
  %y = tensor.gelu %x : tensor<8 x 64 x f32>
  return %y
}
END
steps() { # MACHINE OPTIONS
  ends 0 pto-opt f.ptir --passes="pto.decompose-softmax,pto.decompose-rms-norm,pto.legalize-types,pto.expand-math$2" --machine="$1" --remarks=-
}
told='f.ptir:2:8: remark: \[pto.expand-math/steps\] `tensor.gelu` becomes other ops: the machine lists no `function` in f32 among its instructions, so that it calls none \[@f/y\]$'
steps ascend-910b ''
says "$told"
[ "$(grep -c expand-math/steps text)" -eq 1 ] || fail 'it is said of what the function becomes, too'
steps ascend-910b '{functions=steps}'
! grep -q expand-math/steps text || fail 'it is said though steps were asked for'
steps cpu-avx2 ''
! grep -q expand-math/steps text || fail 'it is said though the function is called'
# A file of a CPU that was written before there were functions.
ends 0 pto-inspect machine --probe -o new.yaml
grep -v '^ *function:' new.yaml >old.yaml
! cmp -s new.yaml old.yaml || fail 'there is no line to leave out'
steps ./old.yaml ''
says "$told"
