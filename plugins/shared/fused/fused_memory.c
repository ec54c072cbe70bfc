/* Memory that ops of a kernel may share, and what goes to and from memory without a copy. */
#include "fused_ops.h"

static pto_dtype dtype_of(pto_value v) { return pto_type_dtype(pto_value_type(v)); }
static int is_memory(pto_value v) { return pto_type_kind_of(pto_value_type(v)) == PTO_TYPE_GM; }

pto_value fused_memory_of(pto_op op, fused_kind kind)
{
    switch (kind) {
    case FUSED_LOAD:
    case FUSED_ROW_LOAD: return pto_op_operand(op, 0);
    case FUSED_STORE:
    case FUSED_ROW_STORE: return pto_op_operand(op, 1);
    default: return pto_value_none(op.run);
    }
}

int fused_has_unit_columns(pto_value memory)
{
    const pto_type type = pto_value_type(memory);
    const uint32_t rank = pto_type_rank(type);
    int64_t n = 0;
    return rank >= 1 && pto_expr_is_const(pto_type_stride(type, rank - 1), &n) && n == 1;
}

/* ---- what launches pass ---- */

static pto_value root_of(const fused_model *m, pto_value v)
{
    for (pto_op op = pto_value_op(v); PTO_SOME(op) && fused_is(m, op, FUSED_KIND_VIEW); op = pto_value_op(v))
        v = pto_op_operand(op, 0);
    return v;
}

/* The memory that a value of a function is part of; none when it is not known. */
static pto_value whole_of(const fused_model *m, pto_value v)
{
    v = root_of(m, v);
    const pto_op def = pto_value_op(v);
    if (!PTO_SOME(def)) {
        const pto_op owner = pto_block_parent(pto_value_block(v));
        return PTO_SOME(owner) && fused_is(m, owner, FUSED_KIND_FUNC) ? v : pto_value_none(m->run);
    }
    return fused_is(m, def, FUSED_KIND_WORKSPACE) || fused_is(m, def, FUSED_KIND_ARRAY) ? v : pto_value_none(m->run);
}

static uint32_t grid_rank(const fused_model *m) { return pto_attr_count(pto_op_attr(m->kernel, PTO_STR("grid"))); }

int fused_may_overlap(const fused_model *m, pto_value a, pto_value b)
{
    const uint32_t rank = grid_rank(m);
    if (a.index == b.index || PTO_SOME(pto_value_op(a)) || PTO_SOME(pto_value_op(b))) return 1;
    const uint32_t i = pto_value_index(a), k = pto_value_index(b);
    if (i < rank || k < rank) return 1;
    for (uint32_t n = 0; n < m->launch_count; n++) {
        const pto_op op = m->launches[n];
        const pto_value x = root_of(m, pto_op_operand(op, i - rank)), y = root_of(m, pto_op_operand(op, k - rank));
        if (x.index == y.index) return 1;
    }
    return 0;
}

/* Whether two parameters of the kernel are different memory wherever it is launched. */
static int is_apart(const fused_model *m, pto_value a, pto_value b)
{
    const uint32_t rank = grid_rank(m);
    for (const pto_value *v = (const pto_value[]){a, b}, *end = v + 2; v < end; v++)
        if (PTO_SOME(pto_value_op(*v)) || !pto_block_same(pto_value_block(*v), pto_body(m->kernel))) return 0;
    for (uint32_t n = 0; n < m->launch_count; n++) {
        const pto_op op = m->launches[n];
        const pto_value x = whole_of(m, pto_op_operand(op, pto_value_index(a) - rank)),
                        y = whole_of(m, pto_op_operand(op, pto_value_index(b) - rank));
        if (!PTO_SOME(x) || !PTO_SOME(y) || pto_value_same(x, y)) return 0;
    }
    return 1;
}

int fused_is_only_read(const fused_model *m, pto_value memory)
{
    const pto_block body = pto_body(m->kernel);
    const pto_attr modes = pto_op_attr(m->kernel, PTO_STR("params"));
    for (uint32_t i = 0; i < m->store_count; i++)
        if (fused_may_overlap(m, memory, pto_op_operand(m->stores[i], 1))) return 0;
    /* Other ops than stores write parameters that say so. */
    for (uint32_t i = grid_rank(m), n = 0; i < pto_block_arg_count(body); i++, n++) {
        const pto_str mode = pto_attr_str(pto_attr_item(modes, n, NULL));
        const int is_written = pto_str_is(mode, "out") || pto_str_is(mode, "inout");
        if (is_written && fused_may_overlap(m, memory, pto_block_arg(body, i))) return 0;
    }
    return 1;
}

/* ---- tiles that stay in memory ---- */

