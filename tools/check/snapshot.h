/* Modules written down between steps: numbered files, or text on stderr. */
#ifndef TOOLS_CHECK_SNAPSHOT_H
#define TOOLS_CHECK_SNAPSHOT_H

#include "tools/check/compile_trace.h"
#include "tools/run/output_folder.h"

typedef struct snapshot_request {
    arena *arena;
    const char *folder;         /* a numbered file after each step that changed something; or NULL */
    const char *const *printed; /* ids of the steps after which the module is printed, NULL-ended */
    bool prints_all, prints_changed;
    compile_trace *trace; /* told; or NULL */
    /* Of the observer, while it observes: the folder, and how many files were in it before each step. */
    output_folder *opened;
    uint32_t *written;
} snapshot_request;

/* Files are `DIR/NN-STEP.ptir`, NN from 01; the folder is made when it is missing. What comes in is `00-input.ptir`. A
 * module is printed to stderr under a comment line that names the step. `r` must outlive the compile. */
compile_observer snapshot_observer(snapshot_request *r);

#endif
