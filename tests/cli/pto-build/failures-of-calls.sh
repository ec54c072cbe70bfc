# What fails inside of a built function is said with the place in the module, as by pto-run; that there is no memory is
# a result of its own.
set -e
. "$TEST_ROOT/tests/shell.sh"
cat >'a "\b".ptir' <<'MODULE'
func @pick(%x: tensor<8 x f32>, %i: tensor<4 x i32>) -> tensor<4 x f32> {
  %y = tensor.gather %x, %i {axis = 0} : tensor<4 x f32>
  return %y
}
func @large(%x: tensor<$M x 1 x f32>, %w: tensor<1 x $N x f32>, %i: tensor<4 x $N x i32>) -> tensor<4 x $N x f32> {
  %p = tensor.matmul %x, %w : tensor<$M x $N x f32>
  %y = tensor.gather %p, %i {axis = 0} : tensor<4 x $N x f32>
  return %y
}
MODULE
cat >main.c <<'SOURCE'
#include "op.h"
#include <stdio.h>
static float memory[4 << 20];
static DLTensor of(void *data, int64_t *shape, int rank, int code)
{
    return (DLTensor){.data = data, .device = {kDLCPU, 0}, .ndim = rank, .dtype = {code, 32, 1}, .shape = shape};
}
int main(void)
{
    int32_t at[] = {0, 7, 8, 1};
    int64_t eight = 8, four = 4, column[] = {1 << 20, 1}, row[] = {1, 1 << 20}, rows[] = {4, 1 << 20};
    DLTensor x = of(memory, &eight, 1, kDLFloat), i = of(at, &four, 1, kDLInt), y = of(memory + 8, &four, 1, kDLFloat);
    op_context *context = op_open(1);
    printf("%d ", op_pick(context, &x, &i, &y));
    puts(op_error(context));
    at[2] = 2;
    printf("%d %s\n", op_pick(context, &x, &i, &y), op_error(context));
    static int32_t all[4 << 20];
    static float result[4 << 20];
    x = of(memory, column, 2, kDLFloat), i = of(all, rows, 2, kDLInt), y = of(result, rows, 2, kDLFloat);
    DLTensor w = of(memory + (1 << 20), row, 2, kDLFloat);
    printf("%d ", op_large(context, &x, &w, &i, &y));
    puts(op_error(context));
    op_close(context);
    return 0;
}
SOURCE
cat >wanted <<'WANTED'
2 a "\b".ptir:2:8: in @pick, `tile.gather` has an index that is out of range: index 8 is out of the extent 8
0 
3 a "\b".ptir:6:8: in @large, `block.workspace` needs more memory than there is
WANTED
ends 0 pto-build 'a "\b".ptir' -o libop.so --header op.h
cc -Wall -Wextra -Werror -I . main.c -L . -lop -Wl,-rpath,. -o main
ends 0 ./main
diff wanted out || fail "other sentences"
