/* <pto/call.h>: calls that cannot reach the host, since a handle has no run or the host lacks a table. */
#include "tests/unit/unit.h"

#include <pto/build.h>
#include <pto/decision.h>
#include <pto/tiling.h>

#include <stdio.h>
#include <string.h>

/* What the host was told last. */
typedef struct told {
    pto_run run; /* first: the run that the host functions get */
    const void *table;
    char text[256];
} told;

static pto_status extension(const pto_run *run, pto_str id, const void **table)
{
    *table = pto_str_is(id, PTO_SCHEDULE_HOST) ? ((const told *)(uintptr_t)run)->table : NULL;
    return *table != NULL ? PTO_OK : PTO_FAILED;
}
static void diag(const pto_run *run, int32_t severity, pto_loc at, pto_str code, pto_str text)
{
    told *t = (told *)(uintptr_t)run;
    (void)snprintf(t->text, sizeof t->text, "%d %u [%.*s] %.*s", severity, at.index, PTO_FMT(code), PTO_FMT(text));
}
static pto_status decision_pinned(pto_op op, const pto_decision *decision, int64_t *values)
{
    (void)op;
    (void)decision;
    *values = 7;
    return 1;
}
static const pto_host host = {.struct_size = sizeof host, .extension = extension, .diag = diag};

TEST(a_host_without_a_table_is_a_diagnostic)
{
    told t = {.run = {.struct_size = sizeof t.run, .host = &host}};
    const pto_tiling_problem problem = {.struct_size = sizeof problem};
    int64_t tile[1] = {5};
    assert_int_equal(pto_tiling_choose(&t.run, 0, &problem, tile, NULL), PTO_FAILED);
    assert_int_equal(tile[0], 5);
    assert_string_equal(t.text,
                        "2 0 [pto.sdk/host-lacks-function] this host does not have `tiling_choose` of the table "
                        "`pto.tiling`");
    t.text[0] = '\0';
    assert_int_equal(pto_does_not_fit(pto_op_none(&t.run), "acme.x/does-not-fit", "%d bytes", 9), PTO_FAILED);
    assert_non_null(strstr(t.text, "`report_does_not_fit` of the table `pto.tiling`"));
}

TEST(a_table_of_an_older_host_has_what_it_says)
{
    pto_schedule_host table = {.struct_size = offsetof(pto_schedule_host, decision_made),
                               .decision_pinned = decision_pinned};
    told t = {.run = {.struct_size = sizeof t.run, .host = &host}, .table = &table};
    const pto_op op = pto_op_none(&t.run);
    const pto_decision decision = {.struct_size = sizeof decision};
    int64_t value = 0;
    assert_int_equal(pto_decision_pinned(op, &decision, &value), 1);
    assert_int_equal(value, 7);
    assert_string_equal(t.text, "");
    assert_int_equal(pto_decision_made(op, &decision, &value), PTO_FAILED);
    assert_non_null(strstr(t.text, "`decision_made` of the table `pto.schedule`"));
}

/* Handles that no host gave lead nowhere, and every call says so with the none of its type. */
TEST(handles_without_a_run_answer_nothing)
{
    const pto_op op = pto_op_none(NULL);
    const pto_expr expr = pto_expr_none(NULL);
    int64_t value = 3;
    assert_int_equal(pto_op_kind(op), 0);
    assert_int_equal(pto_op_next(op).index, 0);
    assert_null(pto_op_next(op).run);
    assert_int_equal(pto_op_set_operand(op, 0, pto_value_none(NULL)), PTO_FAILED);
    assert_int_equal(pto_value_name(pto_value_none(NULL)).n, 0);
    assert_int_equal(pto_type_kind_of(pto_type_none(NULL)), PTO_TYPE_NONE);
    assert_true(pto_attr_f64(pto_attr_none(NULL)) == 0.0);
    assert_false(PTO_SOME(pto_expr_scale(expr, 2)));
    assert_true(pto_expr_range(expr, op, NULL).lo == INT64_MIN && pto_expr_range(expr, op, NULL).hi == INT64_MAX);
    assert_int_equal(pto_decision_pinned(op, NULL, &value), PTO_FAILED);
    assert_int_equal(value, 3);
}
