/* pto.cost-pipes: cycles of the busiest core, from what an instance takes and what the machine file says of it.
 *
 * Each part of the work (a copy, an op on tiles) is counted for the unit that does it: bytes over the rate of the path,
 * or rows and repeats of the instruction, and the cycles until its result is there when the next one reads it. Units
 * work beside each other, so the time is that of the busiest one for each instance, and for one of them that of all,
 * since nothing overlaps its first load and its last store. Cores share the bandwidth of global memory. A core takes as
 * many instances as the waves need. Where instances share a walk, each takes a part of it, and kernels that combine
 * the parts are launched after it.
 *
 * What is neither static nor expected is tried at several sizes; costs are then times relative to the best of the
 * tiles, added up, so that none of the sizes decides alone. Source: own, after what pto.cpu-sim charges.
 *
 * Requires a problem of one group, as pto.tile states it. Leaves the module as it is: it only prices sizes. */
#include <pto/plugin.h>

#include <math.h>

enum {
    DIMS_MAX = 16, /* of a problem, as the host checks */
    LOOPS_MAX = 8, /* of an instance; further ones count with the last */
    CUT_COUNTS = 8 /* kept */
};
/* What symbols are tried at: few, so that cores are without work; some; many, so that all that is done once is little.
 */
static const int64_t trial_numbers[] = {16, 256, 4096, 65536};
enum { TRIALS = sizeof trial_numbers / sizeof *trial_numbers };

/* Of an instruction; read when it is met first, since a strategy asks about many tiles of one nest. */
typedef struct instruction_costs {
    pto_kind_id kind;
    uint32_t unit;
    double per_repeat, per_row, tail; /* of the vector unit */
} instruction_costs;

/* Of a copy between two spaces, in the same way. */
typedef struct copy_costs {
    pto_space from, to;
    uint32_t unit;
    double rate, latency; /* bytes per cycle; 0: the machine has no such path */
} copy_costs;

/* What the machine says. */
typedef struct machine_costs {
    const pto_run *run;
    instruction_costs *instructions;
    uint32_t instruction_count, instruction_capacity;
    copy_costs *copies;
    uint32_t copy_count, copy_capacity;
    pto_space global, on_chip;
    double begin, matrix_head, per_box; /* per_box: of the type `box_type` */
    pto_dtype box_type;
    double gm_bytes_per_cycle;        /* of all cores; 0: no limit */
    double launch, next_launch, flag; /* next_launch: of a kernel that waits for another one */
    int64_t repeat_bytes, partial_repeat, box_rows, box_bytes;
    int64_t vector_cores, matrix_cores;
} machine_costs;

/* Cycles by unit, and bytes of global memory; of an iteration of a loop, which is walked `times` often, or as
 * pto_tile_work says of what is below 0. */
typedef struct stage {
    double cycles[PTO_UNIT_COUNT], bytes, times;
    int computes; /* 0: tiles are moved alone */
} stage;

/* What an instance takes: loops one after the other, and the rest. */
typedef struct tally {
    machine_costs *m;
    stage once, loops[LOOPS_MAX];
    uint32_t loop_count;
    double latency[PTO_UNIT_COUNT]; /* before the first byte of an idle unit */
    double tail;                    /* of the op on tiles counted last */
    double chunks, parts;           /* of what is walked: chunks where the work does not say, instances that share it */
    int is_matrix, waits_for_store;
} tally;

typedef struct tile_count {
    int64_t tile[DIMS_MAX]; /* zeros: nothing yet */
    tally counted;
} tile_count;

/* What has been counted: one tile is asked about for several extents, and one that small extents cut for each larger
 * tile. Those are kept by the size of their last dim. */
typedef struct known_counts {
    tile_count last, cut[CUT_COUNTS];
} known_counts;

static int64_t least_of(int64_t a, int64_t b) { return a < b ? a : b; }

/* Cores that own the space of a role. */
static int64_t cores_of(const pto_run *run, uint32_t role)
{
    const pto_space_facts space = pto_space_facts_of(run, role);
    const pto_str core = space != NULL ? space->core : pto_no_str();
    const int64_t n = pto_machine_i64_or(run, 1, "cores.%.*s.count", PTO_FMT(core));
    return n > 0 ? n : 1;
}

static int64_t above_zero(int64_t n, int64_t absent) { return n > 0 ? n : absent; }

