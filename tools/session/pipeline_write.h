/* A pipeline as text: what `--print-pipeline` prints and a reproducer keeps. */
#ifndef TOOLS_SESSION_PIPELINE_WRITE_H
#define TOOLS_SESSION_PIPELINE_WRITE_H

#include "core/files/pipeline.h"

/* Descriptors of a plugin for printing: kind "pass", "backend" or the kind of a plugin reference. NULL: unknown. */
typedef const pto_option *const *(*pipeline_options_fn)(void *self, const char *kind, const char *id);

/* Writes the effective pipeline as YAML that reads back to the same, each value with its place as a comment. With
 * `options_of`, defaults of options are written too, marked `# default`. */
void pipeline_write(text_buffer *t, const pipeline *p, pipeline_options_fn options_of, void *self);

#endif
