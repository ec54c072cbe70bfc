/* Inline constant arrays: `dense [1.0, 2.0] : tensor<2 x f32>`. */
#include "ir/context/float_format.h"
#include "ir/text/parser_state.h"

#include <math.h>

enum { DENSE_MAX = 16 };

typedef struct dense_item {
    bool is_float, has_bits, is_large; /* large: above INT64_MAX, `i` has the bits */
    int64_t i;
    double f;
    uint64_t bits; /* of a nan other than the usual one */
    uint32_t line, column;
} dense_item;

static status read_item(parser *p, dense_item *out)
{
    *out = (dense_item){.line = p->tok.line, .column = p->tok.column};
    if (accept_word(p, "true")) {
        out->i = 1;
        return OK;
    }
    if (accept_word(p, "false")) return OK;
    bool is_negative = accept(p, '-');
    out->is_large = p->tok.kind == TOK_INT && !is_negative && token_is_large(&p->tok, &out->i);
    if (out->is_large) {
        next(p);
        return OK;
    }
    if (p->tok.kind == TOK_INT) return parse_int(p, is_negative, &out->i);
    bool is_word = at_word(p, "inf") || at_word(p, "nan");
    if (p->tok.kind != TOK_FLOAT && !is_word) return fail_expected(p, "a number");
    if (str_to_f64(text_of(&p->tok), &out->f) != OK) {
        FAIL_HERE(p, E0107, "%s is not a number that a 64-bit float can hold", shown(p, &p->tok));
    }
    out->is_float = true;
    next(p);
    if (is_word && !is_negative && p->tok.kind == '(' && isnan(out->f)) {
        out->has_bits = true;
        return parse_nan_bits(p, &out->bits);
    }
    if (is_negative) out->f = -out->f;
    return OK;
}

static bool integer_fits(dtype d, const dense_item *item)
{
    uint32_t bits = dtype_bits(d);
    int64_t v = item->i;
    if (item->is_large) return d == DTYPE_U64;
    switch (dtype_class_of(d)) {
    case DTYPE_CLASS_BOOL: return v == 0 || v == 1;
    case DTYPE_CLASS_UINT: return v >= 0 && (bits >= 63 || v >> bits == 0);
    default: return bits == 64 || (v >= -((int64_t)1 << (bits - 1)) && v < (int64_t)1 << (bits - 1));
    }
}

/* The bytes of one element, little endian. */
static status put_item(parser *p, const dense_item *item, dtype d, uint8_t *out)
{
    uint64_t bits = (uint64_t)item->i;
    if (item->has_bits) {
        bits = item->bits;
        bool fits = dtype_class_of(d) == DTYPE_CLASS_FLOAT && bits >> dtype_bits(d) == 0;
        if (!fits || !isnan(float_decode(d, (uint32_t)bits))) {
            FAIL(p, pos_at(p, item->line, item->column), E0116, "these are not the bits of a nan of %s", dtype_name(d));
        }
    } else if (dtype_class_of(d) == DTYPE_CLASS_FLOAT) {
        bool is_negative = item->i < 0 && !item->is_large;
        bits = item->is_float ? float_encode(d, item->f, ROUND_RINT, false)
                              : float_encode_integer(d, is_negative, is_negative ? 0 - bits : bits, ROUND_RINT, false);
    } else if (item->is_float || !integer_fits(d, item)) {
        FAIL(p, pos_at(p, item->line, item->column), E0116, "the value does not fit in %s", dtype_name(d));
    }
    for (uint32_t i = 0; i < dtype_bytes(d); i++) out[i] = (uint8_t)(bits >> (8 * i));
    return OK;
}

static status parse_items(parser *p, dense_item *items, uint32_t *count)
{
    token open = p->tok;
    TRY(expect(p, '[', "`[`"));
    while (p->tok.kind != ']') {
        if (*count == DENSE_MAX) {
            FAIL_HERE(p, E0116, "more than %d elements; keep them in a file and write resource(\"file.npy\")",
                      DENSE_MAX);
        }
        TRY(read_item(p, &items[(*count)++]));
        if (!accept(p, ',')) break;
    }
    return expect_close(p, ']', &open);
}

status parse_dense(parser *p, attr_id *out)
{
    dense_item items[DENSE_MAX];
    uint32_t count = 0;
    type_id type;
    int64_t wanted;
    TRY(parse_items(p, items, &count));
    TRY(expect(p, ':', "`:` and the type of the array"));
    token at = p->tok;
    TRY(parse_type(p, &type));
    const type_node *t = type_at(p->c, type);
    if (t->kind != TYPE_TENSOR) FAIL(p, pos_of(p, &at), E0116, "the type of a dense array is a tensor type");
    if (!expr_is_const(p->c, type_element_count(p->c, type), &wanted)) {
        FAIL(p, pos_of(p, &at), E0116, "the type of a dense array has constant extents only");
    }
    if (wanted != (int64_t)count) {
        FAIL(p, pos_of(p, &at), E0116, "%u element%s given but the type has %lld", count, count == 1 ? " is" : "s are",
             (long long)wanted);
    }
    uint8_t bytes[DENSE_MAX * 8];
    uint32_t size = dtype_bytes((dtype)t->dtype);
    for (uint32_t i = 0; i < count; i++) TRY(put_item(p, &items[i], (dtype)t->dtype, bytes + i * size));
    *out = attr_dense(p->c, type, count * size, bytes);
    return OK;
}
