/* --verify=paranoid: what a step left must survive being written down and read again.
 *
 * The text is read in a context of its own, verified and printed: the same bytes. So is the generic form, which must
 * come back as itself and as the same text. */
#ifndef TOOLS_CHECK_PARANOID_CHECK_H
#define TOOLS_CHECK_PARANOID_CHECK_H

#include "tools/check/compile_trace.h"

/* Blames a step whose text does not come back, and shows the first line that differs, or why it cannot be read. The
 * trace, which may be NULL, is told. */
compile_observer paranoid_observer(compile_trace *trace);

#endif
