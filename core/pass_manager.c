#include "core/pass_manager.h"

#include "core/bisect.h"
#include "core/core_diag.h"
#include "core/output_names.h"
#include "core/paranoid_check.h"
#include "core/plugin_output.h"
#include "core/property.h"
#include "core/snapshot.h"
#include "core/supervisor.h"
#include "ir/printer.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

typedef struct manager {
    arena *arena;
    diag_engine *diags;
    const opened_pipeline *pipeline;
    const compile_request *request;
    module *module;
    flight_recorder *recorder;
    run_session *session;
    function_states *functions;
    property_set *properties;
    output_keeper *outputs;
    contract_state *states; /* before and after each step */
    run_report *report;
    semantics_check *semantics; /* or NULL */
    bisect *bisect;             /* or NULL */
    uint32_t end;               /* the first step that does not run */
    tiling_retry *retry;
    module *before_tiling; /* what the steps go back to when a later one finds no room, or NULL */
    uint32_t tiling_step;
    int *exit_status;
} manager;

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Levels present among the module's functions, as the start of contract_check. A function of no level adds none. */
static void module_levels(const module *m, contract_state *out)
{
    *out = (contract_state){0};
    BLOCK_EACH_OP(m, o, module_top(m)) {
        const ir_level level = function_level(m, o);
        if (level != LEVEL_NONE) contract_state_add_level(out, level_name(level));
    }
}

static uint32_t count_ops(const module *m)
{
    uint32_t n = 0;
    BLOCK_EACH_OP(m, f, module_top(m)) {
        IR_WALK(m, o, f) n++;
    }
    return n;
}

static status add_to_digest(void *self, const char *p, size_t n)
{
    uint64_t *digest = self;
    for (size_t i = 0; i < n; i++) *digest = (*digest ^ (uint8_t)p[i]) * 0x100000001b3u;
    return OK;
}

static uint64_t digest_of(module *m)
{
    uint64_t digest = 0xcbf29ce484222325u;
    text_buffer t;
    text_init(&t);
    t.flush = add_to_digest;
    t.self = &digest;
    module_print(m, &(print_options){0}, &t);
    if (text_finish(&t) != OK) digest = 0;
    text_fini(&t);
    return digest;
}

/* ---- which steps run ---- */

static status find_step(manager *g, const char *id, const char *option, uint32_t *out)
{
    const contract *c = &g->pipeline->contract;
    for (uint32_t i = 0; i < c->step_count; i++) {
        if (strcmp(c->steps[i].step->id, id) != 0) continue;
        *out = i;
        return OK;
    }
    diag_error(g->diags, (src_pos){"<command line>", 1, 1}, &E1704,
               "option `--%s` names step `%s`, which the pipeline does not have", option, id);
    const char **ids = arena_array(g->arena, c->step_count + 1u, sizeof *ids);
    for (uint32_t i = 0; i < c->step_count; i++) ids[i] = c->steps[i].step->id;
    const char *near = str_nearest(str_from(id), ids);
    if (near) diag_note(g->diags, NO_POS, "did you mean `%s`?", near);
    return FAILED;
}

/* The steps to run are [first, end). */
static status select_steps(manager *g, uint32_t *first, uint32_t *end)
{
    const compile_request *r = g->request;
    uint32_t index = 0;
    *first = 0;
    *end = g->pipeline->contract.step_count;
    if (r->only && (r->from || r->until)) {
        diag_error(g->diags, (src_pos){"<command line>", 1, 1}, &E1504, "--only excludes --from and --until");
        return FAILED;
    }
    if (r->from || r->only) {
        TRY(find_step(g, r->only ? r->only : r->from, r->only ? "only" : "from", &index));
        *first = index;
    }
    if (r->until || r->only) {
        TRY(find_step(g, r->only ? r->only : r->until, r->only ? "only" : "until", &index));
        *end = index + 1;
    }
    if (*end <= *first) {
        diag_error(g->diags, (src_pos){"<command line>", 1, 1}, &E1504, "--until `%s` comes before --from `%s`",
                   r->until, r->from);
        return FAILED;
    }
    for (const char *const *id = r->print_after; id && *id; id++) TRY(find_step(g, *id, "print-after", &index));
    return OK;
}

