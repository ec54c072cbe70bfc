#include "tools/run/tensor_compare.h"

#include "tests/unit/unit.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

static tensor_array array_of(char kind, uint32_t item_bytes, uint64_t count, const void *data)
{
    return (tensor_array){
        {.kind = kind, .item_bytes = item_bytes, .rank = 1, .dims = {(int64_t)count}, .element_count = count}, data};
}

static comparison_result compare_f32(comparison c, const float *want, const float *got, uint64_t count)
{
    const tensor_array array = array_of('f', 4, count, want);
    c.want = &array;
    return compare_tensors(&c, DTYPE_F32, got);
}

static const float infinite = INFINITY, no_number = NAN;

TEST(rules_are_found_by_the_names_of_case_files)
{
    assert_int_equal(compare_rule_by_name(STR("f32-elementwise")), COMPARE_F32_ELEMENTWISE);
    assert_int_equal(compare_rule_by_name(STR("int8-quantised")), COMPARE_INT8_QUANTISED);
    assert_int_equal(compare_rule_by_name(STR("f32")), COMPARE_NONE);
}

TEST(no_tolerance_is_exact)
{
    const float want[] = {1, -0.0F, 3}, same[] = {1, 0.0F, 3}, other[] = {1, 0, nextafterf(3, 4)};
    assert_true(compare_f32((comparison){.rule = COMPARE_TOLERANCE}, want, same, 3).is_equal);
    const comparison_result r = compare_f32((comparison){.rule = COMPARE_TOLERANCE}, want, other, 3);
    assert_false(r.is_equal);
    assert_int_equal(r.bad_count, 1);
    assert_int_equal(r.worst, 2);
    assert_true(r.worst_want == 3 && r.worst_got > 3 && r.worst_bound == 0);
}

TEST(tolerances_add_and_their_bound_is_inside)
{
    const float want[] = {8}, inside[] = {10}, outside[] = {10.5F};
    const comparison c = {.rule = COMPARE_TOLERANCE, .atol = 1, .rtol = 0.125};
    assert_true(compare_f32(c, want, inside, 1).is_equal);
    assert_false(compare_f32(c, want, outside, 1).is_equal);
    assert_true(compare_f32(c, want, inside, 1).max_abs == 2);
    assert_true(compare_f32(c, want, inside, 1).max_rel == 0.25);
}

TEST(what_is_not_finite_must_be_matched_under_every_rule)
{
    const float magnitudes[] = {INFINITY, INFINITY};
    const tensor_array magnitude = array_of('f', 4, 2, magnitudes);
    for (int rule = COMPARE_TOLERANCE; rule <= COMPARE_INT8_QUANTISED; rule++) {
        const comparison c = {
            .rule = (compare_rule)rule, .atol = 1e30, .rtol = 1e30, .terms = 1e30, .magnitude = &magnitude};
        const float finite[] = {1, 1}, want[] = {infinite, no_number}, negative[] = {-infinite, no_number};
        assert_true(compare_f32(c, want, want, 2).is_equal);
        assert_int_equal(compare_f32(c, want, negative, 2).bad_count, 1);
        assert_int_equal(compare_f32(c, want, finite, 2).bad_count, 2);
        assert_int_equal(compare_f32(c, finite, want, 2).bad_count, 2);
    }
}

TEST(a_reduction_is_bounded_by_its_magnitudes)
{
    const double magnitudes[] = {100, 100};
    const tensor_array magnitude = array_of('f', 8, 2, magnitudes);
    const comparison c = {.rule = COMPARE_F32_REDUCE, .terms = 16, .magnitude = &magnitude};
    const float bound = 8 * 0x1p-24F * 4 * 100, want[] = {0, 0}, inside[] = {bound, -bound},
                outside[] = {bound * 1.01F, 0};
    assert_true(compare_f32(c, want, inside, 2).is_equal);
    assert_int_equal(compare_f32(c, want, outside, 2).bad_count, 1);
}

TEST(quantised_outputs_may_be_off_by_one_in_one_of_a_thousand)
{
    int8_t want[2000] = {0}, got[2000] = {0};
    const tensor_array array = array_of('i', 1, 2000, want);
    const comparison c = {.rule = COMPARE_INT8_QUANTISED, .want = &array};
    got[0] = 1;
    got[1999] = -1;
    assert_true(compare_tensors(&c, DTYPE_I8, got).is_equal);
    got[5] = 1;
    assert_false(compare_tensors(&c, DTYPE_I8, got).is_equal);
    memset(got, 0, sizeof got);
    got[5] = 2;
    assert_false(compare_tensors(&c, DTYPE_I8, got).is_equal);
}

TEST(integers_of_64_bits_are_compared_beyond_what_a_double_holds)
{
    const int64_t want[] = {INT64_C(9007199254740993), -5}, got[] = {INT64_C(9007199254740992), -5};
    const tensor_array array = array_of('i', 8, 2, want);
    const comparison c = {.rule = COMPARE_TOLERANCE, .want = &array};
    assert_true(compare_tensors(&c, DTYPE_I64, want).is_equal);
    const comparison_result r = compare_tensors(&c, DTYPE_I64, got);
    assert_false(r.is_equal);
    assert_int_equal(r.bad_count, 1);
}

TEST(bf16_travels_as_bits_or_is_compared_by_value)
{
    const uint16_t got[] = {0x3f80, 0xc000}; /* 1, -2 */
    const float values[] = {1, -2};
    const tensor_array bits = array_of('u', 2, 2, got), numbers = array_of('f', 4, 2, values);
    assert_true(compare_tensors(&(comparison){.rule = COMPARE_TOLERANCE, .want = &bits}, DTYPE_BF16, got).is_equal);
    assert_true(compare_tensors(&(comparison){.rule = COMPARE_TOLERANCE, .want = &numbers}, DTYPE_BF16, got).is_equal);
}

TEST(elements_of_every_kind_are_read)
{
    const int16_t i16 = -3;
    const uint8_t u8 = 200;
    const uint16_t half = 0xc100; /* -2.5 */
    const double f64 = 0.1;
    const tensor_array a = array_of('i', 2, 1, &i16), b = array_of('u', 1, 1, &u8), c = array_of('f', 2, 1, &half),
                       d = array_of('f', 8, 1, &f64);
    assert_true(tensor_element(&a, 0) == -3);
    assert_true(tensor_element(&b, 0) == 200);
    assert_true(tensor_element(&c, 0) == -2.5);
    assert_true(tensor_element(&d, 0) == 0.1);
}

TEST(nothing_equals_nothing)
{
    const comparison_result r = compare_f32((comparison){.rule = COMPARE_TOLERANCE}, NULL, NULL, 0);
    assert_true(r.is_equal);
    assert_int_equal(r.element_count, 0);
}
