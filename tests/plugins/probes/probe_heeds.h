/* A backend that says it heeds a hint; it runs nothing. */
#ifndef PROBE_HEEDS_H
#define PROBE_HEEDS_H

#include <pto/plugin.h>

static pto_status prepare(const pto_run *run, pto_op function, void **exe)
{
    (void)run;
    *exe = NULL;
    return pto_error(function, "test.probe-heeds/nothing", "runs nothing");
}

static pto_status execute(const pto_run *run, void *exe, const pto_call *call)
{
    (void)run;
    (void)exe;
    (void)call;
    return PTO_FAILED;
}

static void release(const pto_run *run, void *exe)
{
    (void)run;
    (void)exe;
}

#define PROBE_HEEDS(id_, hint)                                                       \
    static const pto_backend backend = {.struct_size = sizeof backend,               \
                                        .id = id_,                                   \
                                        .summary = "Heed a hint",                    \
                                        .consumes = PTO_STRS("tile/1", "block/1"),   \
                                        .prepare = prepare,                          \
                                        .execute = execute,                          \
                                        .release = release,                          \
                                        .hints = PTO_STRS(hint)};                    \
    PTO_PLUGIN(id_, "backend:" id_, "", .version = "0.1.0", .license = "Apache-2.0", \
               .backends = PTO_LIST(pto_backend, &backend))

#endif
