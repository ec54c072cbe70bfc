#include "core/files/pipeline.h"

#include "tests/unit/base_pipeline.h"
#include "tests/unit/diag_text.h"

#include <unistd.h>

#define TEXT(literal) {(literal), sizeof(literal) - 1}

/* A folder of files that goes away with the test. */
typedef struct folder {
    char path[40];
    char *names[12];
    int count;
} folder;

static void folder_begin(folder *f)
{
    strcpy(f->path, "/tmp/test_pipeline_XXXXXX");
    f->count = 0;
    assert_non_null(mkdtemp(f->path));
}

static const char *folder_add(folder *f, const char *name, const char *text)
{
    char *path;
    assert_true(asprintf(&path, "%s/%s", f->path, name) > 0);
    f->names[f->count++] = path;
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fputs(text, out);
    fclose(out);
    return path;
}

static void folder_end(folder *f)
{
    for (int i = 0; i < f->count; i++) {
        unlink(f->names[i]);
        free(f->names[i]);
    }
    assert_int_equal(rmdir(f->path), 0);
}

static status read_text(diag_text *t, const char *text, const pipeline_override *overrides, uint32_t count,
                        const pipeline **out)
{
    diag_add_source(t->d, "p.yaml", str_from(text));
    pipeline_request request = {.file = "p.yaml", .overrides = overrides, .override_count = count};
    return pipeline_read_text(t->a, t->d, &request, str_from(text), out);
}

static void expect_steps(const pipeline *p, const char *want)
{
    text_buffer t;
    text_init(&t);
    for (uint32_t i = 0; i < p->step_count; i++) text_printf(&t, "%s=%s ", p->steps[i].id, p->steps[i].pass);
    assert_string_equal(t.p == NULL ? "" : t.p, want);
    text_fini(&t);
}

static void refuse(const char *text, const char *want)
{
    diag_text t;
    diag_text_begin(&t);
    const pipeline *p = NULL;
    assert_int_equal(read_text(&t, text, NULL, 0, &p), FAILED);
    assert_null(p);
    diag_text_end(&t, want);
}

TEST(pipeline_reads_steps_params_and_backend)
{
    diag_text t;
    diag_text_begin(&t);
    const pipeline *p;
    assert_int_equal(read_text(&t, base, NULL, 0, &p), OK);
    assert_string_equal(p->name, "base");
    expect_steps(p, "canonicalize=pto.canonicalize fuse=pto.fuse tile=pto.tile ");
    assert_int_equal(p->steps[1].at.line, 7);
    assert_int_equal(p->steps[1].at.column, 11);
    assert_string_equal(p->backend, "pto.cpu-sim");
    assert_int_equal(p->verify, PIPELINE_VERIFY_EACH);
    assert_int_equal(p->params[0].value.i, 65536);
    const yaml_node *reference = yaml_find(yaml_find(yaml_find(p->steps[2].with, "strategy"), "with"), "vec-bytes");
    assert_string_equal(reference->refers->text.p, "64KiB");
    assert_string_equal(reference->refers_type, "bytes");
    value v;
    value_rule bytes = {VALUE_BYTES, NULL, "32KiB", NULL, "option `x`"};
    assert_int_equal(value_from_node(t.a, t.d, reference, &bytes, &v), FAILED);
    value_rule boolean = {VALUE_BOOL, NULL, NULL, NULL, "option `y`"};
    assert_int_equal(value_from_node(t.a, t.d, reference, &boolean, &v), FAILED);
    diag_text_end(&t, "p.yaml:4:38: error: [E1033] option `x` is 64KiB; the maximum is 32KiB\n"
                      "  vec-bytes: { type: bytes, default: 64KiB, min: 1KiB, doc: upper bound }\n"
                      "                                     ^\n"
                      "p.yaml:12:65: error: [E1032] option `y` must be a boolean: true or false, but the parameter "
                      "`$params.vec-bytes` has type bytes\n"
                      "      strategy: { use: pto.tiling-heuristic, with: { vec-bytes: $params.vec-bytes } }\n"
                      "                                                                ^\n"
                      "p.yaml:4:38: note: its value comes from here\n"
                      "  vec-bytes: { type: bytes, default: 64KiB, min: 1KiB, doc: upper bound }\n"
                      "                                     ^\n");
}

