/* A strategy that offers what the problem does not allow, and a pass that asks any strategy for an impossible problem.
 */
#include <pto/plugin.h>

#include <math.h>

static const char *const offer_ways[] = {"granule", "beyond", "zero", "nan", "infinite", NULL};
static const pto_option way_option = {.struct_size = sizeof way_option,
                                      .name = "way",
                                      .doc = "what is offered",
                                      .type = PTO_OPT_ENUM,
                                      .choices = offer_ways};

static pto_status offer(const pto_run *run, const pto_tiling_problem *problem, const pto_tiling_sink *sink)
{
    static const struct {
        int64_t rows;
        double cost;
    } offers[] = {{24, 1}, {128, 1}, {0, 1}, {16, (double)NAN}, {16, (double)INFINITY}};
    const int64_t way = pto_opt_i64(run, 0);
    int64_t tile[8];
    for (uint32_t d = 0; d < problem->dim_count; d++) tile[d] = offers[way].rows;
    (void)sink->offer_priced(sink->self, tile, offers[way].cost);
    return PTO_OK;
}

static const char *const tiling_kind[] = {"tiling", NULL};
#define OPTIONS(X)                                                                              \
    X(STRATEGY, PLUGIN, "strategy", .def = "pto.tiling-heuristic", .doc = "Which one is asked", \
      .choices = tiling_kind)                                                                   \
    X(GRANULE, I64, "granule", .def = "16", .doc = "of the dim")                                \
    X(EXTENT, I64, "extent", .def = "100", .doc = "of the dim")                                 \
    X(KIND, I64, "kind", .def = "1", .doc = "of the dim")                                       \
    X(NAME, STR, "name", .def = "rows", .doc = "of the dim")                                    \
    X(DIMS, I64, "dims", .def = "2", .doc = "how many there are")                               \
    X(SHAPE, STR, "shape", .def = "elementwise", .doc = "of the problem")
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
    return space == VEC ? INT64_MAX : 0;
}

static pto_status run(const pto_run *run, pto_op unit)
{
    char name[64];
    snprintf(name, sizeof name, "%.*s", PTO_FMT(pto_opt_str(run, OPT_NAME)));
    char shape[64];
    snprintf(shape, sizeof shape, "%.*s", PTO_FMT(pto_opt_str(run, OPT_SHAPE)));
    const pto_tiling_dim dim = {.struct_size = sizeof dim,
                                .kind = (uint32_t)pto_opt_i64(run, OPT_KIND),
                                .name = name,
                                .extent = pto_expr_const(run, 100),
                                .static_extent = pto_opt_i64(run, OPT_EXTENT),
                                .granule = pto_opt_i64(run, OPT_GRANULE)};
    const pto_tiling_dim *const dims[] = {&dim, &dim, &dim, &dim, &dim, &dim, &dim, &dim};
    const pto_tiling_problem problem = {.struct_size = sizeof problem,
                                        .dim_count = (uint32_t)pto_opt_i64(run, OPT_DIMS),
                                        .shape = shape,
                                        .nest = unit,
                                        .dims = dims,
                                        .footprint = footprint,
                                        .capacity = capacity};
    int64_t tile[8];
    return pto_tiling_choose(run, OPT_STRATEGY, &problem, tile, NULL);
}

static const pto_tiling tiling = {.struct_size = sizeof tiling,
                                  .id = "test.hostile-offers",
                                  .summary = "Offer what is not allowed",
                                  .options = PTO_LIST(pto_option, &way_option),
                                  .offer = offer};
static const pto_pass pass = {.struct_size = sizeof pass,
                              .id = "test.hostile-problem",
                              .summary = "Ask a strategy",
                              .scope = "function",
                              .consumes = "tensor/1",
                              .produces = "tensor/1",
                              .options = pass_options,
                              .run = run};
PTO_PLUGIN("test.hostile-tiling", "pass:test.hostile-problem tiling:test.hostile-offers", "", .version = "1.0.0",
           .license = "Apache-2.0", .passes = PTO_LIST(pto_pass, &pass), .tilings = PTO_LIST(pto_tiling, &tiling));
