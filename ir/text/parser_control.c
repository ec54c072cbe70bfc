/* Control ops: for, forall, if, while, bind, tune. */
#include "ir/text/parser_state.h"

typedef struct control {
    op_kind kind;
    token name;
    size_t names, name_count;
    size_t operands, keys, refs; /* where this op's begin; refs are the names of its block arguments */
} control;

static void define_args(parser *p, const control *c, block_id b, status *bad);

static status parse_single_expr(parser *p, const char *key)
{
    expr_id e;
    TRY(parse_expr(p, &e));
    push_attr(p, key, list_of_one(p, e));
    return OK;
}

static status push_ref(parser *p)
{
    token t = p->tok;
    name_ref ref;
    TRY(parse_value_name(p, &ref));
    push_name(&p->refs, &t, ref.name);
    return OK;
}

/* `%a = %init` of carry and out lists. */
static status parse_init(parser *p, const control *c)
{
    value_id v;
    TRY(push_ref(p));
    TRY(expect(p, '=', "`=` and the first value"));
    if (p->operands.count - c->operands >= MAX_COUNT) FAIL_HERE(p, E0114, "more than %d carried values", MAX_COUNT);
    TRY(parse_value(p, &v));
    push_id(&p->operands, v);
    return OK;
}

static status parse_inits(parser *p, const control *c)
{
    token open = p->tok;
    TRY(expect(p, '(', "`(`"));
    while (p->tok.kind != ')') {
        TRY(parse_init(p, c));
        if (!accept(p, ',')) break;
    }
    return expect_close(p, ')', &open);
}

/* Each carried value has as many results as it has names. */
static status check_carried(parser *p, const control *c)
{
    size_t carried = p->operands.count - c->operands;
    if (carried == c->name_count || (c->kind == OP_WHILE && p->poisoned)) return OK;
    FAIL(p, pos_of(p, &c->name), E0113, "%zu result%s named but %zu value%s carried; `%s` has a result for each",
         c->name_count, c->name_count == 1 ? " is" : "s are", carried, carried == 1 ? " is" : "s are",
         op_info_at(p->ops, c->kind)->name);
}

/* Creates the op; results get the types of the operands until the text states them. */
static status create_control(parser *p, const control *c, uint32_t blocks, op_id *out)
{
    if (p->poisoned) return FAILED;
    size_t types = p->types.count;
    size_t operands = p->operands.count - c->operands;
    for (size_t i = 0; i < c->name_count; i++) {
        push_id(&p->types, i < operands ? value_type(p->m, p->operands.items[c->operands + i]) : p->index_type);
    }
    *out = op_create(p->m, (op_place){.block = p->frames[p->depth - 1].block},
                     &(op_spec){.kind = c->kind,
                                .loc = loc_of(p, &c->name),
                                .operand_count = (uint32_t)operands,
                                .operands = p->operands.items + c->operands,
                                .result_count = (uint32_t)c->name_count,
                                .result_types = p->types.items + types,
                                .attrs = pop_attrs(p, c->keys),
                                .block_count = blocks});
    p->types.count = types;
    return OK;
}

static status open_block(parser *p, const control *c, op_id o)
{
    token brace = p->tok;
    TRY(expect(p, '{', "`{`"));
    frame f = {.op = o,
               .kind = c->kind,
               .block = op_block_at(p->m, o, 0),
               .names = c->names,
               .name_count = c->name_count,
               .line = brace.line,
               .column = brace.column,
               .op_line = c->name.line,
               .op_column = c->name.column};
    TRY(push_frame(p, &f));
    status bad = OK;
    define_args(p, c, f.block, &bad);
    p->operands.count = c->operands;
    p->refs.count = c->refs;
    /* The block is open: what is wrong with a name of an argument does not stop the reading of the body. */
    return p->stop ? FAILED : OK;
}

/* Index arguments first, then one for each carried value. */
static void define_args(parser *p, const control *c, block_id b, status *bad)
{
    size_t carried = p->operands.count - c->operands;
    size_t all = p->refs.count - c->refs;
    for (size_t i = 0; i < all; i++) {
        type_id type =
            i < all - carried ? p->index_type : value_type(p->m, p->operands.items[c->operands + i - (all - carried)]);
        define_block_arg(p, b, &p->refs.items[c->refs + i], type, bad);
    }
}

static status parse_control_dict(parser *p, const control *c)
{
    if (p->tok.kind != '{' || !at_dict(p)) return OK;
    const op_info *info = op_info_at(p->ops, c->kind);
    uint32_t own = 0;
    for (uint32_t i = 0; i < sizeof info->attrs / sizeof info->attrs[0] && info->attrs[i].name != NULL; i++)
        own |= 1U << i;
    return parse_dict(p, info, own, c->keys);
}

