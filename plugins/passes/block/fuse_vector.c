/* pto.fuse-vector: runs of ops over one valid region become regions that a core walks through row by row.
 *
 *     %tx = tile.load %x[16 * %t, 0] size(16, 256)      %tx = tile.load %x[16 * %t, 0] size(16, 256)
 *     %tm = tile.rowmax %tx                             tile.fused {
 *     %td = tile.rowexpandsub %tx, %tm            =>      %tm = tile.rowmax %tx
 *     tile.store %td, %y[16 * %t, 0]                      %td = tile.rowexpandsub %tx, %tm
 *                                                         tile.store %td, %y[16 * %t, 0]
 *                                                       }
 *
 * What is in a region goes from op to op in vectors, or in a row that is in a cache; a tile between regions is written
 * and read as a whole. Loads whose rows can be read where they lie stay outside, as do products and all that does not
 * go through rows; a region of one op is none. An op in between that none of a run needs runs before it. The decision
 * `region` of an op says whether it is in that of the ops before it, `joined`, or begins another one, `separate`;
 * listed is where one ends though the next op goes through rows, too, and any op of a region can be pinned. Exact.
 *
 * Requires kernels of tiles as values (pto.outline), after all that changes their ops. Leaves such kernels. */
#include "fused_run.h"

#include <pto/plugin.h>

#define KINDS(X)                \
    X(KERNEL, "block.kernel")   \
    X(FUSED, "tile.fused")      \
    X(YIELD, "yield")           \
    X(CONSTANT, "constant")     \
    X(INDEX_CAST, "index_cast") \
    X(COMPARE, "compare")
PTO_KINDS(KINDS);

#define STATS(X) X(REGIONS, "regions") X(FUSED, "fused ops") X(BREAKS, "breaks")
PTO_STATS(STATS);

#define OPTIONS(X)                                                                              \
    X(MAX_OPS, I64, "max-ops", .def = "96", .min = "1", .max = "4096",                          \
      .doc = "most ops of a region; 1: there are no regions, and each op is a walk of its own", \
      .example = "with: { max-ops: 16 }")
PTO_OPTIONS(OPTIONS);

static const char *const region_words[] = {"joined", "separate", NULL};
enum { JOINED, SEPARATE };

/* Ops that become a region, in front of `end`; none: at the end of the block. */
typedef struct planned {
    fused_member *members;
    uint32_t count;
    pto_op end;
} planned;

typedef struct fuser {
    const pto_run *run;
    fused_model model;
    uint32_t most;
    planned *plans;
    uint32_t plan_count, plan_capacity;
    uint32_t *owner; /* of an op by its index: the number of its plan + 1 */
} fuser;

/* ---- what goes together ---- */

/* The run is over; the next one begins with memory of its own. */
static void close_run(fuser *f, fused_run *r, pto_op end)
{
    if (r->count > 1) {
        PTO_GROW(f->run, f->plans, f->plan_count, f->plan_capacity);
        f->plans[f->plan_count++] = (planned){r->members, r->count, end};
        for (uint32_t i = 0; i < r->count; i++) f->owner[r->members[i].op.index] = f->plan_count;
        *r = (fused_run){.count = 0};
    }
    r->count = 0;
}

/* `why`: what keeps the op from joining those before it; NULL: nothing. */
static pto_status decide(const fuser *f, pto_op op, const char *why, int64_t *region)
{
    const int64_t least = why != NULL ? SEPARATE : JOINED, most = SEPARATE;
    const pto_decision d = {.struct_size = sizeof d,
                            .count = 1,
                            .name = "region",
                            .words = region_words,
                            .min = &least,
                            .max = &most,
                            .limit = why};
    *region = least;
    const int32_t pinned = pto_decision_pinned(op, &d, region);
    PTO_TRY(pinned);
    if (pinned || *region == SEPARATE) PTO_TRY(pto_decision_made(op, &d, region));
    if (*region == JOINED) return PTO_OK;
    pto_stat_add(f->run, STAT_BREAKS, 1);
    pto_remark(op, "pto.fuse-vector/separate", "begins another walk through rows: %s",
               why != NULL ? why : "the schedule says so");
    return PTO_OK;
}

/* An op that goes through rows: joins the run, lets it end and begins another one, or goes before it. */
static pto_status take(fuser *f, fused_run *r, const fused_member *member, const pto_expr region[2])
{
    const char *why = fused_run_refuses(&f->model, r, member, region);
    int64_t joins = JOINED;
    if (why == NULL && r->count == f->most) why = "a region has no more ops than `max-ops` says";
    if (why != NULL && fused_run_lets_pass(&f->model, r, member)) return PTO_OK;
    if (r->count != 0) PTO_TRY(decide(f, member->op, why, &joins));
    if (joins == SEPARATE) close_run(f, r, member->op);
    fused_run_join(&f->model, r, member, region);
    return PTO_OK;
}

static int is_on_scalars(pto_op op) { return PTO_IS(op, CONSTANT) || PTO_IS(op, INDEX_CAST) || PTO_IS(op, COMPARE); }

static pto_status plan_block(fuser *f, pto_block block)
{
    fused_run r = {.count = 0};
    PTO_EACH_OP(block, op) {
        pto_expr region[2];
        const char *why = NULL;
        PTO_TRY(pto_go_on(f->run));
        if (is_on_scalars(op)) continue;
        fused_member member = {op, fused_kind_of(&f->model, op, region, &why)};
        if (member.kind != FUSED_NONE && fused_stores_product(&f->model, op)) {
            member.kind = FUSED_NONE;
            why = "a product goes to memory by it";
        }
        if (member.kind == FUSED_LOAD && fused_stays_in_memory(&f->model, op)) continue;
        if (member.kind != FUSED_NONE) {
            PTO_TRY(take(f, &r, &member, region));
            continue;
        }
        if (r.count > 0 && storage_is_tile_op(op))
            pto_remark(op, "pto.fuse-vector/ends", "ends the walk through rows before it: %s", why);
        close_run(f, &r, op);
    }
    close_run(f, &r, pto_op_none(f->run));
    return PTO_OK;
}

