#include "tools/inspect/plugin_lint.h"

#include "core/host/pass_claims.h"
#include "tools/run/counter_name.h"

#include <pto/note.h>

#include <fcntl.h>
#include <gelf.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

static const char entry_name[] = "pto_plugin_entry_v1";

typedef struct linter {
    const char *path;
    text_buffer *out;
    uint32_t count;
    bool is_sanitized; /* the sanitizer adds symbols and data of its own */
    Elf *elf;
} linter;

static void finding(linter *l, const char *format, ...) PRINTF_LIKE(2, 3);
static void finding(linter *l, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    text_printf(l->out, "%s: %s\n", l->path, text);
    l->count++;
}

/* ---- sections and symbols ---- */

typedef struct section {
    GElf_Shdr header;
    const char *name;
    Elf_Data *data; /* NULL when it has no bytes */
} section;

static bool read_section(const linter *l, size_t index, section *out)
{
    size_t names = 0;
    Elf_Scn *s = elf_getscn(l->elf, index);
    if (s == NULL || gelf_getshdr(s, &out->header) == NULL || elf_getshdrstrndx(l->elf, &names) != 0) return false;
    out->name = elf_strptr(l->elf, names, out->header.sh_name);
    out->data = out->header.sh_type == SHT_NOBITS ? NULL : elf_getdata(s, NULL);
    return out->name != NULL;
}

static bool find_section(const linter *l, uint32_t type, section *out)
{
    size_t count = 0;
    if (elf_getshdrnum(l->elf, &count) != 0) return false;
    for (size_t i = 1; i < count; i++) {
        if (read_section(l, i, out) && out->header.sh_type == type) return true;
    }
    return false;
}

/* The next symbol of a table, from `*at` on. */
static bool next_symbol(const linter *l, const section *table, uint32_t *at, GElf_Sym *symbol, const char **name)
{
    const uint64_t row = table->header.sh_entsize;
    if (table->data == NULL || row == 0 || *at >= table->header.sh_size / row) return false;
    if (gelf_getsym(table->data, (int)*at, symbol) == NULL) return false;
    *name = elf_strptr(l->elf, table->header.sh_link, symbol->st_name);
    (*at)++;
    if (*name == NULL) *name = "";
    return true;
}

static bool is_of_sanitizer(const char *name)
{
    return strncmp(name, "__asan_", 7) == 0 || strncmp(name, "__ubsan_", 8) == 0 || strncmp(name, "__tsan_", 7) == 0 ||
           strncmp(name, "__sanitizer_", 12) == 0 || strcmp(name, "__start_asan_globals") == 0 ||
           strcmp(name, "__stop_asan_globals") == 0;
}

/* Whether the loader will take the symbol from a versioned library, which libc and libm are. */
static bool has_version(const section *versions, bool has_versions, uint32_t symbol)
{
    GElf_Versym version = 0;
    return has_versions && versions->data != NULL && gelf_getversym(versions->data, (int)symbol, &version) != NULL &&
           version > 1;
}

/* A library that is linked in exports hundreds. */
enum { EXPORTS_SHOWN = 5 };

static void check_symbols(linter *l)
{
    section table, versions;
    if (!find_section(l, SHT_DYNSYM, &table)) return;
    const bool has_versions = find_section(l, SHT_GNU_versym, &versions);
    GElf_Sym symbol;
    const char *name;
    uint32_t exported = 0;
    for (uint32_t i = 1; next_symbol(l, &table, &i, &symbol, &name);) {
        const unsigned char binding = GELF_ST_BIND(symbol.st_info);
        if (binding == STB_LOCAL || (l->is_sanitized && is_of_sanitizer(name))) continue;
        if (symbol.st_shndx != SHN_UNDEF) {
            if (strcmp(name, entry_name) != 0 && ++exported <= EXPORTS_SHOWN)
                finding(l, "exports `%s`; a plugin exports %s alone (-fvisibility=hidden)", name, entry_name);
        } else if (binding != STB_WEAK && !has_version(&versions, has_versions, i - 1)) {
            finding(l, "needs `%s`, which neither libc nor libm has", name);
        }
    }
    if (exported > EXPORTS_SHOWN) finding(l, "exports %u more symbols", exported - EXPORTS_SHOWN);
}

