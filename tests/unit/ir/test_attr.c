#include "ir/context/context.h"

#include "tests/unit/unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

TEST(attr_equal_content_is_equal_id)
{
    ir_context *c = context_create(NULL);
    str_id s = string_intern_z(c, "any");
    attr_id one = attr_int(c, 1);
    assert_int_equal(attr_int(c, 1), one);
    assert_int_not_equal(attr_bool(c, true), one);
    assert_int_not_equal(attr_float(c, 1.0), one);
    assert_int_not_equal(attr_string(c, s), attr_symbol(c, s));
    assert_int_not_equal(attr_string(c, s), attr_resource(c, s));
    assert_int_not_equal(attr_type(c, type_scalar(c, DTYPE_F32)), attr_expr(c, expr_const(c, 1)));
    assert_true(attr_at(c, attr_int(c, INT64_MIN))->i == INT64_MIN);
    assert_int_equal(attr_at(c, 0)->kind, ATTR_NONE);
    context_destroy(c);
}

TEST(attr_floats_differ_by_bits)
{
    ir_context *c = context_create(NULL);
    assert_int_not_equal(attr_float(c, 0.0), attr_float(c, -0.0));
    assert_int_equal(attr_float(c, (double)NAN), attr_float(c, (double)NAN));
    assert_int_not_equal(attr_float(c, (double)NAN), attr_float(c, (double)-NAN));
    double v = attr_at(c, attr_float(c, 0.1))->f;
    assert_true(v >= 0.1 && v <= 0.1);
    context_destroy(c);
}

TEST(attr_lists_and_dense_are_copied)
{
    ir_context *c = context_create(NULL);
    attr_id items[] = {attr_int(c, 1), attr_int(c, 2)};
    attr_id list = attr_list(c, 2, items);
    assert_int_equal(attr_list(c, 2, (attr_id[]){items[0], items[1]}), list);
    assert_int_not_equal(attr_list(c, 2, (attr_id[]){items[1], items[0]}), list);
    assert_int_not_equal(attr_list(c, 1, items), list);
    attr_id first = items[0];
    items[0] = 0;
    assert_int_equal(attr_at(c, list)->items[0], first);
    assert_int_not_equal(attr_list(c, 0, NULL), 0);
    assert_int_equal(attr_list(c, 0, items), attr_list(c, 0, NULL));

    float v[] = {1.0F, 2.0F};
    type_id t = type_tensor(c, DTYPE_F32, 1, (expr_id[]){expr_const(c, 2)});
    attr_id dense = attr_dense(c, t, sizeof v, v);
    assert_int_equal(attr_dense(c, t, sizeof v, v), dense);
    assert_int_not_equal(attr_dense(c, type_scalar(c, DTYPE_F32), sizeof v, v), dense);
    v[1] = 3.0F;
    assert_int_not_equal(attr_dense(c, t, sizeof v, v), dense);
    assert_int_equal(attr_at(c, dense)->byte_count, 8);
    assert_int_equal(attr_at(c, dense)->type, t);
    context_destroy(c);
}

TEST(attr_dict_is_sorted_by_spelling)
{
    ir_context *c = context_create(NULL);
    str_id z = string_intern_z(c, "z"), ab = string_intern_z(c, "ab"), a = string_intern_z(c, "a");
    attr_id one = attr_int(c, 1), two = attr_int(c, 2), three = attr_int(c, 3);
    attr_id dict = attr_dict(c, 3, (str_id[]){z, ab, a}, (attr_id[]){one, two, three});
    assert_int_equal(attr_dict(c, 3, (str_id[]){a, ab, z}, (attr_id[]){three, two, one}), dict);
    assert_int_equal(attr_dict(c, 3, (str_id[]){ab, z, a}, (attr_id[]){two, one, three}), dict);
    const attr_node *n = attr_at(c, dict);
    assert_int_equal(n->count, 3);
    assert_int_equal(n->keys[0], a);
    assert_int_equal(n->keys[1], ab);
    assert_int_equal(n->keys[2], z);
    assert_int_equal(n->items[2], one);
    assert_int_equal(attr_get(c, dict, ab), two);
    assert_int_equal(attr_get(c, dict, string_intern_z(c, "b")), 0);
    assert_int_equal(attr_get(c, 0, a), 0);
    context_destroy(c);
}

