/* A backend of somebody else: its counters have names of their own, and one of them differs from execution to
 * execution. */
#include <pto/plugin.h>

#include <stdio.h>

static const char *const kinds[] = {"few", "many", "unit", NULL};

#define OPTIONS(X) \
    X(NAMES, ENUM, "names", .def = "few", .choices = kinds, .doc = "Which counters.", .example = "with: { names: few }")
PTO_OPTIONS(OPTIONS);

static pto_status prepare(const pto_run *run, pto_op function, void **exe)
{
    (void)function;
    *exe = pto_keep(run, sizeof(double));
    return PTO_OK;
}

static void tell(const pto_call *call, const char *name, const char *unit, double value)
{
    call->sink->counter(call->sink->self, pto_s(name), pto_s(unit), value);
}

/* 40, 10, 20, then 30. */
static pto_status execute(const pto_run *run, void *exe, const pto_call *call)
{
    static const double values[] = {40, 10, 20, 30};
    double *number = exe;
    tell(call, "macs / total", "count", 1234);
    tell(call, "dma / 0 / tokens", "count", values[(int)*number % 4]);
    /* Once, and in another place of the list than later ones. */
    if (*number == 1) tell(call, "warm up", "", 5);
    tell(call, "core 00 / dma / busy", "cycles", 7);
    if (pto_opt_i64(run, OPT_NAMES) == 2) tell(call, "core / dma / utilisation", "%", 50);
    for (int i = 0; pto_opt_i64(run, OPT_NAMES) == 1 && i < 100; i++) {
        char name[32];
        snprintf(name, sizeof name, "slot / %02d", i);
        tell(call, name, "", i);
    }
    *number += 1;
    return PTO_OK;
}

static void release(const pto_run *run, void *exe)
{
    (void)run;
    (void)exe;
}

static const pto_backend backend = {.struct_size = sizeof backend,
                                    .id = "test.counts",
                                    .summary = "Count",
                                    .options = pass_options,
                                    .consumes = PTO_STRS("tensor/1"),
                                    .prepare = prepare,
                                    .execute = execute,
                                    .release = release};
PTO_PLUGIN("test.counts", "backend:test.counts", "", .version = "0.1.0", .license = "Apache-2.0",
           .backends = PTO_LIST(pto_backend, &backend));