static void check_libraries(linter *l)
{
    section dynamic;
    if (!find_section(l, SHT_DYNAMIC, &dynamic) || dynamic.data == NULL || dynamic.header.sh_entsize == 0) return;
    const uint64_t count = dynamic.header.sh_size / dynamic.header.sh_entsize;
    for (uint64_t i = 0; i < count; i++) {
        GElf_Dyn entry;
        if (gelf_getdyn(dynamic.data, (int)i, &entry) == NULL || entry.d_tag == DT_NULL) return;
        if (entry.d_tag != DT_NEEDED) continue;
        const char *name = elf_strptr(l->elf, dynamic.header.sh_link, entry.d_un.d_val);
        if (name == NULL || strcmp(name, "libc.so.6") == 0 || strcmp(name, "libm.so.6") == 0 ||
            strncmp(name, "ld-linux-", 9) == 0 || (l->is_sanitized && strstr(name, "san.so") != NULL))
            continue;
        finding(l, "is linked to %s; a plugin is linked to libc and libm alone", name);
    }
}

/* What the compiler's own start files put there. */
static bool is_of_compiler(const char *name)
{
    return name[0] == '\0' || strncmp(name, "completed.", 10) == 0 || strcmp(name, "__dso_handle") == 0 ||
           strcmp(name, "__TMC_END__") == 0;
}

/* A lock of what is the process's lies in the section `of_process`, which is none of these. */
static bool is_variable_section(const section *s)
{
    const bool is_writable = (s->header.sh_flags & SHF_WRITE) != 0 && (s->header.sh_flags & SHF_ALLOC) != 0;
    return is_writable && (strcmp(s->name, ".data") == 0 || strcmp(s->name, ".bss") == 0 ||
                           strcmp(s->name, ".tdata") == 0 || strcmp(s->name, ".tbss") == 0);
}

static void check_variables(linter *l)
{
    enum { OF_COMPILER_BYTES_MAX = 8 };
    section table, where;
    const bool has_names = find_section(l, SHT_SYMTAB, &table);
    if (!has_names) {
        size_t count = 0;
        if (elf_getshdrnum(l->elf, &count) != 0) return;
        for (size_t i = 1; i < count; i++) {
            if (read_section(l, i, &where) && is_variable_section(&where) &&
                where.header.sh_size > OF_COMPILER_BYTES_MAX)
                finding(l, "has %llu bytes of writable static data in %s; a plugin has none",
                        (unsigned long long)where.header.sh_size, where.name);
        }
        return;
    }
    GElf_Sym symbol;
    const char *name;
    for (uint32_t i = 1; next_symbol(l, &table, &i, &symbol, &name);) {
        const unsigned char type = GELF_ST_TYPE(symbol.st_info);
        if ((type != STT_OBJECT && type != STT_TLS) || symbol.st_shndx >= SHN_LORESERVE || is_of_compiler(name))
            continue;
        if (read_section(l, symbol.st_shndx, &where) && is_variable_section(&where))
            finding(l, "has the writable static variable `%s`; a plugin has none", name);
    }
}

/* frame_dummy and __do_global_dtors_aux are the compiler's. */
static void check_constructors(linter *l)
{
    section s;
    if (find_section(l, SHT_INIT_ARRAY, &s) && s.header.sh_size > sizeof(void *))
        finding(l, "runs %llu functions of its own when it is loaded; a plugin runs none before its entry",
                (unsigned long long)(s.header.sh_size / sizeof(void *) - 1));
}

static void check_file(linter *l)
{
    BUG_IF(elf_version(EV_CURRENT) == EV_NONE, "libelf is too old");
    const int fd = open(l->path, O_RDONLY | O_CLOEXEC);
    l->elf = fd >= 0 ? elf_begin(fd, ELF_C_READ, NULL) : NULL;
    if (l->elf != NULL) {
        check_symbols(l);
        check_libraries(l);
        if (!l->is_sanitized) check_variables(l);
        if (!l->is_sanitized) check_constructors(l);
        elf_end(l->elf);
    }
    if (fd >= 0) close(fd);
}

/* ---- descriptor ---- */

static bool is_empty(const char *text) { return text == NULL || !*text; }

