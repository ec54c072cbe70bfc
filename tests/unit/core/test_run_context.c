#include <pto/build.h>
#include <pto/tiling.h>

#include "ir/text/printer.h"

#include "tests/unit/core/run_fixture.h"

#include <string.h>

/* Two functions: what a pass is given, and a sibling. */
static const char source[] = "func @f(%x: tensor<$N x f32>) -> tensor<$N x f32> {\n"
                             "  %a = tensor.neg %x : tensor<$N x f32>\n"
                             "  %b = tensor.neg %a : tensor<$N x f32>\n"
                             "  %c = tensor.exp %b : tensor<$N x f32>\n"
                             "  return %c\n"
                             "}\n"
                             "func @g(%x: tensor<$N x f32>) -> tensor<$N x f32> {\n"
                             "  %a = tensor.neg %x : tensor<$N x f32>\n"
                             "  return %a\n"
                             "}\n";

enum { KIND_NEG, KIND_EXP, KIND_LOAD };
static const char *const kind_names[] = {"tensor.neg", "tensor.exp", "tile.load", NULL};

static void begin_text(run_fixture *f, const char *text) { run_fixture_begin(f, text, kind_names); }

static void begin(run_fixture *f) { begin_text(f, source); }

static pto_op op_of(pto_op unit, uint32_t index)
{
    pto_op op = pto_block_first(pto_body(unit));
    while (index-- > 0) op = pto_op_next(op);
    return op;
}

static void expect_text(run_fixture *f, const char *wanted)
{
    text_buffer t;
    text_init(&t);
    module_settle(f->m);
    assert_int_equal(module_verify(f->m), OK);
    module_print(f->m, NULL, &t);
    assert_string_equal(t.p, wanted);
    text_fini(&t);
}

/* What a run of the agent finds in its memory of this name; it leaves `number` there. */
static int64_t recall(run_fixture *f, const run_agent *agent, const char *what, int64_t number)
{
    f->request.agent = agent;
    (void)run_fixture_start(f);
    int64_t *memory = pto_recall(f->run, pto_s(what), sizeof *memory);
    const int64_t found = *memory;
    *memory = number;
    run_fixture_stop(f, PTO_OK);
    return found;
}

TEST(a_run_recalls_what_the_last_one_of_its_agent_left)
{
    run_fixture f;
    begin(&f);
    const run_agent own = f.agent, other = f.agent;
    assert_int_equal(recall(&f, &own, "a", 5), 0);
    assert_int_equal(recall(&f, &own, "a", 6), 5);
    assert_int_equal(recall(&f, &other, "a", 7), 0);
    assert_int_equal(recall(&f, &own, "b", 8), 0);
    assert_int_equal(recall(&f, &own, "a", 9), 6);
    run_session_forget(f.s);
    assert_int_equal(recall(&f, &own, "a", 1), 0);
    run_fixture_end(&f);
}

TEST(reading_changes_nothing)
{
    run_fixture f;
    begin(&f);
    const uint64_t before = module_epoch(f.m);
    const pto_op unit = run_fixture_start(&f);
    uint32_t count = 0, negations = 0;
    PTO_WALK(unit, op)
    {
        count++;
        negations += (uint32_t)PTO_IS(op, NEG);
    }
    assert_int_equal(count, 4);
    assert_int_equal(negations, 2);
    pto_value a = pto_op_result(op_of(unit, 0), 0);
    assert_true(pto_str_is(pto_value_name(a), "a"));
    PTO_EACH_USE(a, use) {
        assert_int_equal(use.slot, 0);
        assert_int_equal(use.op.index, op_of(unit, 1).index);
    }
    pto_expr n = pto_type_dim(pto_value_type(a), 0);
    assert_true(pto_str_is(pto_expr_symbol_name(n), "N"));
    assert_int_equal(pto_expr_range(n, op_of(unit, 0), NULL).lo, 0);
    char path[64];
    pto_op_path(op_of(unit, 1), path, sizeof path);
    assert_string_equal(path, "@f/b");
    pto_iteration nest = {.struct_size = sizeof nest};
    assert_int_equal(pto_op_iteration(op_of(unit, 0), &nest), PTO_OK);
    assert_int_equal(nest.dim_count, 1);
    assert_int_equal(pto_expr_equal(nest.extent[0], n), 1);
    run_fixture_stop(&f, PTO_OK);
    assert_false(f.result.failed);
    assert_int_equal(f.result.changes, 0);
    assert_int_equal(module_epoch(f.m), before);
    run_fixture_end(&f);
}

