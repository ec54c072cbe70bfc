/* Everything that a program can do wrong, one line or more each: what failed, the result, the diagnostics. */
#include <pto/pto.h>

#include <stdio.h>
#include <string.h>

static pto_context *c;

static void say(const char *what, pto_result r) { printf("%s: %d\n%s", what, (int)r, pto_diagnostics_text(c)); }

/* A text in the way in which functions take one. */
#define TEXT(t) (t), strlen(t)

static const char text[] =
    "func @scale(%x: tensor<$N x f32>, const %w: tensor<4 x f32>, %y: tensor<$N x f32>) -> tensor<$N x f32> {\n"
    "  %z = tensor.add %x, %y : tensor<$N x f32>\n"
    "  return %z\n"
    "}\n"
    "func @other(%a: tensor<4 x f32>) -> tensor<4 x f32> {\n"
    "  %b = tensor.neg %a : tensor<4 x f32>\n"
    "  return %b\n"
    "}\n";

/* Its weights are packed once, by @packed.init. */
static const char packed[] = "func @packed.init(const %w: tensor<$K x f32>) -> tensor<$K x f32> {\n"
                             "  %p = tensor.neg %w : tensor<$K x f32>\n"
                             "  return %p\n"
                             "}\n"
                             "func @packed(%x: tensor<4 x f32>, const %p: tensor<4 x f32>) -> tensor<4 x f32> {\n"
                             "  %y = tensor.add %x, %p : tensor<4 x f32>\n"
                             "  return %y\n"
                             "}\n";
/* A number that a pass of the pipeline picks, and none does. */
static const char tuned[] = "func @tuned(%x: tensor<64 x f32>) -> tensor<64 x f32> {\n"
                            "  tune $T in [8, 64] step 8\n"
                            "  %y = tensor.neg %x : tensor<64 x f32>\n"
                            "  return %y\n"
                            "}\n";

static DLTensor vector_of(float *data, int64_t *n)
{
    const DLTensor t = {.data = data, .device = {kDLCPU, 0}, .ndim = 1, .dtype = {kDLFloat, 32, 1}, .shape = n};
    return t;
}

static void call(const char *what, pto_callable *f, const DLTensor *x, const DLTensor *y, const DLTensor *z)
{
    const DLTensor *in[] = {x, y}, *out[] = {z};
    say(what, pto_callable_call(f, in, 2, out, 1));
}

static void wrong_tensors(pto_callable *f)
{
    float memory[32] = {0};
    int64_t four = 4, three = 3, negative = -1, six = 6, huge[] = {INT64_MAX, 4}, strides = 2;
    const DLTensor x = vector_of(memory, &four), y = vector_of(memory + 8, &four), z = vector_of(memory + 16, &four);
    DLTensor t = x;
    call("fine", f, &x, &y, &z);
    call("no tensor", f, &x, NULL, &z);
    t.device.device_type = 2;
    call("on a device", f, &t, &y, &z);
    t = x;
    t.dtype.lanes = 4;
    call("lanes", f, &t, &y, &z);
    t = x;
    t.dtype.bits = 64;
    call("f64", f, &t, &y, &z);
    t = x;
    t.dtype.code = kDLInt;
    call("i32", f, &t, &y, &z);
    t = x;
    t.ndim = 9;
    call("rank 9", f, &t, &y, &z);
    t = x;
    t.shape = NULL;
    call("no shape", f, &t, &y, &z);
    t = x;
    t.shape = &negative;
    call("negative", f, &t, &y, &z);
    t = x;
    t.ndim = 2;
    t.shape = huge;
    call("too many", f, &t, &y, &z);
    t.ndim = 0;
    call("rank 0", f, &t, &y, &z);
    t = x;
    t.strides = &strides;
    call("strided", f, &t, &y, &z);
    t = x;
    t.data = NULL;
    call("no data", f, &t, &y, &z);
    t = x;
    t.byte_offset = 2;
    call("unaligned", f, &t, &y, &z);
    t = vector_of(memory, &three);
    call("contradiction", f, &t, &y, &z);
    call("short output", f, &x, &y, &t);
    t = z;
    t.dtype.code = kDLUInt;
    call("type of output", f, &x, &y, &t);
    t = z;
    t.ndim = 0;
    call("rank of output", f, &x, &y, &t);
    t = z;
    t.data = memory + 2;
    call("overlap", f, &x, &y, &t);
    t = vector_of(memory, &six);
    const DLTensor u = vector_of(memory + 8, &six), v = vector_of(memory + 16, &six);
    call("other extents", f, &t, &u, &v);
    const DLTensor *in[] = {&x, &y}, *out[] = {&z};
    say("too few inputs", pto_callable_call(f, in, 1, out, 1));
    say("too many outputs", pto_callable_call(f, in, 2, out, 2));
    say("no list", pto_callable_call(f, NULL, 2, out, 1));
    uint32_t rank = 0;
    say("no extents", pto_callable_shapes(f, in, 2, &rank, NULL, 1));
}

