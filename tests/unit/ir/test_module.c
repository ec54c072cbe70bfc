#include "ir/module.h"

#include "tests/unit/module_fixture.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef struct world {
    module_fixture ir;
    type_id tensor, tile, index;
} world;

static world world_make(void)
{
    world w = {.ir = module_fixture_empty()};
    expr_id dims[] = {expr_symbol(w.ir.c, string_intern_z(w.ir.c, "B")), expr_const(w.ir.c, 32)};
    w.tensor = type_tensor(w.ir.c, DTYPE_F32, 2, dims);
    w.tile = type_tile(w.ir.c, DTYPE_F32, 16, 32, SPACE_NONE, LAYOUT_NONE);
    w.index = type_scalar(w.ir.c, DTYPE_INDEX);
    return w;
}

static attr_id dict1(const world *w, const char *key, attr_id value)
{
    return attr_with(w->ir.c, 0, string_intern_z(w->ir.c, key), value);
}

static op_id make_func(world *w, const char *name)
{
    attr_id attrs = dict1(w, "name", attr_string(w->ir.c, string_intern_z(w->ir.c, name)));
    return op_create(w->ir.m, (op_place){module_top(w->ir.m), 0},
                     &(op_spec){.kind = OP_FUNC, .attrs = attrs, .block_count = 1});
}

static op_id make_op(world *w, op_place at, op_kind kind, uint32_t count, const value_id *operands, type_id result,
                     attr_id attrs)
{
    return op_create(w->ir.m, at,
                     &(op_spec){.kind = kind,
                                .operand_count = count,
                                .operands = operands,
                                .result_count = result != 0,
                                .result_types = &result,
                                .attrs = attrs});
}

static op_id unary(world *w, block_id b, value_id x)
{
    return make_op(w, (op_place){b, 0}, OP_TENSOR_EXP, 1, &x, w->tensor, 0);
}

static attr_id exprs(const world *w, uint32_t count, const expr_id *items)
{
    attr_id list[8];
    for (uint32_t i = 0; i < count; i++) list[i] = attr_expr(w->ir.c, items[i]);
    return attr_list(w->ir.c, count, list);
}

/* True when the call ends in BUG_IF. */
static bool is_bug(void (*call)(world *w, uint32_t id), world *w, uint32_t id)
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        if (freopen("/dev/null", "w", stderr) == NULL) _exit(1);
        signal(SIGABRT, SIG_DFL);
        call(w, id);
        _exit(0);
    }
    int state = 0;
    waitpid(child, &state, 0);
    return !(WIFEXITED(state) && WEXITSTATUS(state) == 0);
}

static uint32_t use_count(const module *m, value_id v)
{
    uint32_t n = 0;
    VALUE_EACH_USE(m, u, v) n++;
    return n;
}

TEST(ops_stand_in_order_and_know_their_uses)
{
    world w = world_make();
    op_id f = make_func(&w, "f");
    block_id body = function_body(w.ir.m, f);
    value_id x = block_add_arg(w.ir.m, body, w.tensor);
    op_id a = unary(&w, body, x), b = unary(&w, body, op_result(w.ir.m, a, 0));
    op_id c = make_op(&w, (op_place){body, b}, OP_TENSOR_ADD, 2, (value_id[]){x, x}, w.tensor, 0);
    assert_int_equal(block_first(w.ir.m, body), a);
    assert_int_equal(op_next(w.ir.m, a), c);
    assert_int_equal(op_prev(w.ir.m, b), c);
    assert_int_equal(block_last(w.ir.m, body), b);
    assert_true(op_is_before(w.ir.m, a, c) && op_is_before(w.ir.m, c, b) && !op_is_before(w.ir.m, b, a));
    assert_int_equal(use_count(w.ir.m, x), 3);
    assert_int_equal(use_slot(w.ir.m, use_next(w.ir.m, use_next(w.ir.m, value_first_use(w.ir.m, x)))), 1);
    assert_int_equal(op_function(w.ir.m, b), f);
    assert_int_equal(op_parent(w.ir.m, b), f);
    assert_int_equal(value_op(w.ir.m, op_result(w.ir.m, b, 0)), b);
    assert_int_equal(value_block(w.ir.m, x), body);
    value_replace_all(w.ir.m, x, op_result(w.ir.m, c, 0));
    assert_int_equal(use_count(w.ir.m, x), 0);
    assert_int_equal(use_count(w.ir.m, op_result(w.ir.m, c, 0)), 3);
    module_fixture_end(&w.ir);
}

/* The first operands are in the op's record, the others after it. */
TEST(uses_know_their_op_and_slot_whatever_their_number)
{
    world w = world_make();
    block_id body = function_body(w.ir.m, make_func(&w, "f"));
    value_id x = block_add_arg(w.ir.m, body, w.tensor), y = block_add_arg(w.ir.m, body, w.tensor), many[20];
    for (uint32_t n = 0; n <= 20; n++) {
        for (uint32_t i = 0; i < n; i++) many[i] = i % 3 == 0 ? y : x;
        op_id o = make_op(&w, (op_place){body, 0}, OP_YIELD, n, many, 0, 0);
        uint32_t seen = 0, slot = 0;
        VALUE_EACH_USE(w.ir.m, u, x) {
            assert_int_equal(use_op(w.ir.m, u), o);
            while (many[slot] != x) slot++;
            assert_int_equal(use_slot(w.ir.m, u), slot++);
            seen++;
        }
        assert_int_equal(seen + use_count(w.ir.m, y), n);
        for (uint32_t i = 0; i < n; i++) {
            op_set_operand(w.ir.m, o, i, i % 3 == 0 ? x : y);
            assert_int_equal(op_operand(w.ir.m, o, i), i % 3 == 0 ? x : y);
        }
        assert_int_equal(use_count(w.ir.m, y), seen);
        op_set_operands(w.ir.m, o, 1, &x, 0);
        assert_int_equal(use_count(w.ir.m, x) + use_count(w.ir.m, y), 1);
        op_set_operands(w.ir.m, o, n, many, 0);
        assert_int_equal(use_count(w.ir.m, x), seen);
        op_erase(w.ir.m, o);
        assert_int_equal(use_count(w.ir.m, x) + use_count(w.ir.m, y), 0);
    }
    size_t bytes = module_bytes(w.ir.m);
    for (uint32_t n = 0; n <= 20; n++) op_erase(w.ir.m, make_op(&w, (op_place){body, 0}, OP_YIELD, n, many, 0, 0));
    assert_int_equal(module_bytes(w.ir.m), bytes);
    module_fixture_end(&w.ir);
}

