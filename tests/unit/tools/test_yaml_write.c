#include "tools/session/yaml_write.h"

#include "tests/unit/diag_text.h"

static status read_text(const diag_text *t, str source, yaml_node **out)
{
    diag_add_source(t->d, "a.yaml", source);
    return yaml_read_text(t->a, t->d, (src_pos){"a.yaml", 1, 1}, source, out);
}

static bool same_tree(const yaml_node *a, const yaml_node *b)
{
    if (a->kind != b->kind || a->quoted != b->quoted || a->count != b->count || !str_eq(a->text, b->text)) return false;
    for (uint32_t i = 0; i < a->count; i++) {
        if (a->kind == YAML_SEQUENCE && !same_tree(a->items[i], b->items[i])) return false;
        if (a->kind != YAML_MAPPING) continue;
        if (!str_eq(a->pairs[i].key, b->pairs[i].key) || !same_tree(a->pairs[i].value, b->pairs[i].value)) return false;
    }
    return true;
}

TEST(yaml_scalar_that_would_open_an_entry_is_quoted)
{
    diag_text t;
    diag_text_begin(&t);
    yaml_node *root, *again;
    assert_int_equal(read_text(&t, STR("a: {b: -, c: -x}\n"), &root), OK);
    text_buffer out;
    text_init(&out);
    yaml_write(&out, root, 0, false);
    assert_non_null(strstr(out.p, "b: \"-\"\n"));
    assert_int_equal(yaml_read_text(t.a, t.d, (src_pos){"b.yaml", 1, 1}, (str){out.p, out.n}, &again), OK);
    assert_true(str_is(yaml_find(yaml_find(again, "a"), "b")->text, "-"));
    assert_true(str_is(yaml_find(yaml_find(again, "a"), "c")->text, "-x"));
    text_fini(&out);
    diag_text_end(&t, "");
}

TEST(yaml_tree_is_written_so_that_it_reads_back)
{
    diag_text t;
    diag_text_begin(&t);
    yaml_node *root, *again;
    assert_int_equal(read_text(&t,
                               STR("a: {x: 1, y: \"q: #\\n\", z: {}}\n\"odd key:\": plain words, here\n"
                                   "e: []\nl: [1, 'two', $params.x]\nm:\n- {k: v, n: [a: 1]}\n- - 1\n  - {}\n"),
                               &root),
                     OK);
    text_buffer out;
    text_init(&out);
    yaml_write(&out, root, 0, true);
    diag_add_source(t.d, "b.yaml", (str){out.p, out.n});
    assert_int_equal(yaml_read_text(t.a, t.d, (src_pos){"b.yaml", 1, 1}, (str){out.p, out.n}, &again), OK);
    assert_true(same_tree(root, again));
    assert_non_null(strstr(out.p, "  x: 1  # a.yaml:1\n"));
    text_fini(&out);
    diag_text_end(&t, "");
}
