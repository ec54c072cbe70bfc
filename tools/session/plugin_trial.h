/* Tools that load any plugin they find, good or bad: one that ends its process or does not come back from being loaded
 * is refused, and the tool's work begins again without it. */
#ifndef TOOLS_SESSION_PLUGIN_TRIAL_H
#define TOOLS_SESSION_PLUGIN_TRIAL_H

#include "core/host/plugin_host.h"
#include "tools/session/command_line.h"
#include "tools/session/supervisor.h"

/* What `work` gets as its `self`. */
typedef struct plugin_trial {
    const command_line *line;
    const plugin_refusal *refused; /* for plugin_host_params */
} plugin_trial;

/* Runs `work` under a supervisor, again for each plugin that must be refused, and returns its status. What a run that
 * began again had written is not seen, up to 64 KiB of diagnostics; results are to be written at the end. */
int plugin_trial_run(arena *a, diag_engine *d, const command_line *line, worker_main work);

#endif
