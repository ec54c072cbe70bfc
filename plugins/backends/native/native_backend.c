/* pto.native: compiles the C that a code generator writes with the C compiler of this host, loads and runs it. */
#include "native_build.h"
#include "native_outputs.h"
#include "native_profile.h"
#include "native_services.h"

#include <kernel_table.h>
#include <native_clock.h>
#include <native_flags.h>
#include <native_launch.h>

#include <pto/profile.h>

#include <dlfcn.h>
#include <unistd.h>

static const char *const isa_choices[] = {"host", "avx512", "avx2", "plain", NULL};
/* Of `cache-bytes`, where nothing else is said. */
#define CACHE_MIB 256
#define MIB_OF(number) #number "MiB"
#define MIB_TEXT(mib) MIB_OF(mib)

#define OPTIONS(X)                                                                                                     \
    X(GENERATOR, PLUGIN, "generator", .def = "pto.emit-c", .choices = PTO_STRS("generator"),                           \
      .doc = "what writes the C", .example = "with: { generator: pto.emit-c }")                                        \
    X(COMPILER, STR, "compiler", .def = "",                                                                            \
      .doc = "the C compiler, a path or a name that is sought in PATH; empty: the first of gcc, clang and cc there; "  \
             "it takes options as gcc does",                                                                           \
      .example = "with: { compiler: gcc-12 }")                                                                         \
    X(COMPILE_SECONDS, I64, "compile-seconds", .def = "120", .min = "1", .max = "86400",                               \
      .doc = "after so many seconds the compiler is killed", .example = "with: { compile-seconds: 10 }")               \
    X(THREADS, I64, "threads", .def = "0", .min = "0", .max = "256",                                                   \
      .doc = "threads that compute, the calling one included; 0: as many as the CPUs of the process, OMP_NUM_THREADS " \
             "and the quota of the cgroup allow; results are the same for any number",                                 \
      .example = "with: { threads: 2 }")                                                                               \
    X(ISA, ENUM, "isa", .def = "host", .choices = isa_choices,                                                         \
      .doc = "instructions that are used at most: those of this CPU, or fewer, which it must have; vectors of a "      \
             "machine that are wider are computed in parts",                                                           \
      .example = "with: { isa: avx2 }")                                                                                \
    X(CACHE, BOOL, "cache", .def = "true", .doc = "what was compiled is kept and loaded the next time",                \
      .example = "with: { cache: false }")                                                                             \
    X(CACHE_DIR, STR, "cache-dir", .def = "",                                                                          \
      .doc = "the folder that keeps it; empty: $XDG_CACHE_HOME/pto/native-1, or the same in $HOME/.cache",             \
      .example = "with: { cache-dir: /var/tmp/kernels }")                                                              \
    X(CACHE_BYTES, BYTES, "cache-bytes", .def = MIB_TEXT(CACHE_MIB), .min = "0",                                       \
      .doc = "when the folder is larger, what was not used for longest goes, and what was compiled last stays; "       \
             "0: as `cache: false`",                                                                                   \
      .example = "with: { cache-bytes: 1GiB }")                                                                        \
    X(CONSTANT_BYTES, BYTES, "constant-bytes", .def = "1GiB", .min = "0",                                              \
      .doc = "memory at most for packed constants that stay from run to run; what does not fit is packed in each run", \
      .example = "with: { constant-bytes: 0 }")
PTO_OPTIONS(OPTIONS);

/* What lives from prepare to release. */
typedef struct executable {
    void *library;
    const pto_native_module *module;
    const pto_native_function *function;
    const pto_native_function *init; /* computes constants of it; or NULL */
    int has_run, has_run_init;       /* their first call was looked at */
    native_profile *profile;         /* NULL: nobody asked yet */
    native_keep keep;
} executable;

/* ---- before the first call ---- */

static pto_status find_function(pto_op function, executable *x)
{
    const pto_str name = pto_function_name(function);
    x->module = dlsym(x->library, NATIVE_MODULE_SYMBOL);
    for (uint32_t i = 0; i < x->module->function_count; i++) {
        const pto_native_function *f = x->module->functions[i];
        const size_t n = strlen(f->name);
        if (pto_str_is(name, f->name)) x->function = f;
        if (n > name.n && memcmp(f->name, name.p, name.n) == 0 && strcmp(f->name + name.n, ".init") == 0) x->init = f;
    }
    if (x->function != NULL) return PTO_OK;
    return pto_error(function, "pto.native/load", "the generator wrote no function @%.*s", PTO_FMT(name));
}

/* More than the system has would be taken from the disk, or end the process. */
static uint64_t memory_bytes(void)
{
    const long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
    return pages > 0 && page_bytes > 0 ? (uint64_t)pages * (uint64_t)page_bytes : UINT64_MAX;
}

/* By the choices of `isa`: kernels of products, and bytes of vectors; 0: as this CPU has. */
static const uint32_t isa_bits[] = {UINT32_MAX, UINT32_MAX, PTO_ISA_AVX2, 0}, isa_vector_bytes[] = {0, 64, 32, 16};

