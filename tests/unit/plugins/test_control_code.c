/* plugins/shared/control/control_code.h: functions of `for`, `if` and `while` decoded and followed by a small client,
 * in which every value is one integer. The header comes first: names of the SDK's parameters are types of the IR. */
#include <control_code.h>

#include <pto/build.h>

#include "tests/unit/core/run_fixture.h"

#include <stdio.h>
#include <string.h>

#define ONE "tensor<1 x i64>"
#define TRUTH "tensor<1 x bool>"

enum { DO_OP = CONTROL_CLIENT, OPS_MAX = 64, SLOTS_MAX = 256, STEPS_MAX = 100000, LEFT = INT32_MIN };

typedef struct toy_op {
    const char *what; /* what comes after the dot */
    int64_t number;   /* of a constant */
    uint32_t in[2], count, out;
} toy_op;

typedef struct toy {
    run_fixture f;
    index_pool pool;
    control_builder b;
    control_flow flow;
    uint32_t slot_of[SLOTS_MAX]; /* by number of the value; one more than the slot */
    uint32_t slot_count, op_count;
    toy_op ops[OPS_MAX];
    int64_t numbers[SLOTS_MAX];
    bool refuses_values; /* `use` finds no slot for results of ops */
    char log[512];       /* what the decoder asked for, and what was refused */
} toy;

static void note(toy *t, const char *what, pto_op op)
{
    const size_t n = strlen(t->log);
    const pto_str name = pto_op_name(op);
    (void)snprintf(t->log + n, sizeof t->log - n, "%s %.*s; ", what, PTO_FMT(name));
}

/* ---- the client ---- */

static void *site_of(void *self, pto_op op)
{
    note(self, "site", op);
    return self;
}

static uint32_t spare(void *self)
{
    toy *t = self;
    return t->slot_count++;
}

static uint32_t *entry_of(toy *t, pto_value v)
{
    assert_true(v.index < SLOTS_MAX);
    return &t->slot_of[v.index];
}

static uint32_t define(void *self, pto_value v)
{
    const uint32_t slot = spare(self);
    *entry_of(self, v) = slot + 1;
    return slot;
}

static void alias(void *self, pto_value v, uint32_t slot) { *entry_of(self, v) = slot + 1; }

static uint32_t use(void *self, void *site, pto_value v)
{
    toy *t = self;
    (void)site;
    return t->refuses_values && PTO_SOME(pto_value_op(v)) ? CONTROL_NONE : *entry_of(t, v) - 1;
}

static uint32_t slot_of_value(void *self, pto_value v) { return *entry_of(self, v) - 1; }

static uint32_t slot_of_symbol(void *self, pto_str name)
{
    (void)self;
    (void)name;
    return UINT32_MAX;
}

static pto_status expr(void *self, void *site, pto_op op, const char *name, index_expr *out)
{
    toy *t = self;
    (void)site;
    const index_leaves leaves = {.self = t, .symbol = slot_of_symbol, .value = slot_of_value};
    return index_compile(&t->pool, &leaves, pto_expr_of(op, pto_s(name), 0), out) ? PTO_OK : PTO_FAILED;
}

static pto_status add_op(void *self, pto_op op)
{
    toy *t = self;
    const char *name = pto_op_name(op).p, *dot = strchr(name, '.');
    toy_op *o = &t->ops[t->op_count];
    assert_true(t->op_count < OPS_MAX);
    *o = (toy_op){.what = dot != NULL ? dot + 1 : name, .count = pto_op_operand_count(op)};
    for (uint32_t i = 0; i < o->count; i++) o->in[i] = use(t, NULL, pto_op_operand(op, i));
    if (pto_op_result_count(op) != 0) o->out = define(t, pto_op_result(op, 0));
    if (strcmp(o->what, "constant") == 0) o->number = pto_attr_i64(pto_op_attr(op, PTO_STR("value")));
    control_emit(&t->b, DO_OP, t->op_count++, 0);
    return PTO_OK;
}

