#include "tests/unit/unit.h"

#include <pto/names.h>

#include "ir/op_info.h"

/* <pto/names.h> cannot be made of ir/types.def, since plugins see the SDK alone; so the two are compared. */
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
    for (uint32_t p = 1; p < PIPE_COUNT; p++) {
        assert_string_equal(pto_pipe_name(p), pipe_name((pipe_kind)p));
        assert_int_equal(pto_pipe_by_name((pto_str){pipe_name((pipe_kind)p), strlen(pipe_name((pipe_kind)p))}), p);
    }
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
