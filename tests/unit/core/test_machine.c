#include "core/files/machine.h"

#include "tests/unit/diag_text.h"

#include <stdio.h>

/* A small legal machine; tests replace parts of it. */
static const char small[] = "pto-machine: 1\n"
                            "name: small\n"
                            "clock-hz: 1000000000\n"
                            "cores:\n"
                            "  one: { count: 2, pipes: [s, mte2, mte3, v] }\n"
                            "spaces:\n"
                            "  gm: { bytes: 1GiB, layouts: [nd] }\n"
                            "  vec: { core: one, bytes: 64KiB, reserved: 1KiB, layouts: [nd, dn] }\n"
                            "paths:\n"
                            "- { from: gm, to: vec, core: one, pipe: mte2, bytes-per-cycle: 10.5, layouts: [nd-nd] }\n"
                            "vector: { dtypes: [f32] }\n"
                            "instructions:\n"
                            "  default: { head: 1, per-repeat: 2, tail: 3 }\n"
                            "  exp: { head: 9, dtypes: [f16] }\n";

static status read_changed(diag_text *t, const char *from, const char *to, const machine **m)
{
    text_buffer b;
    text_init(&b);
    const char *at = from == NULL ? small : strstr(small, from);
    assert_non_null(at);
    text_put(&b, small, (size_t)(at - small));
    if (from != NULL) text_puts(&b, to);
    text_puts(&b, at + (from == NULL ? 0 : strlen(from)));
    const char *text = arena_strdup(t->a, b.p);
    text_fini(&b);
    diag_add_source(t->d, "m.yaml", str_from(text));
    return machine_read_text(t->a, t->d, "m.yaml", str_from(text), m);
}

static void refuse(const char *from, const char *to, const char *want)
{
    diag_text t;
    diag_text_begin(&t);
    const machine *m = NULL;
    assert_int_equal(read_changed(&t, from, to, &m), FAILED);
    assert_null(m);
    diag_text_end(&t, want);
}

TEST(machine_small_file_reads_into_the_struct)
{
    diag_text t;
    diag_text_begin(&t);
    const machine *m;
    assert_int_equal(read_changed(&t, NULL, NULL, &m), OK);
    assert_string_equal(m->name, "small");
    assert_int_equal(m->core_count, 1);
    assert_int_equal(machine_core_by_name(m, STR("one"))->count, 2);
    const machine_space *vec = machine_space_by_name(m, STR("vec"));
    assert_int_equal(machine_space_usable_bytes(vec), 63 * 1024);
    assert_int_equal(vec->align_bytes, 32);
    assert_string_equal(vec->core, "one");
    assert_null(machine_space_by_name(m, STR("gm"))->core);
    assert_null(machine_space_by_name(m, STR("acc")));
    assert_non_null(machine_path_find(m, STR("gm"), STR("vec"), NULL));
    assert_null(machine_path_find(m, STR("vec"), STR("gm"), NULL));
    assert_null(machine_path_find(m, STR("gm"), STR("vec"), "two"));
    diag_text_end(&t, "");
}

TEST(machine_query_reads_any_value_by_path)
{
    diag_text t;
    diag_text_begin(&t);
    const machine *m;
    assert_int_equal(read_changed(&t, NULL, NULL, &m), OK);
    static const struct {
        const char *path;
        int64_t value;
    } integers[] = {{"clock-hz", 1000000000},
                    {"spaces.vec.bytes", 65536},
                    {"spaces.vec.usable-bytes", 64512},
                    {"spaces.gm.align", 32},
                    {"cores.one.count", 2},
                    {"instructions.exp.head", 9},
                    {"instructions.exp.tail", 0},
                    {"sync.event-ids", 8},
                    {"vector.repeat-bytes", 256},
                    {"paths.gm.vec.latency", 0},
                    {"instructions.default.tail", 3},
                    {"dispatch.launch-cycles", 0}};
    for (size_t i = 0; i < sizeof integers / sizeof integers[0]; i++) {
        int64_t v = -1;
        assert_true(machine_query_i64(m, str_from(integers[i].path), &v));
        assert_int_equal(v, integers[i].value);
    }
    const char *const absent[] = {"",
                                  "nothing",
                                  "spaces",
                                  "spaces.acc.bytes",
                                  "spaces.vec",
                                  "name",
                                  "spaces.vec.bytes.x",
                                  "paths.vec.gm.latency",
                                  "paths.gm",
                                  "cores.one.pipes",
                                  "matrix.cycles-per-box.f32"};
    for (size_t i = 0; i < sizeof absent / sizeof absent[0]; i++) {
        int64_t v;
        assert_false(machine_query_i64(m, str_from(absent[i]), &v));
    }
    double f = 0;
    assert_true(machine_query_f64(m, STR("paths.gm.vec.bytes-per-cycle"), &f));
    assert_true(f == 10.5);
    str s;
    assert_true(machine_query_str(t.a, m, STR("name"), &s));
    assert_true(str_is(s, "small"));
    assert_true(machine_query_str(t.a, m, STR("spaces.vec.layouts"), &s));
    assert_true(str_is(s, "nd,dn"));
    assert_true(machine_query_str(t.a, m, STR("instructions.exp.dtypes"), &s));
    assert_true(str_is(s, "f16"));
    assert_true(machine_query_str(t.a, m, STR("paths.gm.vec.pipe"), &s));
    assert_true(str_is(s, "mte2"));
    assert_false(machine_query_str(t.a, m, STR("spaces.gm.core"), &s));
    diag_text_end(&t, "");
}