static pto_status enter(void *self, pto_op op, void *site)
{
    (void)site;
    note(self, "enter", op);
    return PTO_OK;
}
static pto_status leave(void *self, pto_op op, void *site, pto_op yield)
{
    (void)site;
    (void)yield;
    note(self, "leave", op);
    return PTO_OK;
}
static pto_status refuse(void *self, void *site, const char *why)
{
    (void)site;
    toy *t = self;
    const size_t n = strlen(t->log);
    (void)snprintf(t->log + n, sizeof t->log - n, "refused: %s; ", why);
    return PTO_FAILED;
}
static pto_status hand(void *self, pto_op loop, void *site, pto_op from)
{
    (void)site;
    note(self, pto_op_same(loop, from) ? "hand to" : "hand on to", loop);
    return PTO_OK;
}
static void ended(void *self, pto_op op, void *site)
{
    (void)site;
    note(self, "ended", op);
}

static const control_client client = {.site = site_of,
                                      .expr = expr,
                                      .spare = spare,
                                      .define = define,
                                      .alias = alias,
                                      .use = use,
                                      .op = add_op,
                                      .enter = enter,
                                      .leave = leave,
                                      .refuse = refuse,
                                      .hand = hand,
                                      .ended = ended};

/* ---- following ---- */

static pto_status eval(void *self, const void *site, const index_expr *e, const char *which, int64_t *out)
{
    toy *t = self;
    assert_ptr_equal(site, self);
    if (index_eval(t->pool.codes, e, t->numbers, out) == INDEX_OK) return PTO_OK;
    return refuse(t, t, which);
}
static pto_status bad_step(void *self, const void *site, int64_t step)
{
    char why[40];
    assert_ptr_equal(site, self);
    (void)snprintf(why, sizeof why, "a step of %lld", (long long)step);
    return refuse(self, self, why);
}
static void set_index(void *self, uint32_t slot, int64_t n) { ((toy *)self)->numbers[slot] = n; }

/* What is moved is not read again: here it would be wrong. */
static void copy(void *self, uint32_t to, uint32_t from, int is_move)
{
    toy *t = self;
    t->numbers[to] = t->numbers[from];
    if (is_move) t->numbers[from] = LEFT;
}

static const control_actions actions = {.eval = eval, .bad_step = bad_step, .set_index = set_index, .copy = copy};

/* False: it was `return`. */
static bool compute(toy *t, const toy_op *o)
{
    const int64_t a = o->count > 0 ? t->numbers[o->in[0]] : 0, b = o->count > 1 ? t->numbers[o->in[1]] : 0;
    int64_t *out = &t->numbers[o->out];
    if (strcmp(o->what, "return") == 0) return false;
    if (strcmp(o->what, "constant") == 0)
        *out = o->number;
    else if (strcmp(o->what, "add") == 0)
        *out = a + b;
    else if (strcmp(o->what, "mul") == 0)
        *out = a * b;
    else if (strcmp(o->what, "lt") == 0)
        *out = a < b;
    else
        fail_msg("`%s` is not an op of this test", o->what);
    return true;
}

static void begin(toy *t, const char *text)
{
    *t = (toy){0};
    run_fixture_begin(&t->f, text, NULL);
    const pto_op unit = run_fixture_start(&t->f);
    t->pool = (index_pool){.run = t->f.run};
    t->b = (control_builder){.run = t->f.run, .client = &client, .self = t};
    for (uint32_t i = 0; i < pto_block_arg_count(pto_body(unit)); i++)
        (void)define(t, pto_block_arg(pto_body(unit), i));
}

static pto_status decode(toy *t) { return control_decode(&t->b, pto_body(run_context_unit(t->f.run)), &t->flow); }

/* Follows the code from its start to the `return`, whose operands are in `out`. */
static pto_status follow(toy *t, int64_t out[2])
{
    uint32_t at = 0;
    for (int steps = 0; steps < STEPS_MAX; steps++) {
        const control_code *c = &t->flow.codes[at++];
        if (c->what < CONTROL_CLIENT) {
            if (control_step(&t->flow, c, &actions, t, t->numbers, &at) < 0) return PTO_FAILED;
        } else if (!compute(t, &t->ops[c->a])) {
            const toy_op *o = &t->ops[c->a];
            for (uint32_t i = 0; i < o->count; i++) out[i] = t->numbers[o->in[i]];
            return PTO_OK;
        }
    }
    fail_msg("it does not end");
    return PTO_FAILED;
}

