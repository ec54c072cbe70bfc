#include "ir/context/expr_expand.h"

#include "tests/unit/unit.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- text to expression: slots are %0, %1, ...; the grammar of the .ptir text without its error handling ---- */

static expr_id parse_sum(ir_context *c, const char **p);

static bool eat(const char **p, const char *word)
{
    while (**p == ' ') (*p)++;
    size_t n = strlen(word);
    if (strncmp(*p, word, n) != 0) return false;
    *p += n;
    return true;
}

static expr_id parse_call(ir_context *c, const char **p, expr_id (*build)(ir_context *, expr_id, expr_id))
{
    expr_id e = parse_sum(c, p);
    while (eat(p, ",")) e = build(c, e, parse_sum(c, p));
    assert_true(eat(p, ")"));
    return e;
}

static expr_id parse_atom(ir_context *c, const char **p)
{
    if (eat(p, "-")) return expr_mul(c, expr_const(c, -1), parse_atom(c, p));
    if (eat(p, "ceildiv(")) return parse_call(c, p, expr_ceildiv);
    if (eat(p, "min(")) return parse_call(c, p, expr_min);
    if (eat(p, "max(")) return parse_call(c, p, expr_max);
    if (eat(p, "(")) return parse_call(c, p, expr_add);
    char *end;
    if (eat(p, "%")) {
        unsigned long slot = strtoul(*p, &end, 10);
        *p = end;
        return expr_slot(c, (uint32_t)slot);
    }
    if (eat(p, "$")) {
        size_t n = 0;
        while (isalnum((unsigned char)(*p)[n])) n++;
        str_id name = string_intern(c, (str){*p, n});
        *p += n;
        return expr_symbol(c, name);
    }
    long long v = strtoll(*p, &end, 10);
    assert_true(end != *p);
    *p = end;
    return expr_const(c, v);
}

static expr_id parse_factors(ir_context *c, const char **p)
{
    expr_id e = parse_atom(c, p);
    for (;;) {
        if (eat(p, "*")) {
            e = expr_mul(c, e, parse_atom(c, p));
        } else if (eat(p, "floordiv")) {
            e = expr_floordiv(c, e, parse_atom(c, p));
        } else if (eat(p, "mod")) {
            e = expr_mod(c, e, parse_atom(c, p));
        } else {
            return e;
        }
    }
}

static expr_id parse_sum(ir_context *c, const char **p)
{
    expr_id e = parse_factors(c, p);
    for (;;) {
        if (eat(p, "+")) {
            e = expr_add(c, e, parse_factors(c, p));
        } else if (eat(p, "-")) {
            e = expr_sub(c, e, parse_factors(c, p));
        } else {
            return e;
        }
    }
}

static expr_id parse(ir_context *c, const char *text)
{
    const char *p = text;
    expr_id e = parse_sum(c, &p);
    while (*p == ' ') p++;
    assert_string_equal(p, "");
    return e;
}

static void print_percent(void *self, text_buffer *out, uint32_t slot)
{
    (void)self;
    text_putc(out, '%');
    text_put_u64(out, slot);
}

static void assert_prints(ir_context *c, expr_id e, const char *text)
{
    text_buffer out;
    text_init(&out);
    expr_print(c, e, &out, print_percent, NULL);
    text_putc(&out, '\0');
    assert_string_equal(out.p, text);
    text_fini(&out);
}

static void assert_becomes(ir_context *c, const char *text, const char *printed)
{
    expr_id e = parse(c, text);
    assert_int_not_equal(e, 0);
    assert_prints(c, e, printed);
    assert_int_equal(parse(c, printed), e);
}

typedef struct rewrite {
    const char *text, *printed;
} rewrite;

static void assert_rewrites(const rewrite *rows, size_t count)
{
    ir_context *c = context_create(NULL);
    for (size_t i = 0; i < count; i++) assert_becomes(c, rows[i].text, rows[i].printed);
    context_destroy(c);
}

