#include "core/files/yaml_tree.h"

#include "tests/unit/diag_text.h"

static status read_text(diag_text *t, str source, yaml_node **out)
{
    diag_add_source(t->d, "a.yaml", source);
    return yaml_read_text(t->a, t->d, (src_pos){"a.yaml", 1, 1}, source, out);
}

static void refuse(str source, const char *want)
{
    diag_text t;
    diag_text_begin(&t);
    yaml_node *root = NULL;
    assert_int_equal(read_text(&t, source, &root), FAILED);
    assert_null(root);
    diag_text_end(&t, want);
}

static void expect_place(src_pos at, uint32_t line, uint32_t column)
{
    assert_int_equal(at.line, line);
    assert_int_equal(at.column, column);
}

TEST(yaml_tree_keeps_places_kinds_and_quotes)
{
    diag_text t;
    diag_text_begin(&t);
    yaml_node *root = NULL;
    assert_int_equal(
        read_text(&t, STR("name: gr\xC3\xBC\xC3\x9F\nlist: [1, \"2\"]\nmap:\n  \xC3\xBC\xC3\xBC: {k: v}\n"), &root),
        OK);
    assert_int_equal(root->kind, YAML_MAPPING);
    assert_int_equal(root->count, 3);
    assert_string_equal(yaml_find(root, "name")->text.p, "gr\xC3\xBC\xC3\x9F");
    const yaml_node *list = yaml_find(root, "list");
    assert_int_equal(list->count, 2);
    assert_false(list->items[0]->quoted);
    assert_true(list->items[1]->quoted);
    expect_place(root->pairs[1].key_at, 2, 1);
    expect_place(list->at, 2, 7);
    expect_place(list->items[1]->at, 2, 11);
    const yaml_node *map = yaml_find(root, "map");
    expect_place(map->pairs[0].key_at, 4, 3);
    /* Two characters of two bytes: columns count bytes. */
    expect_place(map->pairs[0].value->at, 4, 9);
    expect_place(yaml_find(map->pairs[0].value, "k")->at, 4, 13);
    assert_null(yaml_find(root, "nothing"));
    assert_null(yaml_find(list, "name"));
    diag_text_end(&t, "");
}

TEST(yaml_tree_starts_where_the_caller_says)
{
    diag_text t;
    diag_text_begin(&t);
    yaml_node *root = NULL;
    assert_int_equal(yaml_read_text(t.a, t.d, (src_pos){"<command line>", 1, 30}, STR("[a, b]"), &root), OK);
    expect_place(root->items[1]->at, 1, 34);
    diag_text_end(&t, "");
}

TEST(yaml_tree_refuses_each_forbidden_thing_with_its_own_message)
{
    refuse(STR("a: &x 1\n"),
           "a.yaml:1:4: error: [E1007] anchors are not allowed: `&x`; write the value where it is needed\n"
           "a: &x 1\n   ^\n");
    refuse(STR("a: *x\n"),
           "a.yaml:1:4: error: [E1008] aliases are not allowed: `*x`; write the value out, or use `$params.`\n"
           "a: *x\n   ^\n");
    refuse(STR("a: !!int 1\n"),
           "a.yaml:1:4: error: [E1009] tags are not allowed: `tag:yaml.org,2002:int`; types come from the schema\n"
           "a: !!int 1\n   ^\n");
    refuse(STR("%YAML 1.1\n---\na: 1\n"),
           "a.yaml:1:1: error: [E1010] directives (`%YAML`, `%TAG`) are not allowed; remove the line\n"
           "%YAML 1.1\n^\n");
    refuse(STR("a: 1\n---\nb: 2\n"),
           "a.yaml:2:1: error: [E1011] a second document begins here; one file holds one document\n"
           "---\n^\n");
    refuse(STR("a:\n  <<: {b: 1}\n"),
           "a.yaml:2:3: error: [E1012] merge keys are not allowed; use `extends:` and `edit:`, or write the keys out\n"
           "  <<: {b: 1}\n  ^\n");
    refuse(STR("a: 1\nb: 2\na: 3\n"), "a.yaml:3:1: error: [E1013] `a` occurs twice in this mapping; keep one\na: 3\n^\n"
                                      "a.yaml:1:1: note: the first one\na: 1\n^\n");
    refuse(STR("? [a, b]\n: 1\n"),
           "a.yaml:1:3: error: [E1014] a sequence cannot be a key; keys are plain names\n? [a, b]\n  ^\n");
    refuse(STR("a: ~\n"),
           "a.yaml:1:4: error: [E1015] `~` is not a value here; leave the key out, or quote it to mean the text\n"
           "a: ~\n   ^\n");
    refuse(STR("a:\nb: 1\n"), "a.yaml:1:1: error: [E1015] `a` has no value; write one, or leave the key out\na:\n^\n");
}

