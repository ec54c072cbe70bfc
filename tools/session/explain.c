#include "tools/session/explain.h"

#include "core/files/schedule_impl.h"

#include <inttypes.h>
#include <string.h>

/* ---- the pipeline ---- */

static void put_list(text_buffer *out, const char *title, const char *const *list)
{
    if (list == NULL || *list == NULL) return;
    text_printf(out, "      %-12s", title);
    for (; *list != NULL; list++) text_printf(out, " %s", *list);
    text_putc(out, '\n');
}

void explain_pipeline(const contract *c, const contract_state *states, text_buffer *out)
{
    for (uint32_t i = 0; i < c->step_count; i++) {
        const contract_step *s = &c->steps[i];
        text_printf(out, "%3u  %-24s %s  %s", i + 1, s->step->id, s->pass->id, s->pass->consumes);
        if (strcmp(s->pass->consumes, s->pass->produces) != 0) text_printf(out, " -> %s", s->pass->produces);
        text_printf(out, "  (%s:%u)\n", s->step->at.file, s->step->at.line);
        put_list(out, "requires", s->pass->requires_props);
        put_list(out, "establishes", s->pass->establishes);
        put_list(out, "breaks", s->pass->breaks);
    }
    if (c->backend != NULL) {
        text_printf(out, "     backend %s", c->backend_id);
        for (const char *const *l = c->backend->consumes; l != NULL && *l != NULL; l++) text_printf(out, " %s", *l);
        text_putc(out, '\n');
        put_list(out, "requires", c->backend->requires_props);
    }
    text_puts(out, "left at the end:\n");
    const contract_state *last = &states[c->step_count];
    for (uint32_t i = 0; i < last->level_count; i++) {
        text_printf(out, "      %s", last->levels[i].level);
        for (uint32_t k = 0; k < last->levels[i].property_count; k++)
            text_printf(out, " %s", last->levels[i].properties[k]);
        text_putc(out, '\n');
    }
}

/* ---- what was decided ---- */

enum { COLUMNS = 6 };

static const char *cell(const schedule_decision *d, int column, text_buffer *text)
{
    text->n = 0;
    switch (column) {
    case 0: return d->key.path.p;
    case 1: return d->key.name.p;
    case 2: schedule_put_value(text, d); break;
    case 3: return d->origin;
    case 4:
        if (d->has_cost) text_printf(text, "%.6g", d->cost);
        break;
    default: return d->limit != NULL ? d->limit : "";
    }
    return text->n != 0 ? text->p : "";
}

void explain_schedule(const schedule *s, text_buffer *out)
{
    static const char *const heads[COLUMNS] = {"at", "decide", "value", "origin", "cost", "limit"};
    size_t width[COLUMNS];
    text_buffer text;
    text_init(&text);
    for (int c = 0; c < COLUMNS; c++) {
        width[c] = strlen(heads[c]);
        for (const schedule_decision *d = s->first; d != NULL; d = d->next) {
            const size_t n = strlen(cell(d, c, &text));
            if (n > width[c]) width[c] = n;
        }
    }
    for (int c = 0; c < COLUMNS; c++) text_printf(out, "%-*s", c + 1 < COLUMNS ? (int)width[c] + 2 : 0, heads[c]);
    text_putc(out, '\n');
    for (const schedule_decision *d = s->first; d != NULL; d = d->next) {
        for (int c = 0; c < COLUMNS; c++)
            text_printf(out, "%-*s", c + 1 < COLUMNS ? (int)width[c] + 2 : 0, cell(d, c, &text));
        text_putc(out, '\n');
    }
    text_fini(&text);
}

/* ---- what the steps did ---- */

void explain_timing(const compile_stats *s, text_buffer *out)
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

void explain_counters(const compile_stats *s, const loaded_pipeline *p, text_buffer *out)
{
    for (uint32_t i = 0; i < s->step_count; i++) {
        const step_stats *step = &s->steps[i];
        if (!step->ran) continue;
        text_printf(out, "%s: %" PRIu64 " changes, %" PRIu32 " ops left\n", step->id, step->changes, step->op_count);
        const char *const *names = p->contract.steps[i].pass->stats;
        for (uint32_t k = 0; names != NULL && names[k] != NULL; k++)
            text_printf(out, "  %10" PRId64 "  %s\n", step->stats[k], names[k]);
    }
}
