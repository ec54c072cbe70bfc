/* What an iteration takes when each nest is launched, and what it takes in one nest: cycles from the machine file, as
 * pto.cost-pipes counts them, of tiles that have their sizes already. Sums of units where one core does all, else the
 * busiest unit beside half of the way through all of them, since there are two buffers. Extents that are not
 * known are tried at several sizes, of which the times relative to the better form are added up. Both forms are counted
 * alike, so that what is left out is left out of both. */
#include "sink_loops.h"

#include <math.h>

/* What extents count as that nobody knows; the remark has the cycles of the first. */
static const int64_t trial_extents[] = {256, 16, 4096, 65536};
enum { TRIALS = sizeof trial_extents / sizeof *trial_extents };

/* Cycles of one instance, by unit. */
typedef struct cycles {
    double units[PTO_UNIT_COUNT], latency, bytes;
} cycles;

typedef struct pricing {
    const pto_run *run;
    int is_serial; /* one core does what units of a chip do beside each other */
    double launch, flag, gm_rate;
    int64_t repeat_bytes;
    pto_space global, on_chip, panels, sums;
    int64_t trial; /* what symbols count as that nobody knows */
    int is_open;   /* there was one */
} pricing;

static pricing pricing_of(const pto_run *run)
{
    const pto_space_facts sums = pto_space_facts_of(run, PTO_ROLE_ACCUMULATOR),
                          vectors = pto_space_facts_of(run, PTO_ROLE_SCRATCHPAD);
    pricing p = {.run = run, .global = pto_space_of_role(run, PTO_ROLE_GLOBAL)};
    p.on_chip = pto_space_of_role(run, PTO_ROLE_SCRATCHPAD);
    p.panels = pto_space_of_role(run, PTO_ROLE_PANEL);
    p.sums = pto_space_of_role(run, PTO_ROLE_ACCUMULATOR);
    p.is_serial = sums != NULL && vectors != NULL && pto_str_same(sums->core, vectors->core);
    p.flag = (double)pto_machine_i64_or(run, 1, "sync.flag-cycles");
    p.gm_rate = pto_machine_f64_or(run, 0.0, "shared.gm-bytes-per-cycle");
    p.repeat_bytes = pto_machine_i64_or(run, 256, "vector.repeat-bytes");
    if (p.repeat_bytes < 1) p.repeat_bytes = 1;
    /* Threads meet after each launch; a chip has the next launch in its queue. */
    p.launch = (double)(pto_machine_i64_or(run, 0, "dispatch.block-cycles") +
                        (p.is_serial ? pto_machine_i64_or(run, 0, "dispatch.launch-cycles")
                                     : pto_machine_i64_or(run, 0, "dispatch.task-cycles")));
    return p;
}

static int64_t cores_of(const pricing *p, const sink_nest *n)
{
    const pto_space_facts space = pto_space_facts_of(p->run, n->is_matrix ? PTO_ROLE_ACCUMULATOR : PTO_ROLE_SCRATCHPAD);
    const int64_t cores =
        pto_machine_i64_or(p->run, 1, "cores.%.*s.count", PTO_FMT(space != NULL ? space->core : pto_no_str()));
    return cores > 0 ? cores : 1;
}

static int32_t number_of_symbol(void *self, pto_str name, int64_t *lo, int64_t *hi)
{
    (void)name;
    *lo = *hi = *(const int64_t *)self;
    return 1;
}

/* What an extent counts as. */
static double extent_of(pricing *p, pto_op at, pto_expr extent)
{
    const int64_t known = pto_expected_extent(at, extent);
    if (known >= 0) return (double)known;
    const pto_expr_env env = {.struct_size = sizeof env, .self = &p->trial, .symbol = number_of_symbol};
    const pto_range r = pto_expr_range(extent, at, &env);
    p->is_open = 1;
    return r.hi > 0 && r.hi != INT64_MAX ? (double)r.hi : (double)p->trial;
}

/* ---- one instance ---- */

