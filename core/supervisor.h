/* The worker under a supervisor: a crash of a plugin, or its exit(), ends as one sentence that names it and status 70.
 */
#ifndef CORE_SUPERVISOR_H
#define CORE_SUPERVISOR_H

#include "core/flight_recorder.h"

enum exit_status {
    EXIT_STATUS_OK = 0,
    EXIT_STATUS_NO = 1,     /* ran well, the answer is no */
    EXIT_STATUS_USAGE = 2,  /* command line, YAML, missing input file */
    EXIT_STATUS_PLUGIN = 3, /* plugin missing, ambiguous or refused */
    EXIT_STATUS_INPUT = 4,  /* IR text, tensor file, symbol binding */
    EXIT_STATUS_FAILED = 5, /* a pass or backend reported an error */
    EXIT_STATUS_BLAMED = 6, /* verifier or property check blames a step */
    EXIT_STATUS_INTERNAL = 70,
    EXIT_STATUS_OUTPUT = 74,   /* an output cannot be written */
    EXIT_STATUS_RESOURCES = 75 /* memory ran out */
};

typedef int (*worker_main)(void *self, flight_recorder *recorder);

/* Forks, runs `work` in the child and gives its status; `tool` begins the message when the child dies. SIGINT and
 * SIGTERM reach the child, and the result is then 128 + signal. Falls back to running `work` here when fork fails. */
int supervise(const char *tool, worker_main work, void *self);
/* Without a fork, for debuggers (`--no-supervise`). */
int run_unsupervised(worker_main work, void *self);

#endif
