/* pto.native: compiles the C that a code generator writes with the C compiler of this host, loads it and runs it on the
 * threads of this host. */
#include "debug_values.h"
#include "native_arena.h"
#include "native_cache.h"
#include "native_headers.h"
#include "native_load.h"
#include "native_pool.h"

#include <pto/native.h>
#include <pto/plugin.h>
#include <pto/profile.h>

#include <dlfcn.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#define OPTIONS(X)                                                                                                  \
    X(GENERATOR, PLUGIN, "generator", .def = "pto.emit-c", .choices = PTO_STRS("generator"),                        \
      .doc = "what writes the C", .example = "with: { generator: pto.emit-c }")                                     \
    X(COMPILER, STR, "compiler", .def = "",                                                                         \
      .doc = "the C compiler, a path or a name that is sought in PATH, that takes options as gcc does; empty: the " \
             "first of gcc, clang and cc that is there",                                                            \
      .example = "with: { compiler: gcc-12 }")                                                                      \
    X(THREADS, I64, "threads", .def = "0", .min = "0", .max = "256",                                                \
      .doc = "threads that run instances; 0: as many as this process may use. Results do not depend on it",         \
      .example = "with: { threads: 1 }")                                                                            \
    X(CACHE, BOOL, "cache", .def = "true",                                                                          \
      .doc = "keep what was compiled in the cache of the user, `pto/native-1`, and take it from there",             \
      .example = "with: { cache: false }")                                                                          \
    X(CACHE_BYTES, BYTES, "cache-bytes", .def = "256MiB", .min = "1MiB",                                            \
      .doc = "bound for the cache; the oldest files go", .example = "with: { cache-bytes: 64MiB }")                 \
    X(SECONDS, I64, "compile-seconds", .def = "300", .min = "1", .doc = "time that the compiler has", .unit = "s",  \
      .example = "with: { compile-seconds: 60 }")
PTO_OPTIONS(OPTIONS);

/* What lives from prepare to release. */
typedef struct executable {
    native_loaded loaded;
    const pto_native_module *module;
    const pto_native_function *function;
    native_pool *pool;
    native_arena arena;
} executable;

/* ---- the text ---- */

typedef struct written {
    const pto_run *run;
    char *text;
    size_t bytes, capacity;
} written;

static pto_status put(void *self, const char *p, size_t n)
{
    written *w = self;
    if (w->capacity - w->bytes < n) {
        const size_t capacity = 2 * (w->bytes + n);
        char *bigger = PTO_SCRATCH(w->run, char, capacity);
        if (w->bytes != 0) memcpy(bigger, w->text, w->bytes);
        w->text = bigger;
        w->capacity = capacity;
    }
    memcpy(w->text + w->bytes, p, n);
    w->bytes += n;
    return PTO_OK;
}

/* ---- the compiler ---- */

/* Bytes of a vector of generated code: those of a register of the machine. */
static int64_t vector_bytes(const pto_run *run)
{
    const int64_t n = pto_machine_i64_or(run, 32, "vector.repeat-bytes");
    return n >= 64 ? 64 : n >= 32 ? 32 : 16;
}

#if defined(__x86_64__)
/* Registers that the system saves, as bits of XCR0; 0: it does not say. */
static unsigned saved_registers(void)
{
    unsigned a, b, c, d, low, high;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE)) return 0;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}
#endif

/* The instructions that this CPU has, as options of the compiler. */
static uint32_t isa_options(const char **out)
{
    uint32_t n = 0;
#if defined(__x86_64__)
    enum { AVX_STATE = 6, AVX512_STATE = 0xe6 };
    const unsigned saved = saved_registers(), wide = bit_AVX512F | bit_AVX512BW | bit_AVX512VL | bit_AVX512DQ;
    unsigned a, b = 0, c, d, first = 0;
    if ((saved & AVX_STATE) != AVX_STATE || !__get_cpuid(1, &a, &b, &first, &d)) return 0;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return 0;
    if (!(first & bit_FMA) || !(first & bit_F16C) || !(b & bit_AVX2)) return 0;
    for (const char *const *o = PTO_STRS("-mavx2", "-mfma", "-mf16c"); *o != NULL; o++) out[n++] = *o;
    if ((saved & AVX512_STATE) != AVX512_STATE || (b & wide) != wide) return n;
    for (const char *const *o = PTO_STRS("-mavx512f", "-mavx512bw", "-mavx512vl", "-mavx512dq"); *o != NULL; o++)
        out[n++] = *o;
#else
    (void)out;
#endif
    return n;
}

