/* pto-inspect machine --probe: this host as a machine file. What is found and measured takes the place of values in the
 * file of the ISA that ships, line by line; the rest stays as it is there. */
#include "core/files/machine.h"
#include "tools/base/file.h"
#include "tools/base/tool_diag.h"
#include "tools/inspect/inspect.h"
#include "tools/inspect/machine_rates.h"

#include <native_flags.h>

#include <inttypes.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

/* One value of the template: on a line that begins with `line`, what follows `key`. */
typedef struct change {
    const char *line, *key;
    char value[64];
    const char *why; /* the line's comment */
    bool is_made;
} change;

enum { CHANGES_MAX = 32 };

typedef struct probe {
    inspector *x;
    const char *base; /* path of the template */
    change changes[CHANGES_MAX];
    uint32_t count;
} probe;

static void add_change(probe *p, const char *why, const char *line, const char *key, const char *format, ...)
    PRINTF_LIKE(5, 6);

static void add_change(probe *p, const char *why, const char *line, const char *key, const char *format, ...)
{
    BUG_IF(p->count == CHANGES_MAX, "more than %d values are probed", CHANGES_MAX);
    change *c = &p->changes[p->count++];
    *c = (change){.line = line, .key = key, .why = why};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(c->value, sizeof c->value, format, arguments);
    va_end(arguments);
}

/* ---- what the system tells ---- */

static int count_threads(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
    const long n = sysconf(_SC_NPROCESSORS_ONLN); /* more CPUs than the set has bits */
    return n > 0 ? (int)n : 1;
}

static int first_cpu(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0) return 0;
    int i = 0;
    while (i + 1 < CPU_SETSIZE && !CPU_ISSET((size_t)i, &set)) i++;
    return i;
}

/* The first word of a small file; false when there is none. */
static bool read_word(char *word, size_t n, const char *format, ...) PRINTF_LIKE(3, 4);

static bool read_word(char *word, size_t n, const char *format, ...)
{
    char path[4096];
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(path, sizeof path, format, arguments);
    va_end(arguments);
    FILE *f = length > 0 && (size_t)length < sizeof path ? fopen(path, "r") : NULL;
    if (f == NULL) return false;
    const bool is_read = fgets(word, (int)n, f) != NULL;
    fclose(f);
    if (is_read) word[strcspn(word, " \t\n")] = '\0';
    return is_read && word[0] != '\0';
}

/* Bytes of the data cache of a level, as the kernel's files about CPUs say; 0 when they do not. */
static int64_t cache_of_files(const char *folder, int cpu, int level)
{
    enum { CACHES_MAX = 16 };
    for (int i = 0; i < CACHES_MAX; i++) {
        char word[64];
        int64_t found = 0, size = 0;
        if (!read_word(word, sizeof word, "%s/cpu%d/cache/index%d/level", folder, cpu, i)) return 0;
        if (str_to_i64(str_from(word), &found) != OK || found != level) continue;
        if (!read_word(word, sizeof word, "%s/cpu%d/cache/index%d/type", folder, cpu, i)) return 0;
        if (strcmp(word, "Instruction") == 0) continue;
        if (!read_word(word, sizeof word, "%s/cpu%d/cache/index%d/size", folder, cpu, i)) return 0;
        const size_t n = strlen(word);
        const char unit = word[n - 1];
        const int64_t factor = unit == 'K' ? 1024 : unit == 'M' ? 1024 * 1024 : 1;
        const bool is_number = str_to_i64((str){word, n - (factor > 1)}, &size) == OK;
        return is_number && size > 0 && size <= INT64_C(1) << 30 ? size * factor : 0;
    }
    return 0;
}

/* Of the kernel's files, else of the C library, else `usual`; `*why` says which. */
static int64_t find_cache(const char *folder, int level, int64_t usual, const char **why)
{
    const int64_t size = cache_of_files(folder, first_cpu(), level);
    *why = "found: the kernel's files about caches";
    if (size > 0) return size;
    const int64_t told = sysconf(level == 1 ? _SC_LEVEL1_DCACHE_SIZE : _SC_LEVEL2_CACHE_SIZE);
    *why = told > 0 ? "found: what the C library says of caches" : "assumed: nothing says how large the cache is";
    return told > 0 ? told : usual;
}

/* ---- the file ---- */

/* The machine file of an ISA that ships; NULL after a diagnostic. */
static const char *find_base(inspector *x, int vector_bytes)
{
    const char *name = vector_bytes == 64 ? "machines/cpu-avx512.yaml" : "machines/cpu-avx2.yaml";
    for (uint32_t i = 0; x->search != NULL && x->search[i] != NULL; i++) {
        const char *path = file_join(x->arena, x->search[i], name);
        if (access(path, R_OK) == 0) return path;
    }
    diag_error(x->diags, (src_pos){"pto-inspect", 0, 0}, &E1504, "there is no `%s`, of which the probe takes the rest",
               name);
    return NULL;
}

