/* Functions, kernels and control ops. */
#include "ir/relations.h"
#include "ir/text/printer_state.h"

#include <inttypes.h>

static void put(printer *r, const char *s) { text_puts(r->out, s); }

static void put_word(printer *r, op_id o, const char *attr)
{
    attr_id a = attr_of(r, o, attr);
    if (a == 0 || attr_at(r->c, a)->kind != ATTR_STRING) {
        put(r, "?");
        return;
    }
    str s = string_of(r->c, attr_at(r->c, a)->id);
    text_put(r->out, s.p, s.n);
}

static void print_relation(printer *r, attr_id a)
{
    const bool is_word = a != 0 && attr_at(r->c, a)->kind == ATTR_STRING;
    put(r, " ");
    put(r, relation_sign(is_word ? relation_by_name(string_of(r->c, attr_at(r->c, a)->id)) : RELATION_NONE));
    put(r, " ");
}

/* ` where (..)` */
static void print_facts(printer *r, op_id o)
{
    attr_id facts = attr_of(r, o, "facts");
    if (count_of(r, facts) == 0) return;
    bool is_first = true;
    put(r, " where (");
    for (uint32_t i = 0; i < count_of(r, facts); i++) {
        attr_id fact = item_of(r, facts, i);
        print_comma(r, &is_first);
        print_expr_of(r, item_of(r, fact, 1));
        print_relation(r, item_of(r, fact, 0));
        print_expr_of(r, item_of(r, fact, 2));
    }
    put(r, ")");
}

/* ` may_alias %parameter` for each pair of `who`. */
static void print_may_alias(printer *r, op_id o, int64_t who)
{
    const attr_id pairs = attr_of(r, o, "may_alias");
    const block_id body = op_block_at(r->m, o, 0);
    for (uint32_t i = 0; i < count_of(r, pairs); i++) {
        const attr_id a = item_of(r, item_of(r, pairs, i), 0), b = item_of(r, item_of(r, pairs, i), 1);
        if (a == 0 || b == 0 || attr_at(r->c, a)->kind != ATTR_INT || attr_at(r->c, b)->kind != ATTR_INT) continue;
        const int64_t other = attr_at(r->c, b)->i;
        if (attr_at(r->c, a)->i != who || other < 0 || other >= block_arg_count(r->m, body)) continue;
        put(r, " may_alias ");
        print_value(r, block_arg(r->m, body, (uint32_t)other));
    }
}

static void print_params(printer *r, op_id o, uint32_t from)
{
    block_id body = op_block_at(r->m, o, 0);
    attr_id modes = attr_of(r, o, "params");
    bool is_first = true;
    put(r, "(");
    for (uint32_t i = from; i < block_arg_count(r->m, body); i++) {
        attr_id mode = item_of(r, modes, i - from);
        print_comma(r, &is_first);
        if (mode != 0 && attr_at(r->c, mode)->kind == ATTR_STRING) {
            str word = string_of(r->c, attr_at(r->c, mode)->id);
            if (!str_is(word, "in")) {
                text_put(r->out, word.p, word.n);
                put(r, " ");
            }
        }
        value_id v = block_arg(r->m, body, i);
        print_value(r, v);
        put(r, ": ");
        print_type(r, value_type(r->m, v));
        if (from == 0) print_may_alias(r, o, i);
    }
    put(r, ")");
}

static void print_type_item(printer *r, attr_id a)
{
    if (a == 0 || attr_at(r->c, a)->kind != ATTR_TYPE) {
        put(r, "?");
        return;
    }
    print_type(r, attr_at(r->c, a)->id);
}

static void print_func(printer *r, op_id o)
{
    put(r, "func ");
    if (str_is(op_attr_str(r->m, o, "visibility"), "private")) put(r, "private ");
    put(r, "@");
    put_word(r, o, "name");
    print_params(r, o, 0);
    attr_id results = attr_of(r, o, "results");
    uint32_t count = count_of(r, results);
    if (count != 0) put(r, count == 1 ? " -> " : " -> (");
    bool is_first = true;
    for (uint32_t i = 0; i < count; i++) {
        print_comma(r, &is_first);
        print_type_item(r, item_of(r, results, i));
        const uint32_t alias = function_alias(r->m, o, i);
        if (alias < block_arg_count(r->m, function_body(r->m, o))) {
            put(r, " aliases ");
            print_value(r, block_arg(r->m, function_body(r->m, o), alias));
        }
        print_may_alias(r, o, -1 - (int64_t)i);
    }
    if (count > 1) put(r, ")");
    print_facts(r, o);
    print_dict(r, o, function_clause_attrs(op_info_of(r->m, o)));
}

