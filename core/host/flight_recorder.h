/* Where the worker is, in memory that survives it: the supervisor names the culprit from here when the worker dies.
 *
 * Shared by fork. The worker writes, the supervisor reads after the worker has ended; `stop` goes the other way. A
 * plugin can write to it too: nothing in it is believed that could do harm. */
#ifndef CORE_HOST_FLIGHT_RECORDER_H
#define CORE_HOST_FLIGHT_RECORDER_H

#include "ir/base/text.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct flight_recorder {
    char plugin[96], role[32], pass[96], step[96], function[96];
    char phase[64]; /* what the host does when no plugin runs, "comparing the outputs"; or empty */
    char file[256]; /* pipeline file of the step */
    uint32_t line;
    uint32_t finished;     /* 1: the worker returned from its main function; its exit status is meant */
    _Atomic uint32_t stop; /* 1: the time is up; the worker should stop */
    uint32_t stopped;    /* 1: it stopped for that reason; the names above stay those of the plugin that was running */
    uint32_t supervised; /* 0: nothing else reads this */
    uint32_t lost_files; /* 1: a plugin took standard files that cannot be put back; the worker ended for that */
    char parent[96];     /* the plugin after which the worker first had processes of its own, or empty */
    _Atomic uint64_t load_began_ns;   /* monotonic time when the loading of a plugin began, or 0 */
    uint64_t load_device, load_inode; /* of its file */
    int module_fd;     /* of the worker: takes a copy of a module that comes through standard input; or -1 */
    char folder[4096]; /* a temporary folder to remove when the worker cannot, or empty */
    struct process_state *process; /* of the worker: what plugins may not change; NULL in a program without one */
} flight_recorder;

/* A fresh shared page, or ordinary memory when the system has none to share. Never NULL; released with the process. */
flight_recorder *flight_recorder_create(void);
/* Copies text into one of the fields, cut to fit; no text empties it. */
void flight_recorder_set(char *field, size_t field_bytes, str text);
#define FLIGHT_SET(recorder, field, text) flight_recorder_set((recorder)->field, sizeof(recorder)->field, (text))
/* What it says, once nothing may write to it any more: names end and hold no control characters, whatever a plugin
 * wrote over them. */
void flight_recorder_read(const flight_recorder *r, flight_recorder *out);
/* Nothing of a plugin is running. */
void flight_recorder_clear(flight_recorder *r);
static inline bool flight_recorder_stop(const flight_recorder *r)
{
    return r != NULL && atomic_load_explicit(&r->stop, memory_order_relaxed) != 0;
}

/* The host begins what `phase` says. True when the time is up, so that it must not: that is noted. */
bool flight_recorder_phase(flight_recorder *r, const char *phase);

#endif
