#include "fused_ops.h"

static const char *const kind_names[] = {
#define NAME(ID, text) text,
    FUSED_KINDS(NAME)
#undef NAME
};

fused_model fused_model_make(const pto_run *run)
{
    fused_model m = {.run = run};
    const pto_op all = pto_op_none(run);
    for (uint32_t i = 0; i < FUSED_KIND_COUNT; i++) m.kinds[i] = pto_kind_by_name(run, pto_s(kind_names[i]));
    PTO_EACH_OP(pto_module_top(run), function)
        if (function.index >= m.op_count) m.op_count = function.index + 1;
    m.last = PTO_SCRATCH(run, uint32_t, m.op_count);
    PTO_WALK(all, op)
    {
        if (!fused_is(&m, op, FUSED_KIND_LAUNCH)) continue;
        const pto_op kernel = pto_symbol_find(run, pto_attr_str_of(op, PTO_STR("callee")));
        if (!PTO_SOME(kernel) || kernel.index >= m.op_count) continue;
        PTO_GROW(run, m.all, m.all_count, m.all_capacity);
        m.all[m.all_count++] = (fused_launch){op, m.last[kernel.index]};
        m.last[kernel.index] = m.all_count;
    }
    return m;
}

void fused_model_enter(fused_model *m, pto_op kernel)
{
    m->kernel = kernel;
    if (m->storage == NULL) m->storage = PTO_SCRATCH(m->run, fused_storage, 1);
    m->storage->is_read = 0;
    m->store_count = m->launch_count = 0;
    for (uint32_t i = m->last[kernel.index]; i != 0; i = m->all[i - 1].before) {
        PTO_GROW(m->run, m->launches, m->launch_count, m->launch_capacity);
        m->launches[m->launch_count++] = m->all[i - 1].op;
    }
    PTO_WALK(kernel, op)
    {
        if (!fused_is(m, op, FUSED_KIND_STORE)) continue;
        PTO_GROW(m->run, m->stores, m->store_count, m->store_capacity);
        m->stores[m->store_count++] = op;
    }
}

static uint32_t rule_of(pto_op op) { return (uint32_t)pto_kind_column(op.run, pto_op_kind(op), PTO_COLUMN_RULE); }
static pto_dtype dtype_of(pto_value v) { return pto_type_dtype(pto_value_type(v)); }

static int is_column(pto_value v)
{
    int64_t n = 0;
    return pto_dim_is_const(pto_value_type(v), 1, &n) && n == 1;
}

pto_value fused_inside(pto_value v)
{
    for (pto_op def = pto_value_op(v); PTO_SOME(def) && pto_op_block_count(def) == 1; def = pto_value_op(v)) {
        if (!pto_str_is(pto_op_name(def), "tile.fused")) break;
        v = pto_op_operand(pto_block_terminator(pto_body(def)), pto_value_index(v));
    }
    return v;
}

/* ---- storage ---- */

static int continues(pto_op op) { return pto_kind_column(op.run, pto_op_kind(op), PTO_COLUMN_CONTINUED) != 0; }

/* Whether loops, branches, regions or products may hand a tile over, so that its storage is that of others. */
static int is_handed_over(pto_value v)
{
    const pto_op def = pto_value_op(v);
    if (!PTO_SOME(def) || pto_op_block_count(def) != 0 || continues(def)) return 1;
    PTO_EACH_USE(v, use)
        if (pto_op_block_count(use.op) != 0 || continues(use.op) ||
            pto_kind_has(v.run, pto_op_kind(use.op), PTO_TRAIT_TERMINATOR))
            return 1;
    return 0;
}

const fused_storage *fused_storage_of(const fused_model *m)
{
    fused_storage *s = m->storage;
    if (s->is_read) return s;
    s->plan = storage_plan_make(m->run, 0);
    storage_read(&s->plan, &s->source, m->kernel);
    s->is_read = 1;
    return s;
}

int fused_shares_storage(const fused_model *m, pto_value v)
{
    if (!is_handed_over(v)) return 0;
    const fused_storage *s = fused_storage_of(m);
    const uint32_t i = storage_find_value(&s->source, v);
    return i == STORAGE_NONE || s->plan.values[i].ring != i;
}

/* ---- types ---- */

