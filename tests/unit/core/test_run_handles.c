#include "tests/unit/core/run_fixture.h"

#include <setjmp.h>

/* One run after the other of one pass on one function. */
static void begin(run_fixture *f)
{
    static const char text[] = "func @f(%x: tensor<4 x f32>) -> tensor<4 x f32> {\n  return %x\n}\n";
    run_fixture_begin(f, text, NULL);
    f->agent.step = NULL;
}

/* Serial numbers of runs have 16 bits. */
TEST(handles_are_stale_however_many_runs_later)
{
    run_fixture f;
    begin(&f);
    const pto_op kept = run_fixture_start(&f);
    run_fixture_stop(&f, PTO_OK);
    for (uint32_t i = 0; i < 2 * 65536 + 2; i++) {
        const pto_op unit = run_fixture_start(&f);
        assert_true(pto_op_is_live(unit));
        assert_false(pto_op_is_live(kept));
        run_fixture_stop(&f, PTO_OK);
    }
    (void)run_fixture_start(&f);
    assert_int_equal(pto_op_kind(kept), 0);
    run_fixture_stop(&f, PTO_OK);
    run_fixture_expect_misuse(
        &f, "E1320", "pass `acme.p` of plugin `org.acme.p` used a handle, or the pto_run, of a run that has ended");
    run_fixture_end(&f);
}

/* Also when that session is gone, and none of its runs is there to be blamed. */
TEST(handles_of_another_session_are_noticed)
{
    run_fixture f;
    begin(&f);
    run_registry *registry = run_registry_create(f.a);
    arena *other = arena_create("other");
    run_session *first = run_session_create(other, &(run_session_params){.diags = f.d, .registry = registry});
    const pto_run *run = run_context_begin(first, &f.request);
    const pto_value x = pto_block_arg(pto_body(run_context_unit(run)), 0);
    (void)run_context_end(run, PTO_OK);
    run_session_destroy(first);
    arena_destroy(other);
    run_session *second = run_session_create(f.a, &(run_session_params){.diags = f.d, .registry = registry});
    f.run = run_context_begin(second, &f.request);
    assert_false(PTO_SOME(pto_value_type(x)));
    assert_non_null(pto_scratch(run, 1));
    f.result = run_context_end(f.run, PTO_OK);
    run_session_destroy(second);
    run_fixture_expect_misuse(
        &f, "E1320", "pass `acme.p` of plugin `org.acme.p` used a handle, or the pto_run, of a run that has ended");
    run_fixture_end(&f);
}

static jmp_buf out_of_the_pattern;

static pto_status jump(const pto_run *run, pto_op op)
{
    (void)run;
    (void)op;
    longjmp(out_of_the_pattern, 1);
}

TEST(jumps_out_of_a_call_are_noticed)
{
    run_fixture f;
    begin(&f);
    const pto_op unit = run_fixture_start(&f);
    static const pto_pattern pattern = {sizeof pattern, 0, jump};
    static const pto_pattern *const patterns[] = {&pattern};
    if (setjmp(out_of_the_pattern) == 0) (void)pto_greedy(f.run, unit, 1, patterns, 0);
    run_fixture_stop(&f, PTO_OK);
    run_fixture_expect_misuse(&f, "E1324", "pass `acme.p` of plugin `org.acme.p` left a call of the host with a jump");
    run_fixture_end(&f);
}