/* Widest vector that may be used. */
static pto_status find_vector_bytes(const pto_run *run, pto_op function, uint32_t *out)
{
    const int64_t isa = pto_opt_i64(run, OPT_ISA);
    const uint32_t host = native_host_vector_bytes();
    *out = isa_vector_bytes[isa] != 0 ? isa_vector_bytes[isa] : host;
    if (*out <= host) return PTO_OK;
    return pto_error(function, "pto.native/machine",
                     "option `isa` is `%s`, and this CPU has instructions for vectors of %u bytes at most",
                     isa_choices[isa], (unsigned)host);
}

/* Of this CPU, PTO_ISA_*, as far as `isa` lets them be used. */
static uint32_t isa_of(const pto_run *run) { return pto_isa_of_host() & isa_bits[pto_opt_i64(run, OPT_ISA)]; }

static pto_status start_threads(const pto_run *run, pto_op function, uint32_t isa, native_keep *keep)
{
    native_thread_plan plan;
    native_error e;
    keep->memory = keep->scratch = native_arena_begin(memory_bytes());
    keep->constants.memory = native_arena_begin((uint64_t)pto_opt_i64(run, OPT_CONSTANT_BYTES));
    pto_products_fill(pto_isa_worth_using(isa), &keep->products);
    if (native_threads_plan((uint32_t)pto_opt_i64(run, OPT_THREADS), &plan, &e) == NATIVE_OK &&
        native_pool_begin(&plan, NATIVE_POOL_SPIN_NS, &keep->pool, &e) == NATIVE_OK) {
        keep->cache_bytes = plan.cache_bytes;
        return PTO_OK;
    }
    return pto_error(function, "pto.native/threads", "%s", e.text);
}

static void release(const pto_run *run, void *exe)
{
    executable *x = exe;
    (void)run;
    native_pool_end(x->keep.pool);
    native_profile_close(x->profile);
    native_arena_end(&x->keep.memory);
    native_arena_end(&x->keep.scratch);
    native_arena_end(&x->keep.constants.memory);
    if (x->library != NULL) dlclose(x->library);
}

/* Settings of a cache that is not there. */
static void warn_of_cache(const pto_run *run, pto_op function)
{
    static const char format[] = "option `%s` has no effect where nothing is kept: %s";
    const int has_bytes = pto_opt_i64(run, OPT_CACHE_BYTES) != 0, is_off = pto_opt_bool(run, OPT_CACHE) == 0;
    const char *why = is_off ? "`cache` is false" : "`cache-bytes` is 0";
    if ((is_off || !has_bytes) && pto_opt_str(run, OPT_CACHE_DIR).n != 0)
        pto_warning(function, "pto.native/cache", format, "cache-dir", why);
    if (is_off && pto_opt_i64(run, OPT_CACHE_BYTES) != (int64_t)CACHE_MIB << 20)
        pto_warning(function, "pto.native/cache", format, "cache-bytes", why);
}

static pto_status prepare(const pto_run *run, pto_op function, void **exe)
{
    executable *x = pto_keep(run, sizeof *x);
    const uint32_t isa = isa_of(run);
    native_build_options o = {
        .generator = OPT_GENERATOR,
        .compiler = pto_opt_str(run, OPT_COMPILER).p,
        .seconds_max = (double)pto_opt_i64(run, OPT_COMPILE_SECONDS),
        .uses_cache = pto_opt_bool(run, OPT_CACHE) && pto_opt_i64(run, OPT_CACHE_BYTES) != 0,
        .cache_folder = pto_opt_str(run, OPT_CACHE_DIR).p,
        .cache_bytes_max = (uint64_t)pto_opt_i64(run, OPT_CACHE_BYTES),
    };
    pto_status s = find_vector_bytes(run, function, &o.vector_bytes);
    warn_of_cache(run, function);
    o.rounds_to_bf16 = o.vector_bytes == 64 && (isa & PTO_ISA_AVX512_BF16) != 0;
    if (s == PTO_OK) s = native_build(run, function, &o, &x->library);
    if (s == PTO_OK) s = find_function(function, x);
    if (s == PTO_OK) s = start_threads(run, function, isa, &x->keep);
    if (s != PTO_OK) release(run, x);
    *exe = x;
    return s;
}

/* ---- a call ---- */

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

static pto_status fault_at(const native_session *s, const executable *x, int32_t fault)
{
    if (fault == NATIVE_FAULT_REPORTED) return PTO_FAILED;
    if (fault < 0 || (uint32_t)fault > x->module->fault_count)
        return pto_error(s->function, "pto.native/fault", "there is not enough memory for scratch: %s", s->e.text);
    const pto_native_fault *f = &x->module->faults[fault - 1];
    const pto_op op = native_op_at(s->run, f->op);
    const pto_str name = pto_op_name(op);
    char index[NATIVE_INDEX_TEXT];
    return pto_error(op, "pto.native/fault", "`%.*s` %s%s%s%s", PTO_FMT(name), f->text,
                     native_index_text(f->has_index != 0, s->index_and_extent, index), s->e.text[0] != '\0' ? ": " : "",
                     s->e.text);
}

