/* Element types and formulas on vectors of <pto/native_vector.h>, whose lanes have 32 bits: narrow integers are i32 or
 * u32 in lanes and cut to their type after each op, masks are truth values. */
#include "emit.h"

static const char *lane_word(pto_dtype t)
{
    static const char *const words[] = {"", "f32", "i32", "u32", "mask"};
    return words[fused_lane_of(t)];
}

const char *emit_vector_type(pto_dtype t)
{
    static const char *const names[] = {"", "pto_f32", "pto_i32", "pto_u32", "pto_mask"};
    return names[fused_lane_of(t)];
}

static const char *memory_word(pto_dtype t) { return t == PTO_MASK ? "bool" : pto_dtype_name(t); }

const char *emit_vector_load(emitter *e, pto_dtype t, const char *at, const char *tail)
{
    if (tail == NULL) return emit_format(e, "pto_load_%s(%s)", memory_word(t), at);
    return emit_format(e, "pto_load_%s_tail(%s, %s)", memory_word(t), at, tail);
}

const char *emit_vector_store(emitter *e, pto_dtype t, const char *at, const char *value, const char *tail)
{
    if (tail == NULL) return emit_format(e, "pto_store_%s(%s, %s);", memory_word(t), at, value);
    return emit_format(e, "pto_store_%s_tail(%s, %s, %s);", memory_word(t), at, value, tail);
}

const char *emit_splat(emitter *e, pto_dtype t, const char *scalar)
{
    if (fused_lane_of(t) == FUSED_LANE_MASK) return emit_format(e, "pto_mask_from_i32(pto_splat_i32(%s))", scalar);
    return emit_format(e, "pto_splat_%s(%s)", lane_word(t), scalar);
}

/* Lanes cut to the element type. */
static const char *cut(emitter *e, pto_dtype t, const char *x)
{
    const int bits = (int)(8 * pto_dtype_bytes(t));
    if (pto_dtype_is_half_float(t)) return emit_format(e, "pto_through_%s(%s)", pto_dtype_name(t), x);
    if (fused_lane_of(t) == FUSED_LANE_I32 && bits < 32)
        return emit_format(e, "((pto_i32)((pto_u32)%s << %d) >> %d)", x, 32 - bits, 32 - bits);
    if (fused_lane_of(t) == FUSED_LANE_U32 && bits < 32) return emit_format(e, "(%s & %u)", x, (1u << bits) - 1);
    return x;
}

const char *emit_uncut(emitter *e, pto_dtype t, const char *x)
{
    const char *through = emit_format(e, "pto_through_%s", pto_dtype_name(t));
    const size_t n = strlen(through);
    if (!pto_dtype_is_half_float(t) || strncmp(x, through, n) != 0) return x;
    const char *inside = emit_bare(e, x + n);
    return inside == x + n ? x : inside;
}

/* ---- arithmetic ---- */

