#include "tests/unit/unit.h"

#include <pto/build.h>
#include <pto/call.h>

#include "core/compile/pass_manager.h"
#include "ir/text/parser.h"

#include <string.h>

/* Each pass does one thing to each function. */
static pto_status rest(const pto_run *run, pto_op unit)
{
    (void)run;
    (void)unit;
    return PTO_OK;
}

static pto_status mark(const pto_run *run, pto_op unit)
{
    return pto_op_set_attr(pto_block_first(pto_body(unit)), PTO_STR("t.mark"), pto_attr_make_i64(run, 1));
}

static pto_status complain(const pto_run *run, pto_op unit)
{
    (void)run;
    return pto_error(unit, "t.complain/always", "it fails");
}

#define PASS(name)                    \
    {.struct_size = sizeof(pto_pass), \
     .id = "t." #name,                \
     .scope = "function",             \
     .consumes = "tensor/1",          \
     .produces = "tensor/1",          \
     .run = name}
static const pto_pass resting = PASS(rest), marking = PASS(mark), failing = PASS(complain);

enum { STEPS = 3, LOG_BYTES = 512 };

/* A compile of two functions, with an observer that writes down what it is told. */
typedef struct fixture {
    arena *a;
    diag_engine *d;
    ir_context *ir;
    module *m;
    plugin_host *host;
    pipeline pipeline;
    loaded_pipeline opened;
    contract_step steps[STEPS];
    pipeline_step lines[STEPS];
    run_agent agents[STEPS], *agent_list[STEPS];
    compile_observer observer;
    compile_request request;
    compile_stats stats;
    char log[LOG_BYTES];
    exit_status answer_before, answer_after; /* of the observer, at step 1 */
    const char *left_out;                    /* a function that does not run, or NULL */
} fixture;

static void say(fixture *f, const char *what, const char *name)
{
    const size_t n = strlen(f->log);
    snprintf(f->log + n, LOG_BYTES - n, "%s%s ", what, name);
}

static exit_status on_begin(void *self, const loaded_pipeline *p, module *m, uint32_t first)
{
    fixture *f = self;
    assert_ptr_equal(p, &f->opened);
    assert_ptr_equal(m, f->m);
    assert_int_equal(first, 0);
    say(f, "begin", "");
    return EXIT_STATUS_OK;
}

static exit_status on_before(void *self, const step_event *e)
{
    fixture *f = self;
    say(f, "before:", e->step->step->id);
    return e->index == 1 ? f->answer_before : EXIT_STATUS_OK;
}

static bool on_unit(void *self, const step_event *e, op_id unit)
{
    const fixture *f = self;
    const str name = string_of(module_context(e->module), function_name(e->module, unit));
    return f->left_out == NULL || !str_is(name, f->left_out);
}

static exit_status on_after(void *self, const step_event *e)
{
    fixture *f = self;
    say(f, e->changed ? "changed:" : "after:", e->step->step->id);
    return e->index == 1 ? f->answer_after : EXIT_STATUS_OK;
}

static void on_span(void *self, const char *category, str name, const char *detail)
{
    (void)name;
    (void)detail;
    if (strcmp(category, "verify") != 0) say(self, "(", category);
}

static void on_end(void *self) { say(self, "end", ""); }

static void put_no_supplier(void *self, const char *property, text_buffer *out)
{
    (void)self;
    (void)property;
    (void)out;
}

static const char source[] = "func @f(%x: tensor<4 x f32>) -> tensor<4 x f32> {\n"
                             "  %y = tensor.neg %x : tensor<4 x f32>\n"
                             "  return %y\n"
                             "}\n"
                             "func @g(%x: tensor<4 x f32>) -> tensor<4 x f32> {\n"
                             "  %y = tensor.neg %x : tensor<4 x f32>\n"
                             "  return %y\n"
                             "}\n";

