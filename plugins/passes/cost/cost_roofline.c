/* pto.cost-roofline: the time that the busiest core needs, from bytes and products against the rates of the machine.
 *
 * Time is (waves + 1) tiles, since the first load overlaps nothing, plus a fixed cost of each tile; a wave is one tile
 * on every core. Rows are kept whole where they fit, because chunks of columns are loaded once for each sweep. What is
 * not static counts as what the function expects, or as large. Vector groups are counted in bytes, matrix products in
 * cycles: costs compare tiles of one nest, not nests. Source: own.
 *
 * Requires a problem of one group, as pto.tile states it. Leaves the module as it is: it only prices sizes. */
#include <pto/plugin.h>

#include <math.h>

#define OPTIONS(X)                                                                                              \
    X(PREFER_ROWS, BOOL, "prefer-whole-rows", .def = "true", .doc = "Keep a row in one tile whenever it fits.", \
      .example = "cost: { use: pto.cost-roofline, with: { prefer-whole-rows: false } }")
PTO_OPTIONS(OPTIONS);

enum {
    DIMS = 3,
    ELEMENT_BYTES = 4,
    UNKNOWN_EXTENT = 1 << 20,     /* rows and columns that are not static */
    UNKNOWN_OUTER = 64,           /* instances of outer dims that are not static */
    UNKNOWN_BOX = 512,            /* rows and columns beside outer dims that are not static */
    UNKNOWN_MATRIX = 2048,        /* m, n, k that are not static */
    UNKNOWN_ROW_CHUNK = 512,      /* columns of a chunk when rows of unknown length share a tile */
    UNKNOWN_ROW_WORK = 128 << 10, /* bytes that the ops of a tile go over when the number of rows is not known */
    CHUNK_ROWS = 8,               /* rows of a chunked tile: one block of a column of results */
    SHORT_BYTES = 256             /* parts of rows below this take as long to load as longer ones */
};
static const double tile_overhead_bytes = 4096.0; /* cost of a tile besides its bytes, as bytes */
static const double core_overhead_bytes = 16.0;   /* cost of using one more core */
static const double tile_overhead_cycles = 400.0;

typedef struct pricing {
    const pto_run *run;
    const pto_tiling_problem *problem;
    int64_t cores, ops;
    int64_t likely[DIMS]; /* extents as far as they are known or expected; -1: not at all */
} pricing;

/* A number of the machine that is above 0, or `absent`. */
static int64_t number_or(const pto_run *run, const char *path, int64_t absent)
{
    const int64_t n = pto_machine_i64_or(run, absent, "%s", path);
    return n > 0 ? n : absent;
}

/* Cores that own the space of a role. */
static int64_t cores_of(const pto_run *run, uint32_t role)
{
    const pto_space_facts space = pto_space_facts_of(run, role);
    const pto_str core = space != NULL ? space->core : pto_no_str();
    const int64_t n = pto_machine_i64_or(run, 1, "cores.%.*s.count", PTO_FMT(core));
    return n > 0 ? n : 1;
}

/* What a dim counts as. */
static int64_t extent_or(const pricing *s, uint32_t dim, int64_t unknown)
{
    return s->likely[dim] >= 0 ? s->likely[dim] : unknown;
}

/* ---- vector groups ---- */

static int has_columns(pto_value v)
{
    const pto_type type = pto_value_type(v);
    const uint32_t rank = pto_type_rank(type);
    int64_t columns = 0;
    return rank != 0 && (!pto_dim_is_const(type, rank - 1, &columns) || columns != 1);
}

/* Ops of the group that go over whole tiles and not just over a result for each row. */
static int64_t work_ops(const pricing *s)
{
    int64_t count = 0;
    PTO_EACH_OP(pto_body(s->problem->nest), op) {
        if (pto_op_operand_count(op) == 0 || pto_op_result_count(op) == 0) continue;
        count += has_columns(pto_op_result(op, 0)) || has_columns(pto_op_operand(op, 0));
    }
    return count;
}

