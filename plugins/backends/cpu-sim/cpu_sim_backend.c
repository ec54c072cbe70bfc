/* Backend pto.cpu-sim: runs launches of kernels of PTO instructions on a model of the machine. */
#include "cpu-sim/sim.h"

#include <pto/plugin.h>

#include <inttypes.h>

static const char *const data_choices[] = {"full", "none", NULL};
static const char *const semantics_choices[] = {"meaning", "chip", NULL};

#define OPTIONS(X)                                                                                               \
    X(DATA, ENUM, "data", .def = "full", .choices = data_choices,                                                \
      .doc = "Whether instructions compute: `none` leaves outputs alone and is faster.",                         \
      .example = "with: { data: none }")                                                                         \
    X(TIMING, BOOL, "timing", .def = "true",                                                                     \
      .doc = "Whether cycles count: without, each op takes one cycle and there is no trace.",                    \
      .example = "with: { timing: false }")                                                                      \
    X(SEMANTICS, ENUM, "semantics", .def = "meaning", .choices = semantics_choices,                              \
      .doc = "What instructions compute: what their rows say, or what the machine file says that the chip does " \
             "instead; elements that differ are reported.",                                                      \
      .example = "with: { semantics: chip }")                                                                    \
    X(QUEUE_DEPTH, I64, "queue-depth", .def = "32", .min = "1", .max = "1024", .unit = "ops",                    \
      .doc = "Ops that the queue of a pipe takes before the scalar unit stops.",                                 \
      .example = "with: { queue-depth: 8 }")                                                                     \
    X(DROP_WAIT, I64, "drop-wait", .def = "-1", .min = "-1", .max = "1000000",                                   \
      .doc = "Leaves out one wait_flag, by its number among those of the kernels; to test that it is needed.",   \
      .example = "with: { drop-wait: 0 }")                                                                       \
    X(DROP_SET, I64, "drop-set", .def = "-1", .min = "-1", .max = "1000000",                                     \
      .doc = "Leaves out one set_flag, likewise.", .example = "with: { drop-set: 0 }")                           \
    X(GENERATOR, PLUGIN, "generator", .def = "\"\"", .choices = PTO_STRS("generator"),                           \
      .doc = "What writes source text for the chip, where `pto-opt -o` asks for it; none by default.",           \
      .example = "with: { generator: pto.emit-ascend }")
PTO_OPTIONS(OPTIONS);

/* Everything that can be refused before there is data. */
static pto_status prepare(const pto_run *run, pto_op function, void **exe)
{
    *exe = pto_keep(run, 1);
    const program *p = program_decode(run, function, "pto.cpu-sim", 0);
    if (p == NULL) return PTO_FAILED;
    PTO_EACH_OP(pto_module_top(run), op) {
        if (!pto_str_is(pto_op_name(op), "block.kernel")) continue;
        if (program_decode(run, op, "pto.cpu-sim", 0) == NULL) return PTO_FAILED;
    }
    return PTO_OK;
}

static uint32_t reads_data(const pto_run *run) { return pto_opt_i64(run, OPT_DATA) == 0; }

static uint32_t count_kernels(const pto_run *run)
{
    uint32_t n = 0;
    PTO_EACH_OP(pto_module_top(run), op) n += pto_str_is(pto_op_name(op), "block.kernel") ? 1 : 0;
    return n;
}

/* Tensors of the call as arguments of the function. */
static pto_status take_arguments(sim *s, const pto_call *call, program_argument *out)
{
    const program *p = s->orchestrator;
    pto_binding *bound = PTO_SCRATCH(s->run, pto_binding, call->argument_count + call->result_count);
    PTO_TRY(pto_backend_bind(call, "pto.cpu-sim/arguments", bound));
    for (uint32_t i = 0; i < call->argument_count; i++) {
        const pto_tensor *t = bound[i].tensor;
        program_array *a = &out[i].array;
        if (p->parameters[i].kind == PTO_TYPE_SCALAR) {
            const bool is_float = element_is_float(t->dtype);
            out[i].scalar = number_from_int(0);
            if (is_float)
                out[i].scalar.is_int = false, element_read_f64(t->dtype, t->data, 0, 1, &out[i].scalar.f);
            else
                element_read_i64(t->dtype, t->data, 0, 1, &out[i].scalar.i);
            continue;
        }
        *a = (program_array){.base = s->options.has_data ? t->data : NULL,
                             .bytes = (size_t)t->bytes,
                             .root = i,
                             .dtype = t->dtype,
                             .rank = t->rank};
        memcpy(a->dims, t->dims, sizeof a->dims);
        memcpy(a->strides, t->strides, sizeof a->strides);
    }
    for (uint32_t i = 0; i < call->argument_count; i++)
        written_add(&s->written, p->self->op, p->parameters[i].name, &out[i].array, p->parameters[i].in,
                    pto_call_shares(call, bound[i].tensor));
    return PTO_OK;
}

