#include "ir/text/printer.h"

#include "ir/module_impl.h"
#include "ir/text/printer_state.h"

#include <string.h>

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

void print_value(printer *r, value_id v)
{
    const value_record *value = value_at(r->m, v);
    value_name n = {value->name_base, value->name_number};
    if (n.base == 0) {
        if (n.number == VALUE_NO_NUMBER) {
            value_print_name(r->m, v, r->out);
            return;
        }
        text_putc(r->out, '%');
    } else {
        str base = string_of(r->c, n.base);
        /* MLIR knows `%12` and `%a2`, but no `%2a`. */
        if (r->is_generic && is_digit(base.p[0])) {
            text_put(r->out, "%_.", 3);
        } else {
            text_putc(r->out, '%');
        }
        text_put(r->out, base.p, base.n);
        if (n.number == VALUE_NO_NUMBER) return;
    }
    text_put_u64(r->out, n.number);
}

/* As the generic form writes a type. */
static void put_generic_type(const ir_context *c, type_id t, text_buffer *out)
{
    const type_node *n = type_at(c, t);
    if (n->kind == TYPE_SCALAR && dtype_mlir((dtype)n->dtype) != NULL) {
        text_puts(out, dtype_mlir((dtype)n->dtype));
        return;
    }
    if (n->kind != TYPE_SCALAR) text_puts(out, "!pto.");
    type_print(c, t, out);
}

void print_type(printer *r, type_id t)
{
    printed_type *known = &r->types[t % PRINTED_TYPES];
    if (known->type != t) {
        size_t at = r->type_texts.n;
        if (at > UINT32_MAX / 2) at = r->type_texts.n = 0;
        if (at == 0) memset(r->types, 0, sizeof r->types);
        if (r->is_generic) {
            put_generic_type(r->c, t, &r->type_texts);
        } else {
            type_print(r->c, t, &r->type_texts);
        }
        *known = (printed_type){.type = t, .at = (uint32_t)at, .n = (uint32_t)(r->type_texts.n - at)};
    }
    text_put(r->out, r->type_texts.p + known->at, known->n);
}

void print_comma(printer *r, bool *is_first)
{
    if (!*is_first) text_put(r->out, ", ", 2);
    *is_first = false;
}

void print_indent(printer *r)
{
    static const char blanks[] = "                                ";
    size_t n = (size_t)r->indent * 2;
    for (; n > sizeof blanks - 1; n -= sizeof blanks - 1) text_put(r->out, blanks, sizeof blanks - 1);
    text_put(r->out, blanks, n);
}

attr_id attr_of(const printer *r, op_id o, const char *name) { return op_given_attr(r->m, o, name); }

uint32_t count_of(const printer *r, attr_id list)
{
    return list == 0 || attr_at(r->c, list)->kind != ATTR_LIST ? 0 : attr_at(r->c, list)->count;
}

attr_id item_of(const printer *r, attr_id list, uint32_t index)
{
    return index < count_of(r, list) ? attr_at(r->c, list)->items[index] : 0;
}

/* Lines longer than the parser takes are broken at the first blank after these many bytes, not in strings and types:
 * MLIR compares the text of types. Single tokens are limited (see lexer.h). */
enum { LINE_BYTES = 64 * 1024 };

/* Ends what text_hold began at `from`. */
static void break_line(printer *r, size_t from)
{
    text_buffer *out = r->out;
    text_release(out);
    if (out->n - from <= LINE_BYTES) return;
    bool in_string = false;
    uint32_t angles = 0;
    char before = ' ';
    for (size_t i = from; i < out->n; before = out->p[i++]) {
        const char c = out->p[i];
        if (in_string) {
            if (c == '\\') i++;
            in_string = c != '"';
        } else if (c == '"') {
            in_string = true;
        } else if (c == '<' && before != ' ') {
            angles++;
        } else if (c == '>' && before != ' ' && before != '-') {
            angles -= angles != 0;
        } else if (c == ' ' && angles == 0 && i - from >= LINE_BYTES) {
            out->p[i] = '\n';
            from = i + 1;
        }
    }
}

/* ---- ops by their row's syntax ---- */

/* Value operands number `from` to `end` - 1. */
static void print_operands(printer *r, const op_record *op, uint32_t from, uint32_t end)
{
    bool is_first = true;
    for (uint32_t i = from; i < end; i++) {
        print_comma(r, &is_first);
        print_value(r, operand_value(r->m, op, i));
    }
}