static void wrong_callables(pto_program *p)
{
    pto_callable *f = NULL;
    float memory[16] = {0};
    int64_t four = 4;
    const DLTensor x = vector_of(memory, &four), y = vector_of(memory + 4, &four), z = vector_of(memory + 8, &four);
    say("which function", pto_callable_create(p, NULL, &f));
    say("no function", pto_callable_create(p, "add", &f));
    say("no place", pto_callable_create(p, "scale", NULL));
    say("scale", pto_callable_create(p, "scale", &f));
    call("no constant", f, &x, &y, &z);
    say("unknown constant", pto_callable_set_constant(f, "x", &x));
    say("no name", pto_callable_set_constant(f, NULL, &x));
    say("unknown symbol", pto_callable_set_symbol(f, "M", 4));
    say("negative symbol", pto_callable_set_symbol(f, "N", -4));
    say("constant", pto_callable_set_constant(f, "w", &x));
    say("symbol", pto_callable_set_symbol(f, "N", 5));
    call("against the symbol", f, &x, &y, &z);
    say("symbol", pto_callable_set_symbol(f, "N", 4));
    wrong_tensors(f);
    pto_callable_destroy(f);
}

static void wrong_weights(pto_pipeline *pipeline)
{
    pto_program *p = NULL;
    pto_callable *f = NULL;
    float memory[16] = {0};
    int64_t four = 4, square[] = {2, 2};
    const DLTensor x = vector_of(memory, &four), z = vector_of(memory + 4, &four);
    const DLTensor *in[] = {&x}, *out[] = {&z};
    DLTensor w = vector_of(memory + 8, square);
    w.ndim = 2;
    say("packed weights", pto_compile_text(pipeline, TEXT(packed), "mine.ptir", &p));
    say("packed", pto_callable_create(p, NULL, &f));
    say("weights", pto_callable_set_constant(f, "w", &w));
    say("rank of weights", pto_callable_call(f, in, 1, out, 1));
    w = vector_of(memory + 8, &four);
    w.dtype.code = kDLInt;
    say("weights", pto_callable_set_constant(f, "w", &w));
    say("type of weights", pto_callable_call(f, in, 1, out, 1));
    w.dtype.code = kDLFloat;
    say("weights", pto_callable_set_constant(f, "w", &w));
    say("symbol", pto_callable_set_symbol(f, "K", 3));
    say("symbol of weights", pto_callable_call(f, in, 1, out, 1));
    say("symbol", pto_callable_set_symbol(f, "K", 4));
    say("right weights", pto_callable_call(f, in, 1, out, 1));
    say("a pipeline that tunes nothing", pto_pipeline_read(c, "reference.yaml", NULL, &pipeline));
    say("tuned", pto_compile_text(pipeline, TEXT(tuned), "mine.ptir", &p));
    say("its callable", pto_callable_create(p, NULL, &f));
}

