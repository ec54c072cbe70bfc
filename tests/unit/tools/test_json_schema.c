/* The printed schemas against the files that we ship and the YAML blocks of the guides, by a validator of the keywords
 * that they use; files that our own reader refuses for their keys and values must not pass. */
#include "core/files/yaml_tree.h"
#include "tools/inspect/json_schema.h"

#include "tests/unit/unit.h"

#include <glob.h>
#include <math.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct fixture {
    arena *a;
    diag_engine *d;
} fixture;

static fixture begin(void) { return (fixture){arena_create("test"), diag_create(stderr, 0)}; }

static void end(fixture *f)
{
    diag_destroy(f->d);
    arena_destroy(f->a);
}

/* JSON is YAML. */
static const yaml_node *schema_of(fixture *f, const char *kind)
{
    text_buffer t;
    text_init(&t);
    schema_write_json(&t, schema_file_by_kind(str_from(kind)));
    yaml_node *root = NULL;
    assert_int_equal(yaml_read_text(f->a, f->d, (src_pos){"schema.json", 1, 1}, (str){t.p, t.n}, &root), OK);
    text_fini(&t);
    return root;
}

static bool is_word(const yaml_node *n, const char *word) { return n->kind == YAML_SCALAR && str_is(n->text, word); }

static bool read_number(const yaml_node *n, double *out)
{
    char *rest = NULL;
    if (n->kind != YAML_SCALAR || n->quoted || n->text.n == 0) return false;
    *out = strtod(n->text.p, &rest);
    return *rest == '\0' && isfinite(*out);
}

static bool has_type(const yaml_node *n, const char *type)
{
    double x = 0;
    const bool is_number = read_number(n, &x), is_bool = !n->quoted && (is_word(n, "true") || is_word(n, "false"));
    if (strcmp(type, "object") == 0) return n->kind == YAML_MAPPING;
    if (strcmp(type, "array") == 0) return n->kind == YAML_SEQUENCE;
    if (strcmp(type, "number") == 0) return is_number;
    if (strcmp(type, "integer") == 0) return is_number && x == floor(x);
    if (strcmp(type, "boolean") == 0) return is_bool;
    assert_string_equal(type, "string");
    return n->kind == YAML_SCALAR && !is_number && !is_bool;
}

static bool passes(const yaml_node *schema, const yaml_node *n);

/* One keyword: the schema that it stands in, what it says, and the value. */
typedef bool (*judge)(const yaml_node *schema, const yaml_node *said, const yaml_node *n);

static bool judge_type(const yaml_node *schema, const yaml_node *said, const yaml_node *n)
{
    (void)schema;
    if (said->kind == YAML_SCALAR) return has_type(n, said->text.p);
    for (uint32_t i = 0; i < said->count; i++) {
        if (has_type(n, said->items[i]->text.p)) return true;
    }
    return false;
}

static bool judge_properties(const yaml_node *schema, const yaml_node *said, const yaml_node *n)
{
    (void)said;
    const yaml_node *known = yaml_find(schema, "properties"), *others = yaml_find(schema, "additionalProperties");
    for (uint32_t i = 0; n->kind == YAML_MAPPING && i < n->count; i++) {
        const yaml_pair *own = known != NULL ? yaml_find_pair(known, n->pairs[i].key) : NULL;
        if (own != NULL && !passes(own->value, n->pairs[i].value)) return false;
        if (own != NULL || others == NULL) continue;
        if (is_word(others, "false") || !passes(others, n->pairs[i].value)) return false;
    }
    return true;
}

static bool judge_required(const yaml_node *schema, const yaml_node *said, const yaml_node *n)
{
    (void)schema;
    for (uint32_t i = 0; n->kind == YAML_MAPPING && i < said->count; i++) {
        if (yaml_find(n, said->items[i]->text.p) == NULL) return false;
    }
    return true;
}

static bool judge_names(const yaml_node *schema, const yaml_node *said, const yaml_node *n)
{
    (void)schema;
    for (uint32_t i = 0; n->kind == YAML_MAPPING && i < n->count; i++) {
        const yaml_node name = {.kind = YAML_SCALAR, .quoted = true, .text = n->pairs[i].key};
        if (!passes(said, &name)) return false;
    }
    return true;
}

static bool judge_items(const yaml_node *schema, const yaml_node *said, const yaml_node *n)
{
    (void)schema;
    for (uint32_t i = 0; n->kind == YAML_SEQUENCE && i < n->count; i++) {
        if (!passes(said, n->items[i])) return false;
    }
    return true;
}

static bool judge_one_of(const yaml_node *schema, const yaml_node *said, const yaml_node *n)
{
    (void)schema;
    uint32_t count = 0;
    for (uint32_t i = 0; i < said->count; i++) count += passes(said->items[i], n);
    return count == 1;
}