fused_lane fused_lane_of(pto_dtype t)
{
    if (t == PTO_MASK) return FUSED_LANE_MASK;
    if (pto_dtype_bytes(t) > 4 || pto_dtype_is_byte_float(t)) return FUSED_LANE_NONE;
    switch (pto_dtype_class(t)) {
    case PTO_CLASS_FLOAT: return FUSED_LANE_F32;
    case PTO_CLASS_SINT: return FUSED_LANE_I32;
    case PTO_CLASS_UINT: return FUSED_LANE_U32;
    case PTO_CLASS_BOOL: return FUSED_LANE_MASK;
    default: return FUSED_LANE_NONE;
    }
}

/* Sort records alone are in no variable. */
static int has_scalars(pto_dtype t) { return t != PTO_REC64; }

/* ---- ops ---- */

int fused_is_map(pto_op op)
{
    switch (rule_of(op)) {
    case PTO_RULE_UNARY:
    case PTO_RULE_ROOT:
    case PTO_RULE_BINARY:
    case PTO_RULE_BITWISE:
    case PTO_RULE_REMAINDER:
    case PTO_RULE_REMAINDER_SCALAR:
    case PTO_RULE_ROW_BINARY:
    case PTO_RULE_COL_BINARY:
    case PTO_RULE_SCALAR:
    case PTO_RULE_COMPARE:
    case PTO_RULE_COMPARE_SCALAR:
    case PTO_RULE_SELECT:
    case PTO_RULE_SELECT_SCALAR:
    case PTO_RULE_CONVERT:
    case PTO_RULE_MOVE:
    case PTO_RULE_ROW_EXPAND:
    case PTO_RULE_COL_EXPAND:
    case PTO_RULE_FILL: return 1;
    default: return 0;
    }
}

static int repeats(pto_op op, uint32_t operand, uint32_t expand, uint32_t binary)
{
    return rule_of(op) == expand || (rule_of(op) == binary && operand == 1);
}

int fused_repeats_row(pto_op op, uint32_t operand)
{
    return repeats(op, operand, PTO_RULE_COL_EXPAND, PTO_RULE_COL_BINARY);
}

int fused_repeats_column(pto_op op, uint32_t operand)
{
    return repeats(op, operand, PTO_RULE_ROW_EXPAND, PTO_RULE_ROW_BINARY);
}

static const char no_vectors[] = "vectors do not hold its element type";

static const char *check_transfer(const fused_model *m, pto_op op, fused_kind *kind)
{
    const int loads = fused_is(m, op, FUSED_KIND_LOAD);
    const pto_value tile = loads ? pto_op_result(op, 0) : pto_op_operand(op, 0);
    const pto_value memory = pto_op_operand(op, loads ? 0 : 1);
    if (PTO_SOME(pto_op_attr(op, PTO_STR("pad")))) return "it fills what is beyond the region, too";
    if (PTO_SOME(pto_op_attr(op, PTO_STR("scale"))) || pto_attr_bool_of(op, PTO_STR("relu"), 0))
        return "it computes on the way to memory";
    if (!has_scalars(dtype_of(tile))) return no_vectors;
    if (!loads && dtype_of(tile) != dtype_of(memory)) return "it converts on the way to memory";
    if (!loads && fused_transpose_goes_out(m, pto_value_op(tile))) return "it transposes from memory to memory";
    *kind = is_column(tile) ? loads ? FUSED_ROW_LOAD : FUSED_ROW_STORE : loads ? FUSED_LOAD : FUSED_STORE;
    if (is_column(tile)) return NULL;
    if (!fused_has_lanes(dtype_of(tile))) return no_vectors;
    if (pto_attr_bool_of(op, PTO_STR("transpose"), 0)) return "it transposes";
    return fused_has_unit_columns(memory) ? NULL : "neighbours in a row do not lie side by side in memory";
}

static int is_integer(pto_dtype t) { return fused_lane_of(t) == FUSED_LANE_I32 || fused_lane_of(t) == FUSED_LANE_U32; }

/* Ops that have no vectors yet. */
static int has_vectors(const fused_model *m, pto_op op)
{
    if (rule_of(op) != PTO_RULE_CONVERT) return !fused_is(m, op, FUSED_KIND_LRELU);
    const pto_dtype from = dtype_of(pto_op_operand(op, 0)), to = dtype_of(pto_op_result(op, 0));
    return from == to || !is_integer(from) || !is_integer(to) || !pto_attr_bool_of(op, PTO_STR("saturate"), 0);
}