TEST(replaced_uses_go_behind_the_others_in_order)
{
    world w = world_make();
    block_id body = function_body(w.ir.m, make_func(&w, "f"));
    value_id x = block_add_arg(w.ir.m, body, w.tensor), y = block_add_arg(w.ir.m, body, w.tensor);
    op_id first = make_op(&w, (op_place){body, 0}, OP_YIELD, 3, (value_id[]){y, x, x}, 0, 0);
    op_id second = make_op(&w, (op_place){body, 0}, OP_YIELD, 4, (value_id[]){x, y, y, x}, 0, 0);
    const struct {
        op_id op;
        uint32_t slot;
    } wanted[] = {{first, 0}, {second, 1}, {second, 2}, {first, 1}, {first, 2}, {second, 0}, {second, 3}};
    uint64_t epoch = module_epoch(w.ir.m);
    value_replace_all(w.ir.m, x, y);
    assert_int_equal(module_epoch(w.ir.m), epoch + 4);
    assert_int_equal(use_count(w.ir.m, x), 0);
    uint32_t at = 0;
    VALUE_EACH_USE(w.ir.m, u, y) {
        assert_int_equal(use_op(w.ir.m, u), wanted[at].op);
        assert_int_equal(use_slot(w.ir.m, u), wanted[at].slot);
        assert_int_equal(op_operand(w.ir.m, wanted[at].op, wanted[at].slot), y);
        at++;
    }
    assert_int_equal(at, 7);
    value_replace_all(w.ir.m, y, x);
    assert_int_equal(use_count(w.ir.m, x), 7);
    op_erase(w.ir.m, first);
    op_erase(w.ir.m, second);
    assert_int_equal(use_count(w.ir.m, x), 0);
    value_replace_all(w.ir.m, x, y);
    module_fixture_end(&w.ir);
}

TEST(equal_ops_have_equal_hashes)
{
    world w = world_make();
    block_id body = function_body(w.ir.m, make_func(&w, "f"));
    value_id x = block_add_arg(w.ir.m, body, w.tensor), y = block_add_arg(w.ir.m, body, w.tensor);
    attr_id attrs = dict1(&w, "axis", attr_int(w.ir.c, 0));
    op_place end = {body, 0};
    op_id a = make_op(&w, end, OP_TENSOR_ADD, 2, (value_id[]){x, y}, w.tensor, 0);
    op_id others[] = {make_op(&w, end, OP_TENSOR_ADD, 2, (value_id[]){y, x}, w.tensor, 0),
                      make_op(&w, end, OP_TENSOR_SUB, 2, (value_id[]){x, y}, w.tensor, 0),
                      make_op(&w, end, OP_TENSOR_ADD, 2, (value_id[]){x, y}, w.tile, 0),
                      make_op(&w, end, OP_TENSOR_ADD, 2, (value_id[]){x, y}, 0, 0),
                      make_op(&w, end, OP_TENSOR_ADD, 1, (value_id[]){x, y}, w.tensor, 0),
                      make_op(&w, end, OP_TENSOR_ADD, 3, (value_id[]){x, y, y}, w.tensor, 0),
                      make_op(&w, end, OP_TENSOR_ADD, 2, (value_id[]){x, y}, w.tensor, attrs)};
    op_id twin = make_op(&w, end, OP_TENSOR_ADD, 2, (value_id[]){x, y}, w.tensor, 0);
    assert_true(op_equal(w.ir.m, a, twin) && op_equal(w.ir.m, a, a));
    assert_int_equal(op_hash(w.ir.m, a), op_hash(w.ir.m, twin));
    assert_int_not_equal(op_hash(w.ir.m, a), 0);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        assert_false(op_equal(w.ir.m, a, others[i]) || op_equal(w.ir.m, others[i], a));
        assert_int_not_equal(op_hash(w.ir.m, a), op_hash(w.ir.m, others[i]));
    }
    op_id f = block_parent(w.ir.m, body);
    assert_int_equal(op_hash(w.ir.m, f), 0);
    assert_false(op_equal(w.ir.m, f, f));
    assert_false(op_is_used(w.ir.m, a) || op_is_used(w.ir.m, others[3]));
    op_id reader = unary(&w, body, op_result(w.ir.m, a, 0));
    assert_true(op_is_used(w.ir.m, a));
    op_erase(w.ir.m, reader);
    assert_false(op_is_used(w.ir.m, a));
    module_fixture_end(&w.ir);
}

