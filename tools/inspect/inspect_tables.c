/* pto-inspect ops, counters, machines: from tables and files. */
#include "core/files/machine.h"
#include "core/host/op_calls.h"
#include "ir/op_words.h"
#include "tools/base/tool_diag.h"
#include "tools/inspect/inspect.h"
#include "tools/run/counter_name.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void append(text_buffer *t, const char *word) { text_printf(t, "%s%s", t->n ? ", " : "", word); }

static void put_dtypes(inspector *x, uint32_t set)
{
    text_buffer t;
    text_init(&t);
    for (uint32_t d = 1; d < DTYPE_COUNT; d++) {
        if (set & (1u << d)) append(&t, dtype_name((dtype)d));
    }
    inspect_row(x, "element types", t.p);
    text_fini(&t);
}

static void put_traits(inspector *x, uint32_t traits)
{
    static const char *const names[] = {
#define TRAIT(ID, bit, word, doc) [bit] = word,
#include "ir/ops/kinds.def"
    };
    text_buffer t;
    text_init(&t);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (traits & (1u << i)) append(&t, names[i]);
    }
    inspect_row(x, "traits", t.p);
    text_fini(&t);
}

static void put_operands(inspector *x, const op_info *o)
{
    text_buffer t;
    text_init(&t);
    for (uint32_t i = 0; i < op_info_operands(o); i++) {
        append(&t, o->in[i].name);
        text_puts(&t, ": ");
        type_classes_print(o->in[i].types, &t);
        if (o->in[i].dtypes != 0 && (o->in[i].dtypes & (o->in[i].dtypes - 1)) == 0)
            text_printf(&t, " of %s", dtype_name((dtype)__builtin_ctz(o->in[i].dtypes)));
    }
    if (o->in_variadic) text_puts(&t, " ...");
    if (o->in_optional) text_printf(&t, " (last %u optional)", o->in_optional);
    inspect_row(x, "operands", t.p);
    text_fini(&t);
}

/* The value forms of a tensor op. */
static void put_tile_forms(inspector *x, const op_info *o)
{
    text_buffer t;
    text_init(&t);
    for (uint32_t i = 0; i < TILE_FORM_COUNT; i++)
        if (o->tile[i] != OP_NONE) append(&t, op_info_at(NULL, o->tile[i])->name);
    inspect_row(x, "tile forms", t.p);
    text_fini(&t);
    if (o->typed_by != OP_NONE) inspect_row(x, "typed by", op_info_at(NULL, o->typed_by)->name);
}

static void put_results(inspector *x, const op_info *o)
{
    text_buffer t;
    text_init(&t);
    if (o->out_count == OUT_ANY) text_puts(&t, "any number of ");
    if (o->out_count != 0) type_classes_print(o->out_types, &t);
    inspect_row(x, "result", t.p);
    text_fini(&t);
    if (o->blocks == BLOCKS_ANY)
        inspect_row(x, "blocks", "1 or 2");
    else if (o->blocks != 0)
        inspect_rowf(x, "blocks", "%u", o->blocks);
}

/* What follows from the row: where the op is, its text, shapes, valid regions and iteration space. */
static void put_rules(inspector *x, const op_info *o, op_kind kind)
{
    text_buffer t;
    text_init(&t);
    const op_table *ops = plugin_host_ops(x->host);
    inspect_row(x, "level", o->home < HOME_COUNT ? op_home_words(o->home) : level_name(ops, op_home_level(o->home)));
    op_form_words(ops, kind, &t);
    inspect_row(x, "form", t.p);
    text_fini(&t);
    inspect_row(x, "iteration space", space_rule_words((space_rule)o->space));
    inspect_row(x, "shapes", insn_rule_words((insn_rule)o->rule));
    inspect_row(x, "scratch", insn_tmp_words(op_info_tmp(o)));
    inspect_row(x, "folds to", fold_rule_words((fold_rule)o->fold));
}

/* Keys of a JSON object are unique: there "space vec" stands for the row "space", "attribute name" for the row "name".
 */
static const char *unique_key(inspector *x, const char *plain, const char *group, const char *name)
{
    if (x->format != INSPECT_JSON) return plain;
    text_buffer t;
    text_init(&t);
    text_printf(&t, "%s %s", group, name);
    return text_keep(&t, x->arena);
}

static void put_cost(inspector *x, const op_info *o)
{
    inspect_row(x, "cost class", o->cost);
    if (o->is_stated) inspect_row(x, "machines", "those that list element types for the cost class; no chip here");
}

