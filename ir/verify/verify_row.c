#include "ir/verify/verify_row.h"

#include "ir/module_impl.h"
#include "ir/op_words.h"
#include "ir/verify/verifier.h"
#include "ir/verify/verifier_parts.h"

#include <inttypes.h>
#include <string.h>

enum { RESULTS_ON_STACK = 8, ATTR_DEPTH_MAX = 16 };

static uint32_t class_of(const type_node *t)
{
    switch ((type_kind)t->kind) {
    case TYPE_TENSOR: return TY_TENSOR;
    case TYPE_GM: return TY_GM;
    case TYPE_TILE: return TY_TILE;
    case TYPE_BUFFER: return TY_BUFFER;
    case TYPE_CHANNEL: return TY_CHANNEL;
    case TYPE_SCALAR: return t->dtype == DTYPE_INDEX ? TY_INDEX : TY_SCALAR;
    case TYPE_NONE: break;
    }
    return 0;
}

static void put_classes(text_buffer *t, uint32_t classes)
{
    static const char *const names[] = {"tensor", "gm", "tile", "scalar", "index", "buffer", "channel"};
    const char *separator = "";
    for (uint32_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if ((classes & (1u << i)) == 0) continue;
        text_printf(t, "%s%s", separator, names[i]);
        separator = " or ";
    }
}

static void put_dtypes(text_buffer *t, uint32_t dtypes)
{
    const char *separator = "";
    for (uint32_t d = 1; d < DTYPE_COUNT; d++) {
        if ((dtypes & (1u << d)) == 0) continue;
        text_printf(t, "%s%s", separator, dtype_name((dtype)d));
        separator = ", ";
    }
}

static status wrong_class(const module *m, op_id o, const char *what, const char *name, type_id t, uint32_t classes)
{
    text_buffer legal;
    text_init(&legal);
    put_classes(&legal, classes);
    status s = op_error(m, o, &E0210, "has %s `%s` of %s; legal: %s", what, name, type_words(m, t),
                        legal.n == 0 ? "" : legal.p);
    text_fini(&legal);
    return s;
}

static status wrong_dtype(const module *m, op_id o, const char *name, dtype d, uint32_t dtypes)
{
    text_buffer legal;
    text_init(&legal);
    put_dtypes(&legal, dtypes);
    status s = op_error(m, o, &E0211, "has `%s` of %s; legal: %s", name, dtype_name(d), legal.n == 0 ? "" : legal.p);
    text_fini(&legal);
    return s;
}

static status check_operand_count(const module *m, op_id o, const op_info *info, uint32_t listed)
{
    uint32_t have = op_value_operand_count(m, o);
    uint32_t most = info->in_variadic ? UINT32_MAX : listed;
    uint32_t least = listed - info->in_optional - (info->in_variadic ? 1 : 0);
    if (have >= least && have <= most) return OK;
    if (least == most)
        return op_error(m, o, &E0310, "has %" PRIu32 " operand%s and needs %" PRIu32, have, have == 1 ? "" : "s",
                        least);
    if (info->in_variadic)
        return op_error(m, o, &E0310, "has %" PRIu32 " operand%s and needs at least %" PRIu32, have,
                        have == 1 ? "" : "s", least);
    return op_error(m, o, &E0310, "has %" PRIu32 " operand%s and needs %" PRIu32 " to %" PRIu32, have,
                    have == 1 ? "" : "s", least, most);
}

static status check_index_operands(const module *m, op_id o, uint32_t first)
{
    for (uint32_t i = first; i < op_operand_count(m, o); i++) {
        type_id type = value_type(m, op_operand(m, o, i));
        const type_node *t = type_at(module_context(m), type);
        dtype_class c = dtype_class_of(t->dtype);
        if (t->kind == TYPE_SCALAR &&
            (c == DTYPE_CLASS_INDEX || c == DTYPE_CLASS_SINT || c == DTYPE_CLASS_UINT || c == DTYPE_CLASS_BOOL))
            continue;
        return op_error(m, o, &E0414, "computes an index from %s of %s; legal are index, integer and bool scalars",
                        value_words(m, op_operand(m, o, i)), type_words(m, type));
    }
    return OK;
}

