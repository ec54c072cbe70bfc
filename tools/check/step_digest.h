/* Numbers that stand for the text of the module after each step, for comparing two compiles. */
#ifndef TOOLS_CHECK_STEP_DIGEST_H
#define TOOLS_CHECK_STEP_DIGEST_H

#include "core/compile/observer.h"

typedef struct step_digests {
    arena *arena;
    uint64_t *after; /* of each step of the pipeline; 0 when it did not run */
} step_digests;

/* Fills `d`, which names an arena and must outlive the compile. */
compile_observer step_digest_observer(step_digests *d);

#endif
