#include "tools/check/text_difference.h"

#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

static void expect_difference(const char *old_text, const char *new_text, const char *want)
{
    text_buffer out;
    text_init(&out);
    const bool differs = text_difference(str_from(old_text), str_from(new_text), NULL, NULL, &out);
    assert_int_equal(differs, *want != '\0');
    assert_string_equal(out.n > 0 ? out.p : "", want);
    text_fini(&out);
}

TEST(text_difference_shows_the_first_hunk_with_its_context)
{
    expect_difference("", "", "");
    expect_difference("a\nb\n", "a\nb\n", "");
    expect_difference("a\nb\nc\n", "a\nx\nc\n", "@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n");
    expect_difference("1\n2\n3\n4\n5\n", "1\n2\n3\n4\nx\n5\n", "@@ -2,4 +2,5 @@\n 2\n 3\n 4\n+x\n 5\n");
    expect_difference("1\nx\ny\n2\n3\n4\n5\n", "1\n2\n3\n4\n5\n", "@@ -1,6 +1,4 @@\n 1\n-x\n-y\n 2\n 3\n 4\n");
    /* Only the first. */
    expect_difference("a\n1\n2\nb\n", "x\n1\n2\ny\n", "@@ -1,3 +1,3 @@\n-a\n+x\n 1\n 2\n");
}

TEST(text_difference_sees_ends)
{
    expect_difference("", "a\n", "@@ -1,0 +1,1 @@\n+a\n");
    expect_difference("a\nb\n", "a\n", "@@ -1,2 +1,1 @@\n a\n-b\n");
    /* An end of line that is missing. */
    expect_difference("a\nb", "a\nb\n", "@@ -1,2 +1,2 @@\n a\n-b\n+b\n");
}

TEST(text_difference_gives_up_when_texts_go_apart)
{
    char old_text[4096] = "same\n", new_text[4096] = "same\n";
    for (int i = 0; i < 300; i++) {
        snprintf(old_text + strlen(old_text), 16, "a%d\n", i);
        snprintf(new_text + strlen(new_text), 16, "b%d\n", i);
    }
    text_buffer out;
    text_init(&out);
    assert_true(text_difference(str_from(old_text), str_from(new_text), "one", "two", &out));
    assert_non_null(strstr(out.p, "--- one\n+++ two\n@@ -1,201 +1,201 @@\n same\n-a0\n"));
    assert_non_null(strstr(out.p, "-a23\n-... 176 more lines\n+b0\n"));
    text_fini(&out);
}

TEST(text_first_difference_counts_lines)
{
    assert_int_equal(text_first_difference(STR("a\nb\n"), STR("a\nb\n")), 0);
    assert_int_equal(text_first_difference(STR("a\nb\n"), STR("a\nc\n")), 2);
    assert_int_equal(text_first_difference(STR("a\n"), STR("a\nc\n")), 2);
    assert_int_equal(text_first_difference(STR(""), STR("c")), 1);
}
