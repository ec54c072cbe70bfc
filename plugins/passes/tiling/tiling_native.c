/* pto.tiling-native: sizes of tiles for CPUs.
 *
 * Products read memory over all of k and pack what they read for each tile, or the right side for all tiles that are
 * below each other: tiles are large, as long as there are enough of them for several threads. They are of as many rows
 * and columns as panels of the kernels fill whole, for registers of 256 and of 512 bits alike. Tiles of transposes have
 * long rows on both sides, those of whole rows several, and those of columns that are reduced wide ones, as far as they
 * fit. What else there is another strategy chooses. Source: own.
 *
 * Requires a problem of one group, as pto.tile states it. Leaves the module as it is: it only offers sizes. */
#include <pto/plugin.h>

#include <stdlib.h>

#define OPTIONS(X)                                                                                                  \
    X(OTHERS, PLUGIN, "others", .def = "pto.tiling-heuristic", .choices = PTO_STRS("tiling"),                       \
      .doc = "the strategy for all that is neither a product nor a transpose and reduces no columns alone; of "     \
             "whole rows tiles have up to 16, beyond its bounds, as long as there are tiles enough and the space "  \
             "holds them",                                                                                          \
      .example = "strategy: { use: pto.tiling-native, with: { others: pto.tiling-heuristic } }")                    \
    X(THREADS, I64, "threads", .def = "0", .min = "0", .max = "1024", .unit = "threads",                            \
      .doc = "the most threads that products are cut for, of few rows four at most; 0: an eighth of the instances " \
             "that the machine has",                                                                                \
      .example = "strategy: { use: pto.tiling-native, with: { threads: 8 } }")
PTO_OPTIONS(OPTIONS);

enum { DIMS = 3, DIMS_MAX = 16 };

/* Multiples of 112 have only whole panels, of 14, 7 and 4 rows; powers of two cut extents that are such evenly. */
static const int64_t row_sizes[] = {1024, 512, 336, 256, 224, 128, 112, 64, 48, 32, 16},
                     column_sizes[] = {2048, 1024, 512, 256, 128, 64, 32, 16},
                     depth_sizes[] = {1024, 512, 256, 128, 64, 32, 16};
enum {
    ROW_SIZES = sizeof row_sizes / sizeof *row_sizes,
    COLUMN_SIZES = sizeof column_sizes / sizeof *column_sizes,
    DEPTH_SIZES = sizeof depth_sizes / sizeof *depth_sizes,
    EVEN_PARTS = 8, /* into so many parts extents are cut evenly too, columns in whole vectors of every element type */
    EVEN_ROWS = 16,
    EVEN_COLUMNS = 64,
    FEW_ROWS = 32,    /* are multiplied in place */
    BLOCK_ROWS = 224, /* of fewer it takes longer to read what is packed than to multiply */
    SIZES = (ROW_SIZES + EVEN_PARTS) * (COLUMN_SIZES + EVEN_PARTS)
};

/* Elements of both sides that stay near, in a cache of the core. */
static const double near_most = 1 << 20;

typedef struct candidate {
    int64_t rows, columns;
    double cost;
} candidate;

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* A size that the dim may have: up to its extent, and in its granules. */
static int64_t allowed(const pto_tiling_dim *dim, int64_t size)
{
    if (size % dim->granule != 0) size = pto_ceil_div(size, dim->granule) * dim->granule;
    if (dim->static_extent < 0) return size;
    return dim->static_extent == 0 ? 1 : least(size, pto_ceil_div(dim->static_extent, dim->granule) * dim->granule);
}

/* One of the `count` sizes listed, of which the first is the largest, or what cuts a static extent evenly. */
static int64_t size_of(const pto_tiling_dim *dim, const int64_t *listed, uint32_t count, int64_t unit, uint32_t which)
{
    if (which < count) return allowed(dim, listed[which]);
    const int64_t n = dim->static_extent < 0 ? 0 : dim->static_extent, parts = which - count + 1;
    const int64_t each = pto_ceil_div(pto_ceil_div(n, parts), unit) * unit;
    return allowed(dim, each < unit ? unit : least(each, listed[0]));
}

static double round_up(double x) { return x > (double)(int64_t)x ? (double)(int64_t)x + 1 : x; }

/* Few rows are multiplied in place: what takes long is to read the right side, the longer the shorter the pieces of its
 * rows are, most of all from main memory. With so few operations memory is busy with four threads, if there are as
 * many. */
