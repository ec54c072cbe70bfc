/* The room of the host table that reads ops. */
#include "core/host/host_handle.h"

#include "ir/fold.h"
#include "ir/op_space.h"

#include <string.h>

static pto_kind_id op_kind_slot(pto_op h)
{
    run_context *c = run_of(h.run);
    const op_id o = op_from(c, h);
    return o != 0 ? op_kind_of(c->m, o) : OP_NONE;
}

static pto_loc op_loc_slot(pto_op h)
{
    run_context *c = run_of(h.run);
    const op_id o = op_from(c, h);
    return loc_handle(c, o != 0 ? op_loc(c->m, o) : 0);
}

static pto_block op_block_slot(pto_op h)
{
    run_context *c = run_of(h.run);
    const op_id o = op_from(c, h);
    c->saw_outside |= o == c->request.unit;
    return block_handle(c, o != 0 ? op_block(c->m, o) : 0);
}

/* One op to another, or none. */
static pto_op step(pto_op h, op_id (*to)(const module *m, op_id o))
{
    run_context *c = run_of(h.run);
    const op_id o = op_from(c, h);
    c->saw_outside |= o == c->request.unit; /* the next function */
    return op_handle(c, o != 0 ? to(c->m, o) : 0);
}

static pto_op op_next_slot(pto_op h) { return step(h, op_next); }
static pto_op op_prev_slot(pto_op h) { return step(h, op_prev); }
static pto_op op_parent_slot(pto_op h) { return step(h, op_parent); }
static pto_op op_function_slot(pto_op h) { return step(h, op_function); }

/* A number that an op has; 0 for none. */
static uint32_t number_of(pto_op h, uint32_t (*number)(const module *m, op_id o))
{
    run_context *c = run_of(h.run);
    const op_id o = op_from(c, h);
    return o != 0 ? number(c->m, o) : 0;
}

static pto_op op_walk_next_slot(pto_op current, pto_op root)
{
    run_context *c = run_of(current.run);
    const op_id r = op_from(c, root), o = op_from(c, current);
    if ((current.index != 0 && o == 0) || (root.index != 0 && r == 0)) return op_handle(c, 0);
    c->saw_outside |= r == 0;
    if (o == 0 && r == 0) return op_handle(c, block_first(c->m, module_top(c->m)));
    return op_handle(c, walk_next(c->m, r, o));
}

static pto_op op_walk_on_slot(pto_op current, pto_op root, pto_op *behind)
{
    run_context *c = run_of(current.run);
    const op_id r = op_from(c, root), o = op_from(c, current);
    const bool is_found = o != 0 && (root.index == 0 || r != 0);
    const op_id next = is_found ? walk_next(c->m, r, o) : 0;
    *behind = op_handle(c, is_found && op_block_count(c->m, o) != 0 ? walk_skip(c->m, r, o) : next);
    return op_handle(c, next);
}

static int32_t op_is_live_slot(pto_op h)
{
    const run_context *c = (const run_context *)h.run;
    return c->active && h.generation >> 16 == c->serial && op_is_live_since(c->m, h.index, h.generation & 0xffffu);
}

static int32_t op_is_before_slot(pto_op first, pto_op second)
{
    run_context *c = run_of(first.run);
    const op_id a = op_from(c, first), b = op_from(c, second);
    if (a == 0 || b == 0) return 0;
    if (op_block(c->m, a) == op_block(c->m, b)) return op_is_before(c->m, a, b);
    run_misuse(c, &E1324, "asked for the order of two ops of different blocks");
    return 0;
}

static int32_t op_dominates_slot(pto_op first, pto_op second)
{
    run_context *c = run_of(first.run);
    const op_id a = op_from(c, first);
    op_id b = op_from(c, second);
    if (a == 0) return 0;
    while (b != 0 && op_block(c->m, b) != op_block(c->m, a)) {
        if ((op_info_of(c->m, b)->traits & TRAIT_FUNCTION) != 0) return 0;
        b = op_parent(c->m, b);
    }
    return b != 0 && a != b && op_is_before(c->m, a, b);
}

static uint32_t op_hash_slot(pto_op h) { return number_of(h, op_hash); }

static int32_t op_equal_slot(pto_op first, pto_op second)
{
    run_context *c = run_of(first.run);
    const op_id a = op_from(c, first), b = op_from(c, second);
    return a != 0 && b != 0 && op_equal(c->m, a, b);
}

static int32_t op_is_used_slot(pto_op h)
{
    run_context *c = run_of(h.run);
    const op_id o = op_from(c, h);
    return o != 0 && op_is_used(c->m, o);
}

/* ---- operands and results ---- */

static uint32_t op_operand_count_slot(pto_op h) { return number_of(h, op_value_operand_count); }

static pto_value op_operand_slot(pto_op h, uint32_t index)
{
    run_context *c = run_of(h.run);
    const op_id o = op_from(c, h);
    return value_handle(c, o != 0 ? op_find_operand(c->m, o, index) : 0);
}

static uint32_t op_result_count_slot(pto_op h) { return number_of(h, op_result_count); }

static pto_value op_result_slot(pto_op h, uint32_t index)
{
    run_context *c = run_of(h.run);
    const op_id o = op_from(c, h);
    return value_handle(c, o != 0 && index < op_result_count(c->m, o) ? op_result(c->m, o, index) : 0);
}

