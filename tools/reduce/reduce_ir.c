/* Proposals on modules: fewer functions, ops, results, parameters and attributes. */
#include "tools/reduce/reduce.h"

#include <string.h>

/* One kind of proposal: `count` places in a module, of which `change` takes some, in one of `ways` ways. */
typedef struct proposal {
    uint32_t (*count)(module *m);
    bool (*change)(module *m, uint32_t from, uint32_t to, uint32_t way); /* false: nothing to try */
    uint32_t ways;
} proposal;

static const attr_node *list_of(module *m, op_id f, const char *name)
{
    const attr_id list = op_attr(m, f, name);
    return list != 0 ? attr_at(module_context(m), list) : NULL;
}

/* The list without item `k`; no attribute when that was the last. */
static void drop_item(module *m, op_id f, const char *name, uint32_t k)
{
    const attr_node *list = list_of(m, f, name);
    if (list == NULL || k >= list->count) return;
    attr_id items[TYPE_MAX_RANK * 8];
    uint32_t n = 0;
    if (list->count > sizeof items / sizeof items[0]) return;
    for (uint32_t i = 0; i < list->count; i++)
        if (i != k) items[n++] = list->items[i];
    op_set_attr(m, f, name, n > 0 ? attr_list(module_context(m), n, items) : 0);
}

/* ---- functions ---- */

static uint32_t count_functions(module *m)
{
    uint32_t n = 0;
    BLOCK_EACH_OP(m, f, module_top(m)) n++;
    return n;
}

static bool drop_functions(module *m, uint32_t from, uint32_t to, uint32_t way)
{
    (void)way;
    uint32_t i = 0;
    if (to - from == count_functions(m)) return false;
    BLOCK_EACH_OP(m, f, module_top(m)) {
        if (i >= from && i < to) op_erase(m, f);
        i++;
    }
    return true;
}

/* ---- ops: a parameter or an operand stands for what one made ---- */

static bool is_kept(module *m, op_id o)
{
    const uint32_t traits = op_info_of(m, o)->traits;
    return (traits & (TRAIT_FUNCTION | TRAIT_TERMINATOR)) != 0;
}

/* The sum of what `of` says of each op inside of the functions. */
static uint32_t sum_of_ops(module *m, uint32_t (*of)(module *, op_id))
{
    uint32_t n = 0;
    BLOCK_EACH_OP(m, f, module_top(m)) {
        IR_WALK(m, o, f) n += of(m, o);
    }
    return n;
}

static uint32_t is_dropped(module *m, op_id o) { return !is_kept(m, o); }
static uint32_t count_ops(module *m) { return sum_of_ops(m, is_dropped); }

static value_id new_parameter(module *m, op_id o, type_id type)
{
    const op_id f = op_function(m, o);
    if (f == 0 || op_kind_of(m, f) != OP_FUNC || list_of(m, f, "params") != NULL) return 0;
    const value_id v = block_add_arg(m, function_body(m, f), type);
    value_set_name(m, v, STR("p"));
    return v;
}

static value_id same_operand(const module *m, op_id o, type_id type)
{
    for (uint32_t i = 0; i < op_operand_count(m, o); i++)
        if (value_type(m, op_operand(m, o, i)) == type) return op_operand(m, o, i);
    return 0;
}

/* `way` 0: parameters, 1: operands where one has the type. An op whose results cannot be replaced stays. */
static bool drop_op(module *m, op_id o, uint32_t way)
{
    for (uint32_t i = 0; i < op_result_count(m, o); i++) {
        const value_id v = op_result(m, o, i);
        if (value_first_use(m, v) == 0) continue;
        value_id by = way == 1 ? same_operand(m, o, value_type(m, v)) : 0;
        if (by == 0) by = new_parameter(m, o, value_type(m, v));
        if (by == 0) by = same_operand(m, o, value_type(m, v));
        if (by == 0) return false;
        value_replace_all(m, v, by);
    }
    op_erase(m, o);
    return true;
}

