/* What a vector group is: its axes, and along which each of its values varies. */
#include "machine_types.h"
#include "tile_rows.h"

static uint32_t slot_of(const row_group *g, pto_value value)
{
    uint32_t slot = (value.index * UINT32_C(2654435769)) & g->slot_mask;
    while (g->slots[slot] != 0 && !pto_value_same(g->values[g->slots[slot] - 1].value, value))
        slot = (slot + 1) & g->slot_mask;
    return slot;
}

static row_value *add_value(row_group *g, pto_value value, pto_op op, pto_op at, uint8_t role)
{
    row_value *v = &g->values[g->count];
    g->slots[slot_of(g, value)] = ++g->count;
    *v = (row_value){.value = value, .op = op, .at = at, .role = role, .dtype = pto_type_dtype(pto_value_type(value))};
    v->memory = pto_value_none(g->run);
    v->name = pto_value_name(value);
    return v;
}

/* The value, an input of `user` when nothing in the group makes it. */
static uint32_t value_at(row_group *g, pto_value value, pto_op user)
{
    uint32_t slot = slot_of(g, value);
    if (g->slots[slot] == 0) add_value(g, value, pto_op_none(g->run), user, ROW_INPUT);
    return g->slots[slot_of(g, value)] - 1;
}

static pto_type space_type(pto_op op, int64_t rule)
{
    return pto_value_type(rule == PTO_ITER_REDUCE ? pto_op_operand(op, 0) : pto_op_result(op, 0));
}

static pto_status unsupported(pto_op op, const char *why)
{
    pto_str name = pto_op_name(op);
    return pto_error(op, "pto.tile/unsupported-op", "`%.*s` %s", PTO_FMT(name), why);
}

static int is_float(pto_op op) { return pto_dtype_is_float(pto_type_dtype(pto_value_type(pto_op_operand(op, 0)))); }

/* What pto.decompose-indices leaves. */
static pto_status check_count(pto_op op)
{
    const pto_type type = pto_value_type(pto_op_result(op, 0));
    const uint32_t wide = dims_of_type(type), rank = pto_type_rank(type);
    int64_t axis = pto_attr_int_of(op, PTO_STR("axis"), 0);
    if (axis < 0) axis += rank;
    if ((wide & ~(1u << (rank - 1 - (uint32_t)axis))) == 0 && pto_type_dtype(type) == PTO_I32) return PTO_OK;
    return unsupported(op, "has dims beside its axis, or another type than i32; run `pto.decompose-indices` first");
}

static pto_status check_op(const pto_run *run, pto_op op, int64_t rule)
{
    if (PTO_IS(op, T_INDEX_CAST)) return PTO_OK;
    if (rule == PTO_ITER_FILL || rule == PTO_ITER_BROADCAST || rule == PTO_ITER_MATMUL) return PTO_OK;
    if (rule == PTO_ITER_COUNT) return check_count(op);
    const pto_kind_id kind = pto_op_kind(op);
    const int is_missing = machine_is_function(run, kind) &&
                           !machine_calls(run, kind, pto_type_dtype(pto_value_type(pto_op_result(op, 0))));
    if ((rule != PTO_ITER_ELEMENTWISE && rule != PTO_ITER_REDUCE) || is_missing ||
        rows_form(run, op, PTO_COLUMN_TILE_WHOLE) == 0)
        return unsupported(op, "has no tile form; run `pto.expand-math` first, or write it with ops that `pto-inspect "
                               "ops` lists with one");
    if (pto_str_is(pto_attr_str_of(op, PTO_STR("nan")), "propagate") && is_float(op))
        return unsupported(op, "propagates NaN, which vector instructions do not: write {nan = \"any\"} or "
                               "{nan = \"ignore\"}, or run `pto.expand-math` first");
    return PTO_OK;
}

static uint8_t role_of(pto_op op, int64_t rule)
{
    switch (rule) {
    case PTO_ITER_FILL: return ROW_SPLAT;
    case PTO_ITER_COUNT: return ROW_COUNT;
    case PTO_ITER_MATMUL: return ROW_PRODUCT;
    case PTO_ITER_BROADCAST: return ROW_BROADCAST;
    case PTO_ITER_REDUCE: return dims_reduced(op) != 0 ? ROW_REDUCE : ROW_BROADCAST;
    default: return ROW_ELEMENTWISE;
    }
}

