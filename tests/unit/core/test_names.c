#include "tests/unit/unit.h"

#include <pto/names.h>
#include <pto/relation.h>

#include "ir/relations.h"

TEST(names_and_sizes_are_those_of_the_rows)
{
    assert_string_equal(pto_dtype_name(PTO_BF16), "bf16");
    assert_int_equal(pto_dtype_bytes(PTO_BF16), 2);
    assert_int_equal(pto_dtype_bytes(PTO_MASK), 1);
    assert_int_equal(pto_dtype_bytes(PTO_REC64), 8);
    assert_true(pto_dtype_is_float(PTO_F8E8M0));
    assert_false(pto_dtype_is_float(PTO_I8) || pto_dtype_is_float(PTO_BOOL) || pto_dtype_is_float(PTO_MASK));
    assert_string_equal(pto_unit_name(PTO_UNIT_MATRIX), "matrix");
}

TEST(names_of_what_is_not_there)
{
    assert_string_equal(pto_dtype_name(PTO_DTYPE_COUNT), "?");
    assert_string_equal(pto_unit_name(PTO_UNIT_COUNT), "?");
    assert_int_equal(pto_dtype_bytes(PTO_DTYPE_COUNT), 0);
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
