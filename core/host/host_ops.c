/* Host functions that read ops. */
#include "core/host/host_handle.h"

#include "ir/fold.h"
#include "ir/op_space.h"

#include <string.h>

static __attribute__((noinline, cold)) pto_kind_id refused_kind(pto_op h)
{
    run_context *c = run_of(h.run);
    const op_id o = op_from(c, h);
    return o != 0 ? op_kind_of(c->m, o) : OP_NONE;
}

/* Asked more often than all else: what is right is not looked at as what may be wrong is. */
pto_kind_id host_op_kind(pto_op h)
{
    const run_context *c = (const run_context *)(uintptr_t)h.run;
    const bool is_open = c->active && h.generation >> 16 == c->serial;
    const bool is_fine = is_open && op_is_live_since(c->m, h.index, h.generation & 0xffffu);
    return is_fine ? op_raw(c->m, h.index)->kind : refused_kind(h);
}

pto_loc host_op_loc(pto_op h)
{
    run_context *c = run_of(h.run);
    const op_id o = op_from(c, h);
    c->saw_own = true;
    return loc_handle(c, o != 0 ? op_loc(c->m, o) : 0);
}

pto_block host_op_block(pto_op h)
{
    run_context *c = run_of(h.run);
    const op_id o = op_from(c, h);
    c->saw_outside |= o == c->request.unit;
    return block_handle(c, o != 0 ? op_block(c->m, o) : 0);
}

/* One op to another, or none. */
static inline pto_op step(pto_op h, op_id (*to)(const module *m, op_id o))
{
    run_context *c = run_of(h.run);
    const op_id o = op_from(c, h);
    c->saw_outside |= o == c->request.unit; /* the next function */
    return op_handle(c, o != 0 ? to(c->m, o) : 0);
}

pto_op host_op_next(pto_op h) { return step(h, op_next); }
pto_op host_op_prev(pto_op h) { return step(h, op_prev); }
pto_op host_op_parent(pto_op h) { return step(h, op_parent); }
pto_op host_op_function(pto_op h) { return step(h, op_function); }

/* A number that an op has; 0 for none. */
static uint32_t number_of(pto_op h, uint32_t (*number)(const module *m, op_id o))
{
    run_context *c = run_of(h.run);
    const op_id o = op_from(c, h);
    return o != 0 ? number(c->m, o) : 0;
}

pto_op host_op_walk_next(pto_op current, pto_op root)
{
    run_context *c = run_of(current.run);
    const op_id r = op_from(c, root), o = op_from(c, current);
    if ((current.index != 0 && o == 0) || (root.index != 0 && r == 0)) return op_handle(c, 0);
    c->saw_outside |= r == 0;
    if (o == 0 && r == 0) return op_handle(c, block_first(c->m, module_top(c->m)));
    return op_handle(c, walk_next(c->m, r, o));
}

/* Most steps go from an op without blocks to the next one. */
static bool step_in_block(pto_op current, pto_op root, pto_op *out)
{
    const run_context *c = (const run_context *)(uintptr_t)current.run;
    const uint32_t serial = c->active ? c->serial : UINT32_MAX;
    if (current.generation >> 16 != serial || current.index == root.index) return false;
    if (root.index != 0 && (root.run != current.run || root.generation >> 16 != serial)) return false;
    if (!op_is_live_since(c->m, current.index, current.generation & 0xffffu)) return false;
    if (root.index != 0 && !op_is_live_since(c->m, root.index, root.generation & 0xffffu)) return false;
    const op_record *op = op_raw(c->m, current.index);
    if (op->next == 0 || first_block(c->m, op) != 0) return false;
    *out = (pto_op){current.run, op->next, run_generation(c, op_raw(c->m, op->next)->generation)};
    return true;
}

static __attribute__((noinline)) pto_op step_over_blocks(pto_op current, pto_op root, pto_op *behind)
{
    run_context *c = run_of(current.run);
    const op_id r = op_from(c, root), o = op_from(c, current);
    const bool is_found = o != 0 && (root.index == 0 || r != 0);
    op_id skip = 0;
    const op_id next = is_found ? walk_on(c->m, r, o, &skip) : 0;
    *behind = op_handle(c, skip);
    return op_handle(c, next);
}

pto_op host_op_walk_on(pto_op current, pto_op root, pto_op *behind)
{
    return step_in_block(current, root, behind) ? *behind : step_over_blocks(current, root, behind);
}

int32_t host_op_is_live(pto_op h)
{
    const run_context *c = (const run_context *)h.run;
    return c->active && h.generation >> 16 == c->serial && op_is_live_since(c->m, h.index, h.generation & 0xffffu);
}

