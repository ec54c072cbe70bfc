/* MLIR's generic form. */
#include "ir/text/printer_state.h"

#include <math.h>
#include <string.h>

/* Escapes of MLIR strings: what is not plain ASCII becomes two hexadecimal digits. */
static void put_string(text_buffer *out, str s)
{
    static const char hex[] = "0123456789ABCDEF";
    text_putc(out, '"');
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        if (c >= 0x20 && c < 0x7F && c != '"' && c != '\\') {
            text_putc(out, (char)c);
        } else {
            char code[3] = {'\\', hex[c >> 4], hex[c & 15]};
            text_put(out, code, sizeof code);
        }
    }
    text_putc(out, '"');
}

/* MLIR requires a point before the exponent, and bits for what has no digits. */
static void put_float(text_buffer *out, double v)
{
    if (isnan(v) || isinf(v)) {
        uint64_t bits;
        memcpy(&bits, &v, sizeof bits);
        text_printf(out, "0x%016llX : f64", (unsigned long long)bits);
        return;
    }
    text_buffer digits;
    text_init(&digits);
    text_put_f64(&digits, v);
    const char *exponent = strchr(digits.p, 'e');
    if (exponent != NULL && strchr(digits.p, '.') == NULL) {
        text_put(out, digits.p, (size_t)(exponent - digits.p));
        text_puts(out, ".0");
        text_puts(out, exponent);
    } else {
        text_put(out, digits.p, digits.n);
    }
    text_puts(out, " : f64");
    text_fini(&digits);
}

static void largest_slot(void *self, uint32_t slot)
{
    uint32_t *count = self;
    if (slot >= *count) *count = slot + 1;
}

static void put_expr(printer *r, expr_id e)
{
    uint32_t count = 0;
    bool is_first = true;
    expr_visit_slots(r->c, e, largest_slot, &count);
    text_puts(r->out, "#pto.expr<(");
    for (uint32_t i = 0; i < count; i++) {
        print_comma(r, &is_first);
        text_printf(r->out, "d%u", i);
    }
    text_puts(r->out, ") -> (");
    expr_print(r->c, e, r->out, NULL, NULL);
    text_puts(r->out, ")>");
}

static bool is_bare_key(str s)
{
    if (s.n == 0 || (s.p[0] >= '0' && s.p[0] <= '9') || s.p[0] == '.') return false;
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        if (!((c | 0x20) >= 'a' && (c | 0x20) <= 'z') && !(c >= '0' && c <= '9') && c != '_' && c != '.') return false;
    }
    return true;
}

static void put_attr(printer *r, attr_id a);

static void put_dict(printer *r, attr_id dict, const char *prefix)
{
    const attr_node *n = attr_at(r->c, dict);
    bool is_first = true;
    text_putc(r->out, '{');
    for (uint32_t i = 0; i < n->count; i++) {
        str key = string_of(r->c, n->keys[i]);
        print_comma(r, &is_first);
        if (is_bare_key(key)) {
            text_puts(r->out, prefix);
            text_put(r->out, key.p, key.n);
        } else {
            text_buffer full;
            text_init(&full);
            text_puts(&full, prefix);
            text_put(&full, key.p, key.n);
            put_string(r->out, (str){full.p, full.n});
            text_fini(&full);
        }
        text_puts(r->out, " = ");
        put_attr(r, n->items[i]);
    }
    text_putc(r->out, '}');
}

/* `#pto.dense<"[..] : tensor<..>">`: our own spelling, which needs no escapes. */
static void put_dense(printer *r, attr_id a)
{
    text_buffer own;
    text_init(&own);
    attr_print(r->c, a, &own);
    text_puts(r->out, "#pto.dense<\"");
    size_t skip = strlen("dense ");
    text_put(r->out, own.p + skip, own.n - skip);
    text_puts(r->out, "\">");
    text_fini(&own);
}

static void put_attr(printer *r, attr_id a)
{
    const attr_node *n = attr_at(r->c, a);
    bool is_first = true;
    switch ((attr_kind)n->kind) {
    case ATTR_NONE: text_puts(r->out, "{}"); break;
    case ATTR_BOOL: text_puts(r->out, n->i != 0 ? "true" : "false"); break;
    case ATTR_INT:
        text_put_integer(r->out, n);
        text_puts(r->out, n->is_large ? " : ui64" : " : i64");
        break;
    case ATTR_FLOAT: put_float(r->out, n->f); break;
    case ATTR_STRING: put_string(r->out, string_of(r->c, n->id)); break;
    case ATTR_SYMBOL:
        text_putc(r->out, '@');
        text_put(r->out, string_of(r->c, n->id).p, string_of(r->c, n->id).n);
        break;
    case ATTR_TYPE: print_type(r, n->id); break;
    case ATTR_EXPR: put_expr(r, n->id); break;
    case ATTR_LIST:
        text_putc(r->out, '[');
        for (uint32_t i = 0; i < n->count; i++) {
            print_comma(r, &is_first);
            put_attr(r, n->items[i]);
        }
        text_putc(r->out, ']');
        break;
    case ATTR_DICT: put_dict(r, a, ""); break;
    case ATTR_DENSE: put_dense(r, a); break;
    case ATTR_RESOURCE:
        text_puts(r->out, "#pto.resource<");
        put_string(r->out, string_of(r->c, n->id));
        text_putc(r->out, '>');
        break;
    }
}

void print_generic_module_attrs(printer *r, attr_id dict)
{
    text_puts(r->out, "attributes ");
    put_dict(r, dict, "pto_core.");
}

void print_generic_head(printer *r, op_id o)
{
    bool is_first = true;
    text_putc(r->out, '"');
    op_print_generic_name(op_info_of(r->m, o)->name, r->out);
    text_puts(r->out, "\"(");
    for (uint32_t i = 0; i < op_operand_count(r->m, o); i++) {
        print_comma(r, &is_first);
        print_value(r, op_operand(r->m, o, i));
    }
    text_putc(r->out, ')');
    if (op_block_count(r->m, o) != 0) text_puts(r->out, " (");
}

void print_generic_block_start(printer *r, block_id b)
{
    uint32_t count = block_arg_count(r->m, b);
    if (count == 0) return;
    bool is_first = true;
    print_indent(r);
    text_puts(r->out, "^bb0(");
    for (uint32_t i = 0; i < count; i++) {
        value_id v = block_arg(r->m, b, i);
        print_comma(r, &is_first);
        print_value(r, v);
        text_puts(r->out, ": ");
        print_type(r, value_type(r->m, v));
    }
    text_puts(r->out, "):\n");
}

void print_generic_tail(printer *r, op_id o)
{
    bool is_first = true;
    if (op_block_count(r->m, o) != 0) text_putc(r->out, ')');
    attr_id dict = op_attrs(r->m, o);
    if (dict != 0 && attr_at(r->c, dict)->count != 0) {
        text_putc(r->out, ' ');
        put_dict(r, dict, "");
    }
    text_puts(r->out, " : (");
    for (uint32_t i = 0; i < op_operand_count(r->m, o); i++) {
        print_comma(r, &is_first);
        print_type(r, value_type(r->m, op_operand(r->m, o, i)));
    }
    text_puts(r->out, ") -> ");
    uint32_t results = op_result_count(r->m, o);
    if (results != 1) text_putc(r->out, '(');
    is_first = true;
    for (uint32_t i = 0; i < results; i++) {
        print_comma(r, &is_first);
        print_type(r, value_type(r->m, op_result(r->m, o, i)));
    }
    if (results != 1) text_putc(r->out, ')');
}
