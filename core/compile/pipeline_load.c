#include "core/compile/pipeline_load.h"

#include "core/core_diag.h"
#include "core/host/pass_claims.h"

#include <stdio.h>
#include <string.h>

static void put_suppliers(void *self, const char *property, text_buffer *out)
{
    const loaded_pipeline *o = self;
    const char *const *ids = plugin_host_suppliers(o->host, str_from(property));
    for (uint32_t i = 0; ids[i] != NULL; i++) text_printf(out, "%s%s", i ? ", " : "", ids[i]);
}

/* `may_wait`: its plugin need not be loaded before a module has something for it. */
static status resolve_step(diag_engine *d, const loaded_pipeline *out, contract_step *s, bool may_wait)
{
    const plugin_file *file = NULL;
    const str id = str_from(s->step->pass);
    s->pass = may_wait && s->step->with == NULL ? plugin_host_pass_to_come(out->host, s->step->at, id, &file)
                                                : plugin_host_pass(out->host, s->step->at, id, &file);
    if (s->pass == NULL) return FAILED;
    s->plugin = file->note.id;
    return pass_check_claims(d, out->host, s->step->at, s->plugin, s->pass);
}

static status resolve_steps(arena *a, diag_engine *d, loaded_pipeline *out)
{
    const pipeline *p = out->pipeline;
    status result = OK;
    out->steps = arena_array(a, p->step_count, sizeof *out->steps);
    for (uint32_t i = 0; i < p->step_count; i++) {
        out->steps[i].step = &p->steps[i];
        if (resolve_step(d, out, &out->steps[i], true) != OK) result = FAILED;
    }
    out->contract.steps = out->steps;
    out->contract.step_count = p->step_count;
    return result;
}

static uint32_t text_count(const char *const *list)
{
    uint32_t n = 0;
    while (list != NULL && list[n] != NULL) n++;
    return n;
}

/* Types the options of an agent, `with` being what the file says. */
static status read_options(arena *a, diag_engine *d, run_agent *agent, const yaml_node *with)
{
    char owner[256];
    snprintf(owner, sizeof owner, "%s `%s`", agent->role, agent->id);
    value *values = NULL;
    TRY(options_read(a, d, owner, agent->options, with, agent->at, &values));
    agent->values = values;
    return OK;
}

/* What opening needs everywhere, and the status of the failure. */
typedef struct opening {
    arena *a;
    diag_engine *d;
    const loaded_pipeline *out;
} opening;

/* A strategy that refers to strategies, by default perhaps to itself. */
enum { STRATEGY_DEPTH = 8 };

static exit_status open_strategies(const opening *o, run_agent *agent, uint32_t depth);

