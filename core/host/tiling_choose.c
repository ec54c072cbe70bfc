/* Asks a tiling strategy for candidates and takes the first that fits every memory space, or the sizes that the
 * schedule pins. */
#include "core/files/search_space.h"
#include "core/host/host_handle.h"
#include "core/host/tiling_problem.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { OFFERS_MAX = 256, TILE_SIZE_MAX = PTO_TILE_SIZE_MAX };

/* What the strategy sees: the problem with handles of its own run, and counted offers. */
typedef struct chooser {
    run_context *c, *inner; /* of the pass, of the strategy */
    const pto_tiling_problem *problem;
    uint32_t offered;
    bool chosen;
    search_space *space;           /* needs all offers, or NULL */
    uint32_t passed_over, fitting; /* offers that fit: to be left out, and seen so far */
    uint32_t ordinal;              /* of the chosen one */
    int64_t tile[TILING_DIMS_MAX];
    bool has_cost;
    double cost;
    /* The offer that needs least of the space it overflows, for the message. */
    int64_t least_tile[TILING_DIMS_MAX], least_needed, least_capacity;
    pto_space least_space;
} chooser;

static pto_space space_end(const chooser *k) { return role_names_count(context_names(k->c->ir), NAME_SPACE); }

/* The space that a tile overflows, with numbers; PTO_SPACE_NONE when it fits everywhere. */
static pto_space overflow_of(const chooser *k, const int64_t *tile, int64_t *needed, int64_t *capacity)
{
    const pto_tiling_problem *p = k->problem;
    for (pto_space s = 1; s < space_end(k); s++) {
        *needed = p->footprint(p->self, tile, s);
        *capacity = p->capacity(p->self, s);
        if (*needed > *capacity) return s;
    }
    return PTO_SPACE_NONE;
}

/* The space that the tile fills most, as "vec: 131072 of 188416 bytes"; empty when it needs none. */
static void put_limit(const chooser *k, const int64_t *tile, text_buffer *t)
{
    double most = 0.0;
    for (pto_space s = 1; s < space_end(k); s++) {
        const int64_t needed = k->problem->footprint(k->problem->self, tile, s);
        const int64_t capacity = k->problem->capacity(k->problem->self, s);
        if (needed <= 0 || capacity <= 0 || (double)needed / (double)capacity <= most) continue;
        most = (double)needed / (double)capacity;
        t->n = 0;
        text_printf(t, "%s: %" PRId64 " of %" PRId64 " bytes", space_name(k->c->ir, s), needed, capacity);
    }
}

static void add_offer(const chooser *k, const int64_t *tile, const double *cost)
{
    text_buffer limit;
    text_init(&limit);
    put_limit(k, tile, &limit);
    search_space_add_offer(k->space, tile, cost != NULL, cost != NULL ? *cost : 0.0, limit.n != 0 ? limit.p : NULL);
    text_fini(&limit);
}

static const char *dim_name(const pto_tiling_problem *p, uint32_t d)
{
    return p->dims[d]->name != NULL ? p->dims[d]->name : "?";
}

/* A size that covers a static extent need not be a multiple of the granule. */
static bool keeps_granule(const pto_tiling_dim *dim, int64_t size)
{
    return (dim->static_extent >= 0 && size >= dim->static_extent) || size % dim->granule == 0;
}

/* The largest size that is of use: a static extent, rounded up. */
static int64_t most_of(const pto_tiling_dim *dim)
{
    if (dim->static_extent < 0) return TILE_SIZE_MAX;
    if (dim->static_extent == 0) return dim->granule;
    return (dim->static_extent + dim->granule - 1) / dim->granule * dim->granule;
}

