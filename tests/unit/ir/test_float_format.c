#include "ir/context/float_format.h"

#include "tests/unit/unit.h"

#include <math.h>
#include <string.h>

enum { MODES = ROUND_ODD + 1 };

static uint32_t sign_bit(dtype d) { return 1u << (dtype_bits(d) - 1); }

/* The definition of a rounding mode, in doubles: `low` and `high` are neighbours in magnitude, low < v < high. */
static uint32_t expected_between(uint32_t low, uint32_t high, double a, double b, double v, bool negative,
                                 round_mode mode)
{
    double middle = (a + b) / 2;
    switch (mode) {
    case ROUND_RINT:
        if (v == middle) return (low & 1) == 0 ? low : high;
        return v < middle ? low : high;
    case ROUND_ROUND: return v < middle ? low : high;
    case ROUND_FLOOR: return negative ? high : low;
    case ROUND_CEIL: return negative ? low : high;
    case ROUND_TRUNC: return low;
    case ROUND_ODD: return (low & 1) != 0 ? low : high;
    }
    return 0;
}

static void check_points(dtype d, uint32_t low)
{
    static const double parts[] = {0.0001, 0.25, 0.5, 0.75, 0.9999};
    double a = float_decode(d, low), b = float_decode(d, low + 1);
    assert_true(a < b);
    for (uint32_t mode = 0; mode < MODES; mode++) {
        for (uint32_t negative = 0; negative < 2; negative++) {
            uint32_t sign = negative != 0 ? sign_bit(d) : 0;
            double way = negative != 0 ? -1 : 1;
            assert_int_equal(float_encode(d, way * a, (round_mode)mode, false), sign | low);
            for (uint32_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
                double v = a + (b - a) * parts[i];
                uint32_t want = expected_between(low, low + 1, a, b, v, negative != 0, (round_mode)mode);
                assert_int_equal(float_encode(d, way * v, (round_mode)mode, false), sign | want);
            }
        }
    }
}

/* Every pair of neighbours, in every mode and both signs. */
static void check_format(dtype d, uint32_t largest)
{
    for (uint32_t low = 0; low < largest; low++) check_points(d, low);
    assert_true(float_largest(d) == float_decode(d, largest));
}

TEST(f16_rounds_between_all_neighbours_in_every_mode) { check_format(DTYPE_F16, 0x7bff); }
TEST(bf16_rounds_between_all_neighbours_in_every_mode) { check_format(DTYPE_BF16, 0x7f7f); }
TEST(f8e4m3_rounds_between_all_neighbours_in_every_mode) { check_format(DTYPE_F8E4M3, 0x7e); }
TEST(f8e5m2_rounds_between_all_neighbours_in_every_mode) { check_format(DTYPE_F8E5M2, 0x7b); }

