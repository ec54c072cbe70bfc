#include "core/compile/contract.h"

#include "tests/unit/diag_text.h"

#define TEXTS(...) \
    (const char *const[]) { __VA_ARGS__, NULL }

/* Passes of one thing each. */
static const pto_pass clean = {
    .id = "t.clean", .consumes = "tensor/1", .produces = "tensor/1", .establishes = TEXTS("t.clean")};
static const pto_pass spoil = {
    .id = "t.spoil", .consumes = "tensor/1", .produces = "tensor/1", .breaks = TEXTS("t.clean")};
static const pto_pass wants = {
    .id = "t.wants", .consumes = "tensor/1", .produces = "tensor/1", .requires_props = TEXTS("t.clean")};
static const pto_pass lower = {
    .id = "t.lower", .consumes = "tensor/1", .produces = "tile/1", .establishes = TEXTS("t.tiled")};
static const pto_pass split = {
    .id = "t.split", .consumes = "tensor/1", .produces = "tile/1", .flags = PTO_PASS_KEEPS_LEVEL};
static const pto_pass after = {.id = "t.after", .consumes = "tile/1", .produces = "tile/1"};
static const pto_backend tensors = {.id = "t.tensors", .consumes = TEXTS("tensor/1")};
static const pto_backend needy = {
    .id = "t.needy", .consumes = TEXTS("tensor/1", "tile/1"), .requires_props = TEXTS("t.clean")};

enum { STEPS_MAX = 8 };

typedef struct chain {
    contract c;
    contract_step steps[STEPS_MAX];
    pipeline_step lines[STEPS_MAX];
    contract_state states[STEPS_MAX + 1];
    const char *supplier;
} chain;

static void put_supplier(void *self, const char *property, text_buffer *out)
{
    (void)property;
    const chain *k = self;
    if (k->supplier != NULL) text_puts(out, k->supplier);
}

/* Steps are called after their passes and stand in the lines of p.yaml. */
static void chain_begin(chain *k, const pto_pass *const *passes)
{
    *k = (chain){.supplier = "t.clean"};
    for (; passes[k->c.step_count] != NULL; k->c.step_count++) {
        const uint32_t i = k->c.step_count;
        k->lines[i] = (pipeline_step){.id = passes[i]->id + 2, .pass = passes[i]->id, .at = {"p.yaml", i + 1, 5}};
        k->steps[i] = (contract_step){&k->lines[i], passes[i], "t"};
    }
    k->c.steps = k->steps;
    k->c.suppliers = put_supplier;
    k->c.self = k;
}

#define CHAIN(k, ...) chain_begin((k), (const pto_pass *const[]){__VA_ARGS__, NULL})

static status check(chain *k, const diag_text *t)
{
    contract_state start = {0};
    contract_state_add_level(&start, "tensor/1");
    return contract_check(t->a, t->d, &k->c, &start, k->states);
}

static void refuse(chain *k, const char *want)
{
    diag_text t;
    diag_text_begin(&t);
    assert_int_equal(check(k, &t), FAILED);
    diag_text_end(&t, want);
}

TEST(what_a_step_establishes_holds_until_it_is_broken)
{
    static chain k;
    diag_text t;
    diag_text_begin(&t);
    CHAIN(&k, &clean, &wants, &spoil);
    assert_int_equal(check(&k, &t), OK);
    assert_false(contract_state_has(&k.states[0], "tensor/1", "t.clean"));
    assert_true(contract_state_has(&k.states[1], "tensor/1", "t.clean"));
    assert_true(contract_state_has(&k.states[2], "tensor/1", "t.clean"));
    assert_false(contract_state_has(&k.states[3], "tensor/1", "t.clean"));
    diag_text_end(&t, "");
}

TEST(a_level_goes_with_what_held_there_unless_the_pass_keeps_it)
{
    static chain k;
    diag_text t;
    diag_text_begin(&t);
    CHAIN(&k, &clean, &lower, &after);
    assert_int_equal(check(&k, &t), OK);
    assert_null(contract_state_level(&k.states[2], "tensor/1"));
    assert_false(contract_state_has(&k.states[2], "tile/1", "t.clean"));
    assert_true(contract_state_has(&k.states[3], "tile/1", "t.tiled"));
    CHAIN(&k, &clean, &split, &wants, &after);
    assert_int_equal(check(&k, &t), OK);
    assert_true(contract_state_has(&k.states[4], "tensor/1", "t.clean"));
    assert_non_null(contract_state_level(&k.states[4], "tile/1"));
    diag_text_end(&t, "");
}

TEST(a_missing_property_names_line_later_supplier_and_plugins)
{
    static chain k;
    CHAIN(&k, &wants, &clean);
    refuse(
        &k,
        "p.yaml:1:5: error: [E1702] step `wants` (t.wants) needs property t.clean, which no earlier step establishes\n"
        "p.yaml:2:5: note: step `clean` establishes it, but comes later\n"
        "note: t.clean is established by: t.clean\n");
    CHAIN(&k, &wants);
    k.supplier = NULL;
    refuse(
        &k,
        "p.yaml:1:5: error: [E1702] step `wants` (t.wants) needs property t.clean, which no earlier step establishes\n"
        "note: no plugin that can be found establishes t.clean\n");
}

TEST(a_broken_property_names_who_broke_it)
{
    static chain k;
    CHAIN(&k, &clean, &spoil, &wants);
    refuse(&k, "p.yaml:3:5: error: [E1702] step `wants` (t.wants) needs property t.clean, which step `spoil` broke\n"
               "p.yaml:2:5: note: step `spoil` breaks it here\n"
               "note: t.clean is established by: t.clean\n");
}

TEST(a_missing_level_names_the_levels_there_are)
{
    static chain k;
    CHAIN(&k, &after, &lower);
    refuse(&k, "p.yaml:1:5: error: [E1701] step `after` (t.after) works on tile/1, but only tensor/1 is there\n"
               "p.yaml:2:5: note: step `lower` produces tile/1, but comes later\n");
}

TEST(a_backend_is_the_last_step)
{
    static chain k;
    diag_text t;
    diag_text_begin(&t);
    CHAIN(&k, &clean);
    k.c.backend = &needy;
    k.c.backend_id = "t.needy";
    assert_int_equal(check(&k, &t), OK);
    diag_text_end(&t, "");
    CHAIN(&k, &lower);
    k.c.backend = &tensors;
    k.c.backend_id = "t.tensors";
    k.c.backend_at = (src_pos){"p.yaml", 9, 1};
    refuse(&k, "p.yaml:9:1: error: [E1703] backend t.tensors does not run tile/1, which the last step leaves\n"
               "note: it runs tensor/1\n");
    k.c.backend = &needy;
    k.c.backend_id = "t.needy";
    refuse(&k, "p.yaml:9:1: error: [E1702] backend t.needy needs property t.clean, which no earlier step establishes\n"
               "note: t.clean is established by: t.clean\n");
}