static void end(toy *t)
{
    run_fixture_stop(&t->f, PTO_OK);
    assert_false(t->f.result.failed);
    run_fixture_end(&t->f);
}

/* The results of the text with these numbers for its first parameters. */
static void expect(const char *text, int64_t a, int64_t b, int64_t first, int64_t second)
{
    toy t;
    int64_t out[2] = {0, second};
    begin(&t, text);
    assert_int_equal(decode(&t), PTO_OK);
    t.numbers[0] = a;
    t.numbers[1] = b;
    assert_int_equal(follow(&t, out), PTO_OK);
    assert_int_equal(out[0], first);
    assert_int_equal(out[1], second);
    end(&t);
}

/* ---- for ---- */

#define FIBONACCI                                                 \
    "func @f(%a: " ONE ", %b: " ONE ") -> (" ONE ", " ONE ") {\n" \
    "  %p, %q = for %i to 10 carry(%c = %a, %d = %b) {\n"         \
    "    %e = tensor.add %c, %d : " ONE "\n"                      \
    "    yield %d, %e\n"                                          \
    "  } : " ONE ", " ONE "\n"                                    \
    "  return %p, %q\n"                                           \
    "}\n"

TEST(a_loop_carries_what_it_yields) { expect(FIBONACCI, 0, 1, 55, 89); }

TEST(carried_values_change_places_all_at_once)
{
    expect("func @f(%a: " ONE ", %b: " ONE ") -> (" ONE ", " ONE ") {\n"
           "  %p, %q = for %i to 3 carry(%c = %b, %d = %a) {\n"
           "    yield %d, %c\n"
           "  } : " ONE ", " ONE "\n"
           "  return %p, %q\n"
           "}\n",
           1, 2, 1, 2);
}

/* %a counts trips by adding %b each time. */
#define COUNT_TRIPS(bounds)                                       \
    "func @f(%a: " ONE ", %b: " ONE ", %n: index) -> " ONE " {\n" \
    "  %p = for %i" bounds " carry(%c = %a) {\n"                  \
    "    %d = tensor.add %c, %b : " ONE "\n"                      \
    "    yield %d\n"                                              \
    "  } : " ONE "\n"                                             \
    "  return %p\n"                                               \
    "}\n"

TEST(a_loop_runs_while_its_index_is_below_the_bound)
{
    expect(COUNT_TRIPS(" to 5"), 0, 1, 5, 0);
    expect(COUNT_TRIPS(" = 1 to 8 step 3"), 0, 1, 3, 0);
    expect(COUNT_TRIPS(" = -4 to 5 step 3"), 0, 1, 3, 0);
    expect(COUNT_TRIPS(" = 8 to 8"), 7, 1, 7, 0);
    expect(COUNT_TRIPS(" = 9 to 8"), 7, 1, 7, 0);
}

TEST(an_index_that_overflows_ends_the_loop)
{
    expect(COUNT_TRIPS(" = 9223372036854775800 to 9223372036854775807 step 5"), 0, 1, 2, 0);
    expect(COUNT_TRIPS(" = 9223372036854775806 to 9223372036854775807 step 9223372036854775807"), 0, 1, 1, 0);
}

static void expect_failure(const char *text, int64_t n, const char *log)
{
    toy t;
    int64_t out[2];
    begin(&t, text);
    assert_int_equal(decode(&t), PTO_OK);
    t.log[0] = '\0';
    t.numbers[2] = n;
    assert_int_equal(follow(&t, out), PTO_FAILED);
    assert_string_equal(t.log, log);
    end(&t);
}

TEST(bounds_without_a_value_and_steps_below_one_are_reported)
{
    expect_failure(COUNT_TRIPS(" to 5 step %n"), 0, "refused: a step of 0; ");
    expect_failure(COUNT_TRIPS(" to 5 step %n"), -2, "refused: a step of -2; ");
    expect_failure(COUNT_TRIPS(" = 5 floordiv %n to 5"), 0, "refused: start; ");
    expect_failure(COUNT_TRIPS(" to 5 floordiv %n"), 0, "refused: bound; ");
    expect_failure(COUNT_TRIPS(" to 5 step 2 * %n"), INT64_MAX, "refused: step; ");
}