TEST(insertion_in_front_keeps_the_order_numbers)
{
    world w = world_make();
    block_id body = function_body(w.ir.m, make_func(&w, "f"));
    value_id x = block_add_arg(w.ir.m, body, w.tensor);
    op_id last = unary(&w, body, x), before = last;
    for (int i = 0; i < 1000; i++) {
        op_id o = make_op(&w, (op_place){body, before}, OP_TENSOR_EXP, 1, &x, w.tensor, 0);
        assert_true(op_is_before(w.ir.m, o, before));
        before = o;
    }
    uint32_t n = 0;
    BLOCK_EACH_OP(w.ir.m, o, body) {
        if (op_next(w.ir.m, o) != 0) assert_true(op_is_before(w.ir.m, o, op_next(w.ir.m, o)));
        n++;
    }
    assert_int_equal(n, 1001);
    op_move(w.ir.m, last, (op_place){body, before});
    assert_true(op_is_before(w.ir.m, last, before));
    assert_int_equal(block_first(w.ir.m, body), last);
    module_fixture_end(&w.ir);
}

static void read_op(world *w, uint32_t o) { (void)op_kind_of(w->ir.m, o); }
static void read_value(world *w, uint32_t v) { (void)value_type(w->ir.m, v); }
static void erase_op(world *w, uint32_t o) { op_erase(w->ir.m, o); }

TEST(erased_ops_are_recycled_with_a_new_generation)
{
    world w = world_make();
    block_id body = function_body(w.ir.m, make_func(&w, "f"));
    value_id x = block_add_arg(w.ir.m, body, w.tensor);
    op_id a = unary(&w, body, x), b = unary(&w, body, op_result(w.ir.m, a, 0));
    value_id result = op_result(w.ir.m, b, 0);
    assert_true(is_bug(erase_op, &w, a));
    uint32_t generation = op_generation(w.ir.m, b), value_generation_before = value_generation(w.ir.m, result);
    op_erase(w.ir.m, b);
    assert_false(op_is_live(w.ir.m, b));
    assert_false(value_is_live(w.ir.m, result));
    assert_true(is_bug(read_op, &w, b));
    assert_true(is_bug(read_value, &w, result));
    assert_true(is_bug(read_op, &w, 0));
    assert_true(is_bug(read_op, &w, 123456));
    assert_int_equal(use_count(w.ir.m, op_result(w.ir.m, a, 0)), 0);
    op_id again = unary(&w, body, x);
    assert_int_equal(again, b);
    assert_int_equal(op_generation(w.ir.m, again), generation + 1);
    assert_int_equal(value_generation(w.ir.m, op_result(w.ir.m, again, 0)), value_generation_before + 1);
    /* A slot is given up before its generation repeats. */
    for (uint32_t i = 0; i < 70000; i++) op_erase(w.ir.m, unary(&w, body, x));
    assert_true(module_bytes(w.ir.m) < 4000);
    module_fixture_end(&w.ir);
}

/* for %i = from to to step 1 carry(%acc = init) */
static op_id make_for(world *w, block_id b, expr_id from, expr_id to, value_id init, type_id type, attr_id valid)
{
    expr_id one = expr_const(w->ir.c, 1);
    attr_id attrs = dict1(w, "from", exprs(w, 1, &from));
    attrs = attr_with(w->ir.c, attrs, string_intern_z(w->ir.c, "to"), exprs(w, 1, &to));
    attrs = attr_with(w->ir.c, attrs, string_intern_z(w->ir.c, "step"), exprs(w, 1, &one));
    attrs = attr_with(w->ir.c, attrs, string_intern_z(w->ir.c, "valid"), valid);
    op_id loop = op_create(w->ir.m, (op_place){b, 0},
                           &(op_spec){.kind = OP_FOR,
                                      .operand_count = init != 0,
                                      .operands = &init,
                                      .result_count = init != 0,
                                      .result_types = &type,
                                      .attrs = attrs,
                                      .block_count = 1});
    block_add_arg(w->ir.m, op_block_at(w->ir.m, loop, 0), w->index);
    if (init != 0) block_add_arg(w->ir.m, op_block_at(w->ir.m, loop, 0), type);
    return loop;
}

static op_id finish(world *w, block_id b, value_id v)
{
    return make_op(w, (op_place){b, 0}, OP_YIELD, v != 0, &v, 0, 0);
}

TEST(index_operands_have_one_form)
{
    world w = world_make();
    block_id body = function_body(w.ir.m, make_func(&w, "f"));
    value_id x = block_add_arg(w.ir.m, body, w.tensor), i = block_add_arg(w.ir.m, body, w.index),
             j = block_add_arg(w.ir.m, body, w.index);
    /* load x[j, 16 * i + j]: by slots with a repetition and an unused operand, and by values. */
    expr_id by_slot[] = {
        expr_slot(w.ir.c, 4),
        expr_add(w.ir.c, expr_mul(w.ir.c, expr_const(w.ir.c, 16), expr_slot(w.ir.c, 1)), expr_slot(w.ir.c, 2))};
    expr_id by_value[] = {
        expr_value(w.ir.c, j),
        expr_add(w.ir.c, expr_mul(w.ir.c, expr_const(w.ir.c, 16), expr_value(w.ir.c, i)), expr_value(w.ir.c, j))};
    op_id a = make_op(&w, (op_place){body, 0}, OP_TILE_LOAD, 5, (value_id[]){x, i, j, x, j}, w.tile,
                      dict1(&w, "offsets", exprs(&w, 2, by_slot)));
    op_id b =
        make_op(&w, (op_place){body, 0}, OP_TILE_LOAD, 1, &x, w.tile, dict1(&w, "offsets", exprs(&w, 2, by_value)));
    assert_int_equal(op_attrs(w.ir.m, a), op_attrs(w.ir.m, b));
    assert_int_equal(op_operand_count(w.ir.m, a), 3);
    assert_int_equal(op_operand_count(w.ir.m, b), 3);
    value_id expected[] = {x, j, i};
    for (uint32_t k = 0; k < 3; k++) {
        assert_int_equal(op_operand(w.ir.m, a, k), expected[k]);
        assert_int_equal(op_operand(w.ir.m, b, k), expected[k]);
    }
    assert_int_equal(op_value_operand_count(w.ir.m, a), 1);
    assert_int_equal(op_index_count(w.ir.m, a, "offsets"), 2);
    assert_int_equal(op_index_expr(w.ir.m, a, "offsets", 1), by_value[1]);
    assert_int_equal(op_index_expr(w.ir.m, a, "offsets", 2), 0);
    assert_int_equal(op_index_expr(w.ir.m, a, "sizes", 0), 0);
    /* Two index operands that become one value merge: 16 * j + j. */
    value_replace_all(w.ir.m, i, j);
    assert_int_equal(op_operand_count(w.ir.m, a), 2);
    assert_int_equal(op_index_expr(w.ir.m, a, "offsets", 1),
                     expr_mul(w.ir.c, expr_const(w.ir.c, 17), expr_value(w.ir.c, j)));
    assert_int_equal(use_count(w.ir.m, j), 2);
    module_fixture_end(&w.ir);
}