static double price_in_place(double m, double n, double k, double batches, double speed, int64_t most,
                             const candidate *c)
{
    static const double start = 40000, near = 16, far = 192; /* elements that take as long as to begin another piece */
    const double rows = (double)c->rows < m ? (double)c->rows : m,
                 columns = (double)c->columns < n ? (double)c->columns : n;
    const double tiles = round_up(m / rows) * round_up(n / columns) * batches,
                 between = speed * ((m + n) * k > near_most ? far : near);
    const double tile = k * (columns + between) * (rows + 8) + speed * start;
    double sum = 0;
    for (int64_t threads = 1; threads <= least(most, 4); threads *= 2)
        sum += round_up(tiles / (double)threads) * (double)threads * tile;
    return sum;
}

/* How long all of it takes, in products of one thread. `packs_once`: the right side is packed before, by all threads,
 * where more tiles than there are threads are below each other. */
static double price(double m, double n, double k, double batches, double speed, int64_t most, int packs_once,
                    const candidate *c)
{
    /* An element that is packed takes as long as so many products, more when it comes from main memory; a tile takes as
     * long as `start` besides. Measured with f32 on one machine with AVX-512. */
    static const double near = 4, far = 16, start = 20000;
    if (m <= (double)FEW_ROWS) return price_in_place(m, n, k, batches, speed, most, c);
    const double packing = speed * ((m + n) * k > near_most ? far : near);
    const double rows = (double)c->rows < m ? (double)c->rows : m,
                 columns = (double)c->columns < n ? (double)c->columns : n;
    const double down = round_up(m / rows), across = round_up(n / columns), tiles = down * across * batches;
    const double tile = rows * columns * k + packing * k * rows + speed * start,
                 all = batches * (m * n * k + packing * k * m * across) + tiles * speed * start;
    double sum = 0;
    /* How many threads there will be is not known: each number up to the most counts the same. */
    for (int64_t threads = 1; threads <= most; threads *= 2) {
        const int is_before = packs_once && down > (double)threads && c->rows >= BLOCK_ROWS;
        const double right = is_before ? 0 : packing * k, before = is_before ? packing * k * n : 0;
        const double longest = round_up(tiles / (double)threads) * (tile + right * columns),
                     one_thread = all + batches * right * n * down;
        sum += (longest < one_thread ? longest : one_thread) * (double)threads + before;
    }
    return sum;
}

static int compare(const void *a, const void *b)
{
    const candidate *x = a, *y = b;
    if (x->cost != y->cost) return x->cost < y->cost ? -1 : 1;
    if (x->columns != y->columns) return x->columns > y->columns ? -1 : 1;
    return x->rows == y->rows ? 0 : x->rows > y->rows ? -1 : 1;
}

static int fits(const pto_run *run, const pto_tiling_problem *p, const int64_t *tile)
{
    for (pto_space space = 1; space < pto_name_count(run, PTO_NAME_SPACE); space++)
        if (p->footprint(p->self, tile, space) > p->capacity(p->self, space)) return 0;
    return 1;
}

/* What a dim will most likely be; `unknown` is that of a symbol of which nothing is said. */
static double likely(const pto_tiling_problem *p, uint32_t d, double unknown)
{
    const pto_tiling_dim *dim = p->dims[d];
    const int64_t n = dim->static_extent >= 0 ? dim->static_extent : pto_expected_extent(p->nest, dim->extent);
    return n < 0 ? unknown : n == 0 ? 1 : (double)n;
}

/* The last product of a problem; none: there is none. */
static pto_op product_of(const pto_tiling_problem *p)
{
    pto_op found = pto_op_none(p->nest.run);
    PTO_WALK(p->nest, op)
    if (pto_str_is(pto_op_name(op), "tensor.matmul")) found = op;
    return found;
}

/* Products in the time of one of f32: half as many bytes of an element are twice as many. */
static double speed_of(pto_op product)
{
    const int64_t bytes =
        PTO_SOME(product) ? pto_dtype_bytes(pto_type_dtype(pto_value_type(pto_op_operand(product, 0)))) : 4;
    return bytes == 1 ? 4 : bytes == 2 ? 2 : 1;
}

static int is_made(const pto_tiling_problem *p, pto_value v)
{
    PTO_WALK(p->nest, op)
    if (pto_op_same(op, pto_value_op(v))) return 1;
    return 0;
}

/* Whether both sides are matrices that are there before: then generators may pack the right one once. */
static int takes_matrices(const pto_tiling_problem *p, pto_op product)
{
    for (uint32_t i = 0; i < 2 && PTO_SOME(product); i++) {
        const pto_value v = pto_op_operand(product, i);
        if (pto_type_rank(pto_value_type(v)) != 2 || is_made(p, v)) return 0;
    }
    return PTO_SOME(product);
}