static pto_status read_op(row_group *g, pto_op op)
{
    int64_t rule = pto_kind_column(g->run, pto_op_kind(op), PTO_COLUMN_SPACE_RULE);
    PTO_TRY(check_op(g->run, op, rule));
    const int is_full = PTO_IS(op, T_FULL), is_product = rule == PTO_ITER_MATMUL;
    uint32_t in[ROW_OPERANDS] = {0}, count = is_full || is_product ? 0 : pto_op_operand_count(op);
    if (count > ROW_OPERANDS) return unsupported(op, "has more than three operands");
    for (uint32_t k = 0; k < count; k++) {
        if (pto_type_kind_of(pto_value_type(pto_op_operand(op, k))) == PTO_TYPE_SCALAR)
            return unsupported(op, "has a scalar as operand; `pto.spread-scalars` makes a tensor of it");
        in[k] = value_at(g, pto_op_operand(op, k), op);
    }
    const uint8_t role = role_of(op, rule);
    row_value *v = add_value(g, pto_op_result(op, 0), op, op, role);
    v->in_count = count;
    for (uint32_t k = 0; k < count; k++) v->in[k] = in[k];
    if (is_product) {
        PTO_TRY(tile_product_read(g->run, g->group, op, &v->product));
        if (g->product == NULL) g->product = v->product;
    } else if (PTO_IS(op, T_INDEX_CAST)) {
        v->number.index = pto_expr_of(op, PTO_STR("from"), 0);
    } else if (is_full) {
        v->number.value = pto_op_operand(op, 0);
    } else if (rule == PTO_ITER_FILL) {
        pto_attr number = pto_op_attr(op, PTO_STR("value"));
        v->number.real = pto_attr_f64(number);
        if (pto_attr_kind_of(number) == PTO_ATTR_INT) v->number.whole = pto_attr_i64(number);
    } else if (role == ROW_BROADCAST && g->values[in[0]].role == ROW_SPLAT) {
        v->role = ROW_SPLAT;
        v->number = g->values[in[0]].number;
        v->in_count = 0;
    }
    pto_type space = space_type(op, rule);
    if (!PTO_SOME(g->widest) || (dims_of_type(space) & ~dims_of_type(g->widest)) != 0) g->widest = space;
    return PTO_OK;
}

static pto_status read_body(row_group *g)
{
    pto_block body = pto_body(g->group);
    uint32_t ops = 0;
    PTO_EACH_OP(body, op) ops++;
    g->capacity = ops * (ROW_OPERANDS + 1) + 1;
    uint32_t slots = 16;
    while (slots < g->capacity * 2) slots *= 2;
    g->slots = PTO_SCRATCH(g->run, uint32_t, slots);
    g->slot_mask = slots - 1;
    g->values = PTO_SCRATCH(g->run, row_value, g->capacity + pto_op_result_count(g->group));
    g->widest = pto_type_none(g->run);
    pto_op yield = pto_block_terminator(body);
    PTO_EACH_OP(body, op) {
        if (!pto_op_same(op, yield)) PTO_TRY(read_op(g, op));
    }
    g->output_count = pto_op_operand_count(yield);
    g->outputs = PTO_SCRATCH(g->run, uint32_t, g->output_count);
    g->targets = PTO_SCRATCH(g->run, pto_value, g->output_count);
    for (uint32_t i = 0; i < g->output_count; i++) {
        g->outputs[i] = value_at(g, pto_op_operand(yield, i), g->group);
        row_value *v = &g->values[g->outputs[i]];
        v->is_output = 1;
        if (PTO_SOME(v->op)) v->name = pto_value_name(pto_op_result(g->group, i));
        if (rows_drops_dims(v)) continue;
        pto_type type = pto_value_type(v->value);
        if (!PTO_SOME(g->widest) || (dims_of_type(type) & ~dims_of_type(g->widest)) != 0) g->widest = type;
    }
    return PTO_OK;
}

static pto_status check_extents(const row_group *g, const row_value *v)
{
    pto_type type = pto_value_type(v->value);
    uint32_t rank = pto_type_rank(type), wide = dims_of_type(type);
    if (rows_drops_dims(v) || v->role == ROW_SPLAT) return PTO_OK;
    for (uint32_t i = 0; i < rank; i++) {
        if ((wide & (1u << i)) == 0) continue;
        if ((g->wide & (1u << i)) != 0 &&
            pto_expr_equal(pto_type_dim(type, rank - 1 - i), pto_type_dim(g->widest, g->rank - 1 - i)))
            continue;
        return pto_error(
            v->at, "pto.tile/mixed-shapes",
            "dim %u of a value differs from the group's widest tensor; a group has one space of rows and columns",
            (unsigned)(rank - 1 - i));
    }
    return PTO_OK;
}

static uint8_t shape_of(const row_group *g, uint32_t wide)
{
    uint8_t shape = 0;
    for (uint32_t a = 0; a < g->axis_count; a++)
        if ((g->axis_dims[a] & ~wide) == 0) shape |= rows_along(a);
    return shape;
}

/* Dims that a value has or, when its reduction dropped some, had. */
static uint32_t kept_dims(const row_value *v)
{
    if (!rows_drops_dims(v)) return dims_of_type(pto_value_type(v->value));
    return dims_of_type(pto_value_type(pto_op_operand(v->op, 0))) & ~dims_reduced(v->op);
}

/* In a type that the machine repeats in no way, such as most integers of 64 bits, a value is as wide as it will be read
 * where it comes about: what it is made of is repeated, elements of another type or numbers. */
static int is_repeated_before(const row_group *g, const row_value *v)
{
    for (uint32_t k = 0; k < v->in_count; k++) {
        const row_value *in = &g->values[v->in[k]];
        if (in->role != ROW_SPLAT && in->dtype == v->dtype) return 0;
    }
    return v->role == ROW_ELEMENTWISE && v->dtype != PTO_BOOL && !rows_repeats(g->run, v->dtype);
}

