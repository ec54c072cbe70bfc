/* From outside in: an op may leave a loop when all that it takes is made outside of it, when the memory that it reads
 * is written by nothing in it, and when the loop is known to have an iteration: then it would have run anyway. */
#include "hoist.h"

/* ---- memory ---- */

/* The parameter or workspace that a view is of. */
static pto_value origin_of(pto_value memory)
{
    for (;;) {
        const pto_op def = pto_value_op(memory);
        if (!PTO_SOME(def) || !pto_kind_has(def.run, pto_op_kind(def), PTO_TRAIT_DESCRIPTOR) ||
            pto_op_operand_count(def) != 1)
            return memory;
        memory = pto_op_operand(def, 0);
    }
}

/* Whether the memory is a parameter of the function. */
static int is_parameter(pto_value memory, pto_op function)
{
    return !PTO_SOME(pto_value_op(memory)) && pto_op_same(pto_block_parent(pto_value_block(memory)), function);
}

/* Whether it is there before all loops: what a loop carries may be any memory. */
static int is_known(pto_value memory, pto_op function)
{
    const pto_op def = pto_value_op(memory);
    return is_parameter(memory, function) || (PTO_SOME(def) && pto_op_block_count(def) == 0);
}

static int may_overlap(pto_value a, pto_value b, pto_op function)
{
    a = origin_of(a);
    b = origin_of(b);
    if (pto_value_same(a, b) || !is_known(a, function) || !is_known(b, function)) return 1;
    return is_parameter(a, function) && is_parameter(b, function) &&
           PTO_SOME(pto_op_attr(function, PTO_STR("may_alias")));
}

static int is_memory(pto_value v) { return pto_type_kind_of(pto_value_type(v)) == PTO_TYPE_GM; }

/* Whether the op makes its results and does nothing else; what it reads of memory is asked of the memory. */
static int is_without_effect(pto_op op)
{
    return pto_kind_has(op.run, pto_op_kind(op), PTO_TRAIT_PURE) || pto_op_transfer(op) == PTO_TRANSFER_LOAD;
}

/* Whether it may write to memory: a store does, and of an op that is not known here one cannot tell. */
static int may_write(pto_op op)
{
    return pto_op_block_count(op) == 0 && !is_without_effect(op) &&
           !pto_kind_has(op.run, pto_op_kind(op), PTO_TRAIT_DESCRIPTOR | PTO_TRAIT_TERMINATOR);
}

/* Whether something in the loop may write to what the op reads. */
static int is_written(const hoist_nest *n, uint32_t loop, pto_op op)
{
    const pto_op function = pto_op_function(n->nest);
    if (pto_kind_has(n->run, pto_op_kind(op), PTO_TRAIT_DESCRIPTOR)) return 0;
    for (uint32_t i = 0; i < pto_op_operand_count(op); i++) {
        const pto_value memory = pto_op_operand(op, i);
        for (uint32_t s = 0; n->stores != NULL && is_memory(memory) && s < n->store_count; s++) {
            const uint32_t at = region_place(&n->regions, n->stores[s]);
            if (at < loop || at > n->regions.ops[loop].last) continue;
            if (pto_op_transfer(n->stores[s]) != PTO_TRANSFER_STORE) return 1;
            if (may_overlap(memory, pto_op_operand(n->stores[s], pto_op_operand_count(n->stores[s]) - 1), function))
                return 1;
        }
    }
    return 0;
}

static void find_stores(hoist_nest *n)
{
    uint32_t capacity = 0;
    pto_op *found = NULL;
    for (uint32_t place = 1; place < n->regions.count; place++) {
        if (!may_write(n->regions.ops[place].op)) continue;
        PTO_GROW(n->run, found, n->store_count, capacity);
        found[n->store_count++] = n->regions.ops[place].op;
    }
    n->stores = found;
}

/* ---- ops ---- */

/* Whether a use takes the storage of the value over, and changes it: the value would have to be copied before. */
static int is_taken(pto_value v)
{
    PTO_EACH_USE(v, use) {
        if (pto_op_block_count(use.op) != 0 && use.slot < pto_op_operand_count(use.op)) return 1;
        if (pto_kind_has(use.op.run, pto_op_kind(use.op), PTO_TRAIT_TERMINATOR) || pto_op_continues(use.op, use.slot))
            return 1;
    }
    return 0;
}

static int may_move(const hoist_nest *n, uint32_t place)
{
    const pto_op op = n->regions.ops[place].op;
    if (n->regions.ops[place].blocks != 0 || pto_op_result_count(op) == 0) return 0;
    if (!is_without_effect(op)) return 0;
    if (pto_attr_int_of(op, PTO_STR("stages"), 1) != 1) return 0; /* it is to rotate with the loop */
    for (uint32_t i = 0; i < pto_op_result_count(op); i++) {
        const pto_value v = pto_op_result(op, i);
        if (!storage_is_tile(v)) continue;
        if (is_taken(v) || (n->only != PTO_SPACE_NONE && pto_type_space(pto_value_type(v)) != n->only)) return 0;
    }
    return 1;
}