TEST(index_operands_follow_the_printed_order)
{
    world w = world_make();
    block_id body = function_body(w.ir.m, make_func(&w, "f"));
    value_id x = block_add_arg(w.ir.m, body, w.tensor), i = block_add_arg(w.ir.m, body, w.index),
             j = block_add_arg(w.ir.m, body, w.index), n = block_add_arg(w.ir.m, body, w.index);
    /* sizes come after offsets in the text, and j - 2 * i prints j first. */
    expr_id difference =
        expr_sub(w.ir.c, expr_value(w.ir.c, j), expr_mul(w.ir.c, expr_const(w.ir.c, 2), expr_value(w.ir.c, i)));
    expr_id reversed =
        expr_add(w.ir.c, expr_mul(w.ir.c, expr_const(w.ir.c, -2), expr_value(w.ir.c, i)), expr_value(w.ir.c, j));
    expr_id rest = expr_value(w.ir.c, n);
    attr_id attrs = dict1(&w, "sizes", exprs(&w, 2, (expr_id[]){rest, rest}));
    for (int round = 0; round < 2; round++) {
        expr_id offset = round == 0 ? difference : reversed;
        attr_id both = attr_with(w.ir.c, attrs, string_intern_z(w.ir.c, "offsets"), exprs(&w, 1, &offset));
        op_id o = make_op(&w, (op_place){body, 0}, OP_TILE_LOAD, 1, &x, w.tile, both);
        assert_int_equal(op_operand_count(w.ir.m, o), 4);
        assert_int_equal(op_operand(w.ir.m, o, 1), j);
        assert_int_equal(op_operand(w.ir.m, o, 2), i);
        assert_int_equal(op_operand(w.ir.m, o, 3), n);
    }
    module_fixture_end(&w.ir);
}

TEST(attributes_over_values_follow_the_operands)
{
    world w = world_make();
    ir_context *c = w.ir.c;
    block_id body = function_body(w.ir.m, make_func(&w, "f"));
    value_id x = block_add_arg(w.ir.m, body, w.tensor), i[8];
    for (uint32_t k = 0; k < 8; k++) i[k] = block_add_arg(w.ir.m, body, w.index);
    for (uint32_t count = 1; count <= 8; count++) { /* few operands are remembered, many are not */
        expr_id e = 0, with_7 = 0;
        for (uint32_t k = 0; k < count; k++) {
            e = k == 0 ? expr_value(c, i[0]) : expr_add(c, expr_mul(c, e, expr_const(c, 3)), expr_value(c, i[k]));
            const value_id other = k == 0 ? i[7] : i[k];
            with_7 = k == 0 ? expr_value(c, other)
                            : expr_add(c, expr_mul(c, with_7, expr_const(c, 3)), expr_value(c, other));
        }
        const expr_id both[] = {e, expr_const(c, 4)}, both_7[] = {with_7, expr_const(c, 4)};
        const attr_id given = exprs(&w, 2, both);
        op_id o = make_op(&w, (op_place){body, 0}, OP_TILE_LOAD, 1, &x, w.tile, dict1(&w, "offsets", given));
        const attr_id stored = op_attr(w.ir.m, o, "offsets");
        assert_int_not_equal(stored, given);
        for (uint32_t again = 0; again < 2; again++) assert_int_equal(op_attr_over_values(w.ir.m, o, stored), given);
        assert_int_equal(op_attr_over_values(w.ir.m, o, attr_list(c, 1, &stored)), attr_list(c, 1, &given));
        assert_int_equal(op_attr_over_values(w.ir.m, o, attr_int(c, 4)), attr_int(c, 4));
        if (count == 8) continue; /* it has that operand already */
        op_set_operand(w.ir.m, o, 1, i[7]);
        assert_int_equal(op_attr_over_values(w.ir.m, o, op_attr(w.ir.m, o, "offsets")), exprs(&w, 2, both_7));
    }
    module_fixture_end(&w.ir);
}

TEST(many_index_operands_keep_their_order)
{
    world w = world_make();
    block_id body = function_body(w.ir.m, make_func(&w, "f"));
    enum { COUNT = 200 };
    value_id args[COUNT];
    attr_id items[2 * COUNT];
    for (uint32_t i = 0; i < COUNT; i++) args[i] = block_add_arg(w.ir.m, body, w.index);
    for (uint32_t i = 0; i < 2 * COUNT; i++) items[i] = attr_expr(w.ir.c, expr_value(w.ir.c, args[i % COUNT]));
    op_id o = op_create(
        w.ir.m, (op_place){body, 0},
        &(op_spec){.kind = OP_FORALL, .attrs = dict1(&w, "to", attr_list(w.ir.c, 2 * COUNT, items)), .block_count = 1});
    assert_int_equal(op_operand_count(w.ir.m, o), COUNT);
    for (uint32_t i = 0; i < COUNT; i++) assert_int_equal(op_operand(w.ir.m, o, i), args[i]);
    assert_int_equal(op_index_expr(w.ir.m, o, "to", COUNT + 7), expr_value(w.ir.c, args[7]));
    module_fixture_end(&w.ir);
}

