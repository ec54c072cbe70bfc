/* Host functions about the run, options, machine and module. */
#include "core/host/host_handle.h"

#include <stdio.h>

void *host_scratch(const pto_run *run, size_t bytes) { return arena_alloc(run_of(run)->scratch, bytes); }
void *host_keep(const pto_run *run, size_t bytes) { return arena_alloc(run_of(run)->session->a, bytes); }

void *host_recall(const pto_run *run, pto_str what, size_t bytes)
{
    const run_context *c = run_of(run);
    arena *a = c->session->a;
    recalled **list = &c->session->recalled, *r = *list;
    while (r != NULL && (r->agent != c->request.agent || r->bytes != bytes || !str_eq(r->what, str_of(what))))
        r = r->next;
    if (r != NULL) return r->memory;
    r = arena_alloc(a, sizeof *r);
    *r = (recalled){c->request.agent, {arena_strndup(a, what.p, what.n), what.n}, bytes, arena_alloc(a, bytes), *list};
    *list = r;
    return r->memory;
}

void host_diag(const pto_run *run, int32_t severity, pto_loc at, pto_str code, pto_str text)
{
    run_context *c = run_of(run);
    const loc_id l = loc_from(c, at);
    c->saw_own = true; /* what is said of one function has to be said of all */
    if (severity < PTO_NOTE || severity > PTO_REMARK) {
        run_misuse(c, &E1323, "gave a diagnostic the severity %d", severity);
        return;
    }
    if (text.n == 0 || text.p == NULL || (code.n != 0 && code.p == NULL)) {
        run_misuse(c, &E1323, "gave a diagnostic without text");
        return;
    }
    const src_pos pos = l != 0 && loc_count(c->ir, l) != 0 ? loc_at(c->ir, l, 0) : c->request.agent->at;
    const char *code_text = code.n != 0 ? arena_strndup(c->scratch, code.p, code.n) : NULL;
    diag_report(c->diags, (diag_severity)severity, pos, code_text, str_of(text));
}

void host_diag_op(pto_op h, int32_t severity, pto_str code, pto_str text)
{
    run_context *c = run_of(h.run);
    const op_id o = op_from(c, h);
    /* What is wrong with the severity is said below. */
    if (o != 0 && severity >= PTO_NOTE && severity <= PTO_REMARK)
        op_name_diag(c->diags, c->m, o, (diag_severity)severity);
    host_diag(h.run, severity, loc_handle(c, o != 0 ? op_loc(c->m, o) : 0), code, text);
}

pto_status host_report_does_not_fit(pto_op h, pto_str code, pto_str text)
{
    run_context *c = run_of(h.run);
    const str unit = run_function_name(c, op_from(c, h));
    choices *all = c->session->params.choices;
    if (c->request.access == RUN_READS || unit.n == 0) all = NULL; /* only a pass can be run again */
    const bool again = all != NULL && choices_ask(all, unit);
    host_diag_op(h, again ? PTO_REMARK : PTO_ERROR, code, text);
    if (!again && all != NULL) (void)choices_find_pin(all, unit, &c->pin_at);
    return PTO_FAILED;
}

int32_t host_should_stop(const pto_run *run)
{
    run_context *c = run_of(run);
    if (!flight_recorder_stop(c->session->params.recorder)) return 0;
    c->was_told_to_stop = true;
    return 1;
}

void host_stat_add(const pto_run *run, uint32_t stat, int64_t delta)
{
    run_context *c = run_of(run);
    const run_agent *who = c->request.agent;
    uint32_t count = 0;
    while (who->stats != NULL && who->stats[count] != NULL) count++;
    if (stat >= count) {
        run_misuse(c, &E1323, "counted statistic %u of %u", stat, count);
    } else if (who->stat_values != NULL) {
        if (__builtin_add_overflow(who->stat_values[stat], delta, &who->stat_values[stat]))
            who->stat_values[stat] = delta < 0 ? INT64_MIN : INT64_MAX;
    }
}

/* ---- op kinds ---- */

pto_kind_id host_kind_at(const pto_run *run, uint32_t index)
{
    run_context *c = run_of(run);
    const run_agent *who = c->request.agent;
    if (index < who->kind_count) return who->kinds[index];
    run_misuse(c, &E1323, "asked for op kind %u of the %u that it lists", index, who->kind_count);
    return 0;
}

