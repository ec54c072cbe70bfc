/* Index expressions, as C of int64_t. */
#include "index_text.h"

/* How tightly operators bind; inside of what binds as tightly there are parentheses. */
enum { LOOSE, SUM, PRODUCT, TIGHT };

static void put(const index_words *w, text *t, pto_expr x, int around);
static void put_in_full(const index_words *w, text *t, pto_expr x, int around);

const char *index_text(const pto_run *run, const index_words *w, pto_expr x)
{
    text t = {.run = run};
    put(w, &t, x, LOOSE);
    return text_end(&t);
}

const char *index_text_factor(const pto_run *run, const index_words *w, pto_expr x)
{
    text t = {.run = run};
    put(w, &t, x, PRODUCT);
    return text_end(&t);
}

const char *index_text_in_full(const pto_run *run, const index_words *w, pto_expr x)
{
    text t = {.run = run};
    put_in_full(w, &t, x, LOOSE);
    return text_end(&t);
}

static void put_sum(const index_words *w, text *t, pto_expr x)
{
    const int64_t constant = pto_expr_number(x);
    int is_first = 1;
    for (uint32_t pass = 0; pass < 2; pass++) { /* what is added comes first */
        for (uint32_t i = 0; i < pto_expr_arg_count(x); i++) {
            const int64_t coef = pto_expr_coef(x, i), size = coef < 0 ? -coef : coef;
            if ((coef < 0) != (pass != 0)) continue;
            text_put(t, "%s", is_first ? coef < 0 ? "-" : "" : coef < 0 ? " - " : " + ");
            if (size != 1) text_put(t, "%lld * ", (long long)size);
            put(w, t, pto_expr_arg(x, i), size != 1 ? PRODUCT : SUM);
            is_first = 0;
        }
    }
    if (is_first)
        text_put(t, "%lld", (long long)constant);
    else if (constant != 0)
        text_put(t, " %s %lld", constant < 0 ? "-" : "+", (long long)(constant < 0 ? -constant : constant));
}

/* Of a product, or a division. */
static void put_infix(const index_words *w, text *t, const char *sign, pto_expr x)
{
    for (uint32_t i = 0; i < pto_expr_arg_count(x); i++) {
        if (i != 0) text_put(t, " %s ", sign);
        put(w, t, pto_expr_arg(x, i), PRODUCT);
    }
}

static void put_call(const index_words *w, text *t, const char *function, pto_expr x)
{
    const uint32_t n = pto_expr_arg_count(x);
    for (uint32_t i = 0; i + 1 < n; i++) {
        text_put(t, "%s(", function);
        put(w, t, pto_expr_arg(x, i), LOOSE);
        text_put(t, ", ");
    }
    put(w, t, pto_expr_arg(x, n - 1), LOOSE);
    for (uint32_t i = 0; i + 1 < n; i++) text_put(t, ")");
}

/* As int64_t, so that arithmetic has 64 bits. */
static void put_value(const index_words *w, text *t, pto_value v)
{
    const pto_dtype type = pto_type_dtype(pto_value_type(v));
    text_put(t, type == PTO_INDEX || type == PTO_I64 ? "%s" : "(int64_t)%s", w->value(w->self, v));
}

static void put(const index_words *w, text *t, pto_expr x, int around)
{
    const char *name = w->name(w->self, x);
    if (name != NULL)
        text_put(t, "%s", name);
    else
        put_in_full(w, t, x, around);
}

/* The operator of C that does what an expression of two arguments means; NULL: none does. */
static const char *sign_of(const index_words *w, pto_expr x)
{
    const pto_expr_kind kind = pto_expr_kind_of(x);
    if (kind == PTO_EXPR_PRODUCT) return "*";
    if ((kind != PTO_EXPR_FLOORDIV && kind != PTO_EXPR_MOD) || w->is_natural == NULL ||
        !w->is_natural(w->self, pto_expr_arg(x, 0)) || !w->is_natural(w->self, pto_expr_arg(x, 1)))
        return NULL;
    return kind == PTO_EXPR_MOD ? "%" : "/";
}

static const char *function_of(const index_words *w, pto_expr_kind kind)
{
    switch (kind) {
    case PTO_EXPR_FLOORDIV: return w->floordiv;
    case PTO_EXPR_CEILDIV: return w->ceildiv;
    case PTO_EXPR_MOD: return w->mod;
    case PTO_EXPR_MIN: return w->min;
    case PTO_EXPR_MAX: return w->max;
    default: return NULL;
    }
}

static void put_in_full(const index_words *w, text *t, pto_expr x, int around)
{
    const pto_expr_kind kind = pto_expr_kind_of(x);
    const char *sign = sign_of(w, x), *function = function_of(w, kind);
    const int own = kind == PTO_EXPR_SUM ? SUM : sign != NULL ? PRODUCT : TIGHT;
    if (own <= around) text_put(t, "(");
    if (kind == PTO_EXPR_SUM)
        put_sum(w, t, x);
    else if (sign != NULL)
        put_infix(w, t, sign, x);
    else if (function != NULL)
        put_call(w, t, function, x);
    else if (kind == PTO_EXPR_SYMBOL)
        text_put(t, "%s", w->symbol(w->self, pto_expr_symbol_name(x)));
    else if (kind == PTO_EXPR_VALUE)
        put_value(w, t, pto_expr_leaf(x));
    else
        text_put(t, "%lld", (long long)pto_expr_number(x));
    if (own <= around) text_put(t, ")");
}

void index_names_add(index_names *names, pto_expr x, const char *name)
{
    PTO_GROW(x.run, names->items, names->count, names->capacity);
    names->items[names->count++] = (struct index_name){x, name};
}

const char *index_names_find(const index_names *names, pto_expr x)
{
    for (uint32_t i = names->count; i-- > 0;)
        if (pto_expr_same(names->items[i].expr, x)) return names->items[i].name;
    return NULL;
}
