#include "core/semantics_compare.h"

#include "tests/unit/unit.h"

#include <math.h>

static bound_tensor tensor_of(dtype type, uint64_t count, void *data)
{
    return (bound_tensor){
        .type = type, .rank = 1, .dims = {(int64_t)count}, .element_count = count, .data = data, .is_output = true};
}

static semantics_difference compare_f32(float before, float after, const double *spread)
{
    const bound_tensor a = tensor_of(DTYPE_F32, 1, &before), b = tensor_of(DTYPE_F32, 1, &after);
    return semantics_compare(&a, &b, spread);
}

TEST(semantics_compare_counts_every_bit)
{
    assert_true(compare_f32(1, 1, NULL).is_same);
    assert_int_equal(compare_f32(1, nextafterf(1, 2), NULL).count, 1);
    assert_int_equal(compare_f32(0.0f, -0.0f, NULL).count, 1);
    assert_int_equal(compare_f32(INFINITY, INFINITY, NULL).count, 0);
    assert_int_equal(compare_f32(INFINITY, -INFINITY, NULL).count, 1);
    assert_int_equal(compare_f32(1, NAN, NULL).count, 1);
    /* Every NaN is the same. */
    uint32_t quiet = 0x7fc00000, other = 0xffc00123;
    const bound_tensor a = tensor_of(DTYPE_F32, 1, &quiet), b = tensor_of(DTYPE_F32, 1, &other);
    assert_true(semantics_compare(&a, &b, NULL).is_same);
}

TEST(semantics_compare_allows_twice_the_spread)
{
    const double spread = 0.25, none = 0, any = (double)INFINITY;
    assert_int_equal(compare_f32(1, 1.5f, &spread).count, 0);
    assert_int_equal(compare_f32(1, 1.75f, &spread).count, 1);
    const semantics_difference r = compare_f32(1, 1.75f, &spread);
    assert_true(r.error == 0.75 && r.limit > 0.5 - 1e-9 && r.limit < 0.5 + 1e-9 && !r.is_same);
    assert_int_equal(compare_f32(1, nextafterf(1, 2), &none).count, 1);
    assert_int_equal(compare_f32(0.0f, -0.0f, &none).count, 0);
    assert_int_equal(compare_f32(0, 1e-38f, &none).count, 0);
    assert_int_equal(compare_f32(1, 2, &any).count, 0);
    /* What is no number stays where it is, whatever the spread. */
    assert_int_equal(compare_f32(1, NAN, &any).count, 1);
    assert_int_equal(compare_f32(1, INFINITY, &any).count, 1);
    assert_int_equal(compare_f32(NAN, 1, &any).count, 1);
}

TEST(semantics_compare_takes_integers_as_they_are)
{
    int64_t before[] = {(INT64_C(1) << 60), -1, 7}, after[] = {(INT64_C(1) << 60) + 1, -1, 5};
    const bound_tensor a = tensor_of(DTYPE_I64, 3, before), b = tensor_of(DTYPE_I64, 3, after);
    semantics_difference r = semantics_compare(&a, &b, NULL);
    assert_int_equal(r.count, 2);
    assert_int_equal(r.at, 2);
    const double spread[] = {1, 0, 2}, less[] = {1, 0, 1};
    assert_int_equal(semantics_compare(&a, &b, spread).count, 0);
    assert_int_equal(semantics_compare(&a, &b, less).count, 1);
    text_buffer t;
    text_init(&t);
    semantics_put_element(&b, 0, &t);
    assert_string_equal(t.p, "1152921504606846977");
    text_fini(&t);
}

TEST(semantics_spread_is_the_root_of_the_mean_square)
{
    float before[] = {1, 1}, first[] = {1.3f, 1}, second[] = {0.6f, 1};
    const bound_tensor a = tensor_of(DTYPE_F32, 2, before), b = tensor_of(DTYPE_F32, 2, first),
                       c = tensor_of(DTYPE_F32, 2, second);
    double sums[2] = {0};
    semantics_add_spread(&a, &b, sums);
    semantics_add_spread(&a, &c, sums);
    semantics_finish_spread(&a, 2, sums);
    assert_true(fabs(sums[0] - sqrt((0.09 + 0.16) / 2)) < 1e-6 && sums[1] == 0);
    /* Of integers the largest. */
    int8_t n = 5, m = 7, k = 4;
    const bound_tensor x = tensor_of(DTYPE_I8, 1, &n), y = tensor_of(DTYPE_I8, 1, &m), z = tensor_of(DTYPE_I8, 1, &k);
    double most = 0;
    semantics_add_spread(&x, &y, &most);
    semantics_add_spread(&x, &z, &most);
    semantics_finish_spread(&x, 2, &most);
    assert_true(most == 2);
}