/* Whether an offer is one that the problem allows; reports when not. */
static bool check_offer(chooser *k, const int64_t *tile, const double *cost)
{
    for (uint32_t d = 0; d < k->problem->dim_count; d++) {
        const pto_tiling_dim *dim = k->problem->dims[d];
        if (tile[d] < 1 || tile[d] > most_of(dim)) {
            run_misuse(k->inner, &E1330, "offered %s = %" PRId64 ", which is not between 1 and %" PRId64 "%s",
                       dim_name(k->problem, d), tile[d], most_of(dim),
                       dim->static_extent >= 0 ? ", the whole extent" : "");
            return false;
        }
        if (keeps_granule(dim, tile[d])) continue;
        run_misuse(k->inner, &E1330, "offered %s = %" PRId64 ", which is not a multiple of %" PRId64,
                   dim_name(k->problem, d), tile[d], dim->granule);
        return false;
    }
    if (cost == NULL || isfinite(*cost)) return true;
    run_misuse(k->inner, &E1330, "offered a tile at a cost of %g", *cost);
    return false;
}

/* `cost` may be NULL. Returns whether more are needed. */
static bool take(chooser *k, const int64_t *tile, const double *cost)
{
    int64_t needed = 0, capacity = 0;
    if ((k->chosen && k->space == NULL) || k->inner->misused || k->offered >= OFFERS_MAX) return false;
    const uint32_t ordinal = k->offered++;
    if (!check_offer(k, tile, cost)) return false;
    const pto_space full = overflow_of(k, tile, &needed, &capacity);
    if (full == PTO_SPACE_NONE && k->space != NULL) add_offer(k, tile, cost);
    if (full == PTO_SPACE_NONE && (k->chosen || k->fitting++ < k->passed_over)) return true;
    if (full == PTO_SPACE_NONE) {
        memcpy(k->tile, tile, k->problem->dim_count * sizeof *tile);
        k->ordinal = ordinal;
        k->chosen = true;
        k->has_cost = cost != NULL;
        k->cost = cost != NULL ? *cost : 0.0;
        return k->space != NULL;
    }
    if (k->least_space == PTO_SPACE_NONE || needed < k->least_needed) {
        memcpy(k->least_tile, tile, k->problem->dim_count * sizeof *tile);
        k->least_needed = needed;
        k->least_capacity = capacity;
        k->least_space = full;
    }
    return k->offered < OFFERS_MAX;
}

static int32_t offer(void *self, const int64_t *tile) { return take(self, tile, NULL); }
static int32_t offer_priced(void *self, const int64_t *tile, double cost) { return take(self, tile, &cost); }

static void put_sizes(text_buffer *t, const pto_tiling_problem *p, const int64_t *tile)
{
    for (uint32_t d = 0; d < p->dim_count; d++)
        text_printf(t, "%s%s = %" PRId64, d == 0 ? "" : ", ", dim_name(p, d), tile[d]);
}

static void report_misfit(const chooser *k, op_id nest, const run_agent *strategy)
{
    run_context *c = k->c;
    text_buffer t;
    text_init(&t);
    text_printf(&t, "no tile of the %u that strategy `%s` offers fits: the smallest, ", k->offered, strategy->id);
    put_sizes(&t, k->problem, k->least_tile);
    text_printf(&t, ", needs %lld bytes of `%s`, which has %lld", (long long)k->least_needed,
                space_name(c->ir, k->least_space), (long long)k->least_capacity);
    const src_pos at = nest != 0 ? op_pos(c->m, nest) : c->request.agent->at;
    op_name_diag(c->diags, c->m, nest, DIAG_ERROR);
    diag_report(c->diags, DIAG_ERROR, at, E1331.code, (str){t.p, t.n});
    text_fini(&t);
    diag_note(c->diags, strategy->at, "the strategy is chosen here; give it smaller sizes, or another one");
}

/* ---- pinned sizes ---- */

static str label_of(run_context *c, op_id nest)
{
    return nest != 0 ? op_attr_str(c->m, nest, "label") : run_function_name(c, nest);
}

