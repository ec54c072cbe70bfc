/* Which inputs a function is run on: those that were given or random ones, then what arithmetic trips over, and each
 * symbol at 0, at 1 and at the largest value that time allows. */
#ifndef TOOLS_CHECK_SEMANTICS_TRIALS_H
#define TOOLS_CHECK_SEMANTICS_TRIALS_H

#include "tools/check/semantics_run.h"

enum {
    TRIALS_MAX = 32,
    /* Elements that all ops of the function make, products of matrices counted as parts of one. */
    TRIAL_WORK_FIRST = 4 << 20, /* with values for symbols that nobody gave, where there are such */
    TRIAL_WORK_LARGE = 3 << 19, /* when a symbol is as large as that allows */
    TRIAL_WORK_ALL = 4 << 20    /* of all sets of inputs but the first */
};

/* Fills in the trials of `fn`, and what could not be tried. The first is what was asked for: fails after a diagnostic
 * when it cannot be bound. */
MUST_CHECK exit_status semantics_trials_find(semantics_runs *r, module *m, checked_function *fn);
/* The trial cannot be run: it becomes a sentence. `index` is not 0. */
void semantics_trials_leave_out(semantics_runs *r, checked_function *fn, uint32_t index, const char *why);

#endif