static const char *check_map(const fused_model *m, pto_op op, fused_kind *kind)
{
    const pto_value result = pto_op_result(op, 0);
    const int is_of_row = is_column(result);
    for (uint32_t i = 0; i < pto_op_operand_count(op); i++) {
        const pto_value v = pto_op_operand(op, i);
        if (!has_scalars(dtype_of(v))) return no_vectors;
        if (is_of_row && fused_repeats_row(op, i)) return "it spreads one number down a column";
        if (fused_repeats_column(op, i) && !is_column(v)) return "what it repeats is in a tile of several columns";
        if (!is_of_row && storage_is_tile(v) && !fused_has_lanes(dtype_of(v))) return no_vectors;
    }
    if (!has_scalars(dtype_of(result))) return no_vectors;
    *kind = is_of_row ? FUSED_ROW_MAP : FUSED_MAP;
    if (is_of_row) return NULL;
    if (!fused_has_lanes(dtype_of(result))) return no_vectors;
    return has_vectors(m, op) ? NULL : "there are no vectors of it yet";
}

static const char *check_reduce(pto_op op, fused_kind *kind)
{
    const pto_value a = pto_op_operand(op, 0);
    *kind = FUSED_REDUCE;
    if (is_column(a)) return "its rows have one element";
    return fused_has_lanes(dtype_of(a)) && dtype_of(a) != PTO_MASK ? NULL : no_vectors;
}

static const char *check_column_reduce(const fused_model *m, pto_op op, fused_kind *kind)
{
    const pto_value a = pto_op_operand(op, 0), result = pto_op_result(op, 0);
    const pto_dtype t = dtype_of(a);
    pto_expr valid[2];
    int64_t n = 0;
    *kind = FUSED_COLUMN_REDUCE;
    if (is_column(a)) return "its rows have one element";
    if (!fused_has_lanes(t) || t == PTO_MASK || t == PTO_BOOL || t != dtype_of(result)) return no_vectors;
    if (fused_shares_storage(m, result)) return "a loop or branch hands over what it makes";
    if (pto_value_valid(a, valid) != PTO_OK) return "its region is not known";
    return pto_expr_is_const(valid[0], &n) && n == 1 ? "there is one row" : NULL;
}

/* Of an op on tiles. `walked`: the tile whose region it goes through. */
static const char *check_op(const fused_model *m, pto_op op, fused_kind *kind, pto_value *walked)
{
    const uint32_t rule = rule_of(op);
    if (fused_is(m, op, FUSED_KIND_LOAD) || fused_is(m, op, FUSED_KIND_STORE)) {
        *walked = fused_is(m, op, FUSED_KIND_LOAD) ? pto_op_result(op, 0) : pto_op_operand(op, 0);
        return check_transfer(m, op, kind);
    }
    if (rule == PTO_RULE_ROW_REDUCE || rule == PTO_RULE_COL_REDUCE) {
        *walked = pto_op_operand(op, 0);
        return rule == PTO_RULE_ROW_REDUCE ? check_reduce(op, kind) : check_column_reduce(m, op, kind);
    }
    if (!fused_is_map(op)) return "it does not go through rows";
    *walked = pto_op_result(op, 0);
    return check_map(m, op, kind);
}

fused_kind fused_kind_of(const fused_model *m, pto_op op, pto_expr region[2], const char **why)
{
    fused_kind kind = FUSED_NONE;
    pto_value walked = pto_value_none(m->run);
    const char *obstacle = "it does not go through rows";
    if (storage_is_tile_op(op)) obstacle = check_op(m, op, &kind, &walked);
    if (obstacle == NULL && pto_value_valid(walked, region) != PTO_OK) obstacle = "its region is not known";
    /* A tile of one column may hold none. */
    int64_t columns = 0;
    if (obstacle == NULL && fused_is_of_row(kind) && !(pto_expr_is_const(region[1], &columns) && columns == 1))
        obstacle = "its column may be empty";
    if (why != NULL) *why = obstacle;
    return obstacle == NULL ? kind : FUSED_NONE;
}
