/* The kinds of YAML files as JSON Schema (draft 2020-12), for --print-schema. */
#ifndef TOOLS_INSPECT_JSON_SCHEMA_H
#define TOOLS_INSPECT_JSON_SCHEMA_H

#include "core/files/schema.h"

/* The schema of a kind of file: pipeline, machine, schedule or case; NULL when there is no such kind. [any] */
const schema_file *schema_file_by_kind(str kind);
/* Appends the JSON Schema of a file. [any] */
void schema_write_json(text_buffer *t, const schema_file *file);

#endif
