/* pto.sink-loops: a loop over nests becomes a loop in each instance of one nest: one launch in the place of one for
 * each nest and iteration.
 *
 *     %r = for %i to 10 carry(%a = %x) {                  %r = forall (%j) to (4) out(%s = %x, %p = %e) {
 *       %p = forall (%j) to (4) { .. rows of %a .. }        for %i to 10 {
 *       %y = forall (%j) to (4) { .. rows of %p .. }  =>      .. rows of %s, stored to %p ..
 *       yield %y                                              .. rows of %p, stored to %s ..
 *     }                                                     }
 *                                                         }
 *
 * Where the body is one nest whose instances read of what is carried the window alone that they write, what is carried
 * stays in tiles, without a way through memory. Else it stays in memory: instances divide a dim along which all nests
 * work on rows of their own, or one instance does all. The schedule says of each such loop where it runs (decision
 * `loop`); of what stays in memory the cycles of an iteration decide. A nest that makes the same in each iteration is
 * made once, before the loop, where there is an iteration; what the body makes as a tensor of other dims is carried so.
 * Without an iteration the result is what the loop began with. Exact.
 *
 * Requires nests of tile ops on tensors, as pto.tile makes them. Leaves functions of the same kind. */
#include "sink_loops.h"

#define OPTIONS(X)                                                                                                \
    X(HOIST, BOOL, "hoist", .def = "true", .doc = "nests that make the same in each iteration run once",          \
      .example = "with: { hoist: false }")                                                                        \
    X(BODIES, BOOL, "bodies", .def = "true", .doc = "loops run in instances that keep what is carried in memory", \
      .example = "with: { bodies: false }")
PTO_OPTIONS(OPTIONS);

enum { FORM_BYTES = 256 };

/* Where the iterations run: the words of the decision. */
enum { LOOP_IN_NEST, LOOP_OF_LAUNCHES };
static const char *const loop_words[] = {"in-nest", "launches", NULL};

int sink_is_inside(pto_op op, pto_op around)
{
    while (PTO_SOME(op) && !pto_op_same(op, around)) op = pto_op_parent(op);
    return PTO_SOME(op);
}

int sink_has_iteration(const pto_run *run, pto_op loop)
{
    (void)run;
    const pto_expr from = pto_expr_of(loop, PTO_STR("from"), 0), to = pto_expr_of(loop, PTO_STR("to"), 0);
    const pto_expr more = pto_expr_sub(to, from);
    return PTO_SOME(more) && pto_expr_range(more, loop, NULL).lo >= 1;
}

static pto_status decide(pto_op loop, const char *limit, int64_t *out)
{
    const pto_decision d = {.struct_size = sizeof d, .count = 1, .name = "loop", .words = loop_words, .limit = limit};
    PTO_TRY(pto_decision_pinned(loop, &d, out));
    return pto_decision_made(loop, &d, out);
}

/* ---- what is carried stays in memory ---- */

/* What instances divide, in words. */
static void describe(const sink_body *b, char *text, size_t bytes)
{
    if (b->why_whole != NULL)
        (void)snprintf(text, bytes, "one instance, since %s", b->why_whole);
    else
        (void)snprintf(text, bytes, "instances of %lld along dim %d of %%%.*s", (long long)b->memories[0].block,
                       b->memories[0].dim, PTO_FMT(pto_value_name(pto_op_result(b->loop, 0))));
}

static pto_status sink_nests(const pto_run *run, pto_op loop, const char *why_not_tiles)
{
    sink_body b = {.run = run, .loop = loop};
    char form[FORM_BYTES];
    sink_body_match(&b);
    if (b.why != NULL || !pto_opt_bool(run, OPT_BODIES)) {
        pto_remark(loop, "pto.sink-loops/launches", "each iteration is launched: %s",
                   b.why != NULL && b.nest_count != 1 ? b.why : why_not_tiles);
        return PTO_OK;
    }
    sink_body_price(&b);
    describe(&b, form, sizeof form);
    const char *at = b.is_open ? " at extents of 256, one of the sizes that are tried" : "";
    int64_t where = b.is_better ? LOOP_IN_NEST : LOOP_OF_LAUNCHES;
    PTO_TRY(decide(loop, "cycles of an iteration", &where));
    if (where == LOOP_IN_NEST)
        pto_remark(loop, "pto.sink-loops/in-nest",
                   "runs in one nest (%s): %.0f cycles for an iteration, %.0f with a launch for each of %u nests%s",
                   form, b.in_nest, b.launches, b.nest_count, at);
    else
        pto_remark(loop, "pto.sink-loops/launches",
                   "each iteration is launched: %u nests take %.0f cycles, and %.0f in one (%s)%s", b.nest_count,
                   b.launches, b.in_nest, form, at);
    return where == LOOP_IN_NEST ? sink_body_apply(&b) : PTO_OK;
}

static pto_status sink_loop(const pto_run *run, pto_op loop)
{
    const char *why = NULL;
    if (pto_opt_bool(run, OPT_HOIST)) PTO_TRY(sink_hoist(run, loop));
    PTO_TRY(sink_retype(loop));
    sink_tiles *tiles = sink_tiles_match(run, loop, &why);
    if (why != NULL) return sink_nests(run, loop, why);
    int64_t where = LOOP_IN_NEST;
    PTO_TRY(decide(loop, "an instance reads of what is carried what it writes itself", &where));
    return where == LOOP_IN_NEST ? sink_tiles_apply(tiles) : PTO_OK;
}

static pto_status run_pass(const pto_run *run, pto_op function)
{
    uint32_t count = 0, capacity = 0;
    pto_op *loops = NULL;
    PTO_WALK(function, op)
    {
        if (!PTO_IS(op, FOR) || pto_attr_bool_of(op, PTO_STR("parallel"), 0)) continue;
        int is_in_nest = 0;
        for (pto_op at = pto_op_parent(op); PTO_SOME(at); at = pto_op_parent(at)) is_in_nest |= PTO_IS(at, FORALL);
        if (is_in_nest) continue;
        PTO_GROW(run, loops, count, capacity);
        loops[count++] = op;
    }
    while (count-- > 0) PTO_TRY(sink_loop(run, loops[count]));
    return PTO_OK;
}

static const pto_pass pass = {
    .struct_size = sizeof pass,
    .id = "pto.sink-loops",
    .summary = "Run loops over nests in the instances of one nest",
    .scope = "function",
    .consumes = "tile/1",
    .produces = "tile/1",
    .kinds = sink_kinds,
    .options = pass_options,
    .stats = sink_stats,
    .run = run_pass,
};
PTO_PLUGIN("pto.sink-loops", "pass:pto.sink-loops", "", .version = "0.1.0", .license = "Apache-2.0",
           .passes = PTO_LIST(pto_pass, &pass));
