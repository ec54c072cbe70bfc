# Names and strings have limits, so that no printed line is longer than what is read.
set -e
. "$TEST_ROOT/tests/shell.sh"
xs() { head -c "$1" /dev/zero | tr '\0' x; }
# module NAME STRING
module() { printf 'func @f(%%a: tensor<4 x f32>) -> tensor<4 x f32> {\n  %%%s = tensor.neg %%a {n.n = "%s"} : tensor<4 x f32>\n  return %%%s\n}\n' "$1" "$2" "$1"; }
module "$(xs 65536)" "$(xs 131072)" >good.ptir
pto-opt good.ptir >once.ptir
pto-opt once.ptir | cmp - once.ptir
module "$(xs 65537)" s >name.ptir
fails 4 '^name.ptir:2:3: error: \[E0103\] the name `%xxx*...` has 65537 bytes; the limit is 65536$' pto-opt name.ptir
{ echo "func @f() {"; xs 65537; echo; echo "}"; } >op.ptir
fails 4 '^op.ptir:2:1: error: \[E0103\] the name `xxx*...` has 65537 bytes; the limit is 65536$' pto-opt op.ptir
module y "$(xs 131073)" >string.ptir
fails 4 '^string.ptir:2:29: error: \[E0103\] the string has 131073 bytes; the limit is 131072$' pto-opt string.ptir
# Control characters take six bytes each when they are printed.
module y "$(head -c 131072 /dev/zero | tr '\0' '\177')" >escapes.ptir
pto-opt escapes.ptir >printed.ptir
pto-opt printed.ptir | cmp - printed.ptir
