#include "core/host/tiling_retry.h"

typedef struct choice {
    str function, label;
    uint32_t passed_over;
    bool is_final;
} choice;

typedef struct pinned pinned;
struct pinned {
    pinned *next;
    str function, label;
    src_pos at;
};

struct tiling_retry {
    arena *a;
    pinned *pins;
    choice *choices;
    uint32_t count, capacity, next; /* number of the next choice */
    uint32_t rounds;
    bool is_wanted;
};

tiling_retry *tiling_retry_create(arena *a)
{
    tiling_retry *r = arena_alloc(a, sizeof *r);
    *r = (tiling_retry){.a = a};
    return r;
}

static void grow(tiling_retry *r)
{
    const choice *old = r->choices;
    r->capacity = r->capacity == 0 ? 16 : 2 * r->capacity;
    r->choices = arena_array(r->a, r->capacity, sizeof *r->choices);
    for (uint32_t i = 0; i < r->count; i++) r->choices[i] = old[i];
}

uint32_t tiling_retry_next(tiling_retry *r, str function, str label)
{
    if (r->next == r->count) {
        if (r->count == r->capacity) grow(r);
        r->choices[r->count++] = (choice){.function = function, .label = label};
    }
    return r->choices[r->next++].passed_over;
}

void tiling_retry_add_pin(tiling_retry *r, str function, str label, src_pos at)
{
    pinned *p = arena_alloc(r->a, sizeof *p);
    *p = (pinned){.next = r->pins, .function = function, .label = label, .at = at};
    r->pins = p;
}

bool tiling_retry_find_pin(const tiling_retry *r, str unit, src_pos *at)
{
    for (const pinned *p = r->pins; p != NULL; p = p->next) {
        if (!str_eq(p->label, unit) && !str_eq(p->function, unit)) continue;
        *at = p->at;
        return true;
    }
    return false;
}

void tiling_retry_give_up(tiling_retry *r)
{
    choice *latest = &r->choices[r->next - 1];
    latest->passed_over = 0;
    latest->is_final = true;
    r->is_wanted = true;
}

bool tiling_retry_ask(tiling_retry *r, str unit)
{
    if (r->is_wanted) return true;
    if (r->rounds == TILING_RETRIES_MAX) return false;
    for (uint32_t i = 0; i < r->next; i++) {
        choice *c = &r->choices[i];
        if (c->is_final || (!str_eq(c->label, unit) && !str_eq(c->function, unit))) continue;
        c->passed_over++;
        r->is_wanted = true;
    }
    return r->is_wanted;
}

bool tiling_retry_is_wanted(const tiling_retry *r) { return r->is_wanted; }

void tiling_retry_restart(tiling_retry *r)
{
    r->next = 0;
    r->pins = NULL;
    r->rounds++;
    r->is_wanted = false;
}