/* Whether an expression is an index of the nest, and all that are below the limit of that index are below `limit`. */
static int is_index_below(const hoist_nest *n, pto_expr from, pto_expr limit)
{
    if (pto_expr_kind_of(from) != PTO_EXPR_VALUE) return 0;
    const pto_value index = pto_expr_leaf(from);
    if (!pto_block_same(pto_value_block(index), pto_body(n->nest))) return 0;
    const pto_expr end = pto_expr_of(n->nest, PTO_STR("to"), pto_value_index(index));
    if (pto_expr_equal(end, limit)) return 1;
    for (uint32_t i = 0; pto_expr_kind_of(end) == PTO_EXPR_MIN && i < pto_expr_arg_count(end); i++)
        if (pto_expr_equal(pto_expr_arg(end, i), limit)) return 1;
    return 0;
}

/* Whether the loop is known to have an iteration. A core that walks over its instances has one: there are no more cores
 * than instances. */
static int has_iteration(const hoist_nest *n, uint32_t loop)
{
    const pto_op op = n->regions.ops[loop].op;
    return region_has_trip(&n->regions, loop) ||
           is_index_below(n, pto_expr_of(op, PTO_STR("from"), 0), pto_expr_of(op, PTO_STR("to"), 0));
}

/* ---- without an iteration ---- */

/* Whether the window that a load reads is known to be inside of its memory. */
static int is_inside_memory(pto_op load, pto_op at)
{
    const pto_type memory = pto_value_type(pto_op_operand(load, 0));
    const uint32_t rank = pto_type_rank(memory);
    const int is_turned = pto_attr_bool_of(load, PTO_STR("transpose"), 0);
    for (uint32_t d = 0; d < rank; d++) {
        const uint32_t size = (d + 1 == rank) != is_turned;
        const pto_expr offset = pto_expr_of(load, PTO_STR("offsets"), d),
                       extent = d + 2 < rank ? pto_expr_const(load.run, 1) : pto_expr_of(load, PTO_STR("sizes"), size),
                       left = pto_expr_sub(pto_type_dim(memory, d), pto_expr_add(offset, extent));
        if (!PTO_SOME(left) || pto_expr_range(offset, at, NULL).lo < 0 || pto_expr_range(left, at, NULL).lo < 0)
            return 0;
    }
    return 1;
}

/* Whether the caller has written the memory: a parameter that is more than an output. */
static int is_given(pto_value memory, pto_op function)
{
    const pto_attr modes = pto_op_attr(function, PTO_STR("params"));
    memory = origin_of(memory);
    if (!is_parameter(memory, function)) return 0;
    const uint32_t i = pto_value_index(memory);
    return !PTO_SOME(modes) || i >= pto_attr_count(modes) ||
           !pto_str_is(pto_attr_str(pto_attr_item(modes, i, NULL)), "out");
}

/* Whether the op can run where it did not before: it cannot fail, and does not read what nobody has written. */
static int is_harmless(const hoist_nest *n, pto_op op, pto_op at)
{
    if (pto_op_transfer(op) == PTO_TRANSFER_LOAD)
        return is_given(pto_op_operand(op, 0), pto_op_function(n->nest)) && is_inside_memory(op, at);
    if (!storage_is_tile_op(op))
        return pto_kind_has(n->run, pto_op_kind(op), PTO_TRAIT_CONSTANT | PTO_TRAIT_DESCRIPTOR);
    switch (pto_kind_column(n->run, pto_op_kind(op), PTO_COLUMN_RULE)) {
    case PTO_RULE_FILL:
    case PTO_RULE_SEQUENCE:
    case PTO_RULE_MOVE:
    case PTO_RULE_CONVERT:
    case PTO_RULE_TRANSPOSE:
    case PTO_RULE_ROW_EXPAND:
    case PTO_RULE_COL_EXPAND: return 1;
    case PTO_RULE_UNARY:
    case PTO_RULE_BINARY:
    case PTO_RULE_SCALAR:
    case PTO_RULE_ROOT:
    case PTO_RULE_ROW_BINARY:
    case PTO_RULE_COL_BINARY:
    case PTO_RULE_ROW_REDUCE:
    case PTO_RULE_COL_REDUCE: return pto_dtype_is_float(pto_type_dtype(pto_value_type(pto_op_result(op, 0))));
    default: return 0;
    }
}

/* Whether the loop has two iterations or more, as far as one can know. */
static int may_repeat(const hoist_nest *n, uint32_t loop)
{
    const pto_op op = n->regions.ops[loop].op;
    int64_t step = 1;
    const pto_expr span = pto_expr_sub(pto_expr_of(op, PTO_STR("to"), 0), pto_expr_of(op, PTO_STR("from"), 0));
    (void)pto_expr_is_const(pto_expr_of(op, PTO_STR("step"), 0), &step);
    return !PTO_SOME(span) || pto_expr_range(span, op, NULL).hi > step;
}

uint32_t hoist_target(const hoist_nest *n, uint32_t place, uint32_t loops)
{
    uint32_t loop = n->regions.ops[place].parent;
    while (--loops > 0) loop = n->regions.ops[loop].parent;
    return loop;
}

