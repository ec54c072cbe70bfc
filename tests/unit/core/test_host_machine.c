/* Its parameters are called as types of the IR are. */
#include <pto/build.h>

#include "tests/unit/core/run_fixture.h"

static const char other_names[] =
    "pto-machine: 1\n"
    "name: other-names\n"
    "clock-hz: 1000000000\n"
    "layouts: { rows: row, tiled: column-row }\n"
    "cores:\n"
    "  sm: { count: 2, pipes: { ldg: load, stg: store, simd: vector } }\n"
    "spaces:\n"
    "  hbm: { role: global, bytes: 1GiB, layouts: [rows] }\n"
    "  smem: { role: scratchpad, core: sm, bytes: 64KiB, reserved: 1KiB, align: 128, layouts: [tiled, rows] }\n"
    "  second: { role: scratchpad, core: sm, bytes: 1KiB, layouts: [rows] }\n"
    "paths:\n"
    "- { from: hbm, to: smem, core: sm, pipe: ldg, bytes-per-cycle: 10, latency: 5, layouts: [rows-rows, rows-tiled],\n"
    "    casts: [f16-f32] }\n"
    "vector: { dtypes: [f32] }\n"
    "instructions:\n"
    "  default: { head: 1 }\n";

static const char text[] =
    "module {spaces = {frag = \"accumulator\"}} {\n  func @f(%x: tensor<4 x f32>) -> tensor<4 x f32> {\n"
    "    return %x\n  }\n}\n";

static void begin(run_fixture *f, bool with_machine)
{
    run_fixture_begin(f, text, NULL);
    if (!with_machine) return;
    const machine *m = NULL;
    assert_int_equal(machine_read_text(f->a, f->d, "m.yaml", str_from(other_names), &m), OK);
    assert_int_equal(role_names_add_all(context_names(f->ir), f->d, m->names), OK);
    run_session_destroy(f->s);
    f->s = run_session_create(f->a, &(run_session_params){.diags = f->d, .machine = m});
}

TEST(the_first_name_of_a_role_is_that_of_the_machine)
{
    run_fixture f;
    begin(&f, true);
    (void)run_fixture_start(&f);
    assert_string_equal(pto_space_name(f.run, pto_space_of_role(f.run, PTO_ROLE_SCRATCHPAD)), "smem");
    assert_string_equal(pto_space_name(f.run, pto_space_of_role(f.run, PTO_ROLE_GLOBAL)), "hbm");
    assert_string_equal(pto_layout_name(f.run, pto_layout_of_order(f.run, PTO_ORDER_ROW)), "rows");
    assert_string_equal(pto_name_text(f.run, PTO_NAME_PIPE, pto_name_of_role(f.run, PTO_NAME_PIPE, PTO_UNIT_LOAD)).p,
                        "ldg");
    /* What the machine lacks has its usual name, whatever the module declares. */
    assert_string_equal(pto_space_name(f.run, pto_space_of_role(f.run, PTO_ROLE_ACCUMULATOR)), "acc");
    assert_int_equal(pto_space_of_role(f.run, 999), PTO_SPACE_NONE);
    assert_int_equal(pto_space_role(f.run, pto_space_by_name(f.run, PTO_STR("frag"))), PTO_ROLE_ACCUMULATOR);
    assert_int_equal(pto_space_by_name(f.run, PTO_STR("ub")), PTO_SPACE_NONE);
    assert_string_equal(pto_space_name(f.run, PTO_SPACE_NONE), "?");
    assert_string_equal(pto_layout_name(f.run, PTO_LAYOUT_NONE), "?");
    run_fixture_stop(&f, PTO_OK);
    assert_true(f.result.asked_machine);
    run_fixture_end(&f);
}

static pto_space_data space_of(const pto_run *run, pto_space id)
{
    const pto_space_facts facts = pto_machine_space(run, id);
    assert_non_null(facts);
    return facts != NULL ? *facts : (pto_space_data){0};
}

static pto_path_data path_of(const pto_run *run, uint32_t from_role, uint32_t to_role)
{
    const pto_path_facts facts = pto_path_facts_of(run, from_role, to_role);
    assert_non_null(facts);
    return facts != NULL ? *facts : (pto_path_data){0};
}

