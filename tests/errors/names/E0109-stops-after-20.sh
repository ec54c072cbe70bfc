# After 20 errors of a text nothing more is read, and that is said.
set -e
. "$TEST_ROOT/tests/shell.sh"
i=1
while [ "$i" -le 40 ]; do
  printf 'func @f%d(%%x: tensor<4 x f32>) {\n  %%y = tensor.ex %%x : tensor<4 x f32>\n  return\n}\n' "$i"
  i=$((i + 1))
done >many.ptir
ends 4 pto-opt many.ptir
[ "$(grep -c 'error: \[E0109\] unknown op `tensor.ex`; did you mean `tensor.exp`?' text)" -eq 20 ] || fail
tail -n 1 text | grep -qxF 'note: reading stops at the error number 20' || fail
[ ! -s out ] || fail