/* Where the value after `key` begins in the line, and its bytes; false when the line has no such key. */
static bool find_value(str line, const char *key, size_t *at, size_t *n)
{
    const size_t length = strlen(key);
    for (size_t i = 0; i + length < line.n; i++) {
        if (memcmp(line.p + i, key, length) != 0) continue;
        *at = i + length;
        const bool is_mapping = line.p[*at] == '{', is_text = str_starts_with(line, "doc:");
        *n = 0;
        while (*at + *n < line.n && strchr(is_text ? "\n" : is_mapping ? "}" : ",} #", line.p[*at + *n]) == NULL) ++*n;
        *n += is_mapping;
        return true;
    }
    return false;
}

/* One line of the template, changed where it is to be. */
static void put_line(probe *p, text_buffer *out, str line)
{
    text_buffer t;
    text_init(&t);
    text_put(&t, line.p, line.n);
    for (uint32_t i = 0; i < p->count; i++) {
        change *c = &p->changes[i];
        size_t at, n;
        if (!str_starts_with(line, c->line) || !find_value((str){t.p, t.n}, c->key, &at, &n)) continue;
        text_buffer changed;
        text_init(&changed);
        text_put(&changed, t.p, at);
        text_printf(&changed, "%s", c->value);
        size_t end = t.n;
        for (size_t k = at + n; k + 1 < t.n && end == t.n; k++)
            if (t.p[k] == ' ' && t.p[k + 1] == '#') end = k;
        while (end > at + n && t.p[end - 1] == ' ') end--;
        text_put(&changed, t.p + at + n, end - at - n);
        text_printf(&changed, "  # %s", c->why);
        text_fini(&t);
        t = changed;
        c->is_made = true;
    }
    text_put(out, t.p, t.n);
    text_put(out, "\n", 1);
    text_fini(&t);
}

/* The template with all changes, without the comments that it begins with. */
static status put_file(probe *p, text_buffer *out)
{
    enum { BYTES_MAX = 1 << 20 };
    str text;
    if (file_read(p->x->arena, p->x->diags, p->base, BYTES_MAX, &text) != OK) return FAILED;
    const char *name = strrchr(p->base, '/') + 1;
    text_printf(
        out,
        "# This host, by `pto-inspect machine --probe`: what is said to be found or measured is its own, the rest is "
        "that of %s.\n",
        name);
    bool is_begun = false;
    while (text.n > 0) {
        const char *end = memchr(text.p, '\n', text.n);
        const size_t n = end != NULL ? (size_t)(end - text.p) : text.n;
        is_begun = is_begun || text.p[0] != '#';
        if (is_begun) put_line(p, out, (str){text.p, n});
        text.p += n + (end != NULL);
        text.n -= n + (end != NULL);
    }
    for (uint32_t i = 0; i < p->count; i++) {
        const change *c = &p->changes[i];
        if (c->is_made) continue;
        diag_error(p->x->diags, (src_pos){p->base, 0, 0}, &E1504, "a line `%s..` with `%s` is needed, and not there",
                   c->line, c->key);
        return FAILED;
    }
    return OK;
}

/* As many times the second-level cache as in the files that ship: most tiles are never stored, and products read and
 * write memory in place, so that these are bounds of tiles and not what a cache must hold. */
static void add_sizes(probe *p, int threads, int64_t l2, const char *l2_why)
{
    const int64_t pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    const int64_t memory = pages > 0 && page > 0 ? pages * page : 0;
    add_change(p, "found: eight for each CPU that may be used", "  cpu: {", "count: ", "%d",
               threads < 8192 ? 8 * threads : 65536);
    if (memory > 0) add_change(p, "found: main memory", "  gm: {", "bytes: ", "%" PRId64 "MiB", memory >> 20);
    add_change(p, l2_why, "  vec: {", "bytes: ", "%" PRId64, 5 * l2);
    add_change(p, l2_why, "  mat: {", "bytes: ", "%" PRId64, 16 * l2);
    add_change(p, l2_why, "  left: {", "bytes: ", "%" PRId64, 8 * l2);
    add_change(p, l2_why, "  right: {", "bytes: ", "%" PRId64, 8 * l2);
    add_change(p, l2_why, "  acc: {", "bytes: ", "%" PRId64, 8 * l2);
}

static int64_t box_cycles(int64_t products, double per_cycle)
{
    const double cycles = (double)products / per_cycle;
    return cycles < 1 ? 1 : cycles > 10000 ? 10000 : (int64_t)(cycles + 0.5);
}

