/* Backends of somebody else: one that models a chip of its own and reports some of what the profile has, one that
 * declares names that it should not, and ways to give what was not declared. */
#include <pto/plugin.h>
#include <pto/profile.h>

static const char *const ways[] = {"well", "undeclared", "unit", "cause", NULL};

#define OPTIONS(X) \
    X(WAY, ENUM, "way", .def = "well", .choices = ways, .doc = "What it reports.", .example = "with: { way: well }")
PTO_OPTIONS(OPTIONS);
enum { WAY_WELL, WAY_UNDECLARED, WAY_UNIT, WAY_CAUSE };

static const char *const kinds[] = {"block.kernel", NULL};

static pto_status prepare(const pto_run *run, pto_op function, void **exe)
{
    (void)run;
    (void)function;
    *exe = NULL;
    return PTO_OK;
}

static void tell(const pto_run_sink *sink, pto_op op, const char *unit, const char *cause, int64_t from, int64_t to)
{
    const pto_slice s = {.struct_size = sizeof s,
                         .unit = sink->unit(sink->self, pto_s(unit)),
                         .op = op,
                         .cause = pto_s(cause),
                         .from = from,
                         .to = to};
    sink->slice(sink->self, &s);
}

/* Transfers on `dma`, the rest on `alu`, ten cycles each, one after the other. */
static int64_t tell_kernel(const pto_run_sink *sink, pto_op kernel, const char *cause)
{
    int64_t now = 0;
    PTO_WALK(kernel, op)
    {
        const pto_str name = pto_op_name(op);
        if (name.n < 5 || memcmp(name.p, "pto.t", 5) != 0) continue;
        const int is_transfer = memcmp(name.p, "pto.tl", 6) == 0 || memcmp(name.p, "pto.tst", 7) == 0;
        tell(sink, op, is_transfer ? "vector 00 / dma" : "vector 00 / alu", "", now, now + 10);
        now += 10;
        if (*cause) tell(sink, op, "vector 00 / alu", cause, now, now + 5);
    }
    tell(sink, kernel, "vector 00 / dma", "", 0, now);
    return now;
}

static pto_status execute(const pto_run *run, void *exe, const pto_call *call)
{
    const pto_run_sink *sink = call->sink;
    const int64_t way = pto_opt_i64(run, OPT_WAY);
    int64_t cycles = 100;
    (void)exe;
    for (uint32_t i = 0; i < call->result_count; i++) memset(call->results[i]->data, 0, call->results[i]->bytes);
    if (sink->slice != NULL) {
        PTO_EACH_OP(pto_module_top(run), op) {
            if (pto_op_is(op, pto_kind(run, 0))) cycles = tell_kernel(sink, op, way == WAY_CAUSE ? "barrier" : "");
        }
    }
    pto_profile_count(sink, PTO_COUNTER_CYCLES, (double)cycles);
    pto_profile_count(sink, PTO_COUNTER_GM_READ, 4096);
    pto_profile_count_unit(sink, PTO_COUNTER_BUSY, "vector 00 / dma", 40);
    pto_profile_count_unit(sink, PTO_COUNTER_BUSY, "vector 00 / alu", 60);
    pto_profile_count_unit(sink, PTO_COUNTER_FLAG, "vector 00 / alu", 3);
    sink->counter(sink->self, PTO_STR("test.partial tokens"), PTO_STR("count"), 17);
    if (way == WAY_UNDECLARED) pto_profile_count(sink, PTO_COUNTER_LAUNCHES, 1);
    if (way == WAY_UNIT) sink->counter(sink->self, PTO_STR("vector 01 / dma / busy"), PTO_STR("us"), 1);
    return PTO_OK;
}

static void release(const pto_run *run, void *exe)
{
    (void)run;
    (void)exe;
}

static const pto_backend partial = {.struct_size = sizeof partial,
                                    .id = "test.partial",
                                    .summary = "Report some of a run",
                                    .options = pass_options,
                                    .kinds = kinds,
                                    .consumes = PTO_STRS("exec/1", "block/1"),
                                    .prepare = prepare,
                                    .execute = execute,
                                    .release = release,
                                    .counters = PTO_STRS("cycles", "gm bytes read", "busy", "stall / flag")};
static const pto_backend misnamed = {
    .struct_size = sizeof misnamed,
    .id = "test.misnamed",
    .summary = "Declare names that are not there",
    .options = pass_options,
    .kinds = kinds,
    .consumes = PTO_STRS("exec/1", "block/1"),
    .prepare = prepare,
    .execute = execute,
    .release = release,
    .counters = PTO_STRS("cycles", "gm byte read", "stall / flags", "test.misnamed tokens", "wholly else")};
static const pto_backend silent = {.struct_size = sizeof silent,
                                   .id = "test.silent",
                                   .summary = "Declare nothing",
                                   .options = pass_options,
                                   .kinds = kinds,
                                   .consumes = PTO_STRS("exec/1", "block/1"),
                                   .prepare = prepare,
                                   .execute = execute,
                                   .release = release};
PTO_PLUGIN("test.profile", "backend:test.partial backend:test.misnamed backend:test.silent", "", .version = "0.1.0",
           .license = "Apache-2.0", .backends = PTO_LIST(pto_backend, &partial, &misnamed, &silent));
