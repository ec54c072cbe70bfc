#include "core/semantics_compare.h"

#include "ir/float_format.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static uint64_t bits_of(const bound_tensor *t, uint64_t index)
{
    const uint32_t bytes = dtype_bytes(t->type);
    uint64_t bits = 0;
    memcpy(&bits, t->data + index * bytes, bytes);
    return bits;
}

static bool is_float(const bound_tensor *t) { return dtype_class_of(t->type) == DTYPE_CLASS_FLOAT; }

static bool is_unsigned(const bound_tensor *t)
{
    const dtype_class c = dtype_class_of(t->type);
    return c == DTYPE_CLASS_UINT || c == DTYPE_CLASS_BOOL || c == DTYPE_CLASS_OPAQUE;
}

static int64_t sign_extend(uint64_t bits, uint32_t bytes)
{
    const uint32_t shift = 64 - 8 * bytes;
    return (int64_t)(bits << shift) >> shift;
}

static double element_of(const bound_tensor *t, uint64_t index)
{
    const uint64_t bits = bits_of(t, index);
    if (is_float(t)) return float_decode(t->type, (uint32_t)bits);
    return is_unsigned(t) ? (double)bits : (double)sign_extend(bits, dtype_bytes(t->type));
}

/* |a - b|, also of 64-bit integers that are one double; infinite when one of them is no number and they differ. */
static double error_between(const bound_tensor *a, const bound_tensor *b, uint64_t index)
{
    const uint64_t left = bits_of(a, index), right = bits_of(b, index);
    if (left == right) return 0;
    const double x = element_of(a, index), y = element_of(b, index);
    if (isnan(x) && isnan(y)) return 0;
    if (is_float(a)) {
        if (x == y) return 0;
        return isfinite(x) && isfinite(y) ? fabs(x - y) : (double)INFINITY;
    }
    return fmax(fabs(x - y), 1);
}

static bool are_same_bits(const bound_tensor *a, const bound_tensor *b, uint64_t index)
{
    if (bits_of(a, index) == bits_of(b, index)) return true;
    return is_float(a) && isnan(element_of(a, index)) && isnan(element_of(b, index));
}

static double least_limit(dtype type)
{
    switch (type) {
    case DTYPE_F32: return 1e-37;
    case DTYPE_F16:
    case DTYPE_BF16: return 1e-4;
    default: return 0;
    }
}

semantics_difference semantics_compare(const bound_tensor *before, const bound_tensor *after, const double *spread)
{
    semantics_difference r = {.is_same = true};
    double worst_excess = -1;
    for (uint64_t i = 0; i < before->element_count; i++) {
        if (are_same_bits(before, after, i)) continue;
        r.is_same = false;
        const double error = error_between(before, after, i);
        const double limit = spread ? least_limit(before->type) + (is_float(before) ? 2 : 1) * spread[i] : 0;
        if (spread && isfinite(error) && error <= limit) {
            r.worst_ratio = fmax(r.worst_ratio, limit > 0 && isfinite(limit) ? error / limit : 0);
            continue;
        }
        r.count++;
        const double excess = isfinite(error) ? error - limit : (double)INFINITY;
        if (excess <= worst_excess) continue;
        worst_excess = excess;
        r.at = i;
        r.error = error;
        r.limit = limit;
    }
    return r;
}

void semantics_add_spread(const bound_tensor *before, const bound_tensor *perturbed, double *sums)
{
    for (uint64_t i = 0; i < before->element_count; i++) {
        const double error = error_between(before, perturbed, i);
        sums[i] = is_float(before) ? sums[i] + error * error : fmax(sums[i], error);
    }
}

void semantics_finish_spread(const bound_tensor *t, uint32_t runs, double *sums)
{
    for (uint64_t i = 0; is_float(t) && i < t->element_count; i++) sums[i] = sqrt(sums[i] / runs);
}

void semantics_put_element(const bound_tensor *t, uint64_t index, text_buffer *out)
{
    const uint64_t bits = bits_of(t, index);
    if (is_float(t))
        text_printf(out, "%.9g", float_decode(t->type, (uint32_t)bits));
    else if (is_unsigned(t))
        text_printf(out, "%" PRIu64, bits);
    else
        text_printf(out, "%" PRId64, sign_extend(bits, dtype_bytes(t->type)));
}
