#include "ir/context/role_names.h"

#include "tests/unit/diag_text.h"

#include <stdio.h>

static const src_pos here = {"m.ptir", 1, 8};

TEST(names_of_ir_ops_have_their_roles)
{
    diag_text t;
    diag_text_begin(&t);
    role_names *n = role_names_create(t.a);
    const uint32_t acc = role_names_find(n, NAME_SPACE, STR("acc"));
    assert_string_equal(role_names_text(n, NAME_SPACE, acc), "acc");
    assert_int_equal(role_names_role(n, NAME_SPACE, acc), SPACE_ROLE_ACCUMULATOR);
    assert_int_equal(role_names_role(n, NAME_PIPE, role_names_find(n, NAME_PIPE, STR("mte2"))), UNIT_LOAD);
    const uint32_t zn = role_names_find(n, NAME_LAYOUT, STR("zn"));
    const layout_order order = (layout_order)role_names_role(n, NAME_LAYOUT, zn);
    assert_true(order_has_boxes(order) && !order_boxes_down(order) && order_elements_down(order));
    assert_false(order_has_boxes(ORDER_COLUMN));
    assert_true(order_elements_down(ORDER_COLUMN));
    assert_int_equal(role_names_find(n, NAME_SPACE, STR("mte2")), 0);
    assert_int_equal(role_names_find(n, NAME_SPACE, STR("")), 0);
    for (name_kind k = NAME_NONE + 1; k < NAME_KIND_COUNT; k++) {
        for (uint32_t i = 1; i < role_names_count(n, k); i++) {
            assert_true(role_names_is_standard(k, i));
            assert_int_equal(role_names_find(n, k, str_from(role_names_text(n, k, i))), i);
            const char *word = name_role_words(k)[role_names_role(n, k, i) - 1];
            assert_int_equal(name_role_by_word(k, str_from(word)), role_names_role(n, k, i));
        }
        assert_int_equal(name_kind_by_attribute(str_from(name_kind_attribute(k))), k);
    }
    diag_text_end(&t, "");
}

TEST(a_name_keeps_its_id_and_its_role)
{
    diag_text t;
    diag_text_begin(&t);
    role_names *n = role_names_create(t.a);
    const uint32_t count = role_names_count(n, NAME_SPACE);
    assert_int_equal(role_names_add(n, t.d, here, NAME_SPACE, STR("smem"), SPACE_ROLE_SCRATCHPAD), count);
    assert_int_equal(role_names_add(n, t.d, here, NAME_SPACE, STR("smem"), SPACE_ROLE_SCRATCHPAD), count);
    const uint32_t pipes = role_names_count(n, NAME_PIPE);
    assert_int_equal(role_names_add(n, t.d, here, NAME_PIPE, STR("smem"), UNIT_LOAD), pipes);
    assert_false(role_names_is_standard(NAME_SPACE, count));
    assert_int_equal(role_names_add(n, t.d, here, NAME_SPACE, STR("smem"), SPACE_ROLE_PANEL), 0);
    assert_int_equal(role_names_add(n, t.d, here, NAME_SPACE, STR("vec"), SPACE_ROLE_PANEL), 0);
    diag_text_end(&t, "m.ptir:1:8: error: [E0229] the memory space `smem` has the role `scratchpad`; `panel` is not "
                      "possible beside it\n"
                      "m.ptir:1:8: note: its role is declared here\n"
                      "m.ptir:1:8: error: [E0229] the memory space `vec` has the role `scratchpad`; `panel` is not "
                      "possible beside it\n"
                      "m.ptir:1:8: note: `vec` is a standard name\n");
}

TEST(what_cannot_be_a_name_is_refused)
{
    static const char *const wrong[] = {"", "2nd", "a.b", "a-b", "all", "a name longer than it may be, that is"};
    diag_text t;
    diag_text_begin(&t);
    role_names *n = role_names_create(t.a);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_int_equal(role_names_add(n, t.d, here, NAME_PIPE, str_from(wrong[i]), UNIT_LOAD), 0);
    assert_int_equal(diag_error_count(t.d), sizeof wrong / sizeof wrong[0]);
    assert_int_not_equal(role_names_add(n, t.d, here, NAME_SPACE, STR("all"), SPACE_ROLE_PANEL), 0);
    diag_text_end(&t, NULL);
}

TEST(a_kind_has_at_most_31_names)
{
    diag_text t;
    diag_text_begin(&t);
    role_names *n = role_names_create(t.a), *other = role_names_create(t.a);
    char name[8];
    while (role_names_count(n, NAME_LAYOUT) <= NAME_MAX_ID) {
        snprintf(name, sizeof name, "l%u", role_names_count(n, NAME_LAYOUT));
        assert_int_not_equal(role_names_add(n, t.d, here, NAME_LAYOUT, str_from(name), ORDER_ROW), 0);
    }
    assert_int_equal(role_names_add_all(other, t.d, n), OK);
    assert_int_equal(role_names_find(other, NAME_LAYOUT, str_from(name)), NAME_MAX_ID);
    assert_int_equal(role_names_add(n, t.d, here, NAME_LAYOUT, STR("more"), ORDER_ROW), 0);
    diag_text_end(&t, "m.ptir:1:8: error: [E0231] `more` would be the layout number 32; 6 standard names and 25 others "
                      "are possible\n");
}
