#include "machine_facts.h"

machine_barriers_of machine_barriers(const pto_run *run, pto_pipe pipe)
{
    const pto_str said = pto_machine_text(run, "sync.barriers.%.*s", PTO_FMT(pto_pipe_name(run, pipe)));
    if (pto_str_is(said, "needed")) return MACHINE_BARRIERS_NEEDED;
    return pto_str_is(said, "forbidden") ? MACHINE_BARRIERS_FORBIDDEN : MACHINE_BARRIERS_FREE;
}

/* Of an instruction or its value form, without the `pto.` that machine files leave out. */
static pto_str mnemonic(const pto_run *run, pto_kind_id kind)
{
    const pto_str own = pto_kind_name(run, kind);
    const int is_value_form = own.n > 5 && memcmp(own.p, "tile.", 5) == 0;
    const int64_t partner = is_value_form ? pto_kind_column(run, kind, PTO_COLUMN_PARTNER) : 0;
    const pto_str name = partner > 0 ? pto_kind_name(run, (pto_kind_id)partner) : own;
    return name.n > 4 ? pto_str_make(name.p + 4, name.n - 4) : name;
}

int machine_in_place(const pto_run *run, pto_kind_id kind)
{
    return pto_machine_i64_or(run, 1, "facts.%.*s.in-place", PTO_FMT(mnemonic(run, kind))) != 0;
}

/* What is before the next `end`, which is taken off with it. */
static pto_str take_until(pto_str *rest, char end)
{
    size_t n = 0;
    while (n < rest->n && rest->p[n] != end) n++;
    const pto_str found = pto_str_make(rest->p, n);
    const size_t used = n < rest->n ? n + 1 : n;
    *rest = pto_str_make(rest->p + used, rest->n - used);
    return found;
}

/* Whether a list of element types, where there is one, has the type. */
static int is_listed(pto_str list, pto_dtype dtype)
{
    if (list.n == 0) return 1;
    while (list.n != 0)
        if (pto_str_is(take_until(&list, ','), pto_dtype_name(dtype))) return 1;
    return 0;
}

/* Most instructions use none: those that were asked for last, by kind. */
enum { KINDS_KEPT = 64 };
typedef struct kept_eventless {
    pto_kind_id kind[KINDS_KEPT];
} kept_eventless;

uint32_t machine_events(const pto_run *run, pto_kind_id kind, pto_dtype dtype, machine_event out[MACHINE_EVENTS_MAX])
{
    kept_eventless *none = pto_recall(run, PTO_STR("eventless"), sizeof *none);
    if (none->kind[kind % KINDS_KEPT] == kind) return 0;
    const pto_str name = mnemonic(run, kind);
    pto_str list = pto_machine_text(run, "facts.%.*s.events", PTO_FMT(name));
    uint32_t count = 0;
    if (list.n == 0) none->kind[kind % KINDS_KEPT] = kind;
    if (list.n == 0 || !is_listed(pto_machine_text(run, "facts.%.*s.event-dtypes", PTO_FMT(name)), dtype)) return 0;
    while (list.n != 0 && count < MACHINE_EVENTS_MAX) {
        pto_str item = take_until(&list, ',');
        machine_event *e = &out[count++];
        *e = (machine_event){.src = pto_pipe_by_name(run, take_until(&item, '-'))};
        e->dst = pto_pipe_by_name(run, take_until(&item, '-'));
        for (size_t i = 0; i < item.n; i++) e->id = e->id * 10 + (uint32_t)(item.p[i] - '0');
    }
    return count;
}

int64_t machine_pads_to(const pto_run *run, pto_kind_id kind)
{
    return pto_machine_i64_or(run, 0, "facts.%.*s.pads-to", PTO_FMT(mnemonic(run, kind)));
}

int machine_dense_lines(const pto_run *run, pto_kind_id kind)
{
    return pto_machine_i64_or(run, 0, "facts.%.*s.dense-lines", PTO_FMT(mnemonic(run, kind))) != 0;
}

/* Whether a list of conversions, as f32-i32, has one. */
static int has_pair(pto_str list, pto_dtype from, pto_dtype to)
{
    while (list.n != 0) {
        pto_str item = take_until(&list, ',');
        if (pto_str_is(take_until(&item, '-'), pto_dtype_name(from)) && pto_str_is(item, pto_dtype_name(to))) return 1;
    }
    return 0;
}

int machine_saturates(const pto_run *run, pto_kind_id kind, pto_dtype from, pto_dtype to)
{
    return has_pair(pto_machine_text(run, "facts.%.*s.saturates", PTO_FMT(mnemonic(run, kind))), from, to);
}

/* Whether nothing is rounded: integers, and numbers that the target has. */
static int is_exact(pto_dtype from, pto_dtype to)
{
    const int64_t from_bytes = pto_dtype_bytes(from), to_bytes = pto_dtype_bytes(to);
    if (!pto_dtype_is_float(to)) return !pto_dtype_is_float(from) || to == PTO_BOOL;
    return from_bytes < to_bytes && (pto_dtype_is_float(from) ? to == PTO_F32 : to == PTO_F16 || to == PTO_F32);
}

int machine_rounds_to_odd(const pto_run *run, pto_kind_id kind, pto_dtype from, pto_dtype to)
{
    if (is_exact(from, to)) return 1;
    const pto_str list = pto_machine_text(run, "facts.%.*s.odd", PTO_FMT(mnemonic(run, kind)));
    return list.n == 0 || has_pair(list, from, to);
}

/* Whether a list among the facts of an instruction has the type; without a list none is in it. */
static int fact_lists(const pto_run *run, pto_kind_id kind, const char *fact, pto_dtype dtype)
{
    const pto_str list = pto_machine_text(run, "facts.%.*s.%s", PTO_FMT(mnemonic(run, kind)), fact);
    return list.n != 0 && is_listed(list, dtype);
}

int machine_scalar_through_f32(const pto_run *run, pto_kind_id kind, pto_dtype dtype)
{
    return fact_lists(run, kind, "scalar-through-f32", dtype);
}

int machine_through_f32(const pto_run *run, pto_kind_id kind, pto_dtype dtype)
{
    return fact_lists(run, kind, "through-f32", dtype);
}

int machine_destroys(const pto_run *run, pto_kind_id kind, pto_dtype dtype)
{
    return fact_lists(run, kind, "destroys", dtype);
}

int machine_row_major(const pto_run *run, pto_kind_id kind)
{
    return pto_machine_i64_or(run, 0, "facts.%.*s.row-major", PTO_FMT(mnemonic(run, kind))) != 0;
}

int machine_below_width(const pto_run *run, pto_kind_id kind)
{
    return pto_machine_i64_or(run, 0, "facts.%.*s.below-width", PTO_FMT(mnemonic(run, kind))) != 0;
}

int machine_approximate_without_scratch(const pto_run *run, pto_kind_id kind)
{
    return pto_machine_i64_or(run, 0, "facts.%.*s.approximate-without-scratch", PTO_FMT(mnemonic(run, kind))) != 0;
}

pto_str machine_compares_as(const pto_run *run, pto_kind_id kind, pto_dtype dtype, pto_str relation)
{
    const pto_str name = mnemonic(run, kind);
    pto_str has = pto_machine_text(run, "facts.%.*s.relations", PTO_FMT(name)), rest = has;
    if (has.n == 0 || !is_listed(pto_machine_text(run, "facts.%.*s.relation-dtypes", PTO_FMT(name)), dtype))
        return pto_no_str();
    while (rest.n != 0)
        if (pto_str_same(take_until(&rest, ','), relation)) return pto_no_str();
    return take_until(&has, ',');
}
