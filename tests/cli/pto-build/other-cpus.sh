# The machine decides what instructions a library is made of, and the option `isa` of the backend, whatever CPU it is
# made on; the library says what it lacks where it runs. Its C names the same.
set -e
. "$TEST_ROOT/tests/shell.sh"
cat >f.ptir <<'MODULE'
func @f(%x: tensor<$M x 64 x f32>, %w: tensor<64 x 48 x f32>) -> tensor<$M x 48 x f32> {
  %p = tensor.matmul %x, %w : tensor<$M x 48 x f32>
  %y = tensor.exp %p : tensor<$M x 48 x f32>
  return %y
}
MODULE
cat >main.c <<'SOURCE'
#include "op.h"
#include <stdio.h>
#include <string.h>
int main(void)
{
    static float x[5 * 64], w[64 * 48], y[5 * 48];
    int64_t xs[] = {5, 64}, ws[] = {64, 48}, ys[] = {5, 48};
    DLTensor a = {.data = x, .device = {kDLCPU, 0}, .ndim = 2, .dtype = {kDLFloat, 32, 1}, .shape = xs}, b = a, c = a;
    op_context *context = op_open(1);
    int bad = 0;
    b.data = w, b.shape = ws, c.data = y, c.shape = ys;
    for (int i = 0; i < 64 * 48; i++) w[i] = i / 48 == i % 48 ? 1 : 0;
    if (op_f(context, &a, &b, &c) != 0) {
        puts(op_error(context));
        return strstr(op_error(context), "which this one lacks") == NULL;
    }
    for (int i = 0; i < 5 * 48; i++) bad += y[i] != 1;
    printf("%d are wrong\n", bad);
    op_close(context);
    return bad;
}
SOURCE
# A compiler that leaves what it was told, and what it made of the module.
cat >keeping <<'END'
#!/bin/sh
gcc "$@" || exit 1
case $* in *module.c*) echo "$@" >"$0.flags"; objdump -d --no-show-raw-insn module.o >"$0.code" ;; esac
END
chmod +x keeping
is_x86() { [ "$(uname -m)" = x86_64 ]; }

# makes VECTOR REGISTER FLAG OPTIONS..: a library for that machine, whose module has registers of that name and no wider
# ones, and was compiled with the flag.
makes() {
  wanted_bytes=$1 wanted_register=$2 wanted_flag=$3
  shift 3
  ends 0 pto-build f.ptir "$@" -o libop.so --header op.h --compiler ./keeping
  says_word "-DPTO_VECTOR_BYTES=$wanted_bytes" keeping.flags
  case $wanted_register in
  ymm) wider='%zmm' ;;
  xmm) wider='%[yz]mm' ;;
  *) wider=none ;;
  esac
  says "%$wanted_register" keeping.code
  ! grep -q "$wider" keeping.code || fail "$*: vectors of the module are wider than $wanted_register"
  [ "$wanted_flag" = '' ] || says_word "$wanted_flag" keeping.flags
  [ "$wanted_flag" = -mavx512f ] || ! grep -q mavx512 keeping.flags || fail "$*: it is compiled for AVX-512"
  cc -Wall -Wextra -Werror -I . main.c -L . -lop -Wl,-rpath,. -o main
  ends 0 ./main
  grep -q 'this one lacks$' out || says_line '0 are wrong' out
  ends 0 pto-build f.ptir "$@" -o f.c
  says "^ [*]   cc .*-DPTO_VECTOR_BYTES=$wanted_bytes " f.c
  [ "$wanted_flag" = '' ] || says "^ [*]   cc .* $wanted_flag " f.c
  [ "$wanted_flag" = -mavx512f ] || ! grep -q '^ [*]   cc .*-mavx512f' f.c || fail "$*: its C says AVX-512"
}
says_word() { says "\(^\| \)$1\( \|$\)" "$2"; }

makes 16 xmm '' --machine=cpu-generic
if is_x86; then
  makes 32 ymm -mavx2 --machine=cpu-avx2
  makes 64 zmm -mavx512f --machine=cpu-avx512
  makes 64 zmm -mavx512f --machine=cpu-amx
  makes 64 ymm -mavx2 --machine=cpu-avx512 --set=backend.with.isa=avx2
  makes 64 xmm '' --machine=cpu-avx512 --set=backend.with.isa=plain
  makes 32 xmm '' --machine=cpu-avx2 --set=backend.with.isa=plain
  makes 32 '[yz]mm' -mavx512f --machine=cpu-avx2 --set=backend.with.isa=avx512
fi
