/* --verify=paranoid: what a step left must survive being written down and read again.
 *
 * The text is read in a context of its own, verified and printed: the same bytes. So is the generic form, which must
 * come back as itself and as the same text. */
#ifndef CORE_PARANOID_CHECK_H
#define CORE_PARANOID_CHECK_H

#include "core/run_context.h"
#include "ir/module.h"

/* Fails after a diagnostic that blames `agent` and shows the first line that differs, or why the text cannot be read.
 */
MUST_CHECK status paranoid_check(module *m, const run_agent *agent);

#endif
