/* The blocks of an op: how many, which arguments, and what parameters may be. */
#include "ir/verify/verifier_parts.h"

#include <inttypes.h>

static status check_block_count(const module *m, op_id o)
{
    const op_info *info = op_info_of(m, o);
    uint32_t have = op_block_count(m, o);
    if (info->blocks == BLOCKS_ANY || have == info->blocks) return OK;
    return op_error(m, o, &E0326, "has %" PRIu32 " block%s and needs %u", have, have == 1 ? "" : "s",
                    (unsigned)info->blocks);
}

static status check_arg_count(const module *m, op_id o, block_id b, uint32_t want)
{
    uint32_t have = block_arg_count(m, b);
    if (have == want) return OK;
    return op_error(m, o, &E0326, "has a block with %" PRIu32 " argument%s and needs %" PRIu32, have,
                    have == 1 ? "" : "s", want);
}

static status check_index_arg(const module *m, op_id o, block_id b, uint32_t i)
{
    const type_node *t = type_of_value(m, block_arg(m, b, i));
    if (t->kind == TYPE_SCALAR && t->dtype == DTYPE_INDEX) return OK;
    return op_error(m, o, &E0326, "has block argument %s of %s, which must be index",
                    value_words(m, block_arg(m, b, i)), type_words(m, value_type(m, block_arg(m, b, i))));
}

/* `indices` index arguments, then one for each value operand. */
static status check_loop_block(module *m, op_id o, block_id b, uint32_t indices)
{
    uint32_t carried = op_value_operand_count(m, o);
    TRY(check_arg_count(m, o, b, indices + carried));
    for (uint32_t i = 0; i < indices; i++) TRY(check_index_arg(m, o, b, i));
    for (uint32_t i = 0; i < carried; i++) {
        value_id arg = block_arg(m, b, indices + i);
        type_id in = value_type(m, op_operand(m, o, i));
        if (!types_agree(m, o, in, value_type(m, arg)))
            return op_error(m, o, &E0326, "hands %s to block argument %s of %s", type_words(m, in), value_words(m, arg),
                            type_words(m, value_type(m, arg)));
    }
    return OK;
}

static status check_parameter(const module *m, op_id f, value_id param, uint32_t index, bool kernel)
{
    const type_node *t = type_of_value(m, param);
    bool on_chip = t->kind == TYPE_TILE || t->kind == TYPE_BUFFER || t->kind == TYPE_CHANNEL;
    if (on_chip || (kernel && t->kind == TYPE_TENSOR))
        return op_error(m, f, &E0334, "has parameter %s of %s; legal are %s", value_words(m, param),
                        type_words(m, value_type(m, param)), kernel ? "gm and scalars" : "tensors, gm and scalars");
    str mode = function_param_mode(m, f, index);
    bool written = str_is(mode, "out") || str_is(mode, "inout");
    bool memory = t->kind == TYPE_GM || (t->kind == TYPE_TENSOR && str_is(mode, "inout"));
    if (written && !memory)
        return op_error(m, f, &E0334, "has parameter %s of %s as `%.*s`; %s", value_words(m, param),
                        type_words(m, value_type(m, param)), (int)mode.n, mode.p,
                        t->kind == TYPE_TENSOR ? "a tensor is given back as a result"
                                               : "only memory can be written to");
    if (kernel && str_is(mode, "const"))
        return op_error(m, f, &E0334, "has a `const` parameter %s; kernels have in, out and inout",
                        value_words(m, param));
    return OK;
}

/* Whether a result may be the memory of a parameter, and no result before it is. */
static bool is_good_alias(const module *m, op_id f, uint32_t result)
{
    const ir_context *c = module_context(m);
    const block_id body = function_body(m, f);
    const uint32_t alias = function_alias(m, f, result);
    if (alias == UINT32_MAX) return true;
    if (alias >= block_arg_count(m, body) || !str_is(function_param_mode(m, f, alias), "inout")) return false;
    const value_id param = block_arg(m, body, alias);
    const type_id type = attr_at(c, attr_at(c, op_attr(m, f, "results"))->items[result])->id;
    for (uint32_t i = 0; i < result; i++)
        if (function_alias(m, f, i) == alias) return false;
    return type_of_value(m, param)->kind == TYPE_TENSOR && value_type(m, param) == type;
}

static status check_aliases(const module *m, op_id f)
{
    const ir_context *c = module_context(m);
    const attr_id aliases = op_attr(m, f, "aliases"), results = op_attr(m, f, "results");
    if (aliases == 0) return OK;
    const uint32_t count = results != 0 ? attr_at(c, results)->count : 0;
    if (attr_at(c, aliases)->count != count)
        return op_error(m, f, &E0334, "has an attribute `aliases` with %" PRIu32 " items for %" PRIu32 " results",
                        attr_at(c, aliases)->count, count);
    for (uint32_t i = 0; i < count; i++)
        if (!is_good_alias(m, f, i))
            return op_error(m, f, &E0334,
                            "has result %" PRIu32 " that aliases what it cannot; it may alias an `inout` tensor of its "
                            "type that no result before it aliases",
                            i);
    return OK;
}

static bool is_tensor_or_memory(const type_node *t) { return t->kind == TYPE_TENSOR || t->kind == TYPE_GM; }