static uint32_t count_loops(const hoist_nest *n, uint32_t place)
{
    uint32_t loops = 0, loop = n->regions.ops[place].parent;
    if (!may_move(n, place)) return 0;
    for (; loop != REGION_ROOT && n->ops[place].bound < loop; loop = n->regions.ops[loop].parent) {
        const pto_op op = n->regions.ops[place].op;
        if (n->regions.ops[loop].kind != REGION_FOR || is_written(n, loop, op) ||
            (!has_iteration(n, loop) && !is_harmless(n, op, n->regions.ops[loop].op)))
            break;
        loops++;
    }
    while (loops > 0 && !may_repeat(n, hoist_target(n, place, loops))) loops--;
    return loops;
}

static void bind_users(hoist_nest *n, pto_value v, uint32_t at)
{
    PTO_EACH_USE(v, use) {
        const uint32_t place = region_place(&n->regions, use.op);
        if (place != REGION_NONE && n->ops[place].bound < at) n->ops[place].bound = at;
    }
}

/* Whether the op makes something of nothing: on a CPU that is as near as what memory has of it. */
static int is_made_of_nothing(pto_op op)
{
    int takes = pto_op_transfer(op) == PTO_TRANSFER_LOAD;
    for (uint32_t i = 0; i < pto_op_operand_count(op); i++) takes |= storage_is_tile(pto_op_operand(op, i));
    return !takes;
}

int hoist_is_candidate(const hoist_nest *n, uint32_t place)
{
    const pto_op op = n->regions.ops[place].op;
    if (n->ops[place].most == 0 || !storage_is_tile_op(op)) return 0;
    if (n->prices.is_serial && is_made_of_nothing(op)) return 0;
    return storage_is_tile(pto_op_result(op, 0)) ||
           pto_kind_column(n->run, pto_op_kind(op), PTO_COLUMN_UNIT) == PTO_UNIT_SCALAR;
}

static pto_status ask(hoist_nest *n, uint32_t place)
{
    hoist_op *o = &n->ops[place];
    const int64_t none = 0, all = o->loops;
    int64_t left = 0;
    const pto_decision d = {.struct_size = sizeof d,
                            .count = 1,
                            .name = "hoist",
                            .min = &none,
                            .max = &all,
                            .limit = "loops whose iterations all make the same"};
    const int32_t answer = pto_decision_pinned(n->regions.ops[place].op, &d, &left);
    PTO_TRY(answer);
    if (all == 0) o->why = "what it takes stays there";
    if (!answer) return PTO_OK;
    o->is_pinned = 1;
    o->loops = o->left = (uint32_t)left;
    if (left < all) o->why = "pinned";
    return PTO_OK;
}

/* `asks`: with what the schedule pins, where `most` is known. */
static pto_status find_loops(hoist_nest *n, int asks)
{
    for (uint32_t place = 1; place < n->regions.count; place++) n->ops[place].bound = REGION_ROOT;
    for (uint32_t place = 1; place < n->regions.count; place++) {
        const region_op *r = &n->regions.ops[place];
        hoist_op *o = &n->ops[place];
        for (uint32_t b = 0; b < r->blocks; b++) {
            const pto_block block = pto_op_block_at(r->op, b);
            for (uint32_t i = 0; i < pto_block_arg_count(block); i++) bind_users(n, pto_block_arg(block, i), place);
        }
        o->loops = count_loops(n, place);
        o->around = r->parent;
        if (!asks) o->most = o->loops;
        if (asks && hoist_is_candidate(n, place)) PTO_TRY(ask(n, place));
        const uint32_t home = o->loops != 0 ? n->regions.ops[hoist_target(n, place, o->loops)].parent : r->parent;
        for (uint32_t i = 0; i < pto_op_result_count(r->op); i++) bind_users(n, pto_op_result(r->op, i), home);
    }
    return PTO_OK;
}

pto_status hoist_find(hoist_nest *n)
{
    n->regions = regions_of(n->nest);
    n->ops = PTO_SCRATCH(n->run, hoist_op, n->regions.count);
    find_stores(n);
    PTO_TRY(find_loops(n, 0));
    return find_loops(n, 1);
}

/* ---- what leaves with an op ---- */

static int is_used_by_marked(const hoist_nest *n, pto_op op)
{
    for (uint32_t i = 0; i < pto_op_result_count(op); i++)
        PTO_EACH_USE(pto_op_result(op, i), use) {
            const uint32_t user = region_place(&n->regions, use.op);
            if (user != REGION_NONE && n->ops[user].is_marked) return 1;
        }
    return 0;
}

void hoist_mark(hoist_nest *n, uint32_t place, uint32_t loop)
{
    for (uint32_t p = 1; p < n->regions.count; p++) n->ops[p].is_marked = p == place;
    for (uint32_t p = place; p-- > loop + 1;)
        n->ops[p].is_marked |= n->ops[p].around >= loop && is_used_by_marked(n, n->regions.ops[p].op);
}