/* A snapshot must be at the levels that the steps before it leave; its properties are checked, not believed. */
static status check_start(manager *g, uint32_t first)
{
    contract_state there;
    module_levels(g->module, &there);
    const contract_state *wanted = &g->states[first];
    const pipeline_step *step = g->pipeline->contract.steps[first].step;
    for (uint32_t i = 0; i < there.level_count; i++) {
        if (contract_state_level(wanted, there.levels[i].level)) continue;
        diag_error(
            g->diags, step->at, &E1701,
            "the module has functions at %s, which step `%s` cannot be given: the steps before it leave no such level",
            there.levels[i].level, step->id);
        return FAILED;
    }
    return property_check_state(g->properties, g->session, g->module, wanted, NULL);
}

static bool is_established(const contract *c, const char *property)
{
    for (uint32_t i = 0; i < c->step_count; i++) {
        for (const char *const *p = c->steps[i].pass->establishes; p && *p; p++) {
            if (strcmp(*p, property) == 0) return true;
        }
    }
    return false;
}

/* A module may come from the middle of a pipeline, with no step before the first: what steps need of it, and no step
 * gives, is looked at. A property that some step gives counts from that step on, even when the module has it by chance:
 * else a pipeline with two steps exchanged would run on small modules only. */
static void find_start_properties(manager *g, contract_state *start)
{
    const contract *c = &g->pipeline->contract;
    diag_engine *nobody = diag_create(NULL, 0);
    const run_session_params params = {.diags = nobody,
                                       .machine = g->pipeline->machine,
                                       .abi_minor = plugin_host_abi_minor(g->pipeline->host),
                                       .recorder = g->recorder};
    run_session *quiet = run_session_create(g->arena, &params);
    for (uint32_t i = 0; i < c->step_count; i++) {
        const pto_pass *pass = c->steps[i].pass;
        if (!contract_state_level(start, pass->consumes)) continue;
        for (const char *const *p = pass->requires_props; p && *p; p++) {
            if (is_established(c, *p) || contract_state_has(start, pass->consumes, *p)) continue;
            if (property_holds(g->properties, quiet, g->module, pass->consumes, *p))
                contract_state_add_property(start, pass->consumes, *p);
        }
    }
    run_session_destroy(quiet);
    diag_destroy(nobody);
}

/* ---- one step ---- */

static void note_step(manager *g, const run_agent *agent)
{
    diag_note(g->diags, agent->at, "step `%s`: pass %s of plugin %s", agent->step, agent->id, agent->plugin);
}

/* What the runs of one step did. */
typedef struct step_effect {
    uint32_t changes; /* RUN_CHANGED_* */
    bool asked_machine;
} step_effect;

static status run_once(manager *g, uint32_t index, op_id unit, step_effect *effect)
{
    const contract_step *step = &g->pipeline->contract.steps[index];
    const run_agent *agent = g->pipeline->agents[index];
    const bool is_module = strcmp(step->pass->scope, "module") == 0;
    const run_request request = {
        .agent = agent,
        .module = g->module,
        .unit = unit,
        .access = is_module ? RUN_WRITES_MODULE : RUN_WRITES_FUNCTION,
        .levels = run_levels(step->pass, contract_state_has(&g->states[index], "block/1", "pto.selected")),
    };
    const pto_run *run = run_context_begin(g->session, &request);
    const pto_status returned = step->pass->run(run, run_context_unit(run));
    const run_result result = run_context_end(run, returned);
    effect->changes |= result.changes;
    effect->asked_machine |= result.asked_machine;
    return result.failed ? FAILED : OK;
}

/* The functions at the step's level or at none, as they stand before it runs. */
static uint32_t collect_units(manager *g, const char *level, op_id **out)
{
    uint32_t n = 0, capacity = 0;
    BLOCK_EACH_OP(g->module, f, module_top(g->module)) capacity++;
    op_id *units = arena_array(g->arena, capacity, sizeof *units);
    BLOCK_EACH_OP(g->module, f, module_top(g->module)) {
        if (function_stands_at(g->module, f, str_from(level))) units[n++] = f;
    }
    *out = units;
    return n;
}