/* What is one number for a whole instance: indices along an axis before rows and columns, and what repeats such. */
static void find_splat(const row_group *g, row_value *v)
{
    if (v->role == ROW_BROADCAST && g->values[v->in[0]].role == ROW_SPLAT) {
        v->role = ROW_SPLAT;
        v->axis = g->values[v->in[0]].axis;
    }
    if (v->role != ROW_COUNT) return;
    const uint32_t wide = dims_of_type(pto_value_type(v->value));
    for (uint32_t a = 0; a < g->axis_count; a++)
        if ((g->axis_dims[a] & wide) != 0) v->axis = (uint8_t)a;
    if (wide == 0 || v->axis >= AXIS_OUTER) v->role = ROW_SPLAT;
}

static void find_forms(row_group *g)
{
    const uint8_t swept = g->sweeps, has_one = shape_of(g, 0) & swept;
    for (uint32_t i = 0; i < g->count; i++) {
        row_value *v = &g->values[i];
        v->shape = shape_of(g, kept_dims(v));
        uint32_t depth = 0;
        uint8_t form = 0;
        for (uint32_t k = 0; k < v->in_count; k++) {
            const row_value *in = &g->values[v->in[k]];
            form |= in->form;
            if (in->depth > depth) depth = in->depth;
        }
        const int is_made = v->role == ROW_COUNT || v->role == ROW_PRODUCT;
        if (v->role == ROW_INPUT || is_made || is_repeated_before(g, v)) form = v->shape;
        find_splat(g, v);
        if (v->role == ROW_REDUCE) {
            form = (uint8_t)((form & ~swept) | has_one);
            if (!has_one) depth++;
        }
        v->form = form;
        v->depth = depth;
        if (depth > g->depth) g->depth = depth;
    }
}

static void find_needed(row_group *g)
{
    for (uint32_t i = g->count; i-- > 0;) {
        row_value *v = &g->values[i];
        if (v->is_output) v->is_needed = 1;
        for (uint32_t k = 0; k < v->in_count && v->is_needed; k++) g->values[v->in[k]].is_needed = 1;
    }
}

/* Every instance writes a part of its own of each result. */
static pto_status check_outputs(row_group *g)
{
    const uint8_t swept = g->sweeps;
    g->is_split = g->depth == 0;
    for (uint32_t i = 0; i < g->output_count; i++) {
        const row_value *v = &g->values[g->outputs[i]];
        if ((v->shape & swept) == 0) g->is_split = 0;
        if ((v->shape | swept) == (1u << g->axis_count) - 1) continue;
        return pto_error(
            v->at, "pto.tile/shared-output",
            "result %u is the same for all rows of the group, so every instance would write it; give it a group "
            "of its own",
            (unsigned)i);
    }
    return PTO_OK;
}

/* An op may only use the rows of a reduction that dropped its dims as the result of the group. */
static pto_status check_dropped(const row_group *g)
{
    for (uint32_t i = 0; i < g->count; i++)
        for (uint32_t k = 0; k < g->values[i].in_count; k++) {
            const row_value *in = &g->values[g->values[i].in[k]];
            if (!rows_drops_dims(in)) continue;
            return pto_error(
                in->op, "pto.tile/dropped-dims",
                "a reduction with `keepdim = false` is used in its own group; keep the dims or end the group there");
        }
    return PTO_OK;
}

static pto_status check_orders(const row_group *g)
{
    for (uint32_t i = 0; i < g->count; i++)
        if (g->values[i].role == ROW_REDUCE) PTO_TRY(tile_check_order(g->values[i].op));
    return PTO_OK;
}

static void find_granule(row_group *g)
{
    int64_t narrowest = 8, block = pto_machine_i64_or(g->run, 1, "vector.block-bytes");
    for (uint32_t i = 0; i < g->count; i++)
        if (pto_dtype_bytes(g->values[i].dtype) < narrowest) narrowest = pto_dtype_bytes(g->values[i].dtype);
    g->granule = narrowest > 0 && block > narrowest ? block / narrowest : 1;
}

pto_status rows_analyse(row_group *g, const pto_run *run, pto_op group)
{
    *g = (row_group){.run = run, .group = group};
    g->counted = storage_plan_make(run, pto_opt_bool(run, TILE_OPT_IN_PLACE));
    PTO_TRY(read_body(g));
    g->rank = pto_type_rank(g->widest);
    g->wide = dims_of_type(g->widest);
    PTO_TRY(check_dropped(g));
    PTO_TRY(check_orders(g));
    for (uint32_t i = 0; i < g->count; i++) PTO_TRY(check_extents(g, &g->values[i]));
    PTO_TRY(rows_find_axes(g));
    find_forms(g);
    find_needed(g);
    find_granule(g);
    rows_find_windows(g);
    PTO_TRY(rows_find_truth(g));
    PTO_TRY(check_outputs(g));
    rows_find_bound(g);
    return PTO_OK;
}