/* Machines for CPUs have eight instances for each that there most likely is. */
static int64_t threads_most(const pto_tiling_problem *p)
{
    enum { INSTANCES_FOR_A_CPU = 8 };
    const pto_run *run = p->nest.run;
    const pto_space_facts acc = pto_space_facts_of(run, PTO_ROLE_ACCUMULATOR);
    const int64_t asked = pto_opt_i64(run, OPT_THREADS);
    if (asked > 0 || acc == NULL) return asked > 0 ? asked : 1;
    const int64_t instances = pto_machine_i64_or(run, 1, "cores.%.*s.count", PTO_FMT(acc->core));
    return instances < INSTANCES_FOR_A_CPU ? 1 : instances / INSTANCES_FOR_A_CPU;
}

/* For small and for large extents where nothing is said of them, in relation to the products that there are; large ones
 * count more, since they take longer. */
static double price_of(const pto_tiling_problem *p, double speed, int packs_once, const candidate *c)
{
    static const double sizes[] = {256, 1024, 2048}, weights[] = {1, 4, 8};
    const double batches = p->outer_instances > 0 ? (double)p->outer_instances : 1;
    const int64_t most = threads_most(p);
    double sum = 0;
    for (uint32_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const double m = likely(p, 0, sizes[i]), n = likely(p, 1, sizes[i]), k = likely(p, 2, sizes[i]);
        sum += weights[i] * price(m, n, k, batches, speed, most, packs_once, c) / (m * n * k * batches);
    }
    return sum;
}

static pto_status offer_product(const pto_run *run, const pto_tiling_problem *p, const pto_tiling_sink *sink)
{
    candidate all[SIZES];
    uint32_t count = 0;
    const pto_op product = product_of(p);
    const double speed = speed_of(product);
    const int packs_once = takes_matrices(p, product);
    for (uint32_t i = 0; i < ROW_SIZES + EVEN_PARTS; i++)
        for (uint32_t j = 0; j < COLUMN_SIZES + EVEN_PARTS; j++) {
            candidate c = {.rows = size_of(p->dims[0], row_sizes, ROW_SIZES, EVEN_ROWS, i),
                           .columns = size_of(p->dims[1], column_sizes, COLUMN_SIZES, EVEN_COLUMNS, j)};
            c.cost = price_of(p, speed, packs_once, &c);
            all[count++] = c;
        }
    qsort(all, count, sizeof *all, compare);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t d = 0; d < DEPTH_SIZES; d++) {
            const int64_t tile[DIMS] = {all[i].rows, all[i].columns, allowed(p->dims[2], depth_sizes[d])};
            if (fits(run, p, tile) && !sink->offer_priced(sink->self, tile, all[i].cost)) return PTO_OK;
        }
    return PTO_OK;
}

/* Rows of any length up to that of a tile, whose size says nothing of how much there is to do: 16 of them, or as
 * many as fit. */
static int is_rows_of_any_length(const pto_tiling_problem *p)
{
    if (p->dim_count != 2 || p->dims[1]->kind != PTO_REDUCE || p->dims[1]->static_extent >= 0) return 0;
    const pto_range r = pto_extent_range(p->nest, p->dims[1]->extent);
    return r.hi > 0 && r.hi <= p->dims[1]->granule;
}

static pto_status offer_rows(const pto_run *run, const pto_tiling_problem *p, const pto_tiling_sink *sink)
{
    for (int64_t rows = 16; rows > 0; rows /= 2) {
        const int64_t tile[2] = {allowed(p->dims[0], rows), p->dims[1]->granule};
        if ((rows == 1 || fits(run, p, tile)) && !sink->offer(sink->self, tile)) break;
    }
    return PTO_OK;
}

/* Whole rows of a tile are walked through one after the other, and what a row ends with goes on beside the next one,
 * except after the last: a tile has several of them, whatever a cache holds of it, as long as there are tiles enough.
 * Of rows whose number is not known there may be few. */
static void add_rows(const pto_run *run, const pto_tiling_problem *p, int64_t *tile)
{
    enum { TILES_LEAST = 16, ROWS_MOST = 16, ROWS_OF_ANY = 8 };
    if (p->dim_count != 2 || p->dims[1]->kind != PTO_REDUCE || p->dims[1]->static_extent < 0) return;
    if (tile[1] < p->dims[1]->static_extent) return;
    const double batches = p->outer_instances > 0 ? (double)p->outer_instances : 1,
                 all_rows = likely(p, 0, TILES_LEAST * ROWS_OF_ANY);
    for (int64_t rows = ROWS_MOST; rows > tile[0]; rows /= 2) {
        const int64_t more[2] = {allowed(p->dims[0], rows), tile[1]};
        const double tiles = batches * round_up(all_rows / (double)more[0]);
        if (tiles < (double)TILES_LEAST || more[0] <= tile[0] || !fits(run, p, more)) continue;
        tile[0] = more[0];
        return;
    }
}

