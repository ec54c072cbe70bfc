/* Which steps of a pipeline run: --from, --until, --only. */
#ifndef CORE_COMPILE_STEP_RANGE_H
#define CORE_COMPILE_STEP_RANGE_H

#include "core/compile/contract.h"

/* The number of the step with this id. Fails after a diagnostic that names `option` (without dashes) and a near id. */
MUST_CHECK status step_by_id(diag_engine *d, const contract *c, const char *id, const char *option, uint32_t *out);

/* The steps to run are [first, end); each id may be NULL. Fails after a diagnostic. */
MUST_CHECK status step_range(diag_engine *d, const contract *c, const char *from, const char *until, const char *only,
                             uint32_t *first, uint32_t *end);

#endif
