#include "tools/session/explain.h"

#include "tests/unit/diag_text.h"

#define TEXTS(...) \
    (const char *const[]) { __VA_ARGS__, NULL }

static const pto_pass clean = {
    .id = "t.clean", .consumes = "tensor/1", .produces = "tensor/1", .establishes = TEXTS("t.clean")};
static const pto_pass lower = {
    .id = "t.lower", .consumes = "tensor/1", .produces = "tile/1", .establishes = TEXTS("t.tiled")};

TEST(the_table_of_a_pipeline_says_what_every_step_declares)
{
    static const pipeline_step lines[] = {{.id = "clean", .pass = "t.clean", .at = {"p.yaml", 1, 5}},
                                          {.id = "lower", .pass = "t.lower", .at = {"p.yaml", 2, 5}}};
    const contract_step steps[] = {{&lines[0], &clean, "t"}, {&lines[1], &lower, "t"}};
    const contract c = {.steps = steps, .step_count = 2};
    contract_state start = {0}, states[3];
    diag_text t;
    diag_text_begin(&t);
    contract_state_add_level(&start, "tensor/1");
    assert_int_equal(contract_check(t.a, t.d, &c, &start, states), OK);
    text_buffer out;
    text_init(&out);
    explain_pipeline(&c, states, &out);
    assert_string_equal(out.p, "  1  clean                    t.clean  tensor/1  (p.yaml:1)\n"
                               "      establishes  t.clean\n"
                               "  2  lower                    t.lower  tensor/1 -> tile/1  (p.yaml:2)\n"
                               "      establishes  t.tiled\n"
                               "left at the end:\n"
                               "      tile/1 t.tiled\n");
    text_fini(&out);
    diag_text_end(&t, "");
}