static bool judge_enum(const yaml_node *schema, const yaml_node *said, const yaml_node *n)
{
    (void)schema;
    for (uint32_t i = 0; i < said->count; i++) {
        if (is_word(n, said->items[i]->text.p)) return true;
    }
    return false;
}

static bool judge_pattern(const yaml_node *schema, const yaml_node *said, const yaml_node *n)
{
    (void)schema;
    regex_t r;
    if (!has_type(n, "string")) return true;
    assert_int_equal(regcomp(&r, said->text.p, REG_EXTENDED | REG_NOSUB), 0);
    const bool matches = regexec(&r, n->text.p, 0, NULL, 0) == 0;
    regfree(&r);
    return matches;
}

static bool judge_minimum(const yaml_node *schema, const yaml_node *said, const yaml_node *n)
{
    (void)schema;
    double x = 0, limit = 0;
    return !read_number(n, &x) || (read_number(said, &limit) && x >= limit);
}

static bool judge_maximum(const yaml_node *schema, const yaml_node *said, const yaml_node *n)
{
    (void)schema;
    double x = 0, limit = 0;
    return !read_number(n, &x) || (read_number(said, &limit) && x <= limit);
}

static bool judge_nothing(const yaml_node *schema, const yaml_node *said, const yaml_node *n)
{
    return schema != NULL && said != NULL && n != NULL;
}

/* Every keyword must be one that is judged or one that only describes. */
static judge judge_of(const char *keyword)
{
    static const struct {
        const char *keyword;
        judge judge;
    } all[] = {{"type", judge_type},
               {"properties", judge_properties},
               {"additionalProperties", judge_properties},
               {"required", judge_required},
               {"propertyNames", judge_names},
               {"items", judge_items},
               {"oneOf", judge_one_of},
               {"enum", judge_enum},
               {"pattern", judge_pattern},
               {"minimum", judge_minimum},
               {"maximum", judge_maximum},
               {"$schema", judge_nothing},
               {"title", judge_nothing},
               {"description", judge_nothing},
               {"default", judge_nothing}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (strcmp(all[i].keyword, keyword) == 0) return all[i].judge;
    }
    fail_msg("the schema uses `%s`, which this validator does not know", keyword);
    return judge_nothing;
}

static bool passes(const yaml_node *schema, const yaml_node *n)
{
    assert_int_equal(schema->kind, YAML_MAPPING);
    for (uint32_t i = 0; i < schema->count; i++) {
        if (!judge_of(schema->pairs[i].key.p)(schema, schema->pairs[i].value, n)) return false;
    }
    return true;
}

static bool text_passes(fixture *f, const char *kind, const char *text)
{
    yaml_node *root = NULL;
    assert_int_equal(yaml_read_text(f->a, f->d, (src_pos){"t.yaml", 1, 1}, str_from(text), &root), OK);
    return passes(schema_of(f, kind), root);
}

static void expect_files_pass(const char *kind, const char *pattern, size_t least)
{
    fixture f = begin();
    const yaml_node *schema = schema_of(&f, kind);
    glob_t found;
    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    assert_true(found.gl_pathc >= least);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        yaml_node *root = NULL;
        assert_int_equal(yaml_read_file(f.a, f.d, found.gl_pathv[i], &root), OK);
        if (!passes(schema, root)) fail_msg("%s does not pass the schema of a %s file", found.gl_pathv[i], kind);
    }
    globfree(&found);
    end(&f);
}

TEST(schema_is_written_as_json)
{
    static const char *const colours[] = {"red", "green", NULL};
    static const schema_key keys[] = {
        {.name = "pto-test", .type = VALUE_I64, .is_required = true, .doc = "version"},
        {.name = "count", .type = VALUE_I64, .def = "7", .min = "1", .max = "10", .doc = "how many"},
        {.name = "colour", .type = VALUE_ENUM, .choices = colours, .doc = "which"},
        {.name = "either", .type = VALUE_STR, .group = 1, .doc = "one of two"},
        {.name = "or", .type = VALUE_STR, .group = 1, .doc = "one of two"},
        {.name = NULL}};
    static const schema_file file = {
        .kind = "test", .version_key = "pto-test", .version = 1, .keys = keys, .doc = "a test"};
    text_buffer t;
    text_init(&t);
    schema_write_json(&t, &file);
    assert_non_null(strstr(t.p, "\"$schema\": \"https://json-schema.org/draft/2020-12/schema\""));
    assert_non_null(strstr(t.p, "\"required\": [\"pto-test\"]"));
    assert_non_null(strstr(t.p, "\"oneOf\": [{\"required\": [\"either\"]}, {\"required\": [\"or\"]}]"));
    assert_non_null(strstr(t.p, "\"enum\": [\"red\", \"green\"]"));
    assert_non_null(strstr(t.p, "\"maximum\": 10"));
    text_fini(&t);
    assert_non_null(schema_file_by_kind(STR("case")));
    assert_null(schema_file_by_kind(STR("tensor")));
}

