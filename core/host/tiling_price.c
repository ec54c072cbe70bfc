/* Asks a cost model what sizes of tiles cost, and checks what it says. */
#include "core/host/tiling_problem.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* What is wrong with a dim; NULL when nothing is. */
static const char *fault_of(const pto_tiling_dim *dim)
{
    if (dim == NULL || !PTO_HAS(dim, granule)) return "is not complete";
    if (dim->name == NULL || *dim->name == '\0' || !str_is_plain_line(str_from(dim->name))) return "has no plain name";
    if (dim->kind != PTO_PARALLEL && dim->kind != PTO_REDUCE) return "is neither parallel nor reduced";
    if (dim->static_extent < -1 || dim->static_extent > PTO_TILING_EXTENT_MAX) return "has an impossible extent";
    if (dim->granule < 1 || dim->granule > PTO_TILE_SIZE_MAX) return "has an impossible granule";
    return NULL;
}

bool tiling_problem_check(run_context *c, const pto_tiling_problem *p)
{
    if (!PTO_HAS(p, capacity) || p->dim_count == 0 || p->dim_count > TILING_DIMS_MAX || p->dims == NULL ||
        p->footprint == NULL || p->capacity == NULL || p->shape == NULL) {
        run_misuse(c, &E1324, "gave a tiling problem that is not complete, or of more than %d dims", TILING_DIMS_MAX);
        return false;
    }
    for (uint32_t d = 0; d < p->dim_count; d++) {
        const pto_tiling_dim *dim = p->dims[d];
        const char *fault = fault_of(dim);
        if (fault == NULL) continue;
        const bool is_whole = dim != NULL && PTO_HAS(dim, granule);
        run_misuse(c, &E1324, "gave a tiling problem whose dim %u %s (extent %" PRId64 ", granule %" PRId64 ")", d,
                   fault, is_whole ? dim->static_extent : 0, is_whole ? dim->granule : 0);
        return false;
    }
    if (!PTO_HAS(p, outer_instances) || p->outer_instances >= -1) return true;
    run_misuse(c, &E1324, "gave a tiling problem that is walked %" PRId64 " times", p->outer_instances);
    return false;
}

static pto_op op_for(run_context *outer, run_context *inner, pto_op h) { return op_handle(inner, op_from(outer, h)); }

pto_tiling_problem tiling_problem_for(run_context *outer, run_context *inner, const pto_tiling_problem *p)
{
    pto_tiling_problem copy = {0};
    memcpy(&copy, p, p->struct_size < sizeof copy ? p->struct_size : sizeof copy);
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

/* Models divide by sizes. */
static bool check_sizes(run_context *c, const pto_tiling_problem *p, uint32_t count, const int64_t *tiles)
{
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t d = 0; d < p->dim_count; d++) {
            const int64_t size = tiles[(size_t)i * p->dim_count + d];
            if (size >= 1) continue;
            run_misuse(c, &E1324, "asked what a tile with %s = %" PRId64 " costs; sizes are at least 1",
                       p->dims[d]->name, size);
            return false;
        }
    return true;
}

pto_status host_tiling_price(const pto_run *run, uint32_t option, const pto_tiling_problem *problem, uint32_t count,
                             const int64_t *tiles, double *costs)
{
    run_context *c = run_of(run);
    if (!tiling_problem_check(c, problem) || !check_sizes(c, problem, count, tiles)) return PTO_FAILED;
    const run_agent *model = run_strategy(c, option, "cost model");
    if (model == NULL) return PTO_FAILED;
    const run_request request = {.agent = model, .module = c->m, .unit = c->request.unit, .access = RUN_READS};
    const pto_run *inner = run_context_begin(c->session, &request);
    const pto_tiling_problem copy = tiling_problem_for(c, run_of(inner), problem);
    /* What the model leaves out has not been priced. */
    for (uint32_t i = 0; i < count; i++) costs[i] = (double)NAN;
    const pto_status returned = model->cost->price(inner, &copy, count, tiles, costs);
    for (uint32_t i = 0; returned >= 0 && i < count; i++)
        if (!isfinite(costs[i]) || costs[i] < 0.0)
            run_misuse(run_of(inner), &E1333,
                       "returned the cost %g for tile %" PRIu32 " of %" PRIu32 "; costs are finite and not negative",
                       costs[i], i + 1, count);
    return run_context_end(inner, returned).failed ? PTO_FAILED : PTO_OK;
}
