/* slow_compiler PIPELINE COMPILER STARTED GO: while the compiler of one thread's context goes on, which writes the file
 * STARTED and then waits for GO, another context makes a callable that the cache has, sets a constant and calls. GO is
 * written after that. */
#include <pto/pto.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char known[] = "func @f.init(const %w: tensor<3 x f32>) -> tensor<3 x f32> {\n"
                            "  %v = tensor.neg %w : tensor<3 x f32>\n"
                            "  return %v\n"
                            "}\n"
                            "func @f(%x: tensor<3 x f32>, const %v: tensor<3 x f32>) -> tensor<3 x f32> {\n"
                            "  %y = tensor.add %x, %v : tensor<3 x f32>\n"
                            "  return %y\n"
                            "}\n";
static const char unknown[] = "func @g(%x: tensor<3 x f32>) -> tensor<3 x f32> {\n"
                              "  %y = tensor.abs %x : tensor<3 x f32>\n"
                              "  return %y\n"
                              "}\n";

static const char *pipeline, *compiler;
static atomic_int has_ended;

static void *compile_slowly(void *result)
{
    char settings[4096];
    pto_context *c;
    pto_pipeline *p;
    pto_program *program;
    pto_callable *g;
    snprintf(settings, sizeof settings, "backend.with.compiler=%s", compiler);
    const char *const list[] = {settings, "backend.with.compile-seconds=30", NULL};
    const pto_pipeline_params params = {.struct_size = sizeof params, .settings = list};
    const int failed = pto_context_create(NULL, &c) || pto_pipeline_read(c, pipeline, &params, &p) ||
                       pto_compile_text(p, unknown, sizeof unknown - 1, "g.ptir", &program) ||
                       pto_callable_create(program, "g", &g);
    has_ended = 1;
    if (failed) fprintf(stderr, "slow: %s", pto_diagnostics_text(c));
    pto_context_destroy(c);
    *(int *)result = failed;
    return NULL;
}

static int call(pto_context *c, pto_callable *f, float w)
{
    float x[] = {1, 2, 3}, y[3], weights[] = {w, w, w};
    int64_t shape[] = {3};
    const DLTensor in = {.data = x, .device = {kDLCPU, 0}, .ndim = 1, .dtype = {kDLFloat, 32, 1}, .shape = shape};
    DLTensor out = in, constant = in;
    out.data = y;
    constant.data = weights;
    const DLTensor *inputs[] = {&in}, *outputs[] = {&out};
    if (pto_callable_set_constant(f, "w", &constant) || pto_callable_call(f, inputs, 1, outputs, 1))
        return !!fprintf(stderr, "call: %s", pto_diagnostics_text(c));
    return y[0] != 1 - w || y[2] != 3 - w;
}

int main(int argc, char **argv)
{
    const struct timespec moment = {.tv_nsec = 1000000};
    pthread_t thread;
    pto_context *c;
    pto_pipeline *p;
    pto_program *program;
    pto_callable *f, *again;
    int slow = 0;
    if (argc != 5) return 2;
    pipeline = argv[1];
    compiler = argv[2];
    if (pto_context_create(NULL, &c) || pto_pipeline_read(c, pipeline, NULL, &p) ||
        pto_compile_text(p, known, sizeof known - 1, "f.ptir", &program) || pto_callable_create(program, "f", &f))
        return !!fprintf(stderr, "%s", pto_diagnostics_text(c));
    int failed = call(c, f, 1);
    pthread_create(&thread, NULL, compile_slowly, &slow);
    while (access(argv[3], F_OK) != 0 && !has_ended) nanosleep(&moment, NULL);
    failed |= call(c, f, 2) || pto_callable_create(program, "f", &again) || call(c, again, 3);
    puts(has_ended ? "after the compiler" : "while it compiles");
    FILE *go = fopen(argv[4], "w");
    failed |= go == NULL || fclose(go) != 0;
    pthread_join(thread, NULL);
    pto_context_destroy(c);
    return failed || slow;
}