/* The largest legal size of dim `d` beside the other pinned ones; 0 when there is none. */
static int64_t largest_legal(const chooser *k, const int64_t *tile, uint32_t d)
{
    const int64_t granule = k->problem->dims[d]->granule;
    int64_t copy[TILING_DIMS_MAX], needed, capacity, good = 0, bad = tile[d] / granule + 1;
    memcpy(copy, tile, k->problem->dim_count * sizeof *tile);
    while (bad - good > 1) {
        const int64_t middle = good + (bad - good) / 2;
        copy[d] = middle * granule;
        if (overflow_of(k, copy, &needed, &capacity) == PTO_SPACE_NONE)
            good = middle;
        else
            bad = middle;
    }
    return good * granule;
}

static void refuse_misfit(const chooser *k, const int64_t *tile, src_pos at, pto_space full, int64_t needed,
                          int64_t capacity)
{
    run_context *c = k->c;
    const pto_tiling_problem *p = k->problem;
    text_buffer sizes, legal;
    text_init(&sizes);
    text_init(&legal);
    put_sizes(&sizes, p, tile);
    for (uint32_t d = 0; d < p->dim_count; d++) {
        const int64_t most = largest_legal(k, tile, d);
        if (most > 0) text_printf(&legal, "%s%" PRId64 " for %s", legal.n == 0 ? "" : ", or ", most, dim_name(p, d));
    }
    diag_error(c->diags, at, &E1804, "the pinned tile %s needs %" PRId64 " bytes of `%s`, which has %" PRId64, sizes.p,
               needed, space_name(c->ir, full), capacity);
    if (legal.n != 0)
        diag_note(c->diags, at, "the largest legal size, the others left alone, is %s", legal.p);
    else
        diag_note(c->diags, at, "no smaller size of one dim alone fits; make several smaller");
    text_fini(&sizes);
    text_fini(&legal);
}

static bool check_granules(const chooser *k, const int64_t *tile, src_pos at)
{
    for (uint32_t d = 0; d < k->problem->dim_count; d++) {
        const pto_tiling_dim *dim = k->problem->dims[d];
        if (keeps_granule(dim, tile[d])) continue;
        diag_error(k->c->diags, at, &E1804,
                   "the pinned tile has %s = %" PRId64 ", which must be a multiple of %" PRId64
                   ", or cover the whole extent",
                   dim_name(k->problem, d), tile[d], dim->granule);
        return false;
    }
    return true;
}

static schedule_answer pinned_tile(chooser *k, op_id nest, str path, const schedule_form *form)
{
    src_pos at = NO_POS;
    int64_t needed = 0, capacity = 0;
    const run_session_params *p = &k->c->session->params;
    int64_t tile[TILING_DIMS_MAX] = {0};
    const schedule_answer answer = schedule_find(p->schedule, path, "tile", form, tile, &at);
    if (answer != SCHEDULE_PINNED) return answer;
    if (p->choices != NULL) choices_add_pin(p->choices, run_function_name(k->c, nest), label_of(k->c, nest), at);
    if (check_granules(k, tile, at)) {
        memcpy(k->tile, tile, sizeof tile);
        const pto_space full = overflow_of(k, tile, &needed, &capacity);
        if (full == PTO_SPACE_NONE) return SCHEDULE_PINNED;
        refuse_misfit(k, tile, at, full, needed, capacity);
    }
    schedule_set_refused(p->schedule);
    return SCHEDULE_REFUSED;
}

static void record_tile(const chooser *k, str path, const schedule_form *form, const char *origin)
{
    text_buffer limit;
    text_init(&limit);
    put_limit(k, k->tile, &limit);
    const schedule_record r = {.at = path,
                               .name = "tile",
                               .form = *form,
                               .values = k->tile,
                               .origin = origin,
                               .limit = limit.n != 0 ? limit.p : NULL,
                               .cost = k->cost,
                               .has_cost = k->has_cost};
    schedule_record_decision(k->c->session->params.schedule, &r);
    text_fini(&limit);
}

/* ---- the strategy ---- */

