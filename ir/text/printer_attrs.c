/* Attributes, expressions and locations in the text form. */
#include "ir/context/float_format.h"
#include "ir/text/lexer.h"
#include "ir/text/printer_state.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_word(str s)
{
    if (s.n == 0 || (s.p[0] >= '0' && s.p[0] <= '9') || s.p[0] == '.') return false;
    for (size_t i = 0; i < s.n; i++) {
        if (!lexer_is_word_byte(s.p[i])) return false;
    }
    return true;
}

/* A nan with its sign and payload: `nan`, `-nan`, or its bits. */
static void put_nan(text_buffer *out, uint64_t bits, uint64_t usual, uint64_t usual_negative)
{
    if (bits == usual || bits == usual_negative)
        text_puts(out, bits == usual ? "nan" : "-nan");
    else
        text_printf(out, "nan(0x%" PRIx64 ")", bits);
}

static void put_float(text_buffer *out, double v)
{
    static const double usual = (double)NAN;
    uint64_t bits, usual_bits;
    memcpy(&bits, &v, sizeof bits);
    memcpy(&usual_bits, &usual, sizeof usual_bits);
    if (isnan(v))
        put_nan(out, bits, usual_bits, usual_bits | UINT64_C(1) << 63);
    else
        text_put_f64(out, v);
}

/* The shortest decimal that the format rounds to the same bits. */
static void put_narrow_float(text_buffer *out, dtype d, uint32_t bits)
{
    double v = float_decode(d, bits);
    if (isnan(v)) {
        put_nan(out, bits, float_encode(d, (double)NAN, ROUND_RINT, false),
                float_encode(d, -(double)NAN, ROUND_RINT, false));
        return;
    }
    if (v > -1e9 && v < 1e9 && v == (double)(int64_t)v) {
        text_put_f64(out, v);
        return;
    }
    char digits[40];
    for (int precision = 1; precision <= 17; precision++) {
        snprintf(digits, sizeof digits, "%.*g", precision, v);
        if (float_encode(d, strtod(digits, NULL), ROUND_RINT, false) == bits) break;
    }
    text_puts(out, digits);
    if (strpbrk(digits, ".enf") == NULL) text_puts(out, ".0");
}

static void put_dense(const ir_context *c, const attr_node *n, text_buffer *out)
{
    const type_node *t = type_at(c, n->type);
    dtype d = (dtype)t->dtype;
    uint32_t size = dtype_bytes(d);
    BUG_IF(size == 0 || size > 8, "an array of elements of %u bytes", size);
    text_putc(out, '[');
    for (uint32_t at = 0; at + size <= n->byte_count; at += size) {
        uint64_t bits = 0;
        for (uint32_t i = 0; i < size; i++) bits |= (uint64_t)n->bytes[at + i] << (8 * i);
        if (at != 0) text_puts(out, ", ");
        uint32_t shift = 64 - 8 * size;
        switch (dtype_class_of(d)) {
        case DTYPE_CLASS_FLOAT: put_narrow_float(out, d, (uint32_t)bits); break;
        case DTYPE_CLASS_BOOL: text_puts(out, bits == 0 ? "false" : "true"); break;
        case DTYPE_CLASS_UINT: text_put_u64(out, bits); break;
        default: text_put_i64(out, (int64_t)(bits << shift) >> shift); break;
        }
    }
    text_puts(out, "] : ");
    type_print(c, n->type, out);
}

static void put_map(const ir_context *c, const attr_node *n, text_buffer *out)
{
    text_putc(out, '{');
    for (uint32_t i = 0; i < n->count; i++) {
        str key = string_of(c, n->keys[i]);
        if (i != 0) text_puts(out, ", ");
        if (is_word(key)) {
            text_put(out, key.p, key.n);
        } else {
            text_put_quoted(out, key);
        }
        text_puts(out, " = ");
        attr_print(c, n->items[i], out);
    }
    text_putc(out, '}');
}

void text_put_integer(text_buffer *out, const attr_node *n)
{
    if (n->is_large)
        text_put_u64(out, (uint64_t)n->i);
    else
        text_put_i64(out, n->i);
}

