/* What an iteration takes when each nest is launched, and what it takes in one nest: cycles from the machine file, as
 * pto.cost-pipes counts them, of tiles that have their sizes already. Sums of units where one core does all, else the
 * busiest unit beside half of the way through all of them, since there are two buffers. Extents that are not
 * known are tried at several sizes, of which the times relative to the better form are added up. Both forms are counted
 * alike, so that what is left out is left out of both. */
#include "sink_loops.h"

#include "op_prices.h"

#include <math.h>

/* What extents count as that nobody knows; the remark has the cycles of the first. */
static const int64_t trial_extents[] = {256, 16, 4096, 65536};
enum { TRIALS = sizeof trial_extents / sizeof *trial_extents };

typedef struct pricing {
    op_prices ops;
    double launch;
    pto_space on_chip, panels, sums;
} pricing;

static pricing pricing_of(const pto_run *run)
{
    pricing p = {.ops = op_prices_of(run)};
    p.on_chip = pto_space_of_role(run, PTO_ROLE_SCRATCHPAD);
    p.panels = pto_space_of_role(run, PTO_ROLE_PANEL);
    p.sums = pto_space_of_role(run, PTO_ROLE_ACCUMULATOR);
    /* Threads meet after each launch; a chip has the next launch in its queue. */
    p.launch = (double)(pto_machine_i64_or(run, 0, "dispatch.block-cycles") +
                        (p.ops.is_serial ? pto_machine_i64_or(run, 0, "dispatch.launch-cycles")
                                         : pto_machine_i64_or(run, 0, "dispatch.task-cycles")));
    return p;
}

static double cores_of(const pricing *p, const sink_nest *n)
{
    const pto_space_facts space =
        pto_space_facts_of(p->ops.run, n->is_matrix ? PTO_ROLE_ACCUMULATOR : PTO_ROLE_SCRATCHPAD);
    return op_cores(&p->ops, space != NULL ? space->core : pto_no_str());
}

/* ---- one instance ---- */

static void add_copy(const pricing *p, pto_op op, int is_matrix, double times, op_cycles *c)
{
    const int is_load = pto_op_transfer(op) == PTO_TRANSFER_LOAD;
    const pto_space from = is_load ? p->ops.global : is_matrix ? p->sums : p->on_chip;
    const pto_space to = !is_load ? p->ops.global : is_matrix ? p->panels : p->on_chip;
    op_price_copy(&p->ops, is_load ? pto_op_result(op, 0) : pto_op_operand(op, 0), from, to, times, c);
}

/* How often an op runs in an instance. */
static double times_of(pricing *p, pto_op op, pto_op nest)
{
    double times = 1.0;
    for (pto_op loop = pto_op_parent(op); !pto_op_same(loop, nest); loop = pto_op_parent(loop))
        if (PTO_IS(loop, FOR)) times *= op_trips(&p->ops, loop);
    return times;
}

static op_cycles instance_of(pricing *p, const sink_nest *n)
{
    op_cycles c = {.bytes = 0.0};
    PTO_WALK(n->op, op)
    {
        const double times = times_of(p, op, n->op);
        if (PTO_IS(op, MATMUL) || PTO_IS(op, MATMUL_ACC))
            op_price_matrix(&p->ops, op, times, &c);
        else if (pto_op_transfer(op) == PTO_TRANSFER_LOAD || pto_op_transfer(op) == PTO_TRANSFER_STORE)
            add_copy(p, op, n->is_matrix && !p->ops.is_serial, times, &c);
        else if (pto_op_block_count(op) == 0 && pto_op_result_count(op) == 1)
            op_price_vector(&p->ops, op, times, &c);
    }
    return c;
}

/* ---- many ---- */

static double max_of(double a, double b) { return a > b ? a : b; }

/* Cycles of a core that runs so many instances, while `busy` cores do. */
static double core_cycles(const pricing *p, const op_cycles *c, double count, double busy)
{
    if (p->ops.is_serial) return count * op_cycles_pace(&p->ops, c, busy);
    return count < 1.0 ? 0.0 : op_cycles_sum(c) + (count - 1.0) * op_cycles_pace(&p->ops, c, busy);
}

static double instances_of(pricing *p, const sink_nest *n)
{
    double count = 1.0;
    for (uint32_t d = 0; d < pto_expr_count_of(n->op, PTO_STR("to")); d++)
        count *= op_extent(&p->ops, n->op, pto_expr_of(n->op, PTO_STR("to"), d));
    return count;
}

/* What copies of states take at the end of an iteration, of each instance. */
static double copied_cycles(const sink_body *b, pricing *p, double instances)
{
    double bytes = 0.0;
    for (uint32_t i = 0; i < b->memory_count; i++) {
        const sink_memory *m = &b->memories[i];
        if (m->home < 0 || m->is_in_place) continue;
        double all = (double)pto_dtype_bytes(pto_type_dtype(m->type));
        for (uint32_t d = 0; d < pto_type_rank(m->type); d++)
            all *= op_extent(&p->ops, b->loop, pto_type_dim(m->type, d));
        bytes += all / instances;
    }
    const pto_path_facts in = pto_machine_path(p->ops.run, p->ops.global, p->on_chip);
    return bytes > 0.0 && in != NULL ? 2.0 * ((double)in->latency + bytes / max_of(in->bytes_per_cycle, 1.0)) : 0.0;
}

/* Cycles of an iteration in both forms. */
static void price(const sink_body *b, pricing *p, double *in_nest, double *launches)
{
    const double expected = op_extent(&p->ops, b->loop, b->instances), instances = expected > 1.0 ? expected : 1.0;
    *in_nest = *launches = 0.0;
    for (uint32_t i = 0; i < b->nest_count; i++) {
        const sink_nest *n = &b->nests[i];
        const double cores = cores_of(p, n), all = instances_of(p, n), busy = all < cores ? all : cores;
        const op_cycles c = instance_of(p, n);
        const double walks = ceil(instances / cores), own = ceil(all / instances);
        *launches += p->launch + core_cycles(p, &c, ceil(all / cores), busy);
        *in_nest += core_cycles(p, &c, walks * own, instances < cores ? instances : cores);
        if (i == 0) *in_nest += walks * copied_cycles(b, p, instances);
    }
}

void sink_body_price(sink_body *b)
{
    double in_nest = 0.0, launches = 0.0, relative = 0.0;
    pricing p = pricing_of(b->run);
    for (uint32_t i = 0; i < TRIALS && (i == 0 || p.ops.is_open); i++) {
        p.ops.trial = trial_extents[i];
        price(b, &p, &in_nest, &launches);
        const double best = in_nest < launches ? in_nest : launches;
        if (best > 0.0) relative += (launches - in_nest) / best;
        if (i != 0) continue;
        b->in_nest = in_nest;
        b->launches = launches;
    }
    b->is_better = relative > 0.0;
    b->is_open = p.ops.is_open;
}