static void check_options(linter *l, const char *kind, const char *id, const pto_option *const *options)
{
    for (; options != NULL && *options != NULL; options++) {
        if (is_empty((*options)->example)) finding(l, "%s %s: option `%s` has no example", kind, id, (*options)->name);
    }
}

static void check_summary(linter *l, const char *kind, const char *id, const char *summary)
{
    if (is_empty(summary)) finding(l, "%s %s has no summary", kind, id);
}

/* What tools understand, or what is plainly its own. */
static void check_counters(linter *l, arena *a, const pto_backend *b)
{
    if (b->counters[0] == NULL)
        finding(l,
                "backend %s does not declare its counters (`pto-inspect counters` lists names): no report can say what "
                "it lacks",
                b->id);
    for (const char *const *c = b->counters; *c != NULL; c++) {
        if (counter_declared(str_from(*c)) != PTO_COUNTER_NONE || counter_is_own(b, str_from(*c))) continue;
        const char *near = counter_nearest(str_from(*c), a);
        finding(l,
                "backend %s declares the counter `%s`, which <pto/profile.h> does not have%s%s%s; names of its own "
                "begin with `%s `",
                b->id, *c, near != NULL ? " (`" : "", near != NULL ? near : "", near != NULL ? "` is near)" : "",
                b->id);
    }
}

static void check_descriptor(linter *l, arena *a, const pto_plugin *p)
{
    for (const pto_pass *const *x = p->passes; *x != NULL; x++) {
        check_summary(l, "pass", (*x)->id, (*x)->summary);
        check_options(l, "pass", (*x)->id, (*x)->options);
    }
    for (const pto_property *const *x = p->properties; *x != NULL; x++)
        check_summary(l, "property", (*x)->id, (*x)->doc);
    for (const struct pto_tiling *const *x = p->tilings; *x != NULL; x++) {
        check_summary(l, "tiling strategy", (*x)->id, (*x)->summary);
        check_options(l, "tiling strategy", (*x)->id, (*x)->options);
    }
    for (const struct pto_cost *const *x = p->costs; *x != NULL; x++) {
        check_summary(l, "cost model", (*x)->id, (*x)->summary);
        check_options(l, "cost model", (*x)->id, (*x)->options);
    }
    for (const struct pto_generator *const *x = p->generators; *x != NULL; x++) {
        check_summary(l, "code generator", (*x)->id, (*x)->summary);
        check_options(l, "code generator", (*x)->id, (*x)->options);
    }
    for (const struct pto_reader *const *x = p->readers; *x != NULL; x++) {
        check_summary(l, "reader", (*x)->id, (*x)->summary);
        check_options(l, "reader", (*x)->id, (*x)->options);
    }
    for (const struct pto_backend *const *x = p->backends; *x != NULL; x++) {
        check_summary(l, "backend", (*x)->id, (*x)->summary);
        check_options(l, "backend", (*x)->id, (*x)->options);
        check_counters(l, a, *x);
    }
}

status plugin_lint(arena *a, diag_engine *d, flight_recorder *recorder, const plugin_refusal *refused, const char *path,
                   text_buffer *out, uint32_t *finding_count)
{
    const char *const files[] = {path, NULL};
    plugin_host_params params = plugin_host_defaults();
    params.only_given = true;
    params.files = files;
    params.recorder = recorder;
    params.refused = refused;
    plugin_host *host;
    *finding_count = 0;
    TRY(plugin_host_create(a, d, &params, &host));
    const plugin_file *f = plugin_host_file_at(host, 0);
    linter l = {.path = path, .out = out, .is_sanitized = f->note.sanitizer != PTO_SANITIZER_NONE};
    check_file(&l);
    if (strcmp(f->note.vendor, "pto") != 0 && strncmp(f->note.id, "pto.", 4) == 0)
        finding(&l, "has the id %s, but `pto.` is not its vendor's", f->note.id);
    TRY(plugin_host_load(host, NO_POS, f));
    for (const pto_pass *const *x = f->plugin->passes; *x != NULL; x++)
        TRY(pass_check_claims(d, host, NO_POS, f->plugin->id, *x));
    check_descriptor(&l, a, f->plugin);
    *finding_count = l.count;
    return OK;
}