/* The first YAML block of docs/machines.md, and what its table of paths says of it. */
TEST(machine_answers_the_paths_of_the_guide)
{
    diag_text t;
    diag_text_begin(&t);
    char page[16384];
    FILE *f = fopen("docs/machines.md", "r");
    assert_non_null(f);
    const size_t n = fread(page, 1, sizeof page - 1, f);
    assert_true(feof(f) != 0 && fclose(f) == 0);
    page[n] = '\0';
    const char *text = strstr(page, "```yaml\n");
    assert_non_null(text);
    text += strlen("```yaml\n");
    const str yaml = {text, (size_t)(strstr(text, "```") - text)};
    diag_add_source(t.d, "m.yaml", yaml);
    const machine *m;
    assert_int_equal(machine_read_text(t.a, t.d, "m.yaml", yaml, &m), OK);
    static const struct {
        const char *path;
        int64_t value;
    } integers[] = {{"clock-hz", 1500000000},
                    {"cores.sm.count", 16},
                    {"spaces.smem.bytes", 98304},
                    {"spaces.smem.usable-bytes", 98304},
                    {"instructions.default.head", 8}};
    for (size_t i = 0; i < sizeof integers / sizeof integers[0]; i++) {
        int64_t v = -1;
        assert_non_null(strstr(text, integers[i].path));
        assert_true(machine_query_i64(m, str_from(integers[i].path), &v));
        assert_int_equal(v, integers[i].value);
    }
    double rate = 0;
    assert_true(machine_query_f64(m, STR("paths.hbm.smem.bytes-per-cycle"), &rate) && rate == 64.0);
    int64_t cycles;
    assert_true(machine_query_i64(m, STR("sync.flag-cycles"), &cycles));
    assert_false(machine_query_i64(m, STR("instructions.exp.head"), &cycles));
    str s;
    assert_true(machine_query_str(t.a, m, STR("cores.sm.pipes"), &s) && str_is(s, "warp,ldg,stg,simd"));
    assert_true(machine_query_str(t.a, m, STR("vector.dtypes"), &s) && str_is(s, "f32"));
    diag_text_end(&t, "");
}

TEST(machine_mistakes_are_reported_with_place_and_way_out)
{
    refuse("clock-hz: 1000000000\n", "clock-hx: 1\n",
           "m.yaml:3:1: error: [E1030] unknown key `clock-hx`; did you mean `clock-hz`?\nclock-hx: 1\n^\n"
           "m.yaml:3:1: note: legal: `pto-machine`, `name`, `doc`, `arch`, `clock-hz`, `layouts`, `cores`, `spaces`, "
           "`paths`, "
           "`shared`, "
           "`vector`, "
           "`matrix`, `instructions`, `facts`, `sync`, `dispatch`\n"
           "m.yaml:1:1: error: [E1031] the key `clock-hz` is missing here: clock of all cycle numbers\npto-machine: "
           "1\n^\n");
    refuse("bytes: 64KiB", "bytes: 64KB",
           "m.yaml:8:28: error: [E1032] `bytes` must be a size in bytes, as 512 or 64KiB, not `64KB`\n"
           "  vec: { core: one, bytes: 64KB, reserved: 1KiB, layouts: [nd, dn] }\n                           ^\n");
    refuse("core: one, bytes", "core: two, bytes",
           "m.yaml:8:16: error: [E1201] unknown core kind `two`\n"
           "  vec: { core: two, bytes: 64KiB, reserved: 1KiB, layouts: [nd, dn] }\n               ^\n"
           "m.yaml:8:16: note: legal: `one`\n");
    refuse("reserved: 1KiB", "reserved: 64KiB",
           "m.yaml:8:45: error: [E1202] `vec` reserves 65536 of its 65536 bytes; nothing is left for tiles\n"
           "  vec: { core: one, bytes: 64KiB, reserved: 64KiB, layouts: [nd, dn] }\n"
           "                                            ^\n");
    refuse("reserved: 1KiB", "align: 48",
           "m.yaml:8:42: error: [E1203] the alignment of `vec` is 48, not a power of two\n"
           "  vec: { core: one, bytes: 64KiB, align: 48, layouts: [nd, dn] }\n"
           "                                         ^\n");
    refuse("layouts: [nd-nd]", "layouts: [nd-zz]",
           "m.yaml:10:80: error: [E1205] `nd-zz` is not a pair of a layout of `gm` and a layout of `vec`, as nd-nd\n"
           "- { from: gm, to: vec, core: one, pipe: mte2, bytes-per-cycle: 10.5, layouts: [nd-zz] }\n"
           "                                                                               ^\n");
}

