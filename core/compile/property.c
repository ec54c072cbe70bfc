#include "core/compile/property.h"

#include "core/core_diag.h"

#include <string.h>

typedef struct checker {
    const char *id;
    uint32_t number;
    const pto_property *property; /* NULL: no plugin has one */
    run_agent agent;
} checker;

struct property_set {
    arena *arena;
    diag_engine *diags;
    plugin_host *host;
    touched_functions *functions;
    checker *checkers;
    uint32_t count, capacity;
};

property_set *property_set_create(arena *a, diag_engine *d, plugin_host *host, touched_functions *functions)
{
    property_set *set = arena_alloc(a, sizeof *set);
    *set = (property_set){.arena = a, .diags = d, .host = host, .functions = functions};
    set->capacity = FUNCTION_FACTS_MAX;
    set->checkers = arena_array(a, set->capacity, sizeof *set->checkers);
    return set;
}

static status find_checker(property_set *set, const char *id, const checker **out)
{
    for (uint32_t i = 0; i < set->count; i++) {
        if (strcmp(set->checkers[i].id, id) != 0) continue;
        *out = &set->checkers[i];
        return OK;
    }
    BUG_IF(set->count == set->capacity, "more than %u properties", set->capacity);
    checker *c = &set->checkers[set->count];
    *c = (checker){.id = id, .number = set->count++};
    *out = c;
    if (!plugin_host_has(set->host, PLUGIN_PROPERTY, str_from(id))) return OK;
    const plugin_file *file = NULL;
    c->property = plugin_host_property(set->host, NO_POS, str_from(id), &file);
    if (c->property == NULL) return FAILED;
    c->agent = (run_agent){.plugin = file->plugin->id, .role = "property checker", .id = id};
    c->agent.kinds = run_agent_kinds(set->arena, plugin_host_ops(set->host), c->property->kinds, &c->agent.kind_count);
    if (c->agent.kinds == NULL) return FAILED;
    return OK;
}

static status check_function(property_set *set, run_session *session, module *m, op_id function, const checker *c,
                             const run_agent *after)
{
    const run_request request = {
        .agent = &c->agent, .module = m, .unit = function, .access = RUN_READS, .after = after};
    const pto_run *run = run_context_begin(session, &request);
    const pto_status returned = c->property->check(run, run_context_unit(run));
    const run_result result = run_context_end(run, returned);
    if (result.failed) return FAILED;
    touched_functions_set_holds(set->functions, function, c->number, result.saw);
    return OK;
}

static status check_functions(property_set *set, run_session *session, module *m, const checker *c,
                              const run_agent *after)
{
    status result = OK;
    bool has_begun = false;
    const ir_level level = level_by_name(plugin_host_ops(set->host), str_from(c->property->level));
    BLOCK_EACH_OP(m, f, module_top(m)) {
        if (level == LEVEL_NONE || touched_functions_level(set->functions, f) != level) continue;
        if (touched_functions_holds(set->functions, f, c->number)) continue;
        if (!has_begun) run_group_begin(session, &c->agent);
        has_begun = true;
        result = check_function(set, session, m, f, c, after);
        if (result != OK) break;
    }
    if (has_begun) run_group_end(session);
    return result;
}

static void blame(property_set *set, const module *m, const char *property, const run_agent *agent)
{
    if (agent == NULL) {
        diag_error(set->diags, (src_pos){string_of(module_context(m), module_file(m)).p, 0, 0}, &E1707,
                   "the module does not have property %s, which the steps that were left out would leave", property);
        return;
    }
    char who[RUN_AGENT_TEXT_BYTES];
    diag_error(set->diags, agent->at, &E1707,
               "property %s does not hold after %s, which claims it or broke it without saying so", property,
               run_agent_text(agent, who));
}

status property_check_state(property_set *set, run_session *session, module *m, const contract_state *state,
                            const run_agent *blamed)
{
    for (uint32_t l = 0; l < state->level_count; l++) {
        const contract_level *level = &state->levels[l];
        for (uint32_t p = 0; p < level->property_count; p++) {
            const checker *c = NULL;
            TRY(find_checker(set, level->properties[p], &c));
            if (c->property == NULL || strcmp(c->property->level, level->level) != 0) continue;
            if (check_functions(set, session, m, c, blamed) == OK) continue;
            /* One that stopped is not to blame. */
            if (!run_session_is_stopped(session)) blame(set, m, c->id, blamed);
            return FAILED;
        }
    }
    return OK;
}

status property_excluded_levels(property_set *set, const contract_state *state, uint32_t *levels)
{
    for (uint32_t l = 0; l < state->level_count; l++) {
        for (uint32_t p = 0; p < state->levels[l].property_count; p++) {
            const checker *c = NULL;
            TRY(find_checker(set, state->levels[l].properties[p], &c));
            if (c->property != NULL && c->property->excludes != NULL)
                *levels |= 1u << level_by_name(plugin_host_ops(set->host), str_from(c->property->excludes));
        }
    }
    return OK;
}

bool property_holds(property_set *set, run_session *session, module *m, const char *level, const char *property)
{
    const checker *c = NULL;
    if (find_checker(set, property, &c) != OK || c->property == NULL || strcmp(c->property->level, level) != 0)
        return false;
    return check_functions(set, session, m, c, NULL) == OK;
}
