#include "core/host/plugin_load.h"

#include "core/core_diag.h"
#include "core/files/option.h"
#include "core/host/process_state.h"
#include "ir/base/text.h"
#include "ir/op_info.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct loader {
    arena *a;
    diag_engine *diags;
    src_pos at;
    const plugin_file *file;
} loader;

PRINTF_LIKE(2, 3)
static status malformed(const loader *l, const char *format, ...)
{
    va_list args;
    char text[512];
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    diag_error(l->diags, l->at, &E1312, "plugin '%s' (%s) describes itself wrongly: %s", l->file->note.id,
               l->file->path, text);
    return FAILED;
}

/* Our copy of a struct that begins with struct_size: what the plugin does not have is 0, what we do not know is cut. */
static void *copy_struct(const loader *l, const void *theirs, size_t our_bytes)
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

static status list_length(const loader *l, const void *const *list, const char *what, uint32_t *out)
{
    uint32_t n = 0;
    while (list != NULL && list[n] != NULL) {
        if (++n > LIST_MAX) return malformed(l, "its list of %s does not end", what);
    }
    *out = n;
    return OK;
}

/* What the tools print: UTF-8 without what controls a terminal. */
static status check_text(const loader *l, const char *owner, const char *what, const char *text)
{
    return text == NULL || str_is_plain_line(str_from(text))
               ? OK
               : malformed(l, "%s of '%s' is not plain text in one line", what, owner);
}

static status check_texts(const loader *l, const char *const **list, const char *what)
{
    static const char *const nothing[] = {NULL};
    uint32_t n = 0;
    TRY(list_length(l, (const void *const *)*list, what, &n));
    for (uint32_t i = 0; i < n; i++) TRY(check_text(l, l->file->note.id, what, (*list)[i]));
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
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) TRY(check_text(l, owner, texts[i].what, texts[i].text));
    return OK;
}

static status copy_options(const loader *l, const char *owner, const pto_option *const **list)
{
    uint32_t n = 0;
    TRY(list_length(l, (const void *const *)*list, "options", &n));
    const pto_option **copies = arena_array(l->a, (size_t)n + 1, sizeof *copies);
    for (uint32_t i = 0; i < n; i++) {
        const pto_option *theirs = (*list)[i];
        if (!PTO_HAS(theirs, choices)) return malformed(l, "option %u of '%s' is too short a struct", i, owner);
        pto_option *o = copy_struct(l, theirs, sizeof *o);
        if (o->name == NULL || o->doc == NULL || o->type == PTO_OPT_NONE || o->type > PTO_OPT_PLUGIN)
            return malformed(l, "option %u of '%s' lacks its name, doc or type", i, owner);
        TRY(check_option_texts(l, owner, o));
        if (o->type == PTO_OPT_ENUM || o->type == PTO_OPT_PLUGIN) {
            if (o->choices == NULL || o->choices[0] == NULL)
                return malformed(l, "option '%s' lacks its choices", o->name);
            TRY(check_texts(l, &o->choices, "choices"));
        }
        copies[i] = o;
    }
    *list = copies;
    char who[256];
    snprintf(who, sizeof who, "`%s` of plugin `%s`", owner, l->file->note.id);
    return options_check(l->a, l->diags, l->at, who, copies);
}

static status check_level(const loader *l, const char *owner, const char *level)
{
    if (level == NULL) return malformed(l, "'%s' does not say its level", owner);
    if (level_by_name(str_from(level)) == LEVEL_NONE)
        return malformed(l, "'%s' names the level '%s', which this core does not know", owner, level);
    return OK;
}

/* Kinds are looked up again when a run begins; here they must only exist. */
static status check_kinds(const loader *l, const char *owner, const char *const **kinds)
{
    TRY(check_texts(l, kinds, "op kinds"));
    for (const char *const *k = *kinds; *k != NULL; k++) {
        if (op_kind_of_ours(str_from(*k)) != OP_NONE) continue;
        const char *near = op_nearest_name(NULL, str_from(*k));
        diag_error(l->diags, l->at, &E1313, "'%s' of plugin '%s' (%s) uses the op '%s', which does not exist%s%s%s",
                   owner, l->file->note.id, l->file->path, *k, near != NULL ? "; the nearest is '" : "",
                   near != NULL ? near : "", near != NULL ? "'" : "");
        return FAILED;
    }
    return OK;
}

/* What a host does not know it cannot heed. */
static status check_flags(const loader *l, const char *what, const char *id, uint32_t flags, uint32_t known)
{
    if ((flags & ~known) == 0) return OK;
    return malformed(l, "%s '%s' sets the flags 0x%x, of which this core knows 0x%x", what, id, flags, known);
}