TEST(attr_with_sets_replaces_and_removes)
{
    ir_context *c = context_create(NULL);
    str_id a = string_intern_z(c, "a"), b = string_intern_z(c, "b"), d = string_intern_z(c, "d");
    attr_id one = attr_int(c, 1), two = attr_int(c, 2);
    attr_id db = attr_with(c, attr_with(c, 0, d, one), b, two);
    assert_int_equal(db, attr_dict(c, 2, (str_id[]){b, d}, (attr_id[]){two, one}));
    assert_int_equal(attr_with(c, db, d, one), db);
    assert_int_equal(attr_with(c, attr_with(c, db, d, two), d, one), db);
    attr_id dba = attr_with(c, db, a, one);
    assert_int_equal(attr_at(c, dba)->keys[0], a);
    assert_int_equal(attr_with(c, dba, a, 0), db);
    assert_int_equal(attr_with(c, db, a, 0), db);
    assert_int_equal(attr_with(c, attr_with(c, db, d, 0), b, 0), 0);
    assert_int_equal(attr_dict(c, 0, NULL, NULL), 0);
    attr_id empty = attr_dict_empty(c);
    assert_int_not_equal(empty, 0);
    assert_int_equal(attr_get(c, empty, a), 0);
    assert_int_equal(attr_with(c, empty, d, one), attr_with(c, 0, d, one));
    context_destroy(c);
}

TEST(attr_nodes_know_what_is_in_them)
{
    ir_context *c = context_create(NULL);
    const str_id key = string_intern_z(c, "k");
    attr_id number = attr_int(c, 1), slot = attr_expr(c, expr_slot(c, 0)), value = attr_expr(c, expr_value(c, 7)),
            symbol = attr_expr(c, expr_symbol(c, key)), type = attr_type(c, type_scalar(c, DTYPE_F32));
    const struct {
        attr_id a;
        bool has_slot, has_symbol;
    } cases[] = {
        {number, false, false}, {slot, true, false}, {value, true, false}, {symbol, false, true}, {type, false, true}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const attr_id list = attr_list(c, 2, (attr_id[]){number, cases[i].a}), dict = attr_with(c, 0, key, list);
        const attr_id all[] = {cases[i].a, list, dict};
        for (uint32_t depth = 0; depth < 3; depth++) {
            const attr_node *n = attr_at(c, all[depth]);
            assert_int_equal(n->has_slot, cases[i].has_slot);
            assert_int_equal(n->has_symbol, cases[i].has_symbol);
            assert_int_equal(n->nesting, depth);
        }
    }
    attr_id deep = number;
    for (uint32_t i = 0; i < 300; i++) deep = attr_list(c, 1, &deep);
    assert_int_equal(attr_at(c, deep)->nesting, 255);
    context_destroy(c);
}

TEST(attr_dict_of_many_keys)
{
    enum { COUNT = 1000 };
    ir_context *c = context_create(NULL);
    str_id keys[COUNT];
    attr_id values[COUNT], grown = 0;
    for (int i = 0; i < COUNT; i++) {
        char text[16];
        snprintf(text, sizeof text, "key%d", (i * 7919) % COUNT);
        keys[i] = string_intern_z(c, text);
        values[i] = attr_int(c, i);
        grown = attr_with(c, grown, keys[i], values[i]);
    }
    attr_id dict = attr_dict(c, COUNT, keys, values);
    assert_int_equal(dict, grown);
    const attr_node *n = attr_at(c, dict);
    for (uint32_t i = 1; i < COUNT; i++)
        assert_true(strcmp(string_of(c, n->keys[i - 1]).p, string_of(c, n->keys[i]).p) < 0);
    for (int i = 0; i < COUNT; i++) assert_int_equal(attr_get(c, dict, keys[i]), values[i]);
    context_destroy(c);
}
