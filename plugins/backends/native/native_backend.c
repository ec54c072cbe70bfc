/* pto.native: compiles the C that a code generator writes with the C compiler of this host, loads and runs it. */
#include "debug_values.h"
#include "native_headers.h"

#include <pto/native.h>
#include <pto/plugin.h>
#include <pto/profile.h>

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#define OPTIONS(X)                                                                                    \
    X(GENERATOR, PLUGIN, "generator", .def = "pto.emit-c", .choices = PTO_STRS("generator"),          \
      .doc = "what writes the C", .example = "with: { generator: pto.emit-c }")                       \
    X(COMPILER, STR, "compiler", .def = "cc",                                                         \
      .doc = "the C compiler, a path or a name that is sought in PATH; it takes options as gcc does", \
      .example = "with: { compiler: gcc-12 }")
PTO_OPTIONS(OPTIONS);

/* What lives from prepare to release. */
typedef struct executable {
    void *library;
    const pto_native_module *module;
    const pto_native_function *function;
} executable;

/* ---- the text ---- */

typedef struct written {
    int file, error;
} written;

static pto_status put(void *self, const char *p, size_t n)
{
    written *w = self;
    while (n != 0 && w->error == 0) {
        const ssize_t k = write(w->file, p, n);
        if (k < 0 && errno == EINTR) continue;
        if (k < 0) w->error = errno;
        if (k < 0) break;
        p += k;
        n -= (size_t)k;
    }
    return w->error == 0 ? PTO_OK : PTO_FAILED;
}

enum { PATH_BYTES = 512 };

/* A path in the folder of one compilation, whose name is short. */
static const char *path_in(const pto_run *run, const char *folder, const char *name)
{
    char *path = PTO_SCRATCH(run, char, PATH_BYTES + 64);
    (void)snprintf(path, PATH_BYTES + 64, "%s/%s", folder, name);
    return path;
}

static pto_status cannot_write(pto_op function, const char *path, int error)
{
    return pto_error(function, "pto.native/cannot-write", "`%s` cannot be written: %s", path, strerror(error));
}

static pto_status write_header(const pto_run *run, pto_op function, const char *folder, const native_header *h)
{
    const char *path = path_in(run, folder, h->name);
    written w = {.file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600)};
    if (w.file < 0) return cannot_write(function, path, errno);
    const pto_status s = put(&w, h->begin, (size_t)(h->end - h->begin));
    close(w.file);
    return s == PTO_OK ? PTO_OK : cannot_write(function, path, w.error);
}

static pto_status write_text(const pto_run *run, pto_op function, const char *path)
{
    written w = {.file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600)};
    const pto_text_sink sink = {.struct_size = sizeof sink, .self = &w, .write = put};
    if (w.file < 0) return cannot_write(function, path, errno);
    const pto_status s = pto_generate(run, OPT_GENERATOR, &sink);
    close(w.file);
    return w.error != 0 ? cannot_write(function, path, w.error) : s;
}

/* ---- the compiler ---- */

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

/* The first lines of what the compiler said. */
static const char *said(const pto_run *run, const char *path)
{
    char *text = PTO_SCRATCH(run, char, 1024);
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t n = file >= 0 ? read(file, text, 1000) : 0;
    if (file >= 0) close(file);
    text[n > 0 ? n : 0] = 0;
    return text;
}

static pto_status no_compiler(pto_op function, const char *compiler)
{
    (void)pto_error(
        function, "pto.native/no-compiler",
        "there is no C compiler `%s` here: install the package `gcc`, or name another compiler by the option "
        "`compiler` of pto.native",
        compiler);
    return PTO_MISSING;
}

static pto_status compile(const pto_run *run, pto_op function, const char *folder)
{
    const pto_str given = pto_opt_str(run, OPT_COMPILER);
    const char *compiler = given.p, *errors = path_in(run, folder, "errors");
    const char *arguments[32] = {compiler,          "-std=gnu17", "-O2",     "-ffp-contract=off",
                                 "-fno-math-errno", "-fPIC",      "-shared", "-w"};
    uint32_t n = 8;
    n += isa_options(&arguments[n]);
    const char *const rest[] = {"-I", folder, "-o", path_in(run, folder, "module.so"), path_in(run, folder, "module.c"),
                                "-lm"};
    for (uint32_t i = 0; i < sizeof rest / sizeof rest[0]; i++) arguments[n++] = rest[i];
    posix_spawn_file_actions_t files;
    pid_t child = 0;
    int state = 0;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 2, errors, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
    const int error = posix_spawnp(&child, compiler, &files, NULL, (char *const *)(uintptr_t)arguments, environ);
    posix_spawn_file_actions_destroy(&files);
    if (error == ENOENT) return no_compiler(function, compiler);
    if (error != 0)
        return pto_error(function, "pto.native/compiler", "`%s` cannot be started: %s", compiler, strerror(error));
    while (waitpid(child, &state, 0) < 0 && errno == EINTR) continue;
    if (WIFEXITED(state) && WEXITSTATUS(state) == 0) return PTO_OK;
    if (WIFEXITED(state) && WEXITSTATUS(state) == 127) return no_compiler(function, compiler);
    return pto_error(function, "pto.native/compiler", "`%s` does not compile what the generator wrote: %s", compiler,
                     said(run, errors));
}