static machine_costs read_machine(const pto_run *run)
{
    return (machine_costs){
        .run = run,
        .gm_bytes_per_cycle = pto_machine_f64_or(run, 0.0, "shared.gm-bytes-per-cycle"),
        .launch = (double)(pto_machine_i64_or(run, 0, "dispatch.launch-cycles") +
                           pto_machine_i64_or(run, 0, "dispatch.block-cycles")),
        .next_launch = (double)(pto_machine_i64_or(run, 0, "dispatch.task-cycles") +
                                pto_machine_i64_or(run, 0, "dispatch.block-cycles")),
        .flag = (double)pto_machine_i64_or(run, 1, "sync.flag-cycles"),
        .repeat_bytes = above_zero(pto_machine_i64_or(run, 256, "vector.repeat-bytes"), 256),
        .partial_repeat = pto_machine_i64_or(run, 0, "vector.partial-repeat-cycles"),
        .box_rows = above_zero(pto_machine_i64_or(run, 16, "matrix.box-rows"), 16),
        .box_bytes = above_zero(pto_machine_i64_or(run, 32, "matrix.box-row-bytes"), 32),
        .global = pto_space_of_role(run, PTO_ROLE_GLOBAL),
        .on_chip = pto_space_of_role(run, PTO_ROLE_SCRATCHPAD),
        .begin = (double)pto_machine_i64_or(run, 0, "instructions.default.head"),
        .matrix_head = pto_machine_f64_or(run, 0.0, "matrix.head"),
        .vector_cores = cores_of(run, PTO_ROLE_SCRATCHPAD),
        .matrix_cores = cores_of(run, PTO_ROLE_ACCUMULATOR),
    };
}

/* ---- parts ---- */

static double instruction_number(const machine_costs *m, pto_str cost, const char *column)
{
    const int64_t usual = pto_machine_i64_or(m->run, 0, "instructions.default.%s", column);
    return (double)pto_machine_i64_or(m->run, usual, "instructions.%.*s.%s", PTO_FMT(cost), column);
}

static const instruction_costs *costs_of(machine_costs *m, pto_kind_id kind)
{
    for (uint32_t i = 0; i < m->instruction_count; i++)
        if (m->instructions[i].kind == kind) return &m->instructions[i];
    const pto_str cost = pto_kind_cost(m->run, kind);
    PTO_GROW(m->run, m->instructions, m->instruction_count, m->instruction_capacity);
    instruction_costs *c = &m->instructions[m->instruction_count++];
    *c = (instruction_costs){.kind = kind, .unit = (uint32_t)pto_kind_column(m->run, kind, PTO_COLUMN_UNIT)};
    if (c->unit == PTO_UNIT_MATRIX) return c;
    c->per_repeat = instruction_number(m, cost, "per-repeat");
    c->per_row = instruction_number(m, cost, "per-row");
    c->tail = instruction_number(m, cost, "tail");
    return c;
}

static const copy_costs *copy_of(machine_costs *m, pto_space from, pto_space to)
{
    for (uint32_t i = 0; i < m->copy_count; i++)
        if (m->copies[i].from == from && m->copies[i].to == to) return &m->copies[i];
    const pto_path_facts path = pto_machine_path(m->run, from, to);
    PTO_GROW(m->run, m->copies, m->copy_count, m->copy_capacity);
    copy_costs *c = &m->copies[m->copy_count++];
    *c = (copy_costs){.from = from, .to = to, .unit = PTO_UNIT_LOAD};
    if (path == NULL) return c;
    const uint32_t unit = pto_pipe_role(m->run, path->pipe);
    c->unit = unit < PTO_UNIT_COUNT ? unit : PTO_UNIT_MOVE;
    c->rate = path->bytes_per_cycle > 0.0 ? path->bytes_per_cycle : 1.0;
    c->latency = (double)path->latency;
    return c;
}

static double vector_cycles(tally *t, const instruction_costs *c, const pto_tile_work *w)
{
    /* A column of a tile is stored densely: one row for the unit. */
    const int is_column = w->columns == 1 && w->rows > 1;
    const int64_t rows = is_column ? 1 : w->rows, columns = is_column ? w->rows : w->columns;
    const int64_t row_bytes = columns * above_zero(pto_dtype_bytes(w->dtype), 1);
    const double repeats = (double)pto_ceil_div(row_bytes, t->m->repeat_bytes);
    double cycles = (double)rows * (c->per_row + repeats * c->per_repeat);
    if (row_bytes % t->m->repeat_bytes != 0) cycles += (double)t->m->partial_repeat;
    if (w->reads_last) cycles += t->tail;
    t->tail = c->tail;
    return cycles;
}

