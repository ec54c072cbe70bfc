#include "tools/run/tensor_compare.h"

#include "ir/context/float_format.h"

#include <math.h>
#include <string.h>

const char *const compare_rule_names[] = {"tolerance", "f32-elementwise", "f32-reduce", "bf16-out",
                                          "f16-out",   "int8-quantised",  NULL};

compare_rule compare_rule_by_name(str name)
{
    for (int i = 0; compare_rule_names[i] != NULL; i++) {
        if (str_is(name, compare_rule_names[i])) return (compare_rule)(COMPARE_TOLERANCE + i);
    }
    return COMPARE_NONE;
}

const char *compare_rule_name(compare_rule rule)
{
    BUG_IF(rule == COMPARE_NONE, "a comparison without a rule");
    return compare_rule_names[rule - COMPARE_TOLERANCE];
}

static int64_t sign_extend(uint64_t bits, uint32_t bytes)
{
    const uint32_t shift = 64 - 8 * bytes;
    return (int64_t)(bits << shift) >> shift;
}

double tensor_element(const tensor_array *a, uint64_t index)
{
    const uint32_t bytes = a->header.item_bytes;
    uint64_t bits = 0;
    memcpy(&bits, a->data + index * bytes, bytes);
    if (dtype_class_of((dtype)a->header.type) == DTYPE_CLASS_FLOAT)
        return float_decode((dtype)a->header.type, (uint32_t)bits);
    if (a->header.kind == 'i') return (double)sign_extend(bits, bytes);
    if (a->header.kind != 'f') return (double)bits;
    if (bytes == 2) return float_decode(DTYPE_F16, (uint32_t)bits);
    if (bytes == 4) return float_decode(DTYPE_F32, (uint32_t)bits);
    double d;
    memcpy(&d, &bits, sizeof d);
    return d;
}

static double got_element(dtype type, const void *data, uint64_t index)
{
    const uint32_t bytes = dtype_bytes(type);
    uint64_t bits = 0;
    memcpy(&bits, (const uint8_t *)data + index * bytes, bytes);
    switch (dtype_class_of(type)) {
    case DTYPE_CLASS_FLOAT: return float_decode(type, (uint32_t)bits);
    case DTYPE_CLASS_SINT:
    case DTYPE_CLASS_INDEX: return (double)sign_extend(bits, bytes);
    case DTYPE_CLASS_UINT:
    case DTYPE_CLASS_BOOL: return (double)bits;
    case DTYPE_CLASS_OPAQUE:
    case DTYPE_CLASS_NONE: break;
    }
    return (double)NAN;
}

/* What an array stands for when it is bound to a parameter of a type: in .npy, bf16 and fp8 travel as integers. */
static double want_element(const comparison *c, dtype type, uint64_t index)
{
    const tensor_array *want = c->want;
    if (dtype_class_of(type) == DTYPE_CLASS_FLOAT && want->header.kind != 'f' && want->header.type == PTO_DTYPE_NONE)
        return got_element(type, want->data, index);
    return tensor_element(want, index);
}

static bool is_integer(dtype type)
{
    const dtype_class c = dtype_class_of(type);
    return c == DTYPE_CLASS_SINT || c == DTYPE_CLASS_UINT || c == DTYPE_CLASS_INDEX;
}

/* 64-bit integers that differ can be the same double. */
static bool are_same_bits(const comparison *c, dtype type, const void *got, uint64_t index)
{
    if (!is_integer(type) || dtype_bytes(type) != 8 || c->want->header.item_bytes != 8 || c->want->header.kind == 'f')
        return true;
    return memcmp((const uint8_t *)got + index * 8, c->want->data + index * 8, 8) == 0;
}

static double bound_of(const comparison *c, double want, uint64_t index)
{
    switch (c->rule) {
    case COMPARE_TOLERANCE: return c->atol + c->rtol * fabs(want);
    case COMPARE_F32_ELEMENTWISE: return 1e-37 + 2.4e-7 * c->terms * fabs(want);
    case COMPARE_F32_REDUCE: return 8 * 0x1p-24 * sqrt(c->terms) * tensor_element(c->magnitude, index);
    case COMPARE_BF16_OUT: return 1e-4 + 0x1p-7 * fabs(want);
    case COMPARE_F16_OUT: return 1e-4 + 0x1p-10 * fabs(want);
    case COMPARE_INT8_QUANTISED:
    case COMPARE_NONE: return 0;
    }
    return 0;
}

/* A difference of a NaN or an infinity is one, and never below its bound; one that a double cannot hold is at least 1.
 */
static double error_of(double want, double got)
{
    if (want == got) return 1;
    return isfinite(want) && isfinite(got) ? fabs(got - want) : (double)INFINITY;
}

/* How far beyond its bound: the bound of an infinite reference is infinite too. */
static double excess_of(double error, double bound) { return isfinite(error) && bound > 0 ? error / bound : error; }

comparison_result compare_tensors(const comparison *c, dtype type, const void *got)
{
    comparison_result r = {.element_count = c->want->header.element_count};
    double worst_excess = -1;
    uint64_t off_by_one = 0;
    for (uint64_t i = 0; i < r.element_count; i++) {
        const double w = want_element(c, type, i), g = got_element(type, got, i);
        const bool same = w == g && are_same_bits(c, type, got, i);
        if (same || (isnan(w) && isnan(g))) continue;
        const double error = error_of(w, g), bound = bound_of(c, w, i), excess = excess_of(error, bound);
        r.max_abs = fmax(r.max_abs, error);
        r.max_rel = fmax(r.max_rel, isfinite(error) && w != 0 ? error / fabs(w) : error);
        if (c->rule == COMPARE_INT8_QUANTISED && error <= 1)
            off_by_one++;
        else if (!isfinite(error) || !(error <= bound))
            r.bad_count++;
        if (excess <= worst_excess) continue;
        worst_excess = excess;
        r.worst = i;
        r.worst_got = g;
        r.worst_want = w;
        r.worst_bound = bound;
    }
    r.is_equal = r.bad_count == 0 && (double)off_by_one <= 0.001 * (double)r.element_count;
    return r;
}