/* ---- loading ---- */

static pto_status load(const pto_run *run, pto_op function, const char *path, executable *x)
{
    const pto_str name = pto_function_name(function);
    (void)run;
    x->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    x->module = x->library != NULL ? dlsym(x->library, "pto_native_module_v1") : NULL;
    if (x->module == NULL)
        return pto_error(function, "pto.native/load", "what was compiled cannot be loaded: %s", dlerror());
    for (uint32_t i = 0; i < x->module->function_count; i++)
        if (pto_str_is(name, x->module->functions[i]->name)) x->function = x->module->functions[i];
    if (x->function != NULL) return PTO_OK;
    return pto_error(function, "pto.native/load", "the generator wrote no function @%.*s", PTO_FMT(name));
}

static void clear_folder(const pto_run *run, const char *folder)
{
    static const char *const names[] = {"module.c", "module.so", "errors", NULL};
    for (uint32_t i = 0; names[i] != NULL; i++) unlink(path_in(run, folder, names[i]));
    for (uint32_t i = 0; i < native_header_count; i++) unlink(path_in(run, folder, native_headers[i].name));
    rmdir(path_in(run, folder, "pto"));
    rmdir(folder);
}

static pto_status build(const pto_run *run, pto_op function, const char *folder, executable *x)
{
    const char *headers = path_in(run, folder, "pto");
    if (mkdir(headers, 0700) != 0) return cannot_write(function, headers, errno);
    for (uint32_t i = 0; i < native_header_count; i++) PTO_TRY(write_header(run, function, folder, &native_headers[i]));
    PTO_TRY(write_text(run, function, path_in(run, folder, "module.c")));
    const pto_status compiled = compile(run, function, folder);
    return compiled == PTO_OK ? load(run, function, path_in(run, folder, "module.so"), x) : compiled;
}

static pto_status prepare(const pto_run *run, pto_op function, void **exe)
{
    executable *x = pto_keep(run, sizeof *x);
    const char *base = getenv("TMPDIR");
    char folder[PATH_BYTES];
    if (base == NULL || base[0] != '/' || strlen(base) > PATH_BYTES - 32) base = "/tmp";
    (void)snprintf(folder, sizeof folder, "%s/pto-native-XXXXXX", base);
    if (mkdtemp(folder) == NULL) return cannot_write(function, folder, errno);
    const pto_status s = build(run, function, folder, x);
    clear_folder(run, folder);
    *exe = x;
    return s;
}

static void release(const pto_run *run, void *exe)
{
    const executable *x = exe;
    (void)run;
    if (x->library != NULL) dlclose(x->library);
}

/* ---- a call ---- */

/* Memory of a call: what was allocated, the last one first. */
typedef struct piece {
    struct piece *before;
    size_t bytes;
} piece;

typedef struct state {
    const pto_run *run;
    const pto_call *call;
    piece *last;
    size_t count;
    char *scratch;
    size_t scratch_bytes;
    int64_t instances;
} state;

enum { HEAD = 64 }; /* bytes of a piece before what it holds, which keeps that aligned */

static void *map(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return p != MAP_FAILED ? p : NULL;
}

static void *allocate(void *self, size_t bytes)
{
    state *s = self;
    piece *p = bytes < SIZE_MAX / 2 ? map(HEAD + bytes) : NULL;
    if (p == NULL) return NULL;
    *p = (piece){s->last, HEAD + bytes};
    s->last = p;
    s->count++;
    return (char *)p + HEAD;
}

static size_t mark(void *self)
{
    const state *s = self;
    return s->count;
}

static void release_to(void *self, size_t to)
{
    state *s = self;
    for (; s->count > to; s->count--) {
        piece *p = s->last;
        s->last = p->before;
        munmap(p, p->bytes);
    }
}

static int32_t launch(void *self, pto_native_kernel kernel, const void *frame, int64_t instances, size_t scratch_bytes)
{
    state *s = self;
    if (instances < 0) {
        (void)pto_error(s->call->function, "pto.native/arguments",
                        "a grid has a negative extent; it has 0 or more instances");
        return -2;
    }
    if (scratch_bytes > s->scratch_bytes) {
        if (s->scratch != NULL) munmap(s->scratch, s->scratch_bytes);
        s->scratch = map(scratch_bytes);
        s->scratch_bytes = s->scratch != NULL ? scratch_bytes : 0;
        if (s->scratch == NULL) return -1;
    }
    s->instances += instances > 0 ? instances : 0;
    for (int64_t i = 0; i < instances; i++) {
        const int32_t fault = kernel(frame, i, s->scratch);
        if (fault != 0) return fault;
    }
    return 0;
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
    const executable *x = exe;
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
    state s = {.run = run, .call = call};
    const pto_native_services services = {.struct_size = sizeof services,
                                          .self = &s,
                                          .launch = launch,
                                          .allocate = allocate,
                                          .mark = mark,
                                          .release = release_to,
                                          .debug = debug};
    const pto_native_call c = {.struct_size = sizeof c, .services = &services, .arguments = memory, .symbols = symbols};
    const int32_t fault = x->function->run(&c);
    release_to(&s, 0);
    if (s.scratch != NULL) munmap(s.scratch, s.scratch_bytes);
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
