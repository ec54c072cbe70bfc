/* Ops: making, moving, cloning and erasing them, and their operands and results. */
#include "ir/module_impl.h"

#include <string.h>

enum { ORDER_STEP = 64 };

/* ---- the list of a block ---- */

/* Values of an op follow from their operands, but those of an `if` from the yields inside it. */
static void note_yield(module *m, const op_record *op)
{
    if (op->kind == OP_YIELD) m->valid_epoch++;
}

static void link_op(module *m, op_id o, op_place at)
{
    op_record *op = op_raw(m, o);
    block_record *block = block_at(m, at.block);
    BUG_IF(at.before != 0 && op_at(m, at.before)->block != at.block, "op %u is not in block %u", at.before, at.block);
    note_yield(m, op);
    op->block = at.block;
    op->next = at.before;
    op->prev = at.before == 0 ? block->last : op_raw(m, at.before)->prev;
    uint32_t low = op->prev == 0 ? 0 : op_raw(m, op->prev)->order;
    uint32_t high = at.before != 0                      ? op_raw(m, at.before)->order
                    : low > UINT32_MAX - 2 * ORDER_STEP ? low
                                                        : low + 2 * ORDER_STEP;
    op->order = low + (high - low) / 2;
    if (op->order == low || high < low) block->ordered = false;
    if (op->prev == 0)
        block->first = o;
    else
        op_raw(m, op->prev)->next = o;
    if (op->next == 0)
        block->last = o;
    else
        op_raw(m, op->next)->prev = o;
}

static void unlink_op(module *m, op_id o)
{
    op_record *op = op_raw(m, o);
    block_record *block = block_at(m, op->block);
    note_yield(m, op);
    if (op->prev == 0)
        block->first = op->next;
    else
        op_raw(m, op->prev)->next = op->next;
    if (op->next == 0)
        block->last = op->prev;
    else
        op_raw(m, op->next)->prev = op->prev;
    op->next = op->prev = 0;
}

static void renumber(const module *m, block_id b)
{
    block_record *block = block_at(m, b);
    uint32_t step = m->ops.count < UINT32_MAX / ORDER_STEP - 2 ? ORDER_STEP : 1;
    uint32_t order = 0;
    for (op_id o = block->first; o != 0; o = op_raw(m, o)->next) op_raw(m, o)->order = order += step;
    block->ordered = true;
}

bool op_is_before(const module *m, op_id a, op_id b)
{
    const op_record *first = op_at(m, a), *second = op_at(m, b);
    BUG_IF(first->block != second->block, "ops of different blocks have no order");
    if (!block_at(m, first->block)->ordered) renumber(m, first->block);
    return first->order < second->order;
}

/* ---- create ---- */

/* A new record is written before it is read: a page that is read first costs two faults. */
static op_id op_allocate(module *m, uint16_t *out_generation)
{
    op_id o = m->ops.free[1];
    if (o == 0) {
        BUG_IF(m->ops.count >= OPS_END, "a module has at most %u ops", OPS_END - 1);
        *out_generation = 0;
        return record_table_add(&m->ops, m->memory);
    }
    *out_generation = op_raw(m, o)->generation;
    m->ops.free[1] = op_raw(m, o)->next;
    return o;
}

static rest_record *rest_of(module *m, op_record *op)
{
    if (op->rest == 0) {
        op->rest = m->rests.free[1];
        if (op->rest == 0)
            op->rest = record_table_extend(&m->rests, m->memory, 1);
        else
            m->rests.free[1] = rest_raw(m, op->rest)->operands;
        *rest_raw(m, op->rest) = (rest_record){0};
    }
    return rest_raw(m, op->rest);
}

/* Frees the record when it holds nothing any more. */
static void rest_drop(module *m, op_record *op)
{
    if (op->rest == 0) return;
    rest_record *rest = rest_raw(m, op->rest);
    if (rest->operands != 0 || rest->blocks != 0) return;
    rest->operands = m->rests.free[1];
    m->rests.free[1] = op->rest;
    op->rest = 0;
}

static void link_operands(module *m, op_id o, uint32_t count, const value_id *operands)
{
    op_record *op = op_raw(m, o);
    op->operand_count = (uint16_t)count;
    if (count > NEAR_OPERANDS) {
        use_id first = uses_create(m, count - NEAR_OPERANDS);
        rest_of(m, op)->operands = first;
        for (uint32_t i = 0; i < count - NEAR_OPERANDS; i++) far_use_raw(m, first + i)->op = o;
    }
    for (uint32_t i = 0; i < count; i++) use_link(m, operand_use(m, o, i), operands[i]);
}

