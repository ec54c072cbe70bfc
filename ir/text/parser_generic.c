/* MLIR's generic form: `%r = "pto_tensor.add"(%a, %b) ({ blocks }) {attributes} : (types) -> types`. */
#include "ir/text/parser_state.h"

/* `()` or `(types)` or one type, onto p->types. */
static status parse_type_group(parser *p)
{
    token open = p->tok;
    if (!accept(p, '(')) {
        type_id t;
        TRY(parse_type(p, &t));
        push_id(&p->types, t);
        return OK;
    }
    if (p->tok.kind != ')') TRY(parse_types(p));
    return expect_close(p, ')', &open);
}

/* `: (operand types) -> result types`; result types go onto p->types. */
static status parse_signature(parser *p, size_t operands, size_t result_count, src_pos at)
{
    TRY(expect(p, ':', "`:` and the types of operands and results"));
    token open = p->tok;
    size_t from = p->types.count;
    TRY(parse_type_group(p));
    size_t count = p->operands.count - operands;
    if (p->types.count - from != count) {
        FAIL(p, pos_of(p, &open), E0206, "%zu operands but %zu types for them", count, p->types.count - from);
    }
    for (size_t i = 0; i < count; i++) {
        value_id v = p->operands.items[operands + i];
        if (v == POISON_VALUE || value_type(p->m, v) == p->types.items[from + i]) continue;
        if (!may_report(p)) return FAILED;
        text_buffer t;
        text_init(&t);
        type_print(p->c, value_type(p->m, v), &t);
        diag_error(p->diags, pos_of(p, &open), &E0206, "operand %zu is written with another type than its own, %s", i,
                   t.p);
        text_fini(&t);
        return FAILED;
    }
    p->types.count = from;
    TRY(expect(p, TOK_ARROW, "`->`"));
    TRY(parse_type_group(p));
    if (p->types.count - from != result_count) {
        FAIL(p, at, E0113, "%zu results are named but %zu result types given", result_count, p->types.count - from);
    }
    return OK;
}

static status parse_operands(parser *p, size_t from)
{
    token open = p->tok;
    TRY(expect(p, '(', "`(` and the operands"));
    while (p->tok.kind != ')') {
        value_id v;
        if (p->operands.count - from >= MAX_COUNT) FAIL_HERE(p, E0114, "more than %d operands", MAX_COUNT);
        TRY(parse_value(p, &v));
        push_id(&p->operands, v);
        if (!accept(p, ',')) break;
    }
    return expect_close(p, ')', &open);
}

/* `^bb0(%a: type, ...):` */
static status parse_block_label(parser *p, block_id b)
{
    if (!accept(p, '^')) return OK;
    if (p->tok.kind != TOK_WORD) return fail_expected(p, "the name of a block");
    next(p);
    token open = p->tok;
    status bad = OK;
    if (accept(p, '(')) {
        while (p->tok.kind != ')') {
            name_ref ref;
            type_id type;
            loc_id unused = 0;
            TRY(parse_value_name(p, &ref));
            TRY(expect(p, ':', "`:` and a type"));
            TRY(parse_type(p, &type));
            if (at_word(p, "loc")) TRY(parse_loc(p, &unused));
            define_block_arg(p, b, &ref, type, &bad);
            if (!accept(p, ',')) break;
        }
        TRY(expect_close(p, ')', &open));
    }
    TRY(expect(p, ':', "`:`"));
    return bad;
}

static status open_region(parser *p, const frame *f)
{
    frame opened = *f;
    opened.line = p->tok.line;
    opened.column = p->tok.column;
    TRY(expect(p, '{', "`{`"));
    TRY(push_frame(p, &opened));
    status bad = parse_block_label(p, opened.block);
    if (bad == OK) return OK;
    p->depth--;
    names_leave(p, opened.scope);
    return FAILED;
}

