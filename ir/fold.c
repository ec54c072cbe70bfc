#include "ir/fold.h"

#include "ir/context/float_format.h"

#include <math.h>
#include <string.h>

enum { ELEMENTS_MAX = 16 };

/* One element: floats as the double that equals it, integers as their 64 bits, sign- or zero-extended. */
typedef union element {
    double f;
    uint64_t i;
} element;

/* A constant operand. A splat has one element for any shape, extents unknown or not. */
typedef struct constant {
    dtype d;
    bool splat;
    uint32_t rank, count;
    int64_t dims[TYPE_MAX_RANK];
    element elements[ELEMENTS_MAX];
} constant;

static bool is_float(dtype d) { return dtype_class_of(d) == DTYPE_CLASS_FLOAT; }
static bool is_signed(dtype d)
{
    return dtype_class_of(d) == DTYPE_CLASS_SINT || dtype_class_of(d) == DTYPE_CLASS_INDEX;
}

/* Keeps the low bits that the type has and extends them again. */
static uint64_t wrapped(dtype d, uint64_t v)
{
    uint32_t bits = dtype_bits(d);
    if (d == DTYPE_BOOL) return v != 0;
    if (bits >= 64) return v;
    v &= (UINT64_C(1) << bits) - 1;
    bool negative = is_signed(d) && ((v >> (bits - 1)) & 1) != 0;
    return negative ? v | ~((UINT64_C(1) << bits) - 1) : v;
}

static double rounded(dtype d, double v) { return float_decode(d, float_encode(d, v, ROUND_RINT, false)); }

static element element_from_bytes(dtype d, const uint8_t *p)
{
    uint64_t bits = 0;
    for (uint32_t i = 0; i < dtype_bytes(d); i++) bits |= (uint64_t)p[i] << (8 * i);
    if (is_float(d)) return (element){.f = float_decode(d, (uint32_t)bits)};
    return (element){.i = wrapped(d, bits)};
}

static void element_to_bytes(dtype d, element e, uint8_t *p)
{
    uint64_t bits = is_float(d) ? float_encode(d, e.f, ROUND_RINT, false) : e.i;
    for (uint32_t i = 0; i < dtype_bytes(d); i++) p[i] = (uint8_t)(bits >> (8 * i));
}

static bool element_from_number(dtype d, const attr_node *n, element *out)
{
    if (is_float(d)) {
        int64_t limit = INT64_C(1) << 53; /* beyond it a double skips integers */
        if (n->kind == ATTR_INT && (n->is_large || n->i > limit || n->i < -limit)) return false;
        out->f = rounded(d, n->kind == ATTR_FLOAT ? n->f : (double)n->i);
        return n->kind == ATTR_FLOAT || n->kind == ATTR_INT;
    }
    out->i = (uint64_t)n->i;
    return n->kind == ATTR_INT || n->kind == ATTR_BOOL;
}

/* Extents of a type with at most 16 elements, all of them numbers; false otherwise. */
static bool small_shape(const ir_context *c, const type_node *t, constant *out)
{
    int64_t count = 1;
    out->rank = t->rank;
    for (uint32_t i = 0; i < t->rank; i++) {
        if (!expr_is_const(c, t->dims[i], &out->dims[i]) || out->dims[i] < 0 || out->dims[i] > ELEMENTS_MAX)
            return false;
        count *= out->dims[i];
        if (count > ELEMENTS_MAX) return false;
    }
    out->count = (uint32_t)count;
    return true;
}

static bool read_constant(const module *m, value_id v, constant *out)
{
    const ir_context *c = module_context(m);
    op_id def = value_op(m, v);
    if (def == 0 || op_kind_of(m, def) != OP_TENSOR_CONSTANT) return false;
    const type_node *t = type_at(c, value_type(m, v));
    attr_id value = op_attr(m, def, "value");
    if (value == 0 || t->kind != TYPE_TENSOR) return false;
    const attr_node *n = attr_at(c, value);
    memset(out, 0, sizeof *out);
    out->d = t->dtype;
    out->splat = n->kind != ATTR_DENSE;
    if (out->splat) return n->kind != ATTR_RESOURCE && element_from_number(out->d, n, &out->elements[0]);
    if (!small_shape(c, t, out) || n->byte_count != out->count * dtype_bytes(out->d)) return false;
    for (uint32_t i = 0; i < out->count; i++)
        out->elements[i] = element_from_bytes(out->d, n->bytes + i * dtype_bytes(out->d));
    return true;
}

