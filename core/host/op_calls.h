/* Ops of plugins: from their rows to rows of the IR, and calls of their functions. */
#ifndef CORE_HOST_OP_CALLS_H
#define CORE_HOST_OP_CALLS_H

#include "core/host/plugin_host.h"
#include "core/host/run_context.h"

#include <pto/opset.h>

/* What calls of the functions of all op-sets share; one for each plugin_host. */
typedef struct opset_calls {
    arena *a;
    run_session_params params;
    run_session *session; /* made by the first call */
} opset_calls;

/* What an added row of the IR leads to (op_info.origin). */
typedef struct plugin_op {
    const pto_op_row *row;
    opset_calls *calls;
    run_agent agent;
    const char *path; /* of the plugin's file */
} plugin_op;

/* Adds the rows of a loaded plugin. What is added and allocated lives in calls->a. FAILED after a diagnostic at `at`:
 * an op has the name of one that another file added; then none of its rows is added. */
MUST_CHECK status opset_add(opset_calls *calls, op_table *ops, diag_engine *d, src_pos at, const plugin_file *f);

/* The plugin's op that a row stands for; NULL for a row of ir/ops. */
static inline const plugin_op *plugin_op_of(const op_info *info) { return info->origin; }

#endif