/* After the clauses: attributes, the op, and its first block. */
static status begin_control(parser *p, const control *c, uint32_t blocks)
{
    op_id o;
    TRY(parse_control_dict(p, c));
    TRY(create_control(p, c, blocks, &o));
    return open_block(p, c, o);
}

/* `valid(rows, columns)` of a carried tile, or an empty list. */
static status parse_carried_valid(parser *p, attr_id *out, bool *is_given)
{
    *out = attr_list(p->c, 0, NULL);
    if (!accept_word(p, "valid")) return OK;
    *is_given = true;
    token open = p->tok;
    TRY(expect(p, '(', "`(`"));
    return parse_expr_list(p, &open, ')', out);
}

static status parse_carry(parser *p, const control *c)
{
    if (!accept_word(p, "carry")) return OK;
    token open = p->tok;
    TRY(expect(p, '(', "`(`"));
    size_t from = p->exprs.count;
    bool any_valid = false;
    while (p->tok.kind != ')') {
        attr_id valid;
        TRY(parse_init(p, c));
        TRY(parse_carried_valid(p, &valid, &any_valid));
        push_id(&p->exprs, valid);
        if (!accept(p, ',')) break;
    }
    TRY(expect_close(p, ')', &open));
    if (any_valid) push_attr(p, "valid", attr_list(p->c, (uint32_t)(p->exprs.count - from), p->exprs.items + from));
    p->exprs.count = from;
    return OK;
}

static status parse_for(parser *p, const control *c)
{
    if (p->tok.kind != TOK_VALUE) return fail_expected(p, "the index of the loop");
    TRY(push_ref(p));
    if (accept_word(p, "parallel")) push_attr(p, "parallel", attr_bool(p->c, true));
    if (accept(p, '=')) {
        TRY(parse_single_expr(p, "from"));
    } else {
        push_attr(p, "from", list_of_one(p, expr_const(p->c, 0)));
    }
    TRY(expect_word(p, "to"));
    TRY(parse_single_expr(p, "to"));
    if (accept_word(p, "step")) {
        TRY(parse_single_expr(p, "step"));
    } else {
        push_attr(p, "step", list_of_one(p, expr_const(p->c, 1)));
    }
    TRY(parse_carry(p, c));
    TRY(check_carried(p, c));
    return begin_control(p, c, 1);
}

static status parse_forall_indices(parser *p)
{
    token open = p->tok;
    TRY(expect(p, '(', "`(`"));
    while (p->tok.kind != ')') {
        if (p->tok.kind != TOK_VALUE) return fail_expected(p, "an index");
        TRY(push_ref(p));
        if (!accept(p, ',')) break;
    }
    return expect_close(p, ')', &open);
}

static status parse_forall(parser *p, const control *c)
{
    if (p->tok.kind == TOK_STRING) {
        str_id label;
        TRY(parse_string(p, &label));
        push_attr(p, "label", attr_string(p->c, label));
    }
    TRY(parse_forall_indices(p));
    TRY(expect_word(p, "to"));
    token open = p->tok;
    attr_id extents;
    TRY(expect(p, '(', "`(`"));
    TRY(parse_expr_list(p, &open, ')', &extents));
    size_t index_count = p->refs.count - c->refs;
    if (attr_at(p->c, extents)->count != index_count) {
        FAIL(p, pos_of(p, &open), E0105, "the number of extents is %u but there %s %zu ind%s",
             attr_at(p->c, extents)->count, index_count == 1 ? "is" : "are", index_count,
             index_count == 1 ? "ex" : "ices");
    }
    push_attr(p, "to", extents);
    if (accept_word(p, "out")) TRY(parse_inits(p, c));
    if (accept_word(p, "core")) TRY(parse_core(p, op_info_at(p->ops, c->kind)));
    TRY(check_carried(p, c));
    return begin_control(p, c, 1);
}

static status parse_if(parser *p, const control *c)
{
    attr_id relation;
    TRY(parse_single_expr(p, "left"));
    TRY(parse_relation(p, &relation));
    push_attr(p, "relation", relation);
    TRY(parse_single_expr(p, "right"));
    return begin_control(p, c, 1);
}

static status parse_while(parser *p, const control *c)
{
    TRY(expect_word(p, "carry"));
    TRY(parse_inits(p, c));
    TRY(check_carried(p, c));
    return begin_control(p, c, 2);
}

