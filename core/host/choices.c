#include "core/host/choices.h"

typedef struct choice {
    const void *step;
    str function, label;
    uint32_t count, passed_over;
    uint32_t round;  /* in which it was made last, from 1 */
    bool is_settled; /* what it has now stays */
} choice;

typedef struct pinned {
    const struct pinned *next;
    str function, label;
    src_pos at;
} pinned;

struct choices {
    arena *a;
    const pinned *pins;
    choice *all;
    uint32_t count, capacity;
    uint32_t latest; /* the choice made last */
    uint32_t round;  /* from 1 */
    bool is_wanted;
};

choices *choices_create(arena *a)
{
    choices *c = arena_alloc(a, sizeof *c);
    *c = (choices){.a = a, .round = 1};
    return c;
}

static void settle(choice *one)
{
    one->passed_over = 0;
    one->is_settled = true;
}

static bool is_for(const choice *one, str unit) { return str_eq(one->label, unit) || str_eq(one->function, unit); }

/* The first one of an earlier round that was not made in this one. Steps are deterministic: it is nearly always the one
 * after the latest. */
static choice *find_earlier(choices *c, const void *step, str function, str label)
{
    for (uint32_t i = 1; c->round > 1 && i <= c->count; i++) {
        choice *one = &c->all[(c->latest + i) % c->count];
        if (one->round != c->round && one->step == step && str_eq(one->label, label) && str_eq(one->function, function))
            return one;
    }
    return NULL;
}

uint32_t choices_next(choices *c, const void *step, str function, str label, uint32_t count)
{
    choice *one = find_earlier(c, step, function, label);
    if (one == NULL) {
        if (c->count == c->capacity) c->all = arena_grow(c->a, c->all, c->count, &c->capacity, sizeof *c->all);
        one = &c->all[c->count++];
        *one = (choice){.step = step, .function = function, .label = label};
    }
    one->count = count;
    one->round = c->round;
    if (one->passed_over >= count) settle(one);
    c->latest = (uint32_t)(one - c->all);
    return one->passed_over;
}

void choices_add_pin(choices *c, str function, str label, src_pos at)
{
    pinned *p = arena_alloc(c->a, sizeof *p);
    *p = (pinned){.next = c->pins, .function = function, .label = label, .at = at};
    c->pins = p;
}

bool choices_find_pin(const choices *c, str unit, src_pos *at)
{
    for (const pinned *p = c->pins; p != NULL; p = p->next) {
        if (!str_eq(p->label, unit) && !str_eq(p->function, unit)) continue;
        *at = p->at;
        return true;
    }
    return false;
}

void choices_give_up(choices *c)
{
    settle(&c->all[c->latest]);
    c->is_wanted = true;
}

static bool has_next(const choice *one)
{
    return !one->is_settled && one->passed_over < CHOICE_TRIES_MAX && one->passed_over + 1 < one->count;
}

/* The first step with a further alternative for the unit; those before it have none. */
static const void *step_with_next(const choices *c, str unit)
{
    for (uint32_t i = 0; i < c->count; i++)
        if (c->all[i].round == c->round && is_for(&c->all[i], unit) && has_next(&c->all[i])) return c->all[i].step;
    return NULL;
}

bool choices_ask(choices *c, str unit)
{
    if (c->is_wanted) return true;
    const void *step = c->round <= CHOICE_ROUNDS_MAX ? step_with_next(c, unit) : NULL;
    if (step == NULL) return false;
    for (uint32_t i = 0; i < c->count; i++) {
        choice *one = &c->all[i];
        if (one->round != c->round || !is_for(one, unit)) continue;
        if (has_next(one) && one->step == step)
            one->passed_over++;
        else if (!has_next(one))
            settle(one);
    }
    c->is_wanted = true;
    return true;
}

bool choices_is_wanted(const choices *c) { return c->is_wanted; }

void choices_restart(choices *c)
{
    c->pins = NULL;
    c->round++;
    c->is_wanted = false;
}
