/* Rows of tensor.def that make random numbers: each element from its place alone, by Philox4x32-10 of Salmon, Moraes,
 * Dror and Shaw, Parallel random numbers: as easy as 1, 2, 3 (SC 2011). */
#include "semantics/tensor_walk.h"

#include <math.h>

/* words: in, the counter, the low word first; out, the four random words. key1 is the high half of the key. */
static void philox4x32_10(uint32_t key0, uint32_t key1, uint32_t words[4])
{
    for (int round = 0; round < 10; round++) {
        const uint64_t a = UINT64_C(0xd2511f53) * words[0], b = UINT64_C(0xcd9e8d57) * words[2];
        const uint32_t next[4] = {(uint32_t)(b >> 32) ^ words[1] ^ key0, (uint32_t)b,
                                  (uint32_t)(a >> 32) ^ words[3] ^ key1, (uint32_t)a};
        for (int i = 0; i < 4; i++) words[i] = next[i];
        key0 += 0x9e3779b9;
        key1 += 0xbb67ae85;
    }
}

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
    const int bits = pto_dtype_significand_bits(t);
    return ldexp((double)((uint64_t)word_at(call, i) << bits >> 32), -bits); /* the first bits of the word */
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
