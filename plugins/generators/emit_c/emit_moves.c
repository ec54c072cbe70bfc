/* Moves of narrow floats. As a number in f32 a NaN loses its bits: loads, choices and stores between which nothing is
 * computed take an element as an integer of as many bits. What an op computes becomes bits where another one chooses
 * between it and what moves. */
#include "emit_nest.h"

static pto_dtype dtype_of(pto_value v) { return pto_type_dtype(pto_value_type(v)); }

pto_dtype emit_moved_type(pto_dtype t)
{
    if (!pto_dtype_is_float(t) || t == PTO_F32) return t;
    return pto_dtype_bytes(t) == 1 ? PTO_U8 : PTO_U16;
}

static int is_changed_by_moves(pto_value v) { return emit_moved_type(dtype_of(v)) != dtype_of(v); }

int emit_moves(pto_op op)
{
    switch (emit_rule_of(op)) {
    case PTO_RULE_MOVE: return dtype_of(pto_op_operand(op, 0)) == dtype_of(pto_op_result(op, 0));
    case PTO_RULE_SELECT:
    case PTO_RULE_SELECT_SCALAR:
    case PTO_RULE_ROW_EXPAND:
    case PTO_RULE_COL_EXPAND:
    case PTO_RULE_FILL: return 1;
    default: return 0;
    }
}

static int chooses(pto_op op)
{
    return emit_rule_of(op) == PTO_RULE_SELECT || emit_rule_of(op) == PTO_RULE_SELECT_SCALAR;
}

int emit_is_condition(pto_op op, uint32_t i) { return chooses(op) && i == 0; }

const char *emit_moved_scalar(emitter *e, pto_op op, uint32_t i)
{
    const pto_dtype t = dtype_of(pto_op_result(op, 0));
    return emit_write(e, t, emit_scalar_as(e, op, i, t, emit_value(e, pto_op_operand(op, i))));
}

const char *emit_moved(emitter *e, pto_op op, const char *const *x, int in_vectors)
{
    if (!chooses(op)) return x[0];
    return emit_format(e, in_vectors ? "pto_select_u32(%s, %s, %s)" : "(%s ? %s : %s)", x[0], x[1], x[2]);
}

/* ---- in a nest ---- */

int nest_is_moved(emit_group *g, pto_value v)
{
    const fused_op *from = nest_maker_of(g, v);
    return storage_is_tile(v) && is_changed_by_moves(v) && (from == NULL || from->is_moved);
}

int nest_has_bits(emit_group *g, pto_value v)
{
    const fused_op *from = nest_maker_of(g, v);
    return from == NULL || from->kind == FUSED_LOAD || from->kind == FUSED_ROW_LOAD || emit_moves(from->op);
}

int nest_takes_bits(emit_group *g, const fused_op *f, uint32_t i)
{
    const pto_value v = pto_op_operand(f->op, i);
    if (!is_changed_by_moves(v) || !nest_has_bits(g, v)) return 0;
    return fused_is_store(f->kind) ? nest_is_moved(g, v) : f->as_bits && !emit_is_condition(f->op, i);
}

int nest_takes_number(emit_group *g, const fused_op *f, uint32_t i)
{
    return !nest_takes_bits(g, f, i) || (f->as_number && !fused_is_store(f->kind));
}

/* A sweep after that of the maker takes a vector from memory, in the form that it needs. */
static int is_at_hand(const fused_op *maker, const fused_op *f)
{
    return fused_is_of_row(maker->kind) || maker->level == f->level;
}

void nest_find_moves(emit_group *g)
{
    for (uint32_t i = 0; i < g->count; i++) {
        fused_op *f = &g->ops[i];
        if (fused_is_store(f->kind) || !is_changed_by_moves(pto_op_result(f->op, 0))) continue;
        f->is_moved = f->kind == FUSED_LOAD || f->kind == FUSED_ROW_LOAD;
        for (uint32_t k = 0; emit_moves(f->op) && k < pto_op_operand_count(f->op); k++)
            f->is_moved |= !emit_is_condition(f->op, k) && nest_is_moved(g, pto_op_operand(f->op, k));
    }
    for (uint32_t i = g->count; i-- > 0;) {
        fused_op *f = &g->ops[i];
        f->as_bits |= f->is_moved && (f->is_kept || f->is_crossing);
        for (uint32_t k = 0; k < pto_op_operand_count(f->op); k++) {
            fused_op *from = nest_maker_of(g, pto_op_operand(f->op, k));
            if (from == NULL || !is_at_hand(from, f)) continue;
            from->as_bits |= nest_takes_bits(g, f, k);
            from->as_number |= nest_takes_number(g, f, k);
        }
    }
}
