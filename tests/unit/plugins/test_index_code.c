/* plugins/shared/control/index_code.h: index expressions over slots. It comes first: names of the
 * SDK's parameters are types of the IR. */
#include <index_code.h>

#include "tests/unit/core/run_fixture.h"

enum { SLOT_N = 2, SLOT_I = 0 };

typedef struct fixture {
    run_fixture f;
    index_pool pool;
    pto_expr n, i;
} fixture;

/* $N has a slot, other symbols have none. */
static uint32_t slot_of_symbol(void *self, pto_str name)
{
    (void)self;
    return pto_str_is(name, "N") ? SLOT_N : UINT32_MAX;
}
static uint32_t slot_of_value(void *self, pto_value v)
{
    (void)self;
    (void)v;
    return SLOT_I;
}
static const index_leaves leaves = {.symbol = slot_of_symbol, .value = slot_of_value};

static void begin(fixture *x)
{
    run_fixture_begin(&x->f, "func @f(%i: index) {\n  return\n}\n", NULL);
    const pto_op unit = run_fixture_start(&x->f);
    x->pool = (index_pool){.run = x->f.run};
    x->n = pto_expr_symbol(x->f.run, PTO_STR("N"));
    x->i = pto_expr_value(pto_block_arg(pto_body(unit), 0));
}

static void end(fixture *x)
{
    run_fixture_stop(&x->f, PTO_OK);
    assert_false(x->f.result.failed);
    run_fixture_end(&x->f);
}

static pto_expr number(const fixture *x, int64_t n) { return pto_expr_const(x->f.run, n); }

static index_expr compiled(fixture *x, pto_expr e)
{
    index_expr out;
    assert_true(index_compile(&x->pool, &leaves, e, &out));
    return out;
}

/* The expression where $N is `n` and %i is `i`; 77 is left when it has no value. */
static int64_t value_of(fixture *x, pto_expr e, int64_t n, int64_t i, index_result result)
{
    const int64_t slots[] = {i, 0, n};
    const index_expr c = compiled(x, e);
    int64_t out = 77;
    assert_int_equal(index_eval(x->pool.codes, &c, slots, &out), result);
    return out;
}

TEST(constants_need_no_code)
{
    fixture x;
    begin(&x);
    const index_expr c = compiled(&x, number(&x, -5));
    assert_int_equal(c.count, 0);
    assert_int_equal(c.constant, -5);
    assert_int_equal(value_of(&x, number(&x, -5), 0, 0, INDEX_OK), -5);
    assert_int_equal(x.pool.count, 0);
    end(&x);
}

TEST(every_operation_computes)
{
    fixture x;
    begin(&x);
    static const struct {
        pto_expr_kind kind;
        int64_t wanted; /* of -7 and 2 */
    } rows[] = {{PTO_EXPR_SUM, -5}, {PTO_EXPR_PRODUCT, -14}, {PTO_EXPR_FLOORDIV, -4}, {PTO_EXPR_CEILDIV, -3},
                {PTO_EXPR_MOD, 1},  {PTO_EXPR_MIN, -7},      {PTO_EXPR_MAX, 2}};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        assert_int_equal(value_of(&x, pto_expr_make(x.i, rows[k].kind, x.n), 2, -7, INDEX_OK), rows[k].wanted);
    /* 3 * $N * %i + 10 - %i, and a quotient of sums. */
    const pto_expr product = pto_expr_make(x.n, PTO_EXPR_PRODUCT, x.i);
    const pto_expr sum = pto_expr_add(pto_expr_sub(pto_expr_scale(product, 3), x.i), number(&x, 10));
    assert_int_equal(value_of(&x, sum, 2, 5, INDEX_OK), 35);
    assert_int_equal(value_of(&x, pto_expr_make(sum, PTO_EXPR_FLOORDIV, pto_expr_add(x.n, x.i)), 2, 5, INDEX_OK), 5);
    end(&x);
}

TEST(many_expressions_share_a_pool)
{
    fixture x;
    begin(&x);
    const index_expr a = compiled(&x, pto_expr_scale(x.n, 3)), b = compiled(&x, pto_expr_add(x.i, x.n));
    const int64_t slots[] = {10, 0, 4};
    int64_t out;
    assert_int_equal(index_eval(x.pool.codes, &a, slots, &out), INDEX_OK);
    assert_int_equal(out, 12);
    assert_int_equal(index_eval(x.pool.codes, &b, slots, &out), INDEX_OK);
    assert_int_equal(out, 14);
    uint32_t reads = 0;
    for (uint32_t k = 0; k < x.pool.count; k++) reads += index_code_reads(&x.pool.codes[k]);
    assert_int_equal(reads, 3);
    end(&x);
}

TEST(divisors_below_one_and_overflow_have_no_value)
{
    fixture x;
    begin(&x);
    static const pto_expr_kind divisions[] = {PTO_EXPR_FLOORDIV, PTO_EXPR_CEILDIV, PTO_EXPR_MOD};
    for (int k = 0; k < 3; k++) {
        const pto_expr e = pto_expr_make(x.i, divisions[k], x.n);
        assert_int_equal(value_of(&x, e, 0, 7, INDEX_DIVISOR), 77);
        assert_int_equal(value_of(&x, e, -1, 7, INDEX_DIVISOR), 77);
        (void)value_of(&x, e, 1, 7, INDEX_OK);
    }
    assert_int_equal(value_of(&x, pto_expr_make(x.i, PTO_EXPR_PRODUCT, x.n), 2, INT64_MAX, INDEX_OVERFLOW), 77);
    assert_int_equal(value_of(&x, pto_expr_scale(x.i, 3), 0, INT64_MIN, INDEX_OVERFLOW), 77);
    assert_int_equal(value_of(&x, pto_expr_add(x.i, x.n), 1, INT64_MAX, INDEX_OVERFLOW), 77);
    assert_int_equal(value_of(&x, pto_expr_add(x.i, x.n), -1, INT64_MAX, INDEX_OK), INT64_MAX - 1);
    end(&x);
}

TEST(leaves_without_a_slot_are_refused)
{
    fixture x;
    begin(&x);
    index_expr out;
    const pto_expr other = pto_expr_symbol(x.f.run, PTO_STR("M"));
    assert_false(index_compile(&x.pool, &leaves, other, &out));
    assert_false(index_compile(&x.pool, &leaves, pto_expr_add(x.n, other), &out));
    end(&x);
}

TEST(deep_expressions_are_compiled_without_recursion)
{
    fixture x;
    begin(&x);
    pto_expr e = x.i;
    int64_t wanted = 1000000;
    for (int k = 0; k < 20; k++) {
        const pto_expr half = pto_expr_make(e, PTO_EXPR_FLOORDIV, number(&x, 2));
        e = k % 2 == 0 ? pto_expr_make(half, PTO_EXPR_MAX, x.n) : pto_expr_add(half, x.n);
        wanted = k % 2 == 0 ? (wanted / 2 > 3 ? wanted / 2 : 3) : wanted / 2 + 3;
    }
    assert_int_equal(value_of(&x, e, 3, 1000000, INDEX_OK), wanted);
    end(&x);
}
