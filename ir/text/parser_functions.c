/* Functions and kernels: names, parameters, facts, regions. */
#include "ir/text/parser_state.h"

/* `may_alias %parameter ..` after the type of `who`: a pair for each onto p->exprs. */
static status parse_may_alias(parser *p, int64_t who)
{
    while (accept_word(p, "may_alias")) {
        value_id v;
        if (p->tok.kind != TOK_VALUE) return fail_expected(p, "a parameter before it");
        p->poisoned = false;
        TRY(parse_value(p, &v));
        if (p->poisoned) continue;
        const attr_id pair[] = {attr_int(p->c, who), attr_int(p->c, value_index(p->m, v))};
        push_id(&p->exprs, attr_list(p->c, 2, pair));
    }
    return OK;
}

/* Reads `mode %name: type, ...` after `(`, makes block arguments and adds the attribute `params` when a mode is not
 * `in`; of a function, not of a kernel, pairs that may overlap go onto p->exprs. */
static status parse_params(parser *p, block_id body, bool is_function)
{
    static const char *const modes[] = {"in", "out", "inout", "const"};
    token open = p->tok;
    TRY(expect(p, '(', "`(`"));
    size_t from = p->attrs.count;
    bool all_in = true;
    status bad = OK;
    while (p->tok.kind != ')') {
        uint32_t mode = 0;
        name_ref ref;
        type_id type;
        if (p->tok.kind == TOK_WORD) {
            while (mode < 4 && !at_word(p, modes[mode])) mode++;
            if (mode == 4) return fail_expected(p, "a parameter, or one of in out inout const before it");
            next(p);
        }
        if (p->tok.kind != TOK_VALUE) return fail_expected(p, "a parameter");
        TRY(parse_value_name(p, &ref));
        TRY(expect(p, ':', "`:` and a type"));
        TRY(parse_type(p, &type));
        all_in = all_in && mode == 0;
        push_id(&p->attrs, attr_string(p->c, string_intern_z(p->c, modes[mode])));
        if (is_function) TRY(parse_may_alias(p, block_arg_count(p->m, body)));
        define_block_arg(p, body, &ref, type, &bad);
        if (!accept(p, ',')) break;
    }
    TRY(expect_close(p, ')', &open));
    attr_id list = attr_list(p->c, (uint32_t)(p->attrs.count - from), p->attrs.items + from);
    p->attrs.count = from;
    if (!all_in) push_attr(p, "params", list);
    return bad;
}

static status parse_one_fact(parser *p, attr_id *out)
{
    attr_id items[3];
    expr_id left, right;
    TRY(parse_expr(p, &left));
    TRY(parse_relation(p, &items[0]));
    TRY(parse_expr(p, &right));
    items[1] = attr_expr(p->c, left);
    items[2] = attr_expr(p->c, right);
    *out = attr_list(p->c, 3, items);
    return OK;
}

/* `where (expr rel expr, ...)`, as the attribute `facts`. */
static status parse_facts(parser *p)
{
    if (!accept_word(p, "where")) return OK;
    token open = p->tok;
    TRY(expect(p, '(', "`(`"));
    p->no_values = true;
    size_t from = p->attrs.count;
    do {
        attr_id fact;
        TRY(parse_one_fact(p, &fact));
        push_id(&p->attrs, fact);
    } while (accept(p, ','));
    p->no_values = false;
    attr_id list = attr_list(p->c, (uint32_t)(p->attrs.count - from), p->attrs.items + from);
    p->attrs.count = from;
    push_attr(p, "facts", list);
    return expect_close(p, ')', &open);
}

/* `type aliases %parameter` of result `number`: the type onto p->types, the number of the parameter, or -1, onto
 * p->attrs. */
static status parse_result(parser *p, int64_t number, bool *has_alias)
{
    int64_t alias = -1;
    type_id type;
    TRY(parse_type(p, &type));
    push_id(&p->types, type);
    if (accept_word(p, "aliases")) {
        value_id v;
        if (p->tok.kind != TOK_VALUE) return fail_expected(p, "a parameter");
        p->poisoned = false;
        TRY(parse_value(p, &v));
        if (!p->poisoned) alias = value_index(p->m, v);
        *has_alias = true;
    }
    push_id(&p->attrs, attr_int(p->c, alias));
    return parse_may_alias(p, -1 - number);
}

