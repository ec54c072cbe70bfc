/* A strategy that asks what a tile without elements costs. */
#include <pto/plugin.h>

static const char *const cost_kind[] = {"cost", NULL};
#define OPTIONS(X)                                                                                       \
    X(COST, PLUGIN, "cost", .doc = "Which model is asked.", .example = "with: { cost: pto.cost-pipes }", \
      .def = "pto.cost-roofline", .choices = cost_kind)
PTO_OPTIONS(OPTIONS);

static pto_status offer(const pto_run *run, const pto_tiling_problem *problem, const pto_tiling_sink *sink)
{
    int64_t *tiles = PTO_SCRATCH(run, int64_t, 2 * problem->dim_count);
    double costs[2];
    (void)sink;
    for (uint32_t d = 0; d < problem->dim_count; d++) tiles[d] = 1; /* the second has zeros */
    return pto_tiling_price(run, OPT_COST, problem, 2, tiles, costs);
}

static const pto_tiling tiling = {.struct_size = sizeof tiling,
                                  .id = "test.liar-prices",
                                  .summary = "Price no tile",
                                  .options = pass_options,
                                  .offer = offer};
PTO_PLUGIN("test.liar-prices", "tiling:test.liar-prices", "", .version = "1.0.0", .license = "Apache-2.0",
           .tilings = PTO_LIST(pto_tiling, &tiling));
