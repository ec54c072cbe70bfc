#include "native_outputs.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* Chance that integers which were computed are taken for ones that were not. */
#define FALSE_ALARMS 1e-9

/* What eight bytes of an output hold before a call: bits of their own at each place, except for some. `is_computed`:
 * elements may come to such bits by themselves. */
typedef struct blank {
    uint64_t fixed, random;
    int is_computed;
} blank;

/* Floats are signalling NaNs, which arithmetic never makes; a bool is neither 0 nor 1. */
static blank blank_of(pto_dtype dtype)
{
    if (dtype == PTO_BOOL) return (blank){UINT64_C(0xa0a0a0a0a0a0a0a0), UINT64_C(0x0f0f0f0f0f0f0f0f), 0};
    if (!pto_dtype_is_float(dtype) || pto_dtype_is_byte_float(dtype)) return (blank){0, UINT64_MAX, 1};
    const pto_float_format f = pto_dtype_float_format(dtype);
    const uint64_t each = pto_dtype_is_half_float(dtype) ? UINT64_C(0x0001000100010001) : UINT64_C(0x0000000100000001),
                   one = UINT64_C(1) << (f.mantissa_bits - 2), infinity = f.largest + UINT64_C(1);
    return (blank){(infinity | one) * each, (one - 1) * each, 0};
}

/* The eight bytes at a place; splitmix64. */
static uint64_t word_at(const blank *b, uint64_t place)
{
    uint64_t z = (place + 1) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return b->fixed | ((z ^ (z >> 31)) & b->random);
}

/* Whether what the call's tensor i holds before it has no meaning, and nothing else is in its memory. */
static int is_output(const pto_call *call, const pto_binding *bindings, uint32_t i)
{
    const pto_attr modes = pto_op_attr(call->function, PTO_STR("params"));
    if (i < call->argument_count &&
        !(PTO_SOME(modes) && pto_str_is(pto_attr_str(pto_attr_item(modes, i, NULL)), "out")))
        return 0;
    return bindings[i].tensor->bytes != 0 && !pto_call_shares(call, bindings[i].tensor);
}

static void fill(const pto_tensor *t)
{
    const blank b = blank_of(t->dtype);
    char *p = t->data;
    uint64_t place = 0, left = t->bytes;
    for (; left >= sizeof(uint64_t); left -= sizeof(uint64_t), p += sizeof(uint64_t)) {
        const uint64_t word = word_at(&b, place++);
        memcpy(p, &word, sizeof word);
    }
    const uint64_t word = word_at(&b, place);
    memcpy(p, &word, left);
}

void native_outputs_fill(const pto_call *call, const pto_binding *bindings)
{
    for (uint32_t i = 0; i < call->argument_count + call->result_count; i++)
        if (is_output(call, bindings, i)) fill(bindings[i].tensor);
}

/* Whether `found` of `count` elements may hold by chance what they held before: a bound on the tail of the binomial
 * distribution, after Chernoff. */
static int is_chance(uint64_t found, uint64_t count, size_t bytes)
{
    const double expected = ldexp((double)count, -8 * (int)bytes), n = (double)found;
    return n <= expected || n - expected - n * log(n / expected) > log(FALSE_ALARMS);
}

/* How many elements of `each` bytes hold what they held before, and the first of them. */
static uint64_t count_blank(const pto_tensor *t, const blank *b, size_t each, uint64_t *first)
{
    const uint64_t ones = UINT64_MAX / (UINT64_MAX >> (64 - 8 * each)), tops = ones << (8 * each - 1);
    const char *p = t->data;
    uint64_t found = 0;
    for (uint64_t at = 0; at < t->bytes; at += sizeof(uint64_t)) {
        const uint64_t word = word_at(b, at / sizeof word);
        const size_t n = t->bytes - at < sizeof word ? (size_t)(t->bytes - at) : sizeof word;
        uint64_t now = ~word;
        memcpy(&now, p + at, n);
        const uint64_t differs = now ^ word;
        /* An element of zeros is the only one that borrows, or the first of those that do. */
        if (((differs - ones) & ~differs & tops) == 0) continue;
        for (size_t k = 0; k < n; k += each) {
            if (memcmp((const char *)&word + k, p + at + k, each) != 0) continue;
            if (found++ == 0) *first = (at + k) / each;
        }
    }
    return found;
}

static pto_status check(const pto_call *call, const pto_binding *output)
{
    const pto_tensor *t = output->tensor;
    const size_t each = (size_t)pto_dtype_bytes(t->dtype);
    const blank b = blank_of(t->dtype);
    uint64_t first = 0;
    if (each == 0) return PTO_OK;
    const uint64_t count = t->bytes / each, found = count_blank(t, &b, each, &first);
    if (found == 0 || (b.is_computed && is_chance(found, count, each))) return PTO_OK;
    const pto_str name = pto_value_name(output->value);
    return pto_error(call->function, "pto.native/never-written",
                     "%llu of the %llu elements of %%%.*s are never written, the first one is %llu",
                     (unsigned long long)found, (unsigned long long)count, PTO_FMT(name), (unsigned long long)first);
}

pto_status native_outputs_check(const pto_call *call, const pto_binding *bindings)
{
    for (uint32_t i = 0; i < call->argument_count + call->result_count; i++)
        if (is_output(call, bindings, i)) PTO_TRY(check(call, &bindings[i]));
    return PTO_OK;
}
