/* Index expressions, as C of int64_t. */
#include "emit.h"

#include "index_text.h"

static const char *symbol(void *self, pto_str name) { return emit_symbol(self, name); }
static const char *value(void *self, pto_value v) { return emit_value(self, v); }
static const char *name(void *self, pto_expr x);

static index_words words_of(emitter *e)
{
    return (index_words){.self = e,
                         .symbol = symbol,
                         .value = value,
                         .name = name,
                         .floordiv = "pto_index_floordiv",
                         .ceildiv = "pto_index_ceildiv",
                         .mod = "pto_index_mod",
                         .min = "pto_index_min",
                         .max = "pto_index_max"};
}

const char *emit_index(emitter *e, pto_expr x)
{
    const index_words words = words_of(e);
    return index_text(e->run, &words, x);
}

const char *emit_index_of(emitter *e, pto_op op, const char *attr, uint32_t i)
{
    return emit_index(e, pto_expr_of(op, pto_s(attr), i));
}

static const char *quotient(emitter *e, pto_expr x)
{
    const index_words words = words_of(e);
    return index_text_in_full(e->run, &words, x);
}

/* Those of quotients are shorter than what they stand for, and compiled once. */
static const char *name(void *self, pto_expr x)
{
    const pto_expr_kind kind = pto_expr_kind_of(x);
    const int is_quotient = kind == PTO_EXPR_FLOORDIV || kind == PTO_EXPR_CEILDIV || kind == PTO_EXPR_MOD;
    return is_quotient ? emit_quotient_name(self, x, quotient) : NULL;
}