/* The symbol of a `bind` or `tune`. */
static status parse_symbol(parser *p, const control *c)
{
    if (c->name_count != 0)
        FAIL(p, pos_of(p, &c->name), E0113, "`%s` has no results; it names a symbol ($x)",
             op_info_at(p->ops, c->kind)->name);
    token symbol = p->tok;
    if (symbol.kind != TOK_SYMBOL) return fail_expected(p, "`$` and a name");
    push_attr(p, "symbol", attr_string(p->c, intern_text(p, text_of(&symbol))));
    next(p);
    return OK;
}

static status finish_symbol(parser *p, const control *c)
{
    TRY(parse_control_dict(p, c));
    loc_id loc = loc_of(p, &c->name);
    TRY(parse_tail(p, 0, pos_of(p, &c->name), &loc));
    op_id o;
    TRY(create_control(p, c, 0, &o));
    op_set_loc(p->m, o, loc);
    return OK;
}

/* `bind $n = expr in [lo, hi]` */
static status parse_bind(parser *p, const control *c)
{
    TRY(parse_symbol(p, c));
    TRY(expect(p, '=', "`=`"));
    TRY(parse_single_expr(p, "value"));
    TRY(expect_word(p, "in"));
    token open = p->tok;
    TRY(expect(p, '[', "`[`"));
    TRY(parse_single_expr(p, "lo"));
    TRY(expect(p, ',', "`,`"));
    TRY(parse_single_expr(p, "hi"));
    TRY(expect_close(p, ']', &open));
    return finish_symbol(p, c);
}

static status parse_bound(parser *p, const char *key)
{
    int64_t v;
    TRY(parse_int(p, accept(p, '-'), &v));
    push_attr(p, key, attr_int(p->c, v));
    return OK;
}

/* `tune $n in [lo, hi] step s` */
static status parse_tune(parser *p, const control *c)
{
    TRY(parse_symbol(p, c));
    TRY(expect_word(p, "in"));
    token open = p->tok;
    TRY(expect(p, '[', "`[`"));
    TRY(parse_bound(p, "lo"));
    TRY(expect(p, ',', "`,`"));
    TRY(parse_bound(p, "hi"));
    TRY(expect_close(p, ']', &open));
    if (accept_word(p, "step")) TRY(parse_bound(p, "step"));
    return finish_symbol(p, c);
}

status parse_control(parser *p, op_kind kind, size_t names, size_t name_count)
{
    control c = {.kind = kind,
                 .name = p->tok,
                 .names = names,
                 .name_count = name_count,
                 .operands = p->operands.count,
                 .keys = p->keys.count,
                 .refs = p->refs.count};
    next(p);
    switch (kind) {
    case OP_FOR: return parse_for(p, &c);
    case OP_FORALL: return parse_forall(p, &c);
    case OP_IF: return parse_if(p, &c);
    case OP_WHILE: return parse_while(p, &c);
    case OP_BIND: return parse_bind(p, &c);
    case OP_TUNE: return parse_tune(p, &c);
    default: BUG_IF(true, "op kind %u has no text form of its own", kind);
    }
}

/* Opens the second block of an op whose first has just ended. */
static status open_second(parser *p, const frame *f)
{
    token brace = p->tok;
    TRY(expect(p, '{', "`{`"));
    frame second = *f;
    second.block_index = 1;
    second.block = op_block_at(p->m, f->op, 1);
    second.line = brace.line;
    second.column = brace.column;
    return push_frame(p, &second);
}

/* `do (%b, ...) {` */
static status open_do(parser *p, const frame *f)
{
    TRY(expect_word(p, "do"));
    control c = {.refs = p->refs.count};
    TRY(parse_forall_indices(p));
    uint32_t count = (uint32_t)(p->refs.count - c.refs);
    uint32_t carried = op_operand_count(p->m, f->op);
    if (count != carried) {
        FAIL_HERE(p, E0105, "`do` names %u value%s but `while` carries %u", count, count == 1 ? "" : "s", carried);
    }
    TRY(open_second(p, f));
    status bad = OK;
    for (uint32_t i = 0; i < count; i++) {
        define_block_arg(p, op_block_at(p->m, f->op, 1), &p->refs.items[c.refs + i],
                         value_type(p->m, op_operand(p->m, f->op, i)), &bad);
    }
    p->refs.count = c.refs;
    return p->stop ? FAILED : OK;
}

status finish_control(parser *p, frame *f)
{
    if (f->kind == OP_WHILE && f->block_index == 0) return open_do(p, f);
    if (f->kind == OP_IF && f->block_index == 0 && accept_word(p, "else")) {
        f->op = add_second_block(p, f->op);
        return open_second(p, f);
    }
    return parse_tail_of_block(p, f);
}