static void print_regions(printer *r, op_id o, const char *attr, uint32_t grid_rank)
{
    attr_id regions = attr_of(r, o, attr);
    if (regions == 0) return;
    block_id body = op_block_at(r->m, o, 0);
    bool is_first = true;
    put(r, " ");
    put(r, attr);
    put(r, "(");
    for (uint32_t i = 0; i < count_of(r, regions); i++) {
        attr_id region = item_of(r, regions, i);
        attr_id number = item_of(r, region, 0);
        print_comma(r, &is_first);
        int64_t arg = number == 0 || attr_at(r->c, number)->kind != ATTR_INT ? -1 : attr_at(r->c, number)->i;
        if (arg < 0 || arg >= (int64_t)block_arg_count(r->m, body) - (int64_t)grid_rank) {
            put(r, "?");
            continue;
        }
        print_value(r, block_arg(r->m, body, grid_rank + (uint32_t)arg));
        if (count_of(r, region) < 3) continue;
        put(r, "[");
        print_exprs(r, item_of(r, region, 1));
        put(r, "] size(");
        print_exprs(r, item_of(r, region, 2));
        put(r, ")");
    }
    put(r, ")");
}

static void print_kernel(printer *r, op_id o)
{
    block_id body = op_block_at(r->m, o, 0);
    attr_id grid = attr_of(r, o, "grid");
    uint32_t rank = count_of(r, grid);
    if (rank > block_arg_count(r->m, body)) rank = block_arg_count(r->m, body);
    put(r, "block.kernel @");
    put_word(r, o, "name");
    put(r, " core(");
    put_word(r, o, "core");
    put(r, ") grid(");
    bool is_first = true;
    for (uint32_t i = 0; i < rank; i++) {
        print_comma(r, &is_first);
        print_value(r, block_arg(r->m, body, i));
        put(r, ": ");
        print_expr_of(r, item_of(r, grid, i));
    }
    put(r, ")");
    print_regions(r, o, "reads", rank);
    print_regions(r, o, "writes", rank);
    put(r, " ");
    print_params(r, o, rank);
    print_facts(r, o);
    print_dict(r, o, UINT32_MAX);
}

/* Argument `i` of block `b`, `?` when it has none. */
static void print_arg(printer *r, op_id o, uint32_t b, uint32_t i)
{
    if (b >= op_block_count(r->m, o) || i >= block_arg_count(r->m, op_block_at(r->m, o, b))) {
        put(r, "?");
        return;
    }
    print_value(r, block_arg(r->m, op_block_at(r->m, o, b), i));
}

/* `%arg = %init` for each carried value; arguments start after the indices. */
static void print_inits(printer *r, op_id o, const char *word, uint32_t first_arg, attr_id valid)
{
    uint32_t count = op_value_operand_count(r->m, o);
    if (count == 0 && op_kind_of(r->m, o) != OP_WHILE) return;
    bool is_first = true;
    put(r, word);
    for (uint32_t i = 0; i < count; i++) {
        print_comma(r, &is_first);
        print_arg(r, o, 0, first_arg + i);
        put(r, " = ");
        print_value(r, op_operand(r->m, o, i));
        attr_id region = item_of(r, valid, i);
        if (count_of(r, region) == 0) continue;
        put(r, " valid(");
        print_exprs(r, region);
        put(r, ")");
    }
    put(r, ")");
}

static bool is_single_const(const printer *r, attr_id list, int64_t wanted)
{
    attr_id a = item_of(r, list, 0);
    int64_t v;
    return a != 0 && attr_at(r->c, a)->kind == ATTR_EXPR && expr_is_const(r->c, attr_at(r->c, a)->id, &v) &&
           v == wanted;
}