static pto_status refuse(pto_op function, native_status s, const native_error *e)
{
    switch (s) {
    case NATIVE_NO_COMPILER: (void)pto_error(function, "pto.native/no-compiler", "%s", e->text); return PTO_MISSING;
    case NATIVE_COMPILER_FAILED:
    case NATIVE_COMPILER_SLOW: return pto_error(function, "pto.native/compiler", "%s", e->text);
    case NATIVE_STOPPED: return PTO_FAILED;
    case NATIVE_NO_FOLDER: return pto_error(function, "pto.native/cannot-write", "%s", e->text);
    case NATIVE_NO_THREAD:
    case NATIVE_NO_MEMORY: return pto_error(function, "pto.native/fault", "%s", e->text);
    default: return pto_error(function, "pto.native/load", "%s", e->text);
    }
}

static bool is_stopped(void *self) { return pto_should_stop(self) != 0; }

static native_status load_text(const pto_run *run, const written *text, native_loaded *loaded, native_error *e)
{
    static const char *const fixed[] = {"-std=gnu17", "-O2", "-ffp-contract=off", "-fno-math-errno", "-fPIC",
                                        "-shared",    "-w"};
    const pto_str wanted = pto_opt_str(run, OPT_COMPILER);
    const char *flags[32], *const libraries[] = {"-lm", NULL};
    char width[64];
    native_file *files = PTO_SCRATCH(run, native_file, native_header_count);
    native_compiler *compiler = PTO_SCRATCH(run, native_compiler, 1);
    uint32_t n = 0;
    const native_status found = native_compiler_find(wanted.n != 0 ? wanted.p : NULL, compiler, e);
    if (found != NATIVE_OK) return found;
    for (; n < sizeof fixed / sizeof fixed[0]; n++) flags[n] = fixed[n];
    n += isa_options(&flags[n]);
    (void)snprintf(width, sizeof width, "-DPTO_VECTOR_BYTES=%lld", (long long)vector_bytes(run));
    flags[n++] = width;
    flags[n] = NULL;
    for (uint32_t i = 0; i < native_header_count; i++)
        files[i] = (native_file){native_headers[i].name, native_headers[i].begin,
                                 (size_t)(native_headers[i].end - native_headers[i].begin)};
    const native_request q = {.text = text->text,
                              .text_bytes = text->bytes,
                              .flags = flags,
                              .libraries = libraries,
                              .files = files,
                              .file_count = native_header_count,
                              .seconds_max = (double)pto_opt_i64(run, OPT_SECONDS),
                              .stop = is_stopped,
                              .self = (void *)(uintptr_t)run,
                              .cache_bytes_max = (uint64_t)pto_opt_i64(run, OPT_CACHE_BYTES),
                              .uses_cache = pto_opt_bool(run, OPT_CACHE) != 0};
    return native_load(compiler, &q, loaded, e);
}

/* ---- preparing ---- */

static pto_status find_function(pto_op function, executable *x)
{
    const pto_str name = pto_function_name(function);
    x->module = dlsym(x->loaded.library, "pto_native_module_v1");
    for (uint32_t i = 0; x->module != NULL && i < x->module->function_count; i++)
        if (pto_str_is(name, x->module->functions[i]->name)) x->function = x->module->functions[i];
    if (x->function != NULL) return PTO_OK;
    return pto_error(function, "pto.native/load", "what the generator wrote has no function @%.*s", PTO_FMT(name));
}

static void end(executable *x)
{
    native_pool_end(x->pool);
    native_arena_end(&x->arena);
    if (x->loaded.library != NULL) dlclose(x->loaded.library);
    *x = (executable){.pool = NULL};
}

static native_status begin_threads(const pto_run *run, executable *x, native_error *e)
{
    native_thread_plan *plan = PTO_SCRATCH(run, native_thread_plan, 1);
    const native_status s = native_threads_plan((uint32_t)pto_opt_i64(run, OPT_THREADS), plan, e);
    x->arena = native_arena_begin(UINT64_C(1) << 40);
    return s == NATIVE_OK ? native_pool_begin(plan, NATIVE_POOL_SPIN_NS, &x->pool, e) : s;
}