static const char *sign_of(pto_str stem)
{
    static const struct {
        const char *stem, *sign;
    } rows[] = {{"add", "+"}, {"sub", "-"}, {"mul", "*"}, {"div", "/"}, {"and", "&"}, {"or", "|"}, {"xor", "^"}};
    for (uint32_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (pto_str_is(stem, rows[i].stem)) return rows[i].sign;
    return NULL;
}

static int is_one_of(pto_str stem, const char *const *names)
{
    for (; *names != NULL; names++)
        if (pto_str_is(stem, *names)) return 1;
    return 0;
}

/* The scalar of which an operand is the splat; NULL: it is none. */
static const char *scalar_in(emitter *e, const char *x)
{
    static const char splat[] = "pto_splat_f32";
    if (x == NULL || strncmp(x, splat, sizeof splat - 1) != 0) return NULL;
    const char *inside = emit_bare(e, x + sizeof splat - 1);
    return inside == x + sizeof splat - 1 ? NULL : inside;
}

/* Operators take a scalar as it is, beside a vector. */
static const char *beside(emitter *e, const char *x, const char *other)
{
    const char *scalar = scalar_in(e, other) == NULL ? scalar_in(e, x) : NULL;
    if (scalar == NULL) return x;
    return emit_format(e, strchr(scalar, ' ') != NULL ? "(%s)" : "%s", scalar);
}

static const char *of_floats(emitter *e, pto_str stem, const char *a, const char *b)
{
    static const char *const functions[] = {"exp",  "exp_below", "log", "sqrt", "rsqrt", "reciprocal",
                                            "fmod", "pow",       "neg", "abs",  "relu",
#define FUNCTION(word, ...) #word,
#define FUNCTION2(word, ...) #word,
#include <pto/ops/functions.def>
                                            NULL};
    const char *sign = sign_of(stem);
    if (sign != NULL && b != NULL) return emit_format(e, "(%s %s %s)", beside(e, a, b), sign, beside(e, b, a));
    if ((pto_str_is(stem, "max") || pto_str_is(stem, "min")) && scalar_in(e, b) != NULL)
        return emit_format(e, "pto_%.*s_scalar_f32(%s, %s)", PTO_FMT(stem), a, scalar_in(e, b));
    if (pto_str_is(stem, "max") || pto_str_is(stem, "min"))
        return emit_format(e, "pto_%.*s_ignore_f32(%s, %s)", PTO_FMT(stem), a, b);
    if (pto_str_is(stem, "rem")) return emit_format(e, "pto_mod_f32(%s, %s)", a, b);
    if (!is_one_of(stem, functions)) return NULL;
    if (b == NULL) return emit_format(e, "pto_%.*s_f32(%s)", PTO_FMT(stem), a);
    return emit_format(e, "pto_%.*s_f32(%s, %s)", PTO_FMT(stem), a, b);
}

static const char *of_integers(emitter *e, pto_dtype t, pto_str stem, const char *a, const char *b)
{
    static const char *const named[] = {"max", "min", "div", "fmod", NULL}, *const shifts[] = {"shl", "shr", NULL};
    static const char *const added[] = {"add", "sub", "mul", NULL};
    const char *word = lane_word(t), *sign = sign_of(stem);
    const int is_signed = fused_lane_of(t) == FUSED_LANE_I32;
    if (is_one_of(stem, named)) return emit_format(e, "pto_%.*s_%s(%s, %s)", PTO_FMT(stem), word, a, b);
    if (is_one_of(stem, shifts))
        return emit_format(e, "pto_%.*s_%s(%s, %s, %d)", PTO_FMT(stem), word, a, b, (int)(8 * pto_dtype_bytes(t)));
    if (pto_str_is(stem, "rem")) return emit_format(e, "pto_mod_%s(%s, %s)", word, a, b);
    if (pto_str_is(stem, "not")) return emit_format(e, "(~%s)", a);
    if (pto_str_is(stem, "relu")) return is_signed ? emit_format(e, "pto_max_i32(%s, pto_splat_i32(0))", a) : a;
    if (pto_str_is(stem, "neg")) return emit_format(e, "(pto_%s)(0 - (pto_u32)%s)", word, a);
    if (pto_str_is(stem, "abs"))
        return is_signed
                   ? emit_format(e, "pto_select_i32(pto_lt_i32(%s, pto_splat_i32(0)), (pto_i32)(0 - (pto_u32)%s), %s)",
                                 a, a, a)
                   : a;
    if (sign == NULL || b == NULL) return NULL;
    if (is_signed && is_one_of(stem, added)) return emit_format(e, "pto_%.*s_i32(%s, %s)", PTO_FMT(stem), a, b);
    return emit_format(e, "(%s %s %s)", a, sign, b);
}

static const char *of_masks(emitter *e, pto_str stem, const char *a, const char *b)
{
    static const char *const functions[] = {"and", "or", "xor", NULL};
    if (pto_str_is(stem, "not")) return emit_format(e, "pto_mask_not(%s)", a);
    return is_one_of(stem, functions) ? emit_format(e, "pto_mask_%.*s(%s, %s)", PTO_FMT(stem), a, b) : NULL;
}

/* ---- numbers that are at most 0 ---- */

/* Whether a scalar is a number that the text states; which. */
static int is_number(pto_value v, double *number)
{
    const pto_attr value = pto_op_attr(pto_value_op(v), PTO_STR("value"));
    if (storage_is_tile(v) || pto_attr_kind_of(value) != PTO_ATTR_FLOAT) return 0;
    *number = pto_attr_f64(value);
    return 1;
}

/* The op that makes a value, in a region or not. */
static pto_op maker_of(pto_value v) { return pto_value_op(fused_inside(v)); }

enum { MAXIMA = 4 /* of a row's largest number and others */ };

/* Whether a scalar of each row is at least its largest number. */
static int bounds_rows_of(pto_value bound, pto_value rows, uint32_t maxima)
{
    const pto_op def = maker_of(bound);
    if (!PTO_SOME(def)) return 0;
    const pto_str stem = emit_stem(def);
    if (pto_str_is(stem, "rowmax")) return pto_value_same(fused_inside(pto_op_operand(def, 0)), fused_inside(rows));
    if (!pto_str_is(stem, "max") || maxima == 0) return 0;
    for (uint32_t i = 0; i < pto_op_operand_count(def); i++)
        if (bounds_rows_of(pto_op_operand(def, i), rows, maxima - 1)) return 1;
    return 0;
}

static int is_size(pto_value v) { return PTO_SOME(maker_of(v)) && pto_str_is(emit_stem(maker_of(v)), "abs"); }

/* Whether no element is above 0: minus a size or a multiple of it, the lesser of it and 0, or what is left of rows
 * without their largest numbers. */
static int is_at_most_zero(pto_value v)
{
    const pto_op def = maker_of(v);
    double number = 0;
    if (!PTO_SOME(def) || pto_op_operand_count(def) == 0) return 0;
    const pto_str stem = emit_stem(def);
    const pto_value a = pto_op_operand(def, 0);
    if (pto_str_is(stem, "neg")) return is_size(a);
    if (pto_op_operand_count(def) != 2) return 0;
    const pto_value b = pto_op_operand(def, 1);
    if (pto_str_is(stem, "sub")) return emit_rule_of(def) == PTO_RULE_ROW_BINARY && bounds_rows_of(b, a, MAXIMA);
    if (!is_number(b, &number)) return 0;
    if (pto_str_is(stem, "mul")) return number > 0 ? is_at_most_zero(a) : is_size(a);
    return pto_str_is(stem, "min") && number <= 0;
}

static const char *arithmetic(emitter *e, pto_op op, pto_dtype t, const char *a, const char *b)
{
    pto_str stem = emit_stem(op);
    const char *value;
    if (pto_str_is(stem, "exp") && is_at_most_zero(pto_op_operand(op, 0))) stem = PTO_STR("exp_below");
    if (pto_str_is(stem, "rdiv")) {
        const char *swap = a;
        a = b;
        b = swap;
        stem = PTO_STR("div");
    }
    switch (fused_lane_of(t)) {
    case FUSED_LANE_F32: value = of_floats(e, stem, a, b); break;
    case FUSED_LANE_I32:
    case FUSED_LANE_U32: value = of_integers(e, t, stem, a, b); break;
    case FUSED_LANE_MASK: return of_masks(e, stem, a, b);
    default: return NULL;
    }
    return value != NULL ? cut(e, t, value) : NULL;
}

/* ---- conversions ---- */

static const char *rounding(int mode, int to_float)
{
    static const char *const words[] = {"", "PTO_RINT", "PTO_ROUND", "PTO_FLOOR", "PTO_CEIL", "PTO_TRUNC", "PTO_ODD"};
    return mode != 0 ? words[mode] : to_float ? "PTO_RINT" : "PTO_TRUNC";
}

static const char *to_float(emitter *e, pto_dtype to, const char *x, int mode, int saturates)
{
    if (to == PTO_F32) return x;
    if (mode <= 1 && !saturates) return cut(e, to, x);
    return emit_format(e, "pto_f32_from_%s(pto_%s_from_f32(%s, %s, %d))", pto_dtype_name(to), pto_dtype_name(to), x,
                       rounding(mode, 1), saturates);
}

static const char *to_integer(emitter *e, pto_dtype to, const char *x, int mode, int saturates)
{
    const int is_signed = fused_lane_of(to) == FUSED_LANE_I32;
    const uint32_t bits = pto_dtype_bytes(to) == 1 ? 8 : 16;
    const char *how = rounding(mode, 0);
    if (to == PTO_U32) return emit_format(e, "pto_u32_from_f32(%s, %s, %d)", x, how, saturates);
    if (to == PTO_I32) return emit_format(e, "pto_i32_from_f32(%s, %s, %d)", x, how, saturates);
    const int high = (int)((1U << (is_signed ? bits - 1 : bits)) - 1), low = is_signed ? -high - 1 : 0;
    const char *value = emit_format(e, "pto_int_from_f32(%s, %d, %d, %s, %d)", x, low, high, how, saturates);
    return cut(e, to, is_signed ? value : emit_format(e, "(pto_u32)%s", value));
}

static const char *from_integer(emitter *e, pto_dtype to, pto_dtype from, const char *x, int mode, int saturates)
{
    const char *word = lane_word(from);
    const int is_exact = pto_dtype_bytes(from) < 4;
    if (fused_lane_of(to) == FUSED_LANE_MASK) return emit_format(e, "pto_ne_%s(%s, pto_splat_%s(0))", word, x, word);
    if (to == PTO_F32) return emit_format(e, "pto_f32_from_%s(%s, %s)", word, x, rounding(mode, 1));
    /* Rounded to odd first, a second rounding is exact. */
    if (fused_lane_of(to) == FUSED_LANE_F32)
        return to_float(e, to, emit_format(e, "pto_f32_from_%s(%s, %s)", word, x, is_exact ? "PTO_RINT" : "PTO_ODD"),
                        mode, saturates);
    if (saturates) return NULL;
    return cut(e, to, emit_format(e, "(pto_%s)%s", lane_word(to), x));
}

const char *emit_vector_convert(emitter *e, pto_dtype to, pto_dtype from, const char *x, int mode, int saturates,
                                int integral)
{
    const fused_lane source = fused_lane_of(from), target = fused_lane_of(to);
    if (to == from && (source != FUSED_LANE_F32 || !integral || mode == 0)) return x;
    if (source == FUSED_LANE_F32 && target == FUSED_LANE_F32 && to == from)
        return emit_format(e, "pto_whole_f32(%s, %s)", x, rounding(mode, 1));
    if (source == FUSED_LANE_F32 && target == FUSED_LANE_F32) return to_float(e, to, x, mode, saturates);
    if (source == FUSED_LANE_F32 && target == FUSED_LANE_MASK)
        return emit_format(e, "pto_ne_f32(%s, pto_splat_f32(0))", x);
    if (source == FUSED_LANE_F32) return to_integer(e, to, x, mode, saturates);
    if (source != FUSED_LANE_MASK) return from_integer(e, to, from, x, mode, saturates);
    if (target == FUSED_LANE_MASK) return x;
    return emit_format(e, "pto_select_%s(%s, pto_splat_%s(1), pto_splat_%s(0))", lane_word(to), x, lane_word(to),
                       lane_word(to));
}

/* ---- all formulas ---- */

static const char *comparison(emitter *e, pto_op op, pto_dtype t, const char *a, const char *b)
{
    const pto_str word = pto_attr_str_of(op, PTO_STR("relation"));
    return fused_lane_of(t) != FUSED_LANE_MASK
               ? emit_format(e, "pto_%.*s_%s(%s, %s)", PTO_FMT(word), lane_word(t), a, b)
               : NULL;
}

static const char *selection(emitter *e, pto_dtype t, const char *mask, const char *a, const char *b)
{
    if (fused_lane_of(t) == FUSED_LANE_MASK) return NULL;
    return emit_format(e, "pto_select_%s(%s, %s, %s)", lane_word(t), mask, a, b);
}

/* Scalars come as vectors of the type that is wanted. */
static const char *scalar(emitter *e, pto_op op, uint32_t i, pto_dtype t, const char *x)
{
    (void)e, (void)op, (void)i, (void)t;
    return x;
}

const char *emit_vector_formula(emitter *e, pto_op op, const char *const *x)
{
    static const emit_words words = {arithmetic, comparison, selection, emit_vector_convert, scalar};
    return emit_formula_of(e, op, x, &words);
}

/* ---- reductions ---- */

/* "sum", "max", "min"; "rod" of prod. */
static pto_str last_letters(pto_op reduce)
{
    const pto_str name = pto_op_name(reduce);
    return name.n >= 3 ? pto_str_make(name.p + (name.n - 3), 3) : name;
}

const char *emit_vector_step(emitter *e, pto_op reduce, const char *all, const char *x)
{
    const pto_dtype t = pto_type_dtype(pto_value_type(pto_op_operand(reduce, 0)));
    const pto_str last = last_letters(reduce);
    const int is_float = fused_lane_of(t) == FUSED_LANE_F32, adds = pto_str_is(last, "sum"),
              multiplies = pto_str_is(last, "rod");
    if (fused_lane_of(t) == FUSED_LANE_NONE || fused_lane_of(t) == FUSED_LANE_MASK) return NULL;
    if (is_float && (adds || multiplies)) return emit_format(e, "%s %s %s", all, adds ? "+" : "*", x);
    if (is_float) return emit_format(e, "pto_%.*s_ignore_f32(%s, %s)", PTO_FMT(last), all, x);
    if (adds || multiplies)
        return emit_format(e, "(%s)((pto_u32)%s %s (pto_u32)%s)", emit_vector_type(t), all, adds ? "+" : "*", x);
    return emit_format(e, "pto_%.*s_%s(%s, %s)", PTO_FMT(last), lane_word(t), all, x);
}

const char *emit_extreme(pto_op reduce)
{
    const pto_str last = last_letters(reduce);
    if (fused_lane_of(pto_type_dtype(pto_value_type(pto_op_operand(reduce, 0)))) != FUSED_LANE_F32) return NULL;
    return pto_str_is(last, "max") ? "max" : pto_str_is(last, "min") ? "min" : NULL;
}

const char *emit_row_function(emitter *e, pto_op reduce)
{
    const pto_dtype t = pto_type_dtype(pto_value_type(pto_op_operand(reduce, 0)));
    const pto_str last = last_letters(reduce);
    if (fused_lane_of(t) != FUSED_LANE_F32 || pto_str_is(last, "rod")) return NULL;
    return emit_format(e, "pto_row_%.*s_%s", PTO_FMT(last), pto_dtype_name(t));
}

const char *emit_vector_total(emitter *e, pto_op reduce, const char *all)
{
    const pto_dtype t = pto_type_dtype(pto_value_type(pto_op_operand(reduce, 0)));
    const pto_str last = last_letters(reduce);
    const int is_float = fused_lane_of(t) == FUSED_LANE_F32;
    const char *word = pto_str_is(last, "sum")   ? "sum"
                       : pto_str_is(last, "rod") ? "product"
                       : pto_str_is(last, "max") ? is_float ? "largest_ignore" : "largest"
                       : is_float                ? "smallest_ignore"
                                                 : "smallest";
    const char *total = emit_format(e, "pto_%s_%s(%s)", word, lane_word(t), all);
    if (is_float) return emit_rounded(e, t, total);
    return emit_format(e, "(%s)%s", emit_lane_type(t), total);
}