static double vector_cost(const pricing *s, const int64_t *tile)
{
    const pto_tiling_dim *columns = s->problem->dims[1];
    const int64_t row_count = extent_or(s, 0, UNKNOWN_EXTENT), column_count = extent_or(s, 1, UNKNOWN_EXTENT);
    int walks = columns->kind == PTO_REDUCE; /* one instance walks all columns */
    const double chunks = (double)pto_ceil_div(column_count, tile[1]), cores = (double)s->cores;
    const double instances = (double)pto_ceil_div(row_count, tile[0]) * (walks ? 1.0 : chunks);
    double tiles = ceil(instances / cores) * (walks ? chunks : 1.0);
    double bytes = (double)(tile[0] * tile[1] * ELEMENT_BYTES);
    double busy = instances < cores ? instances : cores;
    double cost = (tiles + 1.0) * bytes + tiles * tile_overhead_bytes + busy * core_overhead_bytes;
    int is_whole = columns->static_extent >= 0 && tile[1] >= columns->static_extent;
    if (is_whole && pto_opt_bool(s->run, OPT_PREFER_ROWS)) cost *= walks ? 0.01 : 1.0;
    if (!is_whole && tile[0] > CHUNK_ROWS) cost *= 1.5;
    /* Cores share rows tile by tile: when rows turn out to be few, large tiles leave cores without work. */
    const double work = bytes * (double)s->ops / (double)UNKNOWN_ROW_WORK;
    if (s->likely[0] < 0 && tile[0] > 1 && work > 1.0) cost *= 1.0 + work;
    if (!is_whole && columns->static_extent < 0 && row_count > CHUNK_ROWS) {
        if (tile[0] < CHUNK_ROWS) cost *= 1.5; /* rows may be short */
        if (tile[1] > UNKNOWN_ROW_CHUNK) cost *= 1.0 + (double)tile[1] / (double)UNKNOWN_ROW_CHUNK;
    }
    return cost;
}

/* The same for a group with outer dims, of which either dim may be walked: where it is covered, sums and maxima of
 * several sweeps need one load. */
static double box_cost(const pricing *s, const int64_t *tile)
{
    const int64_t outer = s->problem->outer_instances < 0    ? UNKNOWN_OUTER
                          : s->problem->outer_instances == 0 ? 1
                                                             : s->problem->outer_instances;
    double instances = (double)outer, steps = 1.0;
    int is_whole = 1;
    for (int d = 0; d < 2; d++) {
        const pto_tiling_dim *dim = s->problem->dims[d];
        const int64_t extent = extent_or(s, (uint32_t)d, UNKNOWN_BOX);
        const double tiles = (double)pto_ceil_div(extent, tile[d]);
        if (dim->kind == PTO_REDUCE)
            steps *= tiles;
        else
            instances *= tiles;
        if (dim->kind == PTO_REDUCE && (dim->static_extent < 0 || tile[d] < dim->static_extent)) is_whole = 0;
    }
    const double bytes = (double)tile[0] * (double)tile[1] * (double)ELEMENT_BYTES, cores = (double)s->cores;
    const double tiles = ceil(instances / cores) * steps;
    double cost = (tiles + 1.0) * bytes + tiles * tile_overhead_bytes +
                  (instances < cores ? instances : cores) * core_overhead_bytes;
    const int64_t columns = s->problem->dims[1]->static_extent;
    if (tile[1] * ELEMENT_BYTES < SHORT_BYTES && (columns < 0 || tile[1] < columns)) cost *= 1.5;
    return is_whole && pto_opt_bool(s->run, OPT_PREFER_ROWS) ? 0.01 * cost : cost;
}

/* ---- matrix products ---- */

typedef struct matrix_rates {
    double load_bytes_per_cycle, store_bytes_per_cycle, cycles_per_box;
    int64_t box_rows, box_bytes, element_bytes;
} matrix_rates;

static double rate_or(const pto_run *run, const char *path, double absent)
{
    const double rate = pto_machine_f64_or(run, absent, "%s", path);
    return rate > 0.0 ? rate : absent;
}

/* Bytes per cycle of the path between spaces of these roles. */
static double path_rate(const pto_run *run, uint32_t from, uint32_t to)
{
    const pto_path_facts path = pto_path_facts_of(run, from, to);
    return path != NULL ? path->bytes_per_cycle : 1.0;
}

