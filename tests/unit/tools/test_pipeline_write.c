#include "tools/session/pipeline_write.h"

#include "tests/unit/base_pipeline.h"
#include "tests/unit/diag_text.h"

static void read_text(diag_text *t, const char *text, const pipeline **out)
{
    const pipeline_request request = {.file = "p.yaml"};
    assert_int_equal(pipeline_read_text(t->a, t->d, &request, str_from(text), out), OK);
}

static const char *const tiling_kind[] = {"tiling", NULL};
static const pto_option max_ops = {sizeof max_ops, PTO_OPT_I64, "max-ops", "d", NULL, NULL, "8", NULL, NULL, NULL};
static const pto_option label = {sizeof max_ops, PTO_OPT_STR, "label", "d", NULL, NULL, "a: b", NULL, NULL, NULL};
static const pto_option strategy = {sizeof max_ops, PTO_OPT_PLUGIN,         "strategy", "d",  NULL,
                                    NULL,           "pto.tiling-heuristic", NULL,       NULL, tiling_kind};
static const pto_option *const fuse_options[] = {&max_ops, &label, NULL};
static const pto_option *const tile_options[] = {&strategy, NULL};

static const pto_option *const *options_of(void *self, const char *kind, const char *id)
{
    (void)self;
    if (strcmp(id, "pto.fuse") == 0 && strcmp(kind, "pass") == 0) return fuse_options;
    if (strcmp(id, "pto.tiling-heuristic") == 0 && strcmp(kind, "tiling") == 0) return fuse_options;
    return strcmp(id, "pto.tile") == 0 ? tile_options : NULL;
}

TEST(pipeline_is_written_with_defaults_and_origins_and_reads_back)
{
    diag_text t;
    diag_text_begin(&t);
    const pipeline *p, *again;
    read_text(&t, base, &p);
    text_buffer one, two;
    text_init(&one);
    text_init(&two);
    pipeline_write(&one, p, options_of, NULL);
    assert_string_equal(one.p, "pto-pipeline: 1\n"
                               "name: \"base\"\n"
                               "params:\n"
                               "  vec-bytes:  # p.yaml:4\n"
                               "    type: bytes\n"
                               "    default: 64KiB  # p.yaml:4\n"
                               "    min: 1KiB\n"
                               "    doc: \"upper bound\"\n"
                               "verify: each  # default\n"
                               "passes:\n"
                               "  - pass: pto.canonicalize  # p.yaml:6\n"
                               "    id: canonicalize\n"
                               "  - pass: pto.fuse  # p.yaml:7\n"
                               "    id: fuse\n"
                               "    with:\n"
                               "      max-ops: 64  # p.yaml:8\n"
                               "      label: \"a: b\"  # default\n"
                               "  - pass: pto.tile  # p.yaml:9\n"
                               "    id: tile\n"
                               "    with:\n"
                               "      strategy:\n"
                               "        use: pto.tiling-heuristic  # p.yaml:12\n"
                               "        with:\n"
                               "          vec-bytes: $params.vec-bytes  # p.yaml:12\n"
                               "          max-ops: 8  # default\n"
                               "          label: \"a: b\"  # default\n"
                               "backend:\n"
                               "  use: pto.cpu-sim  # p.yaml:13\n"
                               "  with:\n"
                               "    timing: true  # p.yaml:13\n");
    read_text(&t, one.p, &again);
    assert_int_equal(again->step_count, p->step_count);
    pipeline_write(&two, again, options_of, NULL);
    char *a = one.p, *b = two.p;
    /* Equal except for the comments, which name other lines now. */
    while (*a != 0 && *b != 0) {
        assert_int_equal(*a, *b);
        if (strncmp(a, "  # ", 4) == 0) {
            a += strcspn(a, "\n");
            b += strcspn(b, "\n");
        } else {
            a++;
            b++;
        }
    }
    assert_int_equal(*a, *b);
    text_fini(&one);
    text_fini(&two);
    diag_text_end(&t, "");
}
