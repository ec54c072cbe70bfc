/* pto-inspect plugins, passes, tilings, costs, backends, properties, options: from notes and descriptors. */
#include "tools/base/tool_diag.h"
#include "tools/inspect/inspect.h"

#include <string.h>

static const char *option_type_name(pto_option_type type)
{
    static const char *const names[] = {"",     "bool",  "integer",          "number", "text",
                                        "enum", "bytes", "list of integers", "plugin"};
    return type < sizeof names / sizeof names[0] ? names[type] : "";
}

static void describe_option(const pto_option *o, text_buffer *t)
{
    text_puts(t, option_type_name(o->type));
    if (o->choices != NULL && o->choices[0] != NULL) {
        text_puts(t, o->type == PTO_OPT_PLUGIN ? " of kind" : " of");
        for (uint32_t i = 0; o->choices[i] != NULL; i++) text_printf(t, "%s %s", i ? "," : "", o->choices[i]);
    }
    if (o->min != NULL || o->max != NULL)
        text_printf(t, ", %s to %s", o->min != NULL ? o->min : "-inf", o->max != NULL ? o->max : "inf");
    if (o->unit != NULL) text_printf(t, " %s", o->unit);
    if (o->def != NULL)
        text_printf(t, ", default %s", o->def);
    else
        text_puts(t, ", required");
    if (o->doc != NULL) text_printf(t, ": %s", o->doc);
}

static void put_options(inspector *x, const pto_option *const *options)
{
    for (; options != NULL && *options != NULL; options++) {
        text_buffer t;
        text_init(&t);
        describe_option(*options, &t);
        text_buffer key;
        text_init(&key);
        text_printf(&key, "option %s", (*options)->name);
        inspect_row(x, key.p, t.p);
        text_fini(&key);
        text_fini(&t);
    }
}

static bool is_plugin(inspector *x, const char *id)
{
    for (uint32_t i = 0; i < plugin_host_file_count(x->host); i++)
        if (strcmp(plugin_host_file_at(x->host, i)->note.id, id) == 0) return true;
    return false;
}

typedef struct named_kind {
    plugin_kind kind;
    const char *what, *subject;
} named_kind;

static const named_kind named_kinds[] = {
    {PLUGIN_PASS, "a pass", "passes"},
    {PLUGIN_TILING, "a tiling strategy", "tilings"},
    {PLUGIN_COST, "a cost model", "costs"},
    {PLUGIN_GENERATOR, "a code generator", "generators"},
    {PLUGIN_READER, "a reader", "readers"},
    {PLUGIN_BACKEND, "a backend", "backends"},
    {PLUGIN_PROPERTY, "a property", "properties"},
};
static const named_kind op_named = {.what = "an op", .subject = "ops"},
                        plugin_named = {.what = "a plugin", .subject = "plugins"};

static const named_kind *find_named(inspector *x, const char *name)
{
    for (size_t i = 0; i < sizeof named_kinds / sizeof named_kinds[0]; i++)
        if (plugin_host_has(x->host, named_kinds[i].kind, str_from(name))) return &named_kinds[i];
    if (op_kind_by_name(plugin_host_ops(x->host), str_from(name)) != OP_NONE) return &op_named;
    return is_plugin(x, name) ? &plugin_named : NULL;
}

status inspect_unknown(inspector *x, const char *name, const char *absent, const char *near)
{
    static const src_pos tool = {"pto-inspect", 0, 0};
    const named_kind *k = find_named(x, name);
    if (k != NULL)
        diag_error(x->diags, tool, &E1504, "`%s` is %s: `pto-inspect %s %s` shows it", name, k->what, k->subject, name);
    else
        diag_error(x->diags, tool, &E1504, "%s `%s`", absent, name);
    if (k == NULL && near != NULL) diag_note(x->diags, NO_POS, "did you mean `%s`?", near);
    return FAILED;
}

typedef status (*show_part)(inspector *x, const char *id, bool in_full);

void inspect_refused(inspector *x, plugin_kind kind, const char *id)
{
    const char *why = plugin_host_refusal(x->host, kind, str_from(id));
    text_buffer t;
    text_init(&t);
    text_printf(&t, "refused: %s", why != NULL ? why : "see the errors");
    inspect_entry(x, id, t.p);
    inspect_entry_end(x);
    text_fini(&t);
}