/* `-> result` or `-> (result, ..)`, as the attributes `results` and `aliases`. */
static status parse_results(parser *p)
{
    if (!accept(p, TOK_ARROW)) return OK;
    const size_t from = p->types.count, attrs = p->attrs.count;
    bool has_alias = false;
    token open = p->tok;
    if (accept(p, '(')) {
        if (p->tok.kind != ')') {
            do {
                TRY(parse_result(p, (int64_t)(p->types.count - from), &has_alias));
            } while (accept(p, ','));
        }
        TRY(expect_close(p, ')', &open));
    } else
        TRY(parse_result(p, 0, &has_alias));
    const uint32_t count = (uint32_t)(p->types.count - from);
    const attr_id aliases = attr_list(p->c, count, p->attrs.items + attrs);
    for (uint32_t i = 0; i < count; i++) p->attrs.items[attrs + i] = attr_type(p->c, p->types.items[from + i]);
    const attr_id results = attr_list(p->c, count, p->attrs.items + attrs);
    p->attrs.count = attrs;
    p->types.count = from;
    if (count != 0) push_attr(p, "results", results);
    if (has_alias) push_attr(p, "aliases", aliases);
    return OK;
}

static status parse_function_dict(parser *p, op_kind kind, size_t from)
{
    if (p->tok.kind != '{' || !at_dict(p)) return OK;
    const op_info *info = op_info_at(p->ops, kind);
    return parse_dict(p, info, function_clause_attrs(info), from);
}

static op_id create_function(parser *p, op_kind kind, const token *at, str_id name)
{
    op_id f = op_create(p->m, (op_place){.block = module_top(p->m)},
                        &(op_spec){.kind = kind, .loc = loc_of(p, at), .block_count = 1});
    function_set_name(p->m, f, name);
    names_reset(p);
    return f;
}

static status open_function(parser *p, op_kind kind, op_id f, const token *at, size_t keys)
{
    token brace = p->tok;
    op_set_attrs(p->m, f, pop_attrs(p, keys));
    TRY(expect(p, '{', "`{`"));
    TRY(push_frame(p, &(frame){.op = f,
                               .kind = kind,
                               .block = function_body(p->m, f),
                               .names = p->results.count,
                               .line = brace.line,
                               .column = brace.column,
                               .op_line = at->line,
                               .op_column = at->column}));
    return OK;
}

status parse_func(parser *p)
{
    token at = p->tok;
    size_t keys = p->keys.count, pairs = p->exprs.count;
    str_id name;
    next(p);
    if (accept_word(p, "private")) push_attr(p, "visibility", attr_string(p->c, string_intern_z(p->c, "private")));
    TRY(parse_symbol_name(p, &name));
    push_attr(p, "name", attr_string(p->c, name));
    op_id f = create_function(p, OP_FUNC, &at, name);
    TRY(parse_params(p, function_body(p->m, f), true));
    TRY(parse_results(p));
    const uint32_t pair_count = (uint32_t)(p->exprs.count - pairs);
    if (pair_count != 0) push_attr(p, "may_alias", attr_list(p->c, pair_count, p->exprs.items + pairs));
    p->exprs.count = pairs;
    TRY(parse_facts(p));
    TRY(parse_function_dict(p, OP_FUNC, keys));
    return open_function(p, OP_FUNC, f, &at, keys);
}

/* `grid(%i: extent, ...)` */
static status parse_grid(parser *p, block_id body)
{
    TRY(expect_word(p, "grid"));
    token open = p->tok;
    TRY(expect(p, '(', "`(`"));
    size_t from = p->exprs.count;
    status bad = OK;
    while (p->tok.kind != ')') {
        name_ref ref;
        expr_id extent;
        if (p->tok.kind != TOK_VALUE) return fail_expected(p, "a grid index");
        TRY(parse_value_name(p, &ref));
        TRY(expect(p, ':', "`:` and an extent"));
        p->no_values = true;
        TRY(parse_expr(p, &extent));
        p->no_values = false;
        push_id(&p->exprs, attr_expr(p->c, extent));
        define_block_arg(p, body, &ref, p->index_type, &bad);
        if (!accept(p, ',')) break;
    }
    push_attr(p, "grid", attr_list(p->c, (uint32_t)(p->exprs.count - from), p->exprs.items + from));
    p->exprs.count = from;
    TRY(expect_close(p, ')', &open));
    return bad;
}

/* Grid indices as slots of the kernel's own expressions. */
typedef struct grid_slots {
    parser *p;
    block_id body;
} grid_slots;

static expr_id slot_of_index(void *self, uint32_t value)
{
    const grid_slots *g = self;
    return expr_slot(g->p->c, value_index(g->p->m, value));
}

static attr_id with_slots(parser *p, block_id body, attr_id list)
{
    grid_slots g = {.p = p, .body = body};
    expr_substitution s = {.value = slot_of_index, .self = &g};
    size_t from = p->exprs.count;
    uint32_t count = attr_at(p->c, list)->count;
    for (uint32_t i = 0; i < count; i++) {
        push_id(&p->exprs,
                attr_expr(p->c, expr_substitute(p->c, attr_at(p->c, attr_at(p->c, list)->items[i])->id, &s)));
    }
    attr_id out = attr_list(p->c, count, p->exprs.items + from);
    p->exprs.count = from;
    return out;
}

