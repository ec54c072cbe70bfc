/* Case files, `pto-case: 1`: modules, where their data comes from, and how the results are judged (docs/cases.md). */
#ifndef TOOLS_RUN_RUN_CASE_H
#define TOOLS_RUN_RUN_CASE_H

#include "core/files/schema.h"
#include "tools/run/tensor_compare.h"

typedef struct case_size_symbol {
    str name; /* without `$` */
    int64_t value;
} case_size_symbol;

typedef struct case_size {
    str name;
    const case_size_symbol *symbols;
    uint32_t symbol_count;
} case_size;

typedef struct case_file_entry {
    str parameter;
    const char *file; /* in the data folder; or a number, see call_value.h */
    src_pos at;
} case_file_entry;

typedef struct case_output {
    str parameter;
    const char *expect, *magnitude; /* in the data folder; magnitude may be NULL */
    src_pos expect_at, magnitude_at;
    compare_rule rule;
    double rtol, atol; /* of COMPARE_TOLERANCE */
    str terms;         /* a number or `$SYMBOL`; empty: 1 */
    src_pos at;
} case_output;

typedef struct case_description {
    const char *name;          /* of a file with several: "file/case" */
    const char *doc, *entry;   /* or NULL */
    const char *module, *data; /* paths, relative ones resolved against the case file; data may be NULL */
    src_pos module_at, data_at;
    const char *const *data_arguments;
    uint32_t data_argument_count;
    const case_size *sizes;
    uint32_t size_count;
    src_pos sizes_at; /* of the mapping */
    const case_file_entry *inputs;
    uint32_t input_count;
    const case_output *outputs;
    uint32_t output_count;
} case_description;

extern const schema_file case_schema;

/* "FILE.yaml:NAME": the bytes of the path, and the name of one of its cases, NULL when there is none. */
size_t case_split(const char *text, const char **name);
/* What case_read takes, for each case that `text` means: itself, or all cases of the file. In the arena. */
MUST_CHECK status case_list(arena *a, diag_engine *d, const char *text, const char *const **out, uint32_t *count);
/* `text`: a file with one case, or FILE.yaml:NAME. Everything lives in the arena. */
MUST_CHECK status case_read(arena *a, diag_engine *d, const char *text, case_description *out);
/* NULL after a diagnostic that lists the sizes there are. */
const case_size *case_size_by_name(diag_engine *d, const case_description *c, str name);

#endif