/* All ids of a kind, or the one named. Details load the plugin. */
static status inspect_parts(inspector *x, plugin_kind kind, const char *name, show_part show)
{
    const char *const *ids = plugin_host_ids(x->host, kind);
    bool found = false;
    status result = OK;
    inspect_begin(x);
    for (uint32_t i = 0; ids[i] != NULL; i++) {
        if (name != NULL && strcmp(name, ids[i]) != 0) continue;
        found = true;
        if (show(x, ids[i], name != NULL || x->format != INSPECT_TEXT) == OK) continue;
        result = FAILED;
        if (name != NULL) return FAILED;
        inspect_refused(x, kind, ids[i]);
    }
    inspect_end(x);
    if (found || name == NULL) return result;
    return inspect_unknown(x, name, "no plugin that can be found provides", str_nearest(str_from(name), ids));
}

static status show_pass(inspector *x, const char *id, bool in_full)
{
    const plugin_file *file = NULL;
    const pto_pass *p = plugin_host_pass(x->host, NO_POS, str_from(id), &file);
    if (p == NULL) return FAILED;
    inspect_entry(x, p->id, p->summary);
    if (in_full) {
        inspect_row(x, "plugin", file->plugin->id);
        inspect_row(x, "scope", p->scope);
        inspect_row(x, "consumes", p->consumes);
        inspect_row(x, "produces", p->produces);
        inspect_row(x, "numerics", p->flags & PTO_PASS_REASSOCIATES ? "reassociates" : "exact");
        inspect_list(x, "requires", p->requires_props);
        inspect_list(x, "establishes", p->establishes);
        inspect_list(x, "breaks", p->breaks);
        inspect_list(x, "statistics", p->stats);
        put_options(x, p->options);
    }
    inspect_entry_end(x);
    return OK;
}

/* A strategy or a cost model. */
static status show_strategy(inspector *x, const plugin_file *file, const char *id, const char *summary,
                            const pto_option *const *options, bool in_full)
{
    inspect_entry(x, id, summary);
    if (in_full) {
        inspect_row(x, "plugin", file->plugin->id);
        put_options(x, options);
    }
    inspect_entry_end(x);
    return OK;
}

static status show_tiling(inspector *x, const char *id, bool in_full)
{
    const plugin_file *file = NULL;
    const pto_tiling *t = plugin_host_tiling(x->host, NO_POS, str_from(id), &file);
    return t != NULL ? show_strategy(x, file, t->id, t->summary, t->options, in_full) : FAILED;
}

static status show_cost(inspector *x, const char *id, bool in_full)
{
    const plugin_file *file = NULL;
    const pto_cost *c = plugin_host_cost(x->host, NO_POS, str_from(id), &file);
    return c != NULL ? show_strategy(x, file, c->id, c->summary, c->options, in_full) : FAILED;
}

static status show_generator(inspector *x, const char *id, bool in_full)
{
    const plugin_file *file = NULL;
    const pto_generator *g = plugin_host_generator(x->host, NO_POS, str_from(id), &file);
    if (g == NULL) return FAILED;
    inspect_entry(x, g->id, g->summary);
    if (in_full) {
        inspect_row(x, "plugin", file->plugin->id);
        inspect_row(x, "suffix", g->suffix);
        put_options(x, g->options);
    }
    inspect_entry_end(x);
    return OK;
}

static status show_reader(inspector *x, const char *id, bool in_full)
{
    const plugin_file *file = NULL;
    const pto_reader *r = plugin_host_reader(x->host, NO_POS, str_from(id), &file);
    if (r == NULL) return FAILED;
    inspect_entry(x, r->id, r->summary);
    if (in_full) {
        inspect_row(x, "plugin", file->plugin->id);
        inspect_list(x, "suffixes", r->suffixes);
        put_options(x, r->options);
    }
    inspect_entry_end(x);
    return OK;
}

static status show_backend(inspector *x, const char *id, bool in_full)
{
    const plugin_file *file = NULL;
    const pto_backend *b = plugin_host_backend(x->host, NO_POS, str_from(id), &file);
    if (b == NULL) return FAILED;
    inspect_entry(x, b->id, b->summary);
    if (in_full) {
        inspect_row(x, "plugin", file->plugin->id);
        inspect_list(x, "consumes", b->consumes);
        inspect_list(x, "requires", b->requires_props);
        inspect_list(x, "heeds", b->hints);
        inspect_list(x, "reports", b->counters);
        put_options(x, b->options);
    }
    inspect_entry_end(x);
    return OK;
}