pto_kind_id host_kind_by_name(const pto_run *run, pto_str name)
{
    return op_kind_by_name(context_ops(run_of(run)->ir), str_of(name));
}

/* NULL after a diagnostic. */
static inline const op_info *info_of(run_context *c, pto_kind_id k)
{
    if (k != OP_NONE && k < OP_KIND_COUNT) return &op_rows[k];
    const op_table *ops = context_ops(c->ir);
    if (k != OP_NONE && k < op_kind_count(ops)) return op_info_at(ops, (op_kind)k);
    run_misuse(c, &E1323, "used %u as an op kind", k);
    return NULL;
}

pto_str host_kind_name(const pto_run *run, pto_kind_id k)
{
    const op_info *info = info_of(run_of(run), k);
    return info != NULL ? pto_str_z(info->name) : (pto_str){0};
}

pto_str host_kind_text(const pto_run *run, pto_kind_id k, uint32_t column)
{
    run_context *c = run_of(run);
    const op_info *info = info_of(c, k);
    if (info == NULL) return (pto_str){0};
    const char *text = NULL;
    switch (column) {
#define TEXT(ID, value, doc) \
    case PTO_TEXT_##ID: text = value; break;
#include "ir/ops/kinds.def"
    default: run_misuse(c, &E1323, "asked for text %u of an op kind", column); break;
    }
    return text != NULL ? pto_str_z(text) : (pto_str){0};
}

int64_t host_kind_column(const pto_run *run, pto_kind_id k, uint32_t column)
{
    run_context *c = run_of(run);
    const op_info *info = info_of(c, k);
    if (info == NULL) return 0;
    switch (column) {
#define COLUMN(ID, value, doc) \
    case PTO_COLUMN_##ID: return value;
#include "ir/ops/kinds.def"
    default: run_misuse(c, &E1323, "asked for column %u of an op kind", column); return 0;
    }
}

uint32_t host_kind_roles(const pto_run *run, pto_kind_id k, uint32_t operand)
{
    const op_info *info = info_of(run_of(run), k);
    return info != NULL ? op_info_spaces(info, operand) : 0;
}

/* ---- options ---- */

#define TYPE_BIT(type) (1u << (type))

/* The value of an option of one of the types; NULL after a diagnostic. */
static const value *option_of(const pto_run *run, uint32_t option, uint32_t types, const char *as)
{
    run_context *c = run_of(run);
    const run_agent *who = c->request.agent;
    uint32_t count = 0;
    while (who->options != NULL && who->options[count] != NULL) count++;
    if (option >= count || who->values == NULL) {
        run_misuse(c, &E1323, "read option %u of %u", option, count);
        return NULL;
    }
    const pto_option *row = who->options[option];
    if ((types & TYPE_BIT(row->type)) != 0) return &who->values[option];
    /* plugin_load refuses other types, and option.c asserts that both enumerations are one. */
    // NOLINTNEXTLINE(clang-analyzer-optin.core.EnumCastOutOfRange): the analyzer sees neither.
    const value_kind kind = (value_kind)row->type;
    run_misuse(c, &E1323, "read its option `%s`, which is %s, as %s", row->name, value_type_text(kind), as);
    return NULL;
}

int64_t host_opt_i64(const pto_run *run, uint32_t option)
{
    const uint32_t types = TYPE_BIT(VALUE_BOOL) | TYPE_BIT(VALUE_I64) | TYPE_BIT(VALUE_BYTES) | TYPE_BIT(VALUE_ENUM);
    const value *v = option_of(run, option, types, "an integer");
    return v != NULL ? v->i : 0;
}

double host_opt_f64(const pto_run *run, uint32_t option)
{
    const value *v = option_of(run, option, TYPE_BIT(VALUE_F64), "a floating point number");
    return v != NULL ? v->f : 0.0;
}

pto_str host_opt_str(const pto_run *run, uint32_t option)
{
    const value *v =
        option_of(run, option, TYPE_BIT(VALUE_STR) | TYPE_BIT(VALUE_ENUM) | TYPE_BIT(VALUE_PLUGIN), "text");
    return v != NULL ? pto_str_of(v->s) : (pto_str){0};
}