TEST(yaml_tree_refuses_bytes_that_hide_something)
{
    refuse(STR("a: 1\nb:\t2\n"),
           "a.yaml:2:3: error: [E1003] tabs are not allowed here; use spaces, or \\t in double quotes\n"
           "b:    2\n  ^\n");
    refuse(STR("\xEF\xBB\xBF"
               "a: 1\n"),
           "a.yaml:1:1: error: [E1004] byte order marks are not allowed; save the file as UTF-8 without one\n"
           "<U+FEFF>a: 1\n^\n");
    refuse(STR("a: x\xE2\x80\xAEy\n"), "a.yaml:1:5: error: [E1005] control character U+202E is not allowed; remove it\n"
                                       "a: x<U+202E>y\n    ^\n");
    refuse(STR("a: \"\\e\"\n"),
           "a.yaml:1:4: error: [E1005] this scalar holds the control character U+001B; remove the escape\n"
           "a: \"\\e\"\n   ^\n");
    refuse(STR("a: \xC3(\n"), "a.yaml:1:4: error: [E1002] byte 0xc3 is not valid UTF-8 text; save the file as UTF-8\n"
                              "a: \\xc3(\n   ^\n");
    refuse((str){"a: \0\n", 5}, "a.yaml:1:4: error: [E1002] byte 0x00 is not valid UTF-8 text; save the file as UTF-8\n"
                                "a: \\x00\n   ^\n");
    refuse(STR("a: 1\rb: 2\n"), "a.yaml:1:5: error: [E1005] control character U+000D is not allowed; remove it\n"
                                "a: 1\\x0db: 2\n    ^\n");
}

TEST(yaml_tree_reports_syntax_where_it_is)
{
    refuse(STR("a: [1, 2\nb: 3\n"),
           "a.yaml:2:2: error: [E1006] while parsing a flow sequence did not find expected ',' or ']'\n"
           "b: 3\n ^\n");
    refuse(STR(""), "a.yaml:1:1: error: [E1019] the file has no content\n\n^\n");
    refuse(STR("# only a comment\n"), "a.yaml:1:1: error: [E1019] the file has no content\n# only a comment\n^\n");
}

static void refuse_with(const char *bytes, size_t n, const char *code)
{
    diag_text t;
    diag_text_begin(&t);
    yaml_node *root = NULL;
    assert_int_equal(read_text(&t, (str){bytes, n}, &root), FAILED);
    assert_int_equal(diag_record_count(t.d), 1);
    assert_string_equal(diag_record_at(t.d, 0)->code, code);
    diag_text_end(&t, NULL);
}

static void fill(char *bytes, size_t n, const char *pattern)
{
    size_t len = strlen(pattern);
    for (size_t i = 0; i < n; i++) bytes[i] = pattern[i % len];
}

TEST(yaml_tree_keeps_its_limits)
{
    size_t n = 256 * 1024 + 1;
    char *bytes = malloc(n);
    fill(bytes, n, "# comment\n");
    refuse_with(bytes, n, "E1001");
    fill(bytes, 200000, "[");
    refuse_with(bytes, 200000, "E1016");
    fill(bytes, 100000, "- a\n");
    refuse_with(bytes, 100000, "E1017");
    fill(bytes, 70000, "x");
    refuse_with(bytes, 70000, "E1018");
    fill(bytes, 200, "k");
    fill(bytes + 200, 4, ": 1\n");
    refuse_with(bytes, 204, "E1018");
    /* 32 levels are still legal. */
    diag_text t;
    diag_text_begin(&t);
    yaml_node *root;
    fill(bytes, 32, "[");
    fill(bytes + 32, 32, "]");
    assert_int_equal(read_text(&t, (str){bytes, 64}, &root), OK);
    diag_text_end(&t, "");
    free(bytes);
}

TEST(yaml_tree_reads_a_long_line_of_many_values_in_time)
{
    size_t n = 250 * 1024;
    char *bytes = malloc(n);
    fill(bytes, n, "\xC3\xBC\xC3\xBC\xC3\xBC\xC3\xBC\xC3\xBC\xC3\xBC, ");
    bytes[0] = '[';
    bytes[1] = 'x';
    bytes[n - 1] = ']';
    bytes[n - 2] = 'y';
    bytes[n - 3] = ',';
    bytes[n - 4] = 'z';
    for (size_t i = n - 40; i < n - 4; i++) bytes[i] = 'z';
    diag_text t;
    diag_text_begin(&t);
    yaml_node *root;
    assert_int_equal(read_text(&t, (str){bytes, n}, &root), OK);
    assert_true(root->count > 18000);
    diag_text_end(&t, "");
    free(bytes);
}

TEST(yaml_tree_reads_files_and_says_why_not)
{
    diag_text t;
    diag_text_begin(&t);
    yaml_node *root;
    assert_int_equal(yaml_read_file(t.a, t.d, "/nonexistent/x.yaml", &root), FAILED);
    assert_int_equal(yaml_read_file(t.a, t.d, "/", &root), FAILED);
    diag_text_end(&t, "error: [E1501] cannot open `/nonexistent/x.yaml`: No such file or directory\n"
                      "error: [E1501] cannot read `/`: Is a directory\n");
}