TEST(value_operands_of_loops_are_as_many_as_results)
{
    world w = world_make();
    block_id body = function_body(w.ir.m, make_func(&w, "f"));
    value_id n = block_add_arg(w.ir.m, body, w.index), t = block_add_arg(w.ir.m, body, w.tile);
    op_id plain = make_for(&w, body, expr_const(w.ir.c, 0), expr_value(w.ir.c, n), 0, 0, 0);
    assert_int_equal(op_value_operand_count(w.ir.m, plain), 0);
    assert_int_equal(op_operand_count(w.ir.m, plain), 1);
    op_id carried = make_for(&w, body, expr_value(w.ir.c, n), expr_value(w.ir.c, n), t, w.tile, 0);
    assert_int_equal(op_value_operand_count(w.ir.m, carried), 1);
    assert_int_equal(op_operand_count(w.ir.m, carried), 2);
    op_id insn = make_op(&w, (op_place){body, 0}, OP_PTO_TROWSUM, 3, (value_id[]){t, t, t}, 0, 0);
    assert_int_equal(op_value_operand_count(w.ir.m, insn), 3);
    module_fixture_end(&w.ir);
}

TEST(attributes_equal_to_the_default_are_not_stored)
{
    world w = world_make();
    block_id body = function_body(w.ir.m, make_func(&w, "f"));
    value_id x = block_add_arg(w.ir.m, body, w.tensor);
    attr_id minus_one = attr_int(w.ir.c, -1), rint = attr_string(w.ir.c, string_intern_z(w.ir.c, "rint"));
    op_id s = make_op(&w, (op_place){body, 0}, OP_TENSOR_SOFTMAX, 1, &x, w.tensor, dict1(&w, "axis", minus_one));
    assert_int_equal(op_attrs(w.ir.m, s), 0);
    assert_int_equal(op_attr(w.ir.m, s, "axis"), minus_one);
    assert_int_equal(op_attr_int(w.ir.m, s, "axis", 7), -1);
    assert_int_equal(op_attr(w.ir.m, s, "nothing"), 0);
    assert_int_equal(op_attr_int(w.ir.m, s, "nothing", 7), 7);
    op_set_attr(w.ir.m, s, "axis", attr_int(w.ir.c, 1));
    assert_int_equal(op_attr_int(w.ir.m, s, "axis", 7), 1);
    uint64_t epoch = module_epoch(w.ir.m);
    op_set_attr(w.ir.m, s, "axis", attr_int(w.ir.c, 1));
    assert_int_equal(module_epoch(w.ir.m), epoch);
    op_set_attr(w.ir.m, s, "axis", minus_one);
    assert_int_equal(op_attrs(w.ir.m, s), 0);
    assert_true(module_epoch(w.ir.m) > epoch);
    attr_id attrs =
        attr_with(w.ir.c, dict1(&w, "mode", rint), string_intern_z(w.ir.c, "saturate"), attr_bool(w.ir.c, true));
    op_id c = make_op(&w, (op_place){body, 0}, OP_TENSOR_CAST, 1, &x, w.tensor, attrs);
    assert_int_equal(op_attrs(w.ir.m, c), dict1(&w, "saturate", attr_bool(w.ir.c, true)));
    assert_true(str_is(op_attr_str(w.ir.m, c, "mode"), "rint"));
    op_id r = make_op(&w, (op_place){body, 0}, OP_TENSOR_RMS_NORM, 2, (value_id[]){x, x}, w.tensor, 0);
    assert_int_equal(op_attr(w.ir.m, r, "eps"), attr_float(w.ir.c, 1e-6));
    module_fixture_end(&w.ir);
}

TEST(symbols_are_found_also_after_renaming_and_erasing)
{
    world w = world_make();
    str_id f_name = string_intern_z(w.ir.c, "f"), g_name = string_intern_z(w.ir.c, "g");
    assert_int_equal(module_find_symbol(w.ir.m, f_name), 0);
    op_id f = make_func(&w, "f");
    assert_int_equal(module_find_symbol(w.ir.m, f_name), f);
    op_id twin = make_func(&w, "f");
    assert_int_equal(module_find_symbol(w.ir.m, f_name), f);
    op_erase(w.ir.m, f);
    assert_int_equal(module_find_symbol(w.ir.m, f_name), twin);
    function_set_name(w.ir.m, twin, g_name);
    assert_int_equal(module_find_symbol(w.ir.m, f_name), 0);
    assert_int_equal(module_find_symbol(w.ir.m, g_name), twin);
    assert_int_equal(function_name(w.ir.m, twin), g_name);
    char name[16];
    op_id many[300];
    for (int i = 0; i < 300; i++) {
        snprintf(name, sizeof name, "k%d", i);
        many[i] = make_func(&w, name);
    }
    for (int i = 0; i < 300; i += 2) op_erase(w.ir.m, many[i]);
    for (int i = 0; i < 300; i++) {
        snprintf(name, sizeof name, "k%d", i);
        assert_int_equal(module_find_symbol(w.ir.m, string_intern_z(w.ir.c, name)), i % 2 == 0 ? 0 : many[i]);
    }
    module_fixture_end(&w.ir);
}

