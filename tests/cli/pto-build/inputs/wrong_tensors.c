/* Every tensor that a built function refuses, and what it says. */
#include "op.h"

#include <stdio.h>

static op_context *c;

static void call(const char *what, const DLTensor *x, const DLTensor *w, const DLTensor *y)
{
    const int r = op_scale(c, x, w, y);
    printf("%s: %d%s%s\n", what, r, r != 0 ? " " : "", op_error(c));
}

static DLTensor vector_of(float *data, int64_t *n)
{
    const DLTensor t = {.data = data, .device = {kDLCPU, 0}, .ndim = 1, .dtype = {kDLFloat, 32, 1}, .shape = n};
    return t;
}

int main(void)
{
    float memory[64];
    int64_t four = 4, eight = 8, three = 3, six = 6, zero = 0, negative = -1, huge = INT64_C(1) << 31, two = 2;
    const DLTensor x = vector_of(memory, &eight), w = vector_of(memory + 16, &four), y = vector_of(memory + 32, &eight);
    DLTensor t = x;
    for (int i = 0; i < 64; i++) memory[i] = (float)i;
    c = op_open(2);
    call("fine", &x, &w, &y);
    call("no tensor", NULL, &w, &y);
    t.device.device_type = 2;
    call("on a device", &t, &w, &y);
    t = x;
    t.dtype.code = kDLInt;
    call("i32", &t, &w, &y);
    t = x;
    t.ndim = 2;
    call("rank 2", &t, &w, &y);
    t = x;
    t.shape = NULL;
    call("no shape", &t, &w, &y);
    t = vector_of(memory, &negative);
    call("negative", &t, &w, &y);
    t = vector_of(memory, &huge);
    call("huge", &t, &w, &y);
    t = vector_of(memory, &six);
    call("computed", &t, &w, &y);
    t = vector_of(memory + 16, &three);
    call("symbols", &x, &t, &y);
    t = x;
    t.strides = &two;
    call("strided", &t, &w, &y);
    t = x;
    t.data = NULL;
    call("no data", &t, &w, &y);
    t = x;
    t.byte_offset = 1;
    call("unaligned", &t, &w, &y);
    t = vector_of(memory + 4, &eight);
    call("overlap", &x, &w, &t);
    const DLTensor x0 = vector_of(NULL, &zero), w0 = vector_of(NULL, &zero), y0 = vector_of(NULL, &zero);
    call("fact", &x0, &w0, &y0);
    call("fine again", &x, &w, &y);
    printf("%g %g\n", (double)memory[32], (double)memory[39]);
    op_close(c);
    c = NULL;
    call("without a context", &x, &w, &y);
    printf("%s\n", op_open(-1) == NULL && op_open(100000) == NULL ? "no such threads" : "threads");
    return 0;
}