static status copy_pass(const loader *l, const pto_pass *theirs, const pto_pass **out)
{
    if (!PTO_HAS(theirs, run)) return malformed(l, "a pass is too short a struct");
    pto_pass *p = copy_struct(l, theirs, sizeof *p);
    if (p->id == NULL || p->summary == NULL || p->run == NULL)
        return malformed(l, "a pass lacks its id, summary or run");
    TRY(check_text(l, p->id, "the summary", p->summary));
    if (p->scope == NULL || (strcmp(p->scope, "function") != 0 && strcmp(p->scope, "module") != 0))
        return malformed(l, "the scope of pass '%s' is neither function nor module", p->id);
    TRY(check_flags(l, "pass", p->id, p->flags, PTO_PASS_REASSOCIATES | PTO_PASS_KEEPS_LEVEL));
    TRY(check_level(l, p->id, p->consumes));
    TRY(check_level(l, p->id, p->produces));
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
    if (!PTO_HAS(theirs, check)) return malformed(l, "a property is too short a struct");
    pto_property *p = copy_struct(l, theirs, sizeof *p);
    if (p->id == NULL || p->doc == NULL || p->check == NULL)
        return malformed(l, "a property lacks its id, doc or check");
    TRY(check_text(l, p->id, "the doc", p->doc));
    TRY(check_flags(l, "property", p->id, p->reserved, 0));
    TRY(check_level(l, p->id, p->level));
    if (p->excludes != NULL) TRY(check_level(l, p->id, p->excludes));
    TRY(check_kinds(l, p->id, &p->kinds));
    *out = p;
    return OK;
}

static status copy_tiling(const loader *l, const pto_tiling *theirs, const pto_tiling **out)
{
    if (!PTO_HAS(theirs, offer)) return malformed(l, "a tiling strategy is too short a struct");
    pto_tiling *t = copy_struct(l, theirs, sizeof *t);
    if (t->id == NULL || t->summary == NULL || t->offer == NULL)
        return malformed(l, "a tiling strategy lacks its id, summary or offer");
    TRY(check_text(l, t->id, "the summary", t->summary));
    TRY(check_flags(l, "tiling strategy", t->id, t->reserved, 0));
    TRY(copy_options(l, t->id, &t->options));
    *out = t;
    return OK;
}

static status copy_backend(const loader *l, const pto_backend *theirs, const pto_backend **out)
{
    if (!PTO_HAS(theirs, release)) return malformed(l, "a backend is too short a struct");
    pto_backend *b = copy_struct(l, theirs, sizeof *b);
    if (b->id == NULL || b->summary == NULL || b->prepare == NULL || b->execute == NULL || b->release == NULL)
        return malformed(l, "a backend lacks its id, summary, prepare, execute or release");
    TRY(check_text(l, b->id, "the summary", b->summary));
    TRY(check_flags(l, "backend", b->id, b->reserved, 0));
    TRY(check_texts(l, &b->consumes, "levels"));
    for (const char *const *level = b->consumes; *level != NULL; level++) TRY(check_level(l, b->id, *level));
    TRY(check_texts(l, &b->requires_props, "required properties"));
    TRY(check_kinds(l, b->id, &b->kinds));
    TRY(copy_options(l, b->id, &b->options));
    TRY(check_texts(l, &b->hints, "hints"));
    TRY(check_texts(l, &b->counters, "counters"));
    for (const char *const *hint = b->hints; *hint != NULL; hint++)
        if (!op_has_hint(str_from(*hint)))
            return malformed(l, "backend '%s' heeds the hint '%s', which no op has", b->id, *hint);
    *out = b;
    return OK;
}

#define COPY_LIST(list, type, copy_one, what)                                                  \
    do {                                                                                       \
        uint32_t n = 0;                                                                        \
        TRY(list_length(l, (const void *const *)(list), what, &n));                            \
        const type **copies = arena_array(l->a, (size_t)n + 1, sizeof *copies);                \
        for (uint32_t i = 0; i < n; i++) {                                                     \
            TRY(copy_one(l, (list)[i], &copies[i]));                                           \
            for (uint32_t k = 0; k < i; k++)                                                   \
                if (strcmp(copies[k]->id, copies[i]->id) == 0)                                 \
                    return malformed(l, "two of its %s are called '%s'", what, copies[i]->id); \
        }                                                                                      \
        (list) = copies;                                                                       \
    } while (0)

