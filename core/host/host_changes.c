/* Host functions that make, change and remove ops. Everything is checked before it is done, since the
 * functions of ir/ take wrong calls for defects of ours. */
#include "core/host/host_handle.h"

#include "ir/tune.h"
#include "ir/verify/verifier.h"

/* ---- build ---- */

typedef struct build_parts {
    op_spec spec;
    op_place at;
    const op_info *info;
} build_parts;

static bool level_fits(const run_context *c, const op_info *info)
{
    return info->home == HOME_ANY || (c->request.levels & 1u << op_home_level(info->home)) != 0;
}

static bool check_kind(run_context *c, const pto_op_spec *s, build_parts *out)
{
    if (!PTO_HAS(s, name)) {
        run_misuse(c, &E1324, "gave a pto_op_spec without its struct_size");
        return false;
    }
    if (s->kind == OP_NONE || s->kind >= op_kind_count(context_ops(c->ir))) {
        run_misuse(c, &E1323, "used %u as an op kind", s->kind);
        return false;
    }
    const op_info *info = op_info_at(context_ops(c->ir), (op_kind)s->kind);
    out->info = info;
    out->spec.kind = (op_kind)s->kind;
    if (level_fits(c, info)) return true;
    run_misuse(c, &E1322, "made `%s`, which is of no level that it consumes or produces", info->name);
    return false;
}

/* Counts first: op_create splits operands by them. */
static bool check_counts(run_context *c, const pto_op_spec *s, const op_info *info)
{
    const uint32_t row = op_info_operands(info), most = info->in_variadic != 0 ? 65535 : row;
    const uint32_t least = row - info->in_optional - (info->in_variadic != 0 ? 1 : 0);
    if (s->operand_count < least || s->operand_count > most) {
        run_misuse(c, &E1324, "made `%s` with %u operands; it takes %u to %u", info->name, s->operand_count, least,
                   most);
        return false;
    }
    if (s->result_count > 65535 || (info->out_count != OUT_ANY && s->result_count != info->out_count)) {
        run_misuse(c, &E1324, "made `%s` with %u results; it has %u", info->name, s->result_count, info->out_count);
        return false;
    }
    if (s->block_count > 65535 || (info->blocks != BLOCKS_ANY && s->block_count != info->blocks)) {
        run_misuse(c, &E1324, "made `%s` with %u blocks; it has %u", info->name, s->block_count, info->blocks);
        return false;
    }
    /* Loops tell carried values from index operands by the number of results. */
    if ((info->traits & TRAIT_LOOP) != 0 && info->in_variadic != 0 && s->operand_count != s->result_count) {
        run_misuse(c, &E1324, "made `%s` with %u carried values and %u results; they must be as many", info->name,
                   s->operand_count, s->result_count);
        return false;
    }
    return true;
}

static bool check_place(run_context *c, pto_place h, build_parts *p)
{
    if (!place_from(c, h, &p->at)) return false;
    const bool at_top = p->at.block == module_top(c->m), is_function = (p->info->traits & TRAIT_FUNCTION) != 0;
    if (at_top == is_function) return true;
    run_misuse(c, &E1324, "put `%s` %s", p->info->name,
               at_top ? "outside of any function" : "into another op; functions and kernels belong at the top");
    return false;
}

static bool check_operands(run_context *c, const pto_op_spec *s, build_parts *p)
{
    value_id *operands = arena_array(c->scratch, s->operand_count, sizeof *operands);
    type_id *types = arena_array(c->scratch, s->result_count, sizeof *types);
    for (uint32_t i = 0; i < s->operand_count; i++) {
        operands[i] = value_from(c, s->operands[i]);
        if (operands[i] == 0) {
            run_misuse(c, &E1324, "made `%s` without its operand %u", p->info->name, i);
            return false;
        }
    }
    for (uint32_t i = 0; i < s->result_count; i++) {
        types[i] = type_from(c, s->result_types[i]);
        if (types[i] == 0) {
            run_misuse(c, &E1324, "made `%s` without the type of its result %u", p->info->name, i);
            return false;
        }
    }
    p->spec.operand_count = s->operand_count;
    p->spec.operands = operands;
    p->spec.result_count = s->result_count;
    p->spec.result_types = types;
    return true;
}

