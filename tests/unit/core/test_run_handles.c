#include "tests/unit/unit.h"

#include <pto/call.h>

#include "core/host/run_context.h"
#include "ir/text/parser.h"

#include <setjmp.h>

/* One run after the other of one pass on one function. */
typedef struct fixture {
    arena *a;
    diag_engine *d;
    ir_context *ir;
    module *m;
    run_session *s;
    run_agent agent;
    run_request request;
    const pto_run *run;
    run_result result;
} fixture;

static void begin(fixture *f)
{
    static const char text[] = "func @f(%x: tensor<4 x f32>) -> tensor<4 x f32> {\n  return %x\n}\n";
    *f = (fixture){.a = arena_create("test"), .d = diag_create(NULL, 0)};
    f->ir = context_create(f->d);
    assert_int_equal(parse_module(f->ir, str_from(text), "t.ptir", &f->m), OK);
    f->s = run_session_create(f->a, &(run_session_params){.diags = f->d});
    f->agent = (run_agent){.plugin = "org.acme.p", .role = "pass", .id = "acme.p", .at = {"pipe.yaml", 7, 5}};
    f->request = (run_request){.agent = &f->agent,
                               .module = f->m,
                               .unit = module_find_symbol(f->m, string_intern_z(f->ir, "f")),
                               .access = RUN_WRITES_FUNCTION,
                               .levels = 1u << LEVEL_TENSOR};
}

static pto_op start(fixture *f)
{
    f->run = run_context_begin(f->s, &f->request);
    return run_context_unit(f->run);
}

static void stop(fixture *f, pto_status returned) { f->result = run_context_end(f->run, returned); }

static void end(fixture *f)
{
    run_session_destroy(f->s);
    module_destroy(f->m);
    context_destroy(f->ir);
    diag_destroy(f->d);
    arena_destroy(f->a);
}

static void expect_misuse(const fixture *f, const char *code, const char *text)
{
    assert_true(f->result.failed && f->result.misused);
    assert_int_equal(diag_error_count(f->d), 1);
    const diag_record *r = diag_record_at(f->d, 0);
    assert_string_equal(r->text, text);
    assert_string_equal(r->code, code);
}

/* Serial numbers of runs have 16 bits. */
TEST(handles_are_stale_however_many_runs_later)
{
    fixture f;
    begin(&f);
    const pto_op kept = start(&f);
    stop(&f, PTO_OK);
    for (uint32_t i = 0; i < 2 * 65536 + 2; i++) {
        const pto_op unit = start(&f);
        assert_true(pto_op_is_live(unit));
        assert_false(pto_op_is_live(kept));
        stop(&f, PTO_OK);
    }
    (void)start(&f);
    assert_int_equal(pto_op_kind(kept), 0);
    stop(&f, PTO_OK);
    expect_misuse(&f, "E1320",
                  "pass 'acme.p' of plugin 'org.acme.p' used a handle, or the pto_run, of a run that has ended");
    end(&f);
}

/* Also when that session is gone, and none of its runs is there to be blamed. */
TEST(handles_of_another_session_are_noticed)
{
    fixture f;
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
    expect_misuse(&f, "E1320",
                  "pass 'acme.p' of plugin 'org.acme.p' used a handle, or the pto_run, of a run that has ended");
    end(&f);
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
    fixture f;
    begin(&f);
    const pto_op unit = start(&f);
    static const pto_pattern pattern = {sizeof pattern, 0, jump};
    static const pto_pattern *const patterns[] = {&pattern};
    if (setjmp(out_of_the_pattern) == 0) (void)pto_greedy(f.run, unit, 1, patterns, 0);
    stop(&f, PTO_OK);
    expect_misuse(&f, "E1324", "pass 'acme.p' of plugin 'org.acme.p' left a call of the host with a jump");
    end(&f);
}
