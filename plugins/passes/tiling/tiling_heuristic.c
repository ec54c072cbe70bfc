/* pto.tiling-heuristic: powers of two and whole extents as sizes of tiles, in the order of a cost model.
 *
 * All sizes are priced, and those that fit offered, cheapest first; of equal ones that with the larger last dim.
 * Source: own.
 *
 * Requires a problem of one group, as pto.tile states it. Leaves the module as it is: it only offers sizes. */
#include <pto/plugin.h>

#include <stdlib.h>

#define OPTIONS(X)                                                                        \
    X(VEC_BYTES, BYTES, "vec-bytes", .def = "64KiB", .min = "32", .unit = "bytes",        \
      .doc = "Upper bound for one vector tile, in f32 elements of its rows and columns.", \
      .example = "strategy: { use: pto.tiling-heuristic, with: { vec-bytes: 32KiB } }")   \
    X(COST, PLUGIN, "cost", .def = "pto.cost-pipes", .choices = PTO_STRS("cost"),         \
      .doc = "The cost model that orders the sizes.",                                     \
      .example = "strategy: { use: pto.tiling-heuristic, with: { cost: pto.cost-roofline } }")
PTO_OPTIONS(OPTIONS);

enum { DIMS = 3, CANDIDATES_MAX = 4096, OFFERS = 200, SIZES_MAX = 40, MATRIX_SIZE_MAX = 1024, ELEMENT_BYTES = 4 };

typedef struct candidate {
    int64_t tile[DIMS];
    double cost;
} candidate;

typedef struct search {
    const pto_run *run;
    const pto_tiling_problem *problem;
    candidate *items;
    uint32_t count, capacity;
    int64_t likely[DIMS]; /* extents as far as they are known or expected; -1: not at all */
} search;

static int64_t least_of(int64_t a, int64_t b) { return a < b ? a : b; }

static int fits(const search *s, const int64_t *tile, int64_t *out_bytes)
{
    const pto_tiling_problem *p = s->problem;
    int good = 1;
    *out_bytes = 0;
    for (pto_space space = 1; space < pto_name_count(s->run, PTO_NAME_SPACE); space++) {
        int64_t bytes = p->footprint(p->self, tile, space);
        if (bytes > p->capacity(p->self, space)) good = 0;
        if (bytes > *out_bytes) *out_bytes = bytes;
    }
    return good;
}

static void consider(search *s, int64_t first, int64_t second, int64_t third)
{
    if (s->count == CANDIDATES_MAX) return;
    PTO_GROW(s->run, s->items, s->count, s->capacity);
    s->items[s->count++] = (candidate){.tile = {first, second, third}};
}

/* Sizes worth trying along a dim, ascending: powers of two times the granule, and the whole extent if it is known. */
static uint32_t sizes_of(const search *s, uint32_t d, int64_t limit, int round_whole, int64_t *sizes)
{
    const pto_tiling_dim *dim = s->problem->dims[d];
    int64_t granule = dim->granule, extent = s->likely[d];
    if (dim->static_extent < 0) round_whole = 1; /* others must be right too */
    if (dim->static_extent < 0 && (extent == 0 || extent > limit)) extent = -1;
    int64_t whole = extent < 0 ? -1 : extent == 0 ? 1 : round_whole ? pto_ceil_div(extent, granule) * granule : extent;
    uint32_t count = 0;
    if (dim->static_extent < 0) { /* nothing is larger than the bound */
        const pto_range r = pto_extent_range(s->problem->nest, dim->extent);
        if (r.hi > 0 && r.hi < limit) limit = pto_ceil_div(r.hi, granule) * granule;
    }
    if (limit < granule) limit = granule;
    for (int64_t size = granule; size <= limit && count + 1 < SIZES_MAX; size *= 2) {
        if (whole >= 0 && size >= whole) break;
        sizes[count++] = size;
    }
    if (whole >= 0 && (whole <= limit || !round_whole)) sizes[count++] = whole;
    if (count == 0) sizes[count++] = granule;
    return count;
}

static void search_vector(search *s)
{
    int64_t rows[SIZES_MAX], columns[SIZES_MAX], limit = pto_opt_i64(s->run, OPT_VEC_BYTES) / ELEMENT_BYTES;
    uint32_t row_sizes = sizes_of(s, 0, limit, 0, rows);
    uint32_t column_sizes = sizes_of(s, 1, limit, 0, columns);
    for (uint32_t r = 0; r < row_sizes; r++)
        for (uint32_t c = 0; c < column_sizes; c++)
            if ((r == 0 && c == 0) || rows[r] <= limit / columns[c]) consider(s, rows[r], columns[c], 1);
}