static double elements_of(pto_value v, double *row_bytes)
{
    const pto_type type = pto_value_type(v);
    int64_t rows = 1, columns = 1, size = 1;
    *row_bytes = 0.0;
    if (pto_type_kind_of(type) != PTO_TYPE_TILE) return 0.0;
    (void)pto_expr_is_const(pto_type_dim(type, 0), &rows);
    (void)pto_expr_is_const(pto_type_dim(type, 1), &columns);
    size = pto_dtype_bytes(pto_type_dtype(type));
    if (columns == 1) { /* a column lies as one row */
        columns = rows;
        rows = 1;
    }
    *row_bytes = (double)columns * (double)(size > 0 ? size : 1);
    return (double)rows;
}

static double instruction_number(const pricing *p, pto_str cost, const char *column)
{
    const int64_t usual = pto_machine_i64_or(p->run, 0, "instructions.default.%s", column);
    return (double)pto_machine_i64_or(p->run, usual, "instructions.%.*s.%s", PTO_FMT(cost), column);
}

static void add_copy(const pricing *p, pto_op op, int is_matrix, double times, cycles *c)
{
    const int is_load = pto_op_transfer(op) == PTO_TRANSFER_LOAD;
    const pto_space from = is_load ? p->global : is_matrix ? p->sums : p->on_chip;
    const pto_space to = !is_load ? p->global : is_matrix ? p->panels : p->on_chip;
    const pto_path_facts path = pto_machine_path(p->run, from, to);
    double row_bytes = 0.0;
    const double rows = elements_of(is_load ? pto_op_result(op, 0) : pto_op_operand(op, 0), &row_bytes);
    if (path == NULL) return;
    const double rate = path->bytes_per_cycle > 0.0 ? path->bytes_per_cycle : 1.0;
    const uint32_t unit = is_load ? PTO_UNIT_LOAD : PTO_UNIT_STORE;
    c->units[unit] += times * (rows * row_bytes / rate + 2.0 * p->flag + (double)path->latency);
    c->bytes += times * rows * row_bytes;
}

static void add_vector(const pricing *p, pto_op op, double times, cycles *c)
{
    const pto_str cost = pto_kind_cost(p->run, pto_op_kind(op));
    double most = 0.0, rows = 0.0;
    for (uint32_t i = 0; i <= pto_op_operand_count(op); i++) {
        double bytes = 0.0;
        const double r = elements_of(i == 0 ? pto_op_result(op, 0) : pto_op_operand(op, i - 1), &bytes);
        if (r * bytes <= most * rows) continue;
        rows = r;
        most = bytes;
    }
    const double repeats = ceil(most / (double)p->repeat_bytes);
    c->units[PTO_UNIT_VECTOR] +=
        times * (instruction_number(p, cost, "head") + instruction_number(p, cost, "tail") +
                 rows * (instruction_number(p, cost, "per-row") + repeats * instruction_number(p, cost, "per-repeat")));
}

static void add_matrix(const pricing *p, pto_op op, double times, cycles *c)
{
    const uint32_t first = pto_op_operand_count(op) - 2;
    const pto_value left = pto_op_operand(op, first), right = pto_op_operand(op, first + 1);
    const double box = (double)pto_machine_i64_or(p->run, 16, "matrix.box-rows");
    const double box_bytes = (double)pto_machine_i64_or(p->run, 32, "matrix.box-row-bytes");
    const double each = pto_machine_f64_or(p->run, 1.0, "matrix.cycles-per-box.%s",
                                           pto_dtype_name(pto_type_dtype(pto_value_type(left))));
    double depth = 0.0, width = 0.0;
    const double rows = elements_of(left, &depth);
    (void)elements_of(right, &width);
    const int64_t size = pto_dtype_bytes(pto_type_dtype(pto_value_type(right)));
    width /= (double)(size > 0 ? size : 1);
    c->units[PTO_UNIT_MATRIX] += times * (pto_machine_f64_or(p->run, 0.0, "matrix.head") +
                                          each * ceil(rows / box) * ceil(width / box) * ceil(depth / box_bytes));
}

