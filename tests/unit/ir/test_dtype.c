#include "ir/context/context.h"

#include "tests/unit/unit.h"

TEST(dtype_names_read_back)
{
    for (uint32_t d = DTYPE_NONE + 1; d < DTYPE_COUNT; d++) {
        assert_int_equal(dtype_by_name(str_from(dtype_name((dtype)d))), d);
        assert_int_not_equal(dtype_class_of((dtype)d), DTYPE_CLASS_NONE);
        /* A mask packs 8 elements in a byte. */
        assert_int_equal(dtype_bytes((dtype)d) * 8, d == DTYPE_MASK ? 8 : dtype_bits((dtype)d));
    }
}

TEST(dtype_facts)
{
    assert_int_equal(dtype_bytes(DTYPE_BF16), 2);
    assert_int_equal(dtype_bytes(DTYPE_BOOL), 1);
    assert_int_equal(dtype_bits(DTYPE_NONE), 0);
    assert_int_equal(dtype_class_of(DTYPE_F8E8M0), DTYPE_CLASS_FLOAT);
    assert_int_equal(dtype_class_of(DTYPE_U16), DTYPE_CLASS_UINT);
    assert_int_equal(dtype_by_name(STR("f3")), DTYPE_NONE);
    assert_int_equal(dtype_by_name(STR("none")), DTYPE_NONE);
    assert_int_equal(dtype_by_name(STR("")), DTYPE_NONE);
}
