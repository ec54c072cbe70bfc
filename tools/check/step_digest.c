#include "tools/check/step_digest.h"

#include "ir/text/printer.h"
#include "tools/base/digest.h"

static status add(void *self, const char *p, size_t n)
{
    uint64_t *digest = self;
    *digest = digest_add(*digest, p, n);
    return OK;
}

static uint64_t digest_of(module *m)
{
    uint64_t digest = DIGEST_OF_NOTHING;
    text_buffer t;
    text_init(&t);
    t.flush = add;
    t.self = &digest;
    module_print(m, &(print_options){0}, &t);
    if (text_finish(&t) != OK) digest = 0;
    text_fini(&t);
    return digest;
}

static exit_status begin(void *self, const loaded_pipeline *p, module *m, uint32_t first)
{
    step_digests *d = self;
    (void)m;
    (void)first;
    d->after = arena_array(d->arena, p->contract.step_count, sizeof *d->after);
    return EXIT_STATUS_OK;
}

static exit_status after_step(void *self, const step_event *e)
{
    const step_digests *d = self;
    d->after[e->index] = digest_of(e->module);
    return EXIT_STATUS_OK;
}

compile_observer step_digest_observer(step_digests *d)
{
    return (compile_observer){.self = d, .begin = begin, .after_step = after_step};
}