/* What a call that is executed once more is made of. */
typedef struct repeated {
    const native_session *session;
    const pto_native_function *function;
    const pto_native_call *call;
} repeated;

static int32_t say_nothing(void *self, uint32_t op, const void *data, const int64_t *dims, const int64_t *strides,
                           int32_t fault)
{
    (void)self, (void)op, (void)data, (void)dims, (void)strides, (void)fault;
    return 0;
}

static int32_t run_again(void *self)
{
    const repeated *r = self;
    native_session s = {.run = r->session->run, .function = r->session->function, .keep = r->session->keep};
    pto_native_services services = native_services_of(&s);
    services.debug = say_nothing;
    pto_native_call c = *r->call;
    c.services = &services;
    native_arena_reset(&s.keep->memory);
    return r->function->run(&c);
}

/* The first call of a function, by `*has_run`, tells outputs that it never writes. */
static pto_status call_function(const pto_run *run, executable *x, const pto_native_function *f, const pto_call *call,
                                int *has_run)
{
    const uint32_t count = call->argument_count + call->result_count;
    pto_binding *bindings = PTO_SCRATCH(run, pto_binding, count);
    void **memory = PTO_SCRATCH(run, void *, count);
    int64_t *symbols = PTO_SCRATCH(run, int64_t, f->symbol_count);
    PTO_TRY(pto_backend_bind(call, "pto.native/arguments", bindings));
    for (uint32_t i = 0; i < count; i++) {
        PTO_TRY(check_dense(call, &bindings[i]));
        memory[i] = bindings[i].tensor->data;
    }
    for (uint32_t i = 0; i < f->symbol_count; i++)
        if (!pto_call_symbol(call, pto_s(f->symbols[i]), &symbols[i]))
            return pto_error(call->function, "pto.native/arguments", "nothing says what $%s is", f->symbols[i]);
    native_session s = {.run = run, .function = call->function, .keep = &x->keep, .seed = call->seed};
    const pto_native_services services = native_services_of(&s);
    const pto_native_call c = {.struct_size = sizeof c, .services = &services, .arguments = memory, .symbols = symbols};
    native_arena_reset(&x->keep.memory);
    native_constants_begin(&x->keep.constants, PTO_HAS(call, constants) ? call->constants : 0);
    const int is_first = !*has_run;
    *has_run = 1;
    repeated again = {&s, f, &c};
    const native_outputs outputs = {call, bindings, run_again, &again, x->keep.memory.bytes_max};
    if (is_first) native_outputs_fill(&outputs);
    const int is_profiled = call->sink != NULL && call->sink->measures != 0;
    const uint32_t threads = native_pool_threads(x->keep.pool);
    if (is_profiled) {
        if (x->profile == NULL) x->profile = native_profile_make(run, x->module, threads);
        s.profile = x->profile;
        native_profile_begin(s.profile);
    }
    const uint64_t begin = call->sink != NULL ? native_now_ns() : 0;
    const int32_t fault = f->run(&c);
    const uint64_t end = call->sink != NULL ? native_now_ns() : 0;
    if (is_profiled) native_profile_end(s.profile, call->sink);
    if (fault != 0) return fault_at(&s, x, fault);
    if (is_first) PTO_TRY(native_outputs_check(&outputs));
    pto_profile_count(call->sink, PTO_COUNTER_TIME, (double)(end - begin) / 1e3);
    pto_profile_count(call->sink, PTO_COUNTER_THREADS, (double)threads);
    pto_profile_count(call->sink, PTO_COUNTER_LAUNCHES, (double)s.launches);
    pto_profile_count(call->sink, PTO_COUNTER_INSTANCES, (double)s.instances);
    const uint64_t kept = x->keep.constants.memory.bytes_taken;
    if (kept != 0) pto_profile_count(call->sink, PTO_COUNTER_CONSTANT_BYTES, (double)kept);
    return PTO_OK;
}

static pto_status execute(const pto_run *run, void *exe, const pto_call *call)
{
    executable *x = exe;
    return call_function(run, x, x->function, call, &x->has_run);
}

static pto_status bind(const pto_run *run, void *exe, const pto_call *init)
{
    executable *x = exe;
    if (x->init != NULL) return call_function(run, x, x->init, init, &x->has_run_init);
    return pto_error(init->function, "pto.native/load", "the generator wrote no function that computes constants");
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
    .counters =
        PTO_STRS("time", "threads", "launches", "instances", "packed constants", "kernel time", "kernel launches",
                 "cpu cycles", "cpu instructions", "cache misses", "trace / slices left out"),
    .bind = bind,
};

PTO_PLUGIN("pto.native", "backend:pto.native", "", .version = "0.1.0", .license = "Apache-2.0",
           .backends = PTO_LIST(pto_backend, &backend));
