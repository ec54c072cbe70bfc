/* In the body of a loop that has become a part of a nest, a load of what a store before it has put there takes the tile
 * that was stored. A store to memory that nothing reads any more goes. */
#include "sink_loops.h"

static pto_value memory_of(pto_op access)
{
    const pto_value v = pto_op_operand(access, PTO_IS(access, STORE) ? pto_op_operand_count(access) - 1 : 0);
    return PTO_IS(pto_value_op(v), VIEW) ? pto_op_operand(pto_value_op(v), 0) : v;
}

/* The first element of the window, counted in the memory. */
static pto_expr first_element(pto_op access)
{
    const pto_value v = pto_op_operand(access, PTO_IS(access, STORE) ? pto_op_operand_count(access) - 1 : 0);
    pto_expr at = pto_expr_const(access.run, 0);
    for (uint32_t d = 0; d < pto_type_rank(pto_value_type(v)); d++)
        at = pto_expr_add(pto_expr_mul(at, pto_type_dim(pto_value_type(v), d)),
                          pto_expr_of(access, PTO_STR("offsets"), d));
    return at;
}

static pto_expr row_length(pto_op access)
{
    const pto_type type =
        pto_value_type(pto_op_operand(access, PTO_IS(access, STORE) ? pto_op_operand_count(access) - 1 : 0));
    return pto_type_dim(type, pto_type_rank(type) - 1);
}

/* Whether the load takes the elements of the stored tile, as they are in it. */
static int is_stored_tile(pto_op load, pto_op store)
{
    const pto_value stored = pto_op_operand(store, 0), loaded = pto_op_result(load, 0);
    const pto_expr here = first_element(load), there = first_element(store);
    pto_expr valid[2];
    if (pto_op_operand_count(store) != 2 || pto_attr_bool_of(store, PTO_STR("relu"), 0) ||
        PTO_SOME(pto_op_attr(store, PTO_STR("scale"))) || pto_attr_bool_of(load, PTO_STR("transpose"), 0) ||
        PTO_SOME(pto_op_attr(load, PTO_STR("pad"))) || !pto_type_same(pto_value_type(stored), pto_value_type(loaded)) ||
        pto_value_valid(stored, valid) < 0)
        return 0;
    if (!PTO_SOME(here) || !PTO_SOME(there) || !pto_expr_equal(here, there) ||
        !pto_expr_equal(row_length(load), row_length(store)))
        return 0;
    for (uint32_t d = 0; d < 2; d++)
        if (!pto_expr_equal(valid[d], pto_expr_of(load, PTO_STR("sizes"), d))) return 0;
    return 1;
}

/* Whether the op, or one in it, stores to the memory. */
static int stores_to(pto_op op, pto_value memory)
{
    if (PTO_IS(op, STORE)) return pto_value_same(memory_of(op), memory);
    PTO_WALK(op, inner) if (PTO_IS(inner, STORE) && pto_value_same(memory_of(inner), memory)) return 1;
    return 0;
}

static int is_loaded(pto_value memory)
{
    PTO_EACH_USE(memory, use) {
        if (PTO_IS(use.op, VIEW) ? pto_value_use_count(pto_op_result(use.op, 0)) != 0 : !PTO_IS(use.op, STORE))
            return 1;
    }
    return 0;
}

pto_status sink_forward(const sink_body *b, pto_op loop)
{
    const pto_block body = pto_body(loop);
    PTO_EACH_OP(body, load) {
        pto_op last = pto_op_none(b->run);
        if (!PTO_IS(load, LOAD)) continue;
        const pto_value memory = memory_of(load);
        PTO_EACH_OP(body, op) {
            if (pto_op_same(op, load)) break;
            if (stores_to(op, memory)) last = op;
        }
        if (!PTO_SOME(last) || !PTO_IS(last, STORE) || !is_stored_tile(load, last)) continue;
        PTO_TRY(pto_value_replace(pto_op_result(load, 0), pto_op_operand(last, 0)));
        PTO_TRY(pto_op_erase(load));
        pto_stat_add(b->run, STAT_FORWARDED, 1);
    }
    for (uint32_t i = 0; i < b->memory_count; i++) {
        const sink_memory *m = &b->memories[i];
        if (PTO_SOME(m->begin) || m->home >= 0 || is_loaded(m->place)) continue;
        PTO_WALK(loop, store)
        {
            if (PTO_IS(store, STORE) && pto_value_same(memory_of(store), m->place)) PTO_TRY(pto_op_erase(store));
        }
    }
    return PTO_OK;
}
