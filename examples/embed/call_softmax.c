/* Compiles a module for this CPU and calls its function: call_softmax MODULE.ptir */
#include <pto/pto.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 32, COLUMNS = 256 };

/* Every function that can fail returns a result; the context has the reasons. */
static void check(pto_context *c, pto_result r)
{
    if (r == PTO_RESULT_OK) return;
    fprintf(stderr, "%s", pto_diagnostics_text(c));
    pto_context_destroy(c);
    exit(1);
}

static void list(const pto_function_info *f)
{
    printf("@%s", f->name);
    for (uint32_t i = 0; i < f->input_count; i++) {
        printf(" %s: %s", f->inputs[i]->name, f->inputs[i]->type);
        for (uint32_t d = 0; d < f->inputs[i]->rank; d++) printf(" x %s", f->inputs[i]->dims[d]);
    }
    for (uint32_t i = 0; i < f->output_count; i++) printf(" -> %s", f->outputs[i]->name);
    printf("\n");
}

static DLTensor tensor_of(float *data, int64_t *shape)
{
    const DLTensor t = {.data = data,
                        .device = {kDLCPU, 0},
                        .ndim = 3,
                        .dtype = {.code = kDLFloat, .bits = 32, .lanes = 1},
                        .shape = shape};
    return t;
}

/* One call; the largest distance of the sum of a row from 1. */
static double call(pto_context *c, pto_callable *softmax, int64_t batch)
{
    int64_t shape[] = {batch, ROWS, COLUMNS};
    const size_t count = (size_t)batch * ROWS * COLUMNS;
    float *x = malloc(count * sizeof *x), *y = malloc(count * sizeof *y);
    if (x == NULL || y == NULL) exit(1);
    for (size_t i = 0; i < count; i++) x[i] = (float)(i % 101) * 0.1f;
    const DLTensor in = tensor_of(x, shape), out = tensor_of(y, shape);
    check(c, pto_callable_call(softmax, (const DLTensor *const[]){&in}, 1, (const DLTensor *const[]){&out}, 1));
    double worst = 0;
    for (size_t row = 0; row < count; row += COLUMNS) {
        double sum = 0;
        for (size_t i = 0; i < COLUMNS; i++) sum += y[row + i];
        worst = fmax(worst, fabs(sum - 1));
    }
    free(x);
    free(y);
    return worst;
}

int main(int argc, char **argv)
{
    pto_context *c = NULL;
    pto_pipeline *pipeline;
    pto_program *program;
    pto_callable *softmax;
    if (argc != 2) {
        fprintf(stderr, "usage: %s MODULE.ptir\n", argv[0]);
        return 2;
    }
    if (pto_context_create(NULL, &c) != PTO_RESULT_OK) return 1;
    check(c, pto_pipeline_read(c, "native.yaml", NULL, &pipeline));
    check(c, pto_compile_file(pipeline, argv[1], &program));
    list(pto_program_function(program, 0));
    check(c, pto_callable_create(program, NULL, &softmax));
    /* One compilation serves every batch. */
    const double worst = fmax(call(c, softmax, 2), call(c, softmax, 5));
    printf("rows sum to 1 within %s\n", worst < 1e-5 ? "1e-5" : "more than 1e-5");
    pto_context_destroy(c); /* with all that was made of it */
    return worst < 1e-5 ? 0 : 1;
}