static double matrix_cycles(const tally *t, const pto_tile_work *w)
{
    const int64_t row_bytes = w->depth * above_zero(pto_dtype_bytes(w->dtype), 1);
    if (w->dtype != t->m->box_type)
        t->m->per_box = pto_machine_f64_or(t->m->run, 1.0, "matrix.cycles-per-box.%s", pto_dtype_name(w->dtype));
    t->m->box_type = w->dtype;
    return t->m->matrix_head + t->m->per_box * (double)pto_ceil_div(w->rows, t->m->box_rows) *
                                   (double)pto_ceil_div(w->columns, t->m->box_rows) *
                                   (double)pto_ceil_div(row_bytes, t->m->box_bytes);
}

static double copy_cycles(tally *t, const copy_costs *c, double bytes)
{
    if (c->rate == 0.0) return 0.0;
    t->latency[c->unit] = c->latency;
    return bytes / c->rate + 2.0 * t->m->flag;
}

/* Cycles of the unit that computes, beside a copy to or from it: flags, and after a flag the vector unit begins anew.
 * What is stored must be there. */
static double turn_cycles(const tally *t, const pto_tile_work *w)
{
    const double flags = 2.0 * t->m->flag;
    if (w->from == t->m->on_chip) return t->m->begin + flags + t->tail;
    return w->to == t->m->on_chip ? t->m->begin + flags : flags;
}

static void take(void *self, const pto_tile_work *w)
{
    tally *t = self;
    const int is_copy = w->from != PTO_SPACE_NONE || w->to != PTO_SPACE_NONE;
    const int64_t element = above_zero(pto_dtype_bytes(w->dtype), 1);
    const double bytes = is_copy ? (double)w->rows * (double)w->columns * (double)element : 0.0;
    const copy_costs *copy = is_copy ? copy_of(t->m, w->from, w->to) : NULL;
    const instruction_costs *instruction = is_copy ? NULL : costs_of(t->m, w->kind);
    const uint32_t unit = is_copy ? copy->unit : instruction->unit;
    double cycles = 0.0;
    if (is_copy)
        cycles = copy_cycles(t, copy, bytes);
    else if (unit == PTO_UNIT_MATRIX)
        cycles = matrix_cycles(t, w);
    else
        cycles = vector_cycles(t, instruction, w);
    if (unit >= PTO_UNIT_COUNT) return;
    if (unit == PTO_UNIT_MATRIX) t->is_matrix = 1;
    stage *s = &t->once;
    if (w->loop != 0) {
        const uint32_t loop = w->loop < LOOPS_MAX ? w->loop : LOOPS_MAX;
        while (t->loop_count < loop) t->loops[t->loop_count++] = (stage){.computes = 0};
        s = &t->loops[loop - 1];
        s->times = w->times;
    }
    s->cycles[unit] += cycles;
    if (!is_copy) s->computes = 1;
    if (w->from == t->m->on_chip || w->to == t->m->on_chip) s->cycles[PTO_UNIT_VECTOR] += turn_cycles(t, w);
    if (unit == PTO_UNIT_MOVE) s->cycles[PTO_UNIT_MATRIX] += turn_cycles(t, w);
    if (w->from == t->m->global || w->to == t->m->global) s->bytes += bytes;
}

/* ---- tiles ---- */

static double max_of(double a, double b) { return a > b ? a : b; }

/* A store of accumulators stops the products unless there is space for two. */
static int stores_beside(const tally *t, const pto_tiling_problem *p, const int64_t *tile)
{
    const pto_space space = pto_space_of_role(t->m->run, PTO_ROLE_ACCUMULATOR);
    return p->footprint(p->self, tile, space) <= p->capacity(p->self, space) / 2;
}

/* The vector unit has nothing to begin anew where tiles are moved alone. */
static double cycles_in(const stage *s, uint32_t unit)
{
    return unit == PTO_UNIT_VECTOR && !s->computes ? 0.0 : s->cycles[unit];
}

