#include "core/compile/compile_stats.h"

void compile_stats_start(compile_stats *s, arena *a, const loaded_pipeline *p)
{
    const contract *c = &p->contract;
    s->steps = arena_array(a, c->step_count, sizeof *s->steps);
    s->step_count = c->step_count;
    for (uint32_t i = 0; i < c->step_count; i++)
        s->steps[i] =
            (step_stats){.id = c->steps[i].step->id, .pass = c->steps[i].pass->id, .stats = p->agents[i]->stat_values};
}

void compile_stats_forget(compile_stats *s, const loaded_pipeline *p, uint32_t step)
{
    const char *const *names = p->contract.steps[step].pass->stats;
    for (uint32_t k = 0; names != NULL && names[k] != NULL; k++) s->steps[step].stats[k] = 0;
}