/* Two negations are none. */
static pto_status fold_negations(const pto_run *run, pto_op op)
{
    (void)run;
    pto_op inner = pto_value_op(pto_op_operand(op, 0));
    if (!PTO_IS(inner, NEG)) return PTO_OK;
    PTO_TRY(pto_op_replace_by(op, pto_op_operand(inner, 0)));
    if (pto_value_use_count(pto_op_result(inner, 0)) == 0) PTO_TRY(pto_op_erase(inner));
    return PTO_CHANGED;
}

static const char folded[] = "func @f(%x: tensor<$N x f32>) -> tensor<$N x f32> {\n"
                             "  %c = tensor.exp %x : tensor<$N x f32>\n"
                             "  return %c\n"
                             "}\n"
                             "func @g(%x: tensor<$N x f32>) -> tensor<$N x f32> {\n"
                             "  %a = tensor.neg %x : tensor<$N x f32>\n"
                             "  return %a\n"
                             "}\n";

/* pto_greedy over the unit with one pattern, at each `tensor.neg`. */
static pto_status greedy_at_neg(const run_fixture *f, pto_op unit, pto_status (*rewrite)(const pto_run *, pto_op),
                                uint32_t most)
{
    const pto_pattern pattern = {sizeof pattern, pto_kind(f->run, KIND_NEG), rewrite};
    const pto_pattern *const patterns[] = {&pattern};
    return pto_greedy(f->run, unit, 1, patterns, most);
}

TEST(patterns_fold_to_the_end)
{
    run_fixture f;
    begin(&f);
    assert_int_equal(greedy_at_neg(&f, run_fixture_start(&f), fold_negations, 0), PTO_OK);
    run_fixture_stop(&f, PTO_OK);
    assert_false(f.result.failed);
    assert_int_equal(f.result.changes, RUN_CHANGED_OPS | RUN_CHANGED_OPERANDS);
    expect_text(&f, folded);
    run_fixture_end(&f);
}

static pto_status flip(const pto_run *run, pto_op op)
{
    pto_value y = pto_make1(run, pto_before(op), pto_kind(run, KIND_NEG), pto_value_type(pto_op_result(op, 0)),
                            pto_op_operand(op, 0));
    PTO_NEED(y);
    PTO_TRY(pto_op_replace_by(op, y));
    return PTO_CHANGED;
}

TEST(patterns_that_never_end_are_stopped)
{
    run_fixture f;
    begin(&f);
    assert_int_equal(greedy_at_neg(&f, run_fixture_start(&f), flip, 3), PTO_CHANGED);
    run_fixture_stop(&f, PTO_OK);
    assert_false(f.result.failed);
    run_fixture_end(&f);
}

/* Even when the pass does not look at what the driver says. */
TEST(patterns_stop_when_the_time_is_up)
{
    run_fixture f;
    begin(&f);
    run_session_destroy(f.s);
    flight_recorder *recorder = flight_recorder_create();
    f.s = run_session_create(f.a, &(run_session_params){.diags = f.d, .recorder = recorder});
    const pto_op unit = run_fixture_start(&f);
    assert_int_equal(pto_go_on(f.run), PTO_OK);
    recorder->stop = 1;
    assert_int_equal(greedy_at_neg(&f, unit, flip, 1000000000), PTO_FAILED);
    assert_int_equal(pto_go_on(f.run), PTO_FAILED);
    run_fixture_stop(&f, PTO_OK);
    assert_true(f.result.failed);
    assert_int_equal(recorder->stopped, 1);
    assert_int_equal(diag_error_count(f.d), 1);
    run_fixture_end(&f);
}

TEST(a_walk_may_erase_what_it_stands_on)
{
    run_fixture f;
    begin(&f);
    const pto_op unit = run_fixture_start(&f);
    PTO_WALK(unit, op)
    {
        if (PTO_IS(op, NEG)) assert_int_equal(pto_op_replace_by(op, pto_op_operand(op, 0)), PTO_OK);
    }
    run_fixture_stop(&f, PTO_OK);
    assert_false(f.result.failed);
    expect_text(&f, folded);
    run_fixture_end(&f);
}

