/* --check=semantics as an observer of a compile. */
#ifndef TOOLS_CHECK_SEMANTICS_OBSERVER_H
#define TOOLS_CHECK_SEMANTICS_OBSERVER_H

#include "tools/check/compile_trace.h"
#include "tools/check/semantics_check.h"

typedef struct semantics_watch {
    arena *arena;
    const semantics_request *request;
    flight_recorder *recorder;
    compile_trace *trace;   /* or NULL */
    semantics_check *check; /* made when the compile begins */
} semantics_watch;

/* `w` must outlive the compile. */
compile_observer semantics_observer(semantics_watch *w);

#endif