static bool drop_ops(module *m, uint32_t from, uint32_t to, uint32_t way)
{
    op_id *ops = NULL;
    uint32_t n = 0, i = 0;
    bool is_any = false;
    arena *a = arena_create("reduce");
    ops = arena_array(a, to - from + 1u, sizeof *ops);
    BLOCK_EACH_OP(m, f, module_top(m)) {
        IR_WALK(m, o, f)
        {
            if (is_kept(m, o)) continue;
            if (i >= from && i < to) ops[n++] = o;
            i++;
        }
    }
    while (n-- > 0)
        if (op_is_live(m, ops[n])) is_any |= drop_op(m, ops[n], way);
    arena_destroy(a);
    return is_any;
}

/* ---- blocks: what is inside of a loop, a branch or a group comes out ---- */

static uint32_t holds_blocks(module *m, op_id o) { return !is_kept(m, o) && op_block_count(m, o) > 0; }

static uint32_t count_blocks(module *m) { return sum_of_ops(m, holds_blocks); }

static bool take_out(module *m, op_id o, uint32_t way)
{
    if (way >= op_block_count(m, o)) return false;
    const block_id b = op_block_at(m, o, way);
    const op_id last = block_last(m, b);
    if (last == 0 || op_value_operand_count(m, last) < op_result_count(m, o)) return false;
    for (uint32_t i = 0; i < block_arg_count(m, b); i++) {
        const value_id v = block_arg(m, b, i);
        if (value_first_use(m, v) == 0) continue;
        value_id by = same_operand(m, o, value_type(m, v));
        if (by == 0) by = new_parameter(m, o, value_type(m, v));
        if (by == 0) return false;
        value_replace_all(m, v, by);
    }
    BLOCK_EACH_OP(m, x, b) {
        if (x != last) op_move(m, x, (op_place){op_block(m, o), o});
    }
    for (uint32_t i = 0; i < op_result_count(m, o); i++)
        value_replace_all(m, op_result(m, o, i), op_operand(m, last, i));
    op_erase(m, o);
    return true;
}

static bool take_out_blocks(module *m, uint32_t from, uint32_t to, uint32_t way)
{
    uint32_t i = 0;
    op_id found = 0;
    if (to - from != 1) return false;
    BLOCK_EACH_OP(m, f, module_top(m)) {
        IR_WALK(m, o, f)
        {
            if (!holds_blocks(m, o)) continue;
            if (i++ == from) found = o;
        }
    }
    return found != 0 && take_out(m, found, way);
}

/* ---- results and parameters of functions ---- */

static uint32_t results_of(module *m, op_id f)
{
    const attr_node *list = list_of(m, f, "results");
    return list != NULL ? list->count : 0;
}

static uint32_t count_results(module *m)
{
    uint32_t n = 0;
    BLOCK_EACH_OP(m, f, module_top(m)) n += results_of(m, f);
    return n;
}

static void drop_result(module *m, op_id f, uint32_t k)
{
    const op_id last = block_last(m, function_body(m, f));
    const uint32_t count = op_operand_count(m, last);
    value_id kept[TYPE_MAX_RANK * 8];
    uint32_t n = 0;
    if (k >= count || count > sizeof kept / sizeof kept[0]) return;
    for (uint32_t i = 0; i < count; i++)
        if (i != k) kept[n++] = op_operand(m, last, i);
    op_set_operands(m, last, n, kept, op_attrs(m, last));
    drop_item(m, f, "results", k);
    drop_item(m, f, "aliases", k);
    op_set_attr(m, f, "may_alias", 0); /* it names results and parameters by number */
    op_set_attr(m, f, "outputs", 0);
}

static bool drop_results(module *m, uint32_t from, uint32_t to, uint32_t way)
{
    (void)way;
    uint32_t i = 0;
    BLOCK_EACH_OP(m, f, module_top(m)) {
        const uint32_t count = results_of(m, f);
        for (uint32_t k = count; k-- > 0;)
            if (i + k >= from && i + k < to) drop_result(m, f, k);
        i += count;
    }
    return true;
}

static uint32_t parameters_of(module *m, op_id f)
{
    return op_kind_of(m, f) == OP_FUNC ? block_arg_count(m, function_body(m, f)) : 0;
}

static uint32_t count_parameters(module *m)
{
    uint32_t n = 0;
    BLOCK_EACH_OP(m, f, module_top(m)) n += parameters_of(m, f);
    return n;
}

