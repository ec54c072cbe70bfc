/* Index expressions, as C of int64_t. */
#include "emit.h"

enum { LOOSE, SUM, PRODUCT, TIGHT }; /* how tightly operators bind */

static int put(emitter *e, text *t, pto_expr x, int around);

static void put_sum(emitter *e, text *t, pto_expr x)
{
    const int64_t constant = pto_expr_number(x);
    int is_first = 1;
    for (uint32_t pass = 0; pass < 2; pass++) { /* what is added comes first */
        for (uint32_t i = 0; i < pto_expr_arg_count(x); i++) {
            const int64_t coef = pto_expr_coef(x, i);
            if ((coef < 0) != (pass != 0)) continue;
            const int64_t size = coef < 0 ? -coef : coef;
            text_put(t, "%s", is_first ? coef < 0 ? "-" : "" : coef < 0 ? " - " : " + ");
            if (size != 1) text_put(t, "%lld * ", (long long)size);
            (void)put(e, t, pto_expr_arg(x, i), size != 1 ? PRODUCT : SUM);
            is_first = 0;
        }
    }
    if (constant != 0 || is_first)
        text_put(t, "%s%lld",
                 is_first       ? ""
                 : constant < 0 ? " - "
                                : " + ",
                 (long long)(is_first || constant > 0 ? constant : -constant));
}

static void put_call(emitter *e, text *t, const char *function, pto_expr x)
{
    const uint32_t n = pto_expr_arg_count(x);
    for (uint32_t i = 0; i + 1 < n; i++) {
        text_put(t, "%s(", function);
        (void)put(e, t, pto_expr_arg(x, i), LOOSE);
        text_put(t, ", ");
    }
    (void)put(e, t, pto_expr_arg(x, n - 1), LOOSE);
    for (uint32_t i = 0; i + 1 < n; i++) text_put(t, ")");
}

static void put_product(emitter *e, text *t, pto_expr x)
{
    for (uint32_t i = 0; i < pto_expr_arg_count(x); i++) {
        if (i != 0) text_put(t, " * ");
        (void)put(e, t, pto_expr_arg(x, i), PRODUCT);
    }
}

/* An integer as int64_t, so that arithmetic has 64 bits. */
static void put_value(emitter *e, text *t, pto_value v)
{
    const pto_dtype type = pto_type_dtype(pto_value_type(v));
    text_put(t, type == PTO_INDEX || type == PTO_I64 ? "%s" : "(int64_t)%s", emit_value(e, v));
}

static const char *function_of(pto_expr_kind kind)
{
    return kind == PTO_EXPR_FLOORDIV  ? "pto_index_floordiv"
           : kind == PTO_EXPR_CEILDIV ? "pto_index_ceildiv"
           : kind == PTO_EXPR_MOD     ? "pto_index_mod"
           : kind == PTO_EXPR_MIN     ? "pto_index_min"
                                      : "pto_index_max";
}

static const char *quotient(emitter *e, pto_expr x)
{
    text t = {.run = e->run};
    put_call(e, &t, function_of(pto_expr_kind_of(x)), x);
    return text_end(&t);
}

/* Names are shorter than what they stand for, and compiled once. */
static void put_quotient(emitter *e, text *t, pto_expr x)
{
    const char *name = emit_quotient_name(e, x, quotient);
    text_put(t, "%s", name != NULL ? name : quotient(e, x));
}

static int put(emitter *e, text *t, pto_expr x, int around)
{
    const pto_expr_kind kind = pto_expr_kind_of(x);
    const int own = kind == PTO_EXPR_SUM ? SUM : kind == PTO_EXPR_PRODUCT ? PRODUCT : TIGHT;
    if (own <= around && own != TIGHT) text_put(t, "(");
    switch (kind) {
    case PTO_EXPR_CONST: text_put(t, "%lld", (long long)pto_expr_number(x)); break;
    case PTO_EXPR_SYMBOL: text_put(t, "%s", emit_symbol(e, pto_expr_symbol_name(x))); break;
    case PTO_EXPR_VALUE: put_value(e, t, pto_expr_leaf(x)); break;
    case PTO_EXPR_SUM: put_sum(e, t, x); break;
    case PTO_EXPR_PRODUCT: put_product(e, t, x); break;
    case PTO_EXPR_FLOORDIV:
    case PTO_EXPR_CEILDIV:
    case PTO_EXPR_MOD: put_quotient(e, t, x); break;
    case PTO_EXPR_MIN:
    case PTO_EXPR_MAX: put_call(e, t, function_of(kind), x); break;
    default: text_put(t, "0"); break;
    }
    if (own <= around && own != TIGHT) text_put(t, ")");
    return own;
}

const char *emit_index(emitter *e, pto_expr x)
{
    text t = {.run = e->run};
    (void)put(e, &t, x, LOOSE);
    return text_end(&t);
}

const char *emit_index_of(emitter *e, pto_op op, const char *attr, uint32_t i)
{
    return emit_index(e, pto_expr_of(op, pto_s(attr), i));
}
