#include "core/files/option.h"
#include "core/files/schema.h"

#include "tests/unit/diag_text.h"

static const char *const colours[] = {"red", "green", NULL};
static const schema_key inner_keys[] = {{.name = "x", .type = VALUE_I64, .is_required = true, .doc = "an x"},
                                        {.name = NULL}};
static const schema_key inner = {.name = "an inner", .kind = SCHEMA_MAPPING, .keys = inner_keys, .may_be_scalar = true};
static const schema_key keys[] = {
    {.name = "pto-test", .type = VALUE_I64, .is_required = true, .doc = "version"},
    {.name = "count", .type = VALUE_I64, .def = "7", .min = "1", .max = "10", .doc = "how many"},
    {.name = "size", .type = VALUE_BYTES, .max = "1MiB", .doc = "how large"},
    {.name = "rate", .type = VALUE_F64, .min = "0.5", .doc = "how fast"},
    {.name = "on", .type = VALUE_BOOL, .doc = "whether"},
    {.name = "colour", .type = VALUE_ENUM, .choices = colours, .doc = "which"},
    {.name = "text", .type = VALUE_STR, .doc = "words"},
    {.name = "list", .type = VALUE_LIST, .max = "99", .doc = "numbers"},
    {.name = "either", .type = VALUE_STR, .group = 1, .doc = "one of two"},
    {.name = "or", .type = VALUE_STR, .group = 1, .doc = "one of two"},
    {.name = "inners", .kind = SCHEMA_SEQUENCE, .element = &inner, .doc = "parts"},
    {.name = NULL}};
static const schema_file file = {
    .kind = "test", .version_key = "pto-test", .version = 1, .keys = keys, .doc = "a test"};

static status check(diag_text *t, const char *body, yaml_node **out_root)
{
    text_buffer b;
    text_init(&b);
    text_printf(&b, "pto-test: 1\n%s", body);
    str text = {arena_strndup(t->a, b.p, b.n), b.n};
    text_fini(&b);
    diag_add_source(t->d, "t.yaml", text);
    assert_int_equal(yaml_read_text(t->a, t->d, (src_pos){"t.yaml", 1, 1}, text, out_root), OK);
    return schema_check(t->a, t->d, &file, *out_root);
}

static void refuse(const char *body, const char *want)
{
    diag_text t;
    diag_text_begin(&t);
    yaml_node *root;
    assert_int_equal(check(&t, body, &root), FAILED);
    diag_text_end(&t, want);
}

TEST(schema_reads_values_and_defaults)
{
    diag_text t;
    diag_text_begin(&t);
    yaml_node *root;
    assert_int_equal(check(&t,
                           "size: 64KiB\nrate: 2\non: true\ncolour: green\ntext: 12\nlist: [1, -2, 0x10]\neither: a\n"
                           "inners: [short, {x: 3}]\n",
                           &root),
                     OK);
    assert_int_equal(schema_i64(t.a, t.d, keys, root, "count"), 7);
    assert_int_equal(schema_i64(t.a, t.d, keys, root, "size"), 65536);
    assert_true(schema_f64(t.a, t.d, keys, root, "rate") == 2.0);
    assert_int_equal(schema_i64(t.a, t.d, keys, root, "on"), 1);
    assert_int_equal(schema_i64(t.a, t.d, keys, root, "colour"), 1);
    assert_string_equal(schema_str(t.a, t.d, keys, root, "text"), "12");
    assert_null(schema_str(t.a, t.d, keys, root, "or"));
    value v;
    assert_true(schema_value(t.a, t.d, keys, root, "list", &v));
    assert_int_equal(v.count, 3);
    assert_int_equal(v.items[1], -2);
    assert_int_equal(v.items[2], 16);
    assert_true(v.is_given);
    assert_true(schema_value(t.a, t.d, keys, root, "count", &v));
    assert_false(v.is_given);
    diag_text_end(&t, "");
}