static int is_transpose(const pto_tiling_problem *p)
{
    if (p->dim_count != 2) return 0;
    PTO_WALK(p->nest, op)
    if (pto_str_is(pto_op_name(op), "tensor.transpose")) return 1;
    return 0;
}

/* Both sides of a transpose are pieces of rows, each in another page of memory: neither is short. */
static pto_status offer_transpose(const pto_run *run, const pto_tiling_problem *p, const pto_tiling_sink *sink)
{
    static const int64_t sizes[][2] = {{64, 256}, {64, 128}, {64, 64}, {32, 64}, {16, 64}};
    enum { LAST = sizeof sizes / sizeof *sizes - 1, TILES_LEAST = 16 };
    for (uint32_t i = 0; i <= LAST; i++) {
        const int64_t tile[2] = {allowed(p->dims[0], sizes[i][0]), allowed(p->dims[1], sizes[i][1])};
        const double batches = p->outer_instances > 0 ? (double)p->outer_instances : 1;
        const double tiles =
            batches * round_up(likely(p, 0, 1024) / (double)tile[0]) * round_up(likely(p, 1, 1024) / (double)tile[1]);
        if (i < LAST && (tiles < (double)TILES_LEAST || !fits(run, p, tile))) continue;
        if (!sink->offer(sink->self, tile)) break;
    }
    return PTO_OK;
}

static int is_single(pto_type type, uint32_t d)
{
    int64_t extent;
    return pto_dim_is_const(type, d, &extent) && extent == 1;
}

/* Whether a value comes with extents of 1 where the result has more; numbers do not. */
static int is_expanded(pto_type from, pto_type to)
{
    if (pto_type_rank(from) != pto_type_rank(to)) return pto_type_rank(from) != 0;
    for (uint32_t d = 0; d < pto_type_rank(to); d++)
        if (is_single(from, d) && !is_single(to, d)) return 1;
    return 0;
}

/* Whether columns are reduced and nothing else comes of them: where rows were computed with what the reduction made,
 * they would be read again unless a space holds all of them. */
static int is_of_columns(const pto_tiling_problem *p)
{
    if (p->dim_count != 2 || p->dims[0]->kind != PTO_REDUCE || p->dims[1]->kind == PTO_REDUCE) return 0;
    PTO_WALK(p->nest, op)
    for (uint32_t i = 0; i < pto_op_operand_count(op) && pto_op_result_count(op) > 0; i++)
        if (is_expanded(pto_value_type(pto_op_operand(op, i)), pto_value_type(pto_op_result(op, 0))) &&
            is_made(p, pto_op_operand(op, i)))
            return 0;
    return 1;
}

/* All of a column is as many pieces of rows as it has elements, each in another page of memory, and few columns fit a
 * space. What is read is summed at once: some rows at a time are enough. Returns whether such a tile fits. */
static int offer_columns(const pto_run *run, const pto_tiling_problem *p, const pto_tiling_sink *sink)
{
    static const int64_t columns[] = {512, 256, 128, 64, 32, 16};
    enum { LAST = sizeof columns / sizeof *columns - 1, TILES_LEAST = 16, ROWS = 64 };
    const double batches = p->outer_instances > 0 ? (double)p->outer_instances : 1;
    for (uint32_t i = 0; i <= LAST; i++) {
        const int64_t tile[2] = {allowed(p->dims[0], ROWS), allowed(p->dims[1], columns[i])};
        const double tiles = batches * round_up(likely(p, 1, 1024) / (double)tile[1]);
        if ((i < LAST && tiles < (double)TILES_LEAST) || !fits(run, p, tile)) continue;
        (void)sink->offer(sink->self, tile);
        return 1;
    }
    return 0;
}

static pto_status offer(const pto_run *run, const pto_tiling_problem *p, const pto_tiling_sink *sink)
{
    int64_t tile[DIMS_MAX];
    if (is_transpose(p)) return offer_transpose(run, p, sink);
    if (is_of_columns(p) && offer_columns(run, p, sink)) return PTO_OK;
    if (is_rows_of_any_length(p)) return offer_rows(run, p, sink);
    if (p->dim_count == DIMS && strcmp(p->shape, "matmul") == 0) return offer_product(run, p, sink);
    PTO_TRY(pto_tiling_choose(run, OPT_OTHERS, p, tile, NULL));
    add_rows(run, p, tile);
    (void)sink->offer(sink->self, tile);
    return PTO_OK;
}

static const pto_tiling native = {
    .struct_size = sizeof native,
    .id = "pto.tiling-native",
    .summary = "Large tiles of products, enough of them for several threads",
    .options = pass_options,
    .offer = offer,
};
PTO_PLUGIN("pto.tiling-native", "tiling:pto.tiling-native", "", .version = "0.1.0", .license = "Apache-2.0",
           .tilings = PTO_LIST(pto_tiling, &native));