/* Integers of plugins have a sign, which is the highest bit of a u64. */
static attr_id constant_of_type(run_context *c, const build_parts *p, attr_id a)
{
    const attr_node *n = attr_at(c->ir, a);
    const bool is_u64 = p->spec.kind == OP_CONSTANT && p->spec.result_count == 1 &&
                        type_at(c->ir, p->spec.result_types[0])->dtype == DTYPE_U64;
    return is_u64 && n->kind == ATTR_INT && n->i < 0 ? attr_uint(c->ir, (uint64_t)n->i) : a;
}

/* A name that is given twice takes the last value. */
static bool check_attrs(run_context *c, const pto_op_spec *s, build_parts *p)
{
    str_id *keys = arena_array(c->scratch, s->attr_count, sizeof *keys);
    attr_id *values = arena_array(c->scratch, s->attr_count, sizeof *values);
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->attr_count; i++) {
        const str name = str_of(s->attr_names[i]);
        attr_id a = attr_for_op(c, p->info, 0, name, s->attrs[i]);
        if (a == 0) return false;
        a = constant_of_type(c, p, a);
        const str_id key = string_intern(c->ir, name);
        uint32_t k = 0;
        while (k < n && keys[k] != key) k++;
        keys[k] = key;
        values[k] = a;
        n += k == n;
    }
    p->spec.attrs = attr_dict(c->ir, n, keys, values);
    return true;
}

static loc_id loc_of_place(const module *m, op_place at)
{
    if (at.before != 0) return op_loc(m, at.before);
    if (block_last(m, at.block) != 0) return op_loc(m, block_last(m, at.block));
    const op_id parent = block_parent(m, at.block);
    if (parent != 0) return op_loc(m, parent);
    return loc_make(module_context(m), module_file(m), 1, 1); /* in a module that has nothing else */
}

pto_op host_op_build(const pto_run *run, pto_place at, const pto_op_spec *s)
{
    run_context *c = run_of(run);
    build_parts p = {0};
    if (!check_kind(c, s, &p) || !check_counts(c, s, p.info) || !check_place(c, at, &p) || !check_operands(c, s, &p) ||
        !check_attrs(c, s, &p) || !run_check_value_name(c, s->name))
        return op_handle(c, 0);
    p.spec.block_count = s->block_count;
    p.spec.loc = loc_from(c, s->loc);
    if (p.spec.loc == 0) p.spec.loc = loc_of_place(c->m, p.at);

    const op_id o = op_create(c->m, p.at, &p.spec);
    if (s->name.n != 0 && p.spec.result_count != 0) value_set_name(c->m, op_result(c->m, o, 0), str_of(s->name));
    run_changed(c, RUN_CHANGED_OPS | ((p.info->traits & TRAIT_FUNCTION) != 0 ? RUN_CHANGED_MODULE : 0u), o);
    if (op_verify(c->m, o) == OK) return op_handle(c, o);
    op_erase(c->m, o);
    return op_handle(c, 0);
}

/* ---- erase, replace, move, clone ---- */

/* An op outside of `root` that uses what is defined in it; 0 when there is none. */
static op_id value_used_outside(const module *m, value_id v, op_id root)
{
    VALUE_EACH_USE(m, u, v) {
        op_id user = use_op(m, u);
        while (user != 0 && user != root) user = op_parent(m, user);
        if (user == 0) return use_op(m, u);
    }
    return 0;
}

static op_id used_outside(const module *m, op_id root)
{
    IR_WALK(m, o, root)
    {
        for (uint32_t i = 0; i < op_result_count(m, o); i++) {
            const op_id user = value_used_outside(m, op_result(m, o, i), root);
            if (user != 0) return user;
        }
        for (uint32_t b = 0; b < op_block_count(m, o); b++) {
            const block_id block = op_block_at(m, o, b);
            for (uint32_t i = 0; i < block_arg_count(m, block); i++) {
                const op_id user = value_used_outside(m, block_arg(m, block, i), root);
                if (user != 0) return user;
            }
        }
    }
    return 0;
}