TEST(schema_reports_each_mistake_with_place_and_limit)
{
    refuse("either: a\ncolor: red\n",
           "t.yaml:3:1: error: [E1030] unknown key `color`; did you mean `colour`?\ncolor: red\n^\n"
           "t.yaml:3:1: note: legal: `pto-test`, `count`, `size`, `rate`, `on`, `colour`, `text`, `list`, `either`, "
           "`or`, `inners`\n");
    refuse("either: a\ncount: 11\n",
           "t.yaml:3:8: error: [E1033] `count` is 11; the maximum is 10\ncount: 11\n       ^\n");
    refuse("either: a\ncount: \"5\"\n",
           "t.yaml:3:8: error: [E1032] `count` must be an integer; quoted, \"5\" is text\ncount: \"5\"\n       ^\n");
    refuse("either: a\ncount: 010\n",
           "t.yaml:3:8: error: [E1032] `count` must be an integer, not `010`\ncount: 010\n       ^\n");
    refuse("either: a\nsize: 2MiB\n",
           "t.yaml:3:7: error: [E1033] `size` is 2MiB; the maximum is 1MiB\nsize: 2MiB\n      ^\n");
    refuse("either: a\nrate: 0.25\n",
           "t.yaml:3:7: error: [E1033] `rate` is 0.25; the minimum is 0.5\nrate: 0.25\n      ^\n");
    refuse("either: a\non: yes\n",
           "t.yaml:3:5: error: [E1032] `on` must be a boolean: true or false, not `yes`\non: yes\n    ^\n");
    refuse("either: a\ncolour: gren\n",
           "t.yaml:3:9: error: [E1034] `colour` cannot be `gren`; did you mean `green`?\ncolour: gren\n        ^\n"
           "t.yaml:3:9: note: choices: `red`, `green`\n");
    refuse("either: a\nlist: [1, 100]\n",
           "t.yaml:3:11: error: [E1033] `list` is 100; the maximum is 99\nlist: [1, 100]\n          ^\n");
    refuse("either: a\nlist: 1\n",
           "t.yaml:3:7: error: [E1032] `list` must be a list of integers, as [1, 2], not `1`\nlist: 1\n      ^\n");
    refuse("either: a\ntext: {}\n",
           "t.yaml:3:7: error: [E1032] `text` must be text, not a mapping\ntext: {}\n      ^\n");
    refuse("either: a\ninners: [{y: 1}]\n",
           "t.yaml:3:11: error: [E1030] unknown key `y`\ninners: [{y: 1}]\n          ^\n"
           "t.yaml:3:11: note: legal: `x`\n"
           "t.yaml:3:10: error: [E1031] the key `x` is missing here: an x\ninners: [{y: 1}]\n         ^\n");
    refuse("either: a\nor: b\n",
           "t.yaml:3:1: error: [E1036] `either` and `or` exclude each other; write two entries\nor: b\n^\n");
    refuse("count: 1\n", "t.yaml:1:1: error: [E1031] one of the keys `either`, `or` is missing here\npto-test: 1\n^\n");
}

TEST(values_are_read_from_text_by_their_type)
{
    static const struct {
        value_kind type;
        const char *text;
        int64_t i;
        double f;
        const char *s;
    } cases[] = {
        {VALUE_BOOL, "true", 1, 0, ""},  {VALUE_I64, "-5", -5, 0, ""},         {VALUE_F64, "0.1", 0, 0.1, ""},
        {VALUE_F64, "3", 0, 3, ""},      {VALUE_BYTES, "65536", 65536, 0, ""}, {VALUE_BYTES, "64KiB", 65536, 0, ""},
        {VALUE_STR, "a b", 0, 0, "a b"}, {VALUE_ENUM, "red", 0, 0, "red"},     {VALUE_PLUGIN, "pto.x", 0, 0, "pto.x"}};
    diag_text t;
    diag_text_begin(&t);
    value v;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const value_rule rule = {cases[i].type, NULL, NULL, colours, "it"};
        assert_int_equal(value_from_text(t.a, t.d, NO_POS, cases[i].text, &rule, &v), OK);
        assert_int_equal(v.type, cases[i].type);
        if (v.type == VALUE_F64)
            assert_true(v.f == cases[i].f);
        else if (v.type == VALUE_BOOL || v.type == VALUE_I64 || v.type == VALUE_BYTES)
            assert_int_equal(v.i, cases[i].i);
        else
            assert_true(str_is(v.s, cases[i].s));
    }
    const value_rule list = {VALUE_LIST, NULL, NULL, NULL, "it"};
    assert_int_equal(value_from_text(t.a, t.d, NO_POS, "[1, 2]", &list, &v), OK);
    assert_int_equal(v.count, 2);
    assert_int_equal(v.items[1], 2);
    diag_text_end(&t, "");
}

static const char *const tiling_kind[] = {"tiling", NULL};
static const pto_option opt_ops = {sizeof opt_ops, PTO_OPT_I64, "max-ops", "most ops", "ops",
                                   NULL,           "64",        "1",       "100",      NULL};
static const pto_option opt_strategy = {sizeof opt_ops, PTO_OPT_PLUGIN, "strategy", "what picks", NULL,
                                        NULL,           NULL,           NULL,       NULL,         tiling_kind};