TEST(pipeline_extends_and_edits_in_order)
{
    folder f;
    folder_begin(&f);
    folder_add(&f, "base.yaml", base);
    const char *child = folder_add(
        &f, "child.yaml",
        "pto-pipeline: 1\n"
        "extends: base.yaml\n"
        "params: { extra: { type: int, default: 3 } }\n"
        "edit:\n"
        "- { insert-after: canonicalize, with: acme.hoist }\n"
        "- { insert-before: canonicalize, with: { pass: acme.first, id: zero, with: { n: $params.extra } } }\n"
        "- { replace: fuse, with: acme.fuse }\n"
        "- { remove: hoist }\n"
        "- { set: tile.with.strategy.with.vec-bytes, to: 32KiB }\n"
        "- { set: tile.with.new.deep, to: [1, 2] }\n"
        "- { set: tile.with.again, to: $params.vec-bytes }\n"
        "- { set: backend.with.timing, to: false }\n"
        "- { set: params.vec-bytes, to: 2KiB }\n");
    diag_text t;
    diag_text_begin(&t);
    const pipeline *p;
    pipeline_request request = {.file = child};
    assert_int_equal(pipeline_read(t.a, t.d, &request, &p), OK);
    expect_steps(p, "zero=acme.first canonicalize=pto.canonicalize fuse=acme.fuse tile=pto.tile ");
    const pipeline_step *tile = pipeline_step_by_id(p, STR("tile"));
    const yaml_node *set = yaml_find(yaml_find(yaml_find(tile->with, "strategy"), "with"), "vec-bytes");
    assert_string_equal(set->text.p, "32KiB");
    assert_string_equal(set->at.file, child);
    assert_int_equal(set->at.line, 9);
    assert_int_equal(yaml_find(yaml_find(tile->with, "new"), "deep")->count, 2);
    assert_string_equal(yaml_find(p->backend_with, "timing")->text.p, "false");
    assert_int_equal(p->params[0].value.i, 2048);
    assert_int_equal(p->params[1].value.i, 3);
    assert_string_equal(p->name, "base");
    diag_text_end(&t, "");
    folder_end(&f);
}

TEST(pipeline_command_line_changes_win)
{
    static const pipeline_override overrides[] = {
        {PIPELINE_SET, TEXT("params.vec-bytes=16KiB"), {"<command line>", 1, 20}},
        {PIPELINE_SET, TEXT("tile.with.depth=[1, 2]"), {"<command line>", 1, 50}},
        {PIPELINE_REPLACE, TEXT("fuse=acme.fuse{max-ops=3,name=\"a,b}\"}"), {"<command line>", 1, 80}},
        {PIPELINE_INSERT_AFTER, TEXT("fuse=acme.more"), {"<command line>", 1, 120}},
        {PIPELINE_INSERT_AFTER, TEXT("tile=acme.more"), {"<command line>", 1, 140}},
        {PIPELINE_REMOVE, TEXT("canonicalize"), {"<command line>", 1, 150}},
    };
    diag_text t;
    diag_text_begin(&t);
    const pipeline *p;
    assert_int_equal(read_text(&t, base, overrides, 6, &p), OK);
    expect_steps(p, "fuse=acme.fuse more=acme.more tile=pto.tile more-2=acme.more ");
    assert_int_equal(p->params[0].value.i, 16384);
    assert_string_equal(yaml_find(p->steps[0].with, "name")->text.p, "a,b}");
    assert_int_equal(yaml_find(p->steps[0].with, "max-ops")->at.column, 80 + 23);
    assert_int_equal(yaml_find(p->steps[2].with, "depth")->count, 2);
    diag_text_end(&t, "");
}

