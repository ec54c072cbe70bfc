# A built function writes over its input where the module says that both may be one memory.
set -e
. "$TEST_ROOT/tests/shell.sh"
cat >f.ptir <<'MODULE'
func @turn(%x: tensor<$N x f32>) -> tensor<$N x f32> may_alias %x {
  %v = tensor.flip %x {axis = [0]} : tensor<$N x f32>
  %y = tensor.add %x, %v : tensor<$N x f32>
  return %y
}
MODULE
cat >main.c <<'SOURCE'
#include "op.h"
#include <stdio.h>
int main(void)
{
    static float memory[3000];
    int64_t count = 1000;
    int bad = 0;
    for (int shift = -3; shift <= 3; shift++) {
        DLTensor x = {.device = {kDLCPU, 0}, .ndim = 1, .dtype = {kDLFloat, 32, 1}, .shape = &count}, y = x;
        float *in = memory + 1000, *out = in + shift;
        for (int i = 0; i < 1000; i++) in[i] = (float)(i * i);
        x.data = in;
        y.data = out;
        if (op_turn(NULL, &x, &y) != 0) return 1;
        for (int i = 0; i < 1000; i++) bad += out[i] != (float)(i * i) + (float)((999 - i) * (999 - i));
    }
    printf("%d are wrong\n", bad);
    return 0;
}
SOURCE
ends 0 pto-build f.ptir -o libop.so --header op.h
cc -Wall -Wextra -Werror -I . main.c -L . -lop -Wl,-rpath,. -o turn
ends 0 ./turn
says_line "0 are wrong" out