/* What reads rows of its first operand from where they are. */
static int reads_windows(const fused_model *m, pto_op op, uint32_t slot)
{
    return slot == 0 && (fused_is(m, op, FUSED_KIND_TRANSPOSE) || fused_is(m, op, FUSED_KIND_ORDER) ||
                         fused_is(m, op, FUSED_KIND_ROWGATHER));
}

int fused_stays_in_memory(const fused_model *m, pto_op load)
{
    const pto_value tile = pto_op_result(load, 0), memory = pto_op_operand(load, 0);
    pto_expr region[2];
    if (fused_shares_storage(m, tile)) return 0;
    PTO_EACH_USE(tile, use)
        if (!reads_windows(m, use.op, use.slot) && fused_kind_of(m, use.op, region, NULL) == FUSED_NONE) return 0;
    return fused_is_only_read(m, memory);
}

/* Whether a tile is loaded and read where it lies. */
static int is_in_memory(const fused_model *m, pto_value tile)
{
    const pto_op def = pto_value_op(tile);
    pto_expr region[2];
    return PTO_SOME(def) && fused_is(m, def, FUSED_KIND_LOAD) && fused_kind_of(m, def, region, NULL) == FUSED_LOAD &&
           fused_stays_in_memory(m, def);
}

int fused_transpose_goes_out(const fused_model *m, pto_op op)
{
    if (!PTO_SOME(op) || !fused_is(m, op, FUSED_KIND_TRANSPOSE)) return 0;
    const pto_value result = pto_op_result(op, 0);
    uint32_t uses = 0;
    PTO_EACH_USE(result, use) {
        uses++;
        if (!fused_is(m, use.op, FUSED_KIND_STORE) || pto_op_block(use.op).index != pto_op_block(op).index) return 0;
        const pto_value memory = pto_op_operand(use.op, 1);
        if (dtype_of(memory) != dtype_of(result) || pto_attr_bool_of(use.op, PTO_STR("relu"), 0) ||
            PTO_SOME(pto_op_attr(use.op, PTO_STR("scale"))) || !fused_has_unit_columns(memory))
            return 0;
    }
    return uses == 1 && is_in_memory(m, pto_op_operand(op, 0));
}

/* ---- products that go to memory as they are ---- */

int fused_is_product(const fused_model *m, pto_op op)
{
    return fused_is(m, op, FUSED_KIND_CONTRACT) || fused_is(m, op, FUSED_KIND_CONTRACT_WEIGHTS);
}

static pto_op sole_user(pto_value v, uint32_t *slot)
{
    return pto_value_use_count(v) == 1 ? pto_value_use(v, 0, slot) : pto_op_none(v.run);
}

int fused_is_start_of_product(const fused_model *m, pto_op zeros)
{
    uint32_t slot = 0;
    const pto_op user = sole_user(pto_op_result(zeros, 0), &slot);
    return PTO_SOME(user) && fused_is_product(m, user) && slot == 0 &&
           pto_block_same(pto_op_block(user), pto_op_block(zeros));
}

int fused_starts_at_zero(const fused_model *m, pto_op product)
{
    const pto_op def = pto_value_op(pto_op_operand(product, 0));
    return PTO_SOME(def) && fused_is(m, def, FUSED_KIND_ZERO_ACC) && fused_is_start_of_product(m, def);
}

pto_op fused_store_of_product(const fused_model *m, pto_op product)
{
    const pto_op none = pto_op_none(m->run), store = sole_user(pto_op_result(product, 0), NULL);
    pto_op next = pto_op_next(product);
    while (PTO_SOME(next) && (fused_is(m, next, FUSED_KIND_CONSTANT) || fused_is(m, next, FUSED_KIND_INDEX_CAST)))
        next = pto_op_next(next);
    if (!PTO_SOME(store) || !PTO_SOME(next) || !pto_op_same(store, next) || !fused_is(m, store, FUSED_KIND_STORE))
        return none;
    const pto_value to = pto_op_operand(store, 1);
    if (dtype_of(to) != dtype_of(pto_op_result(product, 0)) || pto_attr_bool_of(store, PTO_STR("relu"), 0) ||
        PTO_SOME(pto_op_attr(store, PTO_STR("scale"))) || !fused_starts_at_zero(m, product))
        return none;
    for (uint32_t i = 1; i < pto_op_operand_count(product); i++)
        if (is_memory(pto_op_operand(product, i)) && !is_apart(m, pto_op_operand(product, i), to)) return none;
    return store;
}

int fused_stores_product(const fused_model *m, pto_op op)
{
    if (!fused_is(m, op, FUSED_KIND_STORE)) return 0;
    const pto_op def = pto_value_op(pto_op_operand(op, 0));
    return PTO_SOME(def) && fused_is_product(m, def) && PTO_SOME(fused_store_of_product(m, def));
}