/* What holds after a step of which bisect left a part out: it establishes nothing. */
static status count_left_out(manager *g, uint32_t index)
{
    if (!g->bisect || !bisect_left_out(g->bisect, index)) return OK;
    contract part = g->pipeline->contract;
    const contract_state start = g->states[0];
    part.steps = bisect_steps(g->bisect);
    part.step_count = g->end;
    part.backend = NULL;
    return contract_check(g->diags, &part, &start, g->states);
}

static status run_unit(manager *g, uint32_t index, op_id unit, step_effect *effect)
{
    if (g->bisect && !bisect_runs(g->bisect, index, g->module, unit)) return OK;
    const str name = unit ? string_of(module_context(g->module), function_name(g->module, unit)) : STR("module");
    compile_trace_begin(g->request->trace, "unit", name, NULL);
    const status s = run_once(g, index, unit, effect);
    compile_trace_end(g->request->trace);
    return s;
}

static status check_levels(manager *g, uint32_t index)
{
    const contract_step *step = &g->pipeline->contract.steps[index];
    BLOCK_EACH_OP(g->module, f, module_top(g->module)) {
        const ir_level there = function_level(g->module, f);
        const char *level = level_name(there);
        if (there == LEVEL_NONE || contract_state_level(&g->states[index + 1], level)) continue;
        const str name = string_of(module_context(g->module), function_name(g->module, f));
        diag_error(g->diags, op_pos(g->module, f), &E1708, "step `%s` declares to leave %s but leaves @%.*s at %s",
                   step->step->id, step->pass->produces, (int)name.n, name.p, level);
        return FAILED;
    }
    return OK;
}

/* Nothing is known of any function any more: all is looked at again. */
static void touch_all(manager *g)
{
    function_states_touch(g->functions, 0);
    BLOCK_EACH_OP(g->module, f, module_top(g->module)) function_states_touch(g->functions, f);
}

/* Everything a step can be blamed for after it ran. */
static status check_after(manager *g, uint32_t index, bool changed)
{
    const run_agent *agent = g->pipeline->agents[index];
    const bool is_paranoid = g->request->verify == PIPELINE_VERIFY_PARANOID;
    if (is_paranoid) touch_all(g);
    compile_trace_begin(g->request->trace, "verify", STR("verify"), NULL);
    status s = changed || is_paranoid ? function_states_verify(g->functions) : OK;
    if (s != OK)
        diag_error(g->diags, agent->at, &E1706, "the module does not verify after step `%s` (pass %s of plugin %s)",
                   agent->step, agent->id, agent->plugin);
    if (s == OK) s = check_levels(g, index);
    compile_trace_end(g->request->trace);
    compile_trace_begin(g->request->trace, "verify", STR("properties"), NULL);
    if (s == OK) s = property_check_state(g->properties, g->session, g->module, &g->states[index + 1], agent);
    compile_trace_end(g->request->trace);
    if (s == OK && changed && is_paranoid) {
        compile_trace_begin(g->request->trace, "verify", STR("print and read"), NULL);
        s = paranoid_check(g->module, agent);
        compile_trace_end(g->request->trace);
    }
    if (s == OK) return OK;
    note_step(g, agent);
    *g->exit_status = EXIT_STATUS_BLAMED;
    return FAILED;
}

static bool is_listed(const char *const *list, const char *id)
{
    for (; list && *list; list++) {
        if (strcmp(*list, id) == 0) return true;
    }
    return false;
}

static status check_numbers(manager *g, uint32_t index, bool changed)
{
    if (!g->semantics || !changed) return OK;
    const run_agent *agent = g->pipeline->agents[index];
    compile_trace_begin(g->request->trace, "verify", STR("semantics"), NULL);
    const status s = semantics_check_step(g->semantics, g->module, agent, g->pipeline->contract.steps[index].pass);
    compile_trace_end(g->request->trace);
    if (s == OK) return OK;
    *g->exit_status = EXIT_STATUS_BLAMED;
    return FAILED;
}

static status write_after(manager *g, uint32_t index, bool changed)
{
    const compile_request *r = g->request;
    const char *id = g->pipeline->contract.steps[index].step->id;
    if (r->print_after_all || (r->print_after_change && changed) || is_listed(r->print_after, id))
        snapshot_print(g->module, id);
    if (!r->dump_dir || !changed) return OK;
    *g->exit_status = EXIT_STATUS_OUTPUT;
    return snapshot_write(g->diags, g->module, r->dump_dir, index + 1, id);
}