/* Functions and bound symbols have their names in strings here; in our own form they are tokens. */
static status check_name(parser *p, op_kind kind, size_t keys, src_pos at)
{
    bool is_bind = kind == OP_BIND || kind == OP_TUNE;
    if (!is_bind && (op_info_at(p->ops, kind)->traits & TRAIT_FUNCTION) == 0) return OK;
    str_id key = string_intern_z(p->c, is_bind ? "symbol" : "name");
    size_t count = p->keys.count - keys;
    for (size_t i = 0; i < count; i++) {
        if (p->keys.items[keys + i] != key) continue;
        str name = string_of(p->c, attr_at(p->c, p->attrs.items[p->attrs.count - count + i])->id);
        if (lexer_is_name(name, !is_bind)) continue;
        FAIL(p, at, E0105, "\"%.*s\" is not a name: letters, digits and `_`%s, not starting with a digit",
             (int)(name.n > 40 ? 40 : name.n), name.p, is_bind ? "" : " and `.`");
    }
    return OK;
}

/* Everything after the operands and regions: attributes, types, location. */
static status parse_end(parser *p, op_kind kind, size_t operands, size_t result_count, src_pos at, attr_id *attrs,
                        loc_id *loc)
{
    const op_info *info = op_info_at(p->ops, kind);
    size_t keys = p->keys.count;
    p->slot_base = operands;
    p->keep_slots = (info->traits & TRAIT_FUNCTION) != 0;
    if (p->tok.kind == '{') TRY(parse_dict(p, info, 0, keys));
    TRY(check_required(p, info, keys, at));
    TRY(check_name(p, kind, keys, at));
    *attrs = pop_attrs(p, keys);
    TRY(parse_signature(p, operands, result_count, at));
    if (at_word(p, "loc")) TRY(parse_loc(p, loc));
    return OK;
}

static block_id block_around(const parser *p)
{
    return p->depth == 0 ? module_top(p->m) : p->frames[p->depth - 1].block;
}

/* An op with regions; they come before its attributes and types, so it is created without. */
static status open_generic(parser *p, const frame *f)
{
    const op_info *info = op_info_at(p->ops, f->kind);
    if (p->poisoned) return FAILED;
    TRY(expect(p, '(', "`(`"));
    size_t types = p->types.count;
    for (size_t i = 0; i < f->name_count; i++) push_id(&p->types, p->index_type);
    frame opened = *f;
    opened.op = op_create(p->m, (op_place){.block = block_around(p)},
                          &(op_spec){.kind = f->kind,
                                     .loc = loc_make(p->c, p->file_id, f->op_line, f->op_column),
                                     .result_count = (uint32_t)f->name_count,
                                     .result_types = p->types.items + types,
                                     .block_count = info->blocks == BLOCKS_ANY ? 1 : info->blocks});
    p->types.count = types;
    p->needs_settle = true;
    opened.block = op_block_at(p->m, opened.op, 0);
    if ((info->traits & TRAIT_FUNCTION) != 0) names_reset(p);
    return open_region(p, &opened);
}

static status parse_generic_name(parser *p, op_kind *out)
{
    *out = op_kind_by_generic_name(p->ops, text_of(&p->tok));
    if (*out != OP_NONE) {
        bool is_function = (op_info_at(p->ops, *out)->traits & TRAIT_FUNCTION) != 0;
        if (is_function == (p->depth == 0)) {
            next(p);
            return OK;
        }
        FAIL_HERE(p, E0105, is_function ? "%s cannot be inside of a function" : "%s must be inside of a function",
                  shown(p, &p->tok));
    }
    str name = text_of(&p->tok);
    const char *near = NULL, *excuse = NULL;
    if (str_starts_with(name, "pto_")) {
        size_t skip = str_starts_with(name, "pto_core.") ? 9 : 4;
        name = (str){name.p + skip, name.n - skip};
        near = op_nearest_name(p->ops, name);
        excuse = op_table_excuse(p->ops, name);
    }
    if (near == NULL && excuse != NULL) FAIL_HERE(p, E0109, "unknown op %s; %s", shown(p, &p->tok), excuse);
    if (near == NULL) {
        FAIL_HERE(p, E0109,
                  "unknown op %s; generic names begin with pto_core. pto_tensor. pto_tile. pto_block. pto_pto. "
                  "or pto_exec.",
                  shown(p, &p->tok));
    }
    text_buffer full;
    text_init(&full);
    op_print_generic_name(near, &full);
    if (may_report(p)) {
        diag_error(p->diags, pos_of(p, &p->tok), &E0109, "unknown op %s; did you mean \"%s\"?", shown(p, &p->tok),
                   full.p);
    }
    text_fini(&full);
    return FAILED;
}

