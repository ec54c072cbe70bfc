/* The loop over one nest that keeps what it carries in tiles.
 *
 *     %r = for %i to 10 carry(%a = %x) {                  %e = tile.empty
 *       %e = tile.empty                                   %y = forall (%j) to (4) out(%o = %e) {
 *       %y = forall (%j) to (4) out(%o = %e) {              %t0 = tile.load %x[8 * %j, 0] size(8, 64)
 *         %t = tile.load %a[8 * %j, 0] size(8, 64)    =>    %u0 = for %i to 10 carry(%t = %t0 valid(8, 64)) {
 *         %u = tile.exp %t                                    %u = tile.exp %t
 *         tile.store %u, %o[8 * %j, 0]                        yield %u
 *       }                                                   }
 *       yield %y                                            tile.store %u0, %o[8 * %j, 0]
 *     }                                                   }
 *
 * An instance may do so when it reads of what is carried the window alone that it writes itself. What it loads of other
 * tensors at a place that is the same in each iteration is loaded once, before, where there is an iteration. */
#include "sink_loops.h"

typedef struct carried_tile {
    pto_op store;      /* of the nest, to what becomes the carried tensor; none: the loop hands on what it got */
    pto_value result;  /* of the nest */
    pto_value initial; /* what the loop begins with */
    pto_value tile;    /* that is carried, of the loop in the nest */
} carried_tile;

struct sink_tiles {
    const pto_run *run;
    pto_op loop, nest, inner;
    uint32_t count;
    carried_tile *carried;
    const char *why; /* it stays; NULL: it does not */
};

static void refuse(sink_tiles *s, const char *why)
{
    if (s->why == NULL) s->why = why;
}

static pto_value argument(const sink_tiles *s, uint32_t i) { return pto_block_arg(pto_body(s->loop), i + 1); }

/* ---- windows ---- */

/* Whether the expression is the same number in each iteration, for an op of the nest. */
static int is_fixed(const sink_tiles *s, pto_expr e)
{
    if (pto_expr_kind_of(e) == PTO_EXPR_VALUE) {
        const pto_value v = pto_expr_leaf(e);
        const pto_op def = pto_value_op(v);
        const pto_op owner = PTO_SOME(def) ? pto_op_parent(def) : pto_block_parent(pto_value_block(v));
        return pto_op_same(owner, s->nest) ? !PTO_SOME(def) : !sink_is_inside(owner, s->loop);
    }
    for (uint32_t i = 0; i < pto_expr_arg_count(e); i++)
        if (!is_fixed(s, pto_expr_arg(e, i))) return 0;
    return 1;
}

static int are_fixed(const sink_tiles *s, pto_op op, const char *list)
{
    for (uint32_t i = 0; i < pto_expr_count_of(op, pto_s(list)); i++)
        if (!is_fixed(s, pto_expr_of(op, pto_s(list), i))) return 0;
    return 1;
}

/* Whether the load takes the valid region of the stored tile from where it is stored. */
static int is_same_tile(pto_op load, pto_op store)
{
    return window_is_same(load, store) &&
           pto_type_same(pto_value_type(pto_op_result(load, 0)), pto_value_type(pto_op_operand(store, 0))) &&
           !pto_attr_bool_of(load, PTO_STR("transpose"), 0) && !PTO_SOME(pto_op_attr(load, PTO_STR("pad")));
}

/* ---- what can be sunk ---- */

static void match_store(sink_tiles *s, carried_tile *c, uint32_t out)
{
    const pto_block body = pto_body(s->nest);
    const pto_value target = pto_block_arg(body, pto_expr_count_of(s->nest, PTO_STR("to")) + out);
    pto_expr valid[2];
    const pto_use use = pto_use_at(target, 0);
    if (pto_value_use_count(target) != 1 || !PTO_IS(use.op, STORE) || use.slot != 1 ||
        !pto_block_same(pto_op_block(use.op), body) || pto_attr_bool_of(use.op, PTO_STR("relu"), 0)) {
        refuse(s, "an instance does not store one tile to what is carried");
        return;
    }
    c->store = use.op;
    if (!are_fixed(s, use.op, "offsets") || pto_value_valid(pto_op_operand(use.op, 0), valid) < 0 ||
        !is_fixed(s, valid[0]) || !is_fixed(s, valid[1]))
        refuse(s, "instances write to another place in each iteration");
}

static void match_carried(sink_tiles *s, uint32_t i)
{
    const pto_value v = pto_op_operand(pto_block_terminator(pto_body(s->loop)), i);
    carried_tile *c = &s->carried[i];
    c->initial = pto_op_operand(s->loop, i);
    c->store = pto_op_none(s->run);
    if (pto_type_kind_of(pto_value_type(v)) != PTO_TYPE_TENSOR) {
        refuse(s, "the loop carries a scalar");
        return;
    }
    if (pto_value_same(v, argument(s, i))) return;
    if (!pto_op_same(pto_value_op(v), s->nest) || pto_value_use_count(v) != 1) {
        refuse(s, "what is carried is not made by the nest alone");
        return;
    }
    c->result = v;
    match_store(s, c, pto_value_index(v));
    if (s->why != NULL) return;
    PTO_EACH_USE(argument(s, i), use) {
        if (!PTO_IS(use.op, LOAD) || !pto_block_same(pto_op_block(use.op), pto_body(s->nest)) ||
            !is_same_tile(use.op, c->store))
            refuse(s, "an instance reads other elements of what is carried than those that it writes");
    }
}