/* Cycles of a unit in an iteration of `period`: where it is idle in between, its first byte takes longer. */
static double with_latency(const tally *t, const stage *s, uint32_t unit, double period)
{
    const double cycles = cycles_in(s, unit);
    return cycles > 0.0 && cycles < period ? cycles + t->latency[unit] : cycles;
}

/* From when a buffer begins to be filled until it has been read, and may be filled again. */
static double round_of(const tally *t, const stage *s, double period)
{
    const double vector = with_latency(t, s, PTO_UNIT_VECTOR, period), move = with_latency(t, s, PTO_UNIT_MOVE, period);
    const double loaded = with_latency(t, s, PTO_UNIT_LOAD, period) + move + vector;
    const double stored = vector + with_latency(t, s, PTO_UNIT_STORE, period);
    if (!s->computes) return loaded + stored;
    return max_of(max_of(loaded, stored), move + with_latency(t, s, PTO_UNIT_MATRIX, period));
}

static double busiest_of(const stage *s)
{
    double most = 0.0;
    for (uint32_t u = 0; u < PTO_UNIT_COUNT; u++) most = max_of(most, cycles_in(s, u));
    return most;
}

/* Cycles of an iteration for global memory that `busy` cores share. */
static double shared_cycles(const tally *t, const stage *s, double busy)
{
    return t->m->gm_bytes_per_cycle > 0.0 ? busy * s->bytes / t->m->gm_bytes_per_cycle : 0.0;
}

/* Cycles of an iteration when those before and after it are there: `most`, which what is busiest takes, or half the
 * round of a buffer, since there are two. */
static double pace(const tally *t, const stage *s, double most)
{
    const double round = 0.5 * round_of(t, s, most);
    return round > most ? 0.5 * round_of(t, s, round) : most;
}

static double sum(const stage *s)
{
    double all = 0.0;
    for (uint32_t u = 0; u < PTO_UNIT_COUNT; u++) all += cycles_in(s, u);
    return all;
}

/* How often an instance goes through a loop. */
static double trips_of(const tally *t, const stage *s)
{
    return ceil((s->times >= 0.0 ? s->times : -s->times * t->chunks) / t->parts);
}

/* The first iteration overlaps nothing of its own core: at the end of a loop its buffers are handed back, and only then
 * may those of the next one be filled. The copies of other cores go on. */
static double loop_cycles(const tally *t, const stage *s, double trips, double busy)
{
    const double most = busiest_of(s), shared = shared_cycles(t, s, busy), first = pace(t, s, most);
    return sum(s) - first + trips * (shared > most ? pace(t, s, shared) : first);
}

/* Cycles of an instance alone, and those by which one more of them makes a core busy for longer. */
typedef struct instance_cycles {
    double alone, beside;
} instance_cycles;

/* Alone, what is done once overlaps nothing. Beside others, the vector unit works between loops too; stores go on
 * beside the next loop. */
static instance_cycles cycles_of_instance(const tally *t, double busy)
{
    stage all = t->once;
    double alone = sum(&t->once), walked = t->loop_count != 0 ? t->once.cycles[PTO_UNIT_VECTOR] : 0.0;
    for (uint32_t u = 0; u < PTO_UNIT_COUNT; u++) alone += t->latency[u];
    for (uint32_t i = 0; i < t->loop_count; i++) {
        const stage *s = &t->loops[i];
        const double trips = trips_of(t, s), cycles = loop_cycles(t, s, trips, busy);
        alone += cycles;
        walked += cycles - s->cycles[PTO_UNIT_STORE];
        for (uint32_t u = 0; u < PTO_UNIT_COUNT; u++) all.cycles[u] += trips * cycles_in(s, u);
        all.computes |= s->computes;
        all.bytes += trips * s->bytes;
    }
    if (t->waits_for_store) all.cycles[PTO_UNIT_MATRIX] += t->once.cycles[PTO_UNIT_FIX];
    const double most = max_of(busiest_of(&all), shared_cycles(t, &all, busy));
    return (instance_cycles){alone, max_of(walked, pace(t, &all, most))};
}

static int32_t number_of_symbol(void *self, pto_str name, int64_t *lo, int64_t *hi)
{
    (void)name;
    *lo = *hi = *(const int64_t *)self;
    return 1;
}