static void print_item_attr(printer *r, op_id o, const op_info *info, const form_item *item, bool *needs_blank)
{
    const attr_spec *spec = &info->attrs[item->attr];
    attr_id a = attr_of(r, o, spec->name);
    if (a == 0) return;
    if (item->kind != FORM_INDEX && *needs_blank) text_putc(r->out, ' ');
    if (item->kind == FORM_INDEX || item->kind == FORM_CLAUSE) {
        text_put(r->out, item->word.p == NULL ? "" : item->word.p, item->word.n);
        text_putc(r->out, item->kind == FORM_INDEX ? '[' : '(');
        print_exprs(r, a);
        text_putc(r->out, item->kind == FORM_INDEX ? ']' : ')');
    } else {
        print_attr(r, spec, a);
    }
    *needs_blank = true;
}

static void print_item(printer *r, op_id o, const op_info *info, const op_form *form, const form_item *item)
{
    const op_record *op = op_raw(r->m, o);
    const uint32_t operands = value_operands_of(r->m, op->kind, op->operand_count, op->result_count);
    bool blank = true;
    switch ((form_item_kind)item->kind) {
    case FORM_OPERAND:
        text_putc(r->out, ' ');
        if (item->operand < operands) print_value(r, operand_value(r->m, op, item->operand));
        break;
    case FORM_REST:
        if (operands > form->fixed_operands) {
            text_putc(r->out, ' ');
            print_operands(r, op, form->fixed_operands, operands);
        }
        break;
    case FORM_OPERANDS:
        if (item->word.n != 0) text_putc(r->out, ' ');
        text_put(r->out, item->word.p == NULL ? "" : item->word.p, item->word.n);
        text_putc(r->out, '(');
        print_operands(r, op, form->fixed_operands, operands);
        text_putc(r->out, ')');
        break;
    case FORM_COMMA: text_putc(r->out, ','); break;
    case FORM_ARROW: text_put(r->out, " ->", 3); break;
    case FORM_DICT: print_dict(r, o, form->custom_attrs); break;
    default: print_item_attr(r, o, info, item, &blank); break;
    }
}

static void print_plain_head(printer *r, op_id o)
{
    op_kind kind = op_kind_of(r->m, o);
    const op_info *info = op_info_of(r->m, o);
    const op_form *form = op_form_of(r->forms, context_ops(r->c), kind);
    text_put(r->out, form->name.p, form->name.n);
    for (uint32_t i = 0; i < form->count; i++) print_item(r, o, info, form, &form->items[i]);
}

static void print_results(printer *r, op_id o)
{
    const op_record *op = op_at(r->m, o);
    if (op->result_count == 0) return;
    bool is_first = true;
    for (uint32_t i = 0; i < op->result_count; i++) {
        print_comma(r, &is_first);
        print_value(r, op->results + i);
    }
    text_put(r->out, " = ", 3);
}

static void print_head(printer *r, op_id o)
{
    const size_t from = text_hold(r->out);
    r->op = o;
    print_results(r, o);
    if (r->is_generic) {
        print_generic_head(r, o);
    } else if (op_has_own_form(op_kind_of(r->m, o))) {
        print_control_head(r, o);
    } else {
        print_plain_head(r, o);
    }
    break_line(r, from);
}

/* After the last block: types and location. */
static void print_tail(printer *r, op_id o)
{
    const size_t from = text_hold(r->out);
    r->op = o;
    if (r->is_generic) {
        print_generic_tail(r, o);
    } else if (op_at(r->m, o)->result_count != 0) {
        const op_record *op = op_at(r->m, o);
        bool is_first = true;
        text_put(r->out, " : ", 3);
        for (uint32_t i = 0; i < op->result_count; i++) {
            print_comma(r, &is_first);
            print_type(r, value_at(r->m, op->results + i)->type);
        }
    }
    if (r->locations) print_loc(r, op_loc(r->m, o));
    break_line(r, from);
}

/* ---- the tree, without recursion ---- */

static uint32_t block_index(const printer *r, op_id parent, block_id b)
{
    uint32_t i = 0;
    while (op_block_at(r->m, parent, i) != b) i++;
    return i;
}