TEST(pipeline_command_line_mistakes_have_places)
{
    static const char line[] = "pto-opt --set tile.with.x --remove tyle --set params.n=1 --set tile.x=1";
    static const pipeline_override overrides[] = {{PIPELINE_SET, {line + 14, 11}, {"<command line>", 1, 15}},
                                                  {PIPELINE_REMOVE, {line + 35, 4}, {"<command line>", 1, 36}},
                                                  {PIPELINE_SET, {line + 46, 10}, {"<command line>", 1, 47}},
                                                  {PIPELINE_SET, {line + 63, 8}, {"<command line>", 1, 64}}};
    static const char *const want[] = {
        "<command line>:1:15: error: [E1113] `tile.with.x` has no `=`\n",
        "<command line>:1:36: error: [E1109] unknown step `tyle`; did you mean `tile`?\n",
        "<command line>:1:47: error: [E1107] unknown parameter `n`\n",
        "<command line>:1:64: error: [E1107] `tile.x` is not a path of a value; write STEP.with.OPTION, "};
    for (int i = 0; i < 4; i++) {
        diag_text t;
        diag_text_begin(&t);
        diag_add_source(t.d, "<command line>", str_from(line));
        const pipeline *p;
        assert_int_equal(read_text(&t, base, &overrides[i], 1, &p), FAILED);
        fflush(t.out);
        assert_memory_equal(t.text, want[i], strlen(want[i]));
        diag_text_end(&t, NULL);
    }
}

static status read_list(diag_text *t, const char *list, const pipeline **out)
{
    diag_add_source(t->d, "<command line>", str_from(list));
    pipeline_request request = {.passes = str_from(list), .passes_at = {"<command line>", 1, 1}};
    return pipeline_read(t->a, t->d, &request, out);
}