TEST(equal_ops_are_found_and_unused_ones_told)
{
    static const char text[] = "func @f(%x: tensor<4 x f32>) -> tensor<4 x f32> {\n"
                               "  %a = tensor.exp %x : tensor<4 x f32>\n"
                               "  %b = tensor.exp %x : tensor<4 x f32>\n"
                               "  %c = tensor.exp %a : tensor<4 x f32>\n"
                               "  return %c\n"
                               "}\n";
    run_fixture f;
    begin_text(&f, text);
    const pto_op unit = run_fixture_start(&f);
    const pto_op a = op_of(unit, 0), b = op_of(unit, 1), c = op_of(unit, 2);
    assert_true(pto_op_equal(a, b));
    assert_false(pto_op_equal(a, c));
    assert_int_equal(pto_op_hash(a), pto_op_hash(b));
    assert_int_equal(pto_op_hash(unit), 0);
    assert_true(pto_op_is_used(a) && pto_op_is_used(c));
    assert_false(pto_op_is_used(b));
    assert_int_equal(pto_walk_skip(a, unit).index, b.index);
    assert_false(PTO_SOME(pto_walk_skip(unit, unit)));
    assert_int_equal(f.run->kind_count, 3);
    assert_int_equal(f.run->kinds[KIND_EXP], pto_op_kind(a));
    run_fixture_stop(&f, PTO_OK);
    assert_int_equal(f.result.changes, 0);
    run_fixture_end(&f);
}

/* The insides of what the walk is at may go; it goes on after it. */
TEST(a_walk_may_erase_what_is_inside)
{
    static const char text[] = "func @f(%x: tensor<4 x f32>) -> tensor<4 x f32> {\n"
                               "  for %i to 4 {\n"
                               "    %a = tensor.exp %x : tensor<4 x f32>\n"
                               "  }\n"
                               "  %b = tensor.neg %x : tensor<4 x f32>\n"
                               "  return %b\n"
                               "}\n";
    run_fixture f;
    begin_text(&f, text);
    const pto_op unit = run_fixture_start(&f);
    uint32_t visited = 0;
    PTO_WALK(unit, op)
    {
        visited++;
        if (pto_op_block_count(op) != 0) assert_int_equal(pto_op_erase(pto_block_first(pto_body(op))), PTO_OK);
    }
    assert_int_equal(visited, 3);
    run_fixture_stop(&f, PTO_OK);
    assert_false(f.result.failed);
    run_fixture_end(&f);
}

TEST(a_walk_from_nowhere_sees_the_module)
{
    run_fixture f;
    begin(&f);
    f.request.unit = 0;
    f.request.access = RUN_WRITES_MODULE;
    const pto_op unit = run_fixture_start(&f);
    assert_false(PTO_SOME(unit));
    uint32_t ops = 0, functions = 0;
    PTO_WALK(unit, op) ops++;
    PTO_EACH_OP(pto_module_top(f.run), op) functions++;
    assert_int_equal(ops, 8);
    assert_int_equal(functions, 2);
    run_fixture_stop(&f, PTO_OK);
    assert_int_equal(f.result.changes, 0);
    run_fixture_end(&f);
}

TEST(handles_of_an_earlier_run_are_noticed)
{
    run_fixture f;
    begin(&f);
    const pto_op kept = run_fixture_start(&f);
    run_fixture_stop(&f, PTO_OK);
    (void)run_fixture_start(&f);
    assert_int_equal(pto_op_kind(kept), 0);
    assert_int_equal(pto_op_kind(kept), 0);
    run_fixture_stop(&f, PTO_OK);
    run_fixture_expect_misuse(&f, "E1320",
                              "pass `acme.p` of plugin `org.acme.p` used a handle of an op of a run that has ended");
    run_fixture_end(&f);
}

TEST(handles_of_erased_ops_are_noticed)
{
    run_fixture f;
    begin(&f);
    const pto_op unit = run_fixture_start(&f);
    const pto_op first = op_of(unit, 0);
    assert_int_equal(pto_op_is_live(first), 1);
    assert_int_equal(pto_op_replace_by(first, pto_op_operand(first, 0)), PTO_OK);
    assert_int_equal(pto_op_is_live(first), 0);
    assert_false(PTO_SOME(pto_op_next(first)));
    run_fixture_stop(&f, PTO_OK);
    run_fixture_expect_misuse(&f, "E1320",
                              "pass `acme.p` of plugin `org.acme.p` used a handle of an op that was erased");
    run_fixture_end(&f);
}

TEST(handles_made_up_are_noticed)
{
    run_fixture f;
    begin(&f);
    pto_op unit = run_fixture_start(&f);
    unit.index = 0x00ffffff;
    assert_int_equal(pto_op_kind(unit), 0);
    run_fixture_stop(&f, PTO_OK);
    run_fixture_expect_misuse(&f, "E1320",
                              "pass `acme.p` of plugin `org.acme.p` used a handle of an op that was erased");
    run_fixture_end(&f);
    begin(&f);
    unit = run_fixture_start(&f);
    const pto_type forged = {f.run, 3, unit.generation + 7};
    assert_int_equal(pto_type_rank(forged), 0);
    run_fixture_stop(&f, PTO_OK);
    run_fixture_expect_misuse(&f, "E1320", "pass `acme.p` of plugin `org.acme.p` made a handle of a type by itself");
    run_fixture_end(&f);
}

