#include "tools/run/counter_name.h"

#include <string.h>

static const char separator[] = " / ", stall[] = "stall / ";

/* Where the last " / " of `s` begins; s.n when there is none. */
static size_t last_separator(str s)
{
    for (size_t i = s.n; i-- > 0;)
        if (i + 3 <= s.n && memcmp(s.p + i, separator, 3) == 0) return i;
    return s.n;
}

static pto_counter find(str name, bool is_of_run, bool is_stall)
{
    for (uint32_t i = 0; i < PTO_COUNTER_NONE; i++) {
        const pto_counter_row *row = pto_counter_row_at(i);
        if ((row->scope <= PTO_SCOPE_EVENT) != is_of_run || (pto_counter_is_stall(i) != 0) != is_stall) continue;
        if (str_is(name, row->name)) return (pto_counter)i;
    }
    return PTO_COUNTER_NONE;
}

static void read_unit(counter_name *n, str unit)
{
    const size_t end = last_separator(unit);
    n->unit = n->group = unit;
    n->pipe = (str){unit.p + unit.n, 0};
    if (end == unit.n) return;
    n->group = (str){unit.p, end};
    n->pipe = (str){unit.p + end + 3, unit.n - end - 3};
}

counter_name counter_name_read(str name)
{
    counter_name n = {.whole = name, .counter = find(name, true, false), .what = name};
    const size_t end = last_separator(name);
    if (n.counter != PTO_COUNTER_NONE || end == name.n) return n;
    str front = {name.p, end};
    const size_t before = last_separator(front);
    n.what = (str){name.p + end + 3, name.n - end - 3};
    n.is_stall = before < front.n && str_is((str){front.p + before + 3, front.n - before - 3}, "stall");
    n.counter = find(n.what, false, n.is_stall);
    if (n.is_stall) front.n = before;
    if (n.is_stall || n.counter != PTO_COUNTER_NONE) read_unit(&n, front);
    return n;
}

pto_counter counter_of_cause(str cause) { return find(cause, false, true); }

pto_counter counter_declared(str name)
{
    const size_t n = strlen(stall);
    if (name.n > n && memcmp(name.p, stall, n) == 0) return find((str){name.p + n, name.n - n}, false, true);
    const pto_counter of_run = find(name, true, false);
    return of_run != PTO_COUNTER_NONE ? of_run : find(name, false, false);
}

void counter_put_declaration(pto_counter counter, text_buffer *out)
{
    const pto_counter_row *row = pto_counter_row_at(counter);
    if (row != NULL) text_printf(out, "%s%s", pto_counter_is_stall(counter) ? stall : "", row->name);
}

const char *counter_nearest(str name, arena *a)
{
    const char *names[PTO_COUNTER_NONE + 1] = {NULL};
    text_buffer t;
    text_init(&t);
    for (uint32_t i = 0; i < PTO_COUNTER_NONE; i++) {
        t.n = 0;
        counter_put_declaration((pto_counter)i, &t);
        names[i] = arena_strndup(a, t.p, t.n);
    }
    text_fini(&t);
    return str_nearest(name, names);
}

bool counter_is_own(const pto_backend *b, str name)
{
    const size_t n = strlen(b->id);
    return name.n > n && memcmp(name.p, b->id, n) == 0 && name.p[n] == ' ';
}

bool counter_may_be_given(const pto_backend *b, const counter_name *name)
{
    if (b->counters == NULL || b->counters[0] == NULL || counter_is_own(b, name->whole) ||
        counter_is_own(b, name->what))
        return true;
    for (const char *const *c = b->counters; *c != NULL && name->counter != PTO_COUNTER_NONE; c++)
        if (counter_declared(str_from(*c)) == name->counter) return true;
    return false;
}