static status check_results(const module *m, op_id o, const op_info *info)
{
    uint32_t have = op_result_count(m, o);
    if (info->out_count != OUT_ANY && have != info->out_count)
        return op_error(m, o, &E0311, "has %" PRIu32 " result%s and names %u", have, have == 1 ? "" : "s",
                        (unsigned)info->out_count);
    for (uint32_t i = 0; i < have; i++) {
        type_id t = value_type(m, op_result(m, o, i));
        if ((class_of(type_at(module_context(m), t)) & info->out_types) == 0)
            return wrong_class(m, o, "a result", "result", t, info->out_types);
    }
    return OK;
}

status row_check_values(const module *m, op_id o, const op_info *info)
{
    uint32_t listed = op_info_operands(info);
    TRY(check_operand_count(m, o, info, listed));
    uint32_t n = op_value_operand_count(m, o);
    for (uint32_t i = 0; i < n; i++) {
        const operand_spec *spec = &info->in[i < listed ? i : listed - 1];
        type_id type = value_type(m, op_operand(m, o, i));
        const type_node *t = type_at(module_context(m), type);
        if ((class_of(t) & spec->types) == 0) return wrong_class(m, o, "operand", spec->name, type, spec->types);
        uint32_t dtypes = spec->dtypes != 0                        ? spec->dtypes
                          : (spec->flags & OPERAND_CONVERTED) != 0 ? op_info_target_dtypes(info)
                                                                   : info->dtypes;
        if (dtypes != 0 && t->dtype != DTYPE_NONE && (dtypes & (1u << t->dtype)) == 0)
            return wrong_dtype(m, o, spec->name, t->dtype, dtypes);
    }
    TRY(check_index_operands(m, o, n));
    return check_results(m, o, info);
}

/* ---- attributes ---- */

static bool all_of_kind(const ir_context *c, const attr_node *list, attr_kind kind)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (attr_at(c, list->items[i])->kind != kind) return false;
    return true;
}

static bool kind_fits(const ir_context *c, const attr_spec *spec, const attr_node *n)
{
    switch ((attr_spec_kind)spec->kind) {
    case SPEC_BOOL: return n->kind == ATTR_BOOL;
    case SPEC_INT: return n->kind == ATTR_INT;
    case SPEC_FLOAT: return n->kind == ATTR_FLOAT || n->kind == ATTR_INT;
    case SPEC_NUMBER: return n->kind == ATTR_FLOAT || n->kind == ATTR_INT || n->kind == ATTR_BOOL;
    case SPEC_ENUM:
    case SPEC_WORD:
    case SPEC_STRING: return n->kind == ATTR_STRING;
    case SPEC_DTYPE: return n->kind == ATTR_TYPE && type_at(c, n->id)->kind == TYPE_SCALAR;
    case SPEC_TYPES: return n->kind == ATTR_LIST && all_of_kind(c, n, ATTR_TYPE);
    case SPEC_INTS: return n->kind == ATTR_INT || (n->kind == ATTR_LIST && all_of_kind(c, n, ATTR_INT));
    case SPEC_EXPRS: return n->kind == ATTR_LIST && all_of_kind(c, n, ATTR_EXPR);
    case SPEC_SYMBOL: return n->kind == ATTR_SYMBOL;
    case SPEC_DENSE:
        return n->kind == ATTR_FLOAT || n->kind == ATTR_INT || n->kind == ATTR_BOOL || n->kind == ATTR_DENSE ||
               n->kind == ATTR_RESOURCE;
    case SPEC_LIST: return n->kind == ATTR_LIST;
    case SPEC_DICT: return n->kind == ATTR_DICT;
    case SPEC_NONE: break;
    }
    return true;
}