#define ASSERT_REWRITES(...)                                 \
    do {                                                     \
        static const rewrite rows[] = {__VA_ARGS__};         \
        assert_rewrites(rows, sizeof rows / sizeof rows[0]); \
    } while (0)

TEST(expr_sums_fold_merge_and_flatten)
{
    ASSERT_REWRITES({"1 + 2", "3"}, {"$A + $A", "2 * $A"}, {"$A - $A", "0"}, {"$A + 3 - $A", "3"},
                    {"2 * ($A + 3) - 6", "2 * $A"}, {"($A + $B) + ($B + 1) + 2", "$A + 2 * $B + 3"},
                    {"$A - ($B - ($A - 1))", "2 * $A - $B - 1"}, {"0 * $A", "0"}, {"1 * $A", "$A"},
                    {"3 * (2 * $A)", "6 * $A"}, {"-(-$A)", "$A"}, {"$A + 0", "$A"});
}

TEST(expr_sums_print_positive_constant_negative)
{
    ASSERT_REWRITES({"16 * %0 + $B + 3 - 2 * %1", "16 * %0 + $B + 3 - 2 * %1"}, {"130 - 128 * %0", "130 - 128 * %0"},
                    {"-128 * %0 + $M", "$M - 128 * %0"}, {"128 * (%0 floordiv 2)", "128 * (%0 floordiv 2)"},
                    {"%0 - 3", "%0 - 3"}, {"-3 - %0", "-%0 - 3"}, {"3 - %0 - %1", "3 - %0 - %1"},
                    {"-%0 - 2 * $A", "-%0 - 2 * $A"}, {"-5", "-5"}, {"$B + %0", "%0 + $B"},
                    {"1 + %0 - %1 + %2", "%0 + %2 + 1 - %1"});
}

TEST(expr_examples_of_the_grammar_print_as_written)
{
    ASSERT_REWRITES({"32 * $B", "32 * $B"}, {"min(16, 32 * $B - 16 * %0)", "min(16, 32 * $B - 16 * %0)"},
                    {"min(48, 2 * $B)", "min(48, 2 * $B)"}, {"ceildiv(33 * $B, 16)", "ceildiv(33 * $B, 16)"},
                    {"min(48, ceildiv(33 * $B, 16))", "min(48, ceildiv(33 * $B, 16))"},
                    {"(%0 - %1) floordiv 48 mod 2", "(%0 - %1) floordiv 48 mod 2"}, {"16 * %0", "16 * %0"});
}

TEST(expr_division_cancels)
{
    ASSERT_REWRITES({"ceildiv(32 * $B, 16)", "2 * $B"}, {"32 * $B floordiv 16", "2 * $B"},
                    {"(32 * $B + 48) floordiv 16", "2 * $B + 3"},
                    {"(32 * $B + 8) floordiv 16", "(4 * $B + 1) floordiv 2"},
                    {"ceildiv(6 * $B, 4)", "ceildiv(3 * $B, 2)"}, {"$A floordiv 1", "$A"}, {"ceildiv($A, 1)", "$A"},
                    {"$A mod 1", "0"}, {"(48 * $A - 96) mod 48", "0"}, {"(48 * $A + 1) mod 48", "(48 * $A + 1) mod 48"},
                    {"-7 floordiv 2", "-4"}, {"7 floordiv 2", "3"}, {"ceildiv(-7, 2)", "-3"}, {"ceildiv(7, 2)", "4"},
                    {"-7 mod 4", "1"}, {"-8 mod 4", "0"}, {"-8 floordiv 4", "-2"}, {"0 floordiv 4", "0"},
                    {"$A floordiv $B", "$A floordiv $B"}, {"0 mod 3", "0"});
}

