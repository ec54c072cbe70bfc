/* libFuzzer: any bytes as a YAML file, a pipeline, a machine, a schedule and a list of passes. What reads as a pipeline
 * must be written so that it reads again, and so must a schedule of decisions that are called what the bytes say. */
#include "core/files/machine.h"
#include "core/files/pipeline.h"
#include "core/files/schedule.h"
#include "tools/session/pipeline_write.h"

#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Files that an input names would make runs depend on the machine; devices could block. */
static bool names_files(str text)
{
    return memmem(text.p, text.n, "/", 1) != NULL || memmem(text.p, text.n, "extends", 7) != NULL ||
           memmem(text.p, text.n, "machine:", 8) != NULL || memmem(text.p, text.n, "\\", 1) != NULL;
}

static void fuzz_pipeline(str text)
{
    arena *a = arena_create("fuzz");
    diag_engine *d = diag_create(NULL, 0);
    const pipeline *p = NULL;
    pipeline_request request = {.file = "fuzz.yaml"};
    if (pipeline_read_text(a, d, &request, text, &p) == OK) {
        text_buffer t;
        text_init(&t);
        pipeline_write(&t, p, NULL, NULL);
        const pipeline *again = NULL;
        bool fits = t.n < YAML_FILE_BYTES_MAX;
        status read = fits ? pipeline_read_text(a, d, &request, (str){t.p, t.n}, &again) : OK;
        BUG_IF(read != OK, "a written pipeline does not read back: %s\n%s", diag_record_at(d, 0)->text, t.p);
        text_fini(&t);
    } else {
        BUG_IF(diag_error_count(d) == 0, "failed without a diagnostic");
    }
    diag_destroy(d);
    arena_destroy(a);
}

static void record(schedule *s, str text, uint32_t count, const char *const *keys, const char *name)
{
    static const int64_t least[] = {1, 1}, most[] = {64, 1 << 20};
    const schedule_form form = {.count = count, .keys = keys, .min = least, .max = most};
    int64_t values[2] = {1, 2};
    src_pos at;
    if (schedule_find(s, STR("@f/y"), name, &form, values, &at) == SCHEDULE_REFUSED) return;
    const schedule_record r = {.at = text, .name = name, .form = form, .values = values, .origin = name, .limit = name};
    schedule_record_decision(s, &r);
}

static void fuzz_schedule(str text)
{
    static const char *const keys[] = {"rows", "columns"};
    arena *a = arena_create("fuzz");
    diag_engine *d = diag_create(NULL, 0);
    schedule *s = schedule_create(a, d);
    const status read = schedule_read_text(s, "fuzz.yaml", text);
    BUG_IF(read != OK && diag_error_count(d) == 0, "failed without a diagnostic");
    const char *name = arena_strndup(a, text.p, text.n < 100 ? text.n : 100);
    /* Paths are words of the IR text. */
    bool is_plain = text.n != 0 && text.n < 1000 && *name != 0;
    for (size_t i = 0; i < text.n && is_plain; i++) is_plain = text.p[i] > 0x20 && text.p[i] < 0x7F;
    record(s, STR("@f/y"), 2, keys, "tile");
    if (is_plain) record(s, text, 1, NULL, name);
    text_buffer t;
    text_init(&t);
    schedule_write(s, "machine", &t);
    diag_engine *quiet = diag_create(NULL, 0);
    schedule *again = schedule_create(a, quiet);
    const status back = schedule_read_text(again, "again.yaml", (str){t.p, t.n});
    BUG_IF(back != OK, "a written schedule does not read back:\n%s", t.p);
    text_fini(&t);
    diag_destroy(quiet);
    diag_destroy(d);
    arena_destroy(a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    str text = {(const char *)data, size};
    arena *a = arena_create("fuzz");
    diag_engine *d = diag_create(NULL, 0);
    yaml_node *root = NULL;
    if (yaml_read_text(a, d, (src_pos){"fuzz.yaml", 1, 1}, text, &root) == OK) {
        const machine *m = NULL;
        if (machine_read_text(a, d, "fuzz.yaml", text, &m) == OK) {
            int64_t v;
            machine_query_i64(m, STR("spaces.vec.usable-bytes"), &v);
        }
    }
    const pipeline *p = NULL;
    pipeline_request list = {.passes = text, .passes_at = {"<command line>", 1, 1}};
    if (pipeline_read(a, d, &list, &p) != OK) BUG_IF(diag_error_count(d) == 0, "failed without a diagnostic");
    diag_destroy(d);
    arena_destroy(a);
    fuzz_schedule(text);
    if (!names_files(text)) fuzz_pipeline(text);
    return 0;
}
