/* Rows of tensor.def that compute each element from two: functions of floats, quotients, bits. */
#include "semantics/lanes.h"
#include "semantics/tensor_walk.h"

#include <math.h>

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
pto_status eval_TENSOR_PRELU(tensor_call *call) { return map_pairs(call, prelu); }
pto_status eval_TENSOR_COPYSIGN(tensor_call *call) { return map_pairs(call, copysign); }
pto_status eval_TENSOR_HYPOT(tensor_call *call) { return map_pairs(call, hypot); }
pto_status eval_TENSOR_ATAN2(tensor_call *call) { return map_pairs(call, atan2); }

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