TEST(expr_products_pull_constants_out)
{
    ASSERT_REWRITES({"2 * $A * (3 * $B)", "6 * $A * $B"}, {"$B * $A", "$A * $B"}, {"$A * $A", "$A * $A"},
                    {"$A * ($B * $C) - $C * $B * $A", "0"}, {"(2 * $A + 2) * $B", "2 * $B * ($A + 1)"},
                    {"-%0 * $B", "-%0 * $B"}, {"(-%0 - 1) * $B", "-(%0 + 1) * $B"}, {"%1 * %0", "%1 * %0"},
                    {"$A * %0", "%0 * $A"}, {"$A * $B floordiv 2 * $C", "$C * ($A * $B floordiv 2)"},
                    {"-(%0 floordiv 2)", "-(%0 floordiv 2)"}, {"-%0 floordiv 2", "-%0 floordiv 2"},
                    {"$A - %0 floordiv 2", "$A - %0 floordiv 2"}, {"%0 floordiv 2 * %1", "%0 floordiv 2 * %1"},
                    {"-(%0 floordiv 2 * %1)", "-(%0 floordiv 2) * %1"},
                    {"3 * (%0 floordiv 2 * %1)", "3 * (%0 floordiv 2) * %1"}, {"-((6 - %0) * %1)", "-((6 - %0) * %1)"},
                    {"-(6 - %0) * %1", "(%0 - 6) * %1"}, {"$A - 2 * (6 - %0) * %1", "$A - 2 * (6 - %0) * %1"},
                    {"-2 * (%0 - 6) * %1", "2 * (6 - %0) * %1"}, {"-2 * ((%0 - 6) * %1)", "-2 * ((%0 - 6) * %1)"});
}

TEST(expr_min_and_max_flatten_and_fold)
{
    ASSERT_REWRITES({"min(3, 5)", "3"}, {"max(3, 5)", "5"}, {"min($A, $A)", "$A"},
                    {"min($B, min(7, min($A, 9)))", "min(7, $A, $B)"}, {"max(-3, max(%1, %0), %1)", "max(-3, %1, %0)"},
                    {"min(max(1, $A), 4)", "min(4, max(1, $A))"}, {"max($A, %0, 2)", "max(2, %0, $A)"});
}

TEST(expr_symbol_order_is_by_spelling_not_by_age)
{
    static const char *const spelled[] = {"$C + $A * $B + $B + ceildiv($C, $A)", "ceildiv($C, $A) + $B + $C + $B * $A",
                                          "$B * $A + $C + ceildiv($C, $A) + $B"};
    for (size_t first = 0; first < 3; first++) {
        ir_context *c = context_create(NULL);
        expr_id e = parse(c, spelled[first]);
        for (size_t i = 0; i < 3; i++) assert_int_equal(parse(c, spelled[i]), e);
        assert_prints(c, e, "$B + $C + $A * $B + ceildiv($C, $A)");
        context_destroy(c);
    }
}

TEST(expr_order_with_slots_does_not_depend_on_their_numbers)
{
    ASSERT_REWRITES({"%1 + %0", "%1 + %0"}, {"%0 + %1", "%0 + %1"}, {"%7 * 2 + $A - %3", "2 * %7 + $A - %3"},
                    {"%3 * 2 + $A - %7", "2 * %3 + $A - %7"});
}

TEST(expr_builders_fail_on_overflow_and_bad_divisors)
{
    ir_context *c = context_create(NULL);
    expr_id a = expr_symbol(c, string_intern_z(c, "A"));
    expr_id big = expr_const(c, INT64_MAX);
    expr_id one = expr_const(c, 1), zero = expr_const(c, 0);
    assert_int_equal(expr_const(c, INT64_MIN), 0);
    assert_int_equal(expr_add(c, big, one), 0);
    assert_int_equal(expr_sub(c, expr_sub(c, zero, big), one), 0);
    assert_int_equal(expr_mul(c, big, expr_const(c, 2)), 0);
    assert_int_equal(expr_mul(c, expr_mul(c, a, big), expr_const(c, 2)), 0);
    assert_int_equal(expr_add(c, expr_mul(c, a, big), a), 0);
    assert_int_not_equal(expr_sub(c, expr_mul(c, a, big), a), 0);
    expr_id bad[] = {zero, expr_const(c, -2)};
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(expr_floordiv(c, a, bad[i]), 0);
        assert_int_equal(expr_ceildiv(c, a, bad[i]), 0);
        assert_int_equal(expr_mod(c, a, bad[i]), 0);
        assert_int_equal(expr_mod(c, one, bad[i]), 0);
    }
    assert_int_equal(expr_add(c, 0, a), 0);
    assert_int_equal(expr_mul(c, a, 0), 0);
    assert_int_equal(expr_min(c, 0, 0), 0);
    assert_int_equal(expr_mod(c, 0, one), 0);
    int64_t v;
    assert_false(expr_is_const(c, 0, &v));
    context_destroy(c);
}

