/* A strategy that offers what another one chooses, and one that refers to itself. */
#include <pto/plugin.h>

static const char *const tilings[] = {"tiling", NULL};
#define OPTIONS(X)                                                                                        \
    X(INNER, PLUGIN, "inner", .def = "pto.tiling-heuristic", .choices = tilings, .doc = "the one to ask", \
      .example = "strategy: { use: test.tiling-wraps, with: { inner: pto.tiling-manual } }")
PTO_OPTIONS(OPTIONS);
#define CIRCLE(X) \
    X(SELF, PLUGIN, "inner", .def = "test.tiling-circle", .choices = tilings, .doc = "the same", .example = "-")
PTO_OPTIONS_AS(circle_options, CIRCLE);

static pto_status offer(const pto_run *run, const pto_tiling_problem *problem, const pto_tiling_sink *sink)
{
    int64_t tile[16];
    PTO_TRY(pto_tiling_choose(run, OPT_INNER, problem, tile, NULL));
    (void)sink->offer(sink->self, tile);
    return PTO_OK;
}

static const pto_tiling wraps = {.struct_size = sizeof wraps,
                                 .id = "test.tiling-wraps",
                                 .summary = "What another one chooses",
                                 .options = pass_options,
                                 .offer = offer};
static const pto_tiling circle = {.struct_size = sizeof circle,
                                  .id = "test.tiling-circle",
                                  .summary = "Refer to itself",
                                  .options = circle_options,
                                  .offer = offer};
PTO_PLUGIN("test.probe-wraps", "tiling:test.tiling-wraps tiling:test.tiling-circle", "", .version = "1.0.0",
           .license = "Apache-2.0", .tilings = PTO_LIST(pto_tiling, &wraps, &circle));
