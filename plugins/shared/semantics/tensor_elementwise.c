/* Rows of tensor.def that compute each element from elements in the same place: maps of floats, sums and products,
 * quotients, bits. */
#include "semantics/lanes.h"
#include "semantics/tensor_walk.h"

#include <math.h>

static double neg(double x) { return -x; }
static double rsqrt(double x) { return 1 / sqrt(x); }
static double reciprocal(double x) { return 1 / x; }
static double sigmoid(double x) { return 1 / (1 + exp(-x)); }
static double silu(double x) { return x / (1 + exp(-x)); }
static double relu(double x) { return x > 0 || x != x ? x : 0; }

/* (1 + tanh(u)) / 2 = 1 / (1 + exp(-2u)), without the cancellation of the left side. */
static double gelu_tanh(double x)
{
    const double u = 0.79788456080286535588 * (x + 0.044715 * x * x * x);
    return x / (1 + exp(-2 * u));
}

static double gelu_sigmoid(double x) { return x / (1 + exp(-1.702 * x)); }

static pto_status map_float(tensor_call *call, double (*function)(double))
{
    walk w;
    int64_t strides[WALK_ARRAYS];
    double x[TENSOR_LANES];
    const pto_tensor *in = call->in[0], *out = call->out;
    TENSOR_TRY(tensor_check_same_dims(call, 0));
    TENSOR_TRY(walk_broadcast(call, 1, &w));
    const int64_t n = walk_split_last(&w, strides);
    for (bool more = walk_begin(&w); more; more = walk_next(&w)) {
        for (int64_t i = 0; i < n; i += TENSOR_LANES) {
            const size_t k = tensor_piece(n, i);
            element_read_f64(in->dtype, tensor_at(in, w.offset[1] + i * strides[1]), strides[1], k, x);
            for (size_t j = 0; j < k; j++) x[j] = function(x[j]);
            element_write_f64(out->dtype, tensor_at(out, w.offset[0] + i * strides[0]), strides[0], k, x);
        }
    }
    return PTO_OK;
}

static pto_status unary_float(tensor_call *call, double (*function)(double))
{
    TENSOR_TRY(tensor_check_float(call));
    TENSOR_TRY(tensor_check_dtype(call, 0));
    return map_float(call, function);
}

static double sign(double x) { return x != x ? x : (x > 0) - (x < 0); }

typedef enum int_op { INT_NEG, INT_ABS, INT_RELU, INT_SIGN } int_op;

/* function: for floats. */
static pto_status unary_number(tensor_call *call, double (*function)(double), int_op op)
{
    walk w;
    int64_t strides[WALK_ARRAYS], x[TENSOR_LANES];
    const pto_tensor *in = call->in[0], *out = call->out;
    if (element_is_float(out->dtype)) return unary_float(call, function);
    TENSOR_TRY(tensor_check_dtype(call, 0));
    TENSOR_TRY(tensor_check_same_dims(call, 0));
    TENSOR_TRY(walk_broadcast(call, 1, &w));
    const int64_t n = walk_split_last(&w, strides);
    const bool is_unsigned = element_is_unsigned(out->dtype);
    for (bool more = walk_begin(&w); more; more = walk_next(&w)) {
        for (int64_t i = 0; i < n; i += TENSOR_LANES) {
            const size_t k = tensor_piece(n, i);
            element_read_i64(in->dtype, tensor_at(in, w.offset[1] + i * strides[1]), strides[1], k, x);
            for (size_t j = 0; j < k; j++) {
                const bool negative = x[j] < 0 && !is_unsigned;
                if (op == INT_NEG || (op == INT_ABS && negative)) x[j] = (int64_t)-(uint64_t)x[j];
                if (op == INT_RELU && negative) x[j] = 0;
                if (op == INT_SIGN) x[j] = negative ? -1 : x[j] != 0;
            }
            element_write_i64(out->dtype, tensor_at(out, w.offset[0] + i * strides[0]), strides[0], k, x);
        }
    }
    return PTO_OK;
}