TEST(writes_to_a_sibling_are_refused)
{
    static const char text[] = "pass `acme.p` of plugin `org.acme.p` wrote to @g while it was given @f; only a pass of "
                               "scope module may do that";
    run_fixture f;
    begin(&f);
    uint64_t before = module_epoch(f.m);
    (void)run_fixture_start(&f);
    pto_op g = pto_symbol_find(f.run, PTO_STR("g"));
    assert_true(PTO_SOME(g));
    assert_int_equal(pto_op_replace_by(op_of(g, 0), pto_op_operand(op_of(g, 0), 0)), PTO_FAILED);
    run_fixture_stop(&f, PTO_FAILED);
    run_fixture_expect_misuse(&f, "E1321", text);
    assert_int_equal(module_epoch(f.m), before);
    run_fixture_end(&f);

    begin(&f);
    before = module_epoch(f.m);
    const pto_op unit = run_fixture_start(&f);
    g = pto_symbol_find(f.run, PTO_STR("g"));
    assert_int_equal(pto_op_move(op_of(unit, 0), pto_at_end(pto_body(g))), PTO_FAILED);
    assert_int_equal(pto_value_set_name(pto_block_arg(pto_body(g), 0), PTO_STR("q")), PTO_FAILED);
    run_fixture_stop(&f, PTO_OK);
    run_fixture_expect_misuse(&f, "E1321", text);
    assert_int_equal(module_epoch(f.m), before);
    run_fixture_end(&f);

    begin(&f);
    f.request.access = RUN_WRITES_MODULE;
    f.request.unit = 0;
    (void)run_fixture_start(&f);
    g = pto_symbol_find(f.run, PTO_STR("g"));
    assert_int_equal(pto_op_replace_by(op_of(g, 0), pto_op_operand(op_of(g, 0), 0)), PTO_OK);
    run_fixture_stop(&f, PTO_OK);
    assert_false(f.result.failed);
    run_fixture_end(&f);
}

TEST(ops_of_another_level_are_refused)
{
    run_fixture f;
    begin(&f);
    const uint64_t before = module_epoch(f.m);
    const pto_op unit = run_fixture_start(&f);
    pto_spec s = pto_spec_make(f.run, pto_kind(f.run, KIND_LOAD));
    pto_spec_operand(&s, pto_block_arg(pto_body(unit), 0));
    pto_spec_result(&s, pto_type_tile(f.run, PTO_F32, 8, 8, PTO_SPACE_NONE, PTO_LAYOUT_NONE));
    assert_false(PTO_SOME(pto_spec_build(&s, pto_before(op_of(unit, 0)))));
    run_fixture_stop(&f, PTO_FAILED);
    run_fixture_expect_misuse(&f, "E1322",
                              "pass `acme.p` of plugin `org.acme.p` made `tile.load`, which is of no level that it "
                              "consumes or produces");
    assert_int_equal(module_epoch(f.m), before);
    run_fixture_end(&f);
}

TEST(ops_against_their_row_are_refused_when_made)
{
    run_fixture f;
    begin(&f);
    const pto_op unit = run_fixture_start(&f);
    const pto_value x = pto_block_arg(pto_body(unit), 0);
    pto_expr four = pto_expr_const(f.run, 4);
    const pto_type wrong = pto_type_tensor(f.run, PTO_F32, 1, &four);
    assert_false(PTO_SOME(pto_make1(f.run, pto_at_start(pto_body(unit)), pto_kind(f.run, KIND_NEG), wrong, x)));
    run_fixture_stop(&f, PTO_FAILED);
    assert_true(f.result.failed);
    assert_false(f.result.misused);
    assert_int_equal(diag_error_count(f.d), 1);
    assert_string_equal(diag_record_at(f.d, 1)->text, "reported by pass `acme.p` of plugin `org.acme.p` in step `p`");
    assert_int_equal(op_kind_of(f.m, block_first(f.m, function_body(f.m, f.request.unit))),
                     op_kind_by_name(NULL, STR("tensor.neg")));
    run_fixture_end(&f);

    begin(&f);
    const pto_op again = run_fixture_start(&f);
    pto_spec s = pto_spec_make(f.run, pto_kind(f.run, KIND_NEG));
    pto_spec_result(&s, pto_value_type(pto_block_arg(pto_body(again), 0)));
    assert_false(PTO_SOME(pto_spec_build(&s, pto_at_start(pto_body(again)))));
    run_fixture_stop(&f, PTO_FAILED);
    run_fixture_expect_misuse(
        &f, "E1324", "pass `acme.p` of plugin `org.acme.p` made `tensor.neg` with 0 operands; it takes 1 to 1");
    run_fixture_end(&f);
}

