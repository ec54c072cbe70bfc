#include "tools/report/markup.h"

#include "tests/unit/unit.h"

static void expect_text(str given, const char *wanted)
{
    text_buffer t;
    text_init(&t);
    markup_text(&t, given);
    assert_string_equal(t.p != NULL ? t.p : "", wanted);
    text_fini(&t);
}

TEST(markup_of_users_is_text)
{
    expect_text(STR("<a href=\"x\">&'</a>"), "&lt;a href=&quot;x&quot;&gt;&amp;&#39;&lt;/a&gt;");
    expect_text(STR(""), "");
    expect_text(STR("\xc2\xb5s \xe2\x86\x92 \xf0\x9f\x98\x80\n\t"), "\xc2\xb5s \xe2\x86\x92 \xf0\x9f\x98\x80\n\t");
}

TEST(what_xml_cannot_hold_is_replaced)
{
#define GONE "\xef\xbf\xbd"
    expect_text((str){"a\0b", 3}, "a" GONE "b");
    expect_text(STR("\x01\x1b[0m"), GONE GONE "[0m");
    expect_text(STR("\xff<\xc2"), GONE "&lt;" GONE);
    expect_text(STR("\xe2\x86"), GONE GONE);
    expect_text(STR("\xef\xbf\xbf"), GONE);
    expect_text(STR("\xed\xa0\x80"), GONE GONE GONE);
    expect_text(STR("x\xe2\x80\xaey"), "x" GONE "y");
#undef GONE
}

TEST(numbers_read_well)
{
    char out[32];
    assert_string_equal(markup_thousands(0, out), "0");
    assert_string_equal(markup_thousands(999, out), "999");
    assert_string_equal(markup_thousands(-1234567, out), "-1,234,567");
    assert_string_equal(markup_thousands(-123, out), "-123");
    assert_string_equal(markup_thousands(1e18, out), "1e+18");
    assert_string_equal(markup_thousands(-1e300, out), "-1e+300");
    assert_string_equal(markup_bytes(1023, out), "1023 B");
    assert_string_equal(markup_bytes(1024, out), "1 KiB");
    assert_string_equal(markup_bytes(1536.0 * 1024, out), "1.5 MiB");
    assert_string_equal(markup_percent(1, 3, out), "33.3\xc2\xa0%");
    assert_string_equal(markup_percent(1, 0, out), "0.0\xc2\xa0%");
}

TEST(labels_end_in_an_ellipsis_where_they_do_not_fit)
{
    text_buffer t;
    text_init(&t);
    svg v = {.out = &t, .page = ""};
    svg_text(&v, 0, 0, SVG_START, SVG_CODE, "#000", 50,
             STR("%\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9<"));
    assert_non_null(strstr(t.p, ">%\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xe2\x80\xa6</text>"));
    t.n = 0;
    svg_text(&v, 0, 0, SVG_START, SVG_CODE, "#000", 50, STR("%abc"));
    assert_non_null(strstr(t.p, ">%abc</text>"));
    t.n = 0;
    svg_text(&v, -0.01, 1.26, SVG_START, SVG_CODE, "#000", 0, STR("any length at all is fine here"));
    assert_non_null(strstr(t.p, "x=\"0\" y=\"1.3\""));
    assert_non_null(strstr(t.p, ">any length at all is fine here</text>"));
    text_fini(&t);
}