int32_t host_op_is_before(pto_op first, pto_op second)
{
    run_context *c = run_of(first.run);
    const op_id a = op_from(c, first), b = op_from(c, second);
    if (a == 0 || b == 0) return 0;
    if (op_block(c->m, a) == op_block(c->m, b)) return op_is_before(c->m, a, b);
    run_misuse(c, &E1324, "asked for the order of two ops of different blocks");
    return 0;
}

int32_t host_op_dominates(pto_op first, pto_op second)
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

uint32_t host_op_hash(pto_op h)
{
    run_of(h.run)->saw_own = true;
    return number_of(h, op_hash);
}

int32_t host_op_equal(pto_op first, pto_op second)
{
    run_context *c = run_of(first.run);
    const op_id a = op_from(c, first), b = op_from(c, second);
    c->saw_own = true;
    return a != 0 && b != 0 && op_equal(c->m, a, b);
}

int32_t host_op_is_used(pto_op h)
{
    run_context *c = run_of(h.run);
    const op_id o = op_from(c, h);
    return o != 0 && op_is_used(c->m, o);
}

/* ---- operands and results ---- */

uint32_t host_op_operand_count(pto_op h) { return number_of(h, op_value_operand_count); }

pto_value host_op_operand(pto_op h, uint32_t index)
{
    run_context *c = run_of(h.run);
    const op_id o = op_from(c, h);
    return value_handle(c, o != 0 ? op_find_operand(c->m, o, index) : 0);
}

uint32_t host_op_result_count(pto_op h) { return number_of(h, op_result_count); }

pto_value host_op_result(pto_op h, uint32_t index)
{
    run_context *c = run_of(h.run);
    const op_id o = op_from(c, h);
    return value_handle(c, o != 0 && index < op_result_count(c->m, o) ? op_result(c->m, o, index) : 0);
}

uint32_t host_op_block_count(pto_op h) { return number_of(h, op_block_count); }

pto_block host_op_block_at(pto_op h, uint32_t index)
{
    run_context *c = run_of(h.run);
    const op_id o = op_from(c, h);
    return block_handle(c, o != 0 && index < op_block_count(c->m, o) ? op_block_at(c->m, o, index) : 0);
}

/* ---- attributes ---- */

pto_attr host_op_attr(pto_op h, pto_str name)
{
    run_context *c = run_of(h.run);
    const op_id o = op_from(c, h);
    if (o == 0) return attr_handle(c, 0);
    const str_id key = string_intern(c->ir, str_of(name));
    c->saw_own |= op_kind_of(c->m, o) == OP_CONSTANT ||
                  (op_block_count(c->m, o) != 0 && str_is(str_of(name), o == c->request.unit ? "name" : "label"));
    const attr_id a = op_attr_by_key(c->m, o, key);
    return attr_handle(c, a != 0 ? attr_with_leaves(c, o, a) : 0);
}

uint32_t host_op_attr_count(pto_op h)
{
    run_context *c = run_of(h.run);
    const op_id o = op_from(c, h);
    const attr_id attrs = o != 0 ? op_attrs(c->m, o) : 0;
    return attrs != 0 ? attr_at(c->ir, attrs)->count : 0;
}

pto_attr host_op_attr_at(pto_op h, uint32_t index, pto_str *name)
{
    run_context *c = run_of(h.run);
    const op_id o = op_from(c, h);
    const attr_id attrs = o != 0 ? op_attrs(c->m, o) : 0;
    const attr_node *dict = attrs != 0 ? attr_at(c->ir, attrs) : NULL;
    if (name != NULL) *name = (pto_str){0};
    c->saw_own = true;
    if (dict == NULL || index >= dict->count) return attr_handle(c, 0);
    if (name != NULL) *name = pto_str_of(string_of(c->ir, dict->keys[index]));
    return attr_handle(c, attr_with_leaves(c, o, dict->items[index]));
}

uint32_t host_op_path(pto_op h, char *buffer, uint32_t capacity)
{
    run_context *c = run_of(h.run);
    const op_id o = op_from(c, h);
    text_buffer t;
    text_init(&t);
    c->saw_own = true;
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

pto_status host_op_iteration(pto_op h, pto_iteration *out)
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
    if (!PTO_HAS(out, operand_step)) return PTO_OK;
    memcpy(out->operand_step, i.operand_step, sizeof out->operand_step);
    for (uint32_t k = 0; k < PTO_MAX_SPACE_OPERANDS * PTO_MAX_DIMS; k++)
        (&out->operand_offset[0][0])[k] = expr_handle(c, (&i.operand_offset[0][0])[k]);
    return PTO_OK;
}

pto_attr host_op_fold(pto_op h)
{
    run_context *c = run_of(h.run);
    const op_id o = op_from(c, h);
    return attr_handle(c, o != 0 ? op_fold(c->m, o) : 0);
}
