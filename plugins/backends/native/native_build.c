#include "native_build.h"

#include "native_headers.h"

#include <native_load.h>

#include <sys/mman.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

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

/* Bytes of a vector of generated code: those of a register of the machine. */
static int64_t vector_bytes(const pto_run *run)
{
    const int64_t n = pto_machine_i64_or(run, 32, "vector.repeat-bytes");
    return n >= 64 ? 64 : n >= 32 ? 32 : 16;
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

static native_status build(const pto_run *run, const native_build_options *o, const text *t, native_loaded *loaded,
                           native_error *e)
{
    static const char *const libraries[] = {"-lm", NULL};
    enum { FIXED = 5, OPTIONS_MAX = 32 };
    const char *flags[OPTIONS_MAX] = {"-std=gnu17", "-O2", "-ffp-contract=off", "-fno-math-errno", "-w"};
    uint32_t flag_count = FIXED + isa_options(&flags[FIXED]);
    char width[64];
    (void)snprintf(width, sizeof width, "-DPTO_VECTOR_BYTES=%lld", (long long)vector_bytes(run));
    flags[flag_count++] = width;
    flags[flag_count] = NULL;
    native_file *files = PTO_SCRATCH(run, native_file, native_header_count);
    for (uint32_t i = 0; i < native_header_count; i++) {
        const native_header *h = &native_headers[i];
        files[i] = (native_file){h->name, h->begin, (size_t)(h->end - h->begin)};
    }
    native_compiler compiler;
    const native_status status = native_compiler_find(o->compiler[0] != '\0' ? o->compiler : NULL, &compiler, e);
    if (status != NATIVE_OK) return status;
    /* The callback asks the run, which it does not change. */
    const native_request q = {
        .text = t->bytes,
        .text_bytes = t->count,
        .flags = flags,
        .libraries = libraries,
        .files = files,
        .file_count = native_header_count,
        .seconds_max = o->seconds_max,
        .stop = should_stop,
        .self = (void *)(uintptr_t)run,
        .cache_path = o->cache_folder[0] != '\0' ? o->cache_folder : NULL,
        .cache_bytes_max = o->cache_bytes_max,
        .uses_cache = o->uses_cache != 0,
    };
    return native_load(&compiler, &q, loaded, e);
}

pto_status native_build(const pto_run *run, pto_op function, const native_build_options *o, void **library)
{
    text t = {.count = 0};
    native_loaded loaded = {.library = NULL};
    native_error e;
    const pto_text_sink sink = {.struct_size = sizeof sink, .self = &t, .write = put};
    pto_status s = pto_generate(run, o->generator, &sink);
    if (s == PTO_OK) s = report(function, build(run, o, &t, &loaded, &e), &e);
    if (t.bytes != NULL) munmap(t.bytes, t.capacity);
    if (s == PTO_OK && loaded.warning.text[0] != '\0')
        pto_warning(function, "pto.native/cache", "%s; this run compiled what it needs", loaded.warning.text);
    *library = loaded.library;
    return s;
}
