/* pto.synchronize: flags order what instructions on different pipes do to the same bytes.
 *
 *     for %t ... {                              pto.set_flag v -> mte2 event(0)       // one for each stage
 *       pto.tload %x, %a[..]            =>      pto.set_flag v -> mte2 event(1)
 *       pto.texp %y, %x                         for %t ... {
 *     }                                           pto.wait_flag v -> mte2 event(%t mod 2)
 *                                                 pto.tload %x, %a[..]
 *                                                 pto.set_flag mte2 -> v event(%t mod 2)
 *                                                 pto.wait_flag mte2 -> v event(%t mod 2)
 *                                                 pto.texp %y, %x
 *                                                 pto.set_flag v -> mte2 event(%t mod 2)
 *                                               }
 *                                               pto.wait_flag v -> mte2 event(0)
 *                                               pto.wait_flag v -> mte2 event(1)
 *
 * Both instructions touch the same bytes when the addresses of their tiles overlap, or windows of one parameter that
 * are not shown to be apart; parameters do not overlap each other. An instruction that comes before the other gets its
 * set and the other its wait in the innermost block that holds both. When only a loop brings it before the other, the
 * right to go on is a token, one for each stage of a rotating buffer, which exists from before the outermost loop to
 * after it; so loops without trips balance. A flag that the others imply (sync_flow.h) is left out. Flags of an
 * earlier run are replaced.
 *
 * A pipe runs its instructions one after the other and each sees what the last one wrote, so nothing is needed on one
 * pipe, unless the machine says that its instructions overlap (`sync.barriers`): then those that depend on each other
 * have a `pto.barrier` of the pipe between them (sync_barriers.c). The scalar unit, which reads elements that decide,
 * is a pipe as well. Where a pair of pipes has too few events, flags share them or become one (sync_plan.h); a
 * `pto.barrier` is what remains when even that is not enough. Exact. Source: own.
 *
 * Requires kernels of instructions (pto.selected) whose buffers have addresses (pto.addresses-assigned). Leaves flags
 * that order all accesses (pto.synchronised): no pass may move instructions or addresses afterwards. */
#include "sync_kept.h"

#define STATS(X)                                                                      \
    X(PAIRS, "pairs of instructions that may touch the same bytes and need an order") \
    X(FLAGS, "flags")                                                                 \
    X(IMPLIED, "flags left out because others imply them")                            \
    X(MERGED, "flags merged for lack of events")                                      \
    X(BARRIERS, "barriers between instructions of one pipe")
PTO_STATS(STATS);

static pto_status remove_flags(const pto_run *run, pto_op kernel)
{
    PTO_WALK(kernel, op)
    {
        const pto_kind_id kind = pto_op_kind(op);
        if (kind == pto_kind(run, KIND_SET) || kind == pto_kind(run, KIND_WAIT) || kind == pto_kind(run, KIND_BARRIER))
            PTO_TRY(pto_op_erase(op));
    }
    return PTO_OK;
}

/* ---- writing ---- */

/* The attributes that flags share. */
typedef struct flag_writer {
    const sync_model *m;
    pto_attr names[PTO_NAMES_MAX];    /* of pipes, by number; none until it is needed */
    pto_attr events[SYNC_EVENTS_MAX]; /* constant ones, the same way */
    pto_expr last;                    /* what the last event of a stage was, and its attribute */
    pto_attr last_attr;
} flag_writer;

static pto_attr name_of(flag_writer *w, uint32_t pipe)
{
    pto_attr *name = &w->names[pipe];
    if (!PTO_SOME(*name)) *name = pto_attr_make_str(w->m->run, sync_pipe_name(w->m, pipe));
    return *name;
}

static pto_attr event_of(flag_writer *w, int64_t event)
{
    pto_attr *made = &w->events[event];
    const pto_expr number = PTO_SOME(*made) ? pto_expr_none(w->m->run) : pto_expr_const(w->m->run, event);
    if (!PTO_SOME(*made)) *made = pto_attr_make_exprs(w->m->run, 1, &number);
    return *made;
}

/* The event of a flag at a place where its stage is known. */
static pto_attr event_here(flag_writer *w, const sync_flag *f)
{
    if (f->stages == 1) return event_of(w, f->event);
    const pto_expr event = f->event != 0 ? pto_expr_offset(f->stage, f->event) : f->stage;
    if (!PTO_SOME(w->last_attr) || w->last.index != event.index)
        w->last_attr = pto_attr_make_exprs(w->m->run, 1, &event);
    w->last = event;
    return w->last_attr;
}

static pto_status write_flag(flag_writer *w, const sync_flag *f, int is_set, uint32_t before, pto_attr event)
{
    const sync_model *m = w->m;
    pto_spec s = pto_spec_make(m->run, pto_kind(m->run, is_set ? KIND_SET : KIND_WAIT));
    pto_spec_attr(&s, PTO_STR("src"), name_of(w, f->src));
    pto_spec_attr(&s, PTO_STR("dst"), name_of(w, f->dst));
    pto_spec_attr(&s, PTO_STR("event"), event);
    pto_spec_loc(&s, pto_op_loc(m->ops[is_set ? f->behind : f->leads].at->op));
    const pto_op made = pto_spec_build(&s, pto_before(m->ops[before].at->op));
    return PTO_SOME(made) ? PTO_OK : PTO_FAILED;
}