TEST(expr_limits_hold)
{
    ir_context *c = context_create(NULL);
    expr_id a = expr_symbol(c, string_intern_z(c, "A")), b = expr_symbol(c, string_intern_z(c, "B"));
    expr_id e = a;
    int depth = 1;
    for (; e != 0; depth++) {
        assert_int_equal(expr_at(c, e)->depth, depth);
        e = expr_mod(c, e, b);
    }
    assert_int_equal(depth, EXPR_MAX_DEPTH + 1);

    e = expr_const(c, 0);
    uint32_t terms = 0;
    for (; e != 0; terms++) e = expr_add(c, expr_slot(c, terms), e);
    assert_int_equal(terms, EXPR_MAX_ARGS + 1);

    e = a;
    for (int i = 0; e != 0 && i < 60; i++) e = expr_floordiv(c, expr_add(c, e, b), expr_add(c, e, a));
    assert_int_equal(e, 0);
    context_destroy(c);
}

TEST(expr_nodes_stay_where_they_are)
{
    ir_context *c = context_create(NULL);
    expr_id first = expr_slot(c, 0);
    const expr_node *node = expr_at(c, first);
    for (uint32_t i = 0; i < 100000; i++) assert_int_not_equal(expr_slot(c, i), 0);
    assert_ptr_equal(expr_at(c, first), node);
    for (uint32_t i = 0; i < 100000; i++) assert_int_equal(expr_at(c, expr_slot(c, i))->value, i);
    assert_int_equal(expr_slot(c, 0), first);
    context_destroy(c);
}

/* ---- evaluation, bounds, substitution on random trees ---- */

enum { NAMES = 4, SLOTS = 4, TREE_DEPTH = 4, LARGEST = 9 };
typedef struct world {
    ir_context *c;
    uint64_t seed;
    str_id names[NAMES];
    int64_t symbols[NAMES], slots[SLOTS];
    int64_t slack[NAMES + SLOTS]; /* how far the ranges reach beyond the values */
} world;

static uint32_t next_random(world *w, uint32_t below)
{
    w->seed = w->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(w->seed >> 33) % below;
}

static uint32_t name_index(const world *w, str_id name)
{
    uint32_t i = 0;
    while (w->names[i] != name) i++;
    return i;
}

static bool symbol_value(void *self, str_id name, int64_t *out)
{
    const world *w = self;
    *out = w->symbols[name_index(w, name)];
    return true;
}

static bool slot_value(void *self, uint32_t slot, int64_t *out)
{
    *out = ((const world *)self)->slots[slot];
    return true;
}

static bool symbol_range(void *self, str_id name, expr_range *out)
{
    const world *w = self;
    uint32_t i = name_index(w, name);
    *out = (expr_range){w->symbols[i] - w->slack[i], w->symbols[i] + w->slack[(i + 1) % NAMES]};
    return true;
}

static bool slot_range(void *self, uint32_t slot, expr_range *out)
{
    const world *w = self;
    int64_t slack = w->slack[NAMES + slot];
    if (slack == 0) return false;
    *out = (expr_range){slack == 1 ? INT64_MIN : w->slots[slot] - slack, w->slots[slot] + slack};
    return true;
}

