#include "core/compile/compile_stats.h"

#include <inttypes.h>

void compile_stats_start(compile_stats *s, arena *a, const opened_pipeline *p)
{
    const contract *c = &p->contract;
    s->steps = arena_array(a, c->step_count, sizeof *s->steps);
    s->step_count = c->step_count;
    for (uint32_t i = 0; i < c->step_count; i++)
        s->steps[i] =
            (step_stats){.id = c->steps[i].step->id, .pass = c->steps[i].pass->id, .stats = p->agents[i]->stat_values};
}

void compile_stats_forget(compile_stats *s, const opened_pipeline *p, uint32_t step)
{
    const char *const *names = p->contract.steps[step].pass->stats;
    for (uint32_t k = 0; names && names[k]; k++) s->steps[step].stats[k] = 0;
}

void compile_stats_print_timing(const compile_stats *s, text_buffer *out)
{
    uint64_t run = 0, verify = 0;
    text_puts(out, "     run ms  verify ms      ops  step\n");
    for (uint32_t i = 0; i < s->step_count; i++) {
        const step_stats *step = &s->steps[i];
        if (!step->ran) continue;
        text_printf(out, "%11.3f%11.3f%9" PRIu32 "  %s (%s)\n", (double)step->run_ns / 1e6,
                    (double)step->verify_ns / 1e6, step->op_count, step->id, step->pass);
        run += step->run_ns;
        verify += step->verify_ns;
    }
    text_printf(out, "%11.3f%11.3f           total\n", (double)run / 1e6, (double)verify / 1e6);
}

void compile_stats_print_counters(const compile_stats *s, const opened_pipeline *p, text_buffer *out)
{
    for (uint32_t i = 0; i < s->step_count; i++) {
        const step_stats *step = &s->steps[i];
        if (!step->ran) continue;
        text_printf(out, "%s: %" PRIu64 " changes, %" PRIu32 " ops left\n", step->id, step->changes, step->op_count);
        const char *const *names = p->contract.steps[i].pass->stats;
        for (uint32_t k = 0; names && names[k]; k++)
            text_printf(out, "  %10" PRId64 "  %s\n", step->stats[k], names[k]);
    }
}
