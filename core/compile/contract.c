#include "core/compile/contract.h"

#include "core/core_diag.h"

#include <string.h>

static uint32_t level_index(const contract_state *s, const char *level)
{
    uint32_t i = 0;
    while (i < s->level_count && strcmp(s->levels[i].level, level) != 0) i++;
    return i;
}

const contract_level *contract_state_level(const contract_state *s, const char *level)
{
    const uint32_t i = level_index(s, level);
    return i < s->level_count ? &s->levels[i] : NULL;
}

static contract_level *find_level(contract_state *s, const char *level)
{
    const uint32_t i = level_index(s, level);
    return i < s->level_count ? &s->levels[i] : NULL;
}

static contract_level *add_level(contract_state *s, const char *level)
{
    contract_level *there = find_level(s, level);
    if (there != NULL) return there;
    BUG_IF(s->level_count == CONTRACT_LEVELS_MAX, "more than %d levels in one pipeline", CONTRACT_LEVELS_MAX);
    contract_level *added = &s->levels[s->level_count++];
    *added = (contract_level){.level = level};
    return added;
}

static uint32_t find_property(const contract_level *l, const char *property)
{
    uint32_t i = 0;
    while (i < l->property_count && strcmp(l->properties[i], property) != 0) i++;
    return i;
}

bool contract_state_has(const contract_state *s, const char *level, const char *property)
{
    const contract_level *l = contract_state_level(s, level);
    return l != NULL && find_property(l, property) < l->property_count;
}

void contract_state_add_level(contract_state *s, const char *level) { add_level(s, level); }

static void remove_level(contract_state *s, const char *level)
{
    contract_level *l = find_level(s, level);
    if (l == NULL) return;
    s->level_count--;
    *l = s->levels[s->level_count];
}

static void add_property(arena *a, contract_level *l, const char *property)
{
    if (find_property(l, property) < l->property_count) return;
    const char **all = arena_array(a, l->property_count + 1u, sizeof *all);
    if (l->property_count != 0) memcpy(all, l->properties, l->property_count * sizeof *all);
    all[l->property_count++] = property;
    l->properties = all;
}

void contract_state_add_property(arena *a, contract_state *s, const char *level, const char *property)
{
    contract_level *l = find_level(s, level);
    BUG_IF(l == NULL, "no level %s", level);
    add_property(a, l, property);
}

static void remove_property(arena *a, contract_level *l, const char *property)
{
    const uint32_t place = l != NULL ? find_property(l, property) : 0;
    if (l == NULL || place == l->property_count) return;
    const char **rest = arena_array(a, l->property_count, sizeof *rest);
    for (uint32_t i = 0, n = 0; i < l->property_count; i++)
        if (i != place) rest[n++] = l->properties[i];
    l->property_count--;
    l->properties = rest;
}

/* The last step before `end` that broke a property, or took its level away: step_count when there is none. */
static uint32_t find_breaker(const contract *c, uint32_t end, const char *property)
{
    for (uint32_t i = end; i-- > 0;) {
        if (str_list_has(c->steps[i].pass->breaks, property)) return i;
        if (str_list_has(c->steps[i].pass->establishes, property)) break;
    }
    return c->step_count;
}

static void note_suppliers(diag_engine *d, const contract *c, const char *property)
{
    text_buffer t;
    text_init(&t);
    c->suppliers(c->self, property, &t);
    if (t.n > 0)
        diag_note(d, NO_POS, "%s is established by: %s", property, t.p);
    else
        diag_note(d, NO_POS, "no plugin that can be found establishes %s", property);
    text_fini(&t);
}

/* A later step that would supply it: most often two lines are in the wrong order. */
static void note_later_supplier(diag_engine *d, const contract *c, uint32_t index, const char *property)
{
    for (uint32_t i = index; i < c->step_count; i++) {
        if (!str_list_has(c->steps[i].pass->establishes, property)) continue;
        diag_note(d, c->steps[i].step->at, "step `%s` establishes it, but comes later", c->steps[i].step->id);
        return;
    }
}

static status missing_property(diag_engine *d, const contract *c, uint32_t index, src_pos at, const char *who,
                               const char *property)
{
    const uint32_t breaker = find_breaker(c, index, property);
    if (breaker < c->step_count) {
        diag_error(d, at, &E1702, "%s needs property %s, which step `%s` broke", who, property,
                   c->steps[breaker].step->id);
        diag_note(d, c->steps[breaker].step->at, "step `%s` breaks it here", c->steps[breaker].step->id);
    } else {
        diag_error(d, at, &E1702, "%s needs property %s, which no earlier step establishes", who, property);
    }
    note_later_supplier(d, c, index, property);
    note_suppliers(d, c, property);
    return FAILED;
}