/* Recursion goes as deep as attributes nest, which the parser bounds. */
void attr_print(const ir_context *c, attr_id a, text_buffer *out)
{
    const attr_node *n = attr_at(c, a);
    switch ((attr_kind)n->kind) {
    case ATTR_NONE: text_puts(out, "{}"); break; /* the empty map */
    case ATTR_BOOL: text_puts(out, n->i != 0 ? "true" : "false"); break;
    case ATTR_INT: text_put_integer(out, n); break;
    case ATTR_FLOAT: put_float(out, n->f); break;
    case ATTR_STRING: text_put_quoted(out, string_of(c, n->id)); break;
    case ATTR_SYMBOL:
        text_putc(out, '@');
        text_put(out, string_of(c, n->id).p, string_of(c, n->id).n);
        break;
    case ATTR_TYPE: type_print(c, n->id, out); break;
    case ATTR_EXPR:
        text_puts(out, "expr(");
        expr_print(c, n->id, out, NULL, NULL);
        text_putc(out, ')');
        break;
    case ATTR_LIST:
        text_putc(out, '[');
        for (uint32_t i = 0; i < n->count; i++) {
            if (i != 0) text_puts(out, ", ");
            attr_print(c, n->items[i], out);
        }
        text_putc(out, ']');
        break;
    case ATTR_DICT: put_map(c, n, out); break;
    case ATTR_DENSE:
        text_puts(out, "dense ");
        put_dense(c, n, out);
        break;
    case ATTR_RESOURCE:
        text_puts(out, "resource(");
        text_put_quoted(out, string_of(c, n->id));
        text_putc(out, ')');
        break;
    }
}

void print_attr(printer *r, const attr_spec *spec, attr_id a)
{
    const attr_node *n = attr_at(r->c, a);
    if (spec != NULL && spec->kind == SPEC_WORD && n->kind == ATTR_STRING && is_word(string_of(r->c, n->id))) {
        text_put(r->out, string_of(r->c, n->id).p, string_of(r->c, n->id).n);
    } else if (spec != NULL && spec->kind == SPEC_INTS && n->kind == ATTR_LIST && n->count == 1) {
        attr_print(r->c, n->items[0], r->out);
    } else {
        attr_print(r->c, a, r->out);
    }
}

static void print_entry(printer *r, str key, const attr_spec *spec, attr_id value, bool *is_first)
{
    text_puts(r->out, *is_first ? " {" : ", ");
    *is_first = false;
    if (is_word(key)) {
        text_put(r->out, key.p, key.n);
    } else {
        text_put_quoted(r->out, key);
    }
    text_put(r->out, " = ", 3);
    print_attr(r, spec, value);
}

void print_dict(printer *r, op_id o, uint32_t without)
{
    attr_id dict = op_attrs(r->m, o);
    if (dict == 0) return;
    const attr_node *n = attr_at(r->c, dict);
    const op_info *info = op_info_of(r->m, o);
    bool is_first = true;
    for (uint32_t i = 0; i < sizeof info->attrs / sizeof info->attrs[0] && info->attrs[i].name != NULL; i++) {
        attr_id value = without >> i & 1U ? 0 : attr_of(r, o, info->attrs[i].name);
        if (value != 0) print_entry(r, str_from(info->attrs[i].name), &info->attrs[i], value, &is_first);
    }
    for (uint32_t i = 0; i < n->count; i++) {
        str key = string_of(r->c, n->keys[i]);
        if (op_attr_spec(info, key) == NULL) print_entry(r, key, NULL, n->items[i], &is_first);
    }
    if (!is_first) text_putc(r->out, '}');
}

/* ---- expressions ---- */

static void print_slot(void *self, text_buffer *out, uint32_t slot)
{
    printer *r = self;
    bool is_function = (op_info_of(r->m, r->op)->traits & TRAIT_FUNCTION) != 0;
    block_id body = is_function ? op_block_at(r->m, r->op, 0) : 0;
    if (is_function && slot < block_arg_count(r->m, body)) {
        print_value(r, block_arg(r->m, body, slot));
    } else if (!is_function && slot < op_operand_count(r->m, r->op)) {
        print_value(r, op_operand(r->m, r->op, slot));
    } else {
        text_printf(out, "d%u", slot);
    }
}

void print_expr_of(printer *r, attr_id a)
{
    if (a == 0 || attr_at(r->c, a)->kind != ATTR_EXPR) {
        text_putc(r->out, '?');
        return;
    }
    expr_print(r->c, attr_at(r->c, a)->id, r->out, print_slot, r);
}

void print_exprs(printer *r, attr_id list)
{
    bool is_first = true;
    for (uint32_t i = 0; i < count_of(r, list); i++) {
        print_comma(r, &is_first);
        print_expr_of(r, item_of(r, list, i));
    }
}

/* ---- locations ---- */

static void put_place(text_buffer *out, src_pos at)
{
    text_put_quoted(out, str_from(at.file == NULL ? "" : at.file));
    text_printf(out, ":%u:%u", at.line, at.column);
}

void print_loc(printer *r, loc_id l)
{
    uint32_t count = l == 0 ? 0 : loc_count(r->c, l);
    text_puts(r->out, " loc(");
    if (count == 0) text_puts(r->out, "unknown");
    if (count == 1) put_place(r->out, loc_at(r->c, l, 0));
    if (count > 1) {
        bool is_first = true;
        text_puts(r->out, "fused[");
        for (uint32_t i = 0; i < count; i++) {
            print_comma(r, &is_first);
            put_place(r->out, loc_at(r->c, l, i));
        }
        text_putc(r->out, ']');
    }
    text_putc(r->out, ')');
}
