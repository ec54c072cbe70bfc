/* A backend that says it heeds a hint; it runs nothing. Files define PROBE and HINT first. */
#ifndef PROBE_HEEDS_H
#define PROBE_HEEDS_H

#include <pto/plugin.h>

static pto_status prepare(const pto_run *run, pto_op function, void **exe)
{
    (void)run;
    *exe = NULL;
    return pto_error(function, PROBE "/nothing", "runs nothing");
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

static const pto_backend backend = {
    .struct_size = sizeof backend,
    .id = PROBE,
    .summary = "Heed a hint",
    .consumes = PTO_STRS("tile/1", "block/1"),
    .prepare = prepare,
    .execute = execute,
    .release = release,
    .hints = PTO_STRS(HINT),
};
PTO_PLUGIN(PROBE, "backend:" PROBE, "", .version = "0.1.0", .license = "Apache-2.0",
           .backends = PTO_LIST(pto_backend, &backend));

#endif
