/* libpto in one program: what sanitizers should see. Scripts of tests/library/ read its messages. */
#include "tests/unit/unit.h"

#include <pto/pto.h>

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { COUNT = 6 };

/* Constants that @f.init computes, a result that is the memory of a parameter, and one that is not. */
static const char module_text[] =
    "func @f.init(const %w: tensor<3 x f32>) -> tensor<3 x f32> {\n"
    "  %v = tensor.neg %w : tensor<3 x f32>\n"
    "  return %v\n"
    "}\n"
    "func @f(%x: tensor<$N x 3 x f32>, const %v: tensor<3 x f32>, inout %z: tensor<$N x 3 x f32>) -> "
    "(tensor<$N x 3 x f32>, tensor<$N x 3 x f32> aliases %z) {\n"
    "  %y = tensor.add %x, %v : tensor<$N x 3 x f32>\n"
    "  %s = tensor.add %y, %z : tensor<$N x 3 x f32>\n"
    "  return %y, %s\n"
    "}\n";

/* The build tree, three folders above this program's. */
static pto_context *open_context(void)
{
    static const char *const none[] = {NULL};
    char prefix[PATH_MAX];
    const ssize_t n = readlink("/proc/self/exe", prefix, sizeof prefix - 1);
    assert_true(n > 0);
    prefix[n] = '\0';
    for (int up = 0; up < 3; up++) *strrchr(prefix, '/') = '\0';
    const pto_context_params params = {.struct_size = sizeof params, .prefix = prefix, .plugins = none};
    pto_context *c = NULL;
    assert_int_equal(pto_context_create(&params, &c), PTO_RESULT_OK);
    return c;
}

static pto_program *compile(pto_context *c, const char *text)
{
    pto_pipeline *p = NULL;
    pto_program *made = NULL;
    assert_int_equal(pto_pipeline_read(c, "reference.yaml", NULL, &p), PTO_RESULT_OK);
    if (pto_compile_text(p, text, strlen(text), "unit.ptir", &made) != PTO_RESULT_OK)
        fail_msg("%s", pto_diagnostics_text(c));
    return made;
}

static DLTensor tensor_of(float *data, int rank, int64_t *shape)
{
    return (DLTensor){.data = data, .device = {kDLCPU, 0}, .ndim = rank, .dtype = {kDLFloat, 32, 1}, .shape = shape};
}

TEST(a_function_says_what_it_takes)
{
    pto_context *c = open_context();
    pto_program *p = compile(c, module_text);
    const pto_function_info *f = pto_program_function(p, 0);
    assert_null(pto_program_function(p, 1));
    assert_string_equal(f->name, "f");
    assert_int_equal(f->input_count, 2);
    assert_string_equal(f->inputs[0]->name, "x");
    assert_int_equal(f->inputs[0]->role, PTO_ROLE_IN);
    assert_string_equal(f->inputs[1]->name, "z");
    assert_int_equal(f->inputs[1]->role, PTO_ROLE_INOUT);
    assert_int_equal(f->inputs[1]->rank, 2);
    assert_int_equal(f->inputs[1]->extents[0], -1);
    assert_int_equal(f->inputs[1]->extents[1], 3);
    assert_string_equal(f->inputs[1]->dims[0], "$N");
    assert_string_equal(f->inputs[1]->dims[1], "3");
    assert_string_equal(f->inputs[1]->type, "f32");
    assert_int_equal(f->inputs[1]->dtype.code, kDLFloat);
    assert_int_equal(f->inputs[1]->dtype.bits, 32);
    /* What @f.init makes of `w` is not the caller's. */
    assert_int_equal(f->constant_count, 1);
    assert_string_equal(f->constants[0]->name, "w");
    assert_int_equal(f->output_count, 1);
    assert_string_equal(f->outputs[0]->name, "y");
    assert_int_equal(f->symbol_count, 1);
    assert_string_equal(f->symbols[0], "N");
    pto_context_destroy(c);
}