static void world_shuffle(world *w)
{
    for (uint32_t i = 0; i < NAMES; i++) w->symbols[i] = next_random(w, LARGEST + 1);
    for (uint32_t i = 0; i < SLOTS; i++) w->slots[i] = (int64_t)next_random(w, 2 * LARGEST + 1) - LARGEST;
    for (uint32_t i = 0; i < NAMES + SLOTS; i++) w->slack[i] = next_random(w, 5);
}

typedef struct random_tree {
    expr_id e;
    int64_t value;
    bool defined;
} random_tree;

static random_tree random_leaf(world *w)
{
    uint32_t i = next_random(w, 4);
    switch (next_random(w, 3)) {
    case 0: return (random_tree){expr_symbol(w->c, w->names[i]), w->symbols[i], true};
    case 1: return (random_tree){expr_slot(w->c, i), w->slots[i], true};
    default: break;
    }
    int64_t v = (int64_t)next_random(w, 2 * LARGEST + 1) - LARGEST;
    return (random_tree){expr_const(w->c, v), v, true};
}

static int64_t floor_of(int64_t a, int64_t b)
{
    int64_t q = a / b;
    return q * b > a ? q - 1 : q;
}

static random_tree random_node(world *w, int depth)
{
    if (depth == 0 || next_random(w, 8) == 0) return random_leaf(w);
    random_tree a = random_node(w, depth - 1), b = random_node(w, depth - 1), r = {0};
    r.defined = a.defined && b.defined;
    uint32_t kind = next_random(w, 10);
    if (kind > 6) b = (random_tree){expr_const(w->c, kind), kind, true};
    bool divides = kind >= 3 && kind != 5 && kind != 6;
    if (divides && b.value < 1) r.defined = false;
    int64_t divisor = b.value < 1 ? 1 : b.value;
    switch (kind) {
    case 0: r.e = expr_add(w->c, a.e, b.e), r.value = a.value + b.value; break;
    case 1: r.e = expr_sub(w->c, a.e, b.e), r.value = a.value - b.value; break;
    case 2: r.e = expr_mul(w->c, a.e, b.e), r.value = a.value * b.value; break;
    case 5: r.e = expr_min(w->c, a.e, b.e), r.value = a.value < b.value ? a.value : b.value; break;
    case 6: r.e = expr_max(w->c, a.e, b.e), r.value = a.value > b.value ? a.value : b.value; break;
    case 3:
    case 7: r.e = expr_floordiv(w->c, a.e, b.e), r.value = floor_of(a.value, divisor); break;
    case 4:
    case 8: r.e = expr_ceildiv(w->c, a.e, b.e), r.value = -floor_of(-a.value, divisor); break;
    default: r.e = expr_mod(w->c, a.e, b.e), r.value = a.value - floor_of(a.value, divisor) * divisor; break;
    }
    return r;
}

static world world_create(uint64_t seed)
{
    world w = {.c = context_create(NULL), .seed = seed};
    static const char *const texts[NAMES] = {"N", "B", "M", "AA"};
    for (uint32_t i = 0; i < NAMES; i++) w.names[i] = string_intern_z(w.c, texts[i]);
    return w;
}

TEST(expr_simplification_keeps_values_bounds_and_text)
{
    world w = world_create(1);
    expr_values values = {.symbol = symbol_value, .slot = slot_value, .self = &w};
    expr_ranges ranges = {.symbol = symbol_range, .slot = slot_range, .self = &w};
    int defined = 0;
    for (int round = 0; round < 200000; round++) {
        world_shuffle(&w);
        random_tree t = random_node(&w, TREE_DEPTH);
        if (t.defined) {
            defined++;
            int64_t v;
            assert_int_not_equal(t.e, 0);
            assert_true(expr_eval(w.c, t.e, &values, &v));
            assert_true(v == t.value);
            expr_range bounds = expr_bounds(w.c, t.e, &ranges);
            assert_true(bounds.lo <= v && v <= bounds.hi);
        }
        if (t.e == 0) continue;
        text_buffer out;
        text_init(&out);
        expr_print(w.c, t.e, &out, print_percent, NULL);
        text_putc(&out, '\0');
        if (parse(w.c, out.p) != t.e) fail_msg("does not read back: %s", out.p);
        text_fini(&out);
    }
    assert_true(defined > 50000);
    context_destroy(w.c);
}

