/* Host functions about blocks and values. */
#include "core/host/host_handle.h"

/* From a block to an op, or none. */
static pto_op op_from_block(pto_block h, op_id (*to)(const module *m, block_id b))
{
    run_context *c = run_of(h.run);
    const block_id b = block_from(c, h);
    return op_handle(c, b != 0 ? to(c->m, b) : 0);
}

pto_op host_block_parent(pto_block h) { return op_from_block(h, block_parent); }
pto_op host_block_first(pto_block h) { return op_from_block(h, block_first); }
pto_op host_block_last(pto_block h) { return op_from_block(h, block_last); }

uint32_t host_block_arg_count(pto_block h)
{
    run_context *c = run_of(h.run);
    const block_id b = block_from(c, h);
    return b != 0 ? block_arg_count(c->m, b) : 0;
}

pto_value host_block_arg(pto_block h, uint32_t index)
{
    run_context *c = run_of(h.run);
    const block_id b = block_from(c, h);
    return value_handle(c, b != 0 && index < block_arg_count(c->m, b) ? block_arg(c->m, b, index) : 0);
}

pto_value host_block_add_arg(pto_block h, pto_type type, pto_str name)
{
    run_context *c = run_of(h.run);
    const block_id b = block_from(c, h);
    const type_id t = type_from(c, type);
    if (b == 0 || t == 0 || b == module_top(c->m)) {
        run_misuse(c, &E1324, "tried to add an argument to %s",
                   b == 0   ? "no block"
                   : t == 0 ? "a block without a type"
                            : "the module");
        return value_handle(c, 0);
    }
    if (block_arg_count(c->m, b) >= 65535) {
        run_misuse(c, &E1324, "tried to give a block more than 65535 arguments");
        return value_handle(c, 0);
    }
    if (!run_may_change_block(c, b) || !run_check_value_name(c, name)) return value_handle(c, 0);
    const value_id v = block_add_arg(c->m, b, t);
    if (name.n != 0) value_set_name(c->m, v, str_of(name));
    run_changed(c, RUN_CHANGED_BLOCKS, block_parent(c->m, b));
    return value_handle(c, v);
}

pto_status host_block_erase_arg(pto_block h, uint32_t index)
{
    run_context *c = run_of(h.run);
    const block_id b = block_from(c, h);
    if (b == 0 || index >= block_arg_count(c->m, b) || value_first_use(c->m, block_arg(c->m, b, index)) != 0) {
        run_misuse(c, &E1324, "tried to erase argument %u of a block, which %s", index,
                   b == 0 || index >= block_arg_count(c->m, b) ? "does not exist" : "has uses");
        return PTO_FAILED;
    }
    if (!run_may_change_block(c, b)) return PTO_FAILED;
    block_erase_arg(c->m, b, index);
    run_changed(c, RUN_CHANGED_BLOCKS, block_parent(c->m, b));
    return PTO_OK;
}

/* ---- values ---- */

pto_type host_value_type(pto_value h)
{
    run_context *c = run_of(h.run);
    const value_id v = value_from(c, h);
    return type_handle(c, v != 0 ? value_type(c->m, v) : 0);
}

static bool may_change_value(run_context *c, value_id v)
{
    if (v == 0) {
        run_misuse(c, &E1324, "tried to change no value");
        return false;
    }
    const op_id def = value_op(c->m, v);
    return def != 0 ? run_may_change_op(c, def) : run_may_change_block(c, value_block(c->m, v));
}

pto_status host_value_set_type(pto_value h, pto_type type)
{
    run_context *c = run_of(h.run);
    const value_id v = value_from(c, h);
    const type_id t = type_from(c, type);
    if (!may_change_value(c, v)) return PTO_FAILED;
    if (t == 0) {
        run_misuse(c, &E1324, "tried to give a value no type");
        return PTO_FAILED;
    }
    if (value_type(c->m, v) == t) return PTO_OK;
    value_set_type(c->m, v, t);
    run_changed(c, RUN_CHANGED_TYPES, value_op(c->m, v));
    return PTO_OK;
}

