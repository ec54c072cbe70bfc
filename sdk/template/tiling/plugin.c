/* org.example.tiling: offers small tiles first, growing, so that the first that is legal is a small one.
 *
 * A strategy only offers; the host prices, checks and applies. */
#include <pto/plugin.h>

#define OPTIONS(X)                                                                            \
    X(ROWS, I64, "rows", .def = "8", .min = "1", .max = "4096", .unit = "rows",               \
      .doc = "size of a tile along parallel dims",                                            \
      .example = "strategy: { use: org.example.tiling, with: { rows: 16 } }")                 \
    X(COLUMNS, I64, "columns", .def = "512", .min = "1", .max = "1000000", .unit = "columns", \
      .doc = "size of a tile along reduced dims, at most the whole extent",                   \
      .example = "strategy: { use: org.example.tiling, with: { columns: 128 } }")
PTO_OPTIONS(OPTIONS);

/* A multiple of the granule, no larger than the extent needs. */
static int64_t fit(int64_t wanted, const pto_tiling_dim *dim)
{
    const int64_t granule = dim->granule > 0 ? dim->granule : 1;
    if (dim->static_extent >= 0 && wanted >= dim->static_extent) return dim->static_extent > 0 ? dim->static_extent : 1;
    return (wanted + granule - 1) / granule * granule;
}

static pto_status offer(const pto_run *run, const pto_tiling_problem *problem, const pto_tiling_sink *sink)
{
    int64_t tile[PTO_MAX_DIMS];
    for (int64_t scale = 1; scale <= 64; scale *= 2) {
        for (uint32_t i = 0; i < problem->dim_count; i++) {
            const pto_tiling_dim *dim = problem->dims[i];
            const int64_t wanted =
                dim->kind == PTO_PARALLEL ? pto_opt_i64(run, OPT_ROWS) * scale : pto_opt_i64(run, OPT_COLUMNS) / scale;
            tile[i] = fit(wanted > 0 ? wanted : 1, dim);
        }
        if (!sink->offer(sink->self, tile)) break;
    }
    return PTO_OK;
}

static const pto_tiling tiling = {
    .struct_size = sizeof tiling,
    .id = "org.example.tiling",
    .summary = "Offer small tiles first",
    .options = pass_options,
    .offer = offer,
};
PTO_PLUGIN("org.example.tiling", "tiling:org.example.tiling", "", .version = "0.1.0", .license = "MIT",
           .tilings = PTO_LIST(pto_tiling, &tiling));