/* An extent where its symbols are a number. */
static int64_t extent_at(const pto_tiling_problem *p, const pto_tiling_dim *dim, int64_t number)
{
    const pto_expr_env env = {.struct_size = sizeof env, .self = &number, .symbol = number_of_symbol};
    const pto_range r = pto_expr_range(dim->extent, p->nest, &env);
    return pto_extent_near(p->nest, dim->extent, r.hi > 0 && r.hi <= PTO_TILING_EXTENT_MAX ? r.hi : number);
}

/* The extents that a trial counts with; returns whether one of them is not known. */
static int extents_of(const pto_tiling_problem *p, int64_t trial, int64_t *extents, double *outer)
{
    int is_open = p->outer_instances < 0;
    *outer = p->outer_instances < 0 ? (double)trial : p->outer_instances == 0 ? 1.0 : (double)p->outer_instances;
    for (uint32_t d = 0; d < p->dim_count; d++) {
        const pto_tiling_dim *dim = p->dims[d];
        extents[d] = dim->static_extent >= 0 ? dim->static_extent : pto_expected_extent(p->nest, dim->extent);
        if (extents[d] >= 0) continue;
        extents[d] = extent_at(p, dim, trial);
        is_open = 1;
    }
    return is_open;
}

/* What an instance with a tile of these sizes takes. Loops are cleared when they are met: a strategy asks often. */
static void count(machine_costs *m, const pto_tiling_problem *p, const int64_t *tile, double chunks, tally *t)
{
    t->m = m;
    t->once = (stage){.computes = 0};
    t->loop_count = 0;
    t->is_matrix = 0;
    memset(t->latency, 0, sizeof t->latency);
    t->tail = 0.0;
    t->chunks = chunks;
    t->parts = 1.0;
    if (PTO_HAS(p, work) && p->work != NULL) {
        const pto_work_sink sink = {.struct_size = sizeof sink, .self = t, .take = take};
        p->work(p->self, tile, &sink);
    } else {
        /* Of a nest that does not tell: each element comes and goes. */
        pto_tile_work w = {
            .from = m->global, .to = m->on_chip, .rows = 1, .columns = 1, .dtype = PTO_F32, .times = 1.0};
        for (uint32_t d = 0; d < p->dim_count; d++)
            if (__builtin_mul_overflow(w.columns, tile[d], &w.columns)) w.columns = INT64_MAX;
        take(t, &w);
        w.from = m->on_chip;
        w.to = m->global;
        take(t, &w);
    }
    t->waits_for_store = t->is_matrix && !stores_beside(t, p, tile);
}

/* How instances follow each other: the last parallel dim runs fastest. */
typedef struct instance_order {
    int64_t cut[DIMS_MAX];        /* the tile, no larger than the extents */
    int64_t fast_tail, slow_tail; /* sizes of the last tile along the fast and the slow dim; 0: as the others */
    uint32_t fast, slow;          /* dims; those with a tail alone count */
    int64_t along_fast;           /* tiles */
    double instances, chunks;
} instance_order;

static instance_order order_of(const pto_tiling_problem *p, const int64_t *extents, double outer, const int64_t *tile)
{
    instance_order o = {.instances = outer, .chunks = 1.0, .along_fast = 1};
    uint32_t parallel = 0;
    for (uint32_t d = 0; d < p->dim_count; d++) {
        const int64_t extent = above_zero(extents[d], 1), size = above_zero(tile[d], 1);
        const int64_t tiles = pto_ceil_div(extent, size);
        o.cut[d] = least_of(size, extent);
        *(p->dims[d]->kind == PTO_REDUCE ? &o.chunks : &o.instances) *= (double)tiles;
        if (p->dims[d]->kind == PTO_REDUCE) continue;
        if (parallel++ == 0) {
            o.slow = d;
            o.slow_tail = extent % o.cut[d];
        } else {
            o.fast = d;
            o.fast_tail = extent % o.cut[d];
            o.along_fast = tiles;
        }
    }
    return o;
}

/* An instance that nothing cuts but an extent smaller than its tile. */
static tally *count_whole(machine_costs *m, const pto_tiling_problem *p, const instance_order *o, const int64_t *tile,
                          known_counts *known)
{
    const int64_t size = p->dim_count != 0 ? o->cut[p->dim_count - 1] : 1;
    const int is_cut = memcmp(o->cut, tile, p->dim_count * sizeof *tile) != 0;
    tile_count *c = is_cut ? &known->cut[(uint32_t)__builtin_ctzll((uint64_t)size) % CUT_COUNTS] : &known->last;
    if (memcmp(c->tile, o->cut, sizeof c->tile) != 0) {
        count(m, p, o->cut, 1.0, &c->counted);
        memcpy(c->tile, o->cut, sizeof c->tile);
    }
    c->counted.chunks = o->chunks;
    c->counted.parts = 1.0;
    return &c->counted;
}