static matrix_rates rates_of(const pricing *s)
{
    pto_op product = pto_block_first(pto_body(s->problem->nest));
    pto_dtype dtype = pto_type_dtype(pto_value_type(pto_op_operand(product, 0)));
    matrix_rates r = {.element_bytes = pto_dtype_bytes(dtype)};
    if (r.element_bytes < 1) r.element_bytes = ELEMENT_BYTES;
    r.cycles_per_box = pto_machine_f64_or(s->run, 1.0, "matrix.cycles-per-box.%s", pto_dtype_name(dtype));
    double shared = rate_or(s->run, "shared.gm-bytes-per-cycle", 0.0) / (double)s->cores;
    r.load_bytes_per_cycle = path_rate(s->run, PTO_ROLE_GLOBAL, PTO_ROLE_PANEL);
    if (shared > 0.0 && shared < r.load_bytes_per_cycle) r.load_bytes_per_cycle = shared;
    r.store_bytes_per_cycle = path_rate(s->run, PTO_ROLE_ACCUMULATOR, PTO_ROLE_GLOBAL);
    r.box_rows = number_or(s->run, "matrix.box-rows", 1);
    r.box_bytes = number_or(s->run, "matrix.box-row-bytes", r.element_bytes);
    return r;
}

/* Waves of equal instances, stretched by the cores that idle in the last one; loads and products of real extents, since
 * tails are not padded; then what nothing overlaps: the first load and the last store. */
static double matrix_cost(const pricing *s, const matrix_rates *rates, const int64_t *tile)
{
    int64_t extent[DIMS];
    for (uint32_t d = 0; d < DIMS; d++) extent[d] = extent_or(s, d, UNKNOWN_MATRIX);
    const int64_t along_m = pto_ceil_div(extent[0], tile[0]), along_n = pto_ceil_div(extent[1], tile[1]);
    const double instances = (double)along_m * (double)along_n, bytes = (double)rates->element_bytes;
    const double waves = ceil(instances / (double)s->cores), steps = (double)pto_ceil_div(extent[2], tile[2]);
    double loaded =
        ((double)extent[0] * (double)along_n + (double)extent[1] * (double)along_m) * (double)extent[2] * bytes;
    double boxes = (double)pto_ceil_div(extent[0], rates->box_rows) * (double)pto_ceil_div(extent[1], rates->box_rows) *
                   ceil((double)extent[2] * bytes / (double)rates->box_bytes);
    double load = loaded / rates->load_bytes_per_cycle, compute = boxes * rates->cycles_per_box;
    double first = (double)((tile[0] + tile[1]) * tile[2]) * bytes / rates->load_bytes_per_cycle;
    double last = (double)(tile[0] * tile[1] * ELEMENT_BYTES) / rates->store_bytes_per_cycle;
    double work = instances > 0.0 ? (load > compute ? load : compute) * waves / instances : 0.0;
    return work + waves * steps * tile_overhead_cycles + first + last;
}

static pto_status price(const pto_run *run, const pto_tiling_problem *problem, uint32_t count, const int64_t *tiles,
                        double *costs)
{
    const uint32_t dims = problem->dim_count;
    const int is_matrix = dims == DIMS && strcmp(problem->shape, "matmul") == 0, is_vector = dims == 2;
    pricing s = {.run = run, .problem = problem};
    for (uint32_t d = 0; d < dims && d < DIMS; d++)
        s.likely[d] = problem->dims[d]->static_extent >= 0
                          ? problem->dims[d]->static_extent
                          : pto_expected_extent(problem->nest, problem->dims[d]->extent);
    s.cores = cores_of(run, is_matrix ? PTO_ROLE_ACCUMULATOR : PTO_ROLE_SCRATCHPAD);
    if (is_vector) s.ops = work_ops(&s);
    const matrix_rates rates = is_matrix ? rates_of(&s) : (matrix_rates){0};
    for (uint32_t i = 0; i < count; i++) {
        const int64_t *tile = tiles + (size_t)i * dims;
        costs[i] = is_matrix                            ? matrix_cost(&s, &rates, tile)
                   : !is_vector                         ? 0.0
                   : strcmp(problem->shape, "box") == 0 ? box_cost(&s, tile)
                                                        : vector_cost(&s, tile);
    }
    return PTO_OK;
}

static const pto_cost roofline = {
    .struct_size = sizeof roofline,
    .id = "pto.cost-roofline",
    .summary = "Bytes and products against the rates of the machine",
    .options = pass_options,
    .price = price,
};
PTO_PLUGIN("pto.cost-roofline", "cost:pto.cost-roofline", "", .version = "0.1.0", .license = "Apache-2.0",
           .costs = PTO_LIST(pto_cost, &roofline));