/* What is written to, a result with memory of its own or an `out` or `inout` parameter, and what is only read. */
static bool is_good_pair(const module *m, op_id f, const attr_node *pair)
{
    const ir_context *c = module_context(m);
    const block_id body = function_body(m, f);
    const attr_id results = op_attr(m, f, "results");
    const int64_t params = block_arg_count(m, body), result_count = results != 0 ? attr_at(c, results)->count : 0;
    if (pair->kind != ATTR_LIST || pair->count != 2) return false;
    const attr_node *a = attr_at(c, pair->items[0]), *b = attr_at(c, pair->items[1]);
    if (a->kind != ATTR_INT || b->kind != ATTR_INT || b->i < 0 || b->i >= params) return false;
    const value_id other = block_arg(m, body, (uint32_t)b->i);
    const str other_mode = function_param_mode(m, f, (uint32_t)b->i);
    if (!is_tensor_or_memory(type_of_value(m, other))) return false;
    if (a->i < 0) {
        if (-1 - a->i >= result_count || function_alias(m, f, (uint32_t)(-1 - a->i)) != UINT32_MAX) return false;
        return str_is(other_mode, "in");
    }
    if (a->i <= b->i || a->i >= params) return false;
    if (!is_tensor_or_memory(type_of_value(m, block_arg(m, body, (uint32_t)a->i)))) return false;
    const str mode = function_param_mode(m, f, (uint32_t)a->i);
    if (str_is(mode, "const") || str_is(other_mode, "const")) return false;
    return str_is(mode, "in") != str_is(other_mode, "in");
}

static status check_may_alias(const module *m, op_id f)
{
    const ir_context *c = module_context(m);
    const attr_id pairs = op_attr(m, f, "may_alias");
    for (uint32_t i = 0; pairs != 0 && i < attr_at(c, pairs)->count; i++)
        if (!is_good_pair(m, f, attr_at(c, attr_at(c, pairs)->items[i])))
            return op_error(m, f, &E0334,
                            "has pair %" PRIu32 " of `may_alias` that cannot be one; it is a result that aliases "
                            "nothing, or an `out` or `inout` parameter, with an `in` parameter, the later one first",
                            i);
    return OK;
}

static status check_parameters(const module *m, op_id f, uint32_t first, bool kernel)
{
    const ir_context *c = module_context(m);
    block_id body = op_block_at(m, f, 0);
    uint32_t n = block_arg_count(m, body);
    attr_id params = op_attr(m, f, "params");
    if (n < first) return check_arg_count(m, f, body, first);
    if (params != 0 && attr_at(c, params)->count != n - first)
        return op_error(m, f, &E0334, "states %" PRIu32 " modes for %" PRIu32 " parameters", attr_at(c, params)->count,
                        n - first);
    for (uint32_t i = first; i < n; i++) TRY(check_parameter(m, f, block_arg(m, body, i), i - first, kernel));
    if (kernel) return OK;
    TRY(check_aliases(m, f));
    return check_may_alias(m, f);
}

/* A list of expressions, as offsets and sizes of a region are. */
static bool is_expr_list(const ir_context *c, attr_id a)
{
    const attr_node *n = attr_at(c, a);
    if (n->kind != ATTR_LIST) return false;
    for (uint32_t i = 0; i < n->count; i++) {
        if (attr_at(c, n->items[i])->kind != ATTR_EXPR) return false;
    }
    return true;
}

static status check_regions(const module *m, op_id kernel, const char *which, uint32_t params)
{
    const ir_context *c = module_context(m);
    attr_id list = op_attr(m, kernel, which);
    for (uint32_t i = 0; list != 0 && i < attr_at(c, list)->count; i++) {
        const attr_node *region = attr_at(c, attr_at(c, list)->items[i]);
        bool good = region->kind == ATTR_LIST && (region->count == 1 || region->count == 3);
        good = good && (region->count == 1 || (is_expr_list(c, region->items[1]) && is_expr_list(c, region->items[2])));
        const attr_node *param = good ? attr_at(c, region->items[0]) : NULL;
        if (param == NULL || param->kind != ATTR_INT || param->i < 0 || param->i >= (int64_t)params)
            return op_error(m, kernel, &E0412, "has a malformed region number %" PRIu32 " in `%s`", i, which);
    }
    return OK;
}

static status check_kernel(module *m, op_id o)
{
    block_id body = op_block_at(m, o, 0);
    uint32_t first = attr_at(module_context(m), op_attr(m, o, "grid"))->count;
    TRY(check_parameters(m, o, first, true));
    for (uint32_t i = 0; i < first; i++) TRY(check_index_arg(m, o, body, i));
    TRY(check_regions(m, o, "reads", block_arg_count(m, body) - first));
    return check_regions(m, o, "writes", block_arg_count(m, body) - first);
}

status verify_blocks(module *m, op_id o)
{
    TRY(check_block_count(m, o));
    switch (op_kind_of(m, o)) {
    case OP_FUNC: return check_parameters(m, o, 0, false);
    case OP_BLOCK_KERNEL: return check_kernel(m, o);
    case OP_FOR: return check_loop_block(m, o, op_block_at(m, o, 0), 1);
    case OP_FORALL: return check_loop_block(m, o, op_block_at(m, o, 0), op_index_count(m, o, "to"));
    case OP_WHILE:
        TRY(check_loop_block(m, o, op_block_at(m, o, 0), 0));
        return check_loop_block(m, o, op_block_at(m, o, 1), 0);
    default: break;
    }
    for (uint32_t i = 0; i < op_block_count(m, o); i++) TRY(check_arg_count(m, o, op_block_at(m, o, i), 0));
    return OK;
}
