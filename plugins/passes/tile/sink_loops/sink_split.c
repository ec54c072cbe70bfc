/* What instances of the new nest may divide: a dim of each tensor that the loop writes to, so that all that is read and
 * written of it by an index of each nest's grid lies in a part of it that belongs to that index.
 *
 * Parts of a tensor are counted in elements where it is divided along its first dim, so that they stay parts when it is
 * seen with other dims, and else in rows of the dim. How much of its tensors an index of a nest covers is a ratio to
 * what an index of the first nest does. */
#include "sink_loops.h"

static const int64_t part_max = (int64_t)1 << 30;

static pto_value index_of(const sink_nest *n) { return pto_block_arg(pto_body(n->op), (uint32_t)n->index); }

static pto_value memory_of(pto_op access)
{
    return pto_op_operand(access, PTO_IS(access, STORE) ? pto_op_operand_count(access) - 1 : 0);
}

/* ---- ratios ---- */

static int is_known(sink_ratio r) { return r.den != 0; }

/* None where the numbers are too large. */
static sink_ratio ratio_of(int64_t num, int64_t den)
{
    const int64_t by = num > 0 && den > 0 ? pto_gcd(num, den) : 1;
    const sink_ratio r = {num / by, den / by};
    return num < 1 || den < 1 || r.num > part_max || r.den > part_max ? (sink_ratio){0, 0} : r;
}

static sink_ratio divided(int64_t by_index, sink_ratio by) { return ratio_of(by_index * by.den, by.num); }

static int is_product(int64_t by_index, sink_ratio a, sink_ratio b)
{
    const sink_ratio want = divided(by_index, a);
    return is_known(want) && want.num == b.num && want.den == b.den;
}

/* ---- one access ---- */

/* Elements of an index of the first dim; 0: not a number. */
static int64_t inner_elements(pto_type type)
{
    int64_t all = 1, n = 0;
    for (uint32_t d = 1; d < pto_type_rank(type); d++) {
        if (!pto_expr_is_const(pto_type_dim(type, d), &n) || n < 1 || all > part_max / n) return 0;
        all *= n;
    }
    return all;
}

/* In what parts of the memory are counted, by an index of dim `dim` of it seen as `type`; 0: they cannot be. */
static int64_t unit_of(const sink_memory *m, pto_type type, int32_t dim)
{
    const int64_t own = inner_elements(m->type), seen = inner_elements(type);
    if (dim == 0 && own != 0) return seen;
    return pto_type_same(type, m->type) ? 1 : 0;
}

/* The dim of the tensor that the nest's index walks along in the access, with the step; -1: none. */
static int32_t dim_along(const sink_nest *n, pto_op access, int64_t *step)
{
    for (uint32_t d = 0; d < pto_expr_count_of(access, PTO_STR("offsets")); d++) {
        *step = window_step_along(pto_expr_of(access, PTO_STR("offsets"), d), index_of(n));
        if (*step != 0) return *step <= part_max && window_extent(access, d) <= *step ? (int32_t)d : -1;
    }
    return -1;
}

/* The index of the nest that walks along a dim of the tensor; -1: none. */
static int32_t index_along(const sink_nest *n, pto_op access, uint32_t dim)
{
    for (uint32_t i = 0; i < pto_expr_count_of(n->op, PTO_STR("to")); i++)
        if (window_step_along(pto_expr_of(access, PTO_STR("offsets"), dim), pto_block_arg(pto_body(n->op), i)) != 0)
            return (int32_t)i;
    return -1;
}

/* Parts of the memory by an index of the nest, against what is known of both; 0: they do not fit. */
static int set_parts(sink_nest *n, sink_memory *m, int64_t by_index, int *has_changed)
{
    if (is_known(n->ratio) && is_known(m->part)) return is_product(by_index, n->ratio, m->part);
    if (!is_known(n->ratio) && !is_known(m->part)) return 1;
    sink_ratio *unknown = is_known(n->ratio) ? &m->part : &n->ratio;
    *unknown = divided(by_index, is_known(n->ratio) ? n->ratio : m->part);
    *has_changed = 1;
    return is_known(*unknown);
}

/* What an access says of its nest and its tensor; 0: they do not fit. */
static int visit_window(sink_body *b, sink_nest *n, const sink_name *name, pto_op op, int *has_changed)
{
    sink_memory *m = &b->memories[name->memory];
    const pto_type type = pto_value_type(name->value);
    int64_t step = 0;
    if (n->index < 0 && m->dim < 0) return 1;
    if (n->index < 0) {
        n->index = index_along(n, op, (uint32_t)m->dim);
        *has_changed = 1;
        if (n->index < 0) return 0;
    }
    const int32_t dim = dim_along(n, op, &step);
    if (dim < 0 || (m->dim >= 0 && m->dim != dim)) return 0;
    const int64_t unit = unit_of(m, type, dim);
    if (unit == 0 || step > part_max / unit) return 0;
    if (m->dim < 0) *has_changed = 1;
    m->dim = dim;
    n->step = step;
    n->extent = pto_type_dim(type, (uint32_t)dim);
    return set_parts(n, m, step * unit, has_changed);
}

static int visit_nest(sink_body *b, sink_nest *n, int *has_changed)
{
    PTO_WALK(n->op, op)
    {
        for (uint32_t k = 0; k < pto_op_operand_count(op); k++) {
            const sink_name *name = sink_body_find(b, pto_op_operand(op, k));
            if (name == NULL) continue;
            if ((!PTO_IS(op, LOAD) && !PTO_IS(op, STORE)) || !pto_value_same(memory_of(op), name->value) ||
                !visit_window(b, n, name, op, has_changed))
                return 0;
        }
    }
    return 1;
}