/* ---- arithmetic ---- */

/* max and min: zeros are ordered by sign; a NaN wins or loses by the attribute. */
static bool extreme(double a, double b, bool largest, str nan, double *out)
{
    if (isnan(a) || isnan(b)) {
        if (str_is(nan, "any")) return false;
        bool ignore = str_is(nan, "ignore");
        *out = ignore && !isnan(a) ? a : ignore && !isnan(b) ? b : (double)NAN;
        return true;
    }
    bool first = a == b ? (signbit(a) == 0) == largest : (a > b) == largest;
    *out = first ? a : b;
    return true;
}

/* Double holds more than twice the bits of every format here, so rounding twice is rounding once (+ - * /). */
static bool float_binary(fold_rule rule, double a, double b, str nan, double *out)
{
    switch (rule) {
    case FOLD_ADD: *out = a + b; return true;
    case FOLD_SUB: *out = a - b; return true;
    case FOLD_MUL: *out = a * b; return true;
    case FOLD_DIV: *out = a / b; return true;
    case FOLD_FMOD: *out = fmod(a, b); return true;
    case FOLD_MAXIMUM: return extreme(a, b, true, nan, out);
    case FOLD_MINIMUM: return extreme(a, b, false, nan, out);
    default: return false;
    }
}

static uint64_t remainder_of(dtype d, uint64_t a, uint64_t b)
{
    if (!is_signed(d)) return a % b;
    return (int64_t)b == -1 ? 0 : (uint64_t)((int64_t)a % (int64_t)b);
}

static bool integer_binary(fold_rule rule, dtype d, uint64_t a, uint64_t b, uint64_t *out)
{
    bool less = is_signed(d) ? (int64_t)a < (int64_t)b : a < b;
    switch (rule) {
    case FOLD_ADD: *out = a + b; return true;
    case FOLD_SUB: *out = a - b; return true;
    case FOLD_MUL: *out = a * b; return true;
    case FOLD_DIV:
        if (b == 0) return false;
        if (is_signed(d) && (int64_t)b == -1)
            *out = 0 - a;
        else
            *out = is_signed(d) ? (uint64_t)((int64_t)a / (int64_t)b) : a / b;
        return true;
    case FOLD_FMOD:
        if (b == 0) return false;
        *out = remainder_of(d, a, b);
        return true;
    case FOLD_MAXIMUM: *out = less ? b : a; return true;
    case FOLD_MINIMUM: *out = less ? a : b; return true;
    case FOLD_AND: *out = a & b; return true;
    case FOLD_OR: *out = a | b; return true;
    case FOLD_XOR: *out = a ^ b; return true;
    default: return false;
    }
}

/* Which of `=`, `<` and `>` holds for two elements, as 1, 2 and 4; 0: one is NaN. */
static unsigned order_of(dtype d, element a, element b)
{
    if (is_float(d)) return a.f == b.f ? 1u : a.f < b.f ? 2u : a.f > b.f ? 4u : 0u;
    bool less = is_signed(d) ? (int64_t)a.i < (int64_t)b.i : a.i < b.i;
    return a.i == b.i ? 1u : less ? 2u : 4u;
}

static bool is_true(dtype d, element e) { return is_float(d) ? e.f != 0 : e.i != 0; }

/* Truth values of two elements of type d; false: the rule makes none. */
static bool truth(fold_rule rule, dtype d, element a, element b, element *out)
{
    unsigned order = order_of(d, a, b);
    switch (rule) {
    case FOLD_EQ: out->i = order == 1; return true;
    case FOLD_NE: out->i = order != 1; return true;
    case FOLD_LT: out->i = order == 2; return true;
    case FOLD_LE: out->i = order == 1 || order == 2; return true;
    case FOLD_GT: out->i = order == 4; return true;
    case FOLD_GE: out->i = order == 1 || order == 4; return true;
    case FOLD_LOGICAL_AND: out->i = is_true(d, a) && is_true(d, b); return true;
    case FOLD_LOGICAL_OR: out->i = is_true(d, a) || is_true(d, b); return true;
    default: return false;
    }
}