static void match_nest_op(sink_tiles *s, pto_op op)
{
    if (PTO_IS(op, YIELD) || PTO_IS(op, LOAD)) return;
    if (pto_op_block_count(op) != 0) refuse(s, "the nest has loops of its own");
    if (PTO_IS(op, MATMUL) || PTO_IS(op, MATMUL_ACC))
        refuse(s, "what the matrix unit makes is not where it takes operands from");
    if (PTO_IS(op, STORE)) {
        for (uint32_t i = 0; i < s->count; i++)
            if (PTO_SOME(s->carried[i].store) && pto_op_same(s->carried[i].store, op)) return;
        refuse(s, "the nest stores what is not carried");
    } else if (!pto_kind_has(s->run, pto_op_kind(op), PTO_TRAIT_PURE)) {
        refuse(s, "the nest holds an op with an effect");
    }
}

static void match_nest(sink_tiles *s)
{
    if (!are_fixed(s, s->nest, "to")) refuse(s, "the nest has another number of instances in each iteration");
    for (uint32_t i = 0; i < pto_op_operand_count(s->nest); i++)
        if (!PTO_IS(pto_value_op(pto_op_operand(s->nest, i)), EMPTY)) refuse(s, "the nest changes a tensor in place");
    for (uint32_t i = 0; s->why == NULL && i < s->count; i++) match_carried(s, i);
    uint32_t stored = 0;
    for (uint32_t i = 0; s->why == NULL && i < s->count; i++) stored += PTO_SOME(s->carried[i].store);
    if (stored == 0) refuse(s, "the nest makes nothing that is carried");
    if (s->why != NULL) return;
    PTO_EACH_OP(pto_body(s->nest), op) match_nest_op(s, op);
}

static void match(sink_tiles *s)
{
    const pto_op loop = s->loop;
    s->nest = pto_op_none(s->run);
    s->count = pto_op_result_count(loop);
    s->carried = PTO_SCRATCH(s->run, carried_tile, s->count);
    if (s->count == 0) refuse(s, "it carries nothing");
    PTO_EACH_OP(pto_body(loop), op) {
        if (PTO_IS(op, YIELD) || PTO_IS(op, EMPTY)) continue;
        if (PTO_IS(op, FORALL) && !PTO_SOME(s->nest))
            s->nest = op;
        else if (PTO_IS(op, FORALL))
            refuse(s, "its body has several nests");
        else if (pto_op_block_count(op) != 0 || !pto_kind_has(s->run, pto_op_kind(op), PTO_TRAIT_PURE) ||
                 pto_type_kind_of(pto_value_type(pto_op_result(op, 0))) != PTO_TYPE_SCALAR)
            refuse(s, "its body has more than a nest");
    }
    if (!PTO_SOME(s->nest)) refuse(s, "its body has no nest");
    if (s->why == NULL) match_nest(s);
}

sink_tiles *sink_tiles_match(const pto_run *run, pto_op loop, const char **why)
{
    sink_tiles *s = PTO_SCRATCH(run, sink_tiles, 1);
    *s = (sink_tiles){.run = run, .loop = loop};
    match(s);
    *why = s->why;
    return s;
}

/* ---- the change ---- */

static int is_lifted(const sink_tiles *s, pto_op op)
{
    return PTO_IS(op, LOAD) && are_fixed(s, op, "offsets") && are_fixed(s, op, "sizes");
}

/* The tile that an instance begins with, loaded from where it will be stored. */
static pto_value load_initial(const sink_tiles *s, const carried_tile *c, pto_op before)
{
    const pto_value stored = pto_op_operand(c->store, 0);
    pto_expr valid[2];
    if (pto_value_valid(stored, valid) < 0) return pto_value_none(s->run);
    pto_spec spec = pto_spec_make(s->run, pto_kind(s->run, KIND_LOAD));
    pto_spec_operand(&spec, c->initial);
    pto_spec_attr(&spec, PTO_STR("offsets"), pto_op_attr(c->store, PTO_STR("offsets")));
    pto_spec_exprs(&spec, PTO_STR("sizes"), 2, valid);
    pto_spec_result(&spec, pto_value_type(stored));
    pto_spec_name(&spec, pto_value_name(stored));
    pto_spec_loc(&spec, pto_op_loc(s->loop));
    return pto_spec_value(&spec, pto_before(before));
}