TEST(facts_of_spaces_and_paths_come_by_id)
{
    run_fixture f;
    begin(&f, true);
    (void)run_fixture_start(&f);
    const pto_space smem = pto_space_by_name(f.run, PTO_STR("smem")), hbm = pto_space_by_name(f.run, PTO_STR("hbm"));
    const pto_layout rows = pto_layout_by_name(f.run, PTO_STR("rows")),
                     tiled = pto_layout_by_name(f.run, PTO_STR("tiled"));
    const pto_space_data scratchpad = space_of(f.run, smem);
    assert_int_equal(scratchpad.bytes, 65536);
    assert_int_equal(scratchpad.usable_bytes, 64512);
    assert_int_equal(scratchpad.align, 128);
    assert_true(pto_str_is(scratchpad.core, "sm"));
    assert_int_equal(scratchpad.usual, tiled);
    assert_int_equal(scratchpad.layouts, 1u << rows | 1u << tiled);
    assert_int_equal(space_of(f.run, hbm).core.n, 0);
    assert_null(pto_machine_space(f.run, pto_space_by_name(f.run, PTO_STR("vec"))));
    assert_null(pto_machine_space(f.run, PTO_SPACE_NONE));
    assert_null(pto_machine_space(f.run, UINT32_MAX));
    const pto_path_data path = path_of(f.run, PTO_ROLE_GLOBAL, PTO_ROLE_SCRATCHPAD);
    assert_true(path.bytes_per_cycle == 10.0);
    assert_int_equal(path.latency, 5);
    assert_int_equal(pto_name_role(f.run, PTO_NAME_PIPE, path.pipe), PTO_UNIT_LOAD);
    assert_int_equal(path.layouts[rows], 1u << rows | 1u << tiled);
    assert_int_equal(path.layouts[tiled], 0);
    assert_int_equal(path.casts[PTO_F16], 1u << PTO_F32);
    assert_null(pto_machine_path(f.run, smem, hbm));
    assert_null(pto_machine_path(f.run, UINT32_MAX, hbm));
    assert_int_equal(pto_space_usable_bytes(f.run, smem, -1), 64512);
    assert_int_equal(pto_space_align(f.run, PTO_SPACE_NONE, -1), -1);
    run_fixture_stop(&f, PTO_OK);
    run_fixture_end(&f);
}

TEST(a_name_of_the_machine_that_a_run_gets_makes_the_module_declare_it)
{
    static const char *const names[] = {"vec", "smem"};
    for (int i = 0; i < 2; i++) {
        run_fixture f;
        begin(&f, true);
        (void)run_fixture_start(&f);
        assert_int_not_equal(pto_space_by_name(f.run, pto_s(names[i])), PTO_SPACE_NONE);
        run_fixture_stop(&f, PTO_OK);
        assert_int_equal(f.result.asked_machine, i);
        run_fixture_end(&f);
    }
}

/* More paths than are kept, and one that is too long. */
static void ask_for_facts(const pto_run *run)
{
    assert_int_equal(pto_machine_i64_or(run, -1, "cores.%.*s.count", 2, "sm"), 2);
    assert_true(pto_machine_f64_or(run, -1.0, "cores.%.*s.count", 2, "sm") == 2.0);
    assert_int_equal(pto_machine_i64_or(run, -1, "clock-hz"), 1000000000);
    assert_true(pto_str_is(pto_machine_text(run, "spaces.%s.layouts", "smem"), "tiled,rows"));
    assert_int_equal(pto_machine_text(run, "spaces.%s.dtypes", "smem").n, 0);
    assert_int_equal(pto_machine_i64_or(run, 7, "spaces.%s.layouts", "smem"), 7);
    for (int i = 0; i < 2 * PTO_ANSWERS; i++) {
        assert_int_equal(pto_machine_i64_or(run, i, "facts.t%d.in-place", i), i);
    }
    assert_int_equal(
        pto_machine_i64_or(run, 3, "facts.a-name-that-no-instruction-has-since-it-is-far-too-long.pads-to"), 3);
    assert_int_equal(pto_machine_i64_or(run, -1, "spaces.%s.bytes", "second"), 1024);
    assert_true(pto_str_is(pto_machine_text(run, "spaces.%s.layouts", "second"), "rows"));
}