static const pto_option *const options[] = {&opt_ops, &opt_strategy, NULL};

static status read_options(diag_text *t, const char *text, value **out)
{
    yaml_node *with;
    diag_add_source(t->d, "o.yaml", str_from(text));
    assert_int_equal(yaml_read_text(t->a, t->d, (src_pos){"o.yaml", 1, 1}, str_from(text), &with), OK);
    return options_read(t->a, t->d, "pass `pto.tile`", options, with, (src_pos){"p.yaml", 5, 3}, out);
}

TEST(schema_options_become_typed_values)
{
    diag_text t;
    diag_text_begin(&t);
    value *v;
    assert_int_equal(options_check(t.a, t.d, NO_POS, "plugin `pto.tile`", options), OK);
    assert_int_equal(read_options(&t, "strategy: {use: pto.heuristic, with: {a: 1}}", &v), OK);
    assert_int_equal(v[0].i, 64);
    assert_false(v[0].is_given);
    assert_true(str_is(v[1].s, "pto.heuristic"));
    assert_non_null(yaml_find(v[1].with, "a"));
    assert_int_equal(read_options(&t, "strategy: pto.manual\nmax-ops: 3", &v), OK);
    assert_int_equal(v[0].i, 3);
    assert_null(v[1].with);
    diag_text_end(&t, "");
}

TEST(schema_options_report_unknown_missing_and_out_of_range)
{
    diag_text t;
    diag_text_begin(&t);
    value *v;
    assert_int_equal(read_options(&t, "max-op: 3", &v), FAILED);
    assert_int_equal(read_options(&t, "{strategy: {use: x, wth: 1}, max-ops: 1000}", &v), FAILED);
    diag_text_end(&t,
                  "o.yaml:1:1: error: [E1110] unknown option of pass `pto.tile`: `max-op`; did you mean "
                  "`max-ops`?\nmax-op: 3\n^\n"
                  "o.yaml:1:1: note: legal: `max-ops`, `strategy`\n"
                  "p.yaml:5:3: error: [E1111] pass `pto.tile` needs the option `strategy`: what picks\n"
                  "o.yaml:1:39: error: [E1033] option `max-ops` of pass `pto.tile` is 1000; the maximum is 100\n"
                  "{strategy: {use: x, wth: 1}, max-ops: 1000}\n                                      ^\n"
                  "o.yaml:1:21: error: [E1030] unknown key `wth` in a plugin reference; legal are `use` and `with`\n"
                  "{strategy: {use: x, wth: 1}, max-ops: 1000}\n                    ^\n");
}

TEST(schema_options_of_a_careless_plugin_are_refused)
{
    static const pto_option bad_default = {sizeof opt_ops, PTO_OPT_I64, "a", "doc", NULL, NULL, "x", NULL, NULL, NULL};
    static const pto_option bad_limit = {sizeof opt_ops, PTO_OPT_BOOL, "b", "doc", NULL, NULL, NULL, "0", NULL, NULL};
    static const pto_option no_choices = {sizeof opt_ops, PTO_OPT_ENUM, "c", "doc", NULL, NULL, NULL, NULL, NULL, NULL};
    static const pto_option bad_type = {sizeof opt_ops, 99, "d", "doc", NULL, NULL, NULL, NULL, NULL, NULL};
    static const pto_option outside = {sizeof opt_ops, PTO_OPT_I64, "e", "doc", NULL, NULL, "5", "6", NULL, NULL};
    static const pto_option no_doc = {sizeof opt_ops, PTO_OPT_I64, "f", NULL, NULL, NULL, NULL, NULL, NULL, NULL};
    static const pto_option *const bad[] = {&bad_default, &bad_limit, &no_choices, &bad_type,
                                            &outside,     &no_doc,    &no_doc,     NULL};
    diag_text t;
    diag_text_begin(&t);
    assert_int_equal(options_check(t.a, t.d, NO_POS, "plugin `x`", bad), FAILED);
    diag_text_end(&t, "error: [E1032] option `a` of plugin `x` must be an integer, not `x`\n"
                      "error: [E1390] option `b` of plugin `x`: only numbers have a minimum or maximum\n"
                      "error: [E1390] option `c` of plugin `x`: its choices are missing\n"
                      "error: [E1390] option `d` of plugin `x`: it has an unknown type\n"
                      "error: [E1033] option `e` of plugin `x` is 5; the minimum is 6\n"
                      "error: [E1390] option `f` of plugin `x`: it has no doc text\n"
                      "error: [E1390] option `f` of plugin `x`: it has no doc text\n");
}
