# A caller gets a symbol of each of 2000 calls: the numbers go on where they were, the time is linear, and a name that
# the caller has already is left out.
. "$TEST_ROOT/tests/shell.sh"
t='tensor<$N x f32>'
{
  echo "func private @g(%x: $t, %n: index) -> $t {
  bind \$K = %n in [1, 64]
  %r = for %i to \$K carry(%a = %x) {
    %y = tensor.add %a, %x : $t
    yield %y
  } : $t
  return %r
}
func @f(%x0: $t, %k: index, %other: tensor<\$K_7 x f32>) -> $t {"
  i=1
  while [ $i -le 2000 ]; do
    echo "  %x$i = call @g(%x$((i - 1)), %k) : $t"
    i=$((i + 1))
  done
  echo "  return %x2000
}"
} >m.ptir
ends 0 pto-opt m.ptir --passes=pto.inline --time-limit=20
[ "$(grep -c 'bind \$K' out)" -eq 2000 ] || fail
says_line '  bind $K = %k in [1, 64]' out
says_line '  bind $K_6 = %k in [1, 64]' out
says_line '  bind $K_8 = %k in [1, 64]' out
says_line '  bind $K_2000 = %k in [1, 64]' out
! grep -q 'bind $K_7 ' out || fail