/* `reads(%a[..] size(..), %b)`: the parameters come later, so their names go onto p->refs and the boxes (offsets and
 * sizes, or 0 and 0 for all of it) onto p->exprs. */
static status parse_regions(parser *p, block_id body, const char *word, bool *is_given)
{
    *is_given = accept_word(p, word);
    if (!*is_given) return OK;
    token open = p->tok;
    TRY(expect(p, '(', "`(`"));
    while (p->tok.kind != ')') {
        token t = p->tok;
        name_ref ref;
        attr_id offsets = 0, sizes = 0;
        TRY(parse_value_name(p, &ref));
        if (p->tok.kind == '[') {
            token bracket = p->tok;
            next(p);
            TRY(parse_expr_list(p, &bracket, ']', &offsets));
            TRY(expect_word(p, "size"));
            bracket = p->tok;
            TRY(expect(p, '(', "`(`"));
            TRY(parse_expr_list(p, &bracket, ')', &sizes));
            offsets = with_slots(p, body, offsets);
            sizes = with_slots(p, body, sizes);
        }
        push_name(&p->refs, &t, ref.name);
        push_id(&p->exprs, offsets);
        push_id(&p->exprs, sizes);
        if (!accept(p, ',')) break;
    }
    return expect_close(p, ')', &open);
}

/* Turns what parse_regions left into a list of [parameter number, offsets, sizes]. */
static status resolve_regions(parser *p, block_id body, uint32_t grid_rank, const char *key, size_t refs, size_t exprs,
                              size_t count)
{
    size_t from = p->attrs.count;
    for (size_t i = 0; i < count; i++) {
        value_id v;
        const name_ref *ref = &p->refs.items[refs + i];
        TRY(names_find(p, ref, &v));
        if (value_block(p->m, v) != body || value_index(p->m, v) < grid_rank) {
            FAIL(p, pos_at(p, ref->line, ref->column), E0105, "a region names a parameter; this is a grid index");
        }
        attr_id items[3] = {attr_int(p->c, (int64_t)(value_index(p->m, v) - grid_rank)), p->exprs.items[exprs + 2 * i],
                            p->exprs.items[exprs + 2 * i + 1]};
        push_id(&p->attrs, attr_list(p->c, items[1] == 0 ? 1 : 3, items));
    }
    attr_id list = attr_list(p->c, (uint32_t)count, p->attrs.items + from);
    p->attrs.count = from;
    push_attr(p, key, list);
    return OK;
}

status parse_core(parser *p, const op_info *info)
{
    token open = p->tok;
    TRY(expect(p, '(', "`(`"));
    const attr_spec *spec = op_attr_spec(info, STR("core"));
    token at = p->tok;
    attr_id core;
    if (at.kind != TOK_WORD) return fail_expected(p, "a core kind");
    TRY(parse_attr(p, spec, &core));
    TRY(fit_attr(p, info, spec, pos_of(p, &at), &core));
    push_attr(p, "core", core);
    return expect_close(p, ')', &open);
}

status parse_kernel(parser *p)
{
    token at = p->tok;
    size_t keys = p->keys.count, refs = p->refs.count, exprs = p->exprs.count;
    str_id name;
    next(p);
    TRY(parse_symbol_name(p, &name));
    push_attr(p, "name", attr_string(p->c, name));
    op_id f = create_function(p, OP_BLOCK_KERNEL, &at, name);
    block_id body = function_body(p->m, f);
    TRY(expect_word(p, "core"));
    TRY(parse_core(p, op_info_at(p->ops, OP_BLOCK_KERNEL)));
    TRY(parse_grid(p, body));
    uint32_t grid_rank = block_arg_count(p->m, body);
    bool has_reads, has_writes;
    TRY(parse_regions(p, body, "reads", &has_reads));
    size_t read_count = p->refs.count - refs;
    TRY(parse_regions(p, body, "writes", &has_writes));
    size_t write_count = p->refs.count - refs - read_count;
    TRY(parse_params(p, body, false));
    if (has_reads) TRY(resolve_regions(p, body, grid_rank, "reads", refs, exprs, read_count));
    if (has_writes) {
        TRY(resolve_regions(p, body, grid_rank, "writes", refs + read_count, exprs + 2 * read_count, write_count));
    }
    p->refs.count = refs;
    p->exprs.count = exprs;
    TRY(parse_facts(p));
    TRY(parse_function_dict(p, OP_BLOCK_KERNEL, keys));
    return open_function(p, OP_BLOCK_KERNEL, f, &at, keys);
}
