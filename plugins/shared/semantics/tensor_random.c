/* Rows of tensor.def that make random numbers: each element from its place alone. */
#include "semantics/philox.h"
#include "semantics/tensor_walk.h"

#include <math.h>

/* Word `i` of the sequence. */
static uint32_t word_at(const tensor_call *call, uint64_t i)
{
    const uint64_t counter = call->counter + i / 4;
    uint32_t words[4] = {(uint32_t)counter, (uint32_t)(counter >> 32), 0, 0};
    philox4x32_10((uint32_t)call->key, (uint32_t)(call->key >> 32), words);
    return words[i % 4];
}

static double uniform(const tensor_call *call, uint64_t i)
{
    const pto_dtype t = call->out->dtype;
    const int bits = t == PTO_F32 ? 24 : t == PTO_F16 ? 11 : 8;
    return ldexp(word_at(call, i) >> (32 - bits), -bits);
}

static double normal(const tensor_call *call, uint64_t i)
{
    const uint64_t first = i - i % 2;
    const double turn = 6.283185307179586476925 * ldexp(word_at(call, first + 1) >> 8, -24),
                 u = ldexp((word_at(call, first) >> 8) + 1, -24), radius = sqrt(-2 * log(u));
    return radius * (i % 2 == 0 ? cos(turn) : sin(turn));
}

static pto_status fill(tensor_call *call, double (*element)(const tensor_call *call, uint64_t i))
{
    walk w;
    uint64_t i = 0;
    TENSOR_TRY(tensor_check_float(call));
    TENSOR_TRY(walk_broadcast(call, 0, &w));
    for (bool more = walk_begin(&w); more; more = walk_next(&w)) {
        const double x = element(call, i++);
        element_write_f64(call->out->dtype, tensor_at(call->out, w.offset[0]), 1, 1, &x);
    }
    return PTO_OK;
}

pto_status eval_TENSOR_RANDOM_UNIFORM(tensor_call *call) { return fill(call, uniform); }
pto_status eval_TENSOR_RANDOM_NORMAL(tensor_call *call) { return fill(call, normal); }