static pto_status prepare(const pto_run *run, pto_op function, void **exe)
{
    executable *x = pto_keep(run, sizeof *x);
    native_error *e = PTO_SCRATCH(run, native_error, 1);
    written text = {.run = run};
    const pto_text_sink sink = {.struct_size = sizeof sink, .self = &text, .write = put};
    PTO_TRY(pto_generate(run, OPT_GENERATOR, &sink));
    const native_status loaded = load_text(run, &text, &x->loaded, e);
    if (loaded != NATIVE_OK) return refuse(function, loaded, e);
    if (x->loaded.warning.text[0] != 0) pto_warning(function, "pto.native/cache", "%s", x->loaded.warning.text);
    const native_status begun = begin_threads(run, x, e);
    const pto_status s = begun == NATIVE_OK ? find_function(function, x) : refuse(function, begun, e);
    if (s != PTO_OK) end(x);
    *exe = x;
    return s;
}

static void release(const pto_run *run, void *exe)
{
    (void)run;
    end(exe);
}

/* ---- a call ---- */

/* Of each thread: its scratch memory, and the first of its instances that failed. */
typedef struct worker {
    char *scratch;
    int64_t instance;
    int32_t fault;
} __attribute__((aligned(64))) worker;

typedef struct state {
    const pto_run *run;
    const pto_call *call;
    executable *x;
    pto_native_kernel kernel;
    const void *frame;
    worker *workers;
    size_t scratch_bytes;
    int64_t instances;
} state;

static void *allocate(void *self, size_t bytes)
{
    const state *s = self;
    void *memory = NULL;
    return native_arena_take(&s->x->arena, bytes, &memory, NULL) == NATIVE_OK ? memory : NULL;
}

static uint64_t mark(void *self)
{
    const state *s = self;
    return native_arena_mark(&s->x->arena);
}

static void release_to(void *self, uint64_t to)
{
    const state *s = self;
    native_arena_release(&s->x->arena, to);
}

static void work(void *self, int64_t from, int64_t to, uint32_t thread)
{
    const state *s = self;
    worker *w = &s->workers[thread];
    for (int64_t i = from; i < to; i++) {
        if (w->fault != 0 && i > w->instance) continue;
        const int32_t fault = s->kernel(s->frame, i, w->scratch);
        if (fault == 0) continue;
        w->fault = fault;
        w->instance = i;
    }
}

static int32_t first_fault(state *s, uint32_t threads)
{
    const worker *first = NULL;
    for (uint32_t i = 0; i < threads; i++) {
        const worker *w = &s->workers[i];
        if (w->fault != 0 && (first == NULL || w->instance < first->instance)) first = w;
    }
    return first != NULL ? first->fault : 0;
}

static int32_t launch(void *self, pto_native_kernel kernel, const void *frame, int64_t instances, size_t scratch_bytes)
{
    state *s = self;
    const uint32_t threads = native_pool_threads(s->x->pool);
    if (instances < 0) {
        (void)pto_error(s->call->function, "pto.native/arguments",
                        "a grid has a negative extent; it has 0 or more instances");
        return -2;
    }
    if (pto_should_stop(s->run)) return -2;
    const uint64_t before = native_arena_mark(&s->x->arena);
    for (uint32_t i = 0; i < threads; i++) {
        s->workers[i] = (worker){.scratch = allocate(s, scratch_bytes)};
        if (s->workers[i].scratch == NULL) return -1;
    }
    s->kernel = kernel;
    s->frame = frame;
    s->instances += instances;
    native_pool_run(s->x->pool, instances, work, s);
    native_arena_release(&s->x->arena, before);
    return first_fault(s, threads);
}

/* The op with a number of the walk that the generator counted by. */
static pto_op op_at(const pto_run *run, uint32_t which)
{
    const pto_op all = pto_op_none(run);
    uint32_t n = 0;
    PTO_WALK(all, op)
    if (++n == which) return op;
    return all;
}