/* A terminator that the text leaves out. */
static bool is_implied(const printer *r, op_id o)
{
    if (r->is_generic || op_next(r->m, o) != 0 || op_operand_count(r->m, o) != 0 || op_attrs(r->m, o) != 0)
        return false;
    op_kind kind = op_kind_of(r->m, o);
    if (kind != OP_YIELD && kind != OP_RETURN) return false;
    op_id parent = op_parent(r->m, o);
    if (parent == 0) return false;
    return op_implied_terminator(op_kind_of(r->m, parent), block_index(r, parent, op_block(r->m, o))) == kind;
}

static void open_block(printer *r, block_id b)
{
    text_put(r->out, r->is_generic ? "{\n" : " {\n", r->is_generic ? 2 : 3);
    const size_t from = text_hold(r->out);
    if (r->is_generic) print_generic_block_start(r, b);
    break_line(r, from);
    r->indent++;
}

static void close_block(printer *r)
{
    r->indent--;
    print_indent(r);
    text_putc(r->out, '}');
}

/* Opens block `index` of `o` and those after it as long as they are empty; the first op printed inside, or 0 when
 * all blocks are done. */
static op_id enter_blocks(printer *r, op_id o, uint32_t index)
{
    for (; index < op_block_count(r->m, o); index++) {
        block_id b = op_block_at(r->m, o, index);
        if (index != 0) print_between_blocks(r, o);
        open_block(r, b);
        op_id first = block_first(r->m, b);
        if (first != 0 && !is_implied(r, first)) return first;
        close_block(r);
    }
    return 0;
}

static void print_tree(printer *r, op_id root)
{
    op_id o = root;
    for (;;) {
        if (o != root) print_indent(r);
        if (r->on_op != NULL) r->on_op(r->self, o);
        print_head(r, o);
        op_id inner = enter_blocks(r, o, 0);
        if (inner != 0) {
            o = inner;
            continue;
        }
        print_tail(r, o);
        /* To the next op in print order, closing what ends before it. */
        for (;;) {
            if (o == root) return;
            text_putc(r->out, '\n');
            op_id after = op_next(r->m, o);
            if (after != 0 && !is_implied(r, after)) {
                o = after;
                break;
            }
            op_id parent = op_parent(r->m, o);
            close_block(r);
            inner = enter_blocks(r, parent, block_index(r, parent, op_block(r->m, o)) + 1);
            if (inner != 0) {
                o = inner;
                break;
            }
            o = parent;
            print_tail(r, o);
        }
    }
}

static printer *printer_begin(arena *memory, module *m, const print_options *o, text_buffer *out)
{
    printer *r = arena_alloc(memory, sizeof *r);
    r->m = m;
    r->c = module_context(m);
    r->out = out;
    r->is_generic = o != NULL && o->generic;
    r->locations = o != NULL && o->locations;
    if (o != NULL) {
        r->on_op = o->on_op;
        r->self = o->self;
    }
    text_init(&r->type_texts);
    return r;
}

static void print_module_head(printer *r)
{
    const size_t from = text_hold(r->out);
    text_puts(r->out, "module");
    if (module_name(r->m) != 0) {
        str name = string_of(r->c, module_name(r->m));
        text_puts(r->out, " @");
        text_put(r->out, name.p, name.n);
    }
    attr_id attrs = module_attrs(r->m);
    if (attrs != 0 && attr_at(r->c, attrs)->count != 0) {
        text_putc(r->out, ' ');
        if (r->is_generic) {
            print_generic_module_attrs(r, attrs);
        } else {
            print_attr(r, NULL, attrs);
        }
    }
    text_puts(r->out, " {\n");
    break_line(r, from);
}

void module_print(module *m, const print_options *o, text_buffer *out)
{
    arena *memory = arena_create("printer");
    printer *r = printer_begin(memory, m, o, out);
    attr_id attrs = module_attrs(m);
    bool is_wrapped = r->is_generic || module_name(m) != 0 || (attrs != 0 && attr_at(r->c, attrs)->count != 0);
    if (is_wrapped) {
        print_module_head(r);
        r->indent = 1;
    }
    BLOCK_EACH_OP(m, f, module_top(m)) {
        print_indent(r);
        print_tree(r, f);
        text_putc(out, '\n');
    }
    if (is_wrapped) text_puts(out, "}\n");
    text_fini(&r->type_texts);
    arena_destroy(memory);
}

void op_print(module *m, op_id op, const print_options *o, text_buffer *out)
{
    arena *memory = arena_create("printer");
    printer *r = printer_begin(memory, m, o, out);
    print_tree(r, op);
    text_fini(&r->type_texts);
    arena_destroy(memory);
}
