#include "core/host/plugin_load.h"

#include "core/core_diag.h"
#include "core/files/option.h"
#include "core/host/plugin_loader.h"
#include "core/host/process_state.h"
#include "ir/base/text.h"

#include <pto/opset.h>

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

status loader_refuse(const loader *l, const char *format, ...)
{
    va_list args;
    char text[512];
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    diag_error(l->diags, l->at, &E1312, "plugin `%s` (%s) describes itself wrongly: %s", l->file->note.id,
               l->file->path, text);
    return FAILED;
}

void *loader_copy(const loader *l, const void *theirs, size_t our_bytes)
{
    uint32_t their_bytes;
    memcpy(&their_bytes, theirs, sizeof their_bytes);
    const uint32_t bytes = their_bytes < our_bytes ? their_bytes : (uint32_t)our_bytes;
    void *copy = arena_alloc(l->a, our_bytes);
    memcpy(copy, theirs, bytes);
    memcpy(copy, &bytes, sizeof bytes);
    return copy;
}

enum { LIST_MAX = 1024 };

status loader_count(const loader *l, const void *const *list, const char *what, uint32_t *out)
{
    uint32_t n = 0;
    while (list != NULL && list[n] != NULL) {
        if (++n > LIST_MAX) return loader_refuse(l, "its list of %s does not end", what);
    }
    *out = n;
    return OK;
}

status loader_check_text(const loader *l, const char *owner, const char *what, const char *text)
{
    return text == NULL || str_is_plain_line(str_from(text))
               ? OK
               : loader_refuse(l, "%s of `%s` is not plain text in one line", what, owner);
}

static status check_texts(const loader *l, const char *const **list, const char *what)
{
    static const char *const nothing[] = {NULL};
    uint32_t n = 0;
    TRY(loader_count(l, (const void *const *)*list, what, &n));
    for (uint32_t i = 0; i < n; i++) TRY(loader_check_text(l, l->file->note.id, what, (*list)[i]));
    if (*list == NULL) *list = nothing;
    return OK;
}

static status check_option_texts(const loader *l, const char *owner, const pto_option *o)
{
    const struct {
        const char *what, *text;
    } texts[] = {{"an option name", o->name},
                 {"the doc of an option", o->doc},
                 {"the unit of an option", o->unit},
                 {"the example of an option", o->example},
                 {"a default", o->def},
                 {"a minimum", o->min},
                 {"a maximum", o->max}};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        TRY(loader_check_text(l, owner, texts[i].what, texts[i].text));
    return OK;
}

static status copy_options(const loader *l, const char *owner, const pto_option *const **list)
{
    uint32_t n = 0;
    TRY(loader_count(l, (const void *const *)*list, "options", &n));
    const pto_option **copies = arena_array(l->a, (size_t)n + 1, sizeof *copies);
    for (uint32_t i = 0; i < n; i++) {
        const pto_option *theirs = (*list)[i];
        if (!PTO_HAS(theirs, choices)) return loader_refuse(l, "option %u of `%s` is too short a struct", i, owner);
        pto_option *o = loader_copy(l, theirs, sizeof *o);
        if (o->name == NULL || o->doc == NULL || o->type == PTO_OPT_NONE || o->type > PTO_OPT_PLUGIN)
            return loader_refuse(l, "option %u of `%s` lacks its name, doc or type", i, owner);
        TRY(check_option_texts(l, owner, o));
        if (o->type == PTO_OPT_ENUM || o->type == PTO_OPT_PLUGIN) {
            if (o->choices == NULL || o->choices[0] == NULL)
                return loader_refuse(l, "option `%s` lacks its choices", o->name);
            TRY(check_texts(l, &o->choices, "choices"));
        }
        copies[i] = o;
    }
    *list = copies;
    char who[256];
    snprintf(who, sizeof who, "`%s` of plugin `%s`", owner, l->file->note.id);
    return options_check(l->a, l->diags, l->at, who, copies);
}

/* A slash and a number of at most two digits. */
static bool is_number(const char *p)
{
    const size_t n = strspn(p, "0123456789/");
    return p[0] == '/' && strrchr(p, '/') == p && n > 1 && n <= 3 && p[n] == '\0';
}

