# Any name of a module is a name in a library: words of C and C++, macros, and what the C around the module calls its
# own. The header has them as parameters, for C and C++.
set -e
. "$TEST_ROOT/tests/shell.sh"
{
  sed -n 's/C_WORD(text)//; s/C_WORD("\([^"]*\)")/\1\n/gp' "$TEST_ROOT/plugins/shared/text/c_words.def" | tr -d ' '
  tr ' ' '\n' <<'END'
function tensors symbols arguments order facts context t0 t1 s out NULL DLTensor DLDataType kDLCPU op_context op_f
pto_runtime_call pto_runtime_context pto_extents_0 pto_holds_0 op_f_arguments_ __func__ __FILE__ __x86_64__ PTO_EXPORT_
PTO_RUNTIME_ISA PTO_BUILT_op_H pto_native_module_v1 INT64_MAX SIZE_MAX int64_t size_t uint8_t pto_f32 f_function f_0_kernel
f_0_frame f_0_count f_symbols f_entry memcpy frame_ raw_ scratch_ call_ j_ n_ core errno complex noreturn I M_PI EOF NAN
_x x_ 0 1 v0 v0_x_ x_x_ K KV
END
} | sed '/^$/d' | sort -u >words
[ "$(wc -l <words)" -gt 150 ] || fail 'the words were not found'
split -l 60 words part.

# module FILE: @f adds up a tensor for each word.
module() {
  awk '{ all = all sep "%" $1 ": tensor<$N x f32>"; sep = ", "; name[NR] = $1 }
    END {
      printf "func @f(%s) -> tensor<$N x f32> {\n", all
      last = name[1]
      for (i = 2; i <= NR; i++) {
        printf "  %%sum%d = tensor.add %%%s, %%%s : tensor<$N x f32>\n", i, last, name[i]
        last = "sum" i
      }
      printf "  return %%%s\n}\n", last
    }' "$1"
}
for part in part.*; do
  module "$part" >f.ptir
  last=$(sed -n 's/.*return %//p' f.ptir)
  ends 0 pto-run f.ptir --pipeline=native.yaml --no-cache --random-inputs=1 --sym N=5 --out="$last=native.npy"
  ends 0 pto-run f.ptir --pipeline=reference.yaml --random-inputs=1 --sym N=5 --out="$last=reference.npy"
  cmp native.npy reference.npy || fail "$part: another sum"
  ends 0 pto-build f.ptir -o libop.so --header op.h
  ends 0 pto-build f.ptir -o op.c
  flags=$(sed -n 's/^ [*]   cc \(.*\) -c .*/\1/; s/\$([^)]*)//; 2p' op.c)
  # shellcheck disable=SC2086
  cc $flags -I "$TEST_ROOT/sdk/include" -c op.c -o op.o
  printf '#include <complex.h>\n#include <errno.h>\n#include <limits.h>\n#include <math.h>\n#include <stdio.h>\n#include "op.h"\n' >includes.c
  cc -std=c17 -Wall -Wextra -Werror -pedantic -fsyntax-only includes.c
  cc -std=gnu2x -Wall -Wextra -Werror -fsyntax-only includes.c
  printf '#include <cerrno>\n#include <climits>\n#include <cmath>\n#include <cstdio>\n#include "op.h"\n' >includes.cc
  g++ -std=c++20 -Wall -Wextra -Werror -fsyntax-only includes.cc
done

# Plain names stay as they are, and the others are like them.
printf '%s\n' x KV w1 N_heads __func__ new 0 >plain
module plain >f.ptir
ends 0 pto-build f.ptir -o libop.so --header op.h
says '^int op_f(op_context \*context, const DLTensor \*x, const DLTensor \*KV_, const DLTensor \*w1, const DLTensor \*N_heads, const DLTensor \*t__func__, const DLTensor \*new_, const DLTensor \*t0, const DLTensor \*' op.h

# Functions are called as what the C of the module has, and as what is around it.
cat >f.ptir <<'END'
func @kernel(%x: tensor<4 x f32>) -> tensor<4 x f32> {
  %y = tensor.neg %x : tensor<4 x f32>
  return %y
}
func @pto_native(%x: tensor<4 x f32>) -> tensor<4 x f32> {
  %y = tensor.neg %x : tensor<4 x f32>
  return %y
}
func @module_v1(%x: tensor<4 x f32>) -> tensor<4 x f32> {
  %y = tensor.neg %x : tensor<4 x f32>
  return %y
}
END
ends 0 pto-run f.ptir --pipeline=native.yaml --no-cache --random-inputs=1 --entry pto_native
for kind in .so .o .c; do
  ends 0 pto-build f.ptir -o "kernel_0$kind"
done
cc -w -I "$TEST_ROOT/sdk/include" -c kernel_0.c -o from-source.o
nm -D --defined-only kernel_0.so | awk '{ print $NF }' | tr '\n' ' ' >names
says_line 'kernel_0_close kernel_0_error kernel_0_kernel kernel_0_module_v1 kernel_0_open kernel_0_pto_native ' names
