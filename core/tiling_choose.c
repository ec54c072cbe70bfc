/* Asks a tiling strategy for candidates and takes the first that fits every memory space. */
#include "core/host_handle.h"

#include <string.h>

enum { OFFERS_MAX = 256, TILING_DIMS_MAX = 16 };

/* What the strategy sees: the problem with handles of its own run, and counted offers. */
typedef struct chooser {
    run_context *c; /* of the pass */
    const pto_tiling_problem *problem;
    uint32_t offered;
    bool chosen, wrong;
    uint32_t ordinal; /* of the chosen one */
    int64_t tile[TILING_DIMS_MAX];
    /* The offer that needs least of the space it overflows, for the message. */
    int64_t least_tile[TILING_DIMS_MAX], least_needed, least_capacity;
    pto_space least_space;
} chooser;

/* The space that a tile overflows, with numbers; PTO_SPACE_NONE when it fits everywhere. */
static pto_space overflow_of(const chooser *k, const int64_t *tile, int64_t *needed, int64_t *capacity)
{
    const pto_tiling_problem *p = k->problem;
    for (pto_space s = PTO_VEC; s < PTO_SPACE_COUNT; s++) {
        if (s == PTO_GM) continue;
        *needed = p->footprint(p->self, tile, s);
        *capacity = p->capacity(p->self, s);
        if (*needed > *capacity) return s;
    }
    return PTO_SPACE_NONE;
}

static int32_t offer(void *self, const int64_t *tile)
{
    chooser *k = self;
    int64_t needed = 0, capacity = 0;
    if (k->chosen || k->wrong || k->offered >= OFFERS_MAX) return 0;
    const uint32_t ordinal = k->offered++;
    for (uint32_t d = 0; d < k->problem->dim_count; d++) {
        if (tile[d] >= 1) continue;
        k->wrong = true;
        return 0;
    }
    const pto_space full = overflow_of(k, tile, &needed, &capacity);
    if (full == PTO_SPACE_NONE) {
        memcpy(k->tile, tile, k->problem->dim_count * sizeof *tile);
        k->ordinal = ordinal;
        k->chosen = true;
        return 0;
    }
    if (k->least_space == PTO_SPACE_NONE || needed < k->least_needed) {
        memcpy(k->least_tile, tile, k->problem->dim_count * sizeof *tile);
        k->least_needed = needed;
        k->least_capacity = capacity;
        k->least_space = full;
    }
    return k->offered < OFFERS_MAX;
}

static void report_misfit(const chooser *k, op_id nest, const run_agent *strategy)
{
    run_context *c = k->c;
    text_buffer t;
    text_init(&t);
    text_printf(&t, "no tile of the %u that strategy '%s' offers fits: the smallest, ", k->offered, strategy->id);
    for (uint32_t d = 0; d < k->problem->dim_count; d++) {
        const char *name = k->problem->dims[d]->name;
        text_printf(&t, "%s%s = %lld", d == 0 ? "" : ", ", name != NULL ? name : "?", (long long)k->least_tile[d]);
    }
    text_printf(&t, ", needs %lld bytes of `%s`, which has %lld", (long long)k->least_needed,
                space_name((space)k->least_space), (long long)k->least_capacity);
    const src_pos at = nest != 0 ? op_pos(c->m, nest) : c->request.agent->at;
    diag_report(c->diags, DIAG_ERROR, at, "pto.tile/does-not-fit", (str){t.p, t.n});
    text_fini(&t);
    diag_note(c->diags, strategy->at, "the strategy is chosen here; give it smaller sizes, or another one");
}

static bool check_problem(run_context *c, const pto_tiling_problem *p)
{
    if (PTO_HAS(p, capacity) && p->dim_count != 0 && p->dim_count <= TILING_DIMS_MAX && p->dims != NULL &&
        p->footprint != NULL && p->capacity != NULL && p->shape != NULL)
        return true;
    run_misuse(c, &E1324, "gave a tiling problem that is not complete, or of more than %d dims", TILING_DIMS_MAX);
    return false;
}

static pto_op op_for(run_context *outer, run_context *inner, pto_op h) { return op_handle(inner, op_from(outer, h)); }

/* The pass's problem with handles that belong to the strategy's run. */
static pto_tiling_problem problem_for(run_context *outer, run_context *inner, const pto_tiling_problem *p)
{
    pto_tiling_problem copy = *p;
    pto_tiling_dim *dims = arena_array(inner->scratch, p->dim_count, sizeof *dims);
    const pto_tiling_dim **list = arena_array(inner->scratch, p->dim_count, sizeof *list);
    for (uint32_t d = 0; d < p->dim_count; d++) {
        dims[d] = *p->dims[d];
        dims[d].extent = expr_handle(inner, expr_from(outer, p->dims[d]->extent));
        list[d] = &dims[d];
    }
    copy.struct_size = sizeof copy;
    copy.dims = list;
    copy.nest = op_for(outer, inner, p->nest);
    return copy;
}

static const run_agent *strategy_of(run_context *c, uint32_t option)
{
    const run_agent *who = c->request.agent;
    uint32_t count = 0;
    while (who->options != NULL && who->options[count] != NULL) count++;
    if (option < count && who->options[option]->type == PTO_OPT_PLUGIN && who->strategies != NULL &&
        who->strategies[option] != NULL && who->strategies[option]->tiling != NULL)
        return who->strategies[option];
    run_misuse(c, &E1323, "asked option %u for a tiling strategy, which it does not name", option);
    return NULL;
}

pto_status host_tiling_choose(const pto_run *run, uint32_t option, const pto_tiling_problem *problem, int64_t *tile,
                              uint32_t *ordinal)
{
    run_context *c = run_of(run);
    if (!check_problem(c, problem)) return PTO_FAILED;
    const run_agent *strategy = strategy_of(c, option);
    if (strategy == NULL) return PTO_FAILED;
    const op_id nest = op_from(c, problem->nest);
    const run_request request = {.agent = strategy, .module = c->m, .unit = c->request.unit, .access = RUN_READS};
    const pto_run *inner = run_context_begin(c->session, &request);
    const pto_tiling_problem copy = problem_for(c, run_of(inner), problem);
    chooser k = {.c = c, .problem = problem};
    const pto_tiling_sink sink = {.struct_size = sizeof sink, .self = &k, .offer = offer};
    const pto_status returned = strategy->tiling->offer(inner, &copy, &sink);
    if (run_context_end(inner, returned).failed) return PTO_FAILED;
    if (k.wrong || k.offered == 0) {
        diag_error(c->diags, strategy->at, &E1330, "the tiling strategy '%s' of plugin '%s' offered %s", strategy->id,
                   strategy->plugin, k.wrong ? "a size below 1" : "nothing");
        return PTO_FAILED;
    }
    if (!k.chosen) {
        report_misfit(&k, nest, strategy);
        memcpy(tile, k.least_tile, problem->dim_count * sizeof *tile);
        return PTO_FAILED;
    }
    memcpy(tile, k.tile, problem->dim_count * sizeof *tile);
    if (ordinal != NULL) *ordinal = k.ordinal;
    return PTO_OK;
}
