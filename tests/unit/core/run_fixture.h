/* Runs of one made-up pass, `acme.p` of plugin `org.acme.p` in step `p` of pipe.yaml:7:5, on function @f of a module.
 *
 *     run_fixture f;
 *     run_fixture_begin(&f, text, NULL);
 *     pto_op unit = run_fixture_start(&f);      a change of f.request or f.agent comes before
 *     ... what a plugin does ...
 *     run_fixture_stop(&f, PTO_OK);             the answer is in f.result
 *     run_fixture_end(&f); */
#ifndef TESTS_RUN_FIXTURE_H
#define TESTS_RUN_FIXTURE_H

#include <pto/call.h>

#include "core/host/run_context.h"

#include "tests/unit/module_fixture.h"

typedef struct run_fixture {
    arena *a;
    diag_engine *d;
    ir_context *ir;
    module *m;
    run_session *s;
    run_agent agent;
    run_request request;
    const pto_run *run;
    run_result result;
} run_fixture;

/* `kinds`: the op kinds that the pass asks for, NULL at the end; NULL: none. */
static inline void run_fixture_begin(run_fixture *f, const char *text, const char *const *kinds)
{
    const module_fixture made = module_fixture_parsed(text);
    *f = (run_fixture){.a = arena_create("test"), .d = made.d, .ir = made.c, .m = made.m};
    f->s = run_session_create(f->a, &(run_session_params){.diags = f->d});
    f->agent =
        (run_agent){.plugin = "org.acme.p", .role = "pass", .id = "acme.p", .step = "p", .at = {"pipe.yaml", 7, 5}};
    if (kinds != NULL) f->agent.kinds = run_agent_kinds(f->a, NULL, kinds, &f->agent.kind_count);
    f->request = (run_request){.agent = &f->agent,
                               .module = f->m,
                               .unit = module_find_symbol(f->m, string_intern_z(f->ir, "f")),
                               .access = RUN_WRITES_FUNCTION,
                               .levels = 1u << LEVEL_TENSOR};
}

static inline pto_op run_fixture_start(run_fixture *f)
{
    f->run = run_context_begin(f->s, &f->request);
    return run_context_unit(f->run);
}

static inline void run_fixture_stop(run_fixture *f, pto_status returned)
{
    f->result = run_context_end(f->run, returned);
}

static inline void run_fixture_end(run_fixture *f)
{
    run_session_destroy(f->s);
    module_fixture_end(&(module_fixture){f->d, f->ir, f->m});
    arena_destroy(f->a);
}

/* The run failed as a misuse, and this is the one error, at the pipeline's line. */
static inline void run_fixture_expect_misuse(const run_fixture *f, const char *code, const char *text)
{
    assert_true(f->result.failed);
    assert_true(f->result.misused);
    assert_int_equal(diag_error_count(f->d), 1);
    const diag_record *r = diag_record_at(f->d, 0);
    assert_string_equal(r->text, text);
    assert_string_equal(r->code, code);
    assert_string_equal(r->at.file, "pipe.yaml");
    assert_int_equal(r->at.line, 7);
}

#endif