static void unlink_operands(module *m, op_id o)
{
    op_record *op = op_raw(m, o);
    for (uint32_t i = 0; i < op->operand_count; i++) use_unlink(m, operand_use(m, o, i));
    if (op->operand_count > NEAR_OPERANDS) {
        rest_record *rest = rest_raw(m, op->rest);
        uses_free(m, rest->operands, op->operand_count - NEAR_OPERANDS);
        rest->operands = 0;
        rest_drop(m, op);
    }
    op->operand_count = 0;
}

op_id op_create(module *m, op_place at, const op_spec *spec)
{
    attr_id attrs = attrs_without_defaults(m, spec->kind, spec->attrs);
    uint32_t value_count = value_operands_of(m, spec->kind, spec->operand_count, spec->result_count);
    index_form form;
    index_form_init(m, &form, spec->kind, value_count, spec->operand_count, spec->operands, attrs);
    BUG_IF(form.count > UINT16_MAX, "an op has at most 65535 operands, not %u", form.count);
    BUG_IF(spec->result_count > UINT16_MAX, "an op has at most 65535 results, not %u", spec->result_count);

    uint16_t generation;
    op_id o = op_allocate(m, &generation);
    op_record *op = op_raw(m, o);
    *op = (op_record){.kind = spec->kind,
                      .generation = generation,
                      .result_count = (uint16_t)spec->result_count,
                      .loc = spec->loc,
                      .attrs = form.attrs};
    link_op(m, o, at);
    link_operands(m, o, form.count, form.operands);
    index_form_fini(&form);
    op->results = values_create(m, spec->result_count);
    for (uint32_t i = 0; i < spec->result_count; i++) {
        value_record *v = value_raw(m, op->results + i);
        v->type = spec->result_types[i];
        v->def = o;
        v->index = (uint16_t)i;
    }
    if (spec->block_count != 0) rest_of(m, op)->blocks = blocks_create(m, o, spec->block_count);
    if ((op_info_at(m->known_ops, spec->kind)->traits & TRAIT_FUNCTION) != 0) symbols_add(m, o);
    m->epoch++;
    m->rangeless += spec->kind != OP_BIND && spec->kind != OP_TUNE; /* other ops say nothing of values that exist */
    return o;
}

/* ---- erase, move, clone ---- */

/* The first op inside, or 0. */
static op_id first_inside(const module *m, op_id o)
{
    const op_record *op = op_raw(m, o);
    uint32_t n = block_count(m, op);
    for (uint32_t i = 0; i < n; i++) {
        op_id first = block_raw(m, first_block(m, op) + i)->first;
        if (first != 0) return first;
    }
    return 0;
}

static void check_unused(const module *m, op_id o)
{
    const op_record *op = op_raw(m, o);
    for (uint32_t i = 0; i < op->result_count; i++) {
        BUG_IF(value_raw(m, op->results + i)->first_use != 0, "`%s` is erased but its result %u has uses",
               op_info_at(m->known_ops, op->kind)->name, i);
    }
    for (uint32_t b = 0; b < block_count(m, op); b++) {
        const block_record *block = block_raw(m, first_block(m, op) + b);
        for (uint32_t i = 0; i < block->arg_count; i++) {
            BUG_IF(value_raw(m, block->args[i])->first_use != 0,
                   "`%s` is erased but its block argument %u has uses outside",
                   op_info_at(m->known_ops, op->kind)->name, i);
        }
    }
}

/* Frees an op without operands and with empty blocks. */
static void free_op(module *m, op_id o)
{
    op_record *op = op_raw(m, o);
    if ((op_info_at(m->known_ops, op->kind)->traits & TRAIT_FUNCTION) != 0) symbols_remove(m, o);
    unlink_op(m, o);
    values_free(m, op->results, op->result_count);
    if (op->rest != 0) {
        blocks_free(m, first_block(m, op), block_count(m, op));
        rest_raw(m, op->rest)->blocks = 0;
        rest_drop(m, op);
    }
    bool worn_out = op->generation == UINT16_MAX;
    *op = (op_record){.generation = (uint16_t)(op->generation + (worn_out ? 0 : 1))};
    if (worn_out) return;
    op->next = m->ops.free[1];
    m->ops.free[1] = o;
}

