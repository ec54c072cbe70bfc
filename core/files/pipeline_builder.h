/* The state while a pipeline is composed; shared by pipeline.c and pipeline_edit.c only. */
#ifndef CORE_FILES_PIPELINE_BUILDER_H
#define CORE_FILES_PIPELINE_BUILDER_H

#include "core/files/pipeline.h"

typedef struct pipeline_builder {
    arena *a;
    diag_engine *d;
    const pipeline_request *request;
    pipeline *p;
    pipeline_step *steps; /* heap */
    size_t step_capacity;
    pipeline_param *params; /* heap */
    size_t param_capacity;
} pipeline_builder;

/* Checks the characters of a pass id ("acme.tile") or, without dots, of a step id or parameter name. */
MUST_CHECK status pipeline_check_id(diag_engine *d, const char *what, str id, bool may_have_dots, src_pos at);
/* Reads a step: a scalar or a mapping of pass, id, with. `kept_id` is used when the node has none; NULL: the pass id
 * without its vendor. */
MUST_CHECK status pipeline_step_from_node(pipeline_builder *b, const yaml_node *node, const char *kept_id,
                                          pipeline_step *out_step);
/* Inserts before position `at`. Fails when the id is taken or there are too many. */
MUST_CHECK status pipeline_insert_step(pipeline_builder *b, uint32_t at, const pipeline_step *step);

/* NULL after a diagnostic with that code: there is none. */
pipeline_param *pipeline_find_param(pipeline_builder *b, str name, src_pos at, const diag_code_info *code);

/* One item of `edits:` of a file that extends another. Fails after a diagnostic. */
MUST_CHECK status pipeline_apply_edit(pipeline_builder *b, const yaml_node *edit);
/* The same for one edit from outside of any file. */
MUST_CHECK status pipeline_apply_override(pipeline_builder *b, const pipeline_override *o);
/* Reads a list of passes as steps after those that are there. */
MUST_CHECK status pipeline_add_list(pipeline_builder *b, str list, src_pos at);

#endif