TEST(used_ops_are_not_erased)
{
    run_fixture f;
    begin(&f);
    const pto_op unit = run_fixture_start(&f);
    assert_int_equal(pto_op_erase(op_of(unit, 0)), PTO_FAILED);
    run_fixture_stop(&f, PTO_FAILED);
    run_fixture_expect_misuse(
        &f, "E1324",
        "pass `acme.p` of plugin `org.acme.p` tried to erase `tensor.neg` while `tensor.neg` uses its result");
    run_fixture_end(&f);
}

TEST(readers_may_not_write)
{
    run_fixture f;
    begin(&f);
    f.request.access = RUN_READS;
    const pto_op unit = run_fixture_start(&f);
    assert_int_equal(pto_op_set_attr(op_of(unit, 0), PTO_STR("note"), pto_attr_make_i64(f.run, 1)), PTO_FAILED);
    run_fixture_stop(&f, PTO_OK);
    run_fixture_expect_misuse(
        &f, "E1325", "pass `acme.p` of plugin `org.acme.p` tried to change the module, which it may only read");
    run_fixture_end(&f);
}

TEST(failing_in_silence_is_reported)
{
    run_fixture f;
    begin(&f);
    (void)run_fixture_start(&f);
    run_fixture_stop(&f, PTO_FAILED);
    assert_true(f.result.failed);
    assert_string_equal(diag_record_at(f.d, 0)->code, "E1326");
    assert_string_equal(
        diag_record_at(f.d, 0)->text,
        "pass `acme.p` of plugin `org.acme.p` failed without saying why; this is a defect of the plugin");
    run_fixture_end(&f);
}

TEST(errors_of_plugins_carry_their_code_and_place)
{
    run_fixture f;
    begin(&f);
    const pto_op unit = run_fixture_start(&f);
    const pto_status s = pto_error(op_of(unit, 1), "acme.p/odd", "the number %d is odd", 7);
    assert_int_equal(s, PTO_FAILED);
    run_fixture_stop(&f, s);
    const diag_record *r = diag_record_at(f.d, 0);
    assert_string_equal(r->code, "acme.p/odd");
    assert_string_equal(r->text, "the number 7 is odd");
    assert_string_equal(r->at.file, "t.ptir");
    assert_int_equal(r->at.line, 3);
    assert_true(f.result.failed && !f.result.misused);
    run_fixture_end(&f);
}

TEST(options_and_statistics_are_read_as_declared)
{
    static const pto_option limit = {sizeof limit, PTO_OPT_I64, "limit", "d", NULL, NULL, "64", NULL, NULL, NULL};
    static const pto_option mode = {sizeof mode, PTO_OPT_STR, "mode", "d", NULL, NULL, "x", NULL, NULL, NULL};
    static const pto_option *const options[] = {&limit, &mode, NULL};
    static const char *const stats[] = {"folded", NULL};
    const value values[] = {{.type = VALUE_I64, .i = 64},
                            {.type = VALUE_STR, .s = {"fast", 4}, .at = {"p.yaml", 1, 1}}};
    int64_t counters[1] = {0};
    run_fixture f;
    begin(&f);
    f.agent.options = options;
    f.agent.values = values;
    f.agent.stats = stats;
    f.agent.stat_values = counters;
    (void)run_fixture_start(&f);
    assert_int_equal(pto_opt_i64(f.run, 0), 64);
    assert_int_equal(pto_opt_is_set(f.run, 0), 0);
    assert_true(pto_str_is(pto_opt_str(f.run, 1), "fast"));
    assert_int_equal(pto_opt_is_set(f.run, 1), 1);
    pto_stat_add(f.run, 0, 1);
    pto_stat_add(f.run, 0, 4);
    assert_int_equal(counters[0], 5);
    run_fixture_stop(&f, PTO_OK);
    assert_false(f.result.failed);
    (void)run_fixture_start(&f);
    assert_int_equal(pto_opt_i64(f.run, 1), 0);
    run_fixture_stop(&f, PTO_OK);
    run_fixture_expect_misuse(
        &f, "E1323", "pass `acme.p` of plugin `org.acme.p` read its option `mode`, which is text, as an integer");
    run_fixture_end(&f);
}

/* ---- index expressions ---- */

static const char tiles[] = "func @f(%a: gm<$M x 64 x f32>) {\n"
                            "  forall \"n\" (%i) to (ceildiv($M, 8)) {\n"
                            "    %t = tile.load %a[8 * %i, 0] size(min(8, $M - 8 * %i), 64) : tile<8 x 64 x f32, vec>\n"
                            "  }\n"
                            "  return\n"
                            "}\n";

