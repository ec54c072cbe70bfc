/* A tiling strategy that offers nothing, and a pass that asks it. */
#include <pto/plugin.h>

static const char *const tiling_kind[] = {"tiling", NULL};
#define OPTIONS(X)                                                                                  \
    X(STRATEGY, PLUGIN, "strategy", .doc = "Which one is asked.",                                   \
      .example = "with: { strategy: test.liar-offers-nothing }", .def = "test.liar-offers-nothing", \
      .choices = tiling_kind)
PTO_OPTIONS(OPTIONS);

enum { VEC = 1 }; /* the first memory space of ir/ops */

static int64_t footprint(void *self, const int64_t *tile, pto_space space)
{
    (void)self;
    return space == VEC ? tile[0] : 0;
}
static int64_t capacity(void *self, pto_space space)
{
    (void)self;
    return space == VEC ? 64 : 0;
}

static pto_status run(const pto_run *run, pto_op unit)
{
    const pto_tiling_dim dim = {.struct_size = sizeof dim,
                                .kind = PTO_PARALLEL,
                                .name = "rows",
                                .extent = pto_expr_const(run, 100),
                                .static_extent = 100,
                                .granule = 1};
    const pto_tiling_dim *const dims[] = {&dim};
    const pto_tiling_problem problem = {.struct_size = sizeof problem,
                                        .dim_count = 1,
                                        .shape = "elementwise",
                                        .nest = unit,
                                        .dims = dims,
                                        .footprint = footprint,
                                        .capacity = capacity};
    int64_t tile = 0;
    return pto_tiling_choose(run, OPT_STRATEGY, &problem, &tile, NULL);
}

static pto_status offer(const pto_run *run, const pto_tiling_problem *problem, const pto_tiling_sink *sink)
{
    (void)run;
    (void)problem;
    (void)sink;
    return PTO_OK;
}

static const pto_tiling tiling = {
    .struct_size = sizeof tiling, .id = "test.liar-offers-nothing", .summary = "Offer nothing", .offer = offer};
static const pto_pass pass = {.struct_size = sizeof pass,
                              .id = "test.asks-for-tile",
                              .summary = "Ask a strategy",
                              .scope = "function",
                              .consumes = "tensor/1",
                              .produces = "tensor/1",
                              .options = pass_options,
                              .run = run};
PTO_PLUGIN("test.liar-offers-nothing", "pass:test.asks-for-tile tiling:test.liar-offers-nothing", "",
           .version = "1.0.0", .license = "Apache-2.0", .passes = PTO_LIST(pto_pass, &pass),
           .tilings = PTO_LIST(pto_tiling, &tiling));