TEST(nested_ops_are_erased_cloned_and_walked)
{
    world w = world_make();
    op_id f = make_func(&w, "f");
    block_id body = function_body(w.ir.m, f);
    value_id x = block_add_arg(w.ir.m, body, w.tensor), n = block_add_arg(w.ir.m, body, w.index);
    op_id outer = make_for(&w, body, expr_const(w.ir.c, 0), expr_value(w.ir.c, n), x, w.tensor, 0);
    block_id outer_body = op_block_at(w.ir.m, outer, 0);
    value_set_name(w.ir.m, block_arg(w.ir.m, outer_body, 1), STR("acc"));
    op_id inner = make_for(&w, outer_body, expr_const(w.ir.c, 0), expr_value(w.ir.c, block_arg(w.ir.m, outer_body, 0)),
                           block_arg(w.ir.m, outer_body, 1), w.tensor, 0);
    block_id inner_body = op_block_at(w.ir.m, inner, 0);
    op_id e = unary(&w, inner_body, block_arg(w.ir.m, inner_body, 1));
    op_id yields[] = {finish(&w, inner_body, op_result(w.ir.m, e, 0)),
                      finish(&w, outer_body, op_result(w.ir.m, inner, 0))};

    op_id expected[] = {f, outer, inner, e, yields[0], yields[1]};
    uint32_t at = 0;
    IR_WALK(w.ir.m, o, f) assert_int_equal(o, expected[at++]);
    assert_int_equal(at, 6);
    assert_int_equal(walk_skip(w.ir.m, f, inner), yields[1]);
    assert_int_equal(walk_skip(w.ir.m, f, e), yields[0]);
    assert_int_equal(walk_skip(w.ir.m, f, outer), 0);
    assert_int_equal(walk_skip(w.ir.m, outer, outer), 0);

    value_map *map = value_map_create();
    value_id y = op_result(w.ir.m, unary(&w, body, x), 0);
    value_map_put(map, x, y);
    op_id copy = op_clone(w.ir.m, outer, (op_place){body, 0}, map);
    value_map_destroy(map);
    assert_int_equal(op_operand(w.ir.m, copy, 0), y);
    assert_int_equal(op_operand(w.ir.m, copy, 1), n);
    assert_int_equal(op_attrs(w.ir.m, copy), op_attrs(w.ir.m, outer));
    block_id copy_body = op_block_at(w.ir.m, copy, 0);
    assert_int_equal(value_name_of(w.ir.m, block_arg(w.ir.m, copy_body, 1)).base, string_intern_z(w.ir.c, "acc"));
    op_id copied_inner = block_first(w.ir.m, copy_body);
    assert_int_equal(op_operand(w.ir.m, copied_inner, 0), block_arg(w.ir.m, copy_body, 1));
    assert_int_equal(op_operand(w.ir.m, copied_inner, 1), block_arg(w.ir.m, copy_body, 0));
    op_id copied_exp = block_first(w.ir.m, op_block_at(w.ir.m, copied_inner, 0));
    assert_int_equal(op_kind_of(w.ir.m, copied_exp), OP_TENSOR_EXP);
    assert_int_equal(op_operand(w.ir.m, block_last(w.ir.m, copy_body), 0), op_result(w.ir.m, copied_inner, 0));

    size_t bytes = module_bytes(w.ir.m);
    op_erase(w.ir.m, outer);
    op_erase(w.ir.m, copy);
    assert_false(op_is_live(w.ir.m, e) || op_is_live(w.ir.m, copied_exp) || block_is_live(w.ir.m, inner_body));
    assert_int_equal(use_count(w.ir.m, n), 0);
    for (int i = 0; i < 3; i++)
        op_erase(w.ir.m, make_for(&w, body, expr_const(w.ir.c, 0), expr_value(w.ir.c, n), x, w.tensor, 0));
    assert_int_equal(module_bytes(w.ir.m), bytes);
    module_fixture_end(&w.ir);
}

/* Erase, clone, walk and settle do not recurse. */
TEST(deep_nesting_needs_no_stack)
{
    world w = world_make();
    op_id f = make_func(&w, "f");
    block_id b = function_body(w.ir.m, f);
    op_id outermost = 0;
    enum { DEPTH = 200000 };
    for (int i = 0; i < DEPTH; i++) {
        op_id loop = make_for(&w, b, expr_const(w.ir.c, 0), expr_const(w.ir.c, 4), 0, 0, 0);
        if (i == 0) outermost = loop;
        b = op_block_at(w.ir.m, loop, 0);
    }
    value_map *map = value_map_create();
    op_id copy = op_clone(w.ir.m, outermost, (op_place){function_body(w.ir.m, f), 0}, map);
    value_map_destroy(map);
    uint32_t n = 0;
    IR_WALK(w.ir.m, o, copy) n++;
    assert_int_equal(n, DEPTH);
    module_settle(w.ir.m);
    op_erase(w.ir.m, outermost);
    op_erase(w.ir.m, copy);
    assert_int_equal(block_first(w.ir.m, function_body(w.ir.m, f)), 0);
    module_fixture_end(&w.ir);
}

TEST(a_clone_of_a_module_is_its_own)
{
    world w = world_make();
    op_id f = make_func(&w, "f");
    block_id body = function_body(w.ir.m, f);
    value_id x = block_add_arg(w.ir.m, body, w.tensor);
    op_id a = unary(&w, body, x);
    module *copy = module_clone(w.ir.m);
    op_erase(w.ir.m, a);
    block_add_arg(w.ir.m, body, w.tensor);
    assert_true(op_is_live(copy, a));
    assert_int_equal(block_arg_count(copy, body), 1);
    assert_int_equal(op_operand(copy, a, 0), x);
    assert_int_equal(module_find_symbol(copy, string_intern_z(w.ir.c, "f")), f);
    op_erase(copy, f);
    assert_int_equal(module_find_symbol(w.ir.m, string_intern_z(w.ir.c, "f")), f);
    module_destroy(copy);
    module_fixture_end(&w.ir);
}

