/* Which steps of a pipeline run: --from, --until, --only. */
#ifndef TOOLS_CHECK_STEP_RANGE_H
#define TOOLS_CHECK_STEP_RANGE_H

#include "core/compile/contract.h"

/* The number of the step with this id. Fails after a diagnostic that names `option` (without dashes) and a near id. */
MUST_CHECK status step_by_id(diag_engine *d, const contract *c, const char *id, const char *option, uint32_t *out);

/* The step ids of the command line; each may be NULL. */
typedef struct step_range {
    const char *from, *until, *only;
} step_range;

/* The steps to run are [first, end). Fails after a diagnostic. */
MUST_CHECK status step_range_find(diag_engine *d, const contract *c, const step_range *range, uint32_t *first,
                                  uint32_t *end);

#endif