/* ---- all of them ---- */

/* A tensor and what it becomes are divided alike. */
static int visit_homes(sink_body *b, int *has_changed)
{
    for (uint32_t i = 0; i < b->memory_count; i++) {
        sink_memory *m = &b->memories[i], *home = m->home >= 0 ? &b->memories[m->home] : m;
        sink_memory *from = is_known(m->part) ? m : home, *to = is_known(m->part) ? home : m;
        if (m->home < 0 || !is_known(from->part)) continue;
        if (unit_of(to, from->type, from->dim) == 0 || unit_of(from, to->type, from->dim) == 0) return 0;
        if (to->dim < 0) {
            to->dim = from->dim;
            to->part = from->part;
            *has_changed = 1;
        }
        if (to->dim != from->dim ||
            (is_known(to->part) && !is_product(to->part.num, (sink_ratio){to->part.den, 1}, from->part)))
            return 0;
    }
    return 1;
}

/* Whether instances can take over an index that the nest reads as a number, too. */
static int has_free_index(const sink_nest *n)
{
    if (n->share == 1) return 1;
    PTO_EACH_USE(index_of(n), use) {
        if (use.slot < pto_op_operand_count(use.op)) return 0;
    }
    return 1;
}

/* How many indices of each nest an instance takes: the fewest that make as much for all. */
static int find_shares(sink_body *b)
{
    int64_t den = 1, all = 1;
    for (uint32_t i = 0; i < b->nest_count; i++) {
        const sink_ratio r = b->nests[i].ratio;
        if (b->nests[i].index < 0 || !is_known(r)) return 0;
        den *= r.den / pto_gcd(den, r.den);
        if (den > part_max) return 0;
    }
    for (uint32_t i = 0; i < b->nest_count; i++) {
        const int64_t own = b->nests[i].ratio.num * (den / b->nests[i].ratio.den);
        if (own > part_max) return 0;
        all *= own / pto_gcd(all, own);
        if (all > part_max) return 0;
    }
    for (uint32_t i = 0; i < b->nest_count; i++) {
        b->nests[i].share = all / (b->nests[i].ratio.num * (den / b->nests[i].ratio.den));
        if (!has_free_index(&b->nests[i])) return 0;
    }
    for (uint32_t i = 0; i < b->memory_count; i++) {
        sink_memory *m = &b->memories[i];
        if (!is_known(m->part)) return 0;
        const sink_ratio rows = ratio_of(m->part.num, m->part.den * unit_of(m, m->type, m->dim));
        if (!is_known(rows) || rows.num > part_max / all * den || (rows.num * all) % (rows.den * den) != 0) return 0;
        m->block = rows.num * all / (rows.den * den);
    }
    return 1;
}

/* Whether the instances are as many for each nest and each tensor. */
static int find_instances(sink_body *b)
{
    for (uint32_t i = 0; i < b->nest_count; i++) {
        const sink_nest *n = &b->nests[i];
        const pto_expr steps = pto_expr_ceildiv(n->extent, pto_expr_const(b->run, n->step));
        if (n->step > part_max / n->share ||
            !pto_expr_equal(pto_expr_of(n->op, PTO_STR("to"), (uint32_t)n->index), steps))
            return 0;
        const pto_expr all = pto_expr_ceildiv(n->extent, pto_expr_const(b->run, n->step * n->share));
        if (i == 0) b->instances = all;
        if (!pto_expr_equal(all, b->instances)) return 0;
    }
    for (uint32_t i = 0; i < b->memory_count; i++) {
        const sink_memory *m = &b->memories[i];
        const pto_expr extent = pto_type_dim(m->type, (uint32_t)m->dim);
        if (!pto_expr_equal(pto_expr_ceildiv(extent, pto_expr_const(b->run, m->block)), b->instances)) return 0;
    }
    return 1;
}

/* Divides along the given index of the first nest, and along what follows from it. */
static int split_along(sink_body *b, int32_t index)
{
    int has_changed = 1;
    for (uint32_t i = 0; i < b->memory_count; i++) {
        b->memories[i].dim = -1;
        b->memories[i].part = (sink_ratio){0, 0};
    }
    for (uint32_t i = 0; i < b->nest_count; i++) {
        b->nests[i].index = i == 0 ? index : -1;
        b->nests[i].ratio = i == 0 ? (sink_ratio){1, 1} : (sink_ratio){0, 0};
    }
    while (has_changed) {
        has_changed = 0;
        for (uint32_t i = 0; i < b->nest_count; i++)
            if (!visit_nest(b, &b->nests[i], &has_changed)) return 0;
        if (!visit_homes(b, &has_changed)) return 0;
    }
    return find_shares(b) && find_instances(b);
}

void sink_body_split(sink_body *b)
{
    if (b->why != NULL) return;
    const uint32_t dims = pto_expr_count_of(b->nests[0].op, PTO_STR("to"));
    for (uint32_t i = 0; i < dims; i++)
        if (split_along(b, (int32_t)i)) return;
    b->why_whole = "no dim divides what the nests read and write";
    b->instances = pto_expr_const(b->run, 1);
    for (uint32_t i = 0; i < b->nest_count; i++) {
        b->nests[i].index = -1;
        b->nests[i].share = 1;
    }
}

int sink_body_is_single(const sink_nest *n)
{
    int64_t extent = 0;
    if (n->share != 1) return 0;
    for (uint32_t i = 0; i < pto_expr_count_of(n->op, PTO_STR("to")); i++)
        if ((int32_t)i != n->index &&
            (!pto_expr_is_const(pto_expr_of(n->op, PTO_STR("to"), i), &extent) || extent != 1))
            return 0;
    return 1;
}
