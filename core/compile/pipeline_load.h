/* From a pipeline file to what runs: plugins resolved and loaded, options typed, the machine read. */
#ifndef CORE_COMPILE_PIPELINE_LOAD_H
#define CORE_COMPILE_PIPELINE_LOAD_H

#include "core/compile/contract.h"
#include "core/exit_status.h"
#include "core/files/machine.h"
#include "core/host/plugin_host.h"
#include "core/host/run_context.h"

typedef struct loaded_pipeline {
    const pipeline *pipeline;
    plugin_host *host;
    const machine *machine; /* NULL when the pipeline names none */
    contract contract;
    contract_step *steps;     /* those of the contract; a pass without `run` is still to come: pipeline_open_step */
    run_agent **agents;       /* of each step */
    arena *arena;             /* of what is pointed at */
    run_agent *backend_agent; /* NULL without a backend */
} loaded_pipeline;

/* Opens all steps and the backend (`backend` replaces the pipeline's when it is not NULL; "" leaves it out). Only
 * plugins that are named are loaded, and none of a step whose pass is for some ops alone. Returns, after a diagnostic,
 * EXIT_STATUS_PLUGIN for plugins, EXIT_STATUS_USAGE for the rest. */
MUST_CHECK exit_status pipeline_load(arena *a, diag_engine *d, plugin_host *host, const pipeline *p,
                                     const char *backend, loaded_pipeline *out);
/* Loads the plugin of a step whose pass is still to come, and fills in the step and its agent. Returns as above. */
MUST_CHECK exit_status pipeline_open_step(diag_engine *d, const loaded_pipeline *p, uint32_t index);

#endif