/* A box is 16 x 16 sums of as many products as 32 bytes have elements. bf16 is widened too where its own instruction
 * takes longer, as kernels do it. */
static void add_boxes(probe *p, const machine_rates *r)
{
    static const int64_t amx = 8; /* an instruction takes 16, and 64 bytes */
    const double f32 = r->f32_products, bf16 = r->bf16_products > f32 ? r->bf16_products : f32,
                 i8 = r->i8_products > 0 ? r->i8_products : f32;
    const bool has_amx = native_host_has_amx();
    add_change(p,
               has_amx ? "measured: f32, to which f16 is widened; bf16 and i8: an instruction of AMX takes 16 cycles"
                       : "measured: f32, bf16 and i8; what has no instruction is widened to f32",
               "  cycles-per-box:", "cycles-per-box: ",
               "{ f16: %" PRId64 ", bf16: %" PRId64 ", i8: %" PRId64 ", f32: %" PRId64 " }", box_cycles(4096, f32),
               has_amx ? amx : box_cycles(4096, bf16), has_amx ? amx : box_cycles(8192, i8), box_cycles(2048, f32));
    add_change(p, "own; cycles are those of this host", "matrix:", "matrix:", "%s", "");
}

static void add_rates(probe *p, const machine_rates *r)
{
    static const char why[] = "measured";
    /* To 10 MHz, so that runs of the same host say the same. */
    add_change(p, why, "clock-hz:", "clock-hz: ", "%" PRId64, (int64_t)(r->hz / 1e7 + 0.5) * 10000000);
    static const char *const of_l1[] = {"  - { from: vec, to: vec,", "  - { from: acc, to: vec,"};
    static const char *const of_l2[] = {"  - { from: mat, to: left,", "  - { from: mat, to: right,",
                                        "  - { from: vec, to: mat,", "  - { from: acc, to: mat,"};
    static const char *const of_memory[] = {"  - { from: gm, to: vec,", "  - { from: vec, to: gm,",
                                            "  - { from: gm, to: mat,", "  - { from: mat, to: gm,",
                                            "  - { from: acc, to: gm,"};
    add_change(p, "own, except for bytes a cycle that a line says are measured", "paths:", "paths:", "%s", "");
    for (size_t i = 0; r->l1_bytes > 0 && i < sizeof of_l1 / sizeof *of_l1; i++)
        add_change(p, why, of_l1[i], "bytes-per-cycle: ", "%.3g", r->l1_bytes);
    for (size_t i = 0; r->l2_bytes > 0 && i < sizeof of_l2 / sizeof *of_l2; i++)
        add_change(p, why, of_l2[i], "bytes-per-cycle: ", "%.3g", r->l2_bytes);
    for (size_t i = 0; r->copy_bytes > 0 && i < sizeof of_memory / sizeof *of_memory; i++)
        add_change(p, why, of_memory[i], "bytes-per-cycle: ", "%.3g", r->copy_bytes);
    if (r->all_copy_bytes > 0)
        add_change(p, why, "  gm-bytes-per-cycle:", "gm-bytes-per-cycle: ", "%.3g", 2 * r->all_copy_bytes);
    add_boxes(p, r);
}

status inspect_probed_machine(inspector *x, const char *name)
{
    const int vector_bytes = (int)native_host_vector_bytes(), threads = count_threads();
    probe p = {.x = x, .base = find_base(x, vector_bytes)};
    if (name != NULL) {
        diag_error(x->diags, (src_pos){"pto-inspect", 0, 0}, &E1504, "`machine` is this host, it takes no name: `%s`",
                   name);
        return FAILED;
    }
    if (p.base == NULL) return FAILED;
    const char *l1_why, *l2_why;
    const int64_t l1 = find_cache(x->cpu_files, 1, 32 << 10, &l1_why),
                  l2 = find_cache(x->cpu_files, 2, 512 << 10, &l2_why);
    machine_rates rates = {0};
    machine_measure(l1, l2, threads, &rates);
    add_change(&p, "this host", "name:", "name: ", "cpu-host");
    add_change(&p, "found", "doc:", "doc: ", "This host, with vectors of %d bits and %d CPUs that may be used",
               8 * vector_bytes, threads);
    add_sizes(&p, threads, l2, l2_why);
    add_change(&p, "found: by CPUID", "  repeat-bytes:", "repeat-bytes: ", "%d", vector_bytes);
    add_rates(&p, &rates);
    /* What is written is a machine. */
    const machine *m = NULL;
    if (put_file(&p, &x->out) == OK &&
        machine_read_text(x->arena, x->diags, "cpu-host.yaml", (str){x->out.p, x->out.n}, &m) == OK)
        return OK;
    x->out.n = 0;
    return FAILED;
}