static pto_status set_up_memory(sim *s)
{
    const pto_space global = s->machine->global;
    const uint32_t actors = memory_actor(s) + 1;
    event_queue_init(s->run, &s->queue, actors);
    bandwidth_init(&s->memory, s->machine->gm_bytes_per_cycle);
    for (pto_space space = 1; space < pto_name_count(s->run, PTO_NAME_SPACE); space++) {
        const pto_path_facts in = pto_machine_path(s->run, global, space),
                             out = pto_machine_path(s->run, space, global);
        if (in != NULL) bandwidth_add_class(s->run, &s->memory, in->bytes_per_cycle, actors);
        if (out != NULL && space != global) bandwidth_add_class(s->run, &s->memory, out->bytes_per_cycle, actors);
    }
    for (uint32_t i = 0; i < LAUNCHES_MAX; i++) claims_init(s->run, &s->launches[i].claims);
    s->cores = PTO_SCRATCH(s->run, sim_core, s->machine->core_count);
    for (uint32_t k = 0; k < s->machine->kind_count; k++) {
        const sim_core_kind *kind = &s->machine->kinds[k];
        for (uint32_t i = kind->first; i < kind->first + kind->count; i++) {
            s->cores[i].number = i;
            s->cores[i].kind = kind;
            core_init(s, &s->cores[i]);
        }
    }
    return PTO_OK;
}

static pto_status start_function(sim *s, const pto_call *call)
{
    s->orchestrator = program_decode(s->run, call->function, "pto.cpu-sim", 0);
    if (s->orchestrator == NULL) return PTO_FAILED;
    const program *p = s->orchestrator;
    int64_t *symbols = PTO_SCRATCH(s->run, int64_t, p->symbol_count + 1);
    program_argument *arguments = PTO_SCRATCH(s->run, program_argument, p->parameter_count + 1);
    PTO_TRY(take_arguments(s, call, arguments));
    PTO_TRY(program_pick_symbols(p, call->symbol_count, call->symbols, call->symbol_values, symbols));
    s->orchestrator_state = program_state_make(p);
    return program_start(s->orchestrator_state, &(program_frame){.symbols = symbols, .arguments = arguments});
}

static void finish(sim *s)
{
    for (uint32_t i = 0; i < s->machine->core_count; i++)
        for (uint32_t p = SCALAR_PIPE; p < s->cores[i].kind->pipe_end; p++)
            pipe_set_state(&s->cores[i].pipes[p], PIPE_LAUNCH, s->now);
    report_counters(s);
    trace_write(s);
}

static pto_status execute(const pto_run *run, void *exe, const pto_call *call)
{
    (void)exe;
    sim *s = PTO_SCRATCH(run, sim, 1);
    sim_machine *m = PTO_SCRATCH(run, sim_machine, 1);
    s->run = run;
    s->machine = m;
    s->sink = call->sink;
    s->seed = call->seed;
    s->options = (sim_options){.has_data = pto_opt_i64(run, OPT_DATA) == 0,
                               .has_timing = pto_opt_bool(run, OPT_TIMING),
                               .is_chip = pto_opt_i64(run, OPT_SEMANTICS) == 1,
                               .queue_depth = (uint32_t)pto_opt_i64(run, OPT_QUEUE_DEPTH),
                               .drop_wait = pto_opt_i64(run, OPT_DROP_WAIT),
                               .drop_set = pto_opt_i64(run, OPT_DROP_SET)};
    s->cpu = insn_cpu();
    PTO_TRY(sim_machine_read(run, s->options.has_timing, m));
    written_init(run, &s->written);
    PTO_TRY(set_up_memory(s));
    s->kernels = PTO_SCRATCH(run, sim_kernel, count_kernels(run) + 1);
    PTO_TRY(start_function(s, call));
    PTO_TRY(chip_run(s));
    PTO_TRY(report_leftover(s));
    if (s->options.drop_wait >= 0 || s->options.drop_set >= 0)
        return pto_error(s->orchestrator->self->op, "pto.cpu-sim/no-such-flag",
                         "drop-wait or drop-set is larger than the number of such ops in the kernels of @%s",
                         s->orchestrator->name);
    PTO_TRY(report_never_written(s));
    report_chip(s);
    finish(s);
    return PTO_OK;
}

static void release(const pto_run *run, void *exe)
{
    (void)run;
    (void)exe;
}

static const char *const counters[] = {"cycles",
                                       "time",
                                       "gm bytes read",
                                       "gm bytes written",
                                       "ops",
                                       "instructions",
                                       "launches",
                                       "instances",
                                       "busy",
                                       "utilisation",
                                       "stall / latency",
                                       "stall / shared bandwidth",
                                       "stall / result",
                                       "stall / flag",
                                       "stall / barrier",
                                       "stall / queue full",
                                       "stall / launch",
                                       "stall / queue empty",
                                       "trace / slices left out",
                                       "integer divisions by zero",
                                       "memory accesses not compared between instances",
                                       NULL};

static const pto_backend backend = {
    .struct_size = sizeof backend,
    .id = "pto.cpu-sim",
    .summary = "Simulate the machine: results, cycles, and whether flags order what they must",
    .options = pass_options,
    .consumes = PTO_STRS("exec/1", "block/1"),
    .requires_props = PTO_STRS("pto.scheduled", "pto.addresses-assigned", "pto.synchronised"),
    .prepare = prepare,
    .execute = execute,
    .release = release,
    .reads_data = reads_data,
    .counters = counters,
};
/* For kernels that no pipeline made: what the properties would promise is what the simulator finds out. */
static const pto_backend unchecked = {
    .struct_size = sizeof unchecked,
    .id = "pto.cpu-sim-unchecked",
    .summary = "The same, whatever is not known of the addresses and flags",
    .options = pass_options,
    .consumes = PTO_STRS("exec/1", "block/1"),
    .prepare = prepare,
    .execute = execute,
    .release = release,
    .reads_data = reads_data,
    .counters = counters,
};
PTO_PLUGIN("pto.cpu-sim", "backend:pto.cpu-sim backend:pto.cpu-sim-unchecked", "", .version = "0.1.0",
           .license = "Apache-2.0", .backends = PTO_LIST(pto_backend, &backend, &unchecked));
