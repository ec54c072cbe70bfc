/* Ops that make each element of the elements in the same place, as C expressions. */
#include "emit.h"

pto_str emit_stem(pto_op op)
{
    pto_str name = pto_op_name(op);
    const uint32_t rule = (uint32_t)pto_kind_column(op.run, pto_op_kind(op), PTO_COLUMN_RULE);
    if (name.n > 5) name = pto_str_make(name.p + 5, name.n - 5); /* "tile." */
    if (rule == PTO_RULE_ROW_BINARY || rule == PTO_RULE_COL_BINARY) return pto_str_make(name.p + 9, name.n - 9);
    if (rule == PTO_RULE_SCALAR || rule == PTO_RULE_REMAINDER_SCALAR) name.n--;
    return name;
}

static const char *infix_of(pto_str stem)
{
    static const struct {
        const char *stem, *sign;
    } rows[] = {{"add", "+"}, {"sub", "-"}, {"mul", "*"}, {"div", "/"}};
    for (uint32_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (pto_str_is(stem, rows[i].stem)) return rows[i].sign;
    return NULL;
}

static const char *of_floats(emitter *e, pto_str stem, pto_dtype t, const char *a, const char *b)
{
    const char *infix = infix_of(stem), *value;
    if (pto_str_is(stem, "rdiv"))
        value = emit_format(e, "(%s / %s)", b, a);
    else if (infix != NULL)
        value = emit_format(e, "(%s %s %s)", a, infix, b);
    else if (pto_str_is(stem, "neg"))
        return emit_format(e, "(-%s)", a);
    else if (pto_str_is(stem, "rem"))
        value = emit_format(e, "pto_mod_f32_1(%s, %s)", a, b);
    else if (b == NULL)
        value = emit_format(e, "pto_%.*s_f32_1(%s)", PTO_FMT(stem), a);
    else
        value = emit_format(e, "pto_%.*s_f32_1(%s, %s)", PTO_FMT(stem), a, b);
    return emit_rounded(e, t, value);
}

static const char *of_masks(emitter *e, pto_str stem, const char *a, const char *b)
{
    if (pto_str_is(stem, "and")) return emit_format(e, "(%s & %s)", a, b);
    if (pto_str_is(stem, "or")) return emit_format(e, "(%s | %s)", a, b);
    if (pto_str_is(stem, "xor")) return emit_format(e, "(%s ^ %s)", a, b);
    return pto_str_is(stem, "not") ? emit_format(e, "!%s", a) : NULL;
}

static const char *arithmetic(emitter *e, pto_op op, pto_dtype t, const char *a, const char *b)
{
    pto_str stem = emit_stem(op);
    if (t == PTO_MASK) return of_masks(e, stem, a, b);
    if (pto_dtype_is_float(t)) return of_floats(e, stem, t, a, b);
    if (pto_str_is(stem, "rdiv")) {
        const char *swap = a;
        a = b;
        b = swap;
        stem = PTO_STR("div");
    }
    if (b == NULL) return emit_format(e, "pto_%.*s_%s_1(%s)", PTO_FMT(stem), emit_type_name(t), a);
    return emit_format(e, "pto_%.*s_%s_1(%s, %s)", PTO_FMT(stem), emit_type_name(t), a, b);
}

static const char *comparison(emitter *e, pto_op op, pto_dtype t, const char *a, const char *b)
{
    static const struct {
        const char *word, *sign;
    } rows[] = {{"eq", "=="}, {"ne", "!="}, {"lt", "<"}, {"le", "<="}, {"gt", ">"}, {"ge", ">="}};
    const pto_str word = pto_attr_str_of(op, PTO_STR("relation"));
    (void)t;
    for (uint32_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (pto_str_is(word, rows[i].word)) return emit_format(e, "(uint8_t)(%s %s %s)", a, rows[i].sign, b);
    return NULL;
}

const char *emit_scalar_as(emitter *e, pto_op op, uint32_t i, pto_dtype t, const char *x)
{
    const pto_dtype own = pto_type_dtype(pto_value_type(pto_op_operand(op, i)));
    return own == t ? x : emit_convert(e, t, own, x, 1, 0, 0);
}

static const char *selection(emitter *e, pto_dtype t, const char *mask, const char *a, const char *b)
{
    (void)t;
    return emit_format(e, "(%s ? %s : %s)", mask, a, b);
}

const char *emit_formula_of(emitter *e, pto_op op, const char *const *x, const emit_words *w)
{
    const uint32_t rule = (uint32_t)pto_kind_column(e->run, pto_op_kind(op), PTO_COLUMN_RULE);
    const pto_dtype t = pto_type_dtype(pto_value_type(pto_op_operand(op, 0))),
                    to = pto_type_dtype(pto_value_type(pto_op_result(op, 0)));
    switch (rule) {
    case PTO_RULE_UNARY:
    case PTO_RULE_ROOT: return w->arithmetic(e, op, t, x[0], NULL);
    case PTO_RULE_BINARY:
    case PTO_RULE_BITWISE:
    case PTO_RULE_REMAINDER:
    case PTO_RULE_ROW_BINARY:
    case PTO_RULE_COL_BINARY: return w->arithmetic(e, op, t, x[0], x[1]);
    case PTO_RULE_SCALAR:
    case PTO_RULE_REMAINDER_SCALAR: return w->arithmetic(e, op, t, x[0], w->scalar(e, op, 1, t, x[1]));
    case PTO_RULE_COMPARE: return w->comparison(e, op, t, x[0], x[1]);
    case PTO_RULE_COMPARE_SCALAR: return w->comparison(e, op, t, x[0], w->scalar(e, op, 1, t, x[1]));
    case PTO_RULE_SELECT: return w->selection(e, to, x[0], x[1], x[2]);
    case PTO_RULE_SELECT_SCALAR: return w->selection(e, to, x[0], x[1], w->scalar(e, op, 2, to, x[2]));
    case PTO_RULE_CONVERT: return w->conversion(e, to, t, x[0], emit_cast_mode(op), emit_cast_saturates(op, to, t), 1);
    case PTO_RULE_MOVE: return w->conversion(e, to, t, x[0], 1, 0, 0);
    case PTO_RULE_ROW_EXPAND:
    case PTO_RULE_COL_EXPAND: return x[0];
    case PTO_RULE_FILL: return w->scalar(e, op, 0, to, x[0]);
    default: return NULL;
    }
}

const char *emit_formula(emitter *e, pto_op op, const char *const *x)
{
    static const emit_words words = {arithmetic, comparison, selection, emit_convert, emit_scalar_as};
    return emit_formula_of(e, op, x, &words);
}
