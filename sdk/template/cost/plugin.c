/* org.example.cost: the number of tiles, each with a price of its own: few large tiles come first.
 *
 * A cost model only says what sizes cost; the strategy orders its offers by that, and the host checks and applies. */
#include <pto/plugin.h>

#define OPTIONS(X)                                                              \
    X(PER_TILE, F64, "per-tile", .def = "4096", .min = "0", .unit = "elements", \
      .doc = "what a tile costs besides its elements",                          \
      .example = "cost: { use: org.example.cost, with: { per-tile: 1000 } }")
PTO_OPTIONS(OPTIONS);

enum { UNKNOWN = 1024 }; /* what an extent counts as that neither the type nor the function tells */

static int64_t extent_of(const pto_tiling_problem *problem, const pto_tiling_dim *dim)
{
    const int64_t likely =
        dim->static_extent >= 0 ? dim->static_extent : pto_expected_extent(problem->nest, dim->extent);
    return likely >= 0 ? likely : UNKNOWN;
}

static pto_status price(const pto_run *run, const pto_tiling_problem *problem, uint32_t count, const int64_t *tiles,
                        double *costs)
{
    for (uint32_t i = 0; i < count; i++) {
        const int64_t *tile = tiles + (size_t)i * problem->dim_count;
        double number = 1.0, elements = 1.0;
        for (uint32_t d = 0; d < problem->dim_count; d++) {
            const pto_tiling_dim *dim = problem->dims[d];
            const int64_t tiles_along = pto_ceil_div(extent_of(problem, dim), tile[d]);
            number *= (double)tiles_along;
            elements *= (double)tile[d];
        }
        costs[i] = number * (elements + pto_opt_f64(run, OPT_PER_TILE));
    }
    return PTO_OK;
}

static const pto_cost cost = {
    .struct_size = sizeof cost,
    .id = "org.example.cost",
    .summary = "Count tiles and their elements",
    .options = pass_options,
    .price = price,
};
PTO_PLUGIN("org.example.cost", "cost:org.example.cost", "", .version = "0.1.0", .license = "MIT",
           .costs = PTO_LIST(pto_cost, &cost));