static void search_matrix(search *s)
{
    int64_t sizes[DIMS][SIZES_MAX], most = pto_machine_i64_or(s->run, 0, "matrix.dim-max");
    uint32_t count[DIMS];
    const int64_t limit = most > 0 ? least_of(most, MATRIX_SIZE_MAX) : MATRIX_SIZE_MAX;
    for (uint32_t d = 0; d < DIMS; d++) count[d] = sizes_of(s, d, limit, 1, sizes[d]);
    for (uint32_t m = 0; m < count[0]; m++)
        for (uint32_t n = 0; n < count[1]; n++)
            for (uint32_t k = 0; k < count[2]; k++) consider(s, sizes[0][m], sizes[1][n], sizes[2][k]);
}

/* What the cost model says of all, asked once. */
static pto_status ask_price(const search *s)
{
    const uint32_t dims = s->problem->dim_count;
    int64_t *tiles = PTO_SCRATCH(s->run, int64_t, (size_t)s->count *dims);
    double *costs = PTO_SCRATCH(s->run, double, s->count);
    for (uint32_t i = 0; i < s->count; i++) memcpy(tiles + (size_t)i * dims, s->items[i].tile, dims * sizeof *tiles);
    PTO_TRY(pto_tiling_price(s->run, OPT_COST, s->problem, s->count, tiles, costs));
    for (uint32_t i = 0; i < s->count; i++) s->items[i].cost = costs[i];
    return PTO_OK;
}

static int compare(const void *a, const void *b)
{
    const candidate *x = a, *y = b;
    if (x->cost < y->cost) return -1;
    if (x->cost > y->cost) return 1;
    for (int d = DIMS; d-- > 0;)
        if (x->tile[d] != y->tile[d]) return x->tile[d] > y->tile[d] ? -1 : 1;
    return 0;
}

/* A shape that nothing is known of: all dims alike, from large to small. */
static pto_status offer_even(const pto_tiling_problem *problem, const pto_tiling_sink *sink)
{
    int64_t tile[16];
    for (int shift = 12; shift >= 0; shift--) {
        for (uint32_t d = 0; d < problem->dim_count && d < 16; d++) {
            const pto_tiling_dim *dim = problem->dims[d];
            const int64_t size = least_of(dim->granule << shift, PTO_TILE_SIZE_MAX / dim->granule * dim->granule);
            tile[d] = dim->static_extent < 0 ? size : dim->static_extent == 0 ? 1 : least_of(size, dim->static_extent);
        }
        if (!sink->offer(sink->self, tile)) break;
    }
    return PTO_OK;
}

/* Mostly the first is taken, so that the others are not sorted before it is refused. */
static void sort_from(const search *s, uint32_t first)
{
    if (first == 0) {
        candidate *best = s->items;
        for (uint32_t i = 1; i < s->count; i++)
            if (compare(&s->items[i], best) < 0) best = &s->items[i];
        const candidate other = s->items[0];
        s->items[0] = *best;
        *best = other;
    } else if (first == 1)
        qsort(s->items + 1, s->count - 1, sizeof *s->items, compare);
}

/* Offers what fits. Counting bytes costs more than the price, so it ends with the first that is taken. When nothing
 * fits, the one that needs least is offered, for the message. */
static pto_status offer_sorted(const search *s, const pto_tiling_sink *sink)
{
    const candidate *least = NULL;
    int64_t least_bytes = 0;
    uint32_t offers = 0;
    for (uint32_t i = 0; i < s->count && offers < OFFERS; i++) {
        int64_t bytes = 0;
        const candidate *c = &s->items[i];
        sort_from(s, i);
        if (fits(s, c->tile, &bytes)) {
            offers++;
            if (!sink->offer_priced(sink->self, c->tile, c->cost)) return PTO_OK;
        } else if (least == NULL || bytes < least_bytes) {
            least = c;
            least_bytes = bytes;
        }
    }
    if (offers == 0 && least != NULL) (void)sink->offer(sink->self, least->tile);
    return PTO_OK;
}

static pto_status offer_best(const pto_run *run, const pto_tiling_problem *problem, const pto_tiling_sink *sink)
{
    search s = {.run = run, .problem = problem};
    for (uint32_t d = 0; d < problem->dim_count && d < DIMS; d++)
        s.likely[d] = problem->dims[d]->static_extent >= 0
                          ? problem->dims[d]->static_extent
                          : pto_expected_extent(problem->nest, problem->dims[d]->extent);
    if (problem->dim_count == 2)
        search_vector(&s);
    else if (problem->dim_count == DIMS && strcmp(problem->shape, "matmul") == 0)
        search_matrix(&s);
    else
        return offer_even(problem, sink);
    PTO_TRY(ask_price(&s));
    return offer_sorted(&s, sink);
}

static const pto_tiling heuristic = {
    .struct_size = sizeof heuristic,
    .id = "pto.tiling-heuristic",
    .summary = "Powers of two and whole extents, in the order of a cost model",
    .options = pass_options,
    .offer = offer_best,
};
PTO_PLUGIN("pto.tiling-heuristic", "tiling:pto.tiling-heuristic", "", .version = "0.1.0", .license = "Apache-2.0",
           .tilings = PTO_LIST(pto_tiling, &heuristic));