/* Bounds are those of the moment the loop is entered: the inner one has 0, 1, 2 and 3 trips. */
TEST(inner_loops_are_entered_anew)
{
    expect("func @f(%a: " ONE ", %b: " ONE ") -> " ONE " {\n"
           "  %p = for %i to 4 carry(%c = %a) {\n"
           "    %q = for %j = 2 * %i to 3 * %i carry(%d = %c) {\n"
           "      %e = tensor.add %d, %b : " ONE "\n"
           "      yield %e\n"
           "    } : " ONE "\n"
           "    yield %q\n"
           "  } : " ONE "\n"
           "  return %p\n"
           "}\n",
           100, 1, 106, 0);
}

TEST(code_goes_on_after_a_loop_that_hands_over_nothing)
{
    expect("func @f(%a: " ONE ", %b: " ONE ") -> " ONE " {\n"
           "  for %i to 3 {\n"
           "    %c = tensor.add %a, %b : " ONE "\n"
           "  }\n"
           "  %d = tensor.mul %a, %b : " ONE "\n"
           "  return %d\n"
           "}\n",
           6, 7, 42, 0);
}

/* ---- if ---- */

#define EITHER(relation)                                      \
    "func @f(%i: index, %j: index) -> (" ONE ", " ONE ") {\n" \
    "  %x = tensor.constant {value = 10} : " ONE "\n"         \
    "  %y = tensor.constant {value = 20} : " ONE "\n"         \
    "  %p, %q = if %i " relation " %j {\n"                    \
    "    yield %x, %y\n"                                      \
    "  } else {\n"                                            \
    "    %z = tensor.add %x, %y : " ONE "\n"                  \
    "    yield %y, %z\n"                                      \
    "  } : " ONE ", " ONE "\n"                                \
    "  return %p, %q\n"                                       \
    "}\n"

static void expect_relation(const char *text, bool less, bool equal, bool greater)
{
    const bool holds[] = {less, equal, greater};
    for (int64_t i = 1; i <= 3; i++) expect(text, i, 2, holds[i - 1] ? 10 : 20, holds[i - 1] ? 20 : 30);
}

TEST(both_branches_hand_over_their_values)
{
    expect_relation(EITHER("<"), true, false, false);
    expect_relation(EITHER("<="), true, true, false);
    expect_relation(EITHER("=="), false, true, false);
    expect_relation(EITHER("!="), true, false, true);
    expect_relation(EITHER(">"), false, false, true);
    expect_relation(EITHER(">="), false, true, true);
}

TEST(a_branch_may_be_left_out)
{
    static const char text[] = "func @f(%a: " ONE ", %b: " ONE ", %n: index) -> " ONE " {\n"
                               "  %p = for %i to 10 carry(%c = %a) {\n"
                               "    if 3 <= %i {\n"
                               "      if %i < 5 {\n"
                               "        %e = tensor.mul %a, %a : " ONE "\n"
                               "      }\n"
                               "    }\n"
                               "    %d = tensor.add %c, %b : " ONE "\n"
                               "    yield %d\n"
                               "  } : " ONE "\n"
                               "  return %p\n"
                               "}\n";
    toy t;
    int64_t out[2] = {0};
    begin(&t, text);
    assert_int_equal(decode(&t), PTO_OK);
    t.numbers[0] = 3;
    t.numbers[1] = 1;
    assert_int_equal(follow(&t, out), PTO_OK);
    assert_int_equal(out[0], 13);
    assert_string_equal(t.ops[0].what, "mul");
    assert_int_equal(t.numbers[t.ops[0].out], 9);
    end(&t);
}

TEST(sides_of_a_relation_without_a_value_are_reported)
{
#define DIVIDED(left, right)                           \
    "func @f(%a: " ONE ", %b: " ONE ", %n: index) {\n" \
    "  if " left " < " right " {\n"                    \
    "  }\n"                                            \
    "  return\n"                                       \
    "}\n"
    expect_failure(DIVIDED("4 mod %n", "2"), 0, "refused: left side; ");
    expect_failure(DIVIDED("4", "2 * %n"), INT64_MAX, "refused: right side; ");
}

/* ---- while ---- */