void contract_note_start(diag_engine *d, const contract *c, uint32_t index, const contract_state *s)
{
    for (uint32_t i = index; i < c->step_count; i++) {
        const char *consumes = c->steps[i].pass->consumes, *id = c->steps[i].step->id;
        if (contract_state_level(s, consumes) == NULL) continue;
        diag_note(d, c->steps[i].step->at, "step `%s` is the first that works on %s: a run can begin there", id,
                  consumes);
        return;
    }
}

static status missing_level(diag_engine *d, const contract *c, uint32_t index, const contract_state *s)
{
    const contract_step *step = &c->steps[index];
    text_buffer there;
    text_init(&there);
    for (uint32_t i = 0; i < s->level_count; i++) text_printf(&there, "%s%s", i ? ", " : "", s->levels[i].level);
    diag_error(d, step->step->at, &E1701, "step `%s` (%s) works on %s, but %s%s is there", step->step->id,
               step->pass->id, step->pass->consumes, there.n ? "only " : "", there.n ? there.p : "nothing");
    text_fini(&there);
    for (uint32_t i = 0; i < c->step_count; i++) {
        if (i == index || strcmp(c->steps[i].pass->produces, step->pass->consumes) != 0 ||
            strcmp(c->steps[i].pass->consumes, step->pass->consumes) == 0)
            continue;
        diag_note(d, c->steps[i].step->at, "step `%s` produces %s, but comes later", c->steps[i].step->id,
                  step->pass->consumes);
        return FAILED;
    }
    contract_note_start(d, c, index, s);
    return FAILED;
}

static status walk_step(arena *a, diag_engine *d, const contract *c, uint32_t index, contract_state *s)
{
    const pto_pass *pass = c->steps[index].pass;
    const pipeline_step *step = c->steps[index].step;
    if (find_level(s, pass->consumes) == NULL) return missing_level(d, c, index, s);
    char who[256];
    snprintf(who, sizeof who, "step `%s` (%s)", step->id, pass->id);
    for (const char *const *p = pass->requires_props; p != NULL && *p != NULL; p++) {
        if (!contract_state_has(s, pass->consumes, *p)) return missing_property(d, c, index, step->at, who, *p);
    }
    const bool moves = strcmp(pass->consumes, pass->produces) != 0;
    contract_level *produced = add_level(s, pass->produces);
    for (const char *const *p = pass->breaks; p != NULL && *p != NULL; p++) {
        remove_property(a, find_level(s, pass->consumes), *p);
        remove_property(a, produced, *p);
    }
    for (const char *const *p = pass->establishes; p != NULL && *p != NULL; p++) add_property(a, produced, *p);
    if (moves && !(pass->flags & PTO_PASS_KEEPS_LEVEL)) remove_level(s, pass->consumes);
    return OK;
}

static status walk_backend(diag_engine *d, const contract *c, const contract_state *s)
{
    char who[256];
    snprintf(who, sizeof who, "backend %s", c->backend_id);
    for (uint32_t i = 0; i < s->level_count; i++) {
        if (str_list_has(c->backend->consumes, s->levels[i].level)) continue;
        diag_error(d, c->backend_at, &E1703, "%s does not run %s, which the last step leaves", who, s->levels[i].level);
        for (const char *const *l = c->backend->consumes; l != NULL && *l != NULL; l++)
            diag_note(d, NO_POS, "it runs %s", *l);
        return FAILED;
    }
    for (const char *const *p = c->backend->requires_props; p != NULL && *p != NULL; p++) {
        bool holds = false;
        for (uint32_t i = 0; i < s->level_count; i++) holds |= contract_state_has(s, s->levels[i].level, *p);
        if (!holds) return missing_property(d, c, c->step_count, c->backend_at, who, *p);
    }
    return OK;
}

status contract_check(arena *a, diag_engine *d, const contract *c, const contract_state *start, contract_state *states)
{
    contract_state s = *start;
    if (states != NULL) states[0] = s;
    for (uint32_t i = 0; i < c->step_count; i++) {
        TRY(walk_step(a, d, c, i, &s));
        if (states != NULL) states[i + 1] = s;
    }
    return c->backend != NULL ? walk_backend(d, c, &s) : OK;
}