TEST(pipeline_list_of_the_command_line)
{
    diag_text t;
    diag_text_begin(&t);
    const pipeline *p;
    assert_int_equal(read_list(&t, "pto.cse,pto.tile{x=1,y={use: a.b, with: {c: [1, 2]}},z='q,}'},pto.cse", &p), OK);
    expect_steps(p, "cse=pto.cse tile=pto.tile cse-2=pto.cse ");
    assert_string_equal(yaml_find(yaml_find(p->steps[1].with, "y"), "use")->text.p, "a.b");
    assert_int_equal(yaml_find(p->steps[1].with, "x")->at.column, 20);
    assert_string_equal(yaml_find(p->steps[1].with, "z")->text.p, "q,}");
    assert_int_equal(read_list(&t, "", &p), OK);
    assert_int_equal(p->step_count, 0);
    diag_text_end(&t, "");
    static const char *const bad[][2] = {
        {"a,", "<command line>:1:2: error: [E1113] nothing follows the last comma; a list of passes looks like "
               "a,b{x=1,y=2}\na,\n ^\n"},
        {"a{x=1", "<command line>:1:2: error: [E1113] this brace is not closed; a list of passes looks like "
                  "a,b{x=1,y=2}\na{x=1\n ^\n"},
        {"a{x}", "<command line>:1:3: error: [E1113] an option has no `=`; a list of passes looks like "
                 "a,b{x=1,y=2}\na{x}\n  ^\n"},
        {"a{x=1,x=2}", "<command line>:1:7: error: [E1113] an option is given twice; a list of passes looks like "
                       "a,b{x=1,y=2}\na{x=1,x=2}\n      ^\n"},
        {"a,,b", "<command line>:1:3: error: [E1102] `` is not a pass id: letters, digits, - and _, words joined by "
                 "dots\na,,b\n  ^\n"},
        {"a{x=[1}", "<command line>:1:2: error: [E1113] this brace is not closed; a list of passes looks like "
                    "a,b{x=1,y=2}\na{x=[1}\n ^\n"},
        {"a{}b", "<command line>:1:4: error: [E1113] a comma is missing; a list of passes looks like "
                 "a,b{x=1,y=2}\na{}b\n   ^\n"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        diag_text_begin(&t);
        assert_int_equal(read_list(&t, bad[i][0], &p), FAILED);
        diag_text_end(&t, i == 5 ? NULL : bad[i][1]);
    }
}

TEST(pipeline_mistakes_in_files)
{
    refuse("pto-pipeline: 1\npasses:\n- pass: pto.a\n  when: x\n",
           "p.yaml:4:3: error: [E1030] unknown key `when`\n  when: x\n  ^\np.yaml:4:3: note: legal: `pass`, `id`, "
           "`with`\n");
    refuse(
        "pto-pipeline: 1\npasses: [pto.a, pto.a]\n",
        "p.yaml:2:17: error: [E1103] a second step is called `a`; give one of them an `id:`\npasses: [pto.a, pto.a]\n"
        "                ^\np.yaml:2:10: note: the first one\npasses: [pto.a, pto.a]\n         ^\n");
    refuse("pto-pipeline: 1\nname: x\n", "p.yaml:1:1: error: [E1031] the key `passes` is missing here: a pipeline "
                                         "lists its passes or extends one that does\n"
                                         "pto-pipeline: 1\n^\n");
    refuse("pto-pipeline: 1\npasses: [a..b]\n",
           "p.yaml:2:10: error: [E1102] `a..b` is not a pass id: letters, digits, - "
           "and _, words joined by dots\npasses: [a..b]\n         ^\n");
    refuse("pto-pipeline: 1\npasses: [x.params]\n", "p.yaml:2:10: error: [E1102] a step cannot be called `params`, "
                                                    "which begins other paths of `set`; give it an `id:`\n"
                                                    "passes: [x.params]\n         ^\n");
    refuse("pto-pipeline: 1\npasses: [{pass: a, with: {x: $params.y}}]\n",
           "p.yaml:2:30: error: [E1105] unknown parameter `y`\npasses: [{pass: a, with: {x: $params.y}}]\n"
           "                             ^\np.yaml:2:30: note: there are none\n");
    refuse("pto-pipeline: 1\npasses: [{pass: a, with: {x: $parms.y}}]\n",
           "p.yaml:2:30: error: [E1105] `$parms.y` is not a reference; write `$params.<name>`, or quote the text\n"
           "passes: [{pass: a, with: {x: $parms.y}}]\n                             ^\n");
    refuse("pto-pipeline: 1\npasses: []\nedit: [{remove: a}]\n",
           "p.yaml:3:17: error: [E1109] unknown step `a`\nedit: [{remove: a}]\n                ^\np.yaml:3:17: note: "
           "there are none\n");
    refuse("pto-pipeline: 1\npasses: [a]\nedit: [{remove: a, to: 1}]\n",
           "p.yaml:3:20: error: [E1106] `remove` does not take the key `to:`\nedit: [{remove: a, to: 1}]\n             "
           "      ^\n");
    refuse("pto-pipeline: 1\npasses: [a]\nedit: [{replace: a}]\n",
           "p.yaml:3:8: error: [E1106] `replace` needs the key `with:`\nedit: [{replace: a}]\n       ^\n");
    refuse("pto-pipeline: 1\npasses: [a]\nedit: [{set: a.with.k, to: "
           "[[[[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]]]]}]\n",
           "p.yaml:3:53: error: [E1016] options nested deeper than 26 levels\n"
           "edit: [{set: a.with.k, to: [[[[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]]]]}]\n"
           "                                                    ^\n");
    refuse("pto-pipeline: 1\npasses: [a]\nmachine: nowhere/m.yaml\n",
           "p.yaml:3:10: error: [E1108] cannot find the machine file `nowhere/m.yaml`\nmachine: nowhere/m.yaml\n       "
           "  ^\n"
           "p.yaml:3:10: note: a path counts from the folder of the file it is in\n");
}

TEST(pipeline_mistakes_in_params)
{
    refuse("pto-pipeline: 1\npasses: []\nparams: {n: {type: int, default: 5, max: 4}}\n",
           "p.yaml:3:34: error: [E1033] parameter `n` is 5; the maximum is 4\nparams: {n: {type: int, default: 5, max: "
           "4}}\n"
           "                                 ^\n");
    refuse("pto-pipeline: 1\npasses: []\nparams: {n: {type: int}}\n",
           "p.yaml:3:10: error: [E1104] parameter `n` has no value: give a default, or set params.n=V\n"
           "params: {n: {type: int}}\n         ^\n");
    refuse("pto-pipeline: 1\npasses: []\nparams: {n: {type: enum, default: a}}\n",
           "p.yaml:3:13: error: [E1104] parameter `n`: `choices` belong to the type enum, which needs them\n"
           "params: {n: {type: enum, default: a}}\n            ^\n");
    refuse("pto-pipeline: 1\npasses: []\nparams: {n: {type: int, default: $params.n}}\n",
           "p.yaml:3:34: error: [E1105] a parameter cannot refer to another; references belong below `with`\n"
           "params: {n: {type: int, default: $params.n}}\n                                 ^\n");
    refuse("pto-pipeline: 1\npasses: []\nparams: {n: {type: str, default: a, min: 3}}\n",
           "p.yaml:3:42: error: [E1104] parameter `n`: only numbers have a `min`\n"
           "params: {n: {type: str, default: a, min: 3}}\n                                         ^\n");
}

TEST(pipeline_chains_end)
{
    folder f;
    folder_begin(&f);
    const char *self = folder_add(&f, "self.yaml", "pto-pipeline: 1\nextends: self.yaml\n");
    diag_text t;
    diag_text_begin(&t);
    const pipeline *p;
    pipeline_request request = {.file = self};
    assert_int_equal(pipeline_read(t.a, t.d, &request, &p), FAILED);
    assert_string_equal(diag_record_at(t.d, 0)->code, "E1101");
    char name[32], text[64];
    const char *first = NULL;
    for (int i = 0; i < 9; i++) {
        snprintf(name, sizeof name, "c%d.yaml", i);
        snprintf(text, sizeof text, "pto-pipeline: 1\nextends: c%d.yaml\n", i + 1);
        const char *path = folder_add(&f, name, i == 8 ? "pto-pipeline: 1\npasses: []\n" : text);
        if (i == 0) first = path;
        if (i == 1) request.file = path;
    }
    assert_int_equal(pipeline_read(t.a, t.d, &request, &p), OK);
    request.file = first;
    assert_int_equal(pipeline_read(t.a, t.d, &request, &p), FAILED);
    assert_string_equal(diag_record_at(t.d, 1)->text, "more than 8 files extend each other");
    diag_text_end(&t, NULL);
    folder_end(&f);
}

TEST(pipeline_bare_names_are_sought_in_the_search_folders)
{
    folder f, g;
    folder_begin(&f);
    folder_begin(&g);
    folder_add(&f, "base.yaml", base);
    folder_add(&f, "tiny.yaml", "pto-machine: 1\n");
    const char *child = folder_add(&g, "child.yaml", "pto-pipeline: 1\nextends: base.yaml\nmachine: tiny.yaml\n");
    const char *const search[] = {f.path, NULL};
    diag_text t;
    diag_text_begin(&t);
    const pipeline *p;
    pipeline_request request = {.file = child, .search = search};
    assert_int_equal(pipeline_read(t.a, t.d, &request, &p), OK);
    assert_int_equal(p->step_count, 3);
    assert_string_equal(p->machine + strlen(f.path), "/tiny.yaml");
    request.search = NULL;
    assert_int_equal(pipeline_read(t.a, t.d, &request, &p), FAILED);
    assert_string_equal(diag_record_at(t.d, 0)->text, "cannot find the pipeline file `base.yaml`");
    diag_text_end(&t, NULL);
    setenv("PTO_PIPELINE_PATH", "/a::/b", 1);
    arena *a = arena_create("test");
    const char *const *folders = pipeline_search_folders(a, "/c");
    assert_string_equal(folders[0], "/a");
    assert_string_equal(folders[1], "/b");
    assert_string_equal(folders[2], "/c");
    assert_null(folders[3]);
    arena_destroy(a);
    unsetenv("PTO_PIPELINE_PATH");
    folder_end(&f);
    folder_end(&g);
}
