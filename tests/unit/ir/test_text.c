#include "ir/base/text.h"

#include "tests/unit/unit.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void expect_i64(const char *text, int64_t want)
{
    int64_t got = 0;
    assert_int_equal(str_to_i64(str_from(text), &got), OK);
    assert_true(got == want);
}

static void refuse_i64(const char *text)
{
    int64_t got;
    assert_int_equal(str_to_i64(str_from(text), &got), FAILED);
}

TEST(text_reads_integers_strictly)
{
    expect_i64("0", 0);
    expect_i64("-0", 0);
    expect_i64("+17", 17);
    expect_i64("9223372036854775807", INT64_MAX);
    expect_i64("-9223372036854775808", INT64_MIN);
    expect_i64("0x7fffffffffffffff", INT64_MAX);
    expect_i64("-0x10", -16);
    const char *const bad[] = {"",
                               "-",
                               "0x",
                               "9223372036854775808",
                               "-9223372036854775809",
                               "1 ",
                               " 1",
                               "1.",
                               "1e3",
                               "a",
                               "0xg",
                               "99999999999999999999",
                               "--1"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) refuse_i64(bad[i]);
}

TEST(text_reads_floats_strictly)
{
    static const struct {
        const char *text;
        double value;
    } good[] = {{"1", 1},
                {"-1.5", -1.5},
                {"1e3", 1000},
                {"+2.5E-1", 0.25},
                {"0x1.8p1", 3.0},
                {"inf", (double)INFINITY},
                {"-inf", -(double)INFINITY},
                {"0.1", 0.1}};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        double v = 0;
        assert_int_equal(str_to_f64(str_from(good[i].text), &v), OK);
        assert_true(memcmp(&v, &good[i].value, sizeof v) == 0);
    }
    double v;
    assert_int_equal(str_to_f64(STR("nan"), &v), OK);
    assert_true(isnan(v));
    const char *const bad[] = {"", ".", ".5", "5.", "1e", "1e+", "infinity", "1f", "0x", "1p3", "1e999", " 1", "1,5"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(str_to_f64(str_from(bad[i]), &v), FAILED);
    }
    char digits[600];
    memset(digits, '1', sizeof digits);
    assert_int_equal(str_to_f64((str){digits, sizeof digits}, &v), FAILED);
}

TEST(text_writes_numbers_like_printf)
{
    text_buffer t;
    text_init(&t);
    const int64_t values[] = {0, 9, 10, 99, 100, 12345, -1, INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        char want[32];
        snprintf(want, sizeof want, "%" PRId64, values[i]);
        t.n = 0;
        text_put_i64(&t, values[i]);
        assert_string_equal(t.p, want);
    }
    t.n = 0;
    text_put_u64(&t, UINT64_MAX);
    assert_string_equal(t.p, "18446744073709551615");
    text_fini(&t);
}

TEST(text_writes_floats_that_read_back)
{
    text_buffer t;
    text_init(&t);
    const double values[] = {0.0, -0.0, 1.0, 0.1, 1.0 / 3.0, 1e300, 5e-324, 123456789.0, -2.5};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        t.n = 0;
        text_put_f64(&t, values[i]);
        double back;
        assert_int_equal(str_to_f64((str){t.p, t.n}, &back), OK);
        assert_true(memcmp(&back, &values[i], sizeof back) == 0);
        assert_non_null(strpbrk(t.p, ".e"));
    }
    t.n = 0;
    text_put_f64(&t, 0.1);
    assert_string_equal(t.p, "0.1");
    text_fini(&t);
}

