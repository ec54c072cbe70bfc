#include "core/compile/pass_manager.h"

#include "core/compile/property.h"
#include "core/core_diag.h"
#include "core/host/process_state.h"
#include "ir/base/monotonic.h"
#include "ir/text/output_names.h"

#include <string.h>

/* The first step that chooses: the module can be set back to what it was before, so that steps choose again. */
typedef struct choice_point {
    module *before; /* or NULL: no step chose yet */
    uint32_t step;
} choice_point;

typedef struct manager {
    arena *arena;
    diag_engine *diags;
    const loaded_pipeline *pipeline;
    const compile_request *request;
    module *module;
    flight_recorder *recorder;
    run_session *session;
    touched_functions *functions;
    property_set *properties;
    output_keeper *outputs;
    contract_step *steps;   /* of the pipeline; one of which a unit was left out establishes nothing */
    contract_state *states; /* before and after each step */
    uint32_t end;           /* the first step that does not run */
    compile_stats *stats;
    choices *choices;
    choice_point choice;
} manager;

/* Levels present among the module's functions, as the start of contract_check. A function of no level adds none. */
static void module_levels(const module *m, contract_state *out)
{
    out->level_count = 0;
    BLOCK_EACH_OP(m, o, module_top(m)) {
        const ir_level level = function_level(m, o);
        if (level != LEVEL_NONE) contract_state_add_level(out, level_name(context_ops(module_context(m)), level));
    }
}

/* ---- observers ---- */

