/* Parts that nests compute are stored where a concat has them, instead of being copied (option `join-parts`).
 *
 *     %a = forall "f_0" (%i) to (8) out(%o = %e) { .. tile.store %t, %o[16 * %i, 0] } : tensor<128 x 64 x f32>
 *     %b = forall "f_1" (%i) to (8) out(%o = %e1) { .. tile.store %u, %o[16 * %i, 0] } : tensor<128 x 64 x f32>
 *     %y = tensor.concat %a, %b {axis = 1}
 *
 *     =>  %y = forall "f_0" (%i) to (8) out(%o = %e) {
 *           .. tile.store %t, %o[16 * %i, 0]
 *           .. tile.store %u, %o[16 * %i, 64]
 *         } : tensor<128 x 128 x f32>
 *
 * Nests of one grid become one, so that they read what they share while it is near. Nothing is joined where a part has
 * another use or is not what a nest of one result computes, or where the axis is not the last one. */
#include "tile_nest.h"

typedef struct joined_part {
    pto_op nest, view; /* view: of the result of the nest, or none */
} joined_part;

/* The tensor that the nest writes to, inside of it. */
static pto_value target_of(pto_op nest)
{
    const pto_block body = pto_body(nest);
    return pto_block_arg(body, pto_block_arg_count(body) - 1);
}

static pto_expr last_dim(pto_value v)
{
    const pto_type type = pto_value_type(v);
    return pto_type_dim(type, pto_type_rank(type) - 1);
}

/* Whether the nest does nothing with what it writes to but to store whole rows of it or pieces of them. */
static int stores_alone(pto_op nest)
{
    PTO_EACH_USE(target_of(nest), use)
        if (!PTO_IS(use.op, STORE) || use.slot != 1) return 0;
    return 1;
}

/* The nest that computes the part for this concat alone; 0: there is none. */
static int find_part(pto_value part, pto_op group, joined_part *out)
{
    pto_value made = part;
    *out = (joined_part){.view = pto_op_none(part.run)};
    if (pto_value_use_count(part) != 1) return 0;
    if (PTO_IS(pto_value_op(part), VIEW)) {
        out->view = pto_value_op(part);
        made = pto_op_operand(out->view, 0);
    }
    out->nest = pto_value_op(made);
    return PTO_IS(out->nest, FORALL) && pto_op_result_count(out->nest) == 1 && pto_value_use_count(made) == 1 &&
           pto_block_same(pto_op_block(out->nest), pto_op_block(group)) &&
           PTO_IS(pto_value_op(pto_op_operand(out->nest, 0)), EMPTY) &&
           pto_value_use_count(pto_op_operand(out->nest, 0)) == 1 && pto_expr_equal(last_dim(made), last_dim(part)) &&
           stores_alone(out->nest);
}

static int has_grid_of(pto_op a, pto_op b)
{
    const uint32_t count = pto_block_arg_count(pto_body(a));
    if (!pto_type_same(pto_value_type(target_of(a)), pto_value_type(target_of(b)))) return 0;
    if (pto_block_arg_count(pto_body(b)) != count) return 0;
    for (uint32_t d = 0; d + 1 < count; d++)
        if (!pto_expr_equal(pto_expr_of(a, PTO_STR("to"), d), pto_expr_of(b, PTO_STR("to"), d))) return 0;
    return 1;
}

/* The type of what a nest of parts writes to, `width` columns wide. */
static pto_type wide_type(pto_op nest, pto_expr width)
{
    const pto_type type = pto_value_type(target_of(nest));
    return pto_type_with_dim(nest.run, type, pto_type_rank(type) - 1, width);
}

/* `target`, which has the elements of the result, under that type. */
static pto_value viewed(pto_op group, pto_value target, pto_type type)
{
    const uint32_t rank = pto_type_rank(type);
    pto_expr dims[PTO_MAX_DIMS];
    for (uint32_t d = 0; d < rank; d++) dims[d] = pto_type_dim(type, d);
    return tile_view(group.run, group, target, rank, dims);
}