static int32_t debug(void *self, uint32_t which, const void *data, const int64_t *dims, const int64_t *strides,
                     int32_t fault)
{
    const state *s = self;
    const pto_op op = op_at(s->run, which);
    const pto_type type = pto_value_type(pto_op_operand(op, 0));
    if (dims == NULL)
        return debug_scalar(op, "pto.native", pto_type_dtype(type), element_number(pto_type_dtype(type), data)) ==
                       PTO_OK
                   ? 0
                   : -fault;
    gm_window w = {.base = (uint8_t *)(uintptr_t)data, .dtype = pto_type_dtype(type), .rank = pto_type_rank(type)};
    memcpy(w.dims, dims, w.rank * sizeof *dims);
    memcpy(w.strides, strides, w.rank * sizeof *strides);
    return debug_array(op, "pto.native", &w) == PTO_OK ? 0 : -fault;
}

static pto_status check_dense(const pto_call *call, const pto_binding *b)
{
    int64_t stride = 1;
    for (uint32_t d = b->tensor->rank; d-- > 0; stride *= b->tensor->dims[d]) {
        if (b->tensor->dims[d] == 0) return PTO_OK;
        if (b->tensor->dims[d] == 1 || b->tensor->strides[d] == stride) continue;
        const pto_str name = pto_value_name(b->value);
        return pto_error(call->function, "pto.native/arguments",
                         "%%%.*s is not dense: its dim %u has stride %lld and not %lld; native code reads memory of "
                         "rows without gaps",
                         PTO_FMT(name), (unsigned)d, (long long)b->tensor->strides[d], (long long)stride);
    }
    return PTO_OK;
}

static pto_status fault_at(const pto_run *run, const pto_call *call, const executable *x, int32_t fault)
{
    if (fault < -1) return PTO_FAILED; /* reported */
    if (fault < 0 || (uint32_t)fault > x->module->fault_count)
        return pto_error(call->function, "pto.native/fault", "there is not enough memory for scratch");
    const pto_native_fault *f = &x->module->faults[fault - 1];
    const pto_op op = op_at(run, f->op);
    const pto_str name = pto_op_name(op);
    return pto_error(op, "pto.native/fault", "`%.*s` %s", PTO_FMT(name), f->text);
}

static pto_status execute(const pto_run *run, void *exe, const pto_call *call)
{
    executable *x = exe;
    const uint32_t count = call->argument_count + call->result_count;
    pto_binding *bindings = PTO_SCRATCH(run, pto_binding, count);
    void **memory = PTO_SCRATCH(run, void *, count);
    int64_t *symbols = PTO_SCRATCH(run, int64_t, x->function->symbol_count);
    PTO_TRY(pto_backend_bind(call, "pto.native/arguments", bindings));
    for (uint32_t i = 0; i < count; i++) {
        PTO_TRY(check_dense(call, &bindings[i]));
        memory[i] = bindings[i].tensor->data;
    }
    for (uint32_t i = 0; i < x->function->symbol_count; i++)
        if (!pto_call_symbol(call, pto_s(x->function->symbols[i]), &symbols[i]))
            return pto_error(call->function, "pto.native/arguments", "nothing says what $%s is",
                             x->function->symbols[i]);
    state s = {.run = run, .call = call, .x = x};
    s.workers = allocate(&s, native_pool_threads(x->pool) * sizeof *s.workers);
    const pto_native_services services = {.struct_size = sizeof services,
                                          .self = &s,
                                          .launch = launch,
                                          .allocate = allocate,
                                          .mark = mark,
                                          .release = release_to,
                                          .debug = debug};
    const pto_native_call c = {.struct_size = sizeof c, .services = &services, .arguments = memory, .symbols = symbols};
    const int32_t fault = s.workers != NULL ? x->function->run(&c) : -1;
    native_arena_reset(&x->arena);
    if (fault != 0) return fault_at(run, call, x, fault);
    pto_profile_count(call->sink, PTO_COUNTER_INSTANCES, (double)s.instances);
    return PTO_OK;
}

static const pto_backend backend = {
    .struct_size = sizeof backend,
    .id = "pto.native",
    .summary = "Compiles a module to machine code of this CPU and runs it",
    .options = pass_options,
    .consumes = PTO_STRS("block/1"),
    .requires_props = PTO_STRS("pto.native-bound"),
    .prepare = prepare,
    .execute = execute,
    .release = release,
    .counters = PTO_STRS("instances"),
};

PTO_PLUGIN("pto.native", "backend:pto.native", "", .version = "0.1.0", .license = "Apache-2.0",
           .backends = PTO_LIST(pto_backend, &backend));