/* `way` 0: those that nothing uses; 1: an earlier one of the type stands for the others. */
static bool drop_parameter(module *m, op_id f, uint32_t k, uint32_t way)
{
    const block_id body = function_body(m, f);
    const value_id v = block_arg(m, body, k);
    for (uint32_t i = 0; way == 1 && i < k && value_first_use(m, v) != 0; i++)
        if (value_type(m, block_arg(m, body, i)) == value_type(m, v)) value_replace_all(m, v, block_arg(m, body, i));
    if (value_first_use(m, v) != 0) return false;
    block_erase_arg(m, body, k);
    drop_item(m, f, "params", k);
    op_set_attr(m, f, "may_alias", 0);
    return true;
}

static bool drop_parameters(module *m, uint32_t from, uint32_t to, uint32_t way)
{
    uint32_t i = 0;
    bool is_any = false;
    BLOCK_EACH_OP(m, f, module_top(m)) {
        const uint32_t count = parameters_of(m, f);
        for (uint32_t k = count; k-- > 0;)
            if (i + k >= from && i + k < to) is_any |= drop_parameter(m, f, k, way);
        i += count;
    }
    return is_any;
}

/* ---- attributes, of functions too ---- */

static uint32_t attrs_of(module *m, op_id o)
{
    return op_attrs(m, o) != 0 ? attr_at(module_context(m), op_attrs(m, o))->count : 0;
}

static uint32_t count_attrs(module *m) { return sum_of_ops(m, attrs_of); }

/* Required, or a list that goes with results and parameters. */
static bool is_fixed(module *m, op_id o, str key)
{
    const op_info *info = op_info_of(m, o);
    for (int i = 0; i < OP_INFO_ATTRS && info->attrs[i].name != NULL; i++)
        if (str_is(key, info->attrs[i].name) && info->attrs[i].required) return true;
    return str_is(key, "results") || str_is(key, "params") || str_is(key, "aliases");
}

static bool drop_attrs(module *m, uint32_t from, uint32_t to, uint32_t way)
{
    (void)way;
    uint32_t i = 0;
    ir_context *c = module_context(m);
    BLOCK_EACH_OP(m, f, module_top(m)) {
        IR_WALK(m, o, f)
        {
            const uint32_t count = attrs_of(m, o);
            for (uint32_t k = count; k-- > 0;) {
                if (i + k < from || i + k >= to) continue;
                const attr_id dict = op_attrs(m, o);
                if (is_fixed(m, o, string_of(c, attr_at(c, dict)->keys[k]))) continue;
                op_set_attrs(m, o, attr_with(c, dict, attr_at(c, dict)->keys[k], 0));
            }
            i += count;
        }
    }
    return true;
}

/* ---- all ---- */

static bool try_change(reducer *r, const module *m, const proposal *p, uint32_t from, uint32_t to)
{
    bool is_taken = false;
    for (uint32_t way = 0; way < p->ways && !is_taken && !r->is_stopped; way++) {
        module *c = module_clone(m);
        is_taken = p->change(c, from, to, way) && reduce_try_module(r, c);
        module_destroy(c);
    }
    return is_taken;
}

/* Halves, quarters and so on, from the end: what uses a value goes before what makes it. */
static bool reduce_by(reducer *r, const proposal *p)
{
    bool is_any = false;
    module *m = reduce_module(r, r->best);
    uint32_t total = m != NULL ? p->count(m) : 0;
    for (uint32_t size = total; size > 0 && !r->is_stopped; size /= 2) {
        for (uint32_t to = total; to > 0 && !r->is_stopped;) {
            const uint32_t from = to > size ? to - size : 0;
            if (!try_change(r, m, p, from, to)) {
                to = from;
                continue;
            }
            is_any = true;
            module_destroy(m);
            m = reduce_module(r, r->best);
            total = m != NULL ? p->count(m) : 0;
            to = to < total ? to : total;
        }
    }
    module_destroy(m);
    return is_any;
}

bool reduce_ir(reducer *r)
{
    static const proposal proposals[] = {
        {count_functions, drop_functions, 1},   {count_ops, drop_ops, 2},
        {count_blocks, take_out_blocks, 2},     {count_results, drop_results, 1},
        {count_parameters, drop_parameters, 2}, {count_attrs, drop_attrs, 1},
    };
    bool is_any = false;
    for (size_t i = 0; i < sizeof proposals / sizeof proposals[0]; i++) is_any |= reduce_by(r, &proposals[i]);
    return is_any;
}