static status show_property(inspector *x, const char *id, bool in_full)
{
    const plugin_file *file = NULL;
    const pto_property *p = plugin_host_property(x->host, NO_POS, str_from(id), &file);
    if (p == NULL) return FAILED;
    inspect_entry(x, p->id, p->doc);
    if (in_full) {
        inspect_row(x, "checked by", file->plugin->id);
        inspect_row(x, "level", p->level);
        if (p->excludes != NULL) inspect_row(x, "excludes ops of", p->excludes);
        inspect_list(x, "established by", plugin_host_suppliers(x->host, str_from(id)));
    }
    inspect_entry_end(x);
    return OK;
}

status inspect_passes(inspector *x, const char *name) { return inspect_parts(x, PLUGIN_PASS, name, show_pass); }
status inspect_tilings(inspector *x, const char *name) { return inspect_parts(x, PLUGIN_TILING, name, show_tiling); }
status inspect_costs(inspector *x, const char *name) { return inspect_parts(x, PLUGIN_COST, name, show_cost); }
status inspect_generators(inspector *x, const char *name)
{
    return inspect_parts(x, PLUGIN_GENERATOR, name, show_generator);
}
status inspect_readers(inspector *x, const char *name) { return inspect_parts(x, PLUGIN_READER, name, show_reader); }
status inspect_backends(inspector *x, const char *name) { return inspect_parts(x, PLUGIN_BACKEND, name, show_backend); }
status inspect_properties(inspector *x, const char *name)
{
    return inspect_parts(x, PLUGIN_PROPERTY, name, show_property);
}

static void show_options(inspector *x, const char *owner, const char *summary, const pto_option *const *options)
{
    if (options == NULL || *options == NULL) return;
    inspect_entry(x, owner, summary);
    put_options(x, options);
    inspect_entry_end(x);
}

/* The options of what a plugin provides. False after a diagnostic: it is refused. */
static bool show_options_of(inspector *x, plugin_kind kind, const char *id)
{
#define SHOW(KIND, what)                                                               \
    if (kind == (KIND)) {                                                              \
        const pto_##what *d = plugin_host_##what(x->host, NO_POS, str_from(id), NULL); \
        if (d != NULL) show_options(x, d->id, d->summary, d->options);                 \
        return d != NULL;                                                              \
    }
    SHOW(PLUGIN_PASS, pass)
    SHOW(PLUGIN_TILING, tiling)
    SHOW(PLUGIN_COST, cost)
    SHOW(PLUGIN_GENERATOR, generator)
    SHOW(PLUGIN_READER, reader)
    SHOW(PLUGIN_BACKEND, backend)
#undef SHOW
    return false;
}

status inspect_options(inspector *x, const char *name)
{
    static const plugin_kind kinds[] = {PLUGIN_PASS,      PLUGIN_TILING, PLUGIN_COST,
                                        PLUGIN_GENERATOR, PLUGIN_READER, PLUGIN_BACKEND};
    bool found = false;
    status result = OK;
    inspect_begin(x);
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        const char *const *ids = plugin_host_ids(x->host, kinds[k]);
        for (uint32_t i = 0; ids[i] != NULL; i++) {
            if (name != NULL && strcmp(name, ids[i]) != 0) continue;
            found = true;
            if (show_options_of(x, kinds[k], ids[i])) continue;
            inspect_refused(x, kinds[k], ids[i]);
            result = FAILED;
        }
    }
    inspect_end(x);
    if (found || name == NULL) return result;
    return inspect_unknown(x, name, "no plugin that can be found provides", NULL);
}

status inspect_plugins(inspector *x, const char *name)
{
    bool found = false;
    inspect_begin(x);
    for (uint32_t i = 0; i < plugin_host_file_count(x->host); i++) {
        const plugin_file *f = plugin_host_file_at(x->host, i);
        if (name != NULL && strcmp(name, f->note.id) != 0) continue;
        found = true;
        inspect_entry(x, f->note.id, f->refusal);
        inspect_row(x, "file", f->path);
        if (name != NULL || x->format != INSPECT_TEXT) {
            inspect_row(x, "vendor", f->note.vendor);
            inspect_rowf(x, "abi", "built for %u.%u, needs at least %u.%u", f->note.abi_major, f->note.built_minor,
                         f->note.abi_major, f->note.least_minor);
            const char **provided = arena_array(x->arena, f->note.provided_count + 1u, sizeof *provided);
            for (uint32_t k = 0; k < f->note.provided_count; k++) provided[k] = f->note.provides[k].text;
            inspect_list(x, "provides", provided);
        }
        inspect_entry_end(x);
    }
    inspect_end(x);
    if (found || name == NULL) return OK;
    return inspect_unknown(x, name, "there is no plugin", NULL);
}
