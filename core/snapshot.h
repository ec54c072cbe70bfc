/* Modules written down between steps: numbered files, or text on stderr. */
#ifndef CORE_SNAPSHOT_H
#define CORE_SNAPSHOT_H

#include "ir/module.h"

/* Writes `DIR/NN-STEP.ptir`, NN from 01; the folder is made when it is missing. Step 0 is the input: `00-input.ptir`.
 */
MUST_CHECK status snapshot_write(diag_engine *d, module *m, const char *folder, uint32_t number, const char *step);
/* Prints the module to stderr under a comment line that names the step. */
void snapshot_print(module *m, const char *step);

#endif
