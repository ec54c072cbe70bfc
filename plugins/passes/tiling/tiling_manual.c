/* pto.tiling-manual: the sizes that the pipeline states.
 *
 *     strategy: { use: pto.tiling-manual, with: { rows: 16, m: 128, n: 128, k: 64 } }
 *
 * A dim without a stated size is taken whole, which only a static extent can be. One candidate, so what does not fit is
 * an error and nothing is chosen instead.
 *
 * Requires a problem of one group, as pto.tile states it. Leaves the module as it is: it only offers sizes. */
#include <pto/plugin.h>

#define OPTIONS(X)                                                                          \
    X(ROWS, I64, "rows", .def = "0", .min = "0", .max = "1048576", .unit = "rows",          \
      .doc = "Rows of a vector tile; 0: the whole extent.",                                 \
      .example = "strategy: { use: pto.tiling-manual, with: { rows: 16 } }")                \
    X(COLUMNS, I64, "columns", .def = "0", .min = "0", .max = "1048576", .unit = "columns", \
      .doc = "Columns of a vector tile; 0: the whole row.",                                 \
      .example = "strategy: { use: pto.tiling-manual, with: { rows: 8, columns: 512 } }")   \
    X(M, I64, "m", .def = "0", .min = "0", .max = "1048576", .unit = "rows",                \
      .doc = "Rows of a tile of a matrix product; 0: the whole extent.",                    \
      .example = "strategy: { use: pto.tiling-manual, with: { m: 128, n: 128, k: 64 } }")   \
    X(N, I64, "n", .def = "0", .min = "0", .max = "1048576", .unit = "columns",             \
      .doc = "Columns of a tile of a matrix product; 0: the whole extent.",                 \
      .example = "strategy: { use: pto.tiling-manual, with: { m: 128, n: 128, k: 64 } }")   \
    X(K, I64, "k", .def = "0", .min = "0", .max = "1048576", .unit = "products",            \
      .doc = "Products summed between two loads of a matrix product; 0: the whole extent.", \
      .example = "strategy: { use: pto.tiling-manual, with: { m: 128, n: 128, k: 64 } }")
PTO_OPTIONS(OPTIONS);

enum { DIMS_MAX = 16 };

/* Stated size of the dim, 0 when there is none. */
static int64_t stated(const pto_run *run, const pto_tiling_dim *dim)
{
    for (uint32_t o = 0; pass_options[o] != NULL; o++)
        if (strcmp(pass_options[o]->name, dim->name) == 0) return pto_opt_i64(run, o);
    return 0;
}

static pto_status offer_stated(const pto_run *run, const pto_tiling_problem *problem, const pto_tiling_sink *sink)
{
    int64_t tile[DIMS_MAX];
    for (uint32_t d = 0; d < problem->dim_count && d < DIMS_MAX; d++) {
        const pto_tiling_dim *dim = problem->dims[d];
        tile[d] = stated(run, dim);
        if (tile[d] == 0 && dim->static_extent < 0)
            return pto_error(problem->nest, "pto.tiling-manual/no-size",
                             "the extent of %s is not static, so its tile size must be stated: set the option `%s`",
                             dim->name, dim->name);
        if (tile[d] == 0) tile[d] = dim->static_extent > 0 ? dim->static_extent : 1;
        const int64_t extent = dim->static_extent == 0 ? 1 : dim->static_extent;
        const int64_t most = (extent + dim->granule - 1) / dim->granule * dim->granule;
        if (extent > 0 && tile[d] > most) tile[d] = most; /* stated for larger kernels too */
        int covers = dim->static_extent >= 0 && tile[d] >= dim->static_extent;
        if (!covers && tile[d] % dim->granule != 0)
            return pto_error(problem->nest, "pto.tiling-manual/granule",
                             "`%s` is %lld and must be a multiple of %lld, or cover the whole extent", dim->name,
                             (long long)tile[d], (long long)dim->granule);
    }
    (void)sink->offer(sink->self, tile);
    return PTO_OK;
}

static const pto_tiling manual = {
    .struct_size = sizeof manual,
    .id = "pto.tiling-manual",
    .summary = "Tile sizes as the pipeline states them",
    .options = pass_options,
    .offer = offer_stated,
};
PTO_PLUGIN("pto.tiling-manual", "tiling:pto.tiling-manual", "", .version = "0.1.0", .license = "Apache-2.0",
           .tilings = PTO_LIST(pto_tiling, &manual));
