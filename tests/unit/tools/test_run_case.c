#include "tools/run/run_case.h"

#include "tests/unit/diag_text.h"

#include <unistd.h>

static const char whole[] = "pto-case: 1\n"
                            "name: rows\n"
                            "module: rows.ptir\n"
                            "entry: main\n"
                            "data: /abs/make.py\n"
                            "data-arguments: [bf16, \"two words\"]\n"
                            "sizes:\n"
                            "  small: { B: 3, N: 9223372036854775807 }\n"
                            "  empty: {}\n"
                            "inputs: { x: x.npy }\n"
                            "outputs:\n"
                            "  y: { expect: y.npy, rule: f32-reduce, terms: $N, magnitude: m.npy }\n"
                            "  z: { expect: z.npy, rule: bf16-out }\n";

/* Writes `text` to a file of its own folder, reads it as a case and removes both. */
static status read_text(diag_text *t, const char *text, case_description *out, char folder[32])
{
    char path[64];
    memcpy(folder, "/tmp/pto-case-XXXXXX", sizeof "/tmp/pto-case-XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/case.yaml", folder);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    const status s = case_read(t->a, t->d, path, out);
    unlink(path);
    rmdir(folder);
    return s;
}

TEST(a_case_is_read_with_paths_beside_it)
{
    diag_text t;
    case_description c;
    char folder[32], module[64];
    diag_text_begin(&t);
    assert_int_equal(read_text(&t, whole, &c, folder), OK);
    snprintf(module, sizeof module, "%s/rows.ptir", folder);
    assert_string_equal(c.name, "rows");
    assert_string_equal(c.module, module);
    assert_string_equal(c.data, "/abs/make.py");
    assert_string_equal(c.entry, "main");
    assert_int_equal(c.data_argument_count, 2);
    assert_string_equal(c.data_arguments[1], "two words");
    assert_int_equal(c.input_count, 1);
    assert_string_equal(c.inputs[0].file, "x.npy");
    assert_int_equal(c.output_count, 2);
    assert_int_equal(c.outputs[0].rule, COMPARE_F32_REDUCE);
    assert_string_equal(c.outputs[0].magnitude, "m.npy");
    assert_true(str_is(c.outputs[0].terms, "$N"));
    assert_int_equal(c.outputs[1].rule, COMPARE_BF16_OUT);
    assert_true(str_is(c.outputs[1].terms, "1"));
    assert_null(c.outputs[1].magnitude);
    diag_text_end(&t, "");
}

TEST(sizes_are_found_by_name_or_listed)
{
    diag_text t;
    case_description c;
    char folder[32];
    diag_text_begin(&t);
    assert_int_equal(read_text(&t, whole, &c, folder), OK);
    const case_size *small = case_size_by_name(t.d, &c, STR("small"));
    assert_non_null(small);
    assert_int_equal(small->symbol_count, 2);
    assert_true(str_is(small->symbols[1].name, "N"));
    assert_true(small->symbols[1].value == INT64_MAX);
    assert_int_equal(case_size_by_name(t.d, &c, STR("empty"))->symbol_count, 0);
    assert_null(case_size_by_name(t.d, &c, STR("large")));
    char want[256];
    snprintf(want, sizeof want,
             "%s/case.yaml:8:3: error: [E1505] the case has no size `large`\nnote: size `small`\nnote: size `empty`\n",
             folder);
    diag_text_end(&t, want);
}

static void refuse(const char *text, const char *want)
{
    diag_text t;
    case_description c;
    char folder[32];
    diag_text_begin(&t);
    assert_int_equal(read_text(&t, text, &c, folder), FAILED);
    fflush(t.out);
    if (strstr(t.text, want) == NULL) fail_msg("wanted `%s` in: %s", want, t.text);
    diag_text_end(&t, NULL);
}

#define FRONT "pto-case: 1\nname: rows\nmodule: rows.ptir\nsizes: { small: { B: 3 } }\ninputs: {}\n"

TEST(wrong_cases_are_refused_at_their_line)
{
    refuse(FRONT "outputs: { y: { expect: y.npy, rule: f32-reduce } }\n",
           "case.yaml:6:15: error: [E1031] rule f32-reduce needs the key `magnitude`");
    refuse(FRONT "outputs: { y: { expect: y.npy, rule: close } }\n", "case.yaml:6:38: error: [E1034]");
    refuse(FRONT "outputs: { y: { rule: bf16-out } }\n", "[E1031]");
    refuse(FRONT, "[E1031]");
    refuse(FRONT "outputs: {}\nexpect: y.npy\n", "case.yaml:7:1: error: [E1030]");
    refuse("pto-case: 1\nname: rows\nmodule: m\nsizes: { small: { B: -3 } }\ninputs: {}\noutputs: {}\n",
           "case.yaml:4:22: error: [E1033]");
    refuse("pto-pipeline: 1\n", "[E1035]");
}

TEST(a_case_of_several_has_what_the_top_says)
{
    diag_text t;
    case_description c;
    char folder[] = "/tmp/pto-case-XXXXXX", path[64], name[80];
    diag_text_begin(&t);
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/case.yml", folder);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(FRONT "outputs: { y: { expect: y.npy, rule: tolerance, rtol: 0.5 } }\n"
                "cases: { a: { entry: f }, b: { module: other.ptir, outputs: {} } }\n",
          f);
    fclose(f);
    const char *const *texts;
    uint32_t count;
    assert_int_equal(case_list(t.a, t.d, path, &texts, &count), OK);
    assert_int_equal(count, 2);
    snprintf(name, sizeof name, "%s:b", path);
    assert_string_equal(texts[1], name);
    assert_int_equal(case_read(t.a, t.d, texts[0], &c), OK);
    assert_string_equal(c.name, "rows/a");
    assert_string_equal(c.entry, "f");
    assert_int_equal(c.output_count, 1);
    assert_int_equal(c.outputs[0].rule, COMPARE_TOLERANCE);
    assert_true(c.outputs[0].rtol == 0.5 && c.outputs[0].atol == 0);
    assert_int_equal(case_read(t.a, t.d, texts[1], &c), OK);
    assert_null(c.entry);
    assert_int_equal(c.output_count, 0);
    assert_non_null(strstr(c.module, "/other.ptir"));
    assert_int_equal(case_list(t.a, t.d, name, &texts, &count), OK);
    assert_int_equal(count, 1);
    diag_text_end(&t, "");
    unlink(path);
    rmdir(folder);
}