pto_status eval_TENSOR_NEG(tensor_call *call) { return unary_number(call, neg, INT_NEG); }
pto_status eval_TENSOR_ABS(tensor_call *call) { return unary_number(call, fabs, INT_ABS); }
pto_status eval_TENSOR_SIGN(tensor_call *call) { return unary_number(call, sign, INT_SIGN); }
pto_status eval_TENSOR_RELU(tensor_call *call) { return unary_number(call, relu, INT_RELU); }
#define FLOATS(F)             \
    F(FLOOR, floor)           \
    F(CEIL, ceil)             \
    F(ROUND, rint)            \
    F(TRUNC, trunc)           \
    F(SQRT, sqrt)             \
    F(RSQRT, rsqrt)           \
    F(RECIPROCAL, reciprocal) \
    F(EXP, exp)               \
    F(LOG, log)               \
    F(EXP2, exp2)             \
    F(EXPM1, expm1)           \
    F(LOG2, log2)             \
    F(LOG10, log10)           \
    F(LOG1P, log1p)           \
    F(SINH, sinh)             \
    F(COSH, cosh)             \
    F(ASINH, asinh)           \
    F(ACOSH, acosh)           \
    F(ATANH, atanh)           \
    F(CBRT, cbrt)             \
    F(SIN, sin)               \
    F(COS, cos)               \
    F(TAN, tan)               \
    F(ASIN, asin)             \
    F(ACOS, acos)             \
    F(ATAN, atan)             \
    F(ERF, erf)               \
    F(ERFC, erfc)             \
    F(TANH, tanh)             \
    F(SIGMOID, sigmoid)       \
    F(SILU, silu)

#define EVALUATE(ROW, function) \
    pto_status eval_TENSOR_##ROW(tensor_call *call) { return unary_float(call, function); }
FLOATS(EVALUATE)

pto_status eval_TENSOR_GELU(tensor_call *call)
{
    return unary_float(call, call->approx == GELU_SIGMOID ? gelu_sigmoid : gelu_tanh);
}

double (*tensor_function(tensor_op row, gelu_approx approx))(double)
{
    switch (row) {
#define FUNCTION_OF(ROW, function) \
    case EVAL_TENSOR_##ROW: return function;
        FLOATS(FUNCTION_OF)
    case EVAL_TENSOR_GELU: return approx == GELU_SIGMOID ? gelu_sigmoid : gelu_tanh;
    default: return NULL;
    }
}

double tensor_extreme(double a, double b, bool smaller, nan_rule nan)
{
    if (a != a) return nan == NAN_PROPAGATE ? a : b;
    if (b != b) return nan == NAN_PROPAGATE ? b : a;
    if (a == b) return (signbit(a) != 0) == smaller ? a : b;
    return (a < b) == smaller ? a : b;
}

static void combine(lane_op op, nan_rule nan, size_t n, double *a, const double *b)
{
    for (size_t i = 0; i < n; i++) {
        switch (op) {
        case LANE_ADD: a[i] += b[i]; break;
        case LANE_SUB: a[i] -= b[i]; break;
        case LANE_MUL: a[i] *= b[i]; break;
        case LANE_DIV: a[i] /= b[i]; break;
        case LANE_MAX:
        case LANE_MIN: a[i] = tensor_extreme(a[i], b[i], op == LANE_MIN, nan); break;
        case LANE_REM: a[i] = lanes_rem(a[i], b[i]); break;
        case LANE_FMOD: a[i] = fmod(a[i], b[i]); break;
        case LANE_POW: a[i] = pow(a[i], b[i]); break;
        case LANE_LRELU: a[i] = a[i] > 0 ? a[i] : a[i] * b[i]; break;
        }
    }
}

static pto_status binary(tensor_call *call, lane_op op)
{
    walk w;
    int64_t strides[WALK_ARRAYS];
    const pto_tensor *a = call->in[0], *b = call->in[1], *out = call->out;
    const pto_dtype t = out->dtype;
    if (element_is_float(t)) TENSOR_TRY(tensor_check_float(call));
    TENSOR_TRY(tensor_check_dtype(call, 0));
    TENSOR_TRY(tensor_check_dtype(call, 1));
    TENSOR_TRY(walk_broadcast(call, 2, &w));
    const int64_t n = walk_split_last(&w, strides);
    for (bool more = walk_begin(&w); more; more = walk_next(&w)) {
        for (int64_t i = 0; i < n; i += TENSOR_LANES) {
            const size_t k = tensor_piece(n, i);
            uint8_t *to = tensor_at(out, w.offset[0] + i * strides[0]);
            const uint8_t *p = tensor_at(a, w.offset[1] + i * strides[1]),
                          *q = tensor_at(b, w.offset[2] + i * strides[2]);
            if (element_is_float(t)) {
                double x[TENSOR_LANES], y[TENSOR_LANES];
                element_read_f64(t, p, strides[1], k, x);
                element_read_f64(t, q, strides[2], k, y);
                combine(op, call->nan, k, x, y);
                element_write_f64(t, to, strides[0], k, x);
            } else {
                int64_t x[TENSOR_LANES], y[TENSOR_LANES];
                element_read_i64(t, p, strides[1], k, x);
                element_read_i64(t, q, strides[2], k, y);
                call->faults += lanes_i64(op, element_is_unsigned(t), k, x, y, x);
                element_write_i64(t, to, strides[0], k, x);
            }
        }
    }
    return PTO_OK;
}