TEST(text_finds_the_first_byte_that_is_not_utf8)
{
    static const struct {
        const char *bytes;
        size_t n, at;
    } cases[] = {
        {"plain text, long enough for words", 33, 33},
        {"0123456789abcdef\0x", 18, 16},
        {"gr\xC3\xBC\xC3\x9F", 6, 6},
        {"\xE2\x82\xAC", 3, 3},
        {"\xF0\x9F\x98\x80", 4, 4},
        {"ab\xC3", 3, 2},
        {"\xC0\x80", 2, 0},
        {"a\xED\xA0\x80", 4, 1},
        {"\xE0\x9F\x80", 3, 0},
        {"\xF4\x90\x80\x80", 4, 0},
        {"\x80", 1, 0},
        {"12345678\xFF", 9, 8},
        {"", 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(str_utf8_error((str){cases[i].bytes, cases[i].n}), cases[i].at);
    }
}

TEST(text_finds_the_first_byte_that_is_not_printable_ascii)
{
    char text[20];
    for (size_t at = 0; at < sizeof text; at++) {
        for (int byte = 0; byte < 256; byte++) {
            memset(text, byte % 2 == 0 ? ' ' : '~', sizeof text);
            text[at] = (char)byte;
            const bool is_plain = byte >= 0x20 && byte < 0x7f;
            assert_int_equal(str_plain_prefix((str){text, sizeof text}), is_plain ? sizeof text : at);
            assert_int_equal(str_plain_prefix((str){text, at}), at);
            if (byte < 0x80) assert_int_equal(str_is_plain_line((str){text, sizeof text}), is_plain);
            if (byte < 0x80) assert_int_equal(str_utf8_error((str){text, sizeof text}), byte == 0 ? at : sizeof text);
        }
    }
    assert_true(str_is_plain_line(STR("gr\xc3\xbc\xc3\x9f")));
    assert_false(str_is_plain_line(STR("gr\xc3")));
    assert_false(str_is_plain_line(STR("left \xe2\x80\xae right")));
}

TEST(text_names_the_nearest_word)
{
    const char *const names[] = {"pto.fuse", "pto.tile", "pto.canonicalize", NULL};
    assert_string_equal(str_nearest(STR("pto.canonicalise"), names), "pto.canonicalize");
    assert_string_equal(str_nearest(STR("pto.tiel"), names), "pto.tile");
    assert_null(str_nearest(STR("something-else"), names));
    const char *const letters[] = {"xy", NULL};
    assert_null(str_nearest(STR("ab"), letters));
    assert_int_equal(str_distance(STR("kitten"), STR("sitting")), 3);
    assert_int_equal(str_distance(STR(""), STR("abc")), 3);
}

static status collect(void *self, const char *p, size_t n)
{
    text_put(self, p, n);
    return OK;
}

static status refuse(void *self, const char *p, size_t n)
{
    (void)self;
    (void)p;
    (void)n;
    return FAILED;
}

TEST(text_hands_long_output_to_flush)
{
    text_buffer all, t;
    text_init(&all);
    text_init(&t);
    t.flush = collect;
    t.self = &all;
    size_t largest = 0;
    for (int i = 0; i < 100000; i++) {
        text_put_i64(&t, i);
        text_putc(&t, '\n');
        if (t.n > largest) largest = t.n;
    }
    assert_int_equal(text_finish(&t), OK);
    assert_true(largest < 70000);
    assert_int_equal(all.n, 588890);
    assert_true(strncmp(all.p + all.n - 6, "99999\n", 6) == 0);
    t.flush = refuse;
    text_puts(&t, "x");
    assert_int_equal(text_finish(&t), FAILED);
    text_fini(&t);
    text_fini(&all);
}

TEST(text_quotes_as_json)
{
    text_buffer t;
    text_init(&t);
    text_put_quoted(&t, (str){"a\"\\\n\t\x01\0\x7F\xC3\xBC", 10});
    assert_string_equal(t.p, "\"a\\\"\\\\\\n\\t\\u0001\\u0000\\u007f\xC3\xBC\"");
    t.n = 0;
    char big[400];
    memset(big, 'x', sizeof big);
    big[399] = 0;
    text_printf(&t, "<%s|%d>", big, 42);
    assert_int_equal(t.n, 399 + 5);
    assert_string_equal(t.p + t.n - 4, "|42>");
    text_fini(&t);
}