static void begin(fixture *f, const pto_pass *const *passes)
{
    *f = (fixture){.a = arena_create("test"), .d = diag_create(NULL, 0)};
    f->ir = context_create(f->d);
    assert_int_equal(parse_module(f->ir, str_from(source), "t.ptir", &f->m), OK);
    plugin_host_params params = plugin_host_defaults();
    params.only_given = true;
    assert_int_equal(plugin_host_create(f->a, f->d, &params, &f->host), OK);
    f->opened = (loaded_pipeline){.pipeline = &f->pipeline, .host = f->host, .agents = f->agent_list};
    for (; passes[f->opened.contract.step_count] != NULL; f->opened.contract.step_count++) {
        const uint32_t i = f->opened.contract.step_count;
        f->lines[i] = (pipeline_step){.id = passes[i]->id + 2, .pass = passes[i]->id, .at = {"p.yaml", i + 1, 5}};
        f->steps[i] = (contract_step){&f->lines[i], passes[i], "t"};
        f->agents[i] = (run_agent){
            .plugin = "t", .role = "pass", .id = passes[i]->id, .step = f->lines[i].id, .at = f->lines[i].at};
        f->agent_list[i] = &f->agents[i];
    }
    f->opened.contract.steps = f->steps;
    f->opened.contract.suppliers = put_no_supplier;
    f->observer = (compile_observer){.self = f,
                                     .begin = on_begin,
                                     .before_step = on_before,
                                     .runs_unit = on_unit,
                                     .after_step = on_after,
                                     .span_begin = on_span,
                                     .end = on_end};
    f->request = (compile_request){.verify = PIPELINE_VERIFY_EACH, .observer_count = 1, .observers = &f->observer};
}

#define BEGIN(f, ...) begin((f), (const pto_pass *const[]){__VA_ARGS__, NULL})

static void run(fixture *f, exit_status wanted, const char *log)
{
    assert_int_equal(pass_manager_run(f->a, &f->opened, &f->request, f->m, NULL, &f->stats), wanted);
    assert_string_equal(f->log, log);
    module_destroy(f->m);
    context_destroy(f->ir);
    diag_destroy(f->d);
    arena_destroy(f->a);
}

TEST(observers_see_each_step_with_its_units_inside)
{
    fixture f;
    BEGIN(&f, &resting, &marking);
    run(&f, EXIT_STATUS_OK,
        "begin (step before:rest (unit (unit after:rest (step before:mark (unit (unit changed:mark end ");
}

TEST(an_observer_ends_the_compile_with_its_status)
{
    fixture f;
    BEGIN(&f, &resting, &marking, &resting);
    f.answer_before = EXIT_STATUS_RESOURCES;
    run(&f, EXIT_STATUS_RESOURCES, "begin (step before:rest (unit (unit after:rest (step before:mark end ");
    BEGIN(&f, &resting, &marking, &resting);
    f.answer_after = EXIT_STATUS_BLAMED;
    run(&f, EXIT_STATUS_BLAMED,
        "begin (step before:rest (unit (unit after:rest (step before:mark (unit (unit changed:mark end ");
}

TEST(a_unit_that_an_observer_leaves_out_does_not_run)
{
    fixture f;
    BEGIN(&f, &failing);
    f.left_out = "f";
    run(&f, EXIT_STATUS_FAILED, "begin (step before:complain (unit end ");
}

TEST(a_left_out_unit_takes_what_the_step_establishes)
{
    static const char *const clean[] = {"t.clean", NULL};
    pto_pass cleaning = PASS(rest), needing = PASS(rest);
    cleaning.establishes = clean;
    needing.requires_props = clean;
    fixture f;
    BEGIN(&f, &cleaning, &needing);
    run(&f, EXIT_STATUS_OK,
        "begin (step before:rest (unit (unit after:rest (step before:rest (unit (unit after:rest end ");
    BEGIN(&f, &cleaning, &needing);
    f.left_out = "g";
    run(&f, EXIT_STATUS_FAILED, "begin (step before:rest (unit end ");
}

TEST(a_pass_that_fails_ends_the_compile_and_the_observers_are_told)
{
    fixture f;
    BEGIN(&f, &failing, &marking);
    run(&f, EXIT_STATUS_FAILED, "begin (step before:complain (unit end ");
}

TEST(observers_are_told_of_the_end_when_nothing_begins)
{
    static const char *const clean[] = {"t.clean", NULL};
    pto_pass needing = PASS(rest);
    needing.requires_props = clean;
    fixture f;
    BEGIN(&f, &needing);
    run(&f, EXIT_STATUS_USAGE, "end ");
}
