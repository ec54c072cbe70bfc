/* Rows of tensor.def that make and read truth values, or have three operands. */
#include "semantics/lanes.h"
#include "semantics/tensor_walk.h"

#include <math.h>

/* Numbers to truth values. */
static pto_status compare(tensor_call *call, pto_relation relation)
{
    walk w;
    int64_t strides[WALK_ARRAYS];
    const pto_tensor *a = call->in[0], *b = call->in[1], *out = call->out;
    const pto_dtype t = a->dtype;
    if (out->dtype != PTO_BOOL || b->dtype != t)
        return tensor_fail(call, "operands are %s and %s, the result %s: they must be of one type, and bool",
                           pto_dtype_name(t), pto_dtype_name(b->dtype), pto_dtype_name(out->dtype));
    TENSOR_TRY(walk_broadcast(call, 2, &w));
    const int64_t n = walk_split_last(&w, strides);
    for (bool more = walk_begin(&w); more; more = walk_next(&w)) {
        for (int64_t i = 0; i < n; i += TENSOR_LANES) {
            const size_t k = tensor_piece(n, i);
            uint8_t holds[TENSOR_LANES];
            const uint8_t *p = tensor_at(a, w.offset[1] + i * strides[1]),
                          *q = tensor_at(b, w.offset[2] + i * strides[2]);
            if (element_is_float(t)) {
                double x[TENSOR_LANES], y[TENSOR_LANES];
                element_read_f64(t, p, strides[1], k, x);
                element_read_f64(t, q, strides[2], k, y);
                lanes_compare_f64(relation, k, x, y, holds);
            } else {
                int64_t x[TENSOR_LANES], y[TENSOR_LANES];
                element_read_i64(t, p, strides[1], k, x);
                element_read_i64(t, q, strides[2], k, y);
                lanes_compare_i64(relation, element_is_unsigned(t), k, x, y, holds);
            }
            element_copy(1, tensor_at(out, w.offset[0] + i * strides[0]), strides[0], holds, 1, k);
        }
    }
    return PTO_OK;
}

pto_status eval_TENSOR_EQ(tensor_call *call) { return compare(call, PTO_RELATION_EQ); }
pto_status eval_TENSOR_NE(tensor_call *call) { return compare(call, PTO_RELATION_NE); }
pto_status eval_TENSOR_LT(tensor_call *call) { return compare(call, PTO_RELATION_LT); }
pto_status eval_TENSOR_LE(tensor_call *call) { return compare(call, PTO_RELATION_LE); }
pto_status eval_TENSOR_GT(tensor_call *call) { return compare(call, PTO_RELATION_GT); }
pto_status eval_TENSOR_GE(tensor_call *call) { return compare(call, PTO_RELATION_GE); }

pto_status eval_TENSOR_WHERE(tensor_call *call)
{
    walk w;
    const pto_tensor *c = call->in[0], *out = call->out;
    if (c->dtype != PTO_BOOL)
        return tensor_fail(call, "the condition is %s, it must be bool", pto_dtype_name(c->dtype));
    TENSOR_TRY(tensor_check_dtype(call, 1));
    TENSOR_TRY(tensor_check_dtype(call, 2));
    TENSOR_TRY(walk_broadcast(call, 3, &w));
    for (bool more = walk_begin(&w); more; more = walk_next(&w)) {
        const int from = *tensor_at(c, w.offset[1]) != 0 ? 1 : 2;
        element_copy(element_bytes(out->dtype), tensor_at(out, w.offset[0]), 1,
                     tensor_at(call->in[from], w.offset[1 + from]), 1, 1);
    }
    return PTO_OK;
}

