#include "tools/run/backend_exe.h"

#include "tools/run/backend_run.h"

void backend_exe_open(arena *a, const loaded_pipeline *p, module *m, op_id function, run_registry *registry,
                      flight_recorder *recorder, backend_exe *out)
{
    const run_session_params params = {.diags = context_diags(module_context(m)),
                                       .registry = registry,
                                       .machine = p->machine,
                                       .abi_minor = plugin_host_abi_minor(p->host),
                                       .recorder = recorder};
    *out = (backend_exe){
        .backend = p->contract.backend,
        .session = run_session_create(a, &params),
        .request = {.agent = p->backend_agent, .module = m, .unit = function, .access = RUN_READS},
    };
    out->run = run_context_begin(out->session, &out->request);
    out->prepared = out->backend->prepare(out->run, run_context_op(out->run, function), &out->exe);
}

exit_status backend_exe_close(backend_exe *x, pto_status last)
{
    if (x->prepared == PTO_OK) x->backend->release(x->run, x->exe);
    run_context_put_back(x->run);
    const run_result result = run_context_end(x->run, last);
    run_session_destroy(x->session);
    if (!result.failed) return EXIT_STATUS_OK;
    return last == PTO_MISSING ? EXIT_STATUS_PLUGIN : EXIT_STATUS_FAILED;
}

static void forget_counter(void *self, pto_str name, pto_str unit, double number)
{
    (void)self, (void)name, (void)unit, (void)number;
}

exit_status backend_exe_call(backend_exe *x, arena *a, const bound_call *call, uint64_t constants)
{
    const pto_run_sink sink = {.struct_size = sizeof sink, .counter = forget_counter};
    const pto_run *run = run_context_begin(x->session, &x->request);
    const pto_call c = backend_run_call(a, run, call, &sink, 0, constants);
    const run_result result = run_context_end(run, x->backend->execute(run, x->exe, &c));
    return result.failed ? EXIT_STATUS_FAILED : EXIT_STATUS_OK;
}