#define EACH_OBSERVER(g, o)                                                                     \
    for (const compile_observer *o = (g)->request->observers,                                   \
                                *o##_end = o != NULL ? o + (g)->request->observer_count : NULL; \
         o != o##_end; o++)

static void span_begin(const manager *g, const char *category, str name, const char *detail)
{
    EACH_OBSERVER(g, o)
    {
        if (o->span_begin != NULL) o->span_begin(o->self, category, name, detail);
    }
}

static void span_end(const manager *g)
{
    EACH_OBSERVER(g, o)
    {
        if (o->span_end != NULL) o->span_end(o->self);
    }
}

static exit_status observe_begin(const manager *g, uint32_t first)
{
    EACH_OBSERVER(g, o)
    {
        if (o->begin != NULL) TRY_EXIT(o->begin(o->self, g->pipeline, g->module, first));
    }
    return EXIT_STATUS_OK;
}

static exit_status observe_before(const manager *g, const step_event *e)
{
    EACH_OBSERVER(g, o)
    {
        if (o->before_step != NULL) TRY_EXIT(o->before_step(o->self, e));
    }
    return EXIT_STATUS_OK;
}

static exit_status observe_after(const manager *g, const step_event *e)
{
    EACH_OBSERVER(g, o)
    {
        if (o->after_step != NULL) TRY_EXIT(o->after_step(o->self, e));
    }
    return EXIT_STATUS_OK;
}

static bool observers_want(const manager *g, const step_event *e, op_id unit)
{
    bool runs = true;
    EACH_OBSERVER(g, o)
    {
        if (o->runs_unit != NULL && !o->runs_unit(o->self, e, unit)) runs = false;
    }
    return runs;
}

/* ---- the start ---- */

/* A snapshot must be at the levels that the steps before it leave; its properties are checked, not believed. */
static status check_start(manager *g, uint32_t first)
{
    contract_state there;
    module_levels(g->module, &there);
    const contract_state *wanted = &g->states[first];
    const pipeline_step *step = g->pipeline->contract.steps[first].step;
    for (uint32_t i = 0; i < there.level_count; i++) {
        if (contract_state_level(wanted, there.levels[i].level) != NULL) continue;
        diag_error(
            g->diags, step->at, &E1701,
            "the module has functions at %s, which step `%s` cannot be given: the steps before it leave no such level",
            there.levels[i].level, step->id);
        contract_note_start(g->diags, &g->pipeline->contract, first, &there);
        return FAILED;
    }
    return property_check_state(g->properties, g->session, g->module, wanted, NULL);
}

static bool is_established(const contract *c, const char *property)
{
    for (uint32_t i = 0; i < c->step_count; i++) {
        if (str_list_has(c->steps[i].pass->establishes, property)) return true;
    }
    return false;
}

/* Whether the first step that works on the level needs what no step establishes: then the module must bring it. */
static bool begins_in_the_middle(const contract *c, const char *level)
{
    for (uint32_t i = 0; i < c->step_count; i++) {
        const pto_pass *pass = c->steps[i].pass;
        const bool consumes = strcmp(pass->consumes, level) == 0;
        for (const char *const *p = pass->requires_props; consumes && p != NULL && *p != NULL; p++) {
            if (!is_established(c, *p)) return true;
        }
        if (consumes || strcmp(pass->produces, level) == 0) return false;
    }
    return false;
}

/* A module may come from the middle of a pipeline, with no step before the first: what steps need of it, and no step
 * establishes, is looked at, and an op without it is reported. That of a pipeline from the beginning is not: what small
 * modules have by accident would make a pipeline run that lacks a step, and others would blame a step for ending what
 * it knows nothing of. A property that some step establishes counts from that step on. */
static void find_start_properties(manager *g, contract_state *start)
{
    const contract *c = &g->pipeline->contract;
    for (uint32_t i = 0; i < c->step_count; i++) {
        const pto_pass *pass = c->steps[i].pass;
        if (contract_state_level(start, pass->consumes) == NULL || !begins_in_the_middle(c, pass->consumes)) continue;
        for (const char *const *p = pass->requires_props; p != NULL && *p != NULL; p++) {
            if (is_established(c, *p) || contract_state_has(start, pass->consumes, *p)) continue;
            if (property_holds(g->properties, g->session, g->module, pass->consumes, *p))
                contract_state_add_property(g->arena, start, pass->consumes, *p);
        }
    }
}

static status check_machine(manager *g)
{
    ir_context *c = module_context(g->module);
    const attr_id attr = attr_get(c, module_attrs(g->module), string_intern_z(c, "machine"));
    if (attr == 0 || g->pipeline->machine == NULL) return OK;
    src_pos at = module_attrs_pos(g->module);
    if (at.file == NULL) at.file = string_of(c, module_file(g->module)).p;
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

/* ---- one step ---- */

/* What the runs of one step did. */
typedef struct step_effect {
    uint32_t levels;  /* that it may make ops of, as bits */
    uint32_t changes; /* RUN_CHANGED_* */
    bool asked_machine, left_out_a_unit;
    bool is_idle; /* no op that the pass is for is there, and its plugin was not loaded */
} step_effect;

static exit_status open_step(const manager *g, const step_event *e, step_effect *effect)
{
    if (e->step->pass->run != NULL) return EXIT_STATUS_OK;
    effect->is_idle = !module_has_op(g->module, e->agent->kinds, e->agent->kind_count);
    if (effect->is_idle) return EXIT_STATUS_OK;
    TRY_EXIT(pipeline_open_step(g->diags, g->pipeline, e->index));
    g->stats->steps[e->index].stats = e->agent->stat_values;
    return EXIT_STATUS_OK;
}

static status run_once(manager *g, const step_event *e, op_id unit, step_effect *effect)
{
    const pto_pass *pass = e->step->pass;
    if (effect->is_idle) return OK;
    const bool is_module = strcmp(pass->scope, "module") == 0;
    const run_request request = {
        .agent = e->agent,
        .module = g->module,
        .unit = unit,
        .access = is_module ? RUN_WRITES_MODULE : RUN_WRITES_FUNCTION,
        .levels = effect->levels,
    };
    const pto_run *run = run_context_begin(g->session, &request);
    const pto_status returned = pass->run(run, run_context_unit(run));
    const run_result result = run_context_end(run, returned);
    effect->changes |= result.changes;
    effect->asked_machine |= result.asked_machine;
    return result.failed ? FAILED : OK;
}

/* The functions at the step's level or at none, as they are before it runs. */
static uint32_t collect_units(manager *g, const char *level, op_id **out)
{
    uint32_t n = 0, capacity = 0;
    BLOCK_EACH_OP(g->module, f, module_top(g->module)) capacity++;
    op_id *units = arena_array(g->arena, capacity, sizeof *units);
    const ir_level wanted = level_by_name(context_ops(module_context(g->module)), str_from(level));
    BLOCK_EACH_OP(g->module, f, module_top(g->module)) {
        const ir_level own = touched_functions_level(g->functions, f);
        if (own == LEVEL_NONE || own == wanted) units[n++] = f;
    }
    *out = units;
    return n;
}

static exit_status run_unit(manager *g, const step_event *e, op_id unit, step_effect *effect)
{
    if (!observers_want(g, e, unit)) {
        effect->left_out_a_unit = true;
        return EXIT_STATUS_OK;
    }
    span_begin(g, "unit", unit ? string_of(module_context(g->module), function_name(g->module, unit)) : STR("module"),
               NULL);
    const status s = run_once(g, e, unit, effect);
    span_end(g);
    return s == OK ? EXIT_STATUS_OK : EXIT_STATUS_FAILED;
}

/* Fails when the time is up; `where` is "before" or "in" the step. */
static exit_status check_time(manager *g, const step_event *e, const char *where)
{
    if (!flight_recorder_stop(g->recorder)) return EXIT_STATUS_OK;
    diag_error(g->diags, e->agent->at, &E1711, "the time ran out %s step `%s`", where, e->agent->step);
    FLIGHT_SET(g->recorder, plugin, str_from(e->agent->plugin));
    FLIGHT_SET(g->recorder, step, str_from(e->agent->step));
    g->recorder->stopped = 1;
    return EXIT_STATUS_RESOURCES;
}

static exit_status run_functions(manager *g, const step_event *e, uint32_t count, const op_id *units,
                                 step_effect *effect)
{
    for (uint32_t i = 0; i < count; i++) {
        TRY_EXIT(check_time(g, e, i > 0 ? "in" : "before"));
        TRY_EXIT(run_unit(g, e, units[i], effect));
    }
    return EXIT_STATUS_OK;
}

static exit_status run_units(manager *g, const step_event *e, step_effect *effect)
{
    op_id *units;
    uint32_t excluded = 0;
    TRY_AS(EXIT_STATUS_FAILED, property_excluded_levels(g->properties, &g->states[e->index], &excluded));
    effect->levels = run_levels(context_ops(module_context(g->module)), e->step->pass, excluded);
    const uint32_t count = collect_units(g, e->step->pass->consumes, &units);
    if (strcmp(e->step->pass->scope, "module") == 0) return count > 0 ? run_unit(g, e, 0, effect) : EXIT_STATUS_OK;
    if (!effect->is_idle) run_group_begin(g->session, e->agent);
    const exit_status result = run_functions(g, e, count, units, effect);
    if (!effect->is_idle) run_group_end(g->session);
    return result;
}

/* A step of which a unit was left out establishes nothing: the contracts must hold without it. */
static status recheck_contracts(manager *g, const step_event *e)
{
    pto_pass *pass = arena_alloc(g->arena, sizeof *pass);
    *pass = *g->steps[e->index].pass;
    pass->establishes = NULL;
    g->steps[e->index].pass = pass;
    contract part = g->pipeline->contract;
    part.steps = g->steps;
    part.step_count = g->end;
    part.backend = NULL;
    return contract_check(g->arena, g->diags, &part, &g->states[0], g->states);
}

/* Names that are not in ir/ops are declared, so that the module can be read without the machine. */
static attr_id with_names(ir_context *c, attr_id attrs, const role_names *names)
{
    for (name_kind k = NAME_NONE + 1; k < NAME_KIND_COUNT; k++) {
        const str_id key = string_intern_z(c, name_kind_attribute(k));
        attr_id list = attr_get(c, attrs, key);
        for (uint32_t i = 1; i < role_names_count(names, k); i++) {
            if (role_names_is_standard(k, i)) continue;
            const char *role = name_role_words(k)[role_names_role(names, k, i) - 1];
            list = attr_with(c, list, string_intern_z(c, role_names_text(names, k, i)),
                             attr_string(c, string_intern_z(c, role)));
        }
        if (list != 0) attrs = attr_with(c, attrs, key, list);
    }
    return attrs;
}

/* From the first step on that asked the machine, what it said is in the module, changed or not: on another machine the
 * step might have done something. Returns RUN_CHANGED_*. */
static uint32_t write_machine(manager *g)
{
    ir_context *c = module_context(g->module);
    const uint64_t before = module_epoch(g->module);
    const attr_id name = attr_string(c, string_intern_z(c, g->pipeline->machine->name));
    const attr_id attrs = attr_with(c, module_attrs(g->module), string_intern_z(c, "machine"), name);
    module_set_attrs(g->module, with_names(c, attrs, g->pipeline->machine->names));
    if (module_epoch(g->module) == before) return 0;
    touched_functions_touch(g->functions, 0);
    return RUN_CHANGED_MODULE;
}

static void touch_function(void *self, op_id function) { touched_functions_touch(self, function); }

static void settle_names(manager *g)
{
    module_settle(g->module);
    output_keeper_run(g->outputs, g->module, touch_function, g->functions);
}

static status check_levels(manager *g, const step_event *e)
{
    BLOCK_EACH_OP(g->module, f, module_top(g->module)) {
        const ir_level there = touched_functions_level(g->functions, f);
        const char *level = level_name(context_ops(module_context(g->module)), there);
        if (there == LEVEL_NONE || contract_state_level(&g->states[e->index + 1], level) != NULL) continue;
        const str name = string_of(module_context(g->module), function_name(g->module, f));
        diag_error(g->diags, op_pos(g->module, f), &E1708, "step `%s` declares to leave %s but leaves @%.*s at %s",
                   e->step->step->id, e->step->pass->produces, (int)name.n, name.p, level);
        return FAILED;
    }
    return OK;
}

static status verify_module(manager *g, const step_event *e)
{
    const bool is_paranoid = g->request->verify == PIPELINE_VERIFY_PARANOID;
    if (is_paranoid) touched_functions_doubt(g->functions);
    if ((!e->changed && !is_paranoid) || touched_functions_verify(g->functions) == OK) return check_levels(g, e);
    char who[RUN_AGENT_TEXT_BYTES];
    diag_error(g->diags, e->agent->at, &E1706, "the module does not verify after %s", run_agent_text(e->agent, who));
    return FAILED;
}

/* What the step declares: a module that verifies, the level, the properties. */
static exit_status verify_step(manager *g, const step_event *e)
{
    span_begin(g, "verify", STR("verify"), NULL);
    status s = verify_module(g, e);
    span_end(g);
    if (s == OK) {
        span_begin(g, "verify", STR("properties"), NULL);
        s = property_check_state(g->properties, g->session, g->module, &g->states[e->index + 1], e->agent);
        span_end(g);
    }
    if (s == OK) return EXIT_STATUS_OK;
    run_agent_note(e->agent, g->diags);
    return EXIT_STATUS_BLAMED;
}

static exit_status run_step(manager *g, uint32_t index)
{
    step_stats *stats = &g->stats->steps[index];
    step_event e = {.index = index,
                    .end = g->end,
                    .step = &g->pipeline->contract.steps[index],
                    .agent = g->pipeline->agents[index],
                    .module = g->module};
    step_effect effect = {0};
    const uint64_t begin = monotonic_ns(), epoch = module_epoch(g->module);
    TRY_EXIT(check_time(g, &e, "before"));
    TRY_EXIT(open_step(g, &e, &effect));
    TRY_EXIT(observe_before(g, &e));
    TRY_EXIT(run_units(g, &e, &effect));
    if (effect.left_out_a_unit) TRY_AS(EXIT_STATUS_FAILED, recheck_contracts(g, &e));
    if (effect.asked_machine) effect.changes |= write_machine(g);
    if (effect.changes) settle_names(g);
    e.changed = effect.changes != 0;
    e.mutations = module_epoch(g->module) - epoch;
    *stats = (step_stats){stats->id,   stats->pass,     monotonic_ns() - begin, 0,
                          e.mutations, stats->op_count, stats->stats,           true};
    if (g->request->verify) TRY_EXIT(verify_step(g, &e));
    const exit_status observed = observe_after(g, &e);
    if (observed != EXIT_STATUS_OK) TRY_EXIT(check_time(g, &e, "in")); /* it was stopped: no step is to blame */
    stats->verify_ns = monotonic_ns() - begin - stats->run_ns;
    if (g->request->counts_ops) stats->op_count = module_count_ops(g->module);
    return observed;
}

/* ---- going back to a choice ---- */

static void keep_choice(manager *g, uint32_t index)
{
    if (g->choice.before != NULL || !g->pipeline->agents[index]->chooses) return;
    g->choice = (choice_point){.before = module_clone(g->module), .step = index};
    if (g->request->schedule != NULL) schedule_keep(g->request->schedule);
}

/* A later step found that what was chosen does not fit, and said so instead of an error. */
static bool is_choice_refused(const manager *g, uint32_t errors_before)
{
    return choices_is_wanted(g->choices) && diag_error_count(g->diags) == errors_before;
}

static void go_back(manager *g, uint32_t from)
{
    module_restore(g->module, g->choice.before);
    touched_functions_restart(g->functions);
    choices_restart(g->choices);
    run_session_forget(g->session);
    if (g->request->schedule != NULL) schedule_restart(g->request->schedule);
    for (uint32_t i = g->choice.step; i <= from; i++) compile_stats_forget(g->stats, g->pipeline, i);
    EACH_OBSERVER(g, o)
    {
        if (o->went_back != NULL) o->went_back(o->self, g->choice.step);
    }
}

/* ---- the whole ---- */

static exit_status run_from(manager *g, uint32_t first)
{
    for (uint32_t i = first; i < g->end; i++) {
        const contract_step *step = &g->pipeline->contract.steps[i];
        const uint32_t errors = diag_error_count(g->diags);
        keep_choice(g, i);
        span_begin(g, "step", str_from(step->step->id), step->pass->id);
        const exit_status s = run_step(g, i);
        span_end(g);
        if (s == EXIT_STATUS_OK) continue;
        if (!is_choice_refused(g, errors)) return s;
        go_back(g, i);
        i = g->choice.step - 1;
    }
    return EXIT_STATUS_OK;
}

/* The contracts of the steps that run, before any does. A part of a pipeline need not end where the backend begins; a
 * snapshot is of the middle: what came before it began at the level of the first step. So do functions that are
 * of every level, when there are no others. */
static status check_contracts(manager *g, uint32_t first)
{
    const contract *c = &g->pipeline->contract;
    contract_state start;
    module_levels(g->module, &start);
    const bool has_functions = block_first(g->module, module_top(g->module)) != 0;
    if (first > 0 || (start.level_count == 0 && has_functions && c->step_count > 0)) {
        start.level_count = 0;
        contract_state_add_level(&start, c->steps[0].pass->consumes);
    }
    if (first == 0) find_start_properties(g, &start);
    contract part = *c;
    if (g->end < c->step_count) part.backend = NULL;
    part.step_count = g->end;
    g->steps = arena_array(g->arena, c->step_count, sizeof *g->steps);
    if (c->step_count > 0) memcpy(g->steps, c->steps, c->step_count * sizeof *g->steps);
    g->states = arena_array(g->arena, c->step_count + 1u, sizeof *g->states);
    return contract_check(g->arena, g->diags, &part, &start, g->states);
}

static exit_status run_steps(manager *g)
{
    const compile_request *r = g->request;
    const contract *c = &g->pipeline->contract;
    const char *machine_name = g->pipeline->machine != NULL ? g->pipeline->machine->name : NULL;
    const uint32_t first = r->first;
    g->end = r->end > 0 ? r->end : c->step_count;
    compile_stats_start(g->stats, g->arena, g->pipeline);
    TRY_AS(EXIT_STATUS_USAGE, check_contracts(g, first));
    TRY_AS(EXIT_STATUS_USAGE, check_machine(g));
    g->outputs = output_keeper_create(g->arena, g->module);
    if (r->schedule != NULL) TRY_AS(EXIT_STATUS_USAGE, schedule_check_machine(r->schedule, machine_name));
    if (first > 0 && r->verify) TRY_AS(EXIT_STATUS_USAGE, check_start(g, first));
    TRY_EXIT(observe_begin(g, first));
    TRY_EXIT(run_from(g, first));
    if (r->schedule != NULL)
        TRY_AS(EXIT_STATUS_USAGE, schedule_check_asked(r->schedule, g->end - first == c->step_count));
    return EXIT_STATUS_OK;
}

exit_status pass_manager_run(arena *a, const loaded_pipeline *p, const compile_request *request, module *m,
                             flight_recorder *recorder, compile_stats *stats)
{
    diag_engine *d = context_diags(module_context(m));
    touched_functions *functions = touched_functions_create(a, m);
    touched_functions_set_verified(functions);
    const run_session_params params = {.diags = d,
                                       .registry = plugin_host_runs(p->host),
                                       .machine = p->machine,
                                       .abi_minor = plugin_host_abi_minor(p->host),
                                       .recorder = recorder,
                                       .functions = functions,
                                       .choices = choices_create(a),
                                       .schedule = request->schedule};
    manager g = {.arena = a,
                 .diags = d,
                 .pipeline = p,
                 .request = request,
                 .module = m,
                 .recorder = recorder,
                 .functions = functions,
                 .choices = params.choices,
                 .stats = stats};
    g.session = run_session_create(a, &params);
    g.properties = property_set_create(a, d, p->host, functions);
    process_divert_output(recorder);
    exit_status s = run_steps(&g);
    if (s != EXIT_STATUS_OK && request->schedule != NULL && schedule_is_refused(request->schedule))
        s = EXIT_STATUS_USAGE;
    process_restore_output(recorder);
    run_session_destroy(g.session);
    EACH_OBSERVER(&g, o)
    {
        if (o->end != NULL) o->end(o->self);
    }
    if (g.choice.before != NULL) module_destroy(g.choice.before);
    return s;
}