/* min(max(x, low), high), where a NaN stays. */
static void clip_one(pto_dtype t, const uint8_t *const in[3], uint8_t *to)
{
    if (element_is_float(t)) {
        double v[3];
        for (int i = 0; i < 3; i++) element_read_f64(t, in[i], 1, 1, &v[i]);
        const double above = tensor_extreme(v[0], v[1], false, NAN_PROPAGATE);
        v[0] = tensor_extreme(above, v[2], true, NAN_PROPAGATE);
        element_write_f64(t, to, 1, 1, v);
        return;
    }
    int64_t v[3];
    for (int i = 0; i < 3; i++) element_read_i64(t, in[i], 1, 1, &v[i]);
    (void)lanes_i64(LANE_MAX, element_is_unsigned(t), 1, &v[0], &v[1], &v[0]);
    (void)lanes_i64(LANE_MIN, element_is_unsigned(t), 1, &v[0], &v[2], &v[0]);
    element_write_i64(t, to, 1, 1, v);
}

pto_status eval_TENSOR_CLIP(tensor_call *call)
{
    walk w;
    for (int i = 0; i < 3; i++) TENSOR_TRY(tensor_check_dtype(call, i));
    TENSOR_TRY(walk_broadcast(call, 3, &w));
    for (bool more = walk_begin(&w); more; more = walk_next(&w)) {
        const uint8_t *in[3];
        for (int i = 0; i < 3; i++) in[i] = tensor_at(call->in[i], w.offset[1 + i]);
        clip_one(call->out->dtype, in, tensor_at(call->out, w.offset[0]));
    }
    return PTO_OK;
}

/* A truth value from up to two: bit 2 a + b of `table`. Numbers are true where they are not 0. */
static pto_status logic(tensor_call *call, int operands, unsigned table)
{
    walk w;
    const pto_tensor *out = call->out;
    if (out->dtype != PTO_BOOL)
        return tensor_fail(call, "the result is %s, it must be bool", pto_dtype_name(out->dtype));
    TENSOR_TRY(walk_broadcast(call, operands, &w));
    for (bool more = walk_begin(&w); more; more = walk_next(&w)) {
        unsigned place = 0;
        for (int i = 0; i < operands; i++) {
            double x;
            element_read_f64(call->in[i]->dtype, tensor_at(call->in[i], w.offset[1 + i]), 1, 1, &x);
            place = 2 * place + (x != 0);
        }
        *tensor_at(out, w.offset[0]) = table >> place & 1;
    }
    return PTO_OK;
}

pto_status eval_TENSOR_LOGICAL_NOT(tensor_call *call) { return logic(call, 1, 1); }
pto_status eval_TENSOR_LOGICAL_AND(tensor_call *call) { return logic(call, 2, 8); }
pto_status eval_TENSOR_LOGICAL_OR(tensor_call *call) { return logic(call, 2, 14); }

typedef enum float_class { IS_NAN, IS_INF, IS_FINITE } float_class;

static pto_status classify(tensor_call *call, float_class wanted)
{
    walk w;
    const pto_tensor *in = call->in[0], *out = call->out;
    if (out->dtype != PTO_BOOL || !element_is_float(in->dtype))
        return tensor_fail(call, "the operand is %s, the result %s: they must be a float and bool",
                           pto_dtype_name(in->dtype), pto_dtype_name(out->dtype));
    TENSOR_TRY(walk_broadcast(call, 1, &w));
    for (bool more = walk_begin(&w); more; more = walk_next(&w)) {
        double x;
        element_read_f64(in->dtype, tensor_at(in, w.offset[1]), 1, 1, &x);
        const float_class is = isnan(x) ? IS_NAN : isinf(x) ? IS_INF : IS_FINITE;
        *tensor_at(out, w.offset[0]) = is == wanted;
    }
    return PTO_OK;
}

pto_status eval_TENSOR_ISNAN(tensor_call *call) { return classify(call, IS_NAN); }
pto_status eval_TENSOR_ISINF(tensor_call *call) { return classify(call, IS_INF); }
pto_status eval_TENSOR_ISFINITE(tensor_call *call) { return classify(call, IS_FINITE); }
