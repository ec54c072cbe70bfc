#include "core/host/op_calls.h"

#include "core/host/host_handle.h"

#include <pto/opset.h>

/* ---- calls ---- */

/* `who` is filled, and lives until the run ends. */
static const pto_run *begin(const plugin_op *p, module *m, op_id o, run_agent *who)
{
    opset_calls *calls = p->calls;
    *who = p->agent;
    who->at = op_pos(m, o);
    if (calls->session == NULL) calls->session = run_session_create(calls->a, &calls->params);
    calls->session->params.diags = context_diags(module_context(m));
    const run_request request = {.agent = who, .module = m, .unit = op_function(m, o), .access = RUN_READS};
    return run_context_begin(calls->session, &request);
}

static bool is_of_row(const plugin_op *p, const type_node *t)
{
    static const uint8_t classes[] = {[TYPE_SCALAR] = PTO_OF_SCALAR,
                                      [TYPE_TENSOR] = PTO_OF_TENSOR,
                                      [TYPE_GM] = PTO_OF_GM,
                                      [TYPE_TILE] = PTO_OF_TILE,
                                      [TYPE_CHANNEL] = 0};
    const uint32_t own = t->dtype == DTYPE_INDEX && t->kind == TYPE_SCALAR ? PTO_OF_INDEX : classes[t->kind];
    return (p->row->result_types & own) != 0;
}

static type_id take_type(run_context *c, const plugin_op *p, uint32_t index, pto_type given)
{
    const type_id t = type_from(c, given);
    if (t == 0)
        run_misuse(c, &E1324, "inferred no type for result %u", index);
    else if (!is_of_row(p, type_at(c->ir, t)))
        run_misuse(c, &E1324, "inferred a type for result %u that its row does not allow", index);
    return t;
}

static status infer(module *m, uint32_t o, type_id *out)
{
    const plugin_op *p = plugin_op_of(op_info_of(m, o));
    const uint32_t count = p->row->result_count;
    pto_type types[PTO_OP_RESULTS_MAX];
    run_agent who;
    const pto_run *run = begin(p, m, o, &who);
    run_context *c = run_of(run);
    for (uint32_t i = 0; i < count; i++) types[i] = type_handle(c, out[i]);
    const pto_status returned = p->row->infer(run, op_handle(c, o), types);
    for (uint32_t i = 0; i < count && returned == PTO_OK; i++) out[i] = take_type(c, p, i, types[i]);
    return run_context_end(run, returned).failed ? FAILED : OK;
}

static status verify(module *m, uint32_t o)
{
    const plugin_op *p = plugin_op_of(op_info_of(m, o));
    run_agent who;
    const pto_run *run = begin(p, m, o, &who);
    const pto_status returned = p->row->verify(run, run_context_op(run, o));
    return run_context_end(run, returned).failed ? FAILED : OK;
}

static bool are_tensors(uint32_t count, const pto_tensor *const *list)
{
    for (uint32_t i = 0; i < count; i++)
        if (list == NULL || list[i] == NULL || !PTO_HAS(list[i], strides) || list[i]->rank > PTO_MAX_DIMS) return false;
    return true;
}

pto_status host_op_evaluate(pto_op op, uint32_t operand_count, const pto_tensor *const *operands, uint32_t result_count,
                            const pto_tensor *const *results)
{
    run_context *c = run_of(op.run);
    const op_id o = op_from(c, op);
    if (o == 0) return PTO_FAILED;
    const op_info *info = op_info_of(c->m, o);
    const plugin_op *p = plugin_op_of(info);
    if (p == NULL || p->row->evaluate == NULL) {
        run_misuse(c, &E1324, "asked to evaluate `%s`, which has no function for it", info->name);
        return PTO_FAILED;
    }
    if (operand_count != op_value_operand_count(c->m, o) || result_count != op_result_count(c->m, o) ||
        !are_tensors(operand_count, operands) || !are_tensors(result_count, results)) {
        run_misuse(c, &E1324, "gave other tensors to evaluate `%s` than it takes", info->name);
        return PTO_FAILED;
    }
    run_agent who;
    const pto_run *run = begin(p, c->m, o, &who);
    const pto_status returned = p->row->evaluate(run, run_context_op(run, o), operands, results);
    return run_context_end(run, returned).failed ? PTO_FAILED : PTO_OK;
}