TEST(what_the_machine_said_is_kept_and_the_next_run_hangs_on_it_all_the_same)
{
    run_fixture f;
    begin(&f, true);
    for (int i = 0; i < 3; i++) {
        (void)run_fixture_start(&f);
        ask_for_facts(f.run);
        run_fixture_stop(&f, PTO_OK);
        assert_true(f.result.asked_machine);
        assert_false(f.result.failed);
    }
    (void)run_fixture_start(&f);
    const pto_str kept = pto_machine_text(f.run, "spaces.smem.layouts"),
                  again = pto_machine_text(f.run, "spaces.smem.layouts");
    assert_ptr_equal(kept.p, again.p);
    assert_true(pto_str_is(kept, "tiled,rows"));
    run_fixture_stop(&f, PTO_OK);
    assert_true(f.result.asked_machine);
    run_fixture_end(&f);
}

TEST(without_a_machine_no_fact_is_there)
{
    run_fixture f;
    begin(&f, false);
    for (int i = 0; i < 2; i++) {
        (void)run_fixture_start(&f);
        assert_int_equal(pto_machine_i64_or(f.run, -1, "clock-hz"), -1);
        assert_int_equal(pto_machine_text(f.run, "name").n, 0);
        run_fixture_stop(&f, PTO_OK);
        assert_false(f.result.asked_machine);
    }
    run_fixture_end(&f);
}

TEST(without_a_machine_roles_have_the_usual_names)
{
    run_fixture f;
    begin(&f, false);
    (void)run_fixture_start(&f);
    assert_string_equal(pto_space_name(f.run, pto_space_of_role(f.run, PTO_ROLE_SCRATCHPAD)), "vec");
    assert_string_equal(pto_layout_name(f.run, pto_layout_of_order(f.run, PTO_ORDER_COLUMN)), "dn");
    assert_null(pto_space_facts_of(f.run, PTO_ROLE_SCRATCHPAD));
    run_fixture_stop(&f, PTO_OK);
    assert_false(f.result.asked_machine);
    run_fixture_end(&f);
}

TEST(orders_say_how_lines_follow_each_other)
{
    assert_int_equal(pto_order_boxes(PTO_ORDER_ROW), PTO_LINES_NONE);
    assert_int_equal(pto_order_boxes(PTO_ORDER_COLUMN_ROW), PTO_LINES_COLUMN);
    assert_int_equal(pto_order_elements(PTO_ORDER_COLUMN_ROW), PTO_LINES_ROW);
    assert_int_equal(pto_order_elements(PTO_ORDER_COLUMN), PTO_LINES_COLUMN);
    assert_int_equal(pto_order_elements(PTO_ORDER_COUNT), PTO_LINES_NONE);
}

TEST(a_name_that_is_none_is_a_misuse)
{
    run_fixture f;
    begin(&f, false);
    (void)run_fixture_start(&f);
    assert_string_equal(pto_space_name(f.run, 31), "?");
    run_fixture_stop(&f, PTO_OK);
    run_fixture_expect_misuse(&f, "E1323", "pass `acme.p` of plugin `org.acme.p` asked for the memory space number 31");
    run_fixture_end(&f);
}

TEST(a_kind_of_names_that_is_none_is_a_misuse)
{
    run_fixture f;
    begin(&f, false);
    (void)run_fixture_start(&f);
    assert_int_equal(pto_name_count(f.run, 0), 0);
    run_fixture_stop(&f, PTO_OK);
    run_fixture_expect_misuse(&f, "E1323", "pass `acme.p` of plugin `org.acme.p` used 0 as a kind of names");
    run_fixture_end(&f);
}

TEST(a_pass_does_not_declare_names)
{
    run_fixture f;
    begin(&f, false);
    f.request.access = RUN_WRITES_MODULE;
    (void)run_fixture_start(&f);
    assert_int_equal(pto_module_set_attr(f.run, PTO_STR("spaces"), pto_attr_none(f.run)), PTO_FAILED);
    run_fixture_stop(&f, PTO_FAILED);
    run_fixture_expect_misuse(
        &f, "E1324",
        "pass `acme.p` of plugin `org.acme.p` set the module attribute `spaces`; its names are those "
        "that the host declares");
    run_fixture_end(&f);
}