static void print_for(printer *r, op_id o)
{
    attr_id from = attr_of(r, o, "from");
    attr_id step = attr_of(r, o, "step");
    put(r, "for ");
    print_arg(r, o, 0, 0);
    if (op_attr_int(r->m, o, "parallel", 0) != 0) put(r, " parallel");
    if (!is_single_const(r, from, 0)) {
        put(r, " = ");
        print_expr_of(r, item_of(r, from, 0));
    }
    put(r, " to ");
    print_expr_of(r, item_of(r, attr_of(r, o, "to"), 0));
    if (!is_single_const(r, step, 1)) {
        put(r, " step ");
        print_expr_of(r, item_of(r, step, 0));
    }
    print_inits(r, o, " carry(", 1, attr_of(r, o, "valid"));
    print_dict(r, o, UINT32_MAX);
}

static void print_forall(printer *r, op_id o)
{
    attr_id extents = attr_of(r, o, "to");
    attr_id label = attr_of(r, o, "label");
    put(r, "forall ");
    if (label != 0) {
        print_attr(r, NULL, label);
        put(r, " ");
    }
    put(r, "(");
    bool is_first = true;
    for (uint32_t i = 0; i < count_of(r, extents); i++) {
        print_comma(r, &is_first);
        print_arg(r, o, 0, i);
    }
    put(r, ") to (");
    print_exprs(r, extents);
    put(r, ")");
    print_inits(r, o, " out(", count_of(r, extents), 0);
    if (attr_of(r, o, "core") != 0) {
        put(r, " core(");
        put_word(r, o, "core");
        put(r, ")");
    }
    print_dict(r, o, UINT32_MAX);
}

static void print_if(printer *r, op_id o)
{
    put(r, "if ");
    print_expr_of(r, item_of(r, attr_of(r, o, "left"), 0));
    print_relation(r, attr_of(r, o, "relation"));
    print_expr_of(r, item_of(r, attr_of(r, o, "right"), 0));
    print_dict(r, o, UINT32_MAX);
}

static void print_bind(printer *r, op_id o)
{
    put(r, "bind $");
    put_word(r, o, "symbol");
    put(r, " = ");
    print_expr_of(r, item_of(r, attr_of(r, o, "value"), 0));
    put(r, " in [");
    print_expr_of(r, item_of(r, attr_of(r, o, "lo"), 0));
    put(r, ", ");
    print_expr_of(r, item_of(r, attr_of(r, o, "hi"), 0));
    put(r, "]");
    print_dict(r, o, UINT32_MAX);
}

static void print_tune(printer *r, op_id o)
{
    int64_t step = op_attr_int(r->m, o, "step", 1);
    put(r, "tune $");
    put_word(r, o, "symbol");
    text_printf(r->out, " in [%" PRId64 ", %" PRId64 "]", op_attr_int(r->m, o, "lo", 0), op_attr_int(r->m, o, "hi", 0));
    if (step != 1) text_printf(r->out, " step %" PRId64, step);
    print_dict(r, o, UINT32_MAX);
}

void print_control_head(printer *r, op_id o)
{
    switch (op_kind_of(r->m, o)) {
    case OP_FUNC: print_func(r, o); break;
    case OP_BLOCK_KERNEL: print_kernel(r, o); break;
    case OP_FOR: print_for(r, o); break;
    case OP_FORALL: print_forall(r, o); break;
    case OP_IF: print_if(r, o); break;
    case OP_WHILE:
        put(r, "while");
        print_inits(r, o, " carry(", 0, 0);
        print_dict(r, o, UINT32_MAX);
        break;
    case OP_BIND: print_bind(r, o); break;
    case OP_TUNE: print_tune(r, o); break;
    default: BUG_IF(true, "`%s` has no text form of its own", op_info_of(r->m, o)->name);
    }
}

void print_between_blocks(printer *r, op_id o)
{
    if (r->is_generic) {
        put(r, ", ");
        return;
    }
    if (op_kind_of(r->m, o) == OP_IF) put(r, " else");
    if (op_kind_of(r->m, o) != OP_WHILE) return;
    block_id body = op_block_at(r->m, o, 1);
    bool is_first = true;
    put(r, " do (");
    for (uint32_t i = 0; i < block_arg_count(r->m, body); i++) {
        print_comma(r, &is_first);
        print_value(r, block_arg(r->m, body, i));
    }
    put(r, ")");
}