/* The loop in the nest, before its first op; its body has the index and the carried tiles as arguments. */
static pto_status make_inner(sink_tiles *s)
{
    const pto_run *run = s->run;
    const pto_op first = pto_block_first(pto_body(s->nest));
    static const char *const bounds[] = {"from", "to", "step"};
    pto_spec spec = pto_spec_make(run, pto_kind(run, KIND_FOR));
    pto_attr *regions = PTO_SCRATCH(run, pto_attr, s->count);
    uint32_t tiles = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        carried_tile *c = &s->carried[i];
        pto_expr valid[2];
        if (!PTO_SOME(c->store)) continue;
        c->tile = load_initial(s, c, first);
        PTO_NEED(c->tile);
        PTO_TRY(pto_value_valid(c->tile, valid));
        pto_spec_operand(&spec, c->tile);
        pto_spec_result(&spec, pto_value_type(c->tile));
        regions[tiles++] = pto_attr_make_exprs(run, 2, valid);
    }
    for (uint32_t b = 0; b < 3; b++) pto_spec_attr(&spec, pto_s(bounds[b]), pto_op_attr(s->loop, pto_s(bounds[b])));
    pto_spec_attr(&spec, PTO_STR("valid"), pto_attr_make_list(run, tiles, regions));
    pto_spec_blocks(&spec, 1);
    pto_spec_loc(&spec, pto_op_loc(s->loop));
    pto_spec_name(&spec, pto_value_name(pto_op_result(s->loop, 0)));
    s->inner = pto_spec_build(&spec, pto_before(first));
    PTO_NEED(s->inner);
    const pto_value old = pto_block_arg(pto_body(s->loop), 0);
    const pto_value fresh = pto_block_add_arg(pto_body(s->inner), pto_value_type(old), pto_value_name(old));
    PTO_NEED(fresh);
    return pto_value_replace(old, fresh);
}

/* What the nest did goes into the loop; what is carried comes from its arguments. */
static pto_status fill_inner(sink_tiles *s)
{
    const pto_block body = pto_body(s->inner);
    for (uint32_t i = 0; i < s->count; i++) {
        const carried_tile *c = &s->carried[i];
        if (!PTO_SOME(c->store)) {
            PTO_TRY(pto_value_replace(argument(s, i), c->initial));
            continue;
        }
        const pto_value arg = pto_block_add_arg(body, pto_value_type(c->tile), pto_value_name(c->tile));
        PTO_NEED(arg);
        for (pto_use use = pto_use_at(argument(s, i), 0); PTO_SOME(use.op); use = pto_use_at(argument(s, i), 0))
            PTO_TRY(pto_op_replace_by(use.op, arg));
    }
    PTO_EACH_OP(pto_body(s->loop), scalar) {
        if (!PTO_IS(scalar, YIELD) && !PTO_IS(scalar, EMPTY) && !PTO_IS(scalar, FORALL))
            PTO_TRY(pto_op_move(scalar, pto_at_end(body)));
    }
    const int has_lifted = sink_has_iteration(s->run, s->loop);
    int is_after = 0;
    PTO_EACH_OP(pto_body(s->nest), op) {
        if (pto_op_same(op, s->inner)) {
            is_after = 1;
        } else if (is_after && has_lifted && is_lifted(s, op)) {
            PTO_TRY(pto_op_move(op, pto_before(s->inner)));
            pto_stat_add(s->run, STAT_LIFTED, 1);
        } else if (is_after && !PTO_IS(op, STORE) && !PTO_IS(op, YIELD)) {
            PTO_TRY(pto_op_move(op, pto_at_end(body)));
        }
    }
    return PTO_OK;
}

static pto_status end_inner(sink_tiles *s)
{
    pto_spec yield = pto_spec_make(s->run, pto_kind(s->run, KIND_YIELD));
    uint32_t tiles = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        const carried_tile *c = &s->carried[i];
        if (!PTO_SOME(c->store)) continue;
        pto_spec_operand(&yield, pto_op_operand(c->store, 0));
        PTO_TRY(pto_op_set_operand(c->store, 0, pto_op_result(s->inner, tiles++)));
    }
    pto_spec_loc(&yield, pto_op_loc(pto_block_terminator(pto_body(s->loop))));
    return PTO_SOME(pto_spec_build(&yield, pto_at_end(pto_body(s->inner)))) ? PTO_OK : PTO_FAILED;
}

pto_status sink_tiles_apply(sink_tiles *s)
{
    PTO_EACH_OP(pto_body(s->loop), empty) {
        if (PTO_IS(empty, EMPTY)) PTO_TRY(pto_op_move(empty, pto_before(s->loop)));
    }
    PTO_TRY(make_inner(s));
    PTO_TRY(fill_inner(s));
    PTO_TRY(end_inner(s));
    PTO_TRY(pto_op_move(s->nest, pto_before(s->loop)));
    for (uint32_t i = 0; i < s->count; i++) {
        const carried_tile *c = &s->carried[i];
        PTO_TRY(pto_value_replace(pto_op_result(s->loop, i), PTO_SOME(c->store) ? c->result : c->initial));
    }
    pto_stat_add(s->run, STAT_SUNK, 1);
    return pto_op_erase(s->loop);
}
