#include "tools/check/semantics_compare.h"

#include "tests/unit/unit.h"

#include <math.h>

static bound_tensor tensor_of(dtype type, uint64_t count, void *data)
{
    return (bound_tensor){
        .type = type, .rank = 1, .dims = {(int64_t)count}, .element_count = count, .data = data, .is_output = true};
}

/* `least` NULL: bit for bit. */
static semantics_difference compare_within(float before, float after, const float *least, const float *most,
                                           float may_be_nan)
{
    float ends[3] = {least != NULL ? *least : 0, most != NULL ? *most : 0, may_be_nan};
    const bound_tensor a = tensor_of(DTYPE_F32, 1, &before), b = tensor_of(DTYPE_F32, 1, &after),
                       lo = tensor_of(DTYPE_F32, 1, &ends[0]), hi = tensor_of(DTYPE_F32, 1, &ends[1]),
                       nan = tensor_of(DTYPE_F32, 1, &ends[2]);
    const semantics_bounds bounds = {&lo, &hi, &nan};
    return semantics_compare(&a, &b, least != NULL ? &bounds : NULL);
}

static semantics_difference compare_f32(float before, float after)
{
    return compare_within(before, after, NULL, NULL, 0);
}

TEST(semantics_compare_counts_every_bit)
{
    assert_true(compare_f32(1, 1).is_same);
    assert_int_equal(compare_f32(1, nextafterf(1, 2)).count, 1);
    assert_int_equal(compare_f32(0.0f, -0.0f).count, 1);
    assert_int_equal(compare_f32(INFINITY, INFINITY).count, 0);
    assert_int_equal(compare_f32(INFINITY, -INFINITY).count, 1);
    assert_int_equal(compare_f32(1, NAN).count, 1);
    /* Every NaN is the same. */
    uint32_t quiet = 0x7fc00000, other = 0xffc00123;
    const bound_tensor a = tensor_of(DTYPE_F32, 1, &quiet), b = tensor_of(DTYPE_F32, 1, &other);
    assert_true(semantics_compare(&a, &b, NULL).is_same);
}

TEST(semantics_compare_allows_what_is_within_bounds)
{
    const float least = 0.75f, most = 1.5f, zero = 0, minus_zero = -0.0f, nan = NAN, top = INFINITY, bottom = -INFINITY;
    assert_int_equal(compare_within(1, 1.5f, &least, &most, 0).count, 0);
    assert_int_equal(compare_within(1, 0.75f, &least, &most, 0).count, 0);
    const semantics_difference r = compare_within(1, 1.75f, &least, &most, 0),
                               s = compare_within(1, 0.5f, &least, &most, 0);
    assert_true(r.count == 1 && r.error == 0.75 && r.limit == 0.5 && !r.is_same);
    assert_true(s.count == 1 && s.error == 0.5 && s.limit == 0.25);
    assert_true(compare_within(1, 1.25f, &least, &most, 0).worst_ratio == 0.5);
    /* Zeros have signs. */
    assert_int_equal(compare_within(0.0f, -0.0f, &zero, &zero, 0).count, 1);
    assert_int_equal(compare_within(0.0f, -0.0f, &minus_zero, &zero, 0).count, 0);
    assert_int_equal(compare_within(-0.0f, 0.0f, &minus_zero, &minus_zero, 0).count, 1);
    /* NaN is there or not, whatever the numbers are. */
    assert_int_equal(compare_within(1, NAN, &bottom, &top, 0).count, 1);
    assert_int_equal(compare_within(1, NAN, &least, &most, 1).count, 0);
    assert_int_equal(compare_within(NAN, 1, &nan, &nan, 1).count, 1);
    assert_int_equal(compare_within(1, INFINITY, &least, &top, 0).count, 0);
    /* Where every number is allowed nothing is decided. */
    assert_int_equal(compare_within(1, 2, &bottom, &top, 0).open, 1);
    assert_int_equal(compare_within(1, 2, &least, &top, 0).open, 0);
}

TEST(semantics_compare_takes_integers_as_they_are)
{
    int64_t before[] = {(INT64_C(1) << 60), -1, 7}, after[] = {(INT64_C(1) << 60) + 1, -1, 5};
    const bound_tensor a = tensor_of(DTYPE_I64, 3, before), b = tensor_of(DTYPE_I64, 3, after);
    semantics_difference r = semantics_compare(&a, &b, NULL);
    assert_int_equal(r.count, 2);
    assert_int_equal(r.at, 2);
    int64_t least[] = {before[0], -1, 5}, most[] = {after[0], -1, 7}, fewer[] = {before[0], -1, 7}, none[3] = {0};
    const bound_tensor lo = tensor_of(DTYPE_I64, 3, least), hi = tensor_of(DTYPE_I64, 3, most),
                       below = tensor_of(DTYPE_I64, 3, fewer), nan = tensor_of(DTYPE_I64, 3, none);
    const semantics_bounds bounds = {&lo, &hi, &nan}, tight = {&lo, &below, &nan};
    assert_int_equal(semantics_compare(&a, &b, &bounds).count, 0);
    assert_int_equal(semantics_compare(&a, &b, &tight).count, 1);
    text_buffer t;
    text_init(&t);
    semantics_put_element(&b, 0, &t);
    assert_string_equal(t.p, "1152921504606846977");
    text_fini(&t);
}