static status check_value(const module *m, op_id o, const attr_spec *spec, attr_id value)
{
    const ir_context *c = module_context(m);
    const attr_node *n = attr_at(c, value);
    if (!kind_fits(c, spec, n)) return op_error(m, o, &E0314, "needs %s for `%s`", attr_spec_words(spec), spec->name);
    if (n->is_large && op_kind_of(m, o) != OP_CONSTANT && spec->kind != SPEC_DENSE)
        return op_error(m, o, &E0314, "has %s = %" PRIu64 ", which has more than 63 bits", spec->name, (uint64_t)n->i);
    if ((spec->kind != SPEC_ENUM && spec->kind != SPEC_WORD) || !attr_spec_limits(spec)) return OK;
    str word = string_of(c, n->id);
    if (attr_spec_allows(spec, context_names(c), word)) return OK;
    text_buffer legal;
    text_init(&legal);
    attr_spec_print_legal(spec, context_names(c), UINT32_MAX, &legal);
    status s = op_error(m, o, &E0314, "has %s = %.*s; legal: %s", spec->name, (int)word.n, word.p, legal.p);
    text_fini(&legal);
    return s;
}

static status unknown_attr(const module *m, op_id o, const op_info *info, str name)
{
    const char *known[sizeof info->attrs / sizeof info->attrs[0] + 1] = {NULL};
    uint32_t n = 0;
    for (uint32_t i = 0; i < sizeof info->attrs / sizeof info->attrs[0] && info->attrs[i].name != NULL; i++)
        known[n++] = info->attrs[i].name;
    const char *near = str_nearest(name, known);
    if (near != NULL)
        return op_error(m, o, &E0313, "has no attribute `%.*s`; did you mean `%s`?", (int)name.n, name.p, near);
    text_buffer takers;
    text_init(&takers);
    attr_takers_print(context_ops(module_context(m)), info, name, &takers);
    status s = op_error(m, o, &E0313, "has no attribute `%.*s`%s; a name with a dot is a free annotation", (int)name.n,
                        name.p, takers.n != 0 ? takers.p : "");
    text_fini(&takers);
    return s;
}

typedef struct slot_limit {
    uint32_t operands;
    bool exceeded;
} slot_limit;

static void check_slot(void *self, uint32_t slot)
{
    slot_limit *l = self;
    l->exceeded = l->exceeded || slot >= l->operands;
}

/* Slots of expressions at any depth name operands; values have been turned into slots. */
static status check_slots(const module *m, op_id o, attr_id a, uint32_t depth)
{
    const ir_context *c = module_context(m);
    const attr_node *n = attr_at(c, a);
    if (!n->has_slot && n->nesting + depth <= ATTR_DEPTH_MAX) return OK;
    if (n->kind == ATTR_EXPR && expr_at(c, n->id)->has_slot) {
        /* The regions of a kernel are over its grid indices, the first arguments of its body. */
        bool is_function = (op_info_of(m, o)->traits & TRAIT_FUNCTION) != 0 && op_block_count(m, o) != 0;
        slot_limit l = {is_function ? block_arg_count(m, op_block_at(m, o, 0)) : op_operand_count(m, o), false};
        expr_visit_slots(c, n->id, check_slot, &l);
        if (l.exceeded) return op_error(m, o, &E0314, "has an index expression over an operand that it does not have");
    }
    if (n->kind != ATTR_LIST && n->kind != ATTR_DICT) return OK;
    if (depth == ATTR_DEPTH_MAX)
        return op_error(m, o, &E0314, "has attributes nested more than %d deep", ATTR_DEPTH_MAX);
    for (uint32_t i = 0; i < n->count; i++) TRY(check_slots(m, o, n->items[i], depth + 1));
    return OK;
}

static status check_attrs_anew(const module *m, op_id o, const op_info *info)
{
    const ir_context *c = module_context(m);
    attr_id dict = op_attrs(m, o);
    uint32_t given = 0;
    if (dict != 0 && attr_at(c, dict)->count > VERIFIER_ATTRS)
        return op_error(m, o, &E0114, "has %u attributes; the limit is %d", attr_at(c, dict)->count, VERIFIER_ATTRS);
    for (uint32_t i = 0; dict != 0 && i < attr_at(c, dict)->count; i++) {
        const attr_node *d = attr_at(c, dict);
        str name = string_of(c, d->keys[i]);
        const attr_spec *spec = op_attr_spec(info, name);
        if (spec == NULL && memchr(name.p, '.', name.n) == NULL) return unknown_attr(m, o, info, name);
        if (spec != NULL) {
            given |= 1u << (spec - info->attrs);
            TRY(check_value(m, o, spec, d->items[i]));
        }
        TRY(check_slots(m, o, d->items[i], 0));
    }
    for (uint32_t i = 0; i < sizeof info->attrs / sizeof info->attrs[0] && info->attrs[i].name != NULL; i++) {
        const attr_spec *spec = &info->attrs[i];
        if (spec->required && (given & (1u << i)) == 0)
            return op_error(m, o, &E0312, "needs the attribute `%s`: %s", spec->name, spec->doc);
    }
    return OK;
}