/* From the first step on that asked the machine, what it said is in the module, changed or not: on another machine the
 * step might have done something. Gives RUN_CHANGED_*. */
static uint32_t write_machine(manager *g)
{
    ir_context *c = module_context(g->module);
    const uint64_t before = module_epoch(g->module);
    const attr_id name = attr_string(c, string_intern_z(c, g->pipeline->machine->name));
    module_set_attrs(g->module, attr_with(c, module_attrs(g->module), string_intern_z(c, "machine"), name));
    if (module_epoch(g->module) == before) return 0;
    function_states_touch(g->functions, 0);
    return RUN_CHANGED_MODULE;
}

/* Fails when the time is up; `where` is "before" or "in" the step. */
static status go_on(manager *g, uint32_t index, const char *where)
{
    if (!flight_recorder_stop(g->recorder)) return OK;
    const run_agent *agent = g->pipeline->agents[index];
    diag_error(g->diags, agent->at, &E1711, "the time ran out %s step `%s`", where, agent->step);
    FLIGHT_SET(g->recorder, plugin, str_from(agent->plugin));
    FLIGHT_SET(g->recorder, step, str_from(agent->step));
    g->recorder->stopped = 1;
    *g->exit_status = EXIT_STATUS_RESOURCES;
    return FAILED;
}

static void touch_function(void *self, op_id function) { function_states_touch(self, function); }

static void settle_names(manager *g)
{
    module_settle(g->module);
    output_keeper_run(g->outputs, g->module, touch_function, g->functions);
}

static status run_step(manager *g, uint32_t index)
{
    const contract_step *step = &g->pipeline->contract.steps[index];
    step_report *report = &g->report->steps[index];
    const uint64_t begin = now_ns(), epoch = module_epoch(g->module);
    step_effect effect = {0};
    TRY(go_on(g, index, "before"));
    *g->exit_status = EXIT_STATUS_FAILED;
    if (g->bisect) bisect_begin_step(g->bisect, index);
    if (g->semantics) TRY(semantics_check_before(g->semantics, g->module, step->pass));
    op_id *units;
    const uint32_t count = collect_units(g, step->pass->consumes, &units);
    if (strcmp(step->pass->scope, "module") == 0) {
        if (count > 0) TRY(run_unit(g, index, 0, &effect));
    } else {
        for (uint32_t i = 0; i < count; i++) {
            TRY(go_on(g, index, i > 0 ? "in" : "before"));
            TRY(run_unit(g, index, units[i], &effect));
        }
    }
    TRY(count_left_out(g, index));
    if (effect.asked_machine) effect.changes |= write_machine(g);
    if (effect.changes) settle_names(g);
    report->ran = true;
    report->run_ns = now_ns() - begin;
    report->changes = module_epoch(g->module) - epoch;
    if (g->request->verify) TRY(check_after(g, index, effect.changes != 0));
    if (check_numbers(g, index, effect.changes != 0) != OK) {
        TRY(go_on(g, index, "in")); /* the interpreter gave up, nobody is to blame */
        return FAILED;
    }
    report->verify_ns = now_ns() - begin - report->run_ns;
    if (g->request->time_steps || g->request->count_statistics) report->op_count = count_ops(g->module);
    if (g->request->digest_steps) report->digest = digest_of(g->module);
    compile_trace_begin(g->request->trace, "print", STR("write down"), NULL);
    const status written = write_after(g, index, effect.changes != 0);
    compile_trace_end(g->request->trace);
    return written;
}

/* ---- the whole ---- */

static status start_report(manager *g)
{
    const contract *c = &g->pipeline->contract;
    g->report->steps = arena_array(g->arena, c->step_count, sizeof *g->report->steps);
    g->report->step_count = c->step_count;
    for (uint32_t i = 0; i < c->step_count; i++) {
        g->report->steps[i].id = c->steps[i].step->id;
        g->report->steps[i].pass = c->steps[i].pass->id;
        g->report->steps[i].stats = g->pipeline->agents[i]->stat_values;
    }
    return OK;
}