TEST(calls_follow_shapes_and_constants)
{
    pto_context *c = open_context();
    pto_program *p = compile(c, module_text);
    pto_callable *f = NULL;
    float x[COUNT] = {1, 2, 3, 4, 5, 6}, w[3] = {10, 20, 30}, v[3] = {0, 0, 1}, y[COUNT], z[COUNT] = {0};
    int64_t two[] = {2, 3}, one[] = {1, 3}, three[] = {3};
    DLTensor tx = tensor_of(x, 2, two), tz = tensor_of(z, 2, two), ty = tensor_of(y, 2, two);
    const DLTensor tw = tensor_of(w, 1, three), tv = tensor_of(v, 1, three);
    const DLTensor *const inputs[] = {&tx, &tz}, *const outputs[] = {&ty};
    assert_int_equal(pto_callable_create(p, NULL, &f), PTO_RESULT_OK);
    assert_int_equal(pto_callable_set_constant(f, "w", &tw), PTO_RESULT_OK);
    for (int i = 0; i < 3; i++) assert_int_equal(pto_callable_call(f, inputs, 2, outputs, 1), PTO_RESULT_OK);
    const float y_wanted[] = {-9, -18, -27, -6, -15, -24};
    for (int i = 0; i < COUNT; i++) assert_true(y[i] == y_wanted[i] && z[i] == 3 * y_wanted[i]);

    tx.shape = tz.shape = ty.shape = one;
    uint32_t rank = 0;
    int64_t extents[1][8];
    assert_int_equal(pto_callable_set_constant(f, "w", &tv), PTO_RESULT_OK);
    assert_int_equal(pto_callable_shapes(f, inputs, 2, &rank, extents, 1), PTO_RESULT_OK);
    assert_true(rank == 2 && extents[0][0] == 1 && extents[0][1] == 3);
    assert_int_equal(pto_callable_call(f, inputs, 2, outputs, 1), PTO_RESULT_OK);
    assert_true(y[0] == 1 && y[1] == 2 && y[2] == 2 && y[3] == -6);

    /* A call that fails does not spoil the next one. */
    ty.shape = two;
    assert_int_equal(pto_callable_call(f, inputs, 2, outputs, 1), PTO_RESULT_INPUT);
    assert_int_equal(pto_diagnostic_count(c), 1);
    assert_string_equal(pto_diagnostic_at(c, 0)->code, "E1602");
    ty.shape = one;
    assert_int_equal(pto_callable_call(f, inputs, 2, outputs, 1), PTO_RESULT_OK);
    assert_int_equal(pto_diagnostic_count(c), 0);
    pto_callable_destroy(f);
    pto_program_destroy(p);
    pto_context_destroy(c);
}

TEST(a_context_goes_on_after_many_errors)
{
    enum { MANY = 3000 };
    pto_context *c = open_context();
    pto_pipeline *p = NULL;
    pto_program *made = NULL;
    assert_int_equal(pto_pipeline_read(c, "reference.yaml", NULL, &p), PTO_RESULT_OK);
    for (int i = 0; i < MANY; i++) {
        assert_int_equal(pto_compile_text(p, "func", 4, "unit.ptir", &made), PTO_RESULT_INPUT);
        assert_int_equal(pto_diagnostic_count(c), 1);
        assert_string_equal(pto_diagnostics_text(c),
                            "unit.ptir:1:5: error: [E0105] expected `@` and a name but found the end of the text\n");
    }
    assert_int_equal(pto_compile_text(p, module_text, strlen(module_text), "unit.ptir", &made), PTO_RESULT_OK);
    pto_context_destroy(c);
}

/* TRUE: all calls had the result that they should. */
static void *use_a_context(void *unused)
{
    (void)unused;
    pto_context *c = open_context();
    float x[COUNT] = {1, 2, 3, 4, 5, 6}, w[3] = {0}, y[COUNT], z[COUNT] = {0};
    int64_t two[] = {2, 3}, three[] = {3};
    const DLTensor tx = tensor_of(x, 2, two), tz = tensor_of(z, 2, two), ty = tensor_of(y, 2, two),
                   tw = tensor_of(w, 1, three);
    const DLTensor *const inputs[] = {&tx, &tz}, *const outputs[] = {&ty};
    for (int round = 0; round < 3; round++) {
        pto_callable *f = NULL, *g = NULL;
        pto_program *p = compile(c, module_text), *q = compile(c, module_text);
        assert_int_equal(pto_callable_create(p, "f", &f), PTO_RESULT_OK);
        assert_int_equal(pto_callable_create(q, "f", &g), PTO_RESULT_OK);
        assert_int_equal(pto_callable_set_constant(f, "w", &tw), PTO_RESULT_OK);
        assert_int_equal(pto_callable_set_constant(g, "w", &tw), PTO_RESULT_OK);
        assert_int_equal(pto_callable_call(f, inputs, 2, outputs, 1), PTO_RESULT_OK);
        assert_int_equal(pto_callable_call(g, inputs, 2, outputs, 1), PTO_RESULT_OK);
        if (round == 0) pto_program_destroy(p);
        assert_int_equal(pto_callable_call(g, inputs, 2, outputs, 1), PTO_RESULT_OK);
    }
    pto_context_destroy(c);
    return NULL;
}

TEST(contexts_of_several_threads_know_nothing_of_each_other)
{
    enum { THREADS = 3 };
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&threads[i], NULL, use_a_context, NULL), 0);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
}