/* Attributes that passed pass again on the next op like it; slots of functions count arguments of their bodies, too. */
status row_check_attrs(const module *m, op_id o, const op_info *info)
{
    const op_record *op = op_raw(m, o);
    fitting_attrs *known = &m->caches->fitting[(op->attrs * 31 + op->kind) % FITTING_ATTRS];
    if (known->kind == op->kind && known->attrs == op->attrs && known->operand_count == op->operand_count) return OK;
    TRY(check_attrs_anew(m, o, info));
    if ((info->traits & TRAIT_FUNCTION) == 0) *known = (fitting_attrs){op->kind, op->operand_count, op->attrs};
    return OK;
}

/* ---- types and rules ---- */

status row_check_type(const module *m, op_id o, type_id t)
{
    const ir_context *c = module_context(m);
    const type_node *n = type_at(c, t);
    int64_t product = 1;
    if (n->rank > TYPE_MAX_RANK)
        return op_error(m, o, &E0218, "has %s with %u dims; the most is %d", type_words(m, t), (unsigned)n->rank,
                        TYPE_MAX_RANK);
    const char *misfit = type_misfit(module_context(m), n);
    if (misfit != NULL) return op_error(m, o, &E0209, "has %s; %s", type_words(m, t), misfit);
    bool is_tile = n->kind == TYPE_TILE || n->kind == TYPE_CHANNEL;
    if (is_tile && n->rank != 2)
        return op_error(m, o, &E0218, "has %s with %u dims; a tile has 2", type_words(m, t), (unsigned)n->rank);
    for (uint32_t i = 0; i < n->rank; i++) {
        int64_t extent;
        if (!expr_is_const(c, n->dims[i], &extent)) {
            if (is_tile || expr_at(c, n->dims[i])->has_slot)
                return op_error(m, o, &E0218, "has %s; the capacity of a tile is two numbers", type_words(m, t));
            continue;
        }
        if (extent < (is_tile ? 1 : 0))
            return op_error(m, o, &E0218, "has %s with an extent of %" PRId64, type_words(m, t), extent);
        if (extent != 0 && __builtin_mul_overflow(product, extent, &product))
            return op_error(m, o, &E0218, "has %s with more than 2^63 elements", type_words(m, t));
    }
    uint32_t bytes = n->dtype == DTYPE_NONE ? 1 : dtype_bytes(n->dtype);
    if (__builtin_mul_overflow(product, (int64_t)bytes, &product))
        return op_error(m, o, &E0218, "has %s with more than 2^63 bytes", type_words(m, t));
    return OK;
}

static status check_inferred(module *m, op_id o, const op_info *info)
{
    type_id own[RESULTS_ON_STACK], given[RESULTS_ON_STACK];
    uint32_t n = op_result_count(m, o);
    BUG_IF(n > RESULTS_ON_STACK, "`%s` infers %u results", info->name, n);
    for (uint32_t i = 0; i < n; i++) own[i] = given[i] = value_type(m, op_result(m, o, i));
    TRY(info->infer(m, o, given));
    for (uint32_t i = 0; i < n; i++)
        if (!types_agree(m, o, own[i], given[i]))
            return op_error(m, o, &E0214, "has result type %s; its operands make it %s", type_words(m, own[i]),
                            type_words(m, given[i]));
    return OK;
}

status row_check_rules(module *m, op_id o, const op_info *info)
{
    if (info->infer != NULL) TRY(check_inferred(m, o, info));
    if (info->rule != RULE_NONE) TRY(verify_insn(m, o));
    return info->verify == NULL ? OK : info->verify(m, o);
}