static bool is_inside(const module *m, op_id o, op_id root)
{
    while (o != 0 && o != root) o = op_parent(m, o);
    return o != 0;
}

/* Whether the op may be taken away from its place. */
static bool may_remove(run_context *c, op_id o, const char *verb)
{
    if (o == 0) {
        run_misuse(c, &E1324, "tried to %s no op", verb);
        return false;
    }
    if (!run_may_change_op(c, o)) return false;
    if (o != c->request.unit) return true;
    run_misuse(c, &E1324, "tried to %s the function that it was given", verb);
    return false;
}

static bool may_erase(run_context *c, op_id o)
{
    if (!may_remove(c, o, "erase")) return false;
    if (op_block_count(c->m, o) == 0 && !op_is_used(c->m, o)) return true;
    const op_id user = used_outside(c->m, o);
    if (user == 0) return true;
    run_misuse(c, &E1324, "tried to erase `%s` while `%s` uses its result", op_info_of(c->m, o)->name,
               op_info_of(c->m, user)->name);
    return false;
}

static void erase_op(run_context *c, op_id o)
{
    const bool is_function = (op_info_of(c->m, o)->traits & TRAIT_FUNCTION) != 0;
    /* What fed the op may be dead now. */
    for (uint32_t i = 0; c->greedy != NULL && i < op_operand_count(c->m, o); i++)
        run_changed(c, 0, value_op(c->m, op_operand(c->m, o, i)));
    op_erase(c->m, o);
    run_changed(c, RUN_CHANGED_OPS | (is_function ? RUN_CHANGED_MODULE : 0u), 0);
}

pto_status host_op_erase(pto_op h)
{
    run_context *c = run_of(h.run);
    const op_id o = op_from(c, h);
    if (!may_erase(c, o)) return PTO_FAILED;
    erase_op(c, o);
    return PTO_OK;
}

/* All readers of a value are about to read another one. */
static void changed_uses(run_context *c, value_id v)
{
    run_changed(c, RUN_CHANGED_OPERANDS, 0);
    if (c->greedy == NULL) return;
    VALUE_EACH_USE(c->m, u, v) run_changed(c, RUN_CHANGED_OPERANDS, use_op(c->m, u));
}

pto_status host_op_replace(pto_op h, uint32_t count, const pto_value *values)
{
    run_context *c = run_of(h.run);
    const op_id o = op_from(c, h);
    if (!may_remove(c, o, "replace")) return PTO_FAILED;
    if (count != op_result_count(c->m, o)) {
        run_misuse(c, &E1324, "tried to replace `%s` by %u values; it has %u results", op_info_of(c->m, o)->name, count,
                   op_result_count(c->m, o));
        return PTO_FAILED;
    }
    value_id few[4] = {0}, *by = count <= 4 ? few : arena_array(c->scratch, count, sizeof *by);
    for (uint32_t i = 0; i < count; i++) {
        by[i] = value_from(c, values[i]);
        const op_id def = by[i] != 0 ? value_op(c->m, by[i]) : 0;
        const op_id around = by[i] == 0 ? 0 : def != 0 ? def : block_parent(c->m, value_block(c->m, by[i]));
        if (by[i] != 0 && around != o && (op_block_count(c->m, o) == 0 || !is_inside(c->m, around, o))) continue;
        run_misuse(c, &E1324, "tried to replace `%s` by %s", op_info_of(c->m, o)->name,
                   by[i] == 0 ? "no value" : "a value of its own");
        return PTO_FAILED;
    }
    for (uint32_t i = 0; i < count; i++) {
        const value_id old = op_result(c->m, o, i);
        if (value_first_use(c->m, old) == 0) continue;
        changed_uses(c, old);
        value_replace_all(c->m, old, by[i]);
    }
    if (op_block_count(c->m, o) != 0 && !may_erase(c, o)) return PTO_FAILED;
    erase_op(c, o);
    return PTO_OK;
}

