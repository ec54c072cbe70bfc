/* --bisect=N: the first N optional unit runs are done, the others are left out, so that halving N finds the run that
 * makes the difference.
 *
 * A unit run is one pass on one function, or on the module when that is its scope. It is optional when nothing needs
 * the pass: it changes no level, establishes no property that a later step or the backend requires, and does not say
 * PTO_PASS_NEEDED. What is not optional always runs and is not counted, nor is a pass whose ops the module does not
 * have. N = -1 runs everything. Each decision is one line on stderr, unless that
 * is suppressed. The numbers do not depend on N as long as the runs before them are the same. */
#ifndef TOOLS_CHECK_BISECT_H
#define TOOLS_CHECK_BISECT_H

#include "core/compile/observer.h"

/* Numbers the runs of all steps of a pipeline, whichever part of it runs: so a dump and --from make the same decisions.
 */
compile_observer bisect_observer(arena *a, int64_t limit, bool is_quiet);

#endif