static void too_many_operands(world *w, uint32_t body)
{
    static value_id operands[70000];
    value_id x = block_arg(w->ir.m, body, 0);
    for (uint32_t i = 0; i < 70000; i++) operands[i] = x;
    (void)make_op(w, (op_place){body, 0}, OP_RETURN, 70000, operands, 0, 0);
}

TEST(sixteen_bits_of_operands_are_the_limit)
{
    world w = world_make();
    block_id body = function_body(w.ir.m, make_func(&w, "f"));
    value_id x = block_add_arg(w.ir.m, body, w.tensor);
    static value_id operands[65535];
    for (uint32_t i = 0; i < 65535; i++) operands[i] = x;
    op_id o = make_op(&w, (op_place){body, 0}, OP_RETURN, 65535, operands, 0, 0);
    assert_int_equal(op_operand_count(w.ir.m, o), 65535);
    op_erase(w.ir.m, o);
    assert_true(is_bug(too_many_operands, &w, body));
    module_fixture_end(&w.ir);
}

TEST(levels_follow_from_what_a_function_holds)
{
    world w = world_make();
    op_id f = make_func(&w, "soft.max");
    block_id body = function_body(w.ir.m, f);
    assert_int_equal(function_level(w.ir.m, f), LEVEL_NONE);
    value_id x = block_add_arg(w.ir.m, body, w.tensor), t = block_add_arg(w.ir.m, body, w.tile);
    assert_int_equal(function_level(w.ir.m, f), LEVEL_NONE);
    make_op(&w, (op_place){body, 0}, OP_VIEW, 1, &x, w.tensor, 0);
    assert_int_equal(function_level(w.ir.m, f), LEVEL_TENSOR);
    make_op(&w, (op_place){body, 0}, OP_TILE_STORE, 2, (value_id[]){t, x}, 0, 0);
    assert_int_equal(function_level(w.ir.m, f), LEVEL_TILE);
    module_fixture_end(&w.ir);
}

static void check_valid(const world *w, value_id tile, expr_id rows, expr_id columns)
{
    expr_id got[2];
    assert_true(tile_valid(w->ir.m, tile, got));
    assert_int_equal(got[0], rows);
    assert_int_equal(got[1], columns);
}

TEST(valid_regions_follow_the_rules)
{
    world w = world_make();
    block_id body = function_body(w.ir.m, make_func(&w, "f"));
    value_id x = block_add_arg(w.ir.m, body, w.tensor), i = block_add_arg(w.ir.m, body, w.index),
             s = block_add_arg(w.ir.m, body, type_scalar(w.ir.c, DTYPE_F32));
    expr_id one = expr_const(w.ir.c, 1), c16 = expr_const(w.ir.c, 16), c32 = expr_const(w.ir.c, 32);
    expr_id rows = expr_min(w.ir.c, c16, expr_sub(w.ir.c, expr_const(w.ir.c, 99), expr_value(w.ir.c, i)));
    attr_id offsets = dict1(&w, "offsets", exprs(&w, 2, (expr_id[]){expr_value(w.ir.c, i), expr_const(w.ir.c, 0)}));
    attr_id sizes = attr_with(w.ir.c, offsets, string_intern_z(w.ir.c, "sizes"), exprs(&w, 2, (expr_id[]){rows, c32}));
    attr_id padded = attr_with(w.ir.c, sizes, string_intern_z(w.ir.c, "pad"), attr_int(w.ir.c, 0));
    op_place end = {body, 0};
#define MAKE(kind, attrs, ...)                                                                                        \
    op_result(w.ir.m,                                                                                                 \
              make_op(&w, end, kind, sizeof((value_id[]){__VA_ARGS__}) / sizeof(value_id), (value_id[]){__VA_ARGS__}, \
                      w.tile, attrs),                                                                                 \
              0)
    value_id load = MAKE(OP_TILE_LOAD, sizes, x);
    check_valid(&w, load, rows, c32);
    check_valid(&w, MAKE(OP_TILE_LOAD, padded, x), c16, c32);
    check_valid(&w, MAKE(OP_TILE_LOAD, offsets, x), c16, c32);
    check_valid(&w, MAKE(OP_TILE_EXP, 0, load), rows, c32);
    check_valid(&w, MAKE(OP_TILE_CAST, 0, load), rows, c32);
    check_valid(&w, MAKE(OP_TILE_MOVE, 0, load), rows, c32);
    check_valid(&w, MAKE(OP_TILE_ADD, 0, load, load), rows, c32);
    check_valid(&w, MAKE(OP_TILE_MULS, 0, load, s), rows, c32);
    check_valid(&w, MAKE(OP_TILE_TRANSPOSE, 0, load), c32, rows);
    check_valid(&w, MAKE(OP_TILE_FILLPAD, dict1(&w, "pad", attr_int(w.ir.c, 0)), load), c16, c32);
    value_id row_sums = MAKE(OP_TILE_ROWSUM, 0, load), column_sums = MAKE(OP_TILE_COLSUM, 0, load);
    check_valid(&w, row_sums, rows, one);
    check_valid(&w, column_sums, one, c32);
    check_valid(&w, MAKE(OP_TILE_ROWEXPAND, 0, row_sums), rows, c32);
    check_valid(&w, MAKE(OP_TILE_COLEXPAND, 0, column_sums), c16, c32);
    check_valid(&w, MAKE(OP_TILE_ROWEXPANDSUB, 0, load, row_sums), rows, c32);
    check_valid(&w, MAKE(OP_TILE_FILL, 0, s), c16, c32);
    attr_id stated = dict1(&w, "valid", exprs(&w, 2, (expr_id[]){one, rows}));
    check_valid(&w, MAKE(OP_TILE_FILL, stated, s), one, rows);
    op_id zero = make_op(&w, end, OP_TILE_ZERO_ACC, 0, NULL, w.tile, stated);
    check_valid(&w, op_result(w.ir.m, zero, 0), one, rows);
    value_id transposed = MAKE(OP_TILE_TRANSPOSE, 0, load);
    check_valid(&w, MAKE(OP_TILE_MATMUL, 0, load, transposed), rows, rows);
    check_valid(&w, MAKE(OP_TILE_MATMUL_ACC, 0, op_result(w.ir.m, zero, 0), load, transposed), one, rows);
    expr_id got[2];
    assert_false(tile_valid(w.ir.m, x, got));
    /* A change is seen. */
    value_id chain = MAKE(OP_TILE_ABS, 0, load);
    check_valid(&w, chain, rows, c32);
    op_set_attrs(w.ir.m, value_op(w.ir.m, load), padded);
    check_valid(&w, chain, c16, c32);
#undef MAKE
    module_fixture_end(&w.ir);
}