/* Cycles where instances share what they walk; there are no more of them than cores. */
static double cycles_in_parts(tally *t, double parts, double instances, double kernels)
{
    t->parts = parts;
    return t->m->launch + cycles_of_instance(t, instances * parts).alone + kernels * t->m->next_launch;
}

/* Cycles of the busiest core. Core c takes the instances c, c + cores, and so on, so that some cores may meet no cut
 * tile, or no other. A wave in which all tiles are cut along the slow dim is shorter. */
static double cycles_of(machine_costs *m, const pto_tiling_problem *p, const int64_t *extents, double outer,
                        const int64_t *tile, known_counts *known)
{
    instance_order o = order_of(p, extents, outer, tile);
    tally *whole = count_whole(m, p, &o, tile, known);
    int64_t kernels = 0;
    const int64_t parts = PTO_HAS(p, parts) && p->parts != NULL ? p->parts(p->self, o.cut, &kernels) : 1;
    if (parts > 1) return cycles_in_parts(whole, (double)parts, o.instances, (double)kernels);
    const int64_t core_count = whole->is_matrix ? m->matrix_cores : m->vector_cores;
    const double cores = (double)core_count, busy = o.instances < cores ? o.instances : cores;
    const double waves = ceil(o.instances / cores), rest = o.instances - (waves - 1.0) * cores;
    const instance_cycles one = cycles_of_instance(whole, busy);
    double most = one.alone + (waves - 1.0) * one.beside;
    if (o.fast_tail != 0) {
        const int64_t size = o.cut[o.fast], shared = pto_gcd(o.along_fast, core_count);
        o.cut[o.fast] = o.fast_tail;
        tally cut;
        count(m, p, o.cut, o.chunks, &cut);
        o.cut[o.fast] = size;
        const double part = (double)shared / (double)o.along_fast;
        const instance_cycles last = cycles_of_instance(&cut, busy);
        const double first = part < 1.0 ? one.alone - one.beside : last.alone - last.beside;
        const double mixed = first + waves * ((1.0 - part) * one.beside + part * last.beside);
        most = shared > 1 ? max_of(most, mixed) : mixed;
    }
    if (o.slow_tail != 0 && waves > 1.0 && outer == 1.0 && rest <= (double)o.along_fast) {
        o.cut[o.slow] = o.slow_tail;
        tally cut;
        count(m, p, o.cut, o.chunks, &cut);
        most -= one.beside - cycles_of_instance(&cut, busy).beside;
    }
    return m->launch + max_of(most, one.beside);
}

/* The extents to count with; returns how many of them, 0: all is known, and the first ones are the only ones. */
static int read_trials(const pto_tiling_problem *p, int64_t extents[TRIALS][DIMS_MAX], double outer[TRIALS])
{
    int trials = 0;
    while (trials < TRIALS && extents_of(p, trial_numbers[trials], extents[trials], &outer[trials])) trials++;
    return trials;
}