static status check_machine(manager *g)
{
    ir_context *c = module_context(g->module);
    const attr_id attr = attr_get(c, module_attrs(g->module), string_intern_z(c, "machine"));
    if (attr == 0 || !g->pipeline->machine) return OK;
    src_pos at = module_attrs_pos(g->module);
    if (!at.file) at.file = string_of(c, module_file(g->module)).p;
    if (attr_at(c, attr)->kind != ATTR_STRING) {
        diag_error(g->diags, at, &E1709, "the attribute `machine` of the module is not the name of a machine");
        return FAILED;
    }
    const str name = string_of(c, attr_at(c, attr)->id);
    if (str_is(name, g->pipeline->machine->name)) return OK;
    diag_error(g->diags, at, &E1709, "the module was compiled for machine %.*s, the pipeline is for %s", (int)name.n,
               name.p, g->pipeline->machine->name);
    return FAILED;
}

static status begin_numbers(manager *g)
{
    const semantics_request *request = g->request->semantics;
    if (!request) return OK;
    const status s = semantics_check_begin(g->arena, g->pipeline->host, request, g->module, g->recorder, &g->semantics,
                                           g->exit_status);
    g->report->semantics = g->semantics;
    return s;
}

/* ---- going back to the tiling ---- */

static bool asks_strategy(const run_agent *agent)
{
    for (uint32_t i = 0; agent->strategies && agent->options && agent->options[i]; i++) {
        if (agent->strategies[i] && agent->strategies[i]->tiling) return true;
    }
    return false;
}

static void keep_for_tiling(manager *g, uint32_t index)
{
    if (g->before_tiling || !asks_strategy(g->pipeline->agents[index])) return;
    g->before_tiling = module_clone(g->module);
    g->tiling_step = index;
}

static void forget_step(manager *g, uint32_t index)
{
    const char *const *names = g->pipeline->contract.steps[index].pass->stats;
    for (uint32_t k = 0; names && names[k]; k++) g->report->steps[index].stats[k] = 0;
}

static void go_back(manager *g, uint32_t from)
{
    module_restore(g->module, g->before_tiling);
    function_states_restart(g->functions);
    if (g->semantics) semantics_check_go_back(g->semantics);
    tiling_retry_restart(g->retry);
    if (g->request->schedule) schedule_restart(g->request->schedule);
    for (uint32_t i = g->tiling_step; i <= from; i++) forget_step(g, i);
}

static status show_step(manager *g, uint32_t index, uint32_t end)
{
    const contract_step *step = &g->pipeline->contract.steps[index];
    const step_report *report = &g->report->steps[index];
    compile_trace *trace = g->request->trace;
    const uint32_t depth = compile_trace_depth(trace);
    if (g->request->says_progress)
        fprintf(stderr, "step %" PRIu32 " of %" PRIu32 ": %s (%s)\n", index + 1, end, step->step->id, step->pass->id);
    compile_trace_begin(trace, "step", str_from(step->step->id), step->pass->id);
    const status s = run_step(g, index);
    compile_trace_end_to(trace, depth + (trace != NULL));
    if (s == OK) compile_trace_number(trace, "changes", (int64_t)report->changes);
    if (s == OK && trace) compile_trace_number(trace, "ops", count_ops(g->module));
    compile_trace_end(trace);
    return s;
}

static status run_from(manager *g, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end; i++) {
        keep_for_tiling(g, i);
        const uint32_t errors = diag_error_count(g->diags);
        if (show_step(g, i, end) == OK) continue;
        if (!tiling_retry_is_wanted(g->retry) || diag_error_count(g->diags) != errors) return FAILED;
        go_back(g, i);
        i = g->tiling_step - 1;
    }
    return OK;
}

