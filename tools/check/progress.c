#include "tools/check/progress.h"

#include <inttypes.h>
#include <stdio.h>

static exit_status before_step(void *self, const step_event *e)
{
    (void)self;
    fprintf(stderr, "step %" PRIu32 " of %" PRIu32 ": %s (%s)\n", e->index + 1, e->end, e->step->step->id,
            e->step->pass->id);
    return EXIT_STATUS_OK;
}

compile_observer progress_observer(void) { return (compile_observer){.before_step = before_step}; }