/* How often an op runs in an instance. */
static double times_of(pricing *p, pto_op op, pto_op nest)
{
    double times = 1.0;
    for (pto_op loop = pto_op_parent(op); !pto_op_same(loop, nest); loop = pto_op_parent(loop)) {
        if (!PTO_IS(loop, FOR)) continue;
        const pto_expr more = pto_expr_sub(pto_expr_of(loop, PTO_STR("to"), 0), pto_expr_of(loop, PTO_STR("from"), 0));
        const pto_expr trips = pto_expr_ceildiv(more, pto_expr_of(loop, PTO_STR("step"), 0));
        times *= PTO_SOME(trips) ? extent_of(p, loop, trips) : 1.0;
    }
    return times;
}

static cycles instance_of(pricing *p, const sink_nest *n)
{
    cycles c = {.latency = 0.0};
    PTO_WALK(n->op, op)
    {
        const double times = times_of(p, op, n->op);
        if (PTO_IS(op, MATMUL) || PTO_IS(op, MATMUL_ACC))
            add_matrix(p, op, times, &c);
        else if (pto_op_transfer(op) == PTO_TRANSFER_LOAD || pto_op_transfer(op) == PTO_TRANSFER_STORE)
            add_copy(p, op, n->is_matrix && !p->is_serial, times, &c);
        else if (pto_op_block_count(op) == 0 && pto_op_result_count(op) == 1)
            add_vector(p, op, times, &c);
    }
    return c;
}

/* ---- many ---- */

static double max_of(double a, double b) { return a > b ? a : b; }

/* Cycles of a core that runs so many instances, while `busy` cores do. */
static double core_cycles(const pricing *p, const cycles *c, double count, double busy)
{
    double sum = 0.0, most = p->gm_rate > 0.0 ? busy * c->bytes / p->gm_rate : 0.0;
    for (uint32_t u = 0; u < PTO_UNIT_COUNT; u++) {
        sum += c->units[u];
        most = max_of(most, c->units[u]);
    }
    if (p->is_serial) return count * max_of(sum, most);
    return count < 1.0 ? 0.0 : sum + (count - 1.0) * max_of(most, 0.5 * sum);
}

static double instances_of(pricing *p, const sink_nest *n)
{
    double count = 1.0;
    for (uint32_t d = 0; d < pto_expr_count_of(n->op, PTO_STR("to")); d++)
        count *= extent_of(p, n->op, pto_expr_of(n->op, PTO_STR("to"), d));
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
        for (uint32_t d = 0; d < pto_type_rank(m->type); d++) all *= extent_of(p, b->loop, pto_type_dim(m->type, d));
        bytes += all / instances;
    }
    const pto_path_facts in = pto_machine_path(p->run, p->global, p->on_chip);
    return bytes > 0.0 && in != NULL ? 2.0 * ((double)in->latency + bytes / max_of(in->bytes_per_cycle, 1.0)) : 0.0;
}

/* Cycles of an iteration in both forms. */
static void price(const sink_body *b, pricing *p, double *in_nest, double *launches)
{
    const double expected = extent_of(p, b->loop, b->instances), instances = expected > 1.0 ? expected : 1.0;
    *in_nest = *launches = 0.0;
    for (uint32_t i = 0; i < b->nest_count; i++) {
        const sink_nest *n = &b->nests[i];
        const double cores = (double)cores_of(p, n), all = instances_of(p, n), busy = all < cores ? all : cores;
        const cycles c = instance_of(p, n);
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
    for (uint32_t i = 0; i < TRIALS && (i == 0 || p.is_open); i++) {
        p.trial = trial_extents[i];
        price(b, &p, &in_nest, &launches);
        const double best = in_nest < launches ? in_nest : launches;
        if (best > 0.0) relative += (launches - in_nest) / best;
        if (i != 0) continue;
        b->in_nest = in_nest;
        b->launches = launches;
    }
    b->is_better = relative > 0.0;
    b->is_open = p.is_open;
}