/* All that fit were tried before: the first one again, for the error that it leads to. */
static pto_status go_back(const chooser *k, op_id nest, const run_agent *strategy)
{
    run_context *c = k->c;
    char text[256];
    const int n = snprintf(text, sizeof text, "strategy `%.100s` offers no further tile that fits; there were %" PRIu32,
                           strategy->id, k->fitting);
    op_name_diag(c->diags, c->m, nest, DIAG_REMARK);
    diag_report(c->diags, DIAG_REMARK, nest != 0 ? op_pos(c->m, nest) : strategy->at, E1332.code,
                (str){text, (size_t)n});
    choices_give_up(c->session->params.choices);
    return PTO_FAILED;
}

static pto_status ask_strategy(chooser *k, const run_agent *strategy, op_id nest)
{
    run_context *c = k->c;
    const run_request request = {.agent = strategy, .module = c->m, .unit = c->request.unit, .access = RUN_READS};
    if (c->session->params.choices != NULL && c->outer == NULL)
        k->passed_over = choices_next(c->session->params.choices, c->request.agent, run_function_name(c, nest),
                                      label_of(c, nest), CHOICE_ANY);
    const pto_run *inner = run_context_begin(c->session, &request);
    k->inner = run_of(inner);
    const pto_tiling_problem copy = tiling_problem_for(c, run_of(inner), k->problem);
    const pto_tiling_sink sink = {.struct_size = sizeof sink, .self = k, .offer = offer, .offer_priced = offer_priced};
    const pto_status returned = strategy->tiling->offer(inner, &copy, &sink);
    if (run_context_end(inner, returned).failed) return PTO_FAILED;
    if (k->offered == 0) {
        diag_error(c->diags, strategy->at, &E1330, "the tiling strategy `%s` of plugin `%s` offered nothing",
                   strategy->id, strategy->plugin);
        return PTO_FAILED;
    }
    if (k->chosen) return PTO_OK;
    if (k->passed_over != 0 && k->fitting != 0) return go_back(k, nest, strategy);
    report_misfit(k, nest, strategy);
    memcpy(k->tile, k->least_tile, sizeof k->tile);
    return PTO_FAILED;
}

/* Pinned sizes or those of the strategy, in k->tile; on failure those that do not fit, or zeros. */
static pto_status choose(chooser *k, const run_agent *strategy, op_id nest)
{
    schedule *s = k->c->session->params.schedule;
    /* What one strategy asks of another is not a decision yet. */
    if (s == NULL || nest == 0 || k->c->outer != NULL) return ask_strategy(k, strategy, nest);
    const char *names[TILING_DIMS_MAX];
    int64_t least[TILING_DIMS_MAX], most[TILING_DIMS_MAX];
    for (uint32_t d = 0; d < k->problem->dim_count; d++) {
        names[d] = dim_name(k->problem, d);
        least[d] = 1;
        most[d] = TILE_SIZE_MAX;
    }
    const schedule_form form = {.count = k->problem->dim_count, .keys = names, .min = least, .max = most};
    text_buffer path;
    text_init(&path);
    schedule_print_path(s, k->c->m, nest, &path);
    const str at = {path.p, path.n};
    const schedule_answer pinned = pinned_tile(k, nest, at, &form);
    k->space = schedule_space(s);
    pto_status result = pinned == SCHEDULE_REFUSED ? PTO_FAILED : PTO_OK;
    if (pinned == SCHEDULE_FREE) result = ask_strategy(k, strategy, nest);
    if (result == PTO_OK) record_tile(k, at, &form, strategy->id);
    text_fini(&path);
    return result;
}

pto_status host_tiling_choose(const pto_run *run, uint32_t option, const pto_tiling_problem *problem, int64_t *tile,
                              uint32_t *ordinal)
{
    run_context *c = run_of(run);
    if (!tiling_problem_check(c, problem)) return PTO_FAILED;
    const run_agent *strategy = run_strategy(c, option, "tiling strategy");
    if (strategy == NULL) return PTO_FAILED;
    chooser k = {.c = c, .problem = problem};
    const pto_status result = choose(&k, strategy, op_from(c, problem->nest));
    memcpy(tile, k.tile, problem->dim_count * sizeof *tile);
    if (ordinal != NULL) *ordinal = k.ordinal;
    return result;
}
