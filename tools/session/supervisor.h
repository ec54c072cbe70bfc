/* The worker under a supervisor: a crash of a plugin, its exit(), or what takes more time or memory than granted ends
 * as one sentence that names it and status 70 or 75. */
#ifndef TOOLS_SESSION_SUPERVISOR_H
#define TOOLS_SESSION_SUPERVISOR_H

#include "core/exit_status.h"
#include "core/host/flight_recorder.h"

/* A worker that is asked to stop and does not is killed so much later: in a plugin, and outside any. */
#define SUPERVISOR_GRACE_SECONDS 2.0
#define SUPERVISOR_HOST_GRACE_SECONDS 0.5

typedef int (*worker_main)(void *self, flight_recorder *recorder);

typedef struct supervision {
    const char *tool;          /* begins the message when the worker dies */
    double seconds_max;        /* of real time; 0: no limit */
    double load_seconds_max;   /* of real time for loading one plugin; 0: no limit */
    uint64_t memory_bytes_max; /* of address space; 0: what the system grants */
    /* Asked when the worker died of loading a plugin (load_device, load_inode) or did not come back from it in time,
     * before anything is said of that; `how` goes on after "its code ". True: `work` runs again. Or NULL. */
    bool (*after_bad_load)(void *self, const flight_recorder *r, const char *how);
    /* Called in the supervisor after a worker died and the sentence was printed; or NULL. */
    void (*after_death)(void *self);
    void *self;
} supervision;

/* Forks, runs `work` in the child and returns its status. SIGINT, SIGTERM, SIGHUP and SIGQUIT reach the child; one that
 * does not end it ends in SIGKILL SUPERVISOR_GRACE_SECONDS later, or at the second signal, and the result is 128 + the
 * first. When the time is up, the flight recorder asks the worker to stop; it is killed when it has not ended
 * SUPERVISOR_GRACE_SECONDS later, or SUPERVISOR_HOST_GRACE_SECONDS outside of plugins; 75 in both cases. No process
 * that the worker started outlives the call. Falls back to running `work` here when fork fails, unless something is
 * limited. */
int supervise(const supervision *s, worker_main work, void *self);
/* Without a fork, for debuggers (`--no-supervise`). */
int run_unsupervised(worker_main work, void *self);
/* The last act of a tool: the status, or 74 after a diagnostic when all went well but standard output was not taken. */
int finish_output(int code);

#endif