static pto_status write_barrier(const sync_model *m, const sync_flag *f, uint32_t before)
{
    pto_spec s = pto_spec_make(m->run, pto_kind(m->run, KIND_BARRIER));
    pto_spec_str(&s, PTO_STR("pipe"),
                 f->src == f->dst ? sync_pipe_name(m, f->src) : pto_pipe_name(m->run, PTO_PIPE_ALL));
    pto_spec_loc(&s, pto_op_loc(m->ops[f->leads].at->op));
    return PTO_SOME(pto_spec_build(&s, pto_before(m->ops[before].at->op))) ? PTO_OK : PTO_FAILED;
}

static pto_status write_gap(flag_writer *w, const sync_flag *f, const sync_gap *g)
{
    const sync_model *m = w->m;
    const int is_set = g->part == SYNC_PART_SET || g->part == SYNC_PART_FIRST_SETS;
    if (g->part == SYNC_PART_BARRIER) return write_barrier(m, f, g->before);
    if (g->part == SYNC_PART_SET || g->part == SYNC_PART_WAIT)
        return write_flag(w, f, is_set, g->before, event_here(w, f));
    for (int64_t i = 0; i < f->stages; i++) PTO_TRY(write_flag(w, f, is_set, g->before, event_of(w, f->event + i)));
    return PTO_OK;
}

/* The flags of the kernel, or those of one that was like it. */
static pto_status plan_flags(const sync_model *m, int64_t event_ids, sync_plan *plan)
{
    sync_key key;
    PTO_TRY(sync_plan_make(m, event_ids, plan));
    sync_key_of(m, &key);
    sync_key_add_plan(&key, plan);
    if (sync_find_plan(plan, &key)) return PTO_OK;
    PTO_TRY(sync_drop_implied(plan));
    PTO_TRY(sync_assign_events(plan));
    PTO_TRY(sync_add_barriers(plan));
    sync_keep_plan(plan, &key);
    return PTO_OK;
}

static pto_status synchronize_kernel(const pto_run *run, pto_op kernel)
{
    if (!PTO_IS(kernel, KERNEL)) return PTO_OK;
    sync_model m;
    sync_plan plan;
    sync_gap *gaps = NULL;
    int64_t event_ids = 0;
    if (pto_machine_i64(run, PTO_STR("sync.event-ids"), &event_ids) != PTO_OK)
        return pto_error(kernel, "pto.synchronize/no-machine",
                         "no machine says how many events a pair of pipes has; name one in the pipeline");
    PTO_TRY(remove_flags(run, kernel));
    PTO_TRY(sync_model_make(run, kernel, &m));
    PTO_TRY(plan_flags(&m, event_ids < SYNC_EVENTS_MAX ? event_ids : SYNC_EVENTS_MAX, &plan));
    const uint32_t count = sync_list_gaps(&m, plan.flags, plan.count, 0, &gaps);
    flag_writer w = {.m = &m};
    for (uint32_t i = 0; i < count; i++) PTO_TRY(write_gap(&w, &plan.flags[gaps[i].flag], &gaps[i]));
    pto_stat_add(run, STAT_PAIRS, m.pair_count);
    pto_stat_add(run, STAT_FLAGS, plan.barriers);
    for (uint32_t i = plan.barriers; i < plan.count; i++) pto_stat_add(run, STAT_BARRIERS, !plan.flags[i].is_dropped);
    pto_stat_add(run, STAT_IMPLIED, plan.implied);
    pto_stat_add(run, STAT_MERGED, plan.merged);
    return PTO_OK;
}

/* ---- pto.synchronised ---- */

static pto_status check_synchronised(const pto_run *run, pto_op kernel)
{
    if (!PTO_IS(kernel, KERNEL)) return PTO_OK;
    sync_model m;
    sync_key key;
    sync_race race;
    PTO_TRY(sync_model_make(run, kernel, &m));
    sync_key_of(&m, &key);
    if (sync_find_checked(&m, &key)) return PTO_OK;
    for (;;) {
        sync_flow *flow = NULL;
        PTO_TRY(pto_go_on(run));
        PTO_TRY(sync_flow_make(&m, NULL, 0, SYNC_WITH_OWN, &flow));
        if (sync_flow_run(flow, &race)) break;
        if (race.first != race.second || sync_is_pair(&m, &race)) return sync_report_race(&m, &race);
        PTO_TRY(sync_count_trips(&m, race.first));
    }
    sync_keep_checked(&m, &key);
    return PTO_OK;
}

static const pto_pass pass = {
    .struct_size = sizeof pass,
    .id = "pto.synchronize",
    .summary = "Order what pipes do to the same bytes by flags",
    .scope = "function",
    .consumes = "block/1",
    .produces = "block/1",
    .requires_props = PTO_STRS("pto.selected", "pto.addresses-assigned"),
    .establishes = PTO_STRS("pto.synchronised"),
    .kinds = sync_kinds,
    .stats = pass_stats,
    .run = synchronize_kernel,
};
static const pto_property synchronised = {
    .struct_size = sizeof synchronised,
    .id = "pto.synchronised",
    .doc =
        "Flags and barriers order every two instructions that may touch the same bytes, on different pipes or on one "
        "whose instructions overlap",
    .level = "block/1",
    .kinds = sync_kinds,
    .check = check_synchronised,
};
PTO_PLUGIN("pto.synchronize", "pass:pto.synchronize property:pto.synchronised", "pto.synchronised", .version = "0.1.0",
           .license = "Apache-2.0", .passes = PTO_LIST(pto_pass, &pass),
           .properties = PTO_LIST(pto_property, &synchronised));
