#include "tools/check/semantics_observer.h"

static exit_status begin(void *self, const loaded_pipeline *p, module *m, uint32_t first)
{
    semantics_watch *w = self;
    (void)first;
    return semantics_check_begin(w->arena, p->host, w->request, m, w->recorder, &w->check);
}

static exit_status before_step(void *self, const step_event *e)
{
    const semantics_watch *w = self;
    TRY_AS(EXIT_STATUS_FAILED, semantics_check_before(w->check, e->module, e->step->pass));
    return EXIT_STATUS_OK;
}

static exit_status after_step(void *self, const step_event *e)
{
    const semantics_watch *w = self;
    if (!e->changed) return EXIT_STATUS_OK;
    compile_trace_begin(w->trace, "verify", STR("semantics"), NULL);
    const status s = semantics_check_step(w->check, e->module, e->agent, e->step->pass);
    compile_trace_end(w->trace);
    return s == OK ? EXIT_STATUS_OK : EXIT_STATUS_BLAMED;
}

static void went_back(void *self, uint32_t step)
{
    const semantics_watch *w = self;
    (void)step;
    semantics_check_go_back(w->check);
}

static void end(void *self)
{
    const semantics_watch *w = self;
    semantics_check_end(w->check);
}

compile_observer semantics_observer(semantics_watch *w)
{
    return (compile_observer){.self = w,
                              .begin = begin,
                              .before_step = before_step,
                              .after_step = after_step,
                              .went_back = went_back,
                              .end = end};
}
