#include "ir/context/context.h"

#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

TEST(string_equal_content_is_equal_id)
{
    ir_context *c = context_create(NULL);
    char text[] = "softmax";
    str_id id = string_intern_z(c, text);
    text[0] = 'S';
    assert_string_equal(string_of(c, id).p, "softmax");
    assert_int_equal(string_intern(c, STR("softmax")), id);
    assert_int_equal(string_intern(c, (str){"softmaxxx", 7}), id);
    assert_int_not_equal(string_intern(c, STR("softma")), id);
    assert_int_not_equal(string_intern(c, STR("")), 0);
    assert_int_not_equal(string_intern(c, (str){"a\0b", 3}), string_intern(c, STR("a")));
    assert_int_equal(string_of(c, 0).n, 0);
    assert_string_equal(string_of(c, 0).p, "");
    context_destroy(c);
}

TEST(strings_of_one_length_are_told_apart_by_each_byte)
{
    enum { LONGEST = 20 };
    ir_context *c = context_create(NULL);
    char text[LONGEST + 1] = "aaaaaaaaaaaaaaaaaaaa";
    for (size_t n = 1; n <= LONGEST; n++) {
        const str_id same = string_intern(c, (str){text, n});
        for (size_t i = 0; i < n; i++) {
            text[i] = (char)0xff;
            const str_id other = string_intern(c, (str){text, n});
            assert_int_not_equal(other, same);
            assert_int_equal(string_intern(c, (str){text, n}), other);
            assert_memory_equal(string_of(c, other).p, text, n);
            text[i] = 'a';
        }
        assert_int_equal(string_intern(c, (str){text, n}), same);
    }
    context_destroy(c);
}

TEST(string_table_grows)
{
    enum { COUNT = 200000 };
    ir_context *c = context_create(NULL);
    char text[32];
    for (uint32_t i = 0; i < COUNT; i++) {
        int n = snprintf(text, sizeof text, "name_%u", i);
        assert_int_equal(string_intern(c, (str){text, (size_t)n}), i + 1);
    }
    const char *first = string_of(c, 1).p;
    for (uint32_t i = 0; i < COUNT; i++) {
        snprintf(text, sizeof text, "name_%u", i);
        assert_int_equal(string_intern_z(c, text), i + 1);
        assert_string_equal(string_of(c, i + 1).p, text);
    }
    assert_ptr_equal(string_of(c, 1).p, first);
    context_destroy(c);
}