pto_status eval_TENSOR_ADD(tensor_call *call) { return binary(call, LANE_ADD); }
pto_status eval_TENSOR_SUB(tensor_call *call) { return binary(call, LANE_SUB); }
pto_status eval_TENSOR_MUL(tensor_call *call) { return binary(call, LANE_MUL); }
pto_status eval_TENSOR_DIV(tensor_call *call) { return binary(call, LANE_DIV); }
pto_status eval_TENSOR_MAXIMUM(tensor_call *call) { return binary(call, LANE_MAX); }
pto_status eval_TENSOR_MINIMUM(tensor_call *call) { return binary(call, LANE_MIN); }
pto_status eval_TENSOR_MOD(tensor_call *call) { return binary(call, LANE_REM); }
pto_status eval_TENSOR_FMOD(tensor_call *call) { return binary(call, LANE_FMOD); }
pto_status eval_TENSOR_POW(tensor_call *call) { return binary(call, LANE_POW); }

/* ---- of two floats ---- */

/* As numpy has it: a - fmod(a, b) is a multiple of b, and one less where fmod has not the sign of b. */
static double floordiv(double a, double b)
{
    if (b == 0) return a / b;
    const double rest = fmod(a, b), whole = rint((a - rest) / b);
    const double quotient = rest != 0 && (rest < 0) != (b < 0) ? whole - 1 : whole;
    return quotient == 0 ? copysign(0, a / b) : quotient;
}

static double prelu(double a, double b) { return a > 0 ? a : a * b; }

static pto_status map_pairs(tensor_call *call, double (*function)(double, double))
{
    walk w;
    const pto_tensor *a = call->in[0], *b = call->in[1], *out = call->out;
    TENSOR_TRY(tensor_check_float(call));
    TENSOR_TRY(tensor_check_dtype(call, 0));
    TENSOR_TRY(tensor_check_dtype(call, 1));
    TENSOR_TRY(walk_broadcast(call, 2, &w));
    for (bool more = walk_begin(&w); more; more = walk_next(&w)) {
        double x, y;
        element_read_f64(a->dtype, tensor_at(a, w.offset[1]), 1, 1, &x);
        element_read_f64(b->dtype, tensor_at(b, w.offset[2]), 1, 1, &y);
        x = function(x, y);
        element_write_f64(out->dtype, tensor_at(out, w.offset[0]), 1, 1, &x);
    }
    return PTO_OK;
}