static void show_op(inspector *x, op_kind kind, bool in_full)
{
    const op_info *o = op_info_at(plugin_host_ops(x->host), kind);
    inspect_entry(x, o->name, o->doc);
    if (in_full || x->format != INSPECT_TEXT) {
        put_rules(x, o, kind);
        put_operands(x, o);
        put_results(x, o);
        put_dtypes(x, o->dtypes);
        put_traits(x, o->traits);
        for (int i = 0; i < OP_INFO_ATTRS && o->attrs[i].name != NULL; i++) {
            const attr_spec *a = &o->attrs[i];
            inspect_rowf(x, unique_key(x, a->name, "attribute", a->name), "%s%s%s%s%s%s%s%s%s",
                         a->doc != NULL ? a->doc : "", a->names ? "; a name of a " : "",
                         a->names ? name_kind_words((name_kind)a->names) : "",
                         a->choices != NULL ? (a->names ? ", or " : "; one of ") : "",
                         a->choices != NULL ? a->choices : "", a->def != NULL ? "; default " : "",
                         a->def != NULL ? a->def : "", a->required ? "; required" : "", a->hint ? "; a hint" : "");
        }
        if (o->unit) inspect_row(x, "unit", name_role_words(NAME_PIPE)[o->unit - 1]);
        put_tile_forms(x, o);
        inspect_row(x, "expansion", o->expansion);
        put_cost(x, o);
        inspect_row(x, "numerics", o->numerics);
        inspect_row(x, "example", o->example);
        if (o->partner) inspect_row(x, "partner", op_info_at(NULL, o->partner)->name);
        const plugin_op *p = plugin_op_of(o);
        if (p != NULL) inspect_row(x, "plugin", p->agent.plugin);
        if (p != NULL)
            inspect_row(x, "reference semantics", p->row->evaluate != NULL ? "a function of the plugin" : "none");
    }
    inspect_entry_end(x);
}

static status unknown_name(inspector *x, const char *what, const char *name, const char *near)
{
    diag_error(x->diags, (src_pos){"pto-inspect", 0, 0}, &E1504, "there is no %s `%s`", what, name);
    if (near != NULL) diag_note(x->diags, NO_POS, "did you mean `%s`?", near);
    return FAILED;
}

/* Those of plugins come after the rows of ours, by name. */
static void show_ops(inspector *x)
{
    for (uint32_t k = OP_NONE + 1; k < OP_KIND_COUNT; k++) show_op(x, (op_kind)k, false);
    for (const char *const *id = plugin_host_ids(x->host, PLUGIN_OP); *id != NULL; id++) {
        const op_kind kind = op_kind_by_name(plugin_host_ops(x->host), str_from(*id));
        if (kind != OP_NONE)
            show_op(x, kind, false);
        else
            inspect_refused(x, PLUGIN_OP, *id);
    }
}

status inspect_ops(inspector *x, const char *name)
{
    op_table *ops = plugin_host_ops(x->host);
    inspect_begin(x);
    const op_kind kind = name != NULL ? op_kind_by_name(ops, str_from(name)) : OP_NONE;
    if (name != NULL && kind == OP_NONE)
        return inspect_unknown(x, name, "there is no op", op_nearest_name(ops, str_from(name)));
    if (name != NULL)
        show_op(x, kind, true);
    else
        show_ops(x);
    inspect_end(x);
    return OK;
}

/* ---- counters ---- */

static void show_counter(inspector *x, const char *name, const pto_counter_row *row)
{
    static const char *const scopes[] = {[PTO_SCOPE_RUN] = "the run",
                                         [PTO_SCOPE_EVENT] = "the run, when it is not 0",
                                         [PTO_SCOPE_UNIT] = "each unit, as `<unit> / <name>`",
                                         [PTO_SCOPE_WAITS] = "each unit that does not begin an instruction",
                                         [PTO_SCOPE_TRANSFERS] = "each unit that moves data",
                                         [PTO_SCOPE_KERNEL] = "each kernel, as `<kernel> / <name>`"};
    const pto_counter_row *whole = pto_counter_row_at(row->adds_to);
    inspect_entry(x, name, row->doc);
    inspect_row(x, "unit", row->unit);
    inspect_row(x, "of", scopes[row->scope]);
    if (whole != NULL) inspect_rowf(x, "adds up to", "%s, with all others of the unit that do", whole->name);
    inspect_entry_end(x);
}

status inspect_counters(inspector *x, const char *name)
{
    text_buffer t;
    text_init(&t);
    bool found = false;
    inspect_begin(x);
    for (uint32_t i = 0; i < PTO_COUNTER_NONE; i++) {
        t.n = 0;
        counter_put_declaration((pto_counter)i, &t);
        if (name != NULL && strcmp(name, t.p) != 0) continue;
        found = true;
        show_counter(x, t.p, pto_counter_row_at(i));
    }
    inspect_end(x);
    text_fini(&t);
    return found ? OK : unknown_name(x, "counter", name, counter_nearest(str_from(name), x->arena));
}