uint32_t host_opt_list(const pto_run *run, uint32_t option, const int64_t **items)
{
    const value *v = option_of(run, option, TYPE_BIT(VALUE_LIST), "a list");
    *items = v != NULL ? v->items : NULL;
    return v != NULL ? v->count : 0;
}

int32_t host_opt_is_set(const pto_run *run, uint32_t option)
{
    const value *v = option_of(run, option, UINT32_MAX, "anything");
    return v != NULL && v->at.file != NULL;
}

/* ---- module ---- */

pto_block host_module_top(const pto_run *run)
{
    run_context *c = run_of(run);
    c->saw_outside = true;
    return block_handle(c, module_top(c->m));
}

pto_op host_symbol_find(const pto_run *run, pto_str name)
{
    run_context *c = run_of(run);
    c->saw_outside = true;
    return op_handle(c, module_find_symbol(c->m, string_intern(c->ir, str_of(name))));
}

pto_attr host_module_attr(const pto_run *run, pto_str name)
{
    run_context *c = run_of(run);
    c->saw_outside = true;
    return attr_handle(c, attr_get(c->ir, module_attrs(c->m), string_intern(c->ir, str_of(name))));
}

pto_status host_module_set_attr(const pto_run *run, pto_str name, pto_attr h)
{
    run_context *c = run_of(run);
    const attr_id a = attr_from(c, h);
    if (h.index != 0 && a == 0) return PTO_FAILED;
    if (c->request.access != RUN_WRITES_MODULE || c->session->current != c) {
        run_misuse(c, c->request.access == RUN_READS ? &E1325 : &E1321,
                   "tried to set the module attribute `%.*s`; only a pass of scope module may do that", (int)name.n,
                   name.p);
        return PTO_FAILED;
    }
    if (!run_check_text(c, name)) return PTO_FAILED;
    if (name.n == 0 || (a != 0 && attr_has_leaves(c->ir, a))) {
        run_misuse(c, &E1324, "set a module attribute without a name or over values");
        return PTO_FAILED;
    }
    if (name_kind_by_attribute(str_of(name)) != NAME_NONE) {
        run_misuse(c, &E1324, "set the module attribute `%.*s`; its names are those that the host declares",
                   (int)name.n, name.p);
        return PTO_FAILED;
    }
    const attr_id attrs = attr_with(c->ir, module_attrs(c->m), string_intern(c->ir, str_of(name)), a);
    if (attrs == module_attrs(c->m)) return PTO_OK;
    module_set_attrs(c->m, attrs);
    run_changed(c, RUN_CHANGED_MODULE, 0);
    return PTO_OK;
}

pto_str host_module_file(const pto_run *run)
{
    run_context *c = run_of(run);
    const str_id file = module_file(c->m);
    return file != 0 ? pto_str_of(string_of(c->ir, file)) : (pto_str){0};
}

pto_loc host_loc_make(const pto_run *run, uint32_t line, uint32_t column)
{
    run_context *c = run_of(run);
    return loc_handle(c, loc_make(c->ir, module_file(c->m), line, column));
}

pto_loc host_loc_fuse(const pto_run *run, uint32_t count, const pto_loc *locs)
{
    run_context *c = run_of(run);
    loc_id *ids = arena_array(c->scratch, count, sizeof *ids);
    for (uint32_t i = 0; i < count; i++) ids[i] = loc_from(c, locs[i]);
    return loc_handle(c, loc_fuse(c->ir, count, ids));
}

uint32_t host_loc_text(pto_loc h, char *buffer, uint32_t capacity)
{
    run_context *c = run_of(h.run);
    const loc_id l = loc_from(c, h);
    const src_pos at = l != 0 && loc_count(c->ir, l) != 0 ? loc_at(c->ir, l, 0) : NO_POS;
    if (capacity != 0) buffer[0] = '\0';
    if (at.file == NULL) return 0;
    const int n = snprintf(buffer, capacity, "%s:%u:%u", at.file, at.line, at.column);
    return n < 0 ? 0 : (uint32_t)n;
}