pto_op host_value_op(pto_value h)
{
    run_context *c = run_of(h.run);
    const value_id v = value_from(c, h);
    return op_handle(c, v != 0 ? value_op(c->m, v) : 0);
}

pto_block host_value_block(pto_value h)
{
    run_context *c = run_of(h.run);
    const value_id v = value_from(c, h);
    return block_handle(c, v != 0 ? value_block(c->m, v) : 0);
}

uint32_t host_value_index(pto_value h)
{
    run_context *c = run_of(h.run);
    const value_id v = value_from(c, h);
    return v != 0 ? value_index(c->m, v) : 0;
}

uint32_t host_value_use_count(pto_value h)
{
    run_context *c = run_of(h.run);
    const value_id v = value_from(c, h);
    uint32_t n = 0;
    if (v == 0) return 0;
    VALUE_EACH_USE(c->m, u, v) n++;
    return n;
}

pto_op host_value_use(pto_value h, uint32_t index, uint32_t *slot)
{
    run_context *c = run_of(h.run);
    const value_id v = value_from(c, h);
    if (v == 0) return op_handle(c, 0);
    uint32_t i = 0;
    use_id u = value_first_use(c->m, v);
    /* Loops over uses ask for one after the other. */
    if (c->use_cache.value == v && c->use_cache.epoch == module_epoch(c->m) && c->use_cache.index <= index) {
        i = c->use_cache.index;
        u = c->use_cache.use;
    }
    for (; u != 0 && i < index; i++) u = use_next(c->m, u);
    if (u == 0) return op_handle(c, 0);
    c->use_cache.value = v;
    c->use_cache.use = u;
    c->use_cache.index = index;
    c->use_cache.epoch = module_epoch(c->m);
    if (slot != NULL) *slot = use_slot(c->m, u);
    return op_handle(c, use_op(c->m, u));
}

pto_status host_value_replace(pto_value h, pto_value other)
{
    run_context *c = run_of(h.run);
    const value_id v = value_from(c, h), by = value_from(c, other);
    if (by == 0) run_misuse(c, &E1324, "tried to replace a value by no value");
    if (by == 0 || !may_change_value(c, v)) return PTO_FAILED;
    if (v == by || value_first_use(c->m, v) == 0) return PTO_OK;
    VALUE_EACH_USE(c->m, u, v) run_changed(c, RUN_CHANGED_OPERANDS, use_op(c->m, u));
    value_replace_all(c->m, v, by);
    run_changed(c, RUN_CHANGED_OPERANDS, value_op(c->m, v));
    return PTO_OK;
}

pto_status host_value_valid(pto_value tile, pto_expr out[2])
{
    run_context *c = run_of(tile.run);
    const value_id v = value_from(c, tile);
    expr_id valid[2] = {0, 0};
    if (v == 0 || type_at(c->ir, value_type(c->m, v))->kind != TYPE_TILE || !tile_valid(c->m, v, valid))
        return PTO_FAILED;
    out[0] = expr_handle(c, valid[0]);
    out[1] = expr_handle(c, valid[1]);
    return PTO_OK;
}

pto_str host_value_name(pto_value h)
{
    run_context *c = run_of(h.run);
    const value_id v = value_from(c, h);
    if (v == 0) return (pto_str){0};
    text_buffer t;
    text_init(&t);
    c->saw_own = true;
    value_print_name(c->m, v, &t);
    const size_t skip = t.n != 0 && t.p[0] == '%' ? 1 : 0;
    const pto_str name = {arena_strndup(c->scratch, t.n != 0 ? t.p + skip : "", t.n - skip), t.n - skip};
    text_fini(&t);
    return name;
}

pto_status host_value_set_name(pto_value h, pto_str name)
{
    run_context *c = run_of(h.run);
    const value_id v = value_from(c, h);
    if (!may_change_value(c, v) || !run_check_value_name(c, name)) return PTO_FAILED;
    const value_name before = value_name_of(c->m, v);
    value_set_name(c->m, v, str_of(name));
    const value_name after = value_name_of(c->m, v);
    if (before.base != after.base || before.number != after.number) run_changed(c, RUN_CHANGED_NAMES, 0);
    return PTO_OK;
}
