/* A cost model whose answers are no costs, and a fair one that prefers few columns. */
#include <pto/plugin.h>

#include <math.h>

#define OPTIONS(X)                                                                                           \
    X(SAYS, ENUM, "says", .doc = "What the second tile costs.", .example = "cost: { use: test.liar-costs }", \
      .def = "nothing", .choices = PTO_STRS("nothing", "infinite", "negative", "failed", "as-what-it-is-not"))
PTO_OPTIONS(OPTIONS);

static pto_status lie(const pto_run *run, const pto_tiling_problem *problem, uint32_t count, const int64_t *tiles,
                      double *costs)
{
    const int64_t says = pto_opt_i64(run, OPT_SAYS);
    for (uint32_t i = 0; i < count; i++) {
        if (i == 1 && says == 0) continue;
        costs[i] = i != 1 ? 1.0 : says == 1 ? HUGE_VAL : says == 2 ? -2.5 : 1.0;
    }
    if (says == 4) return pto_tiling_price(run, OPT_SAYS, problem, count, tiles, costs);
    return says == 3 ? PTO_FAILED : PTO_OK;
}

static pto_status few(const pto_run *run, const pto_tiling_problem *problem, uint32_t count, const int64_t *tiles,
                      double *costs)
{
    (void)run;
    for (uint32_t i = 0; i < count; i++) costs[i] = (double)tiles[(i + 1) * problem->dim_count - 1];
    return PTO_OK;
}

static const pto_cost costs = {.struct_size = sizeof costs,
                               .id = "test.liar-costs",
                               .summary = "Return what is not a cost",
                               .options = pass_options,
                               .price = lie};
static const pto_cost columns = {
    .struct_size = sizeof columns, .id = "test.cost-columns", .summary = "Prefer few columns", .price = few};
PTO_PLUGIN("test.liar-costs", "cost:test.liar-costs cost:test.cost-columns", "", .version = "1.0.0",
           .license = "Apache-2.0", .costs = PTO_LIST(pto_cost, &costs, &columns));
