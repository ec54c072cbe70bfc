# A shared and a static library, an object and source text of the same module compute the same; two of them lie in one
# program, and nothing of one is seen but its functions.
set -e
. "$TEST_ROOT/tests/shell.sh"
cat >one.ptir <<'MODULE'
func @f(%x: tensor<$N x f32>) -> tensor<$N x f32> {
  %y = call @g(%x) : tensor<$N x f32>
  return %y
}
func private @g(%x: tensor<$N x f32>) -> tensor<$N x f32> {
  %y = tensor.mul %x, %x : tensor<$N x f32>
  return %y
}
MODULE
cat >two.ptir <<'MODULE'
func @f.init(const %w: tensor<$N x f32>) -> tensor<$N x f32> {
  %v = tensor.neg %w : tensor<$N x f32>
  return %v
}
func @f(%x: tensor<$N x f32>, const %v: tensor<$N x f32>) -> tensor<$N x f32> {
  %y = tensor.add %x, %v : tensor<$N x f32>
  return %y
}
MODULE
use="cc -Wall -Wextra -Werror -I . -x c $TEST_ROOT/tests/cli/pto-build/inputs/use_two.c.txt -x none -frounding-math -lpthread"
for kind in .so .a; do
  ends 0 pto-build one.ptir -o "libone$kind" --header one.h
  ends 0 pto-build two.ptir -o "libtwo$kind" --header two.h --compiler gcc
  [ ! -s text ] && [ ! -s out ] || fail "it says something"
done
$use libone.so libtwo.so -lm -Wl,-rpath,. -o with-shared
$use libone.a libtwo.a -lm -o with-static
ends 0 pto-build one.ptir -o one.o
ends 0 pto-build two.ptir --name=two -o any.o
$use one.o any.o -lm -o with-objects
ends 0 pto-build one.ptir -o one.c
ends 0 pto-build two.ptir -o two.c
for source in one two; do
  cc -std=gnu17 -O2 -ffp-contract=off -fno-math-errno -fno-strict-aliasing -w -march=native -DPTO_VECTOR_BYTES=32 -I "$TEST_ROOT/sdk/include" -c $source.c -o from-$source.o
done
$use from-one.o from-two.o -L "$TEST_BUILD/lib/pto" -lpto_runtime -lm -o with-source
for program in with-shared with-static with-objects with-source; do
  ends 0 ./$program
  says_line '25 -5 25 -5' out
  [ "$(wc -l <out)" -eq 1 ] || fail "it says something"
done
ends 0 env OMP_NUM_THREADS=1 ./with-shared
says_line '25 -5 25 -5' out

printf 'one_close\none_error\none_f\none_open\n' >wanted
nm -D --defined-only libone.so | awk '{ print $NF }' | sort | diff wanted - || fail "libone.so exports"
nm --defined-only libone.a | awk '$2 ~ /^[A-Z]$/ { print $NF }' | sort | diff wanted - || fail "libone.a exports"
readelf -d libone.so | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -vxE 'lib(c|m|pthread)\.so\.[06]' && fail "libone.so needs more than libc, libm and libpthread"
says '^ \*   x  in:    .N x f32$' one.h
says '^int two_f_init(two_context \*context, const DLTensor \*w, const DLTensor \*v);$' two.h
g++ -std=c++17 -Wall -Wextra -Werror -fsyntax-only -x c++ one.h