TEST(machine_more_mistakes)
{
    refuse("to: vec", "to: acc",
           "m.yaml:10:19: error: [E1201] this machine has no space `acc`\n"
           "- { from: gm, to: acc, core: one, pipe: mte2, bytes-per-cycle: 10.5, layouts: [nd-nd] }\n"
           "                  ^\n");
    refuse("pipe: mte2", "pipe: fix",
           "m.yaml:10:41: error: [E1201] core kind `one` has no pipe `fix`\n"
           "- { from: gm, to: vec, core: one, pipe: fix, bytes-per-cycle: 10.5, layouts: [nd-nd] }\n"
           "                                        ^\n");
    refuse("bytes-per-cycle: 10.5", "bytes-per-cycle: 0",
           "m.yaml:10:64: error: [E1033] `bytes-per-cycle` is 0; the minimum is 0.001\n"
           "- { from: gm, to: vec, core: one, pipe: mte2, bytes-per-cycle: 0, layouts: [nd-nd] }\n"
           "                                                               ^\n");
    refuse("  default: {", "  defaults: {",
           "m.yaml:13:3: error: [E1206] the cost class `default` is missing; it stands for every class without a row\n"
           "  defaults: { head: 1, per-repeat: 2, tail: 3 }\n  ^\n");
    refuse("pto-machine: 1", "pto-machine: 2",
           "m.yaml:1:14: error: [E1035] this program reads version 1 of `pto-machine` and no other\npto-machine: 2\n"
           "             ^\n");
    refuse(
        "pto-machine: 1\n", "",
        "m.yaml:1:1: error: [E1035] a machine file begins with the key `pto-machine: 1`, not `name`\nname: small\n^\n");
    refuse("  gm: {", "  hbm: {", NULL);
    refuse("layouts: [nd-nd] }\n",
           "layouts: [nd-nd] }\n- { from: gm, to: vec, core: one, pipe: mte2, bytes-per-cycle: 1, layouts: [nd-nd] }\n",
           "m.yaml:11:3: error: [E1204] a path from `gm` to `vec` of core kind `one` is above already\n"
           "- { from: gm, to: vec, core: one, pipe: mte2, bytes-per-cycle: 1, layouts: [nd-nd] }\n  ^\n");
}

static bool has_change(const machine_change *changes, uint32_t count, const char *from, const char *to)
{
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(changes[i].from, from) == 0 && strcmp(changes[i].to, to) == 0) return true;
    return false;
}

TEST(machine_ascend_910b_has_the_documented_numbers)
{
    diag_text t;
    diag_text_begin(&t);
    const machine *m;
    assert_int_equal(machine_read(t.a, t.d, "pipelines/machines/ascend-910b.yaml", &m), OK);
    assert_int_equal(machine_core_by_name(m, STR("cube"))->count, 24);
    assert_int_equal(machine_core_by_name(m, STR("vector"))->count, 48);
    assert_int_equal(machine_space_usable_bytes(machine_space_by_name(m, STR("vec"))), 188416);
    const machine_path *load = machine_path_find(m, STR("gm"), STR("mat"), "cube");
    assert_string_equal(load->pipe, "mte2");
    assert_true(has_change(load->layouts, load->layout_count, "nd", "nz"));
    assert_false(has_change(load->layouts, load->layout_count, "nd", "zn"));
    assert_null(machine_path_find(m, STR("acc"), STR("vec"), NULL));
    const machine_path *store = machine_path_find(m, STR("acc"), STR("gm"), NULL);
    assert_true(has_change(store->casts, store->cast_count, "f32", "bf16"));
    assert_false(has_change(store->casts, store->cast_count, "f32", "i8"));
    int64_t cycles = 0;
    assert_true(machine_query_i64(m, STR("matrix.cycles-per-box.f32"), &cycles));
    assert_int_equal(cycles, 2);
    diag_text_end(&t, "");
}

TEST(machine_files_cover_every_cost_class_of_the_instructions)
{
    static const char *const classes[] = {"default", "add",     "mul",    "div",      "adds", "muls",   "divs",
                                          "mins",    "maxs",    "abs",    "exp",      "log",  "sqrt",   "rsqrt",
                                          "relu",    "convert", "select", "copy",     "fill", "expand", "rowsum",
                                          "rowmax",  "colsum",  "colmax", "transpose"};
    diag_text t;
    diag_text_begin(&t);
    const machine *m;
    assert_int_equal(machine_read(t.a, t.d, "pipelines/machines/ascend-910b.yaml", &m), OK);
    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++) {
        char path[64];
        int64_t head = 0;
        snprintf(path, sizeof path, "instructions.%s.head", classes[i]);
        assert_true(machine_query_i64(m, str_from(path), &head));
    }
    assert_int_equal(machine_read(t.a, t.d, "pipelines/machines/cpu-generic.yaml", &m), OK);
    assert_int_equal(machine_core_by_name(m, STR("cpu"))->pipe_count, 7);
    diag_text_end(&t, "");
}
