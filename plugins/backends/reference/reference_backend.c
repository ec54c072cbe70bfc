/* pto.reference: runs a module of any level, op by op. */
#include "reference_interp.h"

#include <pto/plugin.h>

#define OPTIONS(X)                                                                                                     \
    X(PERTURB, I64, "perturb", "seed of random errors, as large as comparisons allow, in every float result; 0: none", \
      .def = "0", .min = "0", .example = "with: { perturb: 1 }")
PTO_OPTIONS(OPTIONS);

/* What lives from prepare to release: memory that executions leave to each other. */
typedef struct executable {
    pool pool;
} executable;

static pto_status prepare(const pto_run *run, pto_op function, void **exe)
{
    if (code_decode(run, function) == NULL) return PTO_FAILED;
    *exe = pto_keep(run, sizeof(executable));
    return PTO_OK;
}

static void count(const pto_run_sink *sink, const char *name, uint64_t n)
{
    if (sink != NULL && sink->counter != NULL) sink->counter(sink->self, pto_s(name), pto_s("count"), (double)n);
}

static pto_status execute(const pto_run *run, void *exe, const pto_call *call)
{
    executable *e = exe;
    e->pool.run = run;
    const function_code *entry = code_decode(run, call->function);
    if (entry == NULL) return PTO_FAILED;
    interp in = {.run = run,
                 .call = call,
                 .pool = &e->pool,
                 .serial = MARK_FIRST - 1,
                 .random = call->seed,
                 .perturb = (uint64_t)pto_opt_i64(run, OPT_PERTURB),
                 .cpu = insn_cpu()};
    PTO_TRY(interp_run(&in, entry));
    count(call->sink, "ops executed", in.op_count);
    count(call->sink, "instructions executed", in.insn_count);
    count(call->sink, "instances", in.instance_count);
    return PTO_OK;
}

static void release(const pto_run *run, void *exe)
{
    (void)run;
    (void)exe;
}

static const pto_backend backend = {
    .struct_size = sizeof backend,
    .id = "pto.reference",
    .summary = "Interprets a module of any level op by op",
    .options = pass_options,
    .consumes = PTO_STRS("tensor/1", "tile/1", "block/1", "exec/1"),
    .prepare = prepare,
    .execute = execute,
    .release = release,
};

PTO_PLUGIN("pto.reference", "backend:pto.reference", "", .version = "1.0.0", .license = "Apache-2.0",
           .backends = PTO_LIST(pto_backend, &backend));
