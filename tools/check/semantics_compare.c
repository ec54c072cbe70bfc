#include "tools/check/semantics_compare.h"

#include "ir/context/float_format.h"

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

/* |a - b|, also of 64-bit integers that are one double; infinite when one of them is not a number and they differ. */
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

/* -1, 0 or 1: the numbers in order, -0 below +0. */
static int order_of(const bound_tensor *t, uint64_t left, uint64_t right)
{
    const uint32_t bytes = dtype_bytes(t->type);
    if (is_float(t)) {
        const double x = float_decode(t->type, (uint32_t)left), y = float_decode(t->type, (uint32_t)right);
        if (x == y) return (signbit(y) != 0) - (signbit(x) != 0);
        return x < y ? -1 : 1;
    }
    if (is_unsigned(t)) return (left > right) - (left < right);
    return (sign_extend(left, bytes) > sign_extend(right, bytes)) -
           (sign_extend(left, bytes) < sign_extend(right, bytes));
}

static bool is_nan(const bound_tensor *t, uint64_t index) { return is_float(t) && isnan(element_of(t, index)); }

static bool is_within(const bound_tensor *t, uint64_t index, const semantics_bounds *b)
{
    if (is_nan(t, index)) return semantics_allows_nan(b, index);
    if (is_nan(b->least, index)) return false;
    const uint64_t x = bits_of(t, index);
    return order_of(t, bits_of(b->least, index), x) <= 0 && order_of(t, x, bits_of(b->most, index)) <= 0;
}

/* How far `after` may be from `before` on the side where it is. */
static double limit_of(const bound_tensor *before, const bound_tensor *after, uint64_t index, const semantics_bounds *b)
{
    if (b == NULL) return 0;
    const bool is_above = order_of(before, bits_of(before, index), bits_of(after, index)) <= 0;
    return error_between(before, is_above ? b->most : b->least, index);
}

static bool is_open(const bound_tensor *t, uint64_t index, const semantics_bounds *b)
{
    const double least = element_of(b->least, index), most = element_of(b->most, index);
    if (is_float(t)) return least == -(double)INFINITY && most == (double)INFINITY;
    const double range = ldexp(1, 8 * (int)dtype_bytes(t->type)) - 1;
    return dtype_bytes(t->type) > 0 && most - least >= range && t->type != DTYPE_BOOL;
}

static void note_beyond(semantics_difference *r, uint64_t index, double error, double limit, double *worst_excess)
{
    const double excess = isfinite(error) && isfinite(limit) ? error - limit : (double)INFINITY;
    r->count++;
    if (excess <= *worst_excess) return;
    *worst_excess = excess;
    r->at = index;
    r->error = error;
    r->limit = limit;
}

semantics_difference semantics_compare(const bound_tensor *before, const bound_tensor *after,
                                       const semantics_bounds *bounds)
{
    semantics_difference r = {.is_same = true};
    double worst_excess = -1;
    const size_t bytes = before->element_count * dtype_bytes(before->type);
    if (bytes == 0 || memcmp(before->data, after->data, bytes) == 0) return r;
    for (uint64_t i = 0; i < before->element_count; i++) {
        if (are_same_bits(before, after, i)) continue;
        r.is_same = false;
        const double error = error_between(before, after, i), limit = limit_of(before, after, i, bounds);
        if (bounds == NULL || !is_within(after, i, bounds)) {
            note_beyond(&r, i, error, limit, &worst_excess);
            continue;
        }
        r.open += is_open(after, i, bounds);
        if (limit > 0 && isfinite(limit) && isfinite(error)) r.worst_ratio = fmax(r.worst_ratio, error / limit);
    }
    return r;
}

bool semantics_allows_nan(const semantics_bounds *b, uint64_t index) { return element_of(b->nan, index) != 0; }

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