static int64_t floordiv_i64(bool is_unsigned, int64_t a, int64_t b)
{
    if (b == 0) return -1;
    if (is_unsigned) return (int64_t)((uint64_t)a / (uint64_t)b);
    if (b == -1) return (int64_t)-(uint64_t)a;
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static pto_status floordiv_integers(tensor_call *call)
{
    walk w;
    const pto_tensor *a = call->in[0], *b = call->in[1], *out = call->out;
    TENSOR_TRY(tensor_check_dtype(call, 0));
    TENSOR_TRY(tensor_check_dtype(call, 1));
    TENSOR_TRY(walk_broadcast(call, 2, &w));
    for (bool more = walk_begin(&w); more; more = walk_next(&w)) {
        int64_t x, y;
        element_read_i64(a->dtype, tensor_at(a, w.offset[1]), 1, 1, &x);
        element_read_i64(b->dtype, tensor_at(b, w.offset[2]), 1, 1, &y);
        call->faults += y == 0;
        x = floordiv_i64(element_is_unsigned(out->dtype), x, y);
        element_write_i64(out->dtype, tensor_at(out, w.offset[0]), 1, 1, &x);
    }
    return PTO_OK;
}

pto_status eval_TENSOR_FLOORDIV(tensor_call *call)
{
    return element_is_float(call->out->dtype) ? map_pairs(call, floordiv) : floordiv_integers(call);
}
static double swiglu(double a, double b) { return silu(a) * b; }
pto_status eval_TENSOR_SWIGLU(tensor_call *call) { return map_pairs(call, swiglu); }
pto_status eval_TENSOR_PRELU(tensor_call *call) { return map_pairs(call, prelu); }
pto_status eval_TENSOR_COPYSIGN(tensor_call *call) { return map_pairs(call, copysign); }
pto_status eval_TENSOR_HYPOT(tensor_call *call) { return map_pairs(call, hypot); }
pto_status eval_TENSOR_ATAN2(tensor_call *call) { return map_pairs(call, atan2); }

double (*tensor_function2(tensor_op row))(double, double)
{
    return row == EVAL_TENSOR_SWIGLU  ? swiglu
           : row == EVAL_TENSOR_HYPOT ? hypot
           : row == EVAL_TENSOR_ATAN2 ? atan2
                                      : NULL;
}

static uint64_t magnitude(bool is_unsigned, int64_t x) { return !is_unsigned && x < 0 ? -(uint64_t)x : (uint64_t)x; }

pto_status eval_TENSOR_GCD(tensor_call *call)
{
    walk w;
    const pto_tensor *a = call->in[0], *b = call->in[1], *out = call->out;
    const bool is_unsigned = element_is_unsigned(out->dtype);
    if (element_is_float(out->dtype))
        return tensor_fail(call, "element type %s has no divisors", pto_dtype_name(out->dtype));
    TENSOR_TRY(tensor_check_dtype(call, 0));
    TENSOR_TRY(tensor_check_dtype(call, 1));
    TENSOR_TRY(walk_broadcast(call, 2, &w));
    for (bool more = walk_begin(&w); more; more = walk_next(&w)) {
        int64_t v[2];
        element_read_i64(a->dtype, tensor_at(a, w.offset[1]), 1, 1, &v[0]);
        element_read_i64(b->dtype, tensor_at(b, w.offset[2]), 1, 1, &v[1]);
        uint64_t x = magnitude(is_unsigned, v[0]), y = magnitude(is_unsigned, v[1]);
        while (y != 0) {
            const uint64_t rest = x % y;
            x = y;
            y = rest;
        }
        v[0] = (int64_t)x;
        element_write_i64(out->dtype, tensor_at(out, w.offset[0]), 1, 1, v);
    }
    return PTO_OK;
}

/* ---- bits of integers and of truth values ---- */

typedef enum bit_op { BIT_AND, BIT_OR, BIT_XOR, BIT_NOT, BIT_SHL, BIT_SHR } bit_op;

static int64_t combine_bits(bit_op op, pto_dtype t, int64_t a, int64_t b)
{
    switch (op) {
    case BIT_AND: return a & b;
    case BIT_OR: return a | b;
    case BIT_XOR: return a ^ b;
    case BIT_NOT: return t == PTO_BOOL ? a == 0 : ~a;
    case BIT_SHL:
    case BIT_SHR: break;
    }
    return lanes_shift(a, b, (int)(8 * element_bytes(t)), element_is_unsigned(t), op == BIT_SHL);
}

static pto_status bitwise(tensor_call *call, bit_op op)
{
    walk w;
    const pto_tensor *out = call->out;
    const int operands = op == BIT_NOT ? 1 : 2;
    if (element_is_float(out->dtype))
        return tensor_fail(call, "element type %s has no bits to combine", pto_dtype_name(out->dtype));
    for (int i = 0; i < operands; i++) TENSOR_TRY(tensor_check_dtype(call, i));
    TENSOR_TRY(walk_broadcast(call, operands, &w));
    for (bool more = walk_begin(&w); more; more = walk_next(&w)) {
        int64_t v[2] = {0, 0};
        for (int i = 0; i < operands; i++)
            element_read_i64(call->in[i]->dtype, tensor_at(call->in[i], w.offset[1 + i]), 1, 1, &v[i]);
        v[0] = combine_bits(op, out->dtype, v[0], v[1]);
        element_write_i64(out->dtype, tensor_at(out, w.offset[0]), 1, 1, v);
    }
    return PTO_OK;
}

pto_status eval_TENSOR_BITWISE_AND(tensor_call *call) { return bitwise(call, BIT_AND); }
pto_status eval_TENSOR_BITWISE_OR(tensor_call *call) { return bitwise(call, BIT_OR); }
pto_status eval_TENSOR_BITWISE_XOR(tensor_call *call) { return bitwise(call, BIT_XOR); }
pto_status eval_TENSOR_BITWISE_NOT(tensor_call *call) { return bitwise(call, BIT_NOT); }
pto_status eval_TENSOR_SHL(tensor_call *call) { return bitwise(call, BIT_SHL); }
pto_status eval_TENSOR_SHR(tensor_call *call) { return bitwise(call, BIT_SHR); }