status loader_check_level(const loader *l, const char *owner, const char *level)
{
    if (level == NULL) return loader_refuse(l, "`%s` does not say its level", owner);
    const size_t n = strcspn(level, "/");
    if (level_by_name(NULL, str_from(level)) != LEVEL_NONE) return OK;
    if (!is_number(level + n) || !plugin_host_has_dialect(l->host, (str){level, n}))
        return loader_refuse(l, "`%s` names the level `%s`, which this core does not know", owner, level);
    if (op_table_add_level(plugin_host_ops(l->host), level) == LEVEL_NONE)
        return loader_refuse(l, "`%s` names the level `%s`; the most are %d", owner, level, LEVELS_MAX - 1);
    return OK;
}

/* Kinds are looked up again when a run begins; here they must only exist. */
static status check_kinds(const loader *l, const char *owner, const char *const **kinds)
{
    TRY(check_texts(l, kinds, "op kinds"));
    for (const char *const *k = *kinds; *k != NULL; k++) {
        if (op_kind_of_ours(str_from(*k)) != OP_NONE || plugin_host_has(l->host, PLUGIN_OP, str_from(*k))) continue;
        const char *near = op_nearest_name(plugin_host_ops(l->host), str_from(*k));
        diag_error(l->diags, l->at, &E1313, "`%s` of plugin `%s` (%s) uses the op `%s`, which does not exist%s%s%s",
                   owner, l->file->note.id, l->file->path, *k, near != NULL ? "; the nearest is `" : "",
                   near != NULL ? near : "", near != NULL ? "`" : "");
        return FAILED;
    }
    return OK;
}

/* What a host does not know it cannot heed. */
static status check_flags(const loader *l, const char *what, const char *id, uint32_t flags, uint32_t known)
{
    if ((flags & ~known) == 0) return OK;
    return loader_refuse(l, "%s `%s` sets the flags 0x%x, of which this core knows 0x%x", what, id, flags, known);
}

static status copy_pass(const loader *l, const pto_pass *theirs, const pto_pass **out)
{
    if (!PTO_HAS(theirs, run)) return loader_refuse(l, "a pass is too short a struct");
    pto_pass *p = loader_copy(l, theirs, sizeof *p);
    if (p->id == NULL || p->summary == NULL || p->run == NULL)
        return loader_refuse(l, "a pass lacks its id, summary or run");
    TRY(loader_check_text(l, p->id, "the summary", p->summary));
    if (p->scope == NULL || (strcmp(p->scope, "function") != 0 && strcmp(p->scope, "module") != 0))
        return loader_refuse(l, "the scope of pass `%s` is neither function nor module", p->id);
    TRY(check_flags(l, "pass", p->id, p->flags,
                    PTO_PASS_REASSOCIATES | PTO_PASS_KEEPS_LEVEL | PTO_PASS_CHOOSES | PTO_PASS_NEEDED));
    TRY(loader_check_level(l, p->id, p->consumes));
    TRY(loader_check_level(l, p->id, p->produces));
    TRY(check_texts(l, &p->requires_props, "required properties"));
    TRY(check_texts(l, &p->establishes, "established properties"));
    TRY(check_texts(l, &p->breaks, "broken properties"));
    TRY(check_texts(l, &p->stats, "statistics"));
    TRY(check_kinds(l, p->id, &p->kinds));
    TRY(copy_options(l, p->id, &p->options));
    *out = p;
    return OK;
}

static status copy_property(const loader *l, const pto_property *theirs, const pto_property **out)
{
    if (!PTO_HAS(theirs, check)) return loader_refuse(l, "a property is too short a struct");
    pto_property *p = loader_copy(l, theirs, sizeof *p);
    if (p->id == NULL || p->doc == NULL || p->check == NULL)
        return loader_refuse(l, "a property lacks its id, doc or check");
    TRY(loader_check_text(l, p->id, "the doc", p->doc));
    TRY(check_flags(l, "property", p->id, p->reserved, 0));
    TRY(loader_check_level(l, p->id, p->level));
    if (p->excludes != NULL) TRY(loader_check_level(l, p->id, p->excludes));
    TRY(check_kinds(l, p->id, &p->kinds));
    *out = p;
    return OK;
}