/* ---- rows ---- */

/* By pto_row_attr_type. */
static const uint8_t spec_kinds[] = {SPEC_NONE, SPEC_BOOL,   SPEC_INT,   SPEC_FLOAT,
                                     SPEC_ENUM, SPEC_STRING, SPEC_DTYPE, SPEC_INTS};

static const char *joined(arena *a, const char *const *words)
{
    text_buffer t;
    text_init(&t);
    for (; *words != NULL; words++) text_printf(&t, "%s%s", t.n != 0 ? "|" : "", *words);
    return text_keep(&t, a);
}

static const operand_spec *operands_of(arena *a, const pto_op_row *row)
{
    uint32_t n = 0;
    while (row->operands[n] != NULL) n++;
    operand_spec *specs = arena_array(a, (size_t)n + 1, sizeof *specs);
    for (uint32_t i = 0; i < n; i++)
        specs[i] = (operand_spec){
            .name = row->operands[i]->name, .types = row->operands[i]->types, .dtypes = row->operands[i]->dtypes};
    return specs;
}

static op_info info_of(arena *a, op_home home, const pto_op_row *row)
{
    op_info info = {.name = row->name,
                    .doc = row->doc,
                    .home = home,
                    .traits = row->traits,
                    .dtypes = row->dtypes,
                    .in = operands_of(a, row),
                    .out_count = (uint8_t)row->result_count,
                    .out_types = row->result_types,
                    .infer = row->result_count != 0 ? infer : NULL,
                    .verify = row->verify != NULL ? verify : NULL,
                    .space = (uint8_t)row->iteration,
                    .numerics = row->numerics,
                    .ulp = (uint8_t)row->ulp,
                    .argument_ulp = (uint8_t)row->argument_ulp,
                    .is_evaluated = row->evaluate != NULL};
    for (uint32_t i = 0; row->attrs[i] != NULL; i++) {
        const pto_row_attr *from = row->attrs[i];
        info.attrs[i] = (attr_spec){.name = from->name,
                                    .kind = spec_kinds[from->type],
                                    .required = (uint8_t)from->required,
                                    .def = from->def,
                                    .choices = from->choices != NULL ? joined(a, from->choices) : NULL,
                                    .doc = from->doc};
    }
    return info;
}

static status check_free(const op_table *ops, diag_engine *d, src_pos at, const plugin_file *f, const char *name)
{
    const op_kind kind = op_table_find_added(ops, str_from(name));
    if (kind == OP_NONE) return OK;
    diag_error(d, at, &E1306, "op `%s` is provided by two files: %s and %s; remove one of them", name,
               plugin_op_of(op_info_at(ops, kind))->path, f->path);
    return FAILED;
}

#define EACH_ROW(f, set, row)                                                        \
    for (const pto_opset *const *set = (f)->plugin->opsets; *(set) != NULL; (set)++) \
        for (const pto_op_row *const *row = (*(set))->rows; *(row) != NULL; (row)++)

status opset_add(opset_calls *calls, op_table *ops, diag_engine *d, src_pos at, const plugin_file *f)
{
    static const pto_option *const no_options[] = {NULL};
    static const char *const no_stats[] = {NULL};
    EACH_ROW(f, set, row) TRY(check_free(ops, d, at, f, (*row)->name));
    EACH_ROW(f, set, row)
    {
        plugin_op *p = arena_alloc(calls->a, sizeof *p);
        *p = (plugin_op){.row = *row, .calls = calls, .path = f->path};
        p->agent = (run_agent){
            .plugin = f->plugin->id, .role = "op", .id = (*row)->name, .options = no_options, .stats = no_stats};
        op_info info = info_of(calls->a, level_home(op_table_add_level(ops, (*set)->level)), *row);
        info.origin = p;
        op_table_add(ops, &info);
    }
    return OK;
}