/* What is NULL and must not be. */
static void no_handles(void)
{
    pto_program *program = NULL;
    pto_callable *f = NULL;
    uint32_t rank = 0;
    int64_t extents[1][8];
    pto_context_destroy(NULL);
    pto_program_destroy(NULL);
    pto_callable_destroy(NULL);
    if (pto_diagnostic_count(NULL) != 0 || pto_diagnostic_at(NULL, 0) != NULL || pto_diagnostics_text(NULL)[0] != 0 ||
        pto_program_text(NULL)[0] != 0 || pto_program_function(NULL, 0) != NULL)
        puts("there is something of nothing");
    say("no place for a context", pto_context_create(NULL, NULL));
    say("no pipeline", pto_compile_text(NULL, TEXT(text), "mine.ptir", &program));
    say("no pipeline", pto_compile_file(NULL, "mine.ptir", &program));
    say("no program", pto_callable_create(NULL, "f", &f));
    say("no callable", pto_callable_set_constant(NULL, "w", NULL));
    say("no callable", pto_callable_set_symbol(NULL, "N", 4));
    say("no callable", pto_callable_shapes(NULL, NULL, 0, &rank, extents, 1));
    say("no callable", pto_callable_call(NULL, NULL, 0, NULL, 0));
}

int main(int argc, char **argv)
{
    pto_pipeline *pipeline = NULL, *bare = NULL;
    pto_program *program = NULL;
    const char *const missing[] = {"missing.so", NULL}, *const settings[] = {"nothing.x=1", NULL};
    pto_context_params wrong = {.struct_size = sizeof wrong, .plugins = missing};
    pto_pipeline_params params = {.struct_size = sizeof params, .settings = settings};
    (void)argc;
    say("a missing plugin", pto_context_create(&wrong, &c));
    say("a context that is none", pto_pipeline_read(c, "reference.yaml", NULL, &pipeline));
    pto_context_destroy(c);
    c = NULL;
    no_handles();
    say("no context", pto_pipeline_read(NULL, "reference.yaml", NULL, &pipeline));
    say("a context", pto_context_create(NULL, &c));
    say("no path", pto_pipeline_read(c, NULL, NULL, &pipeline));
    say("no place for a pipeline", pto_pipeline_read(c, argv[1], NULL, NULL));
    say("no pipeline", pto_pipeline_read(c, "missing.yaml", NULL, &pipeline));
    say("a wrong pipeline",
        pto_pipeline_read_text(c, TEXT("pto-pipeline: 1\npasses: [pto.missing]\n"), "mine.yaml", NULL, &pipeline));
    say("a wrong setting", pto_pipeline_read(c, "reference.yaml", &params, &pipeline));
    const char *const backend[] = {"backend.use=pto.nowhere", NULL};
    params.settings = backend;
    say("a wrong backend", pto_pipeline_read(c, "reference.yaml", &params, &pipeline));
    say("a pipeline", pto_pipeline_read(c, argv[1], NULL, &pipeline));
    say("wrong text", pto_compile_text(pipeline, TEXT("func @f("), "mine.ptir", &program));
    say("a wrong module",
        pto_compile_text(pipeline, TEXT("func @f(%x: tensor<4 x f32>) -> tensor<4 x f32> {\n  return\n}\n"),
                         "mine.ptir", &program));
    say("an empty text", pto_compile_text(pipeline, TEXT(""), "mine.ptir", &program));
    say("no place for a program", pto_compile_text(pipeline, TEXT(text), "mine.ptir", NULL));
    say("no module", pto_compile_file(pipeline, "missing.ptir", &program));
    say("no text", pto_compile_text(pipeline, NULL, 8, "mine.ptir", &program));
    say("a pipeline without backend",
        pto_pipeline_read_text(c, TEXT("pto-pipeline: 1\npasses: [pto.canonicalize]\n"), "mine.yaml", NULL, &bare));
    say("its program", pto_compile_text(bare, TEXT(text), "mine.ptir", &program));
    pto_callable *none = NULL;
    say("its callable", pto_callable_create(program, "other", &none));
    say("a program", pto_compile_text(pipeline, TEXT(text), "mine.ptir", &program));
    wrong_callables(program);
    wrong_weights(pipeline);
    const pto_diagnostic *d = pto_compile_file(pipeline, "missing.ptir", &program) ? pto_diagnostic_at(c, 0) : NULL;
    if (d != NULL && pto_diagnostic_at(c, 1) == NULL)
        printf("as a value: %d %s:%u:%u %s %s %s\n", (int)d->severity, d->file, d->line, d->column, d->code, d->text,
               d->path != NULL ? d->path : "-");
    pto_context_destroy(c);
    return 0;
}