TEST(plugins_see_values_where_the_text_has_them)
{
    run_fixture f;
    begin_text(&f, tiles);
    f.request.levels = 1u << LEVEL_TILE;
    const pto_op unit = run_fixture_start(&f);
    const pto_op loop = op_of(unit, 0), load = pto_block_first(pto_body(loop));
    const pto_value i = pto_block_arg(pto_body(loop), 0);
    assert_int_equal(pto_op_operand_count(load), 1);
    assert_int_equal(pto_expr_count_of(load, PTO_STR("offsets")), 2);
    const pto_expr offset = pto_expr_of(load, PTO_STR("offsets"), 0);
    const pto_expr eight_i = pto_expr_scale(pto_expr_value(i), 8);
    assert_true(PTO_SOME(offset));
    assert_int_equal(pto_expr_equal(offset, eight_i), 1);
    assert_true(pto_expr_range(pto_expr_of(load, PTO_STR("sizes"), 0), load, NULL).hi <= 8);

    /* The same load one tile further. */
    pto_spec s = pto_spec_make(f.run, pto_kind(f.run, KIND_LOAD));
    pto_spec_operand(&s, pto_op_operand(load, 0));
    const pto_expr offsets[] = {pto_expr_offset(eight_i, 8), pto_expr_const(f.run, 0)};
    const pto_expr sizes[] = {pto_expr_min(pto_expr_const(f.run, 8), pto_expr_sub(pto_expr_symbol(f.run, PTO_STR("M")),
                                                                                  pto_expr_offset(eight_i, 8))),
                              pto_expr_const(f.run, 64)};
    pto_spec_exprs(&s, PTO_STR("offsets"), 2, offsets);
    pto_spec_exprs(&s, PTO_STR("sizes"), 2, sizes);
    pto_spec_result(&s, pto_value_type(pto_op_result(load, 0)));
    pto_spec_name(&s, PTO_STR("u"));
    const pto_value made = pto_spec_value(&s, pto_after(load));
    assert_true(PTO_SOME(made));
    pto_expr valid[2] = {0};
    assert_int_equal(pto_value_valid(made, valid), PTO_OK);
    assert_int_equal(pto_expr_equal(valid[1], sizes[1]), 1);
    run_fixture_stop(&f, PTO_OK);
    assert_false(f.result.failed);
    expect_text(&f, "func @f(%a: gm<$M x 64 x f32>) {\n"
                    "  forall \"n\" (%i) to (ceildiv($M, 8)) {\n"
                    "    %t = tile.load %a[8 * %i, 0] size(min(8, $M - 8 * %i), 64) : tile<8 x 64 x f32, vec>\n"
                    "    %u = tile.load %a[8 * %i + 8, 0] size(min(8, $M - 8 * %i - 8), 64) : tile<8 x 64 x f32, vec>\n"
                    "  }\n"
                    "  return\n"
                    "}\n");
    run_fixture_end(&f);
}

TEST(expressions_over_values_stay_where_rows_take_them)
{
    run_fixture f;
    begin_text(&f, tiles);
    f.request.levels = 1u << LEVEL_TILE;
    const pto_op unit = run_fixture_start(&f);
    const pto_value i = pto_block_arg(pto_body(op_of(unit, 0)), 0);
    assert_int_equal(pto_op_set_attr(op_of(unit, 1), PTO_STR("x"), pto_attr_make_expr(f.run, pto_expr_value(i))),
                     PTO_FAILED);
    run_fixture_stop(&f, PTO_OK);
    run_fixture_expect_misuse(
        &f, "E1324",
        "pass `acme.p` of plugin `org.acme.p` gave `return` the attribute `x` with an expression over "
        "values that it cannot name, or with lists nested too deeply");
    run_fixture_end(&f);
}

static const char kernel_text[] =
    "func @f(%a: gm<$M x 64 x f32>) {\n"
    "  return\n"
    "}\n"
    "block.kernel @k core(vector) grid(%i: ceildiv($M, 8)) reads(%a[8 * %i, 0] size(8, 64)) "
    "(%a: gm<$M x 64 x f32>) {\n"
    "}\n";