TEST(shipped_files_pass)
{
    expect_files_pass("pipeline", "pipelines/*.yaml", 2);
    expect_files_pass("machine", "pipelines/machines/*.yaml", 2);
    expect_files_pass("case", "examples/*/*.yaml", 8);
}

/* A file says by its first key what it is: "pto-pipeline". */
static const char *kind_of(const yaml_node *root)
{
    assert_true(root->kind == YAML_MAPPING && root->count > 0 && str_starts_with(root->pairs[0].key, "pto-"));
    return root->pairs[0].key.p + strlen("pto-");
}

/* The blocks ```yaml of a page. */
static uint32_t expect_blocks_pass(fixture *f, const char *page)
{
    FILE *in = fopen(page, "r");
    assert_non_null(in);
    text_buffer t;
    text_init(&t);
    char line[4096];
    uint32_t count = 0;
    bool inside = false;
    while (fgets(line, sizeof line, in) != NULL) {
        if (inside && strcmp(line, "```\n") == 0) {
            yaml_node *root = NULL;
            assert_int_equal(yaml_read_text(f->a, f->d, (src_pos){page, 1, 1}, (str){t.p, t.n}, &root), OK);
            if (!passes(schema_of(f, kind_of(root)), root))
                fail_msg("block %u of %s does not pass the schema", count + 1, page);
            inside = false;
            count++;
        } else if (inside) {
            text_puts(&t, line);
        } else if (strcmp(line, "```yaml\n") == 0) {
            inside = true;
            text_fini(&t);
            text_init(&t);
        }
    }
    text_fini(&t);
    fclose(in);
    return count;
}

TEST(blocks_in_the_guides_pass)
{
    fixture f = begin();
    glob_t found;
    assert_int_equal(glob("docs/*.md", 0, NULL, &found), 0);
    uint32_t count = 0;
    for (size_t i = 0; i < found.gl_pathc; i++) count += expect_blocks_pass(&f, found.gl_pathv[i]);
    assert_true(count > 0);
    globfree(&found);
    end(&f);
}

TEST(what_the_reader_refuses_does_not_pass)
{
    static const char *const wrong[] = {
        "pto-pipeline: 1\npases: []\n",
        "passes: []\n",
        "pto-pipeline: 2\npasses: []\n",
        "pto-pipeline: 1\npasses: a\n",
        "pto-pipeline: 1\nverify: sometimes\npasses: []\n",
        "pto-pipeline: 1\npasses:\n  - { pass: a, wth: {} }\n",
        "pto-pipeline: 1\npasses:\n  - { id: a }\n",
        "pto-pipeline: 1\nedit:\n  - { remove: a, replace: b }\n",
        "pto-pipeline: 1\nparams:\n  x: { type: money }\npasses: []\n",
    };
    fixture f = begin();
    assert_true(text_passes(&f, "pipeline", "pto-pipeline: 1\npasses: []\n"));
    assert_true(text_passes(&f, "pipeline", "pto-pipeline: 1\npasses:\n  - a\n  - { pass: b, with: { x: [1] } }\n"));
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        if (text_passes(&f, "pipeline", wrong[i])) fail_msg("this passes:\n%s", wrong[i]);
    }
    end(&f);
}

/* One value of a shipped machine file changed. */
TEST(a_wrong_value_in_a_machine_does_not_pass)
{
    static const char *const changes[][2] = {{"clock-hz:", "clock-hz: fast #"},
                                             {"event-ids:", "event-ids: -1 #"},
                                             {"name:", "nme:"},
                                             {"  gm: {", "  gm: { role: memory,"},
                                             {"pipes: [s, mte2, mte1, m, fix, mte3]", "pipes: { s: engine }"}};
    fixture f = begin();
    FILE *in = fopen("pipelines/machines/ascend-910b.yaml", "r");
    assert_non_null(in);
    static char text[65536];
    const size_t n = fread(text, 1, sizeof text - 1, in);
    text[n] = '\0';
    fclose(in);
    assert_true(text_passes(&f, "machine", text));
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        char *at = strstr(text, changes[i][0]);
        assert_non_null(at);
        text_buffer t;
        text_init(&t);
        text_put(&t, text, (size_t)(at - text));
        text_puts(&t, changes[i][1]);
        text_puts(&t, at + strlen(changes[i][0]));
        if (text_passes(&f, "machine", t.p)) fail_msg("this passes: %s", changes[i][1]);
        text_fini(&t);
    }
    end(&f);
}
