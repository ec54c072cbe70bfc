#include "native_build.h"

#include "native_headers.h"

#include <native_flags.h>
#include <native_load.h>

#include <sys/mman.h>

/* ---- the text ---- */

typedef struct text {
    char *bytes;
    size_t count, capacity;
} text;

static pto_status put(void *self, const char *p, size_t n)
{
    enum { FIRST_BYTES = 64 * 1024 };
    text *t = self;
    if (n > t->capacity - t->count) {
        size_t capacity = t->capacity != 0 ? t->capacity : FIRST_BYTES;
        while (n > capacity - t->count) {
            if (capacity > SIZE_MAX / 2) return PTO_FAILED;
            capacity *= 2;
        }
        void *larger = t->bytes == NULL
                           ? mmap(NULL, capacity, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                           : mremap(t->bytes, t->capacity, capacity, MREMAP_MAYMOVE);
        if (larger == MAP_FAILED) return PTO_FAILED;
        t->bytes = larger;
        t->capacity = capacity;
    }
    memcpy(t->bytes + t->count, p, n);
    t->count += n;
    return PTO_OK;
}

/* ---- the compiler ---- */

static int64_t machine_bytes(const pto_run *run) { return pto_machine_i64_or(run, 32, "vector.repeat-bytes"); }

/* Bytes of a vector of generated code: those of a register of the machine, as far as C has such. */
static int64_t vector_bytes(const pto_run *run)
{
    const int64_t n = machine_bytes(run);
    return n >= 64 ? 64 : n >= 32 ? 32 : 16;
}

/* Says where what is compiled is not vector by vector what the machine has. */
static void warn_of_width(const pto_run *run, pto_op function, int64_t most)
{
    const int64_t wanted = machine_bytes(run), made = vector_bytes(run), width = made < most ? made : most;
    if (wanted > width)
        pto_warning(
            function, "pto.native/machine",
            "the machine has vectors of %lld bytes, and there are instructions for %lld: each is computed in parts",
            (long long)wanted, (long long)width);
    else if (wanted < width)
        pto_warning(function, "pto.native/machine",
                    "the machine has vectors of %lld bytes, and there are instructions for %lld at least: they are "
                    "computed as such",
                    (long long)wanted, (long long)width);
}

static pto_status report(pto_op function, native_status status, const native_error *e)
{
    const char *code = "pto.native/compiler";
    switch (status) {
    case NATIVE_OK: return PTO_OK;
    case NATIVE_STOPPED: return PTO_FAILED; /* the host says why */
    case NATIVE_NO_COMPILER: (void)pto_error(function, "pto.native/no-compiler", "%s", e->text); return PTO_MISSING;
    case NATIVE_NO_FOLDER: code = "pto.native/cannot-write"; break;
    case NATIVE_NOT_LOADED: code = "pto.native/load"; break;
    default: break;
    }
    return pto_error(function, code, "%s", e->text);
}

static bool should_stop(void *run) { return pto_should_stop(run) != 0; }

/* Loads `t`, or of NULL what was compiled of the same key. */
static native_status load(const pto_run *run, const native_build_options *o, const text *key, const text *t,
                          native_loaded *loaded, native_error *e)
{
    /* The C library is that of the process: looking for it takes a linker as long as all else that it does. */
    static const char *const libraries[] = {"-nostdlib", "-lm", "-lgcc", NULL};
    const char *flags[NATIVE_FLAGS_MAX + 3];
    char width[64];
    native_compiler compiler;
    const native_status status = native_compiler_find(o->compiler[0] != '\0' ? o->compiler : NULL, &compiler, e);
    if (status != NATIVE_OK) return status;
    uint32_t flag_count = native_flags_upto(compiler.path, o->vector_bytes, flags);
    (void)snprintf(width, sizeof width, "-DPTO_VECTOR_BYTES=%lld", (long long)vector_bytes(run));
    flags[flag_count++] = width;
    if (o->rounds_to_bf16) flags[flag_count++] = "-DPTO_ROUNDS_TO_BF16";
    flags[flag_count] = NULL;
    native_file *files = PTO_SCRATCH(run, native_file, native_header_count);
    for (uint32_t i = 0; i < native_header_count; i++) {
        const native_header *h = &native_headers[i];
        files[i] = (native_file){h->name, h->begin, (size_t)(h->end - h->begin)};
    }
    /* The callback asks the run, which it does not change. */
    const native_request q = {
        .text = t != NULL ? t->bytes : NULL,
        .text_bytes = t != NULL ? t->count : 0,
        .key = key->bytes,
        .key_bytes = key->count,
        .flags = flags,
        .libraries = libraries,
        .files = files,
        .file_count = native_header_count,
        .symbol = NATIVE_MODULE_SYMBOL,
        .seconds_max = o->seconds_max,
        .stop = should_stop,
        .self = (void *)(uintptr_t)run,
        .cache_path = o->cache_folder[0] != '\0' ? o->cache_folder : NULL,
        .cache_bytes_max = o->cache_bytes_max,
        .uses_cache = o->uses_cache != 0,
    };
    return native_load(&compiler, &q, loaded, e);
}

/* What was compiled before, when the generator has a key: then the text, which takes longer to write than all else, is
 * not written. No library, and `key` is empty where there is none. */
static pto_status find(const pto_run *run, pto_op function, const native_build_options *o, text *key,
                       native_loaded *loaded, native_error *e)
{
    const pto_text_sink sink = {.struct_size = sizeof sink, .self = key, .write = put};
    if (o->uses_cache == 0) return PTO_OK;
    const pto_status s = pto_generate_key(run, o->generator, &sink);
    if (s == PTO_MISSING) return PTO_OK;
    return s == PTO_OK ? report(function, load(run, o, key, NULL, loaded, e), e) : s;
}

static pto_status make(const pto_run *run, pto_op function, const native_build_options *o, const text *key,
                       native_loaded *loaded, native_error *e)
{
    text t = {.count = 0};
    const pto_text_sink sink = {.struct_size = sizeof sink, .self = &t, .write = put};
    pto_status s = pto_generate(run, o->generator, &sink);
    if (s == PTO_OK) s = report(function, load(run, o, key, &t, loaded, e), e);
    if (t.bytes != NULL) munmap(t.bytes, t.capacity);
    return s;
}

pto_status native_build(const pto_run *run, pto_op function, const native_build_options *o, void **library)
{
    text key = {.count = 0};
    native_loaded loaded = {.library = NULL};
    native_error e;
    warn_of_width(run, function, o->vector_bytes);
    pto_status s = find(run, function, o, &key, &loaded, &e);
    if (s == PTO_OK && loaded.library == NULL) {
        const native_error found = loaded.warning; /* a file that was not whole is gone by now */
        s = make(run, function, o, &key, &loaded, &e);
        if (loaded.warning.text[0] == '\0') loaded.warning = found;
    }
    if (key.bytes != NULL) munmap(key.bytes, key.capacity);
    if (s == PTO_OK && loaded.warning.text[0] != '\0')
        pto_warning(function, "pto.native/cache", "%s; this run compiled what it needs", loaded.warning.text);
    *library = loaded.library;
    return s;
}
