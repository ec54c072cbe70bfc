/* Calls whose outputs overlap inputs, which the functions declare: the same bits as with memory of their own. */
#include <pto/pto.h>

#include <stdio.h>
#include <string.h>

static const char text[] =
    "func @add(%x: tensor<$N x 64 x f32>, %z: tensor<$N x 64 x f32>) -> tensor<$N x 64 x f32> may_alias %x may_alias "
    "%z {\n"
    "  %y = tensor.add %x, %z : tensor<$N x 64 x f32>\n"
    "  return %y\n"
    "}\n"
    "func @softmax(%x: tensor<$N x 64 x f32>) -> tensor<$N x 64 x f32> may_alias %x {\n"
    "  %y = tensor.softmax %x {axis = 1} : tensor<$N x 64 x f32>\n"
    "  return %y\n"
    "}\n"
    "func @both(%x: tensor<$N x 64 x f32>) -> (tensor<$N x 64 x f32> may_alias %x, tensor<$N x 64 x f32>) {\n"
    "  %y = tensor.transpose %x {perm = [1, 0]} : tensor<64 x $N x f32>\n"
    "  %v = tensor.reshape %y : tensor<$N x 64 x f32>\n"
    "  return %v, %x\n"
    "}\n"
    "func @turn(%x: tensor<$N x 64 x f32>) -> tensor<$N x 64 x f32> may_alias %x {\n"
    "  %y = for %i to 3 carry(%a = %x) {\n"
    "    %b = tensor.flip %a {axis = [0]} : tensor<$N x 64 x f32>\n"
    "    yield %b\n"
    "  } : tensor<$N x 64 x f32>\n"
    "  return %y\n"
    "}\n"
    "func @update(inout %c: tensor<$N x 64 x f32>, %x: tensor<4 x 64 x f32> may_alias %c) -> (tensor<$N x 64 x f32> "
    "aliases %c, tensor<4 x 64 x f32>) where($N >= 8) {\n"
    "  %e = tensor.exp %x : tensor<4 x 64 x f32>\n"
    "  %y = tensor.assemble %e, %c[1, 0] : tensor<$N x 64 x f32>\n"
    "  %z = tensor.neg %x : tensor<4 x 64 x f32>\n"
    "  return %y, %z\n"
    "}\n"
    "func @not(%x: tensor<$N x 64 x f32>) -> tensor<$N x 64 x f32> {\n"
    "  %y = tensor.neg %x : tensor<$N x 64 x f32>\n"
    "  return %y\n"
    "}\n";

enum { ROWS = 33, COLUMNS = 64, COUNT = ROWS * COLUMNS };

static pto_context *c;
static int bad;

static void need(pto_result r, const char *what)
{
    if (r == PTO_RESULT_OK) return;
    printf("%s: %d\n%s", what, (int)r, pto_diagnostics_text(c));
    bad = 1;
}

static void fill(float *at, int count, int seed)
{
    for (int i = 0; i < count; i++) at[i] = (float)((i * 37 + seed * 11) % 101 - 50) / 16.0F;
}

static DLTensor rows(float *data, int64_t *shape)
{
    const DLTensor t = {.data = data, .device = {kDLCPU, 0}, .ndim = 2, .dtype = {kDLFloat, 32, 1}, .shape = shape};
    return t;
}

/* The first output at these distances from the input, in elements. */
static void check(pto_callable *f, const char *name, unsigned inputs, unsigned outputs)
{
    static const int shifts[] = {0, COLUMNS, -COLUMNS, 5, -3, COUNT / 2, COUNT};
    static float apart[4 * COUNT], other[COUNT], second[COUNT], memory[4 * COUNT], wanted[COUNT], more[COUNT];
    int64_t shape[] = {ROWS, COLUMNS};
    fill(other, COUNT, 2);
    for (unsigned k = 0; k < sizeof shifts / sizeof shifts[0]; k++) {
        float *x = memory + COUNT + COUNT / 2, *y = x + shifts[k];
        fill(memory, 4 * COUNT, 1);
        memcpy(apart, x, COUNT * sizeof *x);
        const DLTensor a = rows(apart, shape), b = rows(other, shape), w = rows(wanted, shape), m = rows(more, shape);
        const DLTensor in[] = {rows(x, shape)}, out[] = {rows(y, shape)}, s = rows(second, shape);
        const DLTensor *list[] = {&a, &b}, *to[] = {&w, &m};
        need(pto_callable_call(f, list, inputs, to, outputs), name);
        list[0] = &in[0], to[0] = &out[0], to[1] = &s;
        need(pto_callable_call(f, list, inputs, to, outputs), name);
        if (memcmp(y, wanted, sizeof wanted) != 0 || (outputs == 2 && memcmp(second, more, sizeof more) != 0)) {
            printf("%s: other bits at a distance of %d\n", name, shifts[k]);
            bad = 1;
        }
    }
}

/* What replaces rows of a cache is itself rows of it. */
static void check_update(pto_callable *f)
{
    static float cache[COUNT], apart[COUNT], x[4 * COLUMNS], z[4 * COLUMNS], wanted[4 * COLUMNS];
    int64_t shape[] = {ROWS, COLUMNS}, few[] = {4, COLUMNS};
    for (int row = 0; row < 8; row++) {
        fill(cache, COUNT, 3);
        fill(apart, COUNT, 3);
        memcpy(x, apart + (ptrdiff_t)row * COLUMNS, sizeof x);
        const DLTensor own = rows(apart, shape), from = rows(x, few), to = rows(wanted, few);
        const DLTensor same = rows(cache, shape), inside = rows(cache + (ptrdiff_t)row * COLUMNS, few);
        const DLTensor result = rows(z, few);
        const DLTensor *list[] = {&own, &from}, *out[] = {&to};
        need(pto_callable_call(f, list, 2, out, 1), "update");
        list[0] = &same, list[1] = &inside, out[0] = &result;
        need(pto_callable_call(f, list, 2, out, 1), "update");
        if (memcmp(cache, apart, sizeof cache) == 0 && memcmp(z, wanted, sizeof z) == 0) continue;
        printf("update: other bits from row %d\n", row);
        bad = 1;
    }
}

static pto_callable *open(pto_program *p, const char *name)
{
    pto_callable *f = NULL;
    need(pto_callable_create(p, name, &f), name);
    return f;
}

int main(int argc, char **argv)
{
    pto_pipeline *pipeline = NULL;
    pto_program *p = NULL;
    static float memory[2 * COUNT];
    int64_t shape[] = {ROWS, COLUMNS};
    need(pto_context_create(NULL, &c), "context");
    need(pto_pipeline_read(c, argc > 1 ? argv[1] : "native.yaml", NULL, &pipeline), "pipeline");
    need(pto_compile_text(pipeline, text, sizeof text - 1, "mine.ptir", &p), "text");
    if (bad) return 1;
    check(open(p, "add"), "add", 2, 1);
    check(open(p, "softmax"), "softmax", 1, 1);
    check(open(p, "both"), "both", 1, 2);
    check(open(p, "turn"), "turn", 1, 1);
    check_update(open(p, "update"));
    const DLTensor x = rows(memory, shape), y = rows(memory + 8, shape);
    const DLTensor *in[] = {&x}, *out[] = {&y};
    const pto_result r = pto_callable_call(open(p, "not"), in, 1, out, 1);
    printf("not declared: %d\n%s", (int)r, pto_diagnostics_text(c));
    pto_context_destroy(c);
    return bad;
}