pto_status host_op_move(pto_op h, pto_place to)
{
    run_context *c = run_of(h.run);
    const op_id o = op_from(c, h);
    op_place at;
    if (!may_remove(c, o, "move") || !place_from(c, to, &at)) return PTO_FAILED;
    const bool is_function = (op_info_of(c->m, o)->traits & TRAIT_FUNCTION) != 0;
    if (is_inside(c->m, block_parent(c->m, at.block), o) || (at.block == module_top(c->m)) != is_function) {
        run_misuse(c, &E1324, "tried to move `%s` %s", op_info_of(c->m, o)->name,
                   is_function || at.block == module_top(c->m) ? "out of or to the top of the module" : "into itself");
        return PTO_FAILED;
    }
    const uint64_t before = module_epoch(c->m);
    op_move(c->m, o, at);
    if (module_epoch(c->m) != before) run_changed(c, RUN_CHANGED_OPS, o);
    return PTO_OK;
}

pto_status host_op_set_loc(pto_op h, pto_loc l)
{
    run_context *c = run_of(h.run);
    const op_id o = op_from(c, h);
    const loc_id loc = loc_from(c, l);
    if (o == 0 || loc == 0) {
        run_misuse(c, &E1324, "tried to give `%s` %s", o != 0 ? op_info_of(c->m, o)->name : "no op",
                   loc != 0 ? "a location" : "no location");
        return PTO_FAILED;
    }
    if (!run_may_change_op(c, o)) return PTO_FAILED;
    if (loc == op_loc(c->m, o)) return PTO_OK;
    op_set_loc(c->m, o, loc);
    run_changed(c, RUN_CHANGED_OPS, o);
    return PTO_OK;
}

pto_op host_op_clone(pto_op h, pto_place to, uint32_t count, const pto_value *from, const pto_value *to_values)
{
    run_context *c = run_of(h.run);
    const op_id o = op_from(c, h);
    op_place at;
    if (o == 0) run_misuse(c, &E1324, "tried to copy no op");
    if (o == 0 || !place_from(c, to, &at)) return op_handle(c, 0);
    const bool is_function = (op_info_of(c->m, o)->traits & TRAIT_FUNCTION) != 0;
    if (is_inside(c->m, block_parent(c->m, at.block), o) || (at.block == module_top(c->m)) != is_function) {
        run_misuse(c, &E1324, "tried to copy `%s` %s", op_info_of(c->m, o)->name,
                   is_function || at.block == module_top(c->m) ? "out of or to the top of the module" : "into itself");
        return op_handle(c, 0);
    }
    value_id *pairs = arena_array(c->scratch, 2 * (size_t)count, sizeof *pairs);
    for (uint32_t i = 0; i < count; i++) {
        pairs[2 * i] = value_from(c, from[i]);
        pairs[2 * i + 1] = value_from(c, to_values[i]);
        if (pairs[2 * i] != 0 && pairs[2 * i + 1] != 0) continue;
        run_misuse(c, &E1324, "tried to copy `%s` with a map that holds no value", op_info_of(c->m, o)->name);
        return op_handle(c, 0);
    }
    value_map *map = value_map_create();
    for (uint32_t i = 0; i < count; i++) value_map_put(map, pairs[2 * i], pairs[2 * i + 1]);
    const op_id copy = op_clone(c->m, o, at, map);
    value_map_destroy(map);
    IR_WALK(c->m, i, copy) run_changed(c, RUN_CHANGED_OPS, i);
    if (is_function) run_changed(c, RUN_CHANGED_MODULE, 0);
    return op_handle(c, copy);
}

/* ---- changing in place ---- */

pto_status host_op_set_operand(pto_op h, uint32_t index, pto_value to)
{
    run_context *c = run_of(h.run);
    const op_id o = op_from(c, h);
    const value_id v = value_from(c, to);
    if (o == 0 || v == 0) {
        run_misuse(c, &E1324, "tried to set operand %u of %s to %s", index,
                   o != 0 ? op_info_of(c->m, o)->name : "no op", v != 0 ? "a value" : "no value");
        return PTO_FAILED;
    }
    if (index >= op_value_operand_count(c->m, o)) {
        run_misuse(c, &E1324, "tried to set operand %u of `%s`, which has %u, counted from 0", index,
                   op_info_of(c->m, o)->name, op_value_operand_count(c->m, o));
        return PTO_FAILED;
    }
    if (!run_may_change_op(c, o)) return PTO_FAILED;
    const value_id old = op_operand(c->m, o, index);
    if (old == v) return PTO_OK;
    op_set_operand(c->m, o, index, v);
    run_changed(c, RUN_CHANGED_OPERANDS, o);
    run_changed(c, 0, value_op(c->m, old));
    return PTO_OK;
}