static int by_name(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

/* The .yaml files of all machines/ folders, sorted. */
static const char **find_machines(inspector *x, uint32_t *out_count)
{
    const char **paths = NULL;
    size_t capacity = 0;
    uint32_t n = 0;
    for (uint32_t f = 0; x->search != NULL && x->search[f] != NULL; f++) {
        text_buffer folder;
        text_init(&folder);
        text_printf(&folder, "%s/machines", x->search[f]);
        DIR *d = opendir(folder.p);
        for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
            const size_t length = strlen(e->d_name);
            if (length < 6 || strcmp(e->d_name + length - 5, ".yaml") != 0) continue;
            paths = table_grow(paths, &capacity, n + 1u, sizeof *paths);
            text_buffer path;
            text_init(&path);
            text_printf(&path, "%s/%s", folder.p, e->d_name);
            paths[n++] = arena_strndup(x->arena, path.p, path.n);
            text_fini(&path);
        }
        if (d != NULL) closedir(d);
        text_fini(&folder);
    }
    if (n > 0) qsort(paths, n, sizeof *paths, by_name);
    *out_count = n;
    return paths;
}

static void write_value(text_buffer *t, const yaml_node *node)
{
    if (node->kind == YAML_SCALAR) text_printf(t, " %.*s", (int)node->text.n, node->text.p);
    for (uint32_t i = 0; node->kind != YAML_SCALAR && i < node->count; i++) {
        const yaml_pair *pair = node->kind == YAML_MAPPING ? &node->pairs[i] : NULL;
        if (pair != NULL) text_printf(t, "%s %.*s", i > 0 ? "," : "", (int)pair->key.n, pair->key.p);
        write_value(t, pair != NULL ? pair->value : node->items[i]);
    }
}

/* A mapping by names, a row for each. */
static void show_named(inspector *x, const char *what, const yaml_node *map)
{
    for (uint32_t i = 0; map != NULL && i < map->count; i++) {
        text_buffer t;
        text_init(&t);
        write_value(&t, map->pairs[i].value);
        const char *name = map->pairs[i].key.p, *words = text_keep(&t, x->arena);
        inspect_rowf(x, unique_key(x, what, what, name), "%s:%s", name, words);
    }
}

static void show_machine(inspector *x, const machine *m, bool in_full)
{
    inspect_entry(x, m->name, m->doc);
    if (in_full || x->format != INSPECT_TEXT) {
        inspect_row(x, "file", m->file);
        inspect_rowf(x, "clock", "%" PRId64 " Hz", m->clock_hz);
        for (uint32_t i = 0; i < m->core_count; i++)
            inspect_rowf(x, unique_key(x, "cores", "cores", m->cores[i].name), "%" PRId64 " %s", m->cores[i].count,
                         m->cores[i].name);
        for (uint32_t i = 0; i < m->space_count; i++) {
            const machine_space *s = &m->spaces[i];
            inspect_rowf(x, unique_key(x, "space", "space", s->name),
                         "%s: %s, %" PRId64 " bytes, %" PRId64 " reserved, aligned to %" PRId64, s->name,
                         name_role_words(NAME_SPACE)[machine_space_role(m, s->name) - 1], s->bytes, s->reserved_bytes,
                         s->align_bytes);
        }
        for (uint32_t i = 0; i < m->path_count; i++) {
            const machine_path *p = &m->paths[i];
            char name[16];
            snprintf(name, sizeof name, "%" PRIu32, i);
            inspect_rowf(x, unique_key(x, "path", "path", name),
                         "%s -> %s on %s of %s: %g bytes per cycle, latency %" PRId64, p->from, p->to, p->pipe, p->core,
                         p->bytes_per_cycle, p->latency_cycles);
        }
        show_named(x, "fact", yaml_find(m->root, "facts"));
        show_named(x, "barrier", yaml_find(yaml_find(m->root, "sync"), "barriers"));
    }
    inspect_entry_end(x);
}

/* What `host` stands for here. */
static status show_host(inspector *x)
{
    const machine *m = NULL;
    TRY(machine_read(x->arena, x->diags, x->host_machine, &m));
    show_machine(x, m, true);
    return OK;
}

status inspect_machines(inspector *x, const char *name)
{
    uint32_t count = 0;
    bool found = false;
    status s = OK;
    const char **paths = find_machines(x, &count);
    inspect_begin(x);
    for (uint32_t i = 0; i < count && s == OK; i++) {
        const machine *m = NULL;
        s = machine_read(x->arena, x->diags, paths[i], &m);
        if (s != OK || (name != NULL && strcmp(name, m->name) != 0)) continue;
        found = true;
        show_machine(x, m, name != NULL);
    }
    if (s == OK && !found && name != NULL && strcmp(name, "host") == 0 && x->host_machine != NULL) {
        found = true;
        s = show_host(x);
    }
    inspect_end(x);
    table_free(paths);
    if (s != OK) return FAILED;
    return found || name == NULL ? OK : unknown_name(x, "machine", name, NULL);
}