TEST(valid_regions_of_carried_and_chosen_tiles)
{
    world w = world_make();
    block_id body = function_body(w.ir.m, make_func(&w, "f"));
    value_id n = block_add_arg(w.ir.m, body, w.index), s = block_add_arg(w.ir.m, body, type_scalar(w.ir.c, DTYPE_F32));
    expr_id zero = expr_const(w.ir.c, 0), two = expr_const(w.ir.c, 2), c16 = expr_const(w.ir.c, 16),
            end = expr_value(w.ir.c, n);
    value_id start = op_result(w.ir.m, make_op(&w, (op_place){body, 0}, OP_TILE_FILL, 1, &s, w.tile, 0), 0);
    attr_id entry = exprs(&w, 2, (expr_id[]){end, two});
    op_id stated = make_for(&w, body, zero, end, start, w.tile, attr_list(w.ir.c, 1, &entry));
    block_id stated_body = op_block_at(w.ir.m, stated, 0);
    check_valid(&w, block_arg(w.ir.m, stated_body, 1), end, two);
    check_valid(&w, op_result(w.ir.m, stated, 0), end, two);
    finish(&w, stated_body, block_arg(w.ir.m, stated_body, 1));
    op_id silent = make_for(&w, body, zero, end, start, w.tile, 0);
    check_valid(&w, block_arg(w.ir.m, op_block_at(w.ir.m, silent, 0), 1), c16, expr_const(w.ir.c, 32));
    finish(&w, op_block_at(w.ir.m, silent, 0), op_result(w.ir.m, stated, 0));

    expr_id sides[] = {end, zero};
    attr_id attrs = attr_with(w.ir.c, dict1(&w, "left", exprs(&w, 1, &sides[0])), string_intern_z(w.ir.c, "right"),
                              exprs(&w, 1, &sides[1]));
    op_id branch = op_create(
        w.ir.m, (op_place){body, 0},
        &(op_spec){.kind = OP_IF, .result_count = 1, .result_types = &w.tile, .attrs = attrs, .block_count = 2});
    expr_id got[2];
    assert_false(tile_valid(w.ir.m, op_result(w.ir.m, branch, 0), got));
    for (uint32_t b = 0; b < 2; b++) finish(&w, op_block_at(w.ir.m, branch, b), op_result(w.ir.m, stated, 0));
    op_id after =
        make_op(&w, (op_place){body, 0}, OP_TILE_EXP, 1, (value_id[]){op_result(w.ir.m, branch, 0)}, w.tile, 0);
    check_valid(&w, op_result(w.ir.m, after, 0), end, two);
    /* A tile that depends on itself has none, and asking ends. */
    op_id a = make_op(&w, (op_place){body, 0}, OP_TILE_EXP, 1, &start, w.tile, 0);
    op_set_operand(w.ir.m, a, 0, op_result(w.ir.m, a, 0));
    assert_false(tile_valid(w.ir.m, op_result(w.ir.m, a, 0), got));
    module_fixture_end(&w.ir);
}

TEST(valid_regions_of_a_long_chain_take_linear_time)
{
    world w = world_make();
    block_id body = function_body(w.ir.m, make_func(&w, "f"));
    value_id s = block_add_arg(w.ir.m, body, type_scalar(w.ir.c, DTYPE_F32));
    value_id t = op_result(w.ir.m, make_op(&w, (op_place){body, 0}, OP_TILE_FILL, 1, &s, w.tile, 0), 0);
    expr_id c16 = expr_const(w.ir.c, 16), c32 = expr_const(w.ir.c, 32);
    for (int i = 0; i < 100000; i++)
        t = op_result(w.ir.m, make_op(&w, (op_place){body, 0}, OP_TILE_EXP, 1, &t, w.tile, 0), 0);
    check_valid(&w, t, c16, c32);
    BLOCK_EACH_OP(w.ir.m, o, body) check_valid(&w, op_result(w.ir.m, o, 0), c16, c32);
    module_fixture_end(&w.ir);
}

TEST(ops_are_small_and_made_fast)
{
    world w = world_make();
    block_id body = function_body(w.ir.m, make_func(&w, "f"));
    value_id x = block_add_arg(w.ir.m, body, w.tensor), last = x;
    const uint32_t count = 1000000;
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (uint32_t i = 0; i < count; i++) {
        op_id o = i % 2 == 0 ? unary(&w, body, last)
                             : make_op(&w, (op_place){body, 0}, OP_TENSOR_ADD, 2, (value_id[]){last, x}, w.tensor, 0);
        last = op_result(w.ir.m, o, 0);
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    double seconds = (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
    print_message("%.2f million ops per second, %.1f bytes per op\n", count / seconds / 1e6,
                  (double)module_bytes(w.ir.m) / count);
    assert_true(module_bytes(w.ir.m) <= 90ull * count);
    module_fixture_end(&w.ir);
}