TEST(kernels_are_made_with_regions_over_their_grid)
{
    run_fixture f;
    begin_text(&f, "func @f(%a: gm<$M x 64 x f32>) {\n  return\n}\n");
    const op_id given = f.request.unit;
    f.request.unit = 0;
    f.request.access = RUN_WRITES_MODULE;
    f.request.levels = 1u << LEVEL_TILE | 1u << LEVEL_BLOCK;
    (void)run_fixture_start(&f);
    const pto_run *run = f.run;
    const pto_op unit = run_context_op(run, given);
    pto_spec s = pto_spec_make(run, pto_kind_by_name(run, PTO_STR("block.kernel")));
    const pto_expr grid = pto_expr_ceildiv(pto_expr_symbol(run, PTO_STR("M")), pto_expr_const(run, 8));
    pto_spec_str(&s, PTO_STR("name"), PTO_STR("k"));
    pto_spec_str(&s, PTO_STR("core"), PTO_STR("vector"));
    pto_spec_exprs(&s, PTO_STR("grid"), 1, &grid);
    pto_spec_blocks(&s, 1);
    const pto_op kernel = pto_spec_build(&s, pto_at_end(pto_module_top(run)));
    assert_true(PTO_SOME(kernel));
    const pto_value i = pto_block_add_arg(pto_body(kernel), pto_type_scalar(run, PTO_INDEX), PTO_STR("i"));
    assert_true(
        PTO_SOME(pto_block_add_arg(pto_body(kernel), pto_value_type(pto_block_arg(pto_body(unit), 0)), PTO_STR("a"))));
    pto_spec r = pto_spec_make(run, pto_kind_by_name(run, PTO_STR("return")));
    assert_true(PTO_SOME(pto_spec_build(&r, pto_at_end(pto_body(kernel)))));
    const pto_expr from[] = {pto_expr_scale(pto_expr_value(i), 8), pto_expr_const(run, 0)};
    const pto_expr size[] = {pto_expr_const(run, 8), pto_expr_const(run, 64)};
    const pto_attr region[] = {pto_attr_make_i64(run, 0), pto_attr_make_exprs(run, 2, from),
                               pto_attr_make_exprs(run, 2, size)};
    const pto_attr item = pto_attr_make_list(run, 3, region);
    assert_int_equal(pto_op_set_attr(kernel, PTO_STR("reads"), pto_attr_make_list(run, 1, &item)), PTO_OK);
    const pto_attr back =
        pto_attr_item(pto_attr_item(pto_attr_item(pto_op_attr(kernel, PTO_STR("reads")), 0, NULL), 1, NULL), 0, NULL);
    assert_int_equal(pto_expr_equal(pto_attr_expr(back), from[0]), 1);
    assert_true(pto_str_is(pto_function_name(kernel), "k"));
    assert_int_equal(pto_symbol_find(run, PTO_STR("k")).index, kernel.index);
    run_fixture_stop(&f, PTO_OK);
    assert_false(f.result.failed);
    assert_true((f.result.changes & RUN_CHANGED_MODULE) != 0);
    expect_text(&f, kernel_text);
    run_fixture_end(&f);
}

TEST(copies_map_their_values)
{
    run_fixture f;
    begin_text(&f, tiles);
    f.request.levels = 1u << LEVEL_TILE;
    const pto_op unit = run_fixture_start(&f);
    const pto_op loop = op_of(unit, 0);
    const pto_op copy = pto_op_clone(loop, pto_after(loop), 0, NULL, NULL);
    assert_true(PTO_SOME(copy));
    const pto_op load = pto_block_first(pto_body(copy));
    const pto_expr own = pto_expr_scale(pto_expr_value(pto_block_arg(pto_body(copy), 0)), 8);
    assert_int_equal(pto_expr_equal(pto_expr_of(load, PTO_STR("offsets"), 0), own), 1);
    assert_false(PTO_SOME(pto_op_clone(loop, pto_at_end(pto_body(loop)), 0, NULL, NULL)));
    run_fixture_stop(&f, PTO_OK);
    run_fixture_expect_misuse(&f, "E1324", "pass `acme.p` of plugin `org.acme.p` tried to copy `forall` into itself");
    run_fixture_end(&f);
}

/* ---- tiling ---- */

enum { VEC = 1 }; /* the first memory space of ir/ops */

static int64_t footprint(void *self, const int64_t *tile, pto_space where)
{
    (void)self;
    return where == VEC ? tile[0] * 4 : 0;
}
static int64_t capacity(void *self, pto_space where) { return where == VEC ? *(int64_t *)self : 0; }

static pto_status offer_halves(const pto_run *run, const pto_tiling_problem *p, const pto_tiling_sink *sink)
{
    (void)run;
    assert_true(pto_str_is(pto_op_name(p->nest), "func"));
    assert_int_equal(p->dims[0]->extent.run == run, 1);
    for (int64_t n = 1024; n >= 16; n /= 2) {
        if (!sink->offer(sink->self, &n)) break;
    }
    return PTO_OK;
}
static pto_status offer_forever(const pto_run *run, const pto_tiling_problem *p, const pto_tiling_sink *sink)
{
    (void)run;
    (void)p;
    const int64_t n = 1 << 20;
    for (uint32_t i = 0; i < 100000; i++) {
        if (!sink->offer(sink->self, &n)) return i == 255 ? PTO_OK : PTO_FAILED;
    }
    return PTO_FAILED;
}
static pto_status offer_nothing(const pto_run *run, const pto_tiling_problem *p, const pto_tiling_sink *sink)
{
    (void)run;
    (void)p;
    (void)sink;
    return PTO_OK;
}
static pto_status offer_and_write(const pto_run *run, const pto_tiling_problem *p, const pto_tiling_sink *sink)
{
    (void)run;
    (void)sink;
    return pto_op_erase(op_of(p->nest, 3));
}