static expr_id symbol_constant(void *self, str_id name)
{
    const world *w = self;
    return expr_const(w->c, w->symbols[name_index(w, name)]);
}

static expr_id slot_next(void *self, uint32_t slot)
{
    const world *w = self;
    return slot == 3 ? 0 : expr_slot(w->c, slot + 1);
}

static expr_id slot_constant(void *self, uint32_t slot)
{
    const world *w = self;
    return expr_const(w->c, w->slots[slot]);
}

TEST(expr_substitution_of_constants_is_evaluation)
{
    world w = world_create(2);
    expr_substitution constants = {.symbol = symbol_constant, .slot = slot_constant, .self = &w};
    expr_substitution nothing = {.self = &w};
    for (int round = 0; round < 50000; round++) {
        world_shuffle(&w);
        random_tree t = random_node(&w, TREE_DEPTH);
        if (!t.defined) continue;
        assert_int_equal(expr_substitute(w.c, t.e, &nothing), t.e);
        int64_t v = 0;
        assert_true(expr_is_const(w.c, expr_substitute(w.c, t.e, &constants), &v));
        assert_true(v == t.value);
    }
    context_destroy(w.c);
}

TEST(expr_substitution_keeps_written_order)
{
    world w = world_create(3);
    expr_substitution shift = {.slot = slot_next, .self = &w};
    assert_prints(w.c, expr_substitute(w.c, parse(w.c, "%1 * 2 + %0 + $N - min(%3, %0)"), &shift),
                  "2 * %2 + %1 + $N - min(%3, %1)");
    assert_prints(w.c, expr_substitute(w.c, parse(w.c, "%3 - %2"), &shift), "0");
    context_destroy(w.c);
}

TEST(expr_eval_fails_instead_of_guessing)
{
    world w = world_create(4);
    expr_values values = {.symbol = symbol_value, .slot = slot_value, .self = &w};
    expr_values none = {0};
    int64_t v;
    w.symbols[0] = INT64_MAX;
    w.symbols[1] = 0;
    assert_false(expr_eval(w.c, parse(w.c, "$N + 1"), &values, &v));
    assert_false(expr_eval(w.c, parse(w.c, "$N * $N"), &values, &v));
    assert_true(expr_eval(w.c, parse(w.c, "2 * $N - 3 * $N + 5"), &values, &v));
    assert_true(v == INT64_MIN + 6);
    assert_false(expr_eval(w.c, parse(w.c, "$N floordiv $B"), &values, &v));
    assert_false(expr_eval(w.c, parse(w.c, "$N mod $B"), &values, &v));
    assert_false(expr_eval(w.c, parse(w.c, "ceildiv($N, $B - 1)"), &values, &v));
    assert_false(expr_eval(w.c, parse(w.c, "$N"), &none, &v));
    assert_false(expr_eval(w.c, expr_value(w.c, 1), &values, &v));
    assert_false(expr_eval(w.c, 0, &values, &v));
    context_destroy(w.c);
}

static void assert_bounds(ir_context *c, const char *text, int64_t lo, int64_t hi)
{
    expr_range r = expr_bounds(c, parse(c, text), NULL);
    assert_true(r.lo == lo);
    assert_true(r.hi == hi);
}