void op_erase(module *m, op_id o)
{
    (void)op_at(m, o);
    for (op_id i = o; i != 0; i = walk_next(m, o, i)) unlink_operands(m, i);
    for (op_id i = o; i != 0; i = walk_next(m, o, i)) check_unused(m, i);
    for (op_id i = o;;) {
        op_id inside = first_inside(m, i);
        if (inside != 0) {
            i = inside;
            continue;
        }
        bool last = i == o;
        op_id after = op_raw(m, i)->next != 0 ? op_raw(m, i)->next : op_parent(m, i);
        free_op(m, i);
        if (last) break;
        i = after;
    }
    m->epoch++;
}

void op_move(module *m, op_id o, op_place to)
{
    const op_record *op = op_at(m, o);
    (void)block_at(m, to.block);
    if (to.before == o || (op->block == to.block && op->next == to.before)) return;
    if (first_block(m, op) != 0) {
        for (op_id p = block_parent(m, to.block); p != 0; p = op_parent(m, p))
            BUG_IF(p == o, "`%s` is moved into itself", op_info_at(m->known_ops, op->kind)->name);
    }
    unlink_op(m, o);
    link_op(m, o, to);
    if ((op_info_at(m->known_ops, op->kind)->traits & TRAIT_FUNCTION) != 0) symbols_forget(m);
    m->epoch++;
}

/* Copies one op with empty blocks. */
static op_id clone_one(module *m, op_id o, op_place at, value_map *map)
{
    const op_record *from = op_at(m, o);
    value_id few_operands[16] = {0};
    type_id few_types[16] = {0};
    size_t capacity = 0, type_capacity = 0;
    value_id *operands =
        from->operand_count <= 16 ? few_operands : table_grow(NULL, &capacity, from->operand_count, sizeof *operands);
    type_id *types =
        from->result_count <= 16 ? few_types : table_grow(NULL, &type_capacity, from->result_count, sizeof *types);
    for (uint32_t i = 0; i < from->operand_count; i++) operands[i] = value_map_get(map, operand_value(m, from, i));
    for (uint32_t i = 0; i < from->result_count; i++) types[i] = value_raw(m, from->results + i)->type;
    op_spec spec = {.kind = from->kind,
                    .loc = from->loc,
                    .operand_count = from->operand_count,
                    .operands = operands,
                    .result_count = from->result_count,
                    .result_types = types,
                    .attrs = from->attrs,
                    .block_count = op_block_count(m, o)};
    op_id copy = op_create(m, at, &spec);
    if (operands != few_operands) table_free(operands);
    if (types != few_types) table_free(types);
    for (uint32_t i = 0; i < spec.result_count; i++) {
        value_set_name_parts(m, op_result(m, copy, i), value_name_of(m, op_result(m, o, i)));
        value_map_put(map, op_result(m, o, i), op_result(m, copy, i));
    }
    for (uint32_t b = 0; b < spec.block_count; b++) {
        block_id source = op_block_at(m, o, b), target = op_block_at(m, copy, b);
        for (uint32_t i = 0; i < block_arg_count(m, source); i++) {
            value_id arg = block_arg(m, source, i), made = block_add_arg(m, target, value_type(m, arg));
            value_set_name_parts(m, made, value_name_of(m, arg));
            value_map_put(map, arg, made);
        }
    }
    return copy;
}

op_id op_clone(module *m, op_id o, op_place at, value_map *map)
{
    for (op_id p = block_parent(m, at.block); p != 0; p = op_parent(m, p))
        BUG_IF(p == o, "`%s` is cloned into itself", op_info_of(m, o)->name);
    typedef struct pair {
        op_id from, to;
    } pair;
    pair *open = NULL; /* the ops around the current one */
    size_t capacity = 0, depth = 0;
    op_id root = clone_one(m, o, at, map);
    op_id copy = root;
    for (op_id i = o;;) {
        if (op_block_count(m, i) != 0) {
            if (depth == capacity) open = table_grow(open, &capacity, depth + 1, sizeof *open);
            open[depth++] = (pair){i, copy};
        }
        i = walk_next(m, o, i);
        if (i == 0) break;
        BUG_IF(open == NULL, "`%s` has no blocks and an op inside", op_info_of(m, o)->name);
        op_id parent = op_parent(m, i);
        while (open[depth - 1].from != parent) depth--;
        uint32_t index = op_block(m, i) - op_block_at(m, parent, 0);
        copy = clone_one(m, i, (op_place){op_block_at(m, open[depth - 1].to, index), 0}, map);
    }
    table_free(open);
    return root;
}

/* ---- reading ---- */

void op_set_loc(module *m, op_id o, loc_id l)
{
    op_record *op = op_at(m, o);
    if (op->loc == l) return;
    op->loc = l;
    m->epoch++;
}

src_pos op_pos(const module *m, op_id o)
{
    loc_id l = op_at(m, o)->loc;
    return l == 0 || loc_count(m->context, l) == 0 ? NO_POS : loc_at(m->context, l, 0);
}