static uint32_t op_block_count_slot(pto_op h) { return number_of(h, op_block_count); }

static pto_block op_block_at_slot(pto_op h, uint32_t index)
{
    run_context *c = run_of(h.run);
    const op_id o = op_from(c, h);
    return block_handle(c, o != 0 && index < op_block_count(c->m, o) ? op_block_at(c->m, o, index) : 0);
}

/* ---- attributes ---- */

static pto_attr op_attr_slot(pto_op h, pto_str name)
{
    run_context *c = run_of(h.run);
    const op_id o = op_from(c, h);
    if (o == 0) return attr_handle(c, 0);
    const str_id key = string_intern(c->ir, str_of(name));
    const attr_id a = op_attr_by_key(c->m, o, key);
    return attr_handle(c, a != 0 ? attr_with_leaves(c, o, a) : 0);
}

static uint32_t op_attr_count_slot(pto_op h)
{
    run_context *c = run_of(h.run);
    const op_id o = op_from(c, h);
    const attr_id attrs = o != 0 ? op_attrs(c->m, o) : 0;
    return attrs != 0 ? attr_at(c->ir, attrs)->count : 0;
}

static pto_attr op_attr_at_slot(pto_op h, uint32_t index, pto_str *name)
{
    run_context *c = run_of(h.run);
    const op_id o = op_from(c, h);
    const attr_id attrs = o != 0 ? op_attrs(c->m, o) : 0;
    const attr_node *dict = attrs != 0 ? attr_at(c->ir, attrs) : NULL;
    if (name != NULL) *name = (pto_str){0};
    if (dict == NULL || index >= dict->count) return attr_handle(c, 0);
    if (name != NULL) *name = pto_str_of(string_of(c->ir, dict->keys[index]));
    return attr_handle(c, attr_with_leaves(c, o, dict->items[index]));
}

static uint32_t op_path_slot(pto_op h, char *buffer, uint32_t capacity)
{
    run_context *c = run_of(h.run);
    const op_id o = op_from(c, h);
    text_buffer t;
    text_init(&t);
    if (o != 0) op_print_path(c->m, o, &t);
    const uint32_t full = (uint32_t)t.n;
    if (capacity != 0) {
        const uint32_t n = full < capacity ? full : capacity - 1;
        if (n != 0) memcpy(buffer, t.p, n);
        buffer[n] = '\0';
    }
    text_fini(&t);
    return full;
}

_Static_assert((int)ITERATION_MAX_DIMS == (int)PTO_MAX_DIMS &&
                   (int)ITERATION_MAX_OPERANDS == (int)PTO_MAX_SPACE_OPERANDS &&
                   (int)ITERATION_PARALLEL == (int)PTO_PARALLEL && (int)ITERATION_REDUCE == (int)PTO_REDUCE,
               "iteration spaces");

static pto_status op_iteration_slot(pto_op h, pto_iteration *out)
{
    run_context *c = run_of(h.run);
    const op_id o = op_from(c, h);
    iteration i;
    if (!PTO_HAS(out, result_dim)) {
        run_misuse(c, &E1324, "gave a pto_iteration without its struct_size");
        return PTO_FAILED;
    }
    if (o == 0 || op_iteration(c->m, o, &i) != OK) return PTO_FAILED;
    out->dim_count = i.dim_count;
    out->operand_count = i.operand_count;
    out->result_rank = i.result_rank;
    for (uint32_t d = 0; d < i.dim_count; d++) out->extent[d] = expr_handle(c, i.extent[d]);
    memcpy(out->operand_rank, i.operand_rank, sizeof out->operand_rank);
    memcpy(out->kind, i.kind, sizeof out->kind);
    memcpy(out->operand_dim, i.operand_dim, sizeof out->operand_dim);
    memcpy(out->result_dim, i.result_dim, sizeof out->result_dim);
    return PTO_OK;
}

static pto_attr op_fold_slot(pto_op h)
{
    run_context *c = run_of(h.run);
    const op_id o = op_from(c, h);
    return attr_handle(c, o != 0 ? op_fold(c->m, o) : 0);
}

void host_ops_fill(pto_host *h)
{
    h->op_kind = op_kind_slot;
    h->op_loc = op_loc_slot;
    h->op_block = op_block_slot;
    h->op_next = op_next_slot;
    h->op_prev = op_prev_slot;
    h->op_parent = op_parent_slot;
    h->op_function = op_function_slot;
    h->op_walk_next = op_walk_next_slot;
    h->op_walk_on = op_walk_on_slot;
    h->op_is_live = op_is_live_slot;
    h->op_is_before = op_is_before_slot;
    h->op_dominates = op_dominates_slot;
    h->op_hash = op_hash_slot;
    h->op_equal = op_equal_slot;
    h->op_is_used = op_is_used_slot;
    h->op_operand_count = op_operand_count_slot;
    h->op_operand = op_operand_slot;
    h->op_result_count = op_result_count_slot;
    h->op_result = op_result_slot;
    h->op_block_count = op_block_count_slot;
    h->op_block_at = op_block_at_slot;
    h->op_attr = op_attr_slot;
    h->op_attr_count = op_attr_count_slot;
    h->op_attr_at = op_attr_at_slot;
    h->op_path = op_path_slot;
    h->op_iteration = op_iteration_slot;
    h->op_fold = op_fold_slot;
}