/* What strategies, cost models and code generators have alike, apart from the function that the host calls. */
#define COPY_STRATEGY(type, call, what)                                                          \
    static status copy_##call(const loader *l, const type *theirs, const type **out)             \
    {                                                                                            \
        if (!PTO_HAS(theirs, call)) return loader_refuse(l, "a " what " is too short a struct"); \
        type *t = loader_copy(l, theirs, sizeof *t);                                             \
        if (t->id == NULL || t->summary == NULL || t->call == NULL)                              \
            return loader_refuse(l, "a " what " lacks its id, summary or " #call);               \
        TRY(loader_check_text(l, t->id, "the summary", t->summary));                             \
        TRY(check_flags(l, what, t->id, t->reserved, 0));                                        \
        *out = t;                                                                                \
        return copy_options(l, t->id, &t->options);                                              \
    }
COPY_STRATEGY(pto_tiling, offer, "tiling strategy")
COPY_STRATEGY(pto_cost, price, "cost model")
COPY_STRATEGY(pto_generator, generate, "code generator")
COPY_STRATEGY(pto_reader, read, "reader")

static status copy_backend(const loader *l, const pto_backend *theirs, const pto_backend **out)
{
    if (!PTO_HAS(theirs, release)) return loader_refuse(l, "a backend is too short a struct");
    pto_backend *b = loader_copy(l, theirs, sizeof *b);
    if (b->id == NULL || b->summary == NULL || b->prepare == NULL || b->execute == NULL || b->release == NULL)
        return loader_refuse(l, "a backend lacks its id, summary, prepare, execute or release");
    TRY(loader_check_text(l, b->id, "the summary", b->summary));
    TRY(check_flags(l, "backend", b->id, b->reserved, 0));
    TRY(check_texts(l, &b->consumes, "levels"));
    for (const char *const *level = b->consumes; *level != NULL; level++) TRY(loader_check_level(l, b->id, *level));
    TRY(check_texts(l, &b->requires_props, "required properties"));
    TRY(check_kinds(l, b->id, &b->kinds));
    TRY(copy_options(l, b->id, &b->options));
    TRY(check_texts(l, &b->hints, "hints"));
    TRY(check_texts(l, &b->counters, "counters"));
    for (const char *const *hint = b->hints; *hint != NULL; hint++)
        if (!op_has_hint(str_from(*hint)))
            return loader_refuse(l, "backend `%s` heeds the hint `%s`, which no op has", b->id, *hint);
    *out = b;
    return OK;
}

#define COPY_LIST(list, type, copy_one, what)                                                      \
    do {                                                                                           \
        uint32_t n = 0;                                                                            \
        TRY(loader_count(l, (const void *const *)(list), what, &n));                               \
        const type **copies = arena_array(l->a, (size_t)n + 1, sizeof *copies);                    \
        for (uint32_t i = 0; i < n; i++) {                                                         \
            TRY(copy_one(l, (list)[i], &copies[i]));                                               \
            for (uint32_t k = 0; k < i; k++)                                                       \
                if (strcmp(copies[k]->id, copies[i]->id) == 0)                                     \
                    return loader_refuse(l, "two of its %s are called `%s`", what, copies[i]->id); \
        }                                                                                          \
        (list) = copies;                                                                           \
    } while (0)

static status copy_plugin(const loader *l, const pto_plugin *theirs, const pto_plugin **out)
{
    if (theirs == NULL) return loader_refuse(l, "its entry returned nothing");
    if (!PTO_HAS(theirs, readers)) return loader_refuse(l, "the plugin is too short a struct");
    pto_plugin *p = loader_copy(l, theirs, sizeof *p);
    if (p->id == NULL || p->version == NULL || p->license == NULL)
        return loader_refuse(l, "the plugin lacks its id, version or license");
    TRY(loader_check_text(l, l->file->note.id, "the version", p->version));
    TRY(loader_check_text(l, l->file->note.id, "the license", p->license));
    COPY_LIST(p->passes, pto_pass, copy_pass, "passes");
    COPY_LIST(p->properties, pto_property, copy_property, "properties");
    COPY_LIST(p->tilings, pto_tiling, copy_offer, "tilings");
    COPY_LIST(p->costs, pto_cost, copy_price, "costs");
    COPY_LIST(p->generators, pto_generator, copy_generate, "generators");
    COPY_LIST(p->readers, pto_reader, copy_read, "readers");
    COPY_LIST(p->backends, pto_backend, copy_backend, "backends");
    COPY_LIST(p->opsets, pto_opset, opset_copy, "op-sets");
    *out = p;
    return OK;
}

/* ---- the note against the descriptor ---- */

static status differs(const loader *l, const char *what, const char *in_note, const char *in_descriptor)
{
    diag_error(l->diags, l->at, &E1311, "plugin `%s` (%s): its note and its descriptor differ in %s: %s and %s",
               l->file->note.id, l->file->path, what, in_note, in_descriptor);
    return FAILED;
}

static bool note_provides(const elf_note *n, plugin_kind kind, const char *id)
{
    for (uint32_t i = 0; i < n->provided_count; i++) {
        if (n->provides[i].kind == kind && strcmp(n->provides[i].id, id) == 0) return true;
    }
    return false;
}

static bool has_op(const pto_plugin *p, const char *name)
{
    for (uint32_t i = 0; p->opsets[i] != NULL; i++)
        for (uint32_t k = 0; p->opsets[i]->rows[k] != NULL; k++)
            if (strcmp(p->opsets[i]->rows[k]->name, name) == 0) return true;
    return false;
}

/* A plugin whose note names an op to rewrite is not loaded for a module without it: what the host takes for granted of
 * its pass then must hold. */
static bool is_for(const loader *l, const pto_plugin *p, const char *op)
{
    const pto_pass *pass = p->passes[0];
    if (pass == NULL || p->passes[1] != NULL || p->properties[0] != NULL || p->opsets[0] != NULL) return false;
    for (const pto_option *const *o = pass->options; *o != NULL; o++)
        if ((*o)->type == PTO_OPT_PLUGIN) return false;
    op_table *ops = plugin_host_ops(l->host);
    const char *level = level_name(ops, op_level_by_name(ops, str_from(op)));
    return *pass->requires_props == NULL && *pass->establishes == NULL && *pass->breaks == NULL &&
           (pass->flags & PTO_PASS_CHOOSES) == 0 && strcmp(pass->scope, "function") == 0 &&
           strcmp(pass->consumes, level) == 0 && strcmp(pass->produces, level) == 0 && str_list_has(pass->kinds, op);
}

#define HAS(list)                                                                                   \
    for (uint32_t i = 0; p->list[i] != NULL; i++) found = found || strcmp(p->list[i]->id, id) == 0; \
    break
static bool plugin_provides(const loader *l, const pto_plugin *p, plugin_kind kind, const char *id)
{
    bool found = false;
    switch (kind) {
    case PLUGIN_PASS: HAS(passes);
    case PLUGIN_PROPERTY: HAS(properties);
    case PLUGIN_TILING: HAS(tilings);
    case PLUGIN_COST: HAS(costs);
    case PLUGIN_GENERATOR: HAS(generators);
    case PLUGIN_READER: HAS(readers);
    case PLUGIN_BACKEND: HAS(backends);
    case PLUGIN_OP: return has_op(p, id);
    case PLUGIN_REWRITES: return is_for(l, p, id);
    case PLUGIN_OTHER:
    case PLUGIN_KIND_COUNT: return true; /* of kinds that we do not know we need nothing */
    }
    return found;
}

#define CHECK_NOTED(list, kind, name, what)      \
    for (uint32_t i = 0; (list)[i] != NULL; i++) \
        if (!note_provides(n, kind, (list)[i]->name)) return differs(l, what, "nothing", (list)[i]->name)
static status compare_provided(const loader *l, const pto_plugin *p)
{
    const elf_note *n = &l->file->note;
    for (uint32_t i = 0; i < n->provided_count; i++) {
        if (plugin_provides(l, p, n->provides[i].kind, n->provides[i].id)) continue;
        return n->provides[i].kind == PLUGIN_REWRITES
                   ? differs(l, "what its pass is for", n->provides[i].text,
                             "a pass that needs, changes or asks for more than the op")
                   : differs(l, "what it provides", n->provides[i].text, "nothing");
    }
    CHECK_NOTED(p->passes, PLUGIN_PASS, id, "its passes");
    CHECK_NOTED(p->properties, PLUGIN_PROPERTY, id, "its properties");
    CHECK_NOTED(p->tilings, PLUGIN_TILING, id, "its tiling strategies");
    CHECK_NOTED(p->costs, PLUGIN_COST, id, "its cost models");
    CHECK_NOTED(p->generators, PLUGIN_GENERATOR, id, "its code generators");
    for (const pto_generator *const *g = p->generators; *g != NULL; g++)
        if ((*g)->suffix == NULL || ((*g)->suffix[0] != '.' && strcmp((*g)->suffix, "/") != 0))
            return loader_refuse(l, "the suffix of generator `%s` is not `/` and does not begin with a point",
                                 (*g)->id);
    CHECK_NOTED(p->readers, PLUGIN_READER, id, "its readers");
    for (const pto_reader *const *r = p->readers; *r != NULL; r++)
        for (const char *const *suffix = (*r)->suffixes; suffix != NULL && *suffix != NULL; suffix++)
            if ((*suffix)[0] != '.')
                return loader_refuse(l, "a suffix of reader `%s` does not begin with a point", (*r)->id);
    CHECK_NOTED(p->backends, PLUGIN_BACKEND, id, "its backends");
    for (uint32_t k = 0; p->opsets[k] != NULL; k++) CHECK_NOTED(p->opsets[k]->rows, PLUGIN_OP, name, "its ops");
    return OK;
}

static status compare_established(const loader *l, const pto_plugin *p)
{
    for (uint32_t i = 0; p->passes[i] != NULL; i++) {
        for (const char *const *e = p->passes[i]->establishes; *e != NULL; e++) {
            if (!str_list_has(l->file->note.establishes, *e))
                return differs(l, "established properties", "nothing", *e);
        }
    }
    for (const char *const *e = l->file->note.establishes; *e != NULL; e++) {
        bool found = false;
        for (uint32_t i = 0; p->passes[i] != NULL; i++) found = found || str_list_has(p->passes[i]->establishes, *e);
        if (!found) return differs(l, "established properties", *e, "nothing");
    }
    return OK;
}

static status compare_with_note(const loader *l, const pto_plugin *p)
{
    const elf_note *n = &l->file->note;
    if (strcmp(p->id, n->id) != 0) return differs(l, "the id", n->id, p->id);
    if (p->abi_minor != n->built_minor) {
        char in_note[16], in_descriptor[16];
        snprintf(in_note, sizeof in_note, "%u", n->built_minor);
        snprintf(in_descriptor, sizeof in_descriptor, "%u", p->abi_minor);
        return differs(l, "the ABI minor", in_note, in_descriptor);
    }
    TRY(compare_provided(l, p));
    return compare_established(l, p);
}

/* Its constructors and its entry run here, and nothing else of it. */
static status call_entry(const loader *l, const pto_plugin **out)
{
    const plugin_file *f = l->file;
    void *library = dlopen(f->path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (library == NULL) {
        diag_error(l->diags, l->at, &E1310, "plugin `%s` cannot be loaded: %s", f->note.id, dlerror());
        return FAILED;
    }
    void *symbol = dlsym(library, "pto_plugin_entry_v1");
    if (symbol == NULL) {
        diag_error(l->diags, l->at, &E1310, "plugin `%s` (%s) lacks its entry pto_plugin_entry_v1", f->note.id,
                   f->path);
        return FAILED;
    }
    const pto_plugin *(*entry)(void);
    memcpy(&entry, &symbol, sizeof entry);
    *out = entry();
    return OK;
}

status plugin_load(plugin_host *host, arena *a, diag_engine *d, src_pos at, flight_recorder *recorder, plugin_file *f)
{
    const loader l = {a, d, at, host, f};
    const process_caller who = {.diags = d, .at = at, .plugin = f->note.id, .path = f->path};
    const pto_plugin *theirs = NULL, *p = NULL;
    process_enter(recorder);
    const status called = call_entry(&l, &theirs);
    process_leave(recorder, &who);
    TRY(called);
    TRY(copy_plugin(&l, theirs, &p));
    BUG_IF(p == NULL, "no descriptor");
    TRY(compare_with_note(&l, p));
    f->plugin = p;
    return OK;
}