static status run_steps(manager *g)
{
    const contract *c = &g->pipeline->contract;
    uint32_t first = 0, end = 0;
    *g->exit_status = EXIT_STATUS_USAGE;
    TRY(start_report(g));
    if (c->step_count > 0) TRY(select_steps(g, &first, &end));
    /* A snapshot stands in the middle: what came before it began at the level of the first step. So do functions that
     * stand at every level, when there are no others. */
    contract_state start;
    module_levels(g->module, &start);
    const bool has_functions = block_first(g->module, module_top(g->module)) != 0;
    if (first > 0 || (start.level_count == 0 && has_functions && c->step_count > 0)) {
        start = (contract_state){0};
        contract_state_add_level(&start, c->steps[0].pass->consumes);
    }
    if (first == 0) find_start_properties(g, &start);
    /* A part of a pipeline need not end where the backend begins. */
    contract part = *c;
    if (end < c->step_count) part.backend = NULL;
    part.step_count = g->end = end;
    g->states = arena_array(g->arena, c->step_count + 1u, sizeof *g->states);
    TRY(contract_check(g->diags, &part, &start, g->states));
    TRY(check_machine(g));
    g->outputs = output_keeper_create(g->arena, g->module);
    if (g->request->bisects) g->bisect = bisect_create(g->arena, g->request->bisect_limit, g->request->is_quiet, c);
    if (g->request->schedule)
        TRY(schedule_check_machine(g->request->schedule, g->pipeline->machine ? g->pipeline->machine->name : NULL));
    if (first > 0 && g->request->verify) TRY(check_start(g, first));
    if (g->request->dump_dir && first == 0) {
        *g->exit_status = EXIT_STATUS_OUTPUT;
        TRY(snapshot_write(g->diags, g->module, g->request->dump_dir, 0, "input"));
    }
    TRY(begin_numbers(g));
    TRY(run_from(g, first, end));
    *g->exit_status = EXIT_STATUS_USAGE;
    return g->request->schedule ? schedule_check_asked(g->request->schedule, end - first == c->step_count) : OK;
}

status pass_manager_run(arena *a, const opened_pipeline *p, const compile_request *request, module *m,
                        flight_recorder *recorder, run_report *report, int *exit_status)
{
    diag_engine *d = context_diags(module_context(m));
    function_states *functions = function_states_create(a, m);
    function_states_set_verified(functions);
    const run_session_params params = {.diags = d,
                                       .machine = p->machine,
                                       .abi_minor = plugin_host_abi_minor(p->host),
                                       .recorder = recorder,
                                       .functions = functions,
                                       .retry = tiling_retry_create(a),
                                       .schedule = request->schedule};
    manager g = {.arena = a,
                 .diags = d,
                 .pipeline = p,
                 .request = request,
                 .module = m,
                 .recorder = recorder,
                 .functions = functions,
                 .retry = params.retry,
                 .report = report,
                 .exit_status = exit_status};
    g.session = run_session_create(a, &params);
    g.properties = property_set_create(a, d, p->host, functions);
    const int out = plugin_output_divert();
    const status s = run_steps(&g);
    if (s != OK && request->schedule && schedule_is_refused(request->schedule)) *exit_status = EXIT_STATUS_USAGE;
    plugin_output_restore(out);
    run_session_destroy(g.session);
    semantics_check_end(g.semantics);
    module_destroy(g.before_tiling);
    return s;
}

/* ---- reports ---- */

void run_report_print_timing(const run_report *r, text_buffer *out)
{
    uint64_t run = 0, verify = 0;
    text_puts(out, "     run ms  verify ms      ops  step\n");
    for (uint32_t i = 0; i < r->step_count; i++) {
        const step_report *s = &r->steps[i];
        if (!s->ran) continue;
        text_printf(out, "%11.3f%11.3f%9" PRIu32 "  %s (%s)\n", (double)s->run_ns / 1e6, (double)s->verify_ns / 1e6,
                    s->op_count, s->id, s->pass);
        run += s->run_ns;
        verify += s->verify_ns;
    }
    text_printf(out, "%11.3f%11.3f           total\n", (double)run / 1e6, (double)verify / 1e6);
}

void run_report_print_stats(const run_report *r, const opened_pipeline *p, text_buffer *out)
{
    for (uint32_t i = 0; i < r->step_count; i++) {
        const step_report *s = &r->steps[i];
        if (!s->ran) continue;
        text_printf(out, "%s: %" PRIu64 " changes, %" PRIu32 " ops left\n", s->id, s->changes, s->op_count);
        const char *const *names = p->contract.steps[i].pass->stats;
        for (uint32_t k = 0; names && names[k]; k++) text_printf(out, "  %10" PRId64 "  %s\n", s->stats[k], names[k]);
    }
}
