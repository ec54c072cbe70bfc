# Elements of 8 and 16 bits are widened and narrowed by instructions on vectors, where there are such: none alone.
. "$TEST_ROOT/tests/shell.sh"
# It compiles for itself, and runs nothing of the build.
! is_sanitized || exit 0
case $(uname -m) in x86_64) ;; *) exit 0 ;; esac
cat >f.c <<'END'
#include <pto/native_vector.h>
void add_i8(const signed char *x, signed char *y) { pto_store_i8(y, pto_load_i8(x) + pto_load_i8(y)); }
void from_u8(const unsigned char *x, float *y) { pto_store_f32(y, pto_f32_from_u32(pto_load_u8(x), PTO_RINT)); }
void to_i8(const float *x, signed char *y) { pto_store_i8(y, pto_int_from_f32(pto_load_f32(x), -128, 127, PTO_RINT, 1)); }
void add_i16(const short *x, short *y) { pto_store_i16(y, pto_load_i16(x) + pto_load_i16(y)); }
void add_bf16(const unsigned short *x, unsigned short *y) { pto_store_bf16(y, pto_load_bf16(x) + pto_load_bf16(y)); }
void not_bool(const unsigned char *x, unsigned char *y) { pto_store_bool(y, pto_mask_not(pto_load_bool(x))); }
END
for flags in "-mavx2 -mfma -mf16c" "-mavx2 -mfma -mf16c -mavx512f -mavx512bw -mavx512vl -mavx512dq"; do
  for compiler in gcc clang-19; do
    command -v $compiler >/dev/null || continue
    ends 0 $compiler -std=gnu17 -O2 -ffp-contract=off -fno-math-errno $flags -I "$TEST_ROOT/sdk/include" -S f.c -o f.s
    [ "$(grep -c '^[a-z0-9_]*:' f.s)" -ge 6 ] || fail "$compiler $flags: functions are missing"
    ! grep -E '	(movz|movs)b|	vp(extr|insr)b' f.s || fail "$compiler $flags: elements one by one"
  done
done