/* Of two elements of type d. */
static bool compute(fold_rule rule, dtype d, element a, element b, str nan, element *out)
{
    if (truth(rule, d, a, b, out)) return true;
    if (is_float(d)) {
        double v;
        if (!float_binary(rule, a.f, b.f, nan, &v)) return false;
        out->f = rounded(d, v);
        return true;
    }
    uint64_t v;
    if (!integer_binary(rule, d, a.i, b.i, &v)) return false;
    out->i = wrapped(d, v);
    return true;
}

/* ---- of one element ---- */

static bool float_unary(fold_rule rule, dtype d, double x, element *out)
{
    switch (rule) {
    case FOLD_NEG: out->f = -x; return true;
    case FOLD_ABS: out->f = fabs(x); return true;
    case FOLD_SIGN: out->f = isnan(x) ? x : (double)((x > 0) - (x < 0)); return true;
    case FOLD_RELU: out->f = x > 0 || isnan(x) ? x : 0; return true;
    case FOLD_FLOOR: out->f = floor(x); return true;
    case FOLD_CEIL: out->f = ceil(x); return true;
    case FOLD_ROUND: out->f = rint(x); return true;
    case FOLD_TRUNC: out->f = trunc(x); return true;
    case FOLD_SQRT: out->f = rounded(d, sqrt(x)); return true;
    case FOLD_LOGICAL_NOT: out->i = x == 0; return true;
    case FOLD_ISNAN: out->i = (uint64_t)(isnan(x) != 0); return true;
    case FOLD_ISINF: out->i = (uint64_t)(isinf(x) != 0); return true;
    case FOLD_ISFINITE: out->i = (uint64_t)(isfinite(x) != 0); return true;
    default: return false;
    }
}

static bool integer_unary(fold_rule rule, dtype d, uint64_t x, element *out)
{
    const bool negative = is_signed(d) && (int64_t)x < 0;
    switch (rule) {
    case FOLD_NEG: out->i = wrapped(d, 0 - x); return true;
    case FOLD_ABS: out->i = wrapped(d, negative ? 0 - x : x); return true;
    case FOLD_SIGN: out->i = negative ? UINT64_MAX : (uint64_t)(x != 0); return true;
    case FOLD_RELU: out->i = negative ? 0 : x; return true;
    case FOLD_NOT: out->i = d == DTYPE_BOOL ? x == 0 : wrapped(d, ~x); return true;
    case FOLD_LOGICAL_NOT: out->i = x == 0; return true;
    default: return false;
    }
}

/* ---- casts ---- */

static bool float_to_float(double v, dtype to, round_mode mode, bool saturate, element *out)
{
    out->f = float_decode(to, float_encode(to, v, mode, saturate));
    if (!isfinite(v)) return !saturate;
    /* Sources differ on what overflow under a directed mode results in: run time decides. */
    return saturate || mode == ROUND_RINT || fabs(v) <= float_largest(to);
}

static bool float_to_integer(double v, dtype to, round_mode mode, bool saturate, element *out)
{
    if (to == DTYPE_BOOL) {
        out->i = v != 0;
        return !isnan(v);
    }
    if (!isfinite(v)) return false;
    double whole = float_round_integral(v, mode);
    uint32_t bits = dtype_bits(to);
    double lo = is_signed(to) ? -ldexp(1, (int)bits - 1) : 0, end = ldexp(1, (int)bits - (is_signed(to) ? 1 : 0));
    if (whole < lo || whole >= end) {
        if (!saturate) return false;
        uint64_t top = bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
        uint64_t largest = is_signed(to) ? top >> 1 : top;
        out->i = whole >= end ? largest : is_signed(to) ? ~largest : 0;
        return true;
    }
    out->i = is_signed(to) ? (uint64_t)(int64_t)whole : (uint64_t)whole;
    return true;
}

