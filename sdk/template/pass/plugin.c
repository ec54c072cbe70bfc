/* org.example.pass: sets how many buffers the loads inside loops rotate through.
 *
 *     %t = tile.load %x[..] {stages = 2}   =>   %t = tile.load %x[..] {stages = N}
 *
 * Exact: only the overlap of loads and computation changes.
 *
 * Requires tile ops. Leaves them as they are except for the attribute `stages`. */
#include <pto/plugin.h>

#define KINDS(X) X(LOAD, "tile.load") X(FOR, "for")
PTO_KINDS(KINDS);

#define OPTIONS(X)                                                                  \
    X(STAGES, I64, "stages", .def = "1", .min = "1", .max = "8", .unit = "buffers", \
      .doc = "buffers of each load in a loop", .example = "with: { stages: 1 }")
PTO_OPTIONS(OPTIONS);

#define STATS(X) X(CHANGED, "loads changed")
PTO_STATS(STATS);

static int is_in_loop(pto_op op)
{
    for (pto_op p = pto_op_parent(op); PTO_SOME(p); p = pto_op_parent(p)) {
        if (PTO_IS(p, FOR)) return 1;
    }
    return 0;
}

static pto_status set_stages(const pto_run *run, pto_op function)
{
    const int64_t stages = pto_opt_i64(run, OPT_STAGES);
    PTO_WALK(function, op)
    {
        if (!PTO_IS(op, LOAD) || !is_in_loop(op) || pto_attr_int_of(op, PTO_STR("stages"), 1) == stages) continue;
        PTO_TRY(pto_op_set_attr(op, PTO_STR("stages"), pto_attr_make_i64(run, stages)));
        pto_stat_add(run, STAT_CHANGED, 1);
    }
    return PTO_OK;
}

static const pto_pass pass = {
    .struct_size = sizeof pass,
    .id = "org.example.pass",
    .summary = "Set how many buffers the loads inside loops rotate through",
    .scope = "function",
    .consumes = "tile/1",
    .produces = "tile/1",
    .kinds = pass_kinds,
    .options = pass_options,
    .stats = pass_stats,
    .run = set_stages,
};
PTO_PLUGIN("org.example.pass", "pass:org.example.pass", "", .version = "0.1.0", .license = "MIT",
           .passes = PTO_LIST(pto_pass, &pass));