static float float_of_bits(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

TEST(all_bf16_patterns_are_the_upper_half_of_f32)
{
    for (uint32_t bits = 0; bits < 0x10000; bits++) {
        double got = float_decode(DTYPE_BF16, bits);
        float want = float_of_bits(bits << 16);
        if (isnan(want)) {
            assert_true(isnan(got));
            continue;
        }
        assert_true(got == (double)want && (signbit(got) != 0) == (signbit(want) != 0));
        assert_int_equal(float_encode(DTYPE_BF16, got, ROUND_RINT, false), bits);
    }
}

TEST(all_f16_patterns_decode_by_the_formula_and_encode_back)
{
    for (uint32_t bits = 0; bits < 0x10000; bits++) {
        int exponent = (int)((bits >> 10) & 31);
        double fraction = (double)(bits & 1023) / 1024;
        double want = exponent == 0 ? ldexp(fraction, -14) : ldexp(1 + fraction, exponent - 15);
        if (exponent == 31) want = fraction == 0 ? (double)INFINITY : (double)NAN;
        if ((bits & 0x8000) != 0) want = -want;
        double got = float_decode(DTYPE_F16, bits);
        if (isnan(want)) {
            assert_true(isnan(got));
            assert_int_equal(float_encode(DTYPE_F16, got, ROUND_RINT, false) & 0x7fff, 0x7e00);
            continue;
        }
        assert_true(got == want && (signbit(got) != 0) == (signbit(want) != 0));
        assert_int_equal(float_encode(DTYPE_F16, got, ROUND_RINT, false), bits);
    }
}

TEST(f32_agrees_with_the_hardware)
{
    uint64_t random = 1;
    for (uint32_t i = 0; i < 2000000; i++) {
        random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        /* Exponents around the range of f32, so that subnormals and overflow occur. */
        uint64_t exponent = 1023 - 155 + (random >> 52) % 290;
        uint64_t bits = (random & UINT64_C(0x800fffffffffffff)) | exponent << 52;
        double v;
        memcpy(&v, &bits, sizeof v);
        float want = (float)v;
        uint32_t want_bits;
        memcpy(&want_bits, &want, sizeof want_bits);
        assert_int_equal(float_encode(DTYPE_F32, v, ROUND_RINT, false), want_bits);
        assert_true(float_decode(DTYPE_F32, want_bits) == (double)want);
    }
}

TEST(integers_are_rounded_once)
{
    uint64_t random = 7;
    for (uint32_t i = 0; i < 200000; i++) {
        random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        int64_t v = (int64_t)(random >> (i % 64));
        float want = (float)v;
        uint32_t bits;
        memcpy(&bits, &want, sizeof bits);
        uint64_t magnitude = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
        assert_int_equal(float_encode_integer(DTYPE_F32, v < 0, magnitude, ROUND_RINT, false), bits);
    }
    /* 2^24 + 1 is half way: double rounding through f32 would be right, through anything narrower not. */
    assert_int_equal(float_encode_integer(DTYPE_F32, false, 16777217, ROUND_RINT, false), 0x4b800000);
    assert_int_equal(float_encode_integer(DTYPE_F16, false, 2049, ROUND_RINT, false), 0x6800);
    assert_int_equal(float_encode_integer(DTYPE_F16, false, 0, ROUND_RINT, false), 0);
}

TEST(overflow_follows_the_mode_and_the_format)
{
    assert_int_equal(float_encode(DTYPE_F16, 65519, ROUND_RINT, false), 0x7bff);
    assert_int_equal(float_encode(DTYPE_F16, 65520, ROUND_RINT, false), 0x7c00);
    assert_int_equal(float_encode(DTYPE_F16, -1e300, ROUND_RINT, false), 0xfc00);
    assert_int_equal(float_encode(DTYPE_F16, 1e300, ROUND_TRUNC, false), 0x7bff);
    assert_int_equal(float_encode(DTYPE_F16, 1e300, ROUND_FLOOR, false), 0x7bff);
    assert_int_equal(float_encode(DTYPE_F16, -1e300, ROUND_FLOOR, false), 0xfc00);
    assert_int_equal(float_encode(DTYPE_F16, 1e300, ROUND_CEIL, false), 0x7c00);
    assert_int_equal(float_encode(DTYPE_F16, 1e300, ROUND_ODD, false), 0x7bff);
    assert_int_equal(float_encode(DTYPE_F16, 1e300, ROUND_RINT, true), 0x7bff);
    assert_int_equal(float_encode(DTYPE_F16, -(double)INFINITY, ROUND_RINT, true), 0xfbff);
    assert_int_equal(float_encode(DTYPE_F8E4M3, 464, ROUND_RINT, false), 0x7e);
    assert_int_equal(float_encode(DTYPE_F8E4M3, 465, ROUND_RINT, false), 0x7f);
    assert_int_equal(float_encode(DTYPE_F8E4M3, (double)INFINITY, ROUND_RINT, false), 0x7f);
    assert_int_equal(float_encode(DTYPE_F8E4M3, -500, ROUND_RINT, true), 0xfe);
    assert_int_equal(float_encode(DTYPE_F8E5M2, 1e9, ROUND_RINT, false), 0x7c);
    assert_true(isnan(float_decode(DTYPE_F8E4M3, 0xff)));
}

TEST(f8e8m0_is_a_power_of_two)
{
    for (uint32_t bits = 0; bits < 255; bits++) {
        double v = float_decode(DTYPE_F8E8M0, bits);
        assert_true(v == ldexp(1, (int)bits - 127));
        assert_int_equal(float_encode(DTYPE_F8E8M0, v, ROUND_RINT, false), bits);
        assert_int_equal(float_encode(DTYPE_F8E8M0, v * 1.25, ROUND_RINT, false), bits);
        assert_int_equal(float_encode(DTYPE_F8E8M0, v * 1.25, ROUND_TRUNC, false), bits);
        if (bits < 254) assert_int_equal(float_encode(DTYPE_F8E8M0, v * 1.25, ROUND_CEIL, false), bits + 1);
    }
    assert_true(isnan(float_decode(DTYPE_F8E8M0, 255)));
    assert_int_equal(float_encode(DTYPE_F8E8M0, 0, ROUND_RINT, false), 0);
    assert_int_equal(float_encode(DTYPE_F8E8M0, -1, ROUND_RINT, false), 255);
    assert_int_equal(float_encode(DTYPE_F8E8M0, ldexp(1, 200), ROUND_RINT, false), 255);
    assert_int_equal(float_encode(DTYPE_F8E8M0, ldexp(1, 200), ROUND_RINT, true), 254);
}

TEST(integral_rounding_in_every_mode)
{
    static const struct {
        double v, want[MODES];
    } rows[] = {{0.5, {0, 1, 0, 1, 0, 1}},        {1.5, {2, 2, 1, 2, 1, 1}},        {2.5, {2, 3, 2, 3, 2, 3}},
                {-0.5, {-0.0, -1, -1, 0, 0, -1}}, {-2.5, {-2, -3, -3, -2, -2, -3}}, {3, {3, 3, 3, 3, 3, 3}},
                {4, {4, 4, 4, 4, 4, 4}},          {-1.25, {-1, -1, -2, -1, -1, -1}}};
    for (uint32_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (uint32_t mode = 0; mode < MODES; mode++)
            assert_true(float_round_integral(rows[i].v, (round_mode)mode) == rows[i].want[mode]);
    assert_true(isnan(float_round_integral((double)NAN, ROUND_ODD)));
    assert_true(float_round_integral((double)INFINITY, ROUND_ODD) == (double)INFINITY);
}

/* What the predicates say, tried with every value: no mode changes one, and none is clamped. A cast keeps infinity
 * where nothing of its source overflows. */
static bool is_kept(dtype d, double v)
{
    for (uint32_t mode = 0; mode < MODES; mode++) {
        const double w = float_decode(d, float_encode(d, v, (round_mode)mode, false));
        if (!(w == v || (isnan(w) && isnan(v)))) return false;
    }
    return true;
}

static bool is_in_range(dtype d, double v)
{
    return isinf(v) || float_encode(d, v, ROUND_RINT, false) == float_encode(d, v, ROUND_RINT, true);
}

TEST(what_has_all_values_and_what_has_the_range)
{
    static const dtype floats[] = {DTYPE_F32, DTYPE_F16, DTYPE_BF16, DTYPE_F8E4M3, DTYPE_F8E5M2, DTYPE_F8E8M0};
    for (uint32_t i = 0; i < 6; i++) {
        for (uint32_t k = 1; k < 6; k++) {
            bool has = true, spans = true;
            for (uint32_t bits = 0; bits < 1u << dtype_bits(floats[k]); bits++) {
                const double v = float_decode(floats[k], bits);
                has = has && is_kept(floats[i], v);
                spans = spans && is_in_range(floats[i], v);
            }
            assert_int_equal(float_has_float(floats[i], floats[k]), has);
            /* What is said to be within the range is: that is what refuses an option. */
            assert_true(spans || !float_spans_float(floats[i], floats[k]));
        }
        for (uint32_t bits = 1; bits <= 16 && floats[i] != DTYPE_F8E8M0; bits++) {
            bool has = true, spans = true;
            for (int32_t v = -(1 << bits) + 1; v < 1 << bits; v++) {
                has = has && is_kept(floats[i], v);
                spans = spans && is_in_range(floats[i], v);
            }
            assert_int_equal(float_has_integers(floats[i], bits), has);
            assert_int_equal(float_spans_integers(floats[i], bits), spans);
        }
    }
}

TEST(mode_names)
{
    round_mode mode;
    assert_true(round_mode_by_name(STR("none"), &mode) && mode == ROUND_RINT);
    assert_true(round_mode_by_name(STR("odd"), &mode) && mode == ROUND_ODD);
    assert_false(round_mode_by_name(STR("nearest"), &mode));
}
