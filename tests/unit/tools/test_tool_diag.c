/* The diagnostic codes of all three tables. */
#include "core/core_diag.h"
#include "tests/unit/unit.h"
#include "tools/base/tool_diag.h"

typedef const diag_code_info *(*code_table)(uint32_t index);

static void expect_in_order(code_table table)
{
    assert_non_null(table(0));
    for (uint32_t i = 0; table(i) != NULL; i++) {
        assert_int_equal(strlen(table(i)->code), 5);
        assert_true(strlen(table(i)->summary) > 5);
        if (i > 0) assert_true(strcmp(table(i - 1)->code, table(i)->code) < 0);
    }
}

static void expect_apart(code_table one, code_table other)
{
    for (uint32_t i = 0; one(i) != NULL; i++) {
        for (uint32_t k = 0; other(k) != NULL; k++) assert_string_not_equal(one(i)->code, other(k)->code);
    }
}

TEST(codes_of_core_and_tools_stand_in_order_and_have_summaries)
{
    expect_in_order(core_diag_code_at);
    expect_in_order(tool_diag_code_at);
}

TEST(no_code_stands_in_two_tables)
{
    expect_apart(diag_code_at, core_diag_code_at);
    expect_apart(diag_code_at, tool_diag_code_at);
    expect_apart(core_diag_code_at, tool_diag_code_at);
}