static pto_status plan_kernel(fuser *f, pto_op kernel)
{
    fused_model_enter(&f->model, kernel);
    PTO_TRY(plan_block(f, pto_body(kernel)));
    PTO_WALK(kernel, op)
    {
        if (PTO_IS(op, FUSED)) continue; /* it says by itself what goes together */
        for (uint32_t b = 0; b < pto_op_block_count(op); b++) PTO_TRY(plan_block(f, pto_op_block_at(op, b)));
    }
    return PTO_OK;
}

/* ---- regions ---- */

static int is_read_later(const fuser *f, uint32_t number, pto_value v)
{
    PTO_EACH_USE(v, use)
        if (f->owner[use.op.index] != number) return 1;
    return 0;
}

/* What ops outside read is the result of the region. */
static pto_status redirect(pto_op region, pto_value inner, pto_value outer)
{
    const uint32_t count = pto_value_use_count(inner);
    pto_use *uses = PTO_SCRATCH(region.run, pto_use, count);
    for (uint32_t i = 0; i < count; i++) uses[i] = pto_use_at(inner, i);
    for (uint32_t i = 0; i < count; i++)
        if (!pto_op_same(pto_op_parent(uses[i].op), region))
            PTO_TRY(pto_op_set_operand(uses[i].op, uses[i].slot, outer));
    return PTO_OK;
}

static pto_op make_region(const fuser *f, const planned *p, uint32_t count, const pto_value *results)
{
    pto_loc *locs = PTO_SCRATCH(f->run, pto_loc, p->count);
    const pto_block block = pto_op_block(p->members[0].op);
    for (uint32_t i = 0; i < p->count; i++) locs[i] = pto_op_loc(p->members[i].op);
    pto_spec s = pto_spec_make(f->run, pto_kind(f->run, KIND_FUSED));
    for (uint32_t i = 0; i < count; i++) pto_spec_result(&s, pto_value_type(results[i]));
    pto_spec_blocks(&s, 1);
    pto_spec_loc(&s, pto_loc_fuse(f->run, p->count, locs));
    if (count != 0) pto_spec_name(&s, pto_value_name(results[0]));
    return pto_spec_build(&s, PTO_SOME(p->end) ? pto_before(p->end) : pto_at_end(block));
}

static pto_status build(const fuser *f, uint32_t number)
{
    const planned *p = &f->plans[number - 1];
    pto_value *results = PTO_SCRATCH(f->run, pto_value, p->count);
    uint32_t count = 0;
    for (uint32_t i = 0; i < p->count; i++)
        if (pto_op_result_count(p->members[i].op) != 0 && is_read_later(f, number, pto_op_result(p->members[i].op, 0)))
            results[count++] = pto_op_result(p->members[i].op, 0);
    const pto_op region = make_region(f, p, count, results);
    PTO_NEED(region);
    const pto_block body = pto_body(region);
    for (uint32_t i = 0; i < p->count; i++) PTO_TRY(pto_op_move(p->members[i].op, pto_at_end(body)));
    pto_spec yield = pto_spec_make(f->run, pto_kind(f->run, KIND_YIELD));
    pto_spec_operands(&yield, count, results);
    pto_spec_loc(&yield, pto_op_loc(region));
    PTO_NEED(pto_spec_build(&yield, pto_at_end(body)));
    for (uint32_t i = 0; i < count; i++) {
        if (i != 0) PTO_TRY(pto_value_set_name(pto_op_result(region, i), pto_value_name(results[i])));
        PTO_TRY(redirect(region, results[i], pto_op_result(region, i)));
    }
    pto_stat_add(f->run, STAT_REGIONS, 1);
    pto_stat_add(f->run, STAT_FUSED, p->count);
    return PTO_OK;
}

static pto_status run_pass(const pto_run *run, pto_op unit)
{
    fuser f = {.run = run, .model = fused_model_make(run), .most = (uint32_t)pto_opt_i64(run, OPT_MAX_OPS)};
    const pto_op all = pto_op_none(run);
    uint32_t ops = 0;
    (void)unit;
    PTO_WALK(all, op)
    if (op.index >= ops) ops = op.index + 1;
    f.owner = PTO_SCRATCH(run, uint32_t, ops);
    PTO_EACH_OP(pto_module_top(run), kernel)
        if (PTO_IS(kernel, KERNEL)) PTO_TRY(plan_kernel(&f, kernel));
    for (uint32_t i = 0; i < f.plan_count; i++) {
        PTO_TRY(pto_go_on(run));
        PTO_TRY(build(&f, i + 1));
    }
    return PTO_OK;
}

static const pto_pass pass = {
    .struct_size = sizeof pass,
    .id = "pto.fuse-vector",
    .summary = "Put ops that a core does in one walk through rows into a region",
    .scope = "module",
    .consumes = "block/1",
    .produces = "block/1",
    .kinds = pass_kinds,
    .options = pass_options,
    .stats = pass_stats,
    .run = run_pass,
};
PTO_PLUGIN("pto.fuse-vector", "pass:pto.fuse-vector", "", .version = "0.1.0", .license = "Apache-2.0",
           .passes = PTO_LIST(pto_pass, &pass));