/* Doubles %c until it is %b or more; %d counts. */
#define DOUBLING                                                  \
    "func @f(%a: " ONE ", %b: " ONE ") -> (" ONE ", " ONE ") {\n" \
    "  %zero = tensor.constant {value = 0} : " ONE "\n"           \
    "  %one = tensor.constant {value = 1} : " ONE "\n"            \
    "  %p, %q = while carry(%c = %a, %d = %zero) {\n"             \
    "    %go = tensor.lt %c, %b : " TRUTH "\n"                    \
    "    yield %go\n"                                             \
    "  } do (%e, %g) {\n"                                         \
    "    %h = tensor.add %e, %e : " ONE "\n"                      \
    "    %k = tensor.add %g, %one : " ONE "\n"                    \
    "    yield %h, %k\n"                                          \
    "  } : " ONE ", " ONE "\n"                                    \
    "  return %p, %q\n"                                           \
    "}\n"

TEST(a_condition_is_asked_before_every_trip)
{
    expect(DOUBLING, 3, 100, 192, 6);
    expect(DOUBLING, 99, 100, 198, 1);
    expect(DOUBLING, 100, 100, 100, 0);
}

TEST(a_while_inside_of_a_loop_starts_again)
{
    expect("func @f(%a: " ONE ", %b: " ONE ") -> " ONE " {\n"
           "  %r = for %i to 3 carry(%s = %a) {\n"
           "    %p = while carry(%c = %a) {\n"
           "      %go = tensor.lt %c, %b : " TRUTH "\n"
           "      yield %go\n"
           "    } do (%e) {\n"
           "      %h = tensor.add %e, %e : " ONE "\n"
           "      yield %h\n"
           "    } : " ONE "\n"
           "    %t = tensor.add %s, %p : " ONE "\n"
           "    yield %t\n"
           "  } : " ONE "\n"
           "  return %r\n"
           "}\n",
           1, 5, 25, 0);
}

/* ---- decoding ---- */

TEST(the_client_is_told_in_the_order_of_the_text)
{
    toy t;
    begin(&t, "func @f(%a: " ONE ", %b: " ONE ") {\n"
              "  %p = for %i to 2 carry(%c = %a) {\n"
              "    if 1 < 2 {\n"
              "    }\n"
              "    yield %c\n"
              "  } : " ONE "\n"
              "  forall \"k_0\" (%k) to (4) {\n"
              "    %d = tensor.add %a, %b : " ONE "\n"
              "  }\n"
              "  return\n"
              "}\n");
    assert_int_equal(decode(&t), PTO_OK);
    assert_string_equal(t.log, "site for; hand to for; site if; ended if; hand on to for; ended for; site forall; "
                               "enter forall; leave forall; ended forall; ");
    assert_int_equal(t.flow.codes[t.flow.count - 1].what, CONTROL_END);
    end(&t);
}

/* The decoder runs before what it decodes is proven. */
TEST(a_block_that_yields_too_few_values_is_refused)
{
    toy t;
    begin(&t, "func @f(%a: " ONE ", %b: " ONE ") {\n"
              "  %p, %q = for %i to 2 carry(%c = %a, %d = %b) {\n"
              "    yield %c\n"
              "  } : " ONE ", " ONE "\n"
              "  return\n"
              "}\n");
    assert_int_equal(decode(&t), PTO_FAILED);
    assert_non_null(strstr(t.log, "refused: it hands on another number of values; "));
    end(&t);
}

TEST(values_that_the_client_does_not_hand_over_end_the_decoding)
{
    static const char *const texts[] = {FIBONACCI, EITHER("<"), DOUBLING};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        toy t;
        begin(&t, texts[i]);
        t.refuses_values = true;
        assert_int_equal(decode(&t), PTO_FAILED);
        end(&t);
    }
}

TEST(the_end_of_the_code_is_not_left)
{
    toy t;
    begin(&t, "func @f(%a: " ONE ", %b: " ONE ") {\n  return\n}\n");
    assert_int_equal(decode(&t), PTO_OK);
    uint32_t at = t.flow.count;
    const control_code *last = &t.flow.codes[t.flow.count - 1];
    assert_int_equal(control_step(&t.flow, last, &actions, &t, t.numbers, &at), PTO_OK);
    assert_int_equal(at, t.flow.count - 1);
    end(&t);
}