static status copy_plugin(const loader *l, const pto_plugin *theirs, const pto_plugin **out)
{
    if (theirs == NULL) return malformed(l, "its entry gave nothing");
    if (!PTO_HAS(theirs, backends)) return malformed(l, "the plugin is too short a struct");
    pto_plugin *p = copy_struct(l, theirs, sizeof *p);
    if (p->id == NULL || p->version == NULL || p->license == NULL)
        return malformed(l, "the plugin lacks its id, version or license");
    TRY(check_text(l, l->file->note.id, "the version", p->version));
    TRY(check_text(l, l->file->note.id, "the license", p->license));
    COPY_LIST(p->passes, pto_pass, copy_pass, "passes");
    COPY_LIST(p->properties, pto_property, copy_property, "properties");
    COPY_LIST(p->tilings, pto_tiling, copy_tiling, "tilings");
    COPY_LIST(p->backends, pto_backend, copy_backend, "backends");
    *out = p;
    return OK;
}

/* ---- the note against the descriptor ---- */

static status differs(const loader *l, const char *what, const char *in_note, const char *in_descriptor)
{
    diag_error(l->diags, l->at, &E1311, "plugin '%s' (%s): its note and its descriptor differ in %s: %s and %s",
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

static bool plugin_provides(const pto_plugin *p, plugin_kind kind, const char *id)
{
    bool found = false;
    switch (kind) {
    case PLUGIN_PASS:
        for (uint32_t i = 0; p->passes[i] != NULL; i++) found = found || strcmp(p->passes[i]->id, id) == 0;
        break;
    case PLUGIN_PROPERTY:
        for (uint32_t i = 0; p->properties[i] != NULL; i++) found = found || strcmp(p->properties[i]->id, id) == 0;
        break;
    case PLUGIN_TILING:
        for (uint32_t i = 0; p->tilings[i] != NULL; i++) found = found || strcmp(p->tilings[i]->id, id) == 0;
        break;
    case PLUGIN_BACKEND:
        for (uint32_t i = 0; p->backends[i] != NULL; i++) found = found || strcmp(p->backends[i]->id, id) == 0;
        break;
    case PLUGIN_OTHER:
    case PLUGIN_KIND_COUNT: found = true; break; /* of kinds that we do not know we need nothing */
    }
    return found;
}

static status compare_provided(const loader *l, const pto_plugin *p)
{
    const elf_note *n = &l->file->note;
    for (uint32_t i = 0; i < n->provided_count; i++) {
        if (!plugin_provides(p, n->provides[i].kind, n->provides[i].id))
            return differs(l, "what it provides", n->provides[i].text, "nothing");
    }
    for (uint32_t i = 0; p->passes[i] != NULL; i++) {
        if (!note_provides(n, PLUGIN_PASS, p->passes[i]->id))
            return differs(l, "its passes", "nothing", p->passes[i]->id);
    }
    for (uint32_t i = 0; p->properties[i] != NULL; i++) {
        if (!note_provides(n, PLUGIN_PROPERTY, p->properties[i]->id))
            return differs(l, "its properties", "nothing", p->properties[i]->id);
    }
    for (uint32_t i = 0; p->tilings[i] != NULL; i++) {
        if (!note_provides(n, PLUGIN_TILING, p->tilings[i]->id))
            return differs(l, "its tiling strategies", "nothing", p->tilings[i]->id);
    }
    for (uint32_t i = 0; p->backends[i] != NULL; i++) {
        if (!note_provides(n, PLUGIN_BACKEND, p->backends[i]->id))
            return differs(l, "its backends", "nothing", p->backends[i]->id);
    }
    return OK;
}

static bool list_has(const char *const *list, const char *text)
{
    for (; *list != NULL; list++) {
        if (strcmp(*list, text) == 0) return true;
    }
    return false;
}

static status compare_established(const loader *l, const pto_plugin *p)
{
    for (uint32_t i = 0; p->passes[i] != NULL; i++) {
        for (const char *const *e = p->passes[i]->establishes; *e != NULL; e++) {
            if (!list_has(l->file->note.establishes, *e)) return differs(l, "established properties", "nothing", *e);
        }
    }
    for (const char *const *e = l->file->note.establishes; *e != NULL; e++) {
        bool found = false;
        for (uint32_t i = 0; p->passes[i] != NULL; i++) found = found || list_has(p->passes[i]->establishes, *e);
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
        diag_error(l->diags, l->at, &E1310, "plugin '%s' cannot be loaded: %s", f->note.id, dlerror());
        return FAILED;
    }
    void *symbol = dlsym(library, "pto_plugin_entry_v1");
    if (symbol == NULL) {
        diag_error(l->diags, l->at, &E1310, "plugin '%s' (%s) lacks its entry pto_plugin_entry_v1", f->note.id,
                   f->path);
        return FAILED;
    }
    const pto_plugin *(*entry)(void);
    memcpy(&entry, &symbol, sizeof entry);
    *out = entry();
    return OK;
}

status plugin_load(arena *a, diag_engine *d, src_pos at, flight_recorder *recorder, plugin_file *f)
{
    const loader l = {a, d, at, f};
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
