#include "tools/check/semantics_inputs.h"

#include "ir/context/float_format.h"

#include <math.h>
#include <string.h>

const char *input_values_name(input_values v)
{
    static const char *const names[INPUTS_COUNT] = {
        [INPUTS_GIVEN] = "given inputs",
        [INPUTS_RANDOM] = "random inputs",
        [INPUTS_SPECIAL] = "inputs with NaN and infinities",
        [INPUTS_EXTREME] = "extreme inputs",
        [INPUTS_NEGATIVE] = "negative inputs",
    };
    return names[v];
}

bool input_values_apply(input_values v, dtype type)
{
    const bool is_float = dtype_class_of(type) == DTYPE_CLASS_FLOAT;
    if (v == INPUTS_SPECIAL || type == DTYPE_BOOL || type == DTYPE_INDEX) return is_float;
    return is_float || v == INPUTS_EXTREME || v == INPUTS_NEGATIVE;
}

/* splitmix64 */
static uint64_t next(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static double unit(uint64_t random) { return (double)(random >> 11) * 0x1p-53; }

/* What one element becomes; NAN_OF_SORT: it stays. */
typedef enum sort {
    SORT_KEPT,
    SORT_NAN,
    SORT_PLUS,
    SORT_MINUS,
    SORT_BOTH,
    SORT_ALL_PLUS,
    SORT_ALL_MINUS,
    SORT_ALL_NAN,
    SORT_ZERO,
    SORT_DENORMAL,
    SORT_HALF,
    SORT_LARGE,
    SORT_LARGE_NEGATIVE,
    SORT_LARGE_BOTH,
    SORT_WIDE
} sort;

static const sort special_sorts[] = {SORT_KEPT, SORT_NAN,  SORT_KEPT,     SORT_PLUS,      SORT_MINUS,
                                     SORT_KEPT, SORT_BOTH, SORT_ALL_PLUS, SORT_ALL_MINUS, SORT_ALL_NAN};
static const sort extreme_sorts[] = {SORT_ZERO,  SORT_DENORMAL,       SORT_KEPT,       SORT_HALF,
                                     SORT_LARGE, SORT_LARGE_NEGATIVE, SORT_LARGE_BOTH, SORT_WIDE};

/* Of one element in sixteen, so that others near it stay what they are. */
static bool is_chosen(uint64_t random) { return (random >> 8 & 15) == 0; }

static double of_sort(dtype type, sort s, double kept, uint64_t random)
{
    const double largest = float_largest(type), infinity = (double)INFINITY;
    const double sign = (random & 1) != 0 ? 1 : -1;
    switch (s) {
    case SORT_NAN: return is_chosen(random) ? (double)NAN : kept;
    case SORT_PLUS: return is_chosen(random) ? infinity : kept;
    case SORT_MINUS: return is_chosen(random) ? -infinity : kept;
    case SORT_BOTH: return is_chosen(random) ? sign * infinity : kept;
    case SORT_ALL_PLUS: return infinity;
    case SORT_ALL_MINUS: return -infinity;
    case SORT_ALL_NAN: return (double)NAN;
    case SORT_ZERO: return sign * 0.0;
    case SORT_HALF: return floor(kept * 64) + 0.5;
    case SORT_LARGE: return largest * (0.5 + 0.5 * unit(random));
    case SORT_LARGE_NEGATIVE: return -largest * (0.5 + 0.5 * unit(random));
    case SORT_LARGE_BOTH: return sign * largest * (0.5 + 0.5 * unit(random));
    case SORT_WIDE: return sign * exp2((unit(random) - 0.5) * 2 * log2(largest));
    default: return kept;
    }
}

/* A number below the least normal one: few bits, which all types keep below their exponents. */
static uint64_t denormal_bits(dtype type, uint64_t random)
{
    const uint32_t bytes = dtype_bytes(type);
    const uint64_t sign = (random & 1) << (8 * bytes - 1);
    return sign | (1 + (random >> 8) % (bytes == 4 ? 0x7fffff : bytes == 2 ? 0x7f : 3));
}

/* Stretches of one sort, of very different lengths, so that rows of any length are of one sort and of several. */
static void fill_floats(bound_tensor *t, const sort *sorts, uint32_t sort_count, uint64_t seed)
{
    const uint32_t bytes = dtype_bytes(t->type);
    uint64_t left = 0;
    sort s = SORT_KEPT;
    for (uint64_t i = 0, k = next(&seed); i < t->element_count; i++, left--) {
        if (left == 0) {
            const uint64_t random = next(&seed);
            left = 1 + (random >> 8) % ((random & 1) != 0 ? 16 : 256);
            s = sorts[k++ % sort_count];
        }
        const uint64_t random = next(&seed);
        uint64_t bits = 0;
        memcpy(&bits, t->data + i * bytes, bytes);
        if (s == SORT_DENORMAL)
            bits = denormal_bits(t->type, random);
        else if (s != SORT_KEPT)
            bits = float_encode(t->type, of_sort(t->type, s, float_decode(t->type, (uint32_t)bits), random), ROUND_RINT,
                                false);
        memcpy(t->data + i * bytes, &bits, bytes);
    }
}

static void fill_ends(bound_tensor *t, uint64_t seed)
{
    const uint32_t bytes = dtype_bytes(t->type);
    const bool is_signed = dtype_class_of(t->type) != DTYPE_CLASS_UINT;
    const uint64_t top = ~UINT64_C(0) >> (64 - 8 * bytes + (is_signed ? 1u : 0u)), bottom = is_signed ? ~top : 0;
    for (uint64_t i = 0; i < t->element_count; i++) {
        const uint64_t random = next(&seed), few[] = {top, bottom, top - 1, bottom + 1, 1, 0, ~UINT64_C(0), random};
        memcpy(t->data + i * bytes, &few[random >> 32 & 7], bytes);
    }
}

static void fill_negative(bound_tensor *t, uint64_t seed)
{
    const uint32_t bytes = dtype_bytes(t->type);
    for (uint64_t i = 0; i < t->element_count; i++) {
        const uint64_t random = next(&seed);
        uint64_t bits = ~UINT64_C(0) - (random & 7); /* -1 to -8, or the largest */
        if (dtype_class_of(t->type) == DTYPE_CLASS_FLOAT)
            bits = float_encode(t->type, -0.25 - 3.75 * unit(random), ROUND_RINT, false);
        memcpy(t->data + i * bytes, &bits, bytes);
    }
}

void input_values_fill(bound_tensor *t, input_values v, uint64_t seed)
{
    const bool is_float = dtype_class_of(t->type) == DTYPE_CLASS_FLOAT;
    if (!input_values_apply(v, t->type)) return;
    if (v == INPUTS_SPECIAL) fill_floats(t, special_sorts, sizeof special_sorts / sizeof *special_sorts, seed);
    if (v == INPUTS_EXTREME && is_float)
        fill_floats(t, extreme_sorts, sizeof extreme_sorts / sizeof *extreme_sorts, seed);
    if (v == INPUTS_EXTREME && !is_float) fill_ends(t, seed);
    if (v == INPUTS_NEGATIVE) fill_negative(t, seed);
}