static pto_status choose(run_fixture *f,
                         pto_status (*offer)(const pto_run *, const pto_tiling_problem *, const pto_tiling_sink *),
                         int64_t bytes, int64_t *tile, uint32_t *ordinal)
{
    static const char *const kinds[] = {"tiling", NULL};
    static const pto_option strategy = {
        sizeof strategy, PTO_OPT_PLUGIN, "strategy", "d", NULL, NULL, NULL, NULL, NULL, kinds};
    static const pto_option *const options[] = {&strategy, NULL};
    const value values[] = {{.type = VALUE_PLUGIN, .s = {"acme.t", 6}}};
    const pto_tiling tiling = {sizeof tiling, 0, "acme.t", "s", NULL, offer};
    const run_agent agent = {.plugin = "org.acme.t",
                             .role = "tiling strategy",
                             .id = "acme.t",
                             .at = {"pipe.yaml", 9, 3},
                             .tiling = &tiling};
    const run_agent *const strategies[] = {&agent};
    f->agent.options = options;
    f->agent.values = values;
    f->agent.strategies = strategies;
    const pto_op unit = run_fixture_start(f);
    const pto_tiling_dim dim = {sizeof dim, PTO_PARALLEL, "rows", pto_expr_symbol(f->run, PTO_STR("N")), -1, 1};
    const pto_tiling_dim *const dims[] = {&dim};
    const pto_tiling_problem problem = {sizeof problem, 1, "rows", unit, dims, &bytes, footprint,
                                        capacity,       1, NULL,   NULL, NULL, 0,      0};
    const pto_status s = pto_tiling_choose(f->run, 0, &problem, tile, ordinal);
    run_fixture_stop(f, s);
    f->agent.values = NULL; /* they and the strategies end with this function */
    f->agent.strategies = NULL;
    return s;
}

TEST(the_first_tile_that_fits_is_taken)
{
    run_fixture f;
    int64_t tile = 0;
    uint32_t ordinal = 0;
    begin(&f);
    assert_int_equal(choose(&f, offer_halves, 1000, &tile, &ordinal), PTO_OK);
    assert_int_equal(tile, 128);
    assert_int_equal(ordinal, 3);
    assert_false(f.result.failed);
    run_fixture_end(&f);
}

TEST(tiles_that_never_fit_are_reported_with_numbers)
{
    run_fixture f;
    int64_t tile = 0;
    begin(&f);
    assert_int_equal(choose(&f, offer_halves, 10, &tile, NULL), PTO_FAILED);
    const diag_record *r = diag_record_at(f.d, 0);
    assert_string_equal(r->code, "E1331");
    assert_string_equal(r->text,
                        "no tile of the 7 that strategy `acme.t` offers fits: the smallest, rows = 16, needs 64 bytes "
                        "of `vec`, which has 10");
    run_fixture_end(&f);
}

TEST(offers_are_bounded_and_wanted)
{
    run_fixture f;
    int64_t tile = 0;
    begin(&f);
    assert_int_equal(choose(&f, offer_forever, 10, &tile, NULL), PTO_FAILED);
    assert_string_equal(diag_record_at(f.d, 0)->code, "E1331");
    run_fixture_end(&f);
    begin(&f);
    assert_int_equal(choose(&f, offer_nothing, 10, &tile, NULL), PTO_FAILED);
    assert_string_equal(diag_record_at(f.d, 0)->code, "E1330");
    assert_string_equal(diag_record_at(f.d, 0)->text,
                        "the tiling strategy `acme.t` of plugin `org.acme.t` offered nothing");
    run_fixture_end(&f);
}

TEST(strategies_may_not_write)
{
    run_fixture f;
    int64_t tile = 0;
    begin(&f);
    assert_int_equal(choose(&f, offer_and_write, 10, &tile, NULL), PTO_FAILED);
    assert_string_equal(diag_record_at(f.d, 0)->code, "E1325");
    assert_string_equal(diag_record_at(f.d, 0)->text,
                        "tiling strategy `acme.t` of plugin `org.acme.t` tried to change the "
                        "module, which it may only read");
    run_fixture_end(&f);
}