status parse_generic(parser *p, size_t names, size_t name_count)
{
    p->is_generic = true;
    token at = p->tok;
    frame f = {.is_generic = true,
               .names = names,
               .name_count = name_count,
               .generic_operands = p->operands.count,
               .op_line = at.line,
               .op_column = at.column};
    TRY(parse_generic_name(p, &f.kind));
    const op_info *info = op_info_at(p->ops, f.kind);
    TRY(parse_operands(p, f.generic_operands));
    if (info->blocks != 0) return open_generic(p, &f);
    size_t types = p->types.count;
    attr_id attrs;
    loc_id loc = loc_of(p, &at);
    TRY(parse_end(p, f.kind, f.generic_operands, name_count, pos_of(p, &at), &attrs, &loc));
    op_id o = 0;
    if (!p->poisoned) {
        o = op_create(p->m, (op_place){.block = block_around(p)},
                      &(op_spec){.kind = f.kind,
                                 .loc = loc,
                                 .operand_count = (uint32_t)(p->operands.count - f.generic_operands),
                                 .operands = p->operands.items + f.generic_operands,
                                 .result_count = (uint32_t)name_count,
                                 .result_types = p->types.items + types,
                                 .attrs = attrs});
    }
    p->types.count = types;
    p->operands.count = f.generic_operands;
    return define_results(p, o, names, name_count);
}

static status end_generic(parser *p, frame *f)
{
    attr_id attrs;
    size_t types = p->types.count;
    loc_id loc = op_loc(p->m, f->op);
    src_pos at = pos_at(p, f->op_line, f->op_column);
    TRY(expect(p, ')', "`)` after the last region"));
    TRY(parse_end(p, f->kind, f->generic_operands, f->name_count, at, &attrs, &loc));
    for (size_t i = 0; i < f->name_count; i++) {
        value_set_type(p->m, op_result(p->m, f->op, (uint32_t)i), p->types.items[types + i]);
    }
    p->types.count = types;
    op_set_operands(p->m, f->op, (uint32_t)(p->operands.count - f->generic_operands),
                    p->operands.items + f->generic_operands, attrs);
    p->operands.count = f->generic_operands;
    op_set_loc(p->m, f->op, loc);
    if ((op_info_at(p->ops, f->kind)->traits & TRAIT_FUNCTION) == 0) return OK;
    str name = op_attr_str(p->m, f->op, "name");
    function_set_name(p->m, f->op, string_intern(p->c, name));
    return OK;
}

status finish_generic(parser *p, frame *f)
{
    if (!accept(p, ',')) return end_generic(p, f);
    const op_info *info = op_info_at(p->ops, f->kind);
    uint32_t limit = info->blocks == BLOCKS_ANY ? 2 : info->blocks;
    if (f->block_index + 1U >= limit) {
        FAIL_HERE(p, E0105, "`%s` has at most %u region%s", info->name, limit, limit == 1 ? "" : "s");
    }
    if (op_block_count(p->m, f->op) < 2) f->op = add_second_block(p, f->op);
    frame second = *f;
    second.block_index = (uint8_t)(f->block_index + 1);
    second.block = op_block_at(p->m, f->op, second.block_index);
    return open_region(p, &second);
}