op_id op_function(const module *m, op_id o)
{
    if (o != 0) (void)op_at(m, o); /* what is around a live op is live */
    while (o != 0 && (op_info_at(m->known_ops, op_raw(m, o)->kind)->traits & TRAIT_FUNCTION) == 0)
        o = block_raw(m, op_raw(m, o)->block)->parent;
    return o;
}

value_id op_find_operand(const module *m, op_id o, uint32_t i)
{
    const op_record *op = op_at(m, o);
    return i < value_operands_of(m, op->kind, op->operand_count, op->result_count) ? operand_value(m, op, i) : 0;
}

/* ---- equal ops ---- */

static uint32_t hash_step(uint32_t h, uint32_t v) { return (h ^ v) * 0x9E3779B1u; }

uint32_t op_hash(const module *m, op_id o)
{
    const op_record *op = op_at(m, o);
    if (first_block(m, op) != 0) return 0;
    uint32_t h = hash_step(hash_step(17, op->kind), op->attrs);
    for (uint32_t i = 0; i < op->operand_count; i++) h = hash_step(h, operand_value(m, op, i));
    for (uint32_t i = 0; i < op->result_count; i++) h = hash_step(h, value_raw(m, op->results + i)->type);
    h ^= h >> 15;
    return h == 0 ? 1 : h;
}

bool op_equal(const module *m, op_id a, op_id b)
{
    const op_record *x = op_at(m, a), *y = op_at(m, b);
    if (x->kind != y->kind || x->attrs != y->attrs || x->operand_count != y->operand_count ||
        x->result_count != y->result_count || first_block(m, x) != 0 || first_block(m, y) != 0)
        return false;
    for (uint32_t i = 0; i < x->operand_count; i++) {
        if (operand_value(m, x, i) != operand_value(m, y, i)) return false;
    }
    for (uint32_t i = 0; i < x->result_count; i++) {
        if (value_raw(m, x->results + i)->type != value_raw(m, y->results + i)->type) return false;
    }
    return true;
}

bool op_is_used(const module *m, op_id o)
{
    const op_record *op = op_at(m, o);
    for (uint32_t i = 0; i < op->result_count; i++) {
        if (value_raw(m, op->results + i)->first_use != 0) return true;
    }
    return false;
}

/* ---- operands ---- */

static bool same_operands(const module *m, const op_record *op, uint32_t count, const value_id *operands)
{
    if (op->operand_count != count) return false;
    for (uint32_t i = 0; i < count; i++) {
        if (operand_value(m, op, i) != operands[i]) return false;
    }
    return true;
}

void op_set_operands(module *m, op_id o, uint32_t count, const value_id *operands, attr_id attrs)
{
    op_record *op = op_at(m, o);
    uint32_t value_count = value_operands_of(m, op->kind, count, op->result_count);
    index_form form;
    index_form_init(m, &form, op->kind, value_count, count, operands, attrs_without_defaults(m, op->kind, attrs));
    BUG_IF(form.count > UINT16_MAX, "an op has at most 65535 operands, not %u", form.count);
    bool attrs_change = op->attrs != form.attrs, operands_change = !same_operands(m, op, form.count, form.operands);
    if (operands_change) {
        /* The given list may point into nothing of ours, so the old one can go first. */
        unlink_operands(m, o);
        link_operands(m, o, form.count, form.operands);
    }
    const bool is_called_alike = !attrs_change || attrs_call_alike(m, op->attrs, form.attrs);
    op->attrs = form.attrs;
    index_form_fini(&form);
    if (!attrs_change && !operands_change) return;
    if (attrs_change && (op_info_at(m->known_ops, op->kind)->traits & TRAIT_FUNCTION) != 0) symbols_forget(m);
    m->epoch++;
    m->pathless += is_called_alike;
    m->valid_epoch++;
}

void op_set_operand(module *m, op_id o, uint32_t i, value_id v)
{
    const op_record *op = op_at(m, o);
    if (op_operand(m, o, i) == v) return;
    (void)value_at(m, v);
    use_unlink(m, operand_use(m, o, i));
    use_link(m, operand_use(m, o, i), v);
    m->epoch++;
    m->valid_epoch++;
    if (i < op_value_operand_count(m, o)) return;
    for (uint32_t k = op_value_operand_count(m, o); k < op->operand_count; k++) {
        if (k == i || op_operand(m, o, k) != v) continue;
        op_set_attrs(m, o, op->attrs); /* two index operands are one value now */
        return;
    }
}