TEST(expr_bounds_without_facts)
{
    ir_context *c = context_create(NULL);
    assert_bounds(c, "$B", 0, INT64_MAX);
    assert_bounds(c, "%0", INT64_MIN, INT64_MAX);
    assert_bounds(c, "%0 mod 48", 0, 47);
    assert_bounds(c, "min(16, $B)", 0, 16);
    assert_bounds(c, "max(3, $B)", 3, INT64_MAX);
    assert_bounds(c, "5 - $B", INT64_MIN, 5);
    assert_bounds(c, "$A * $B", 0, INT64_MAX);
    assert_bounds(c, "min(16, $A) floordiv 3", 0, 5);
    assert_bounds(c, "ceildiv(min(16, $A), 3)", 0, 6);
    assert_bounds(c, "min(16, $A) floordiv $B", 0, 16);
    assert_bounds(c, "(min(16, $A) - 20) floordiv $B", -20, -1);
    assert_bounds(c, "min(5, $A) mod 8", 0, 5);
    assert_bounds(c, "min(5, $A) * (min(3, $B) - 1)", -5, 10);
    assert_bounds(c, "4611686018427387904 * min(16, $A)", 0, INT64_MAX);
    context_destroy(c);
}

typedef struct visit_log {
    uint32_t seen[8];
    uint32_t count;
} visit_log;

static void log_visit(void *self, uint32_t what)
{
    visit_log *log = self;
    assert_in_range(log->count, 0, 7);
    log->seen[log->count++] = what;
}

TEST(expr_visits_go_in_print_order)
{
    ir_context *c = context_create(NULL);
    expr_id e = parse(c, "$A + %2 * 3 - %0 + min(%2, $C) * $A");
    assert_prints(c, e, "3 * %2 + min(%2, $C) * $A + $A - %0");
    visit_log slots = {0}, symbols = {0};
    expr_visit_slots(c, e, log_visit, &slots);
    expr_visit_symbols(c, e, log_visit, &symbols);
    assert_int_equal(slots.count, 3);
    assert_int_equal(slots.seen[0], 2);
    assert_int_equal(slots.seen[1], 2);
    assert_int_equal(slots.seen[2], 0);
    assert_int_equal(symbols.count, 3);
    assert_int_equal(symbols.seen[0], string_intern(c, STR("C")));
    assert_int_equal(symbols.seen[1], string_intern(c, STR("A")));
    assert_int_equal(symbols.seen[2], string_intern(c, STR("A")));
    context_destroy(c);
}

TEST(equal_polynomials_are_the_same)
{
    static const rewrite same[] = {{"$A * ($A + 7)", "$A * $A + 7 * $A"},
                                   {"($A + 1) * ($A - 1)", "$A * $A - 1"},
                                   {"($A + $B) * ($A + $B)", "$A * $A + 2 * ($A * $B) + $B * $B"},
                                   {"(%0 + 1) * ($A + %1)", "%1 + $A + %1 * %0 + $A * %0"},
                                   {"min($A, $B) * ($A + 1)", "min($A, $B) + $A * min($A, $B)"},
                                   {"($A * ($A + 1)) mod $B", "($A + $A * $A) mod $B"},
                                   {"$A * ($B * ($C + 1))", "($A * $C + $A) * $B"}};
    static const rewrite other[] = {{"$A * ($A + 7)", "$A * $A + 8 * $A"},
                                    {"($A + 1) * ($A - 1)", "$A * $A + 1"},
                                    {"$A * $B", "$A * $A"},
                                    {"min($A, $B) * ($A + 1)", "max($A, $B) + $A * min($A, $B)"}};
    ir_context *c = context_create(NULL);
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        const expr_id a = parse(c, same[i].text), b = parse(c, same[i].printed);
        assert_int_equal(expr_expand(c, a), expr_expand(c, b));
        assert_int_not_equal(expr_expand(c, a), 0);
    }
    for (size_t i = 0; i < sizeof other / sizeof *other; i++)
        assert_int_not_equal(expr_expand(c, parse(c, other[i].text)), expr_expand(c, parse(c, other[i].printed)));
    /* 2^12 terms are too many, and nothing is wrong with the product. */
    const expr_id product =
        parse(c, "($A+1)*($B+1)*($C+1)*($D+1)*($E+1)*($F+1)*($G+1)*($H+1)*($I+1)*($J+1)*($K+1)*($L+1)");
    assert_int_not_equal(product, 0);
    assert_int_equal(expr_expand(c, product), 0);
    context_destroy(c);
}