pto_status host_op_set_attr(pto_op h, pto_str name, pto_attr to)
{
    run_context *c = run_of(h.run);
    const op_id o = op_from(c, h);
    if (o == 0) {
        run_misuse(c, &E1324, "tried to set an attribute of no op");
        return PTO_FAILED;
    }
    if (!run_may_change_op(c, o)) return PTO_FAILED;
    const op_info *info = op_info_of(c->m, o);
    const attr_id a = to.index != 0 ? attr_for_op(c, info, o, str_of(name), to) : 0;
    if (to.index != 0 && a == 0) return PTO_FAILED;
    const bool renames = (info->traits & TRAIT_FUNCTION) != 0 && str_is(str_of(name), "name");
    if (renames && c->request.access != RUN_WRITES_MODULE) {
        run_misuse(c, &E1321, "tried to rename a function; only a pass of scope module may do that");
        return PTO_FAILED;
    }
    if (renames && (a == 0 || attr_at(c->ir, a)->kind != ATTR_STRING)) {
        run_misuse(c, &E1324, "tried to give a function a name that is not a string");
        return PTO_FAILED;
    }
    const uint64_t before = module_epoch(c->m);
    op_set_attr(c->m, o, string_of(c->ir, string_intern(c->ir, str_of(name))).p, a);
    if (module_epoch(c->m) != before) run_changed(c, RUN_CHANGED_ATTRS | (renames ? RUN_CHANGED_MODULE : 0u), o);
    return PTO_OK;
}

pto_status host_op_replace_symbols(pto_op h, uint32_t count, const pto_str *symbols, const pto_expr *by)
{
    run_context *c = run_of(h.run);
    const op_id o = op_from(c, h);
    str_id *names = arena_array(c->scratch, count, sizeof *names);
    expr_id *targets = arena_array(c->scratch, count, sizeof *targets);
    if (o == 0) run_misuse(c, &E1324, "tried to replace symbols of no op");
    if (o == 0 || !run_may_change_op(c, o)) return PTO_FAILED;
    for (uint32_t i = 0; i < count; i++) {
        names[i] = string_intern(c->ir, str_of(symbols[i]));
        targets[i] = expr_from(c, by[i]);
        if (targets[i] != 0 && !expr_at(c->ir, targets[i])->has_slot) continue;
        run_misuse(c, &E1324, "tried to replace a symbol by %s", targets[i] == 0 ? "no expression" : "a value");
        return PTO_FAILED;
    }
    if (symbols_replace(c->m, o, count, names, targets) != OK) return PTO_FAILED;
    IR_WALK(c->m, i, o) run_changed(c, RUN_CHANGED_OPS | RUN_CHANGED_ATTRS | RUN_CHANGED_TYPES, i);
    return PTO_OK;
}

pto_status host_tune_fix(pto_op h, int64_t number)
{
    run_context *c = run_of(h.run);
    const op_id o = op_from(c, h);
    if (o == 0 || op_kind_of(c->m, o) != OP_TUNE) {
        run_misuse(c, &E1324, "tried to fix the symbol of %s, which is not a `tune`",
                   o == 0 ? "no op" : op_info_of(c->m, o)->name);
        return PTO_FAILED;
    }
    if (!run_may_change_op(c, o)) return PTO_FAILED;
    const op_id function = op_function(c->m, o);
    if (tune_fix(c->m, o, number) != OK) return PTO_FAILED;
    run_changed(c, RUN_CHANGED_OPS | RUN_CHANGED_ATTRS | RUN_CHANGED_TYPES, function);
    return PTO_OK;
}
