#include "tests/unit/unit.h"

#include <pto/names.h>
#include <pto/relation.h>

#include "ir/op_info.h"
#include "ir/verify/ranges.h"

/* <pto/names.h> cannot be made of ir/context/types.def, since plugins see the SDK alone; so the two are compared. */
TEST(names_of_the_sdk_are_those_of_the_ir)
{
    for (uint32_t d = 0; d < DTYPE_COUNT; d++) {
        if (d != 0) assert_string_equal(pto_dtype_name(d), dtype_name((dtype)d));
        assert_int_equal(pto_dtype_bytes(d), dtype_bytes((dtype)d));
        assert_int_equal(pto_dtype_is_float(d), dtype_class_of((dtype)d) == DTYPE_CLASS_FLOAT);
    }
    for (uint32_t s = 0; s < SPACE_COUNT; s++) {
        assert_string_equal(pto_space_name(s), space_name((space)s));
        assert_int_equal(pto_space_by_name((pto_str){space_name((space)s), strlen(space_name((space)s))}), s);
    }
    for (uint32_t l = 1; l < LAYOUT_COUNT; l++) assert_string_equal(pto_layout_name(l), layout_name((layout)l));
}

TEST(names_of_what_is_not_there)
{
    assert_string_equal(pto_dtype_name(PTO_DTYPE_COUNT), "?");
    assert_string_equal(pto_space_name(PTO_SPACE_COUNT), "?");
    assert_string_equal(pto_layout_name(UINT32_MAX), "?");
    assert_string_equal(pto_pipe_name(PTO_PIPE_COUNT), "?");
    assert_int_equal(pto_dtype_bytes(PTO_DTYPE_COUNT), 0);
    assert_int_equal(pto_space_by_name((pto_str){"ub", 2}), PTO_SPACE_NONE);
    assert_int_equal(pto_pipe_by_name((pto_str){"", 0}), PTO_PIPE_NONE);
}

TEST(relations_of_the_sdk_are_those_of_the_ir)
{
    static const char *const texts[][2] = {{"eq", "=="}, {"ne", "!="}, {"lt", "<"},
                                           {"le", "<="}, {"gt", ">"},  {"ge", ">="}};
    /* What holds of -1 and 1, of two equal numbers, of 1 and -1. */
    static const int holds[][3] = {{0, 1, 0}, {1, 0, 1}, {1, 0, 0}, {1, 1, 0}, {0, 0, 1}, {0, 1, 1}};
    static const int64_t pairs[][2] = {{-1, 1}, {INT64_MIN, INT64_MIN}, {INT64_MAX, INT64_MIN}};
    for (uint32_t i = 0; i < PTO_RELATION_COUNT - 1; i++) {
        for (int k = 0; k < 2; k++) {
            assert_int_equal(pto_relation_by_name((pto_str){texts[i][k], strlen(texts[i][k])}), i + 1);
            assert_int_equal(relation_by_name(str_from(texts[i][k])), i + 1);
        }
        assert_string_equal(pto_relation_sign(i + 1), texts[i][1]);
        for (int k = 0; k < 3; k++) assert_int_equal(pto_relation_holds(i + 1, pairs[k][0], pairs[k][1]), holds[i][k]);
    }
    assert_int_equal(pto_relation_by_name((pto_str){"=", 1}), PTO_RELATION_NONE);
    assert_int_equal(pto_relation_by_name((pto_str){"", 0}), PTO_RELATION_NONE);
    assert_int_equal(pto_relation_holds(PTO_RELATION_NONE, 0, 0), 0);
    assert_int_equal(pto_relation_holds(PTO_RELATION_COUNT, 0, 0), 0);
    assert_string_equal(pto_relation_sign(PTO_RELATION_COUNT), "?");
}
