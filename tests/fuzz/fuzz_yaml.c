/* libFuzzer: any bytes as a YAML file, a pipeline, a machine and a list of passes. What reads as a pipeline must be
 * written so that it reads again. */
#include "core/machine.h"
#include "core/pipeline.h"

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
    if (!names_files(text)) fuzz_pipeline(text);
    return 0;
}