static void integer_to_integer(dtype from, uint64_t v, dtype to, bool saturate, element *out)
{
    out->i = wrapped(to, v);
    if (!saturate || to == DTYPE_BOOL) return;
    uint32_t bits = dtype_bits(to);
    bool negative = is_signed(from) && (int64_t)v < 0;
    uint64_t top = bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    uint64_t largest = is_signed(to) ? top >> 1 : top;
    if (!negative && v > largest) out->i = largest;
    if (negative && !is_signed(to)) out->i = 0;
    if (negative && is_signed(to) && (int64_t)v < (int64_t)~largest) out->i = ~largest;
}

static bool cast_element(dtype from, dtype to, element v, round_mode mode, bool saturate, element *out)
{
    if (is_float(from) && is_float(to)) return from != to && float_to_float(v.f, to, mode, saturate, out);
    if (is_float(from)) return float_to_integer(v.f, to, mode, saturate, out);
    if (!is_float(to)) {
        integer_to_integer(from, v.i, to, saturate, out);
        return true;
    }
    bool negative = is_signed(from) && (int64_t)v.i < 0;
    out->f = float_decode(to, float_encode_integer(to, negative, negative ? 0 - v.i : v.i, mode, saturate));
    return isfinite(out->f);
}

/* ---- constants back to attributes ---- */

static attr_id number_attr(ir_context *c, dtype d, element e)
{
    if (is_float(d)) return attr_float(c, e.f);
    return is_signed(d) ? attr_int(c, (int64_t)e.i) : attr_uint(c, e.i);
}

static attr_id constant_attr(const module *m, op_id o, const constant *r)
{
    ir_context *c = module_context(m);
    if (r->splat) return number_attr(c, r->d, r->elements[0]);
    uint8_t bytes[ELEMENTS_MAX * sizeof(uint64_t)];
    for (uint32_t i = 0; i < r->count; i++) element_to_bytes(r->d, r->elements[i], bytes + i * dtype_bytes(r->d));
    return attr_dense(c, value_type(m, op_result(m, o, 0)), r->count * dtype_bytes(r->d), bytes);
}

/* Position in an operand of element `index` of the result under numpy broadcasting. */
static uint32_t broadcast_position(const constant *result, const constant *operand, uint32_t index)
{
    uint32_t position = 0, stride = 1;
    for (uint32_t i = 0; i < result->rank; i++) {
        uint32_t d = result->rank - 1 - i;
        uint32_t at = index % (uint32_t)result->dims[d];
        index /= (uint32_t)result->dims[d];
        if (i >= operand->rank) continue;
        int64_t extent = operand->dims[operand->rank - 1 - i];
        if (extent != 1) position += at * stride;
        stride *= (uint32_t)extent;
    }
    return position;
}

enum { OPERANDS_MAX = 3 };

/* The element `i` of an operand that is broadcast to the result. */
static element element_at(const constant *result, const constant *x, uint32_t i)
{
    return x->elements[x->splat ? 0 : broadcast_position(result, x, i)];
}

/* `from`: the condition of a choice, else the first operand. */
static bool combine(fold_rule rule, dtype d, const element from[OPERANDS_MAX], str nan, element *out)
{
    if (rule != FOLD_WHERE) return compute(rule, d, from[0], from[1], nan, out);
    *out = from[from[0].i != 0 ? 1 : 2];
    return true;
}

static attr_id fold_elements(module *m, op_id o)
{
    const ir_context *c = module_context(m);
    const type_node *t = type_at(c, value_type(m, op_result(m, o, 0)));
    fold_rule rule = (fold_rule)op_info_of(m, o)->fold;
    const uint32_t count = rule == FOLD_WHERE ? 3 : 2;
    constant in[OPERANDS_MAX], r = {.d = t->dtype, .splat = true};
    for (uint32_t i = 0; i < count; i++) {
        if (!read_constant(m, op_operand(m, o, i), &in[i])) return 0;
        r.splat &= in[i].splat;
    }
    str nan = op_attr_str(m, o, "nan");
    if (!r.splat && !small_shape(c, t, &r)) return 0;
    for (uint32_t i = 0; i < (r.splat ? 1 : r.count); i++) {
        element from[OPERANDS_MAX];
        for (uint32_t k = 0; k < count; k++) from[k] = r.splat ? in[k].elements[0] : element_at(&r, &in[k], i);
        if (!combine(rule, in[0].d, from, nan, &r.elements[i])) return 0;
    }
    return constant_attr(m, o, &r);
}