/* The nest writes to `target`, from column `at` on. */
static pto_status turn_nest(pto_op nest, pto_op group, pto_value target, pto_expr at)
{
    const pto_type type = pto_value_type(target);
    const uint32_t rank = pto_type_rank(type);
    pto_expr offsets[PTO_MAX_DIMS];
    PTO_TRY(pto_op_move(nest, pto_before(group)));
    PTO_TRY(pto_op_set_operand(nest, 0, target));
    PTO_TRY(pto_value_set_type(target_of(nest), type));
    PTO_TRY(pto_value_set_type(pto_op_result(nest, 0), type));
    PTO_EACH_USE(target_of(nest), use) {
        for (uint32_t d = 0; d < rank; d++) {
            const pto_expr own = pto_expr_of(use.op, PTO_STR("offsets"), d);
            offsets[d] = d + 1 == rank ? pto_expr_add(own, at) : own;
        }
        PTO_TRY(pto_op_set_attr(use.op, PTO_STR("offsets"), pto_attr_make_exprs(nest.run, rank, offsets)));
    }
    return PTO_OK;
}

/* What `nest` does `first` does as well, after its own. */
static pto_status merge_into(pto_op first, pto_op nest)
{
    const pto_block body = pto_body(nest);
    for (uint32_t i = 0; i < pto_block_arg_count(body); i++)
        PTO_TRY(pto_value_replace(pto_block_arg(body, i), pto_block_arg(pto_body(first), i)));
    const pto_op end = pto_block_terminator(pto_body(first)), own_end = pto_block_terminator(body);
    for (pto_op op = pto_block_first(body); !pto_op_same(op, own_end);) {
        const pto_op next = pto_op_next(op);
        PTO_TRY(pto_op_move(op, pto_before(end)));
        op = next;
    }
    PTO_TRY(pto_value_replace(pto_op_result(nest, 0), pto_op_result(first, 0)));
    return pto_op_erase(nest);
}

static pto_status join_parts(pto_op group, pto_op concat, const joined_part *parts, uint32_t count)
{
    const pto_run *run = group.run;
    const pto_type type = pto_value_type(pto_op_result(group, 0));
    const pto_expr width = pto_type_dim(type, pto_type_rank(type) - 1);
    pto_value target = pto_value_none(run);
    pto_op last = pto_op_none(run);
    pto_expr at = pto_expr_const(run, 0);
    for (uint32_t i = 0; i < count; i++) {
        const pto_op nest = parts[i].nest;
        const pto_type wide = wide_type(nest, width);
        const pto_expr columns = last_dim(pto_op_operand(concat, i));
        target = i == 0 ? tile_empty(run, group, wide, PTO_STR("e")) : viewed(group, target, wide);
        PTO_NEED(target);
        PTO_TRY(turn_nest(nest, group, target, at));
        at = pto_expr_add(at, columns);
        if (i != 0 && has_grid_of(last, nest) && pto_value_same(target, pto_op_result(last, 0)))
            PTO_TRY(merge_into(last, nest));
        else
            last = nest;
        target = pto_op_result(last, 0);
    }
    const pto_value y = viewed(group, target, type);
    const pto_str name = pto_value_name(pto_op_result(group, 0));
    PTO_NEED(y);
    PTO_TRY(pto_op_replace(group, 1, &y));
    return name.n == 0 ? PTO_OK : pto_value_set_name(y, name);
}

pto_status tile_join(pto_op group, pto_op op, int *done)
{
    const pto_run *run = group.run;
    const uint32_t count = pto_op_operand_count(op), rank = pto_type_rank(pto_value_type(pto_op_result(op, 0)));
    joined_part *parts = PTO_SCRATCH(run, joined_part, count);
    *done = 0;
    if (!pto_opt_bool(run, TILE_OPT_JOIN_PARTS) || !PTO_IS(op, T_CONCAT)) return PTO_OK;
    if (rank == 0 || pto_axes_of(op, rank) != 1u << (rank - 1)) return PTO_OK;
    for (uint32_t i = 0; i < count; i++)
        if (!find_part(pto_op_operand(op, i), group, &parts[i])) return PTO_OK;
    *done = 1;
    PTO_TRY(join_parts(group, op, parts, count));
    for (uint32_t i = 0; i < count; i++)
        if (PTO_SOME(parts[i].view)) PTO_TRY(pto_op_erase(parts[i].view));
    return PTO_OK;
}
