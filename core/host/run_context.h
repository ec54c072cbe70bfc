/* One run of one plugin function on one unit: what runs, what it may change, what it changed.
 *
 * Whatever a run changed of the process is put back when it ends, and when another begins inside it. A plugin sees
 * it as its pto_run. Handles carry the number of their run, so one kept from an earlier run is noticed; the memory of
 * a run lives as long as the plugins, so noticing is safe. Runs nest (a pass asks a strategy). One thread. */
#ifndef CORE_HOST_RUN_CONTEXT_H
#define CORE_HOST_RUN_CONTEXT_H

#include "core/files/machine.h"
#include "core/files/schedule.h"
#include "core/host/choices.h"
#include "core/host/flight_recorder.h"
#include "ir/module.h"
#include "ir/verify/touched_functions.h"

#include <pto/generator.h>
#include <pto/reader.h>
#include <pto/tiling.h>

/* What of a plugin runs: a pass of a step, a property checker, a strategy, a cost model, a code generator, a reader,
 * a backend.
 * Made once for each step when its ids are resolved; constant except for the statistics. */
typedef struct run_agent {
    const char *plugin, *role, *id; /* "org.acme.copies", "pass", "acme.drop-copies" */
    const char *step;               /* or NULL */
    src_pos at;                     /* where the pipeline names it */
    const pto_kind_id *kinds;       /* see run_agent_kinds */
    uint32_t kind_count;
    const pto_option *const *options; /* descriptors, NULL-ended, and a value for each */
    const value *values;
    const char *const *stats; /* names, NULL-ended, and a counter for each */
    int64_t *stat_values;
    /* For options that are plugin references: the strategy, cost model or generator; one entry for each option, or NULL
     * when there is none. */
    const struct run_agent *const *strategies;
    bool chooses;             /* a pass: it has alternatives, so the module is kept as it was before its step */
    const pto_tiling *tiling; /* of a strategy */
    const pto_cost *cost;     /* of a cost model */
    const pto_generator *generator;
    const pto_reader *reader;
} run_agent;

/* Ids of the op kinds that a descriptor lists. plugin_load has checked that they exist. NULL after a diagnostic: the
 * plugin of one of them cannot be loaded. */
const pto_kind_id *run_agent_kinds(arena *a, op_table *ops, const char *const *names, uint32_t *out_count);

enum { RUN_AGENT_TEXT_BYTES = 400 };
/* "step `tile` (pass acme.tile of plugin acme.tile)", into RUN_AGENT_TEXT_BYTES; returns `out`. */
const char *run_agent_text(const run_agent *agent, char *out);
/* Names the step, its pass and the plugin, in a note to the error before it. */
void run_agent_note(const run_agent *agent, diag_engine *d);

typedef struct run_session run_session;
/* What all sessions of a tool share: which run is open. A handle that outlived its session is told apart by it. */
typedef struct run_registry run_registry;

/* Empty; lives in `a`, which must outlive all sessions that use it. */
run_registry *run_registry_create(arena *a);

typedef struct run_session_params {
    diag_engine *diags;
    run_registry *registry;       /* plugin_host_runs; NULL: of its own */
    const machine *machine;       /* or NULL */
    uint32_t abi_minor;           /* told to plugins */
    flight_recorder *recorder;    /* told what runs, from begin to end, and asked whether to stop; or NULL */
    touched_functions *functions; /* told which functions a run may have changed; or NULL */
    choices *choices;             /* which alternatives were tried in vain; or NULL */
    schedule *schedule;           /* asked what is pinned, told what is decided; or NULL */
} run_session_params;

/* What `keep` returns lives in `a`. */
run_session *run_session_create(arena *a, const run_session_params *params);
void run_session_destroy(run_session *s);
/* What runs left for the next of their kind (`recall`) is not there for those that come: steps run again. */
void run_session_forget(run_session *s);
/* The time is up. */
bool run_session_is_stopped(const run_session *s);

typedef enum run_access {
    RUN_READS,           /* property checkers, strategies, backends */
    RUN_WRITES_FUNCTION, /* function-scope passes: `unit` and its insides */
    RUN_WRITES_MODULE
} run_access;

typedef struct run_request {
    const run_agent *agent;
    module *module;
    op_id unit; /* 0 for module scope */
    run_access access;
    uint32_t levels;        /* bit 1 << LEVEL_x: ops that may be made */
    const run_agent *after; /* of a checker: the step whose work is checked, for the flight recorder; or NULL */
} run_request;

/* Levels that a pass may make ops of: those it consumes and produces, with their guests except for the levels of
 * `excluded`, as bits. */
uint32_t run_levels(const op_table *ops, const pto_pass *pass, uint32_t excluded);

/* Around runs of one agent that follow each other, between which the host does nothing that depends on the process: the
 * process is looked at once, after all of them. Groups do not nest; runs inside of theirs are looked at alone. */
void run_group_begin(run_session *s, const run_agent *agent);
void run_group_end(run_session *s);

/* Opens a run, which a plugin gets and run_context_end ends; runs may be nested. `request` is copied. */
const pto_run *run_context_begin(run_session *s, const run_request *request);
/* The unit as the plugin gets it; none for module scope. */
pto_op run_context_unit(const pto_run *run);
/* An op of the run's module as the plugin gets it. */
pto_op run_context_op(const pto_run *run, op_id o);

/* Classes of changes. */
enum {
    RUN_CHANGED_OPS = 1, /* made, erased, moved */
    RUN_CHANGED_OPERANDS = 2,
    RUN_CHANGED_ATTRS = 4,
    RUN_CHANGED_TYPES = 8,
    RUN_CHANGED_BLOCKS = 16, /* block arguments */
    RUN_CHANGED_NAMES = 32,  /* of values: texts differ, meanings do not */
    RUN_CHANGED_MODULE = 64  /* attributes of the module; functions and kernels */
};

typedef struct run_result {
    bool failed;        /* it said so, or reported an error, or broke a rule */
    bool misused;       /* it broke a rule of the ABI and was reported */
    uint32_t changes;   /* RUN_CHANGED_*; 0 exactly when nothing changed */
    bool asked_machine; /* it, or a strategy that it asked, read the machine description */
    function_sight saw; /* what it looked at */
} run_result;

/* Runs a function of a code generator on a whole module. False after a diagnostic: it failed. */
typedef pto_status (*run_writer)(const pto_run *run, const pto_text_sink *sink);
bool run_generate(run_session *s, const run_agent *generator, run_writer write, module *m, const pto_text_sink *sink);
/* Runs a reader, which fills an empty module with what the text says. Likewise. */
bool run_read(run_session *s, const run_agent *reader, module *m, str text);

/* The process is the host's again while the run goes on (process_state.h): before the host does work inside of it that
 * depends on the process, such as opening a file. */
void run_context_put_back(const pto_run *run);

/* Ends the innermost run, which must be `run`. `returned` is what the plugin's function returned: a failure without any
 * diagnostic is reported here, and a note says which step reported the others. */
run_result run_context_end(const pto_run *run, pto_status returned);

#endif