static attr_id fold_unary(module *m, op_id o)
{
    constant r;
    if (!read_constant(m, op_operand(m, o, 0), &r)) return 0;
    dtype from = r.d;
    r.d = type_at(module_context(m), value_type(m, op_result(m, o, 0)))->dtype;
    const fold_rule rule = (fold_rule)op_info_of(m, o)->fold;
    bool cast = rule == FOLD_CAST;
    round_mode mode = ROUND_RINT;
    if (cast && !round_mode_by_name(op_attr_str(m, o, "mode"), &mode)) return 0;
    bool saturate = cast && op_attr_int(m, o, "saturate", 0) != 0;
    for (uint32_t i = 0; i < (r.splat ? 1 : r.count); i++) {
        element v = r.elements[i];
        if (cast             ? !cast_element(from, r.d, v, mode, saturate, &r.elements[i])
            : is_float(from) ? !float_unary(rule, from, v.f, &r.elements[i])
                             : !integer_unary(rule, from, v.i, &r.elements[i]))
            return 0;
    }
    return constant_attr(m, o, &r);
}

static attr_id fold_reshape(module *m, op_id o)
{
    constant r;
    return read_constant(m, op_operand(m, o, 0), &r) ? constant_attr(m, o, &r) : 0;
}

static attr_id fold_transpose(module *m, op_id o)
{
    const ir_context *c = module_context(m);
    constant x;
    if (!read_constant(m, op_operand(m, o, 0), &x)) return 0;
    if (x.splat) return constant_attr(m, o, &x);
    const attr_node *perm = attr_at(c, op_attr(m, o, "perm"));
    uint32_t strides[TYPE_MAX_RANK], stride = 1;
    for (uint32_t d = x.rank; d-- > 0;) {
        strides[d] = stride;
        stride *= (uint32_t)x.dims[d];
    }
    constant r = {.d = x.d, .rank = x.rank, .count = x.count};
    for (uint32_t i = 0; i < r.count; i++) {
        uint32_t left = i, from = 0;
        for (uint32_t d = r.rank; d-- > 0;) {
            uint32_t source = perm->kind == ATTR_LIST ? (uint32_t)attr_at(c, perm->items[d])->i : 0;
            from += left % (uint32_t)x.dims[source] * strides[source];
            left /= (uint32_t)x.dims[source];
        }
        r.elements[i] = x.elements[from];
    }
    return constant_attr(m, o, &r);
}

/* A window of one number is that number; an array stays an array. */
static attr_id fold_view(module *m, op_id o)
{
    constant x;
    return read_constant(m, op_operand(m, o, 0), &x) && x.splat ? constant_attr(m, o, &x) : 0;
}

attr_id op_fold(module *m, op_id o)
{
    switch ((fold_rule)op_info_of(m, o)->fold) {
    case FOLD_NONE: return 0;
    case FOLD_ADD:
    case FOLD_SUB:
    case FOLD_MUL:
    case FOLD_DIV:
    case FOLD_MAXIMUM:
    case FOLD_MINIMUM:
    case FOLD_FMOD:
    case FOLD_EQ:
    case FOLD_NE:
    case FOLD_LT:
    case FOLD_LE:
    case FOLD_GT:
    case FOLD_GE:
    case FOLD_AND:
    case FOLD_OR:
    case FOLD_XOR:
    case FOLD_LOGICAL_AND:
    case FOLD_LOGICAL_OR:
    case FOLD_WHERE: return fold_elements(m, o);
    case FOLD_NEG:
    case FOLD_ABS:
    case FOLD_SIGN:
    case FOLD_RELU:
    case FOLD_FLOOR:
    case FOLD_CEIL:
    case FOLD_ROUND:
    case FOLD_TRUNC:
    case FOLD_SQRT:
    case FOLD_NOT:
    case FOLD_LOGICAL_NOT:
    case FOLD_ISNAN:
    case FOLD_ISINF:
    case FOLD_ISFINITE:
    case FOLD_CAST: return fold_unary(m, o);
    case FOLD_RESHAPE: return fold_reshape(m, o);
    case FOLD_TRANSPOSE: return fold_transpose(m, o);
    case FOLD_VIEW: return fold_view(m, o);
    }
    return 0;
}
