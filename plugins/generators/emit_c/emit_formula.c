/* Ops that make each element of the elements in the same place, as C expressions. */
#include "emit.h"

#include <pto/relation.h>

const char *emit_relation(pto_op op)
{
    const pto_relation r = pto_relation_by_name(pto_attr_str_of(op, PTO_STR("relation")));
    return r != PTO_RELATION_NONE ? pto_relation_sign(r) : NULL;
}

pto_str emit_stem(pto_op op)
{
    const pto_str called = pto_attr_str_of(op, PTO_STR("function"));
    pto_str name = pto_op_name(op);
    const uint32_t rule = emit_rule_of(op);
    if (called.n != 0) return called;
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
    const char *relation = emit_relation(op);
    (void)t;
    return relation != NULL ? emit_format(e, "(uint8_t)(%s %s %s)", a, relation, b) : NULL;
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

/* What an element is made of, by the rule of the op; what is not here is not made element by element. */
typedef enum formula {
    FORMULA_NONE,
    FORMULA_OF_ONE,
    FORMULA_OF_TWO,
    FORMULA_OF_SCALAR,
    FORMULA_COMPARISON,
    FORMULA_COMPARISON_SCALAR,
    FORMULA_SELECTION,
    FORMULA_SELECTION_SCALAR,
    FORMULA_CONVERSION,
    FORMULA_MOVE,
    FORMULA_SAME,
    FORMULA_NUMBER
} formula;
static const uint8_t formulas[PTO_RULE_COUNT] = {
    [PTO_RULE_UNARY] = FORMULA_OF_ONE,
    [PTO_RULE_ROOT] = FORMULA_OF_ONE,
    [PTO_RULE_BINARY] = FORMULA_OF_TWO,
    [PTO_RULE_BITWISE] = FORMULA_OF_TWO,
    [PTO_RULE_REMAINDER] = FORMULA_OF_TWO,
    [PTO_RULE_ROW_BINARY] = FORMULA_OF_TWO,
    [PTO_RULE_COL_BINARY] = FORMULA_OF_TWO,
    [PTO_RULE_SCALAR] = FORMULA_OF_SCALAR,
    [PTO_RULE_REMAINDER_SCALAR] = FORMULA_OF_SCALAR,
    [PTO_RULE_COMPARE] = FORMULA_COMPARISON,
    [PTO_RULE_COMPARE_SCALAR] = FORMULA_COMPARISON_SCALAR,
    [PTO_RULE_SELECT] = FORMULA_SELECTION,
    [PTO_RULE_SELECT_SCALAR] = FORMULA_SELECTION_SCALAR,
    [PTO_RULE_CONVERT] = FORMULA_CONVERSION,
    [PTO_RULE_MOVE] = FORMULA_MOVE,
    [PTO_RULE_ROW_EXPAND] = FORMULA_SAME,
    [PTO_RULE_COL_EXPAND] = FORMULA_SAME,
    [PTO_RULE_FILL] = FORMULA_NUMBER,
};

int emit_is_map(pto_op op) { return formulas[emit_rule_of(op)] != FORMULA_NONE; }

const char *emit_formula_of(emitter *e, pto_op op, const char *const *x, const emit_words *w)
{
    const pto_dtype t = pto_type_dtype(pto_value_type(pto_op_operand(op, 0))),
                    to = pto_type_dtype(pto_value_type(pto_op_result(op, 0)));
    switch ((formula)formulas[emit_rule_of(op)]) {
    case FORMULA_NONE: return NULL;
    case FORMULA_OF_ONE: return w->arithmetic(e, op, t, x[0], NULL);
    case FORMULA_OF_TWO: return w->arithmetic(e, op, t, x[0], x[1]);
    case FORMULA_OF_SCALAR: return w->arithmetic(e, op, t, x[0], w->scalar(e, op, 1, t, x[1]));
    case FORMULA_COMPARISON: return w->comparison(e, op, t, x[0], x[1]);
    case FORMULA_COMPARISON_SCALAR: return w->comparison(e, op, t, x[0], w->scalar(e, op, 1, t, x[1]));
    case FORMULA_SELECTION: return w->selection(e, to, x[0], x[1], x[2]);
    case FORMULA_SELECTION_SCALAR: return w->selection(e, to, x[0], x[1], w->scalar(e, op, 2, to, x[2]));
    case FORMULA_CONVERSION:
        return w->conversion(e, to, t, x[0], emit_cast_mode(op), emit_cast_saturates(op, to, t), 1);
    case FORMULA_MOVE: return w->conversion(e, to, t, x[0], 1, 0, 0);
    case FORMULA_SAME: return x[0];
    case FORMULA_NUMBER: return w->scalar(e, op, 0, to, x[0]);
    }
    return NULL;
}

const char *emit_formula(emitter *e, pto_op op, const char *const *x)
{
    static const emit_words words = {arithmetic, comparison, selection, emit_convert, emit_scalar_as};
    return emit_formula_of(e, op, x, &words);
}