static pto_status find_prices(const pto_run *run, const pto_tiling_problem *problem, uint32_t count,
                              const int64_t *tiles, double *costs)
{
    machine_costs m = read_machine(run);
    known_counts known;
    int64_t extents[TRIALS][DIMS_MAX];
    double outer[TRIALS], least[TRIALS];
    const int open = read_trials(problem, extents, outer), trials = open == 0 ? 1 : open;
    double *times = PTO_SCRATCH(run, double, (size_t)count *TRIALS);
    memset(known.last.tile, 0, sizeof known.last.tile);
    for (uint32_t i = 0; i < CUT_COUNTS; i++) memset(known.cut[i].tile, 0, sizeof known.cut[i].tile);
    for (int t = 0; t < trials; t++) least[t] = HUGE_VAL;
    for (uint32_t i = 0; i < count; i++) {
        const int64_t *tile = tiles + (size_t)i * problem->dim_count;
        PTO_TRY(pto_go_on(run));
        for (int t = 0; t < trials; t++) {
            double *cycles = &times[(size_t)i * TRIALS + (size_t)t];
            *cycles = cycles_of(&m, problem, extents[t], outer[t], tile, &known);
            if (*cycles < least[t]) least[t] = *cycles;
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        const double *cycles = &times[(size_t)i * TRIALS];
        costs[i] = open == 0 ? cycles[0] : 0.0;
        for (int t = 0; t < open; t++) costs[i] += cycles[t] / max_of(least[t], 1.0);
    }
    return PTO_OK;
}

/* ---- prices that are known ---- */

/* What was asked, as words, and what came out. */
typedef struct priced {
    struct priced *next; /* of the same hash */
    int64_t *words;
    double *costs;
    uint32_t word_count, count;
} priced;

/* What one run leaves to the next: many functions have groups that differ in nothing but their names. */
enum { BUCKETS = 256, PRICED_MAX = 1024 };
typedef struct price_memory {
    priced *buckets[BUCKETS];
    uint32_t count;
} price_memory;

/* All that prices hang on, the machine apart, which is the same for all runs. */
static int64_t *words_of(const pto_run *run, const pto_tiling_problem *p, uint32_t count, const int64_t *tiles,
                         uint32_t *out_count)
{
    const size_t sizes = (size_t)count * p->dim_count, all = p->word_count + 2u + 2u * p->dim_count + sizes;
    int64_t *words = PTO_SCRATCH(run, int64_t, all), *at = words;
    *at++ = p->dim_count;
    *at++ = p->outer_instances;
    for (uint32_t d = 0; d < p->dim_count; d++) {
        *at++ = p->dims[d]->kind;
        *at++ = p->dims[d]->static_extent;
    }
    memcpy(at, p->words, p->word_count * sizeof *at);
    memcpy(at + p->word_count, tiles, sizes * sizeof *at);
    *out_count = (uint32_t)all;
    return words;
}

static priced **bucket_of(price_memory *m, const int64_t *words, uint32_t count)
{
    uint64_t hash = count;
    for (uint32_t i = 0; i < count; i++) hash = (hash ^ (uint64_t)words[i]) * UINT64_C(0x9e3779b97f4a7c15);
    return &m->buckets[(hash >> 32) % BUCKETS];
}

static const priced *find_priced(const priced *list, const int64_t *words, uint32_t count)
{
    while (list != NULL && (list->word_count != count || memcmp(list->words, words, count * sizeof *words) != 0))
        list = list->next;
    return list;
}

static void remember(const pto_run *run, priced **bucket, uint32_t word_count, const int64_t *words, uint32_t count,
                     const double *costs)
{
    priced *p = pto_keep(run, sizeof *p);
    *p = (priced){.next = *bucket,
                  .words = pto_keep(run, word_count * sizeof *words),
                  .costs = pto_keep(run, count * sizeof *costs),
                  .word_count = word_count,
                  .count = count};
    memcpy(p->words, words, word_count * sizeof *words);
    memcpy(p->costs, costs, count * sizeof *costs);
    *bucket = p;
}

static pto_status price(const pto_run *run, const pto_tiling_problem *problem, uint32_t count, const int64_t *tiles,
                        double *costs)
{
    if (!PTO_HAS(problem, reserved) || problem->words == NULL) return find_prices(run, problem, count, tiles, costs);
    price_memory *memory = pto_recall(run, PTO_STR("prices"), sizeof *memory);
    uint32_t word_count = 0;
    const int64_t *words = words_of(run, problem, count, tiles, &word_count);
    priced **bucket = bucket_of(memory, words, word_count);
    const priced *known = find_priced(*bucket, words, word_count);
    if (known != NULL) {
        memcpy(costs, known->costs, count * sizeof *costs);
        return PTO_OK;
    }
    PTO_TRY(find_prices(run, problem, count, tiles, costs));
    if (memory->count++ < PRICED_MAX) remember(run, bucket, word_count, words, count, costs);
    return PTO_OK;
}

static const pto_cost pipes = {
    .struct_size = sizeof pipes,
    .id = "pto.cost-pipes",
    .summary = "Cycles of the busiest core, from the costs of instructions and paths",
    .price = price,
};
PTO_PLUGIN("pto.cost-pipes", "cost:pto.cost-pipes", "", .version = "0.1.0", .license = "Apache-2.0",
           .costs = PTO_LIST(pto_cost, &pipes));