/* Fills in what the plugin of that kind with that id says of itself. */
static status find_strategy(plugin_host *h, const char *kind, str id, run_agent *agent)
{
#define FIND(what, its_role)                                       \
    if (strcmp(kind, #what) == 0) {                                \
        agent->what = plugin_host_##what(h, agent->at, id, &file); \
        if (agent->what == NULL) return FAILED;                    \
        agent->role = (its_role);                                  \
        agent->id = agent->what->id;                               \
        agent->options = agent->what->options;                     \
    }
    const plugin_file *file = NULL;
    FIND(tiling, "tiling strategy")
    FIND(cost, "cost model")
    FIND(generator, "code generator")
#undef FIND
    BUG_IF(file == NULL, "an option names a plugin of the kind %s", kind);
    agent->plugin = file->plugin->id;
    return OK;
}

static exit_status open_strategy(const opening *o, const run_agent *owner, uint32_t option, uint32_t depth,
                                 const run_agent **out_agent)
{
    const value *v = &owner->values[option];
    const src_pos at = v->at.file != NULL ? v->at : owner->at;
    if (depth == STRATEGY_DEPTH) {
        diag_error(o->d, at, &E1033, "%s `%s` refers to a strategy, %d deep; the maximum is %d", owner->role, owner->id,
                   STRATEGY_DEPTH + 1, STRATEGY_DEPTH);
        return EXIT_STATUS_USAGE;
    }
    run_agent *agent = arena_alloc(o->a, sizeof *agent);
    *agent = (run_agent){.step = owner->step, .at = at};
    TRY_AS(EXIT_STATUS_PLUGIN, find_strategy(o->out->host, owner->options[option]->choices[0], v->s, agent));
    TRY_AS(EXIT_STATUS_USAGE, read_options(o->a, o->d, agent, v->with));
    TRY_EXIT(open_strategies(o, agent, depth + 1));
    *out_agent = agent;
    return EXIT_STATUS_OK;
}

/* Strategies that options name are found, and their own options checked, before anything runs. */
static exit_status open_strategies(const opening *o, run_agent *agent, uint32_t depth)
{
    const uint32_t count = option_count(agent->options);
    const run_agent **strategies = arena_array(o->a, count, sizeof *strategies);
    for (uint32_t i = 0; i < count; i++) {
        if (agent->values[i].type != VALUE_PLUGIN || agent->values[i].s.n == 0) continue;
        TRY_EXIT(open_strategy(o, agent, i, depth, &strategies[i]));
        agent->chooses = true;
    }
    agent->strategies = strategies;
    return EXIT_STATUS_OK;
}

static exit_status open_agent(const opening *o, const contract_step *step, run_agent *agent)
{
    *agent = (run_agent){.plugin = step->plugin,
                         .role = "pass",
                         .id = step->pass->id,
                         .step = step->step->id,
                         .at = step->step->at,
                         .options = step->pass->options,
                         .stats = step->pass->stats,
                         .chooses = (step->pass->flags & PTO_PASS_CHOOSES) != 0};
    agent->kinds = run_agent_kinds(o->a, plugin_host_ops(o->out->host), step->pass->kinds, &agent->kind_count);
    if (agent->kinds == NULL) return EXIT_STATUS_PLUGIN;
    agent->stat_values = arena_array(o->a, text_count(step->pass->stats), sizeof *agent->stat_values);
    TRY_AS(EXIT_STATUS_USAGE, read_options(o->a, o->d, agent, step->step->with));
    return open_strategies(o, agent, 0);
}

static exit_status open_agents(const opening *o, run_agent **agents)
{
    exit_status result = EXIT_STATUS_OK;
    for (uint32_t i = 0; i < o->out->contract.step_count; i++) {
        agents[i] = arena_alloc(o->a, sizeof *agents[i]);
        const exit_status opened = open_agent(o, &o->out->steps[i], agents[i]);
        if (opened == EXIT_STATUS_PLUGIN) return opened;
        if (opened != EXIT_STATUS_OK) result = opened;
    }
    return result;
}

exit_status pipeline_open_step(diag_engine *d, const loaded_pipeline *p, uint32_t index)
{
    const opening o = {p->arena, d, p};
    TRY_AS(EXIT_STATUS_PLUGIN, resolve_step(d, p, &p->steps[index], false));
    return open_agent(&o, &p->steps[index], p->agents[index]);
}

static status open_backend(arena *a, loaded_pipeline *out, const char *id, src_pos at)
{
    const plugin_file *file = NULL;
    const pto_backend *b = plugin_host_backend(out->host, at, str_from(id), &file);
    if (b == NULL) return FAILED;
    out->contract.backend = b;
    out->contract.backend_id = b->id;
    out->contract.backend_at = at;
    run_agent *agent = arena_alloc(a, sizeof *agent);
    *agent = (run_agent){.plugin = file->plugin->id, .role = "backend", .id = b->id, .at = at, .options = b->options};
    agent->kinds = run_agent_kinds(a, plugin_host_ops(out->host), b->kinds, &agent->kind_count);
    if (agent->kinds == NULL) return FAILED;
    out->backend_agent = agent;
    return OK;
}

exit_status pipeline_load(arena *a, diag_engine *d, plugin_host *host, const pipeline *p, const char *backend,
                          loaded_pipeline *out)
{
    *out = (loaded_pipeline){.pipeline = p, .host = host, .arena = a};
    out->contract.suppliers = put_suppliers;
    out->contract.self = out;
    if (p->machine != NULL) TRY_AS(EXIT_STATUS_USAGE, machine_read(a, d, p->machine, &out->machine));
    TRY_AS(EXIT_STATUS_PLUGIN, resolve_steps(a, d, out));
    const bool is_replaced = backend != NULL;
    const char *id = is_replaced ? backend : p->backend;
    const src_pos at = is_replaced ? (src_pos){"<command line>", 1, 1} : p->backend_at;
    if (id != NULL && *id) TRY_AS(EXIT_STATUS_PLUGIN, open_backend(a, out, id, at));
    const opening o = {a, d, out};
    out->agents = arena_array(a, out->contract.step_count, sizeof *out->agents);
    TRY_EXIT(open_agents(&o, out->agents));
    if (out->backend_agent == NULL) return EXIT_STATUS_OK;
    TRY_AS(EXIT_STATUS_USAGE, read_options(a, d, out->backend_agent, is_replaced ? NULL : p->backend_with));
    return open_strategies(&o, out->backend_agent, 0);
}
