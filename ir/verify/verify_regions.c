/* What a kernel states to read and write, against what its loads and stores touch. Launches are ordered by what is
 * stated, so an access beyond it is one that nothing orders. Refused is what is beyond in any case that the text
 * decides; the simulator looks at the rest. */
#include "ir/verify/ranges.h"
#include "ir/verify/verifier_parts.h"

#include <inttypes.h>

/* An access of an op, in the dims of the parameter itself. */
typedef struct access {
    module *m;
    op_id op, kernel;
    block_id body;
    const char *which; /* "reads", "writes" */
    uint32_t grid_rank, parameter;
    bool is_view; /* through another shape: there are no dims to compare */
    value_id memory;
    const expr_id *extent;
    uint32_t rank;
} access;

static op_id kernel_around(const module *m, op_id o)
{
    while (o != 0 && op_kind_of(m, o) != OP_BLOCK_KERNEL) o = op_parent(m, o);
    return o;
}

/* False: the memory is not a parameter of the kernel. */
static bool find_parameter(access *a)
{
    value_id v = a->memory;
    for (op_id def = value_op(a->m, v); def != 0; def = value_op(a->m, v)) {
        if (op_kind_of(a->m, def) != OP_VIEW) return false;
        a->is_view = true;
        v = op_operand(a->m, def, 0);
    }
    if (value_block(a->m, v) != a->body || value_index(a->m, v) < a->grid_rank) return false;
    a->parameter = value_index(a->m, v) - a->grid_rank;
    return true;
}

/* Regions count the grid indices as slots. */
static expr_id grid_value(void *self, uint32_t slot)
{
    const access *a = self;
    return slot < a->grid_rank ? expr_value(module_context(a->m), block_arg(a->m, a->body, slot)) : 0;
}

static expr_id region_expr(access *a, attr_id list, uint32_t dim)
{
    ir_context *c = module_context(a->m);
    const attr_node *n = attr_at(c, list);
    expr_id e = dim < n->count ? attr_as_expr(c, n->items[dim]) : 0;
    expr_substitution s = {.slot = grid_value, .self = a};
    return e == 0 ? 0 : expr_substitute(c, e, &s);
}

/* Whether `amount` is above 0 every time the op runs, or once. */
static bool is_positive(const access *a, expr_id amount)
{
    expr_range r = op_expr_range(a->m, a->op, amount);
    if (r.lo > r.hi) return false;
    return (r.lo != INT64_MIN && r.lo > 0) ||
           (r.hi != INT64_MAX && r.hi > 0 && op_expr_reaches_ends(a->m, a->op, amount));
}

/* Whether the access is beyond the box in this dim; `size`: of the access, a number above 0. */
static bool is_beyond(access *a, expr_id offset, expr_id size, expr_id first, expr_id count)
{
    ir_context *c = module_context(a->m);
    if (first == 0 || count == 0 || offset == 0 || size == 0) return false;
    expr_id before = expr_sub(c, first, offset), end = expr_add(c, offset, size), stated = expr_add(c, first, count);
    expr_id behind = end == 0 || stated == 0 ? 0 : expr_sub(c, end, stated);
    return (before != 0 && is_positive(a, before)) || (behind != 0 && is_positive(a, behind));
}

static expr_id extent_of(access *a, uint32_t d)
{
    return d + 1 == a->rank ? a->extent[1] : d + 2 == a->rank ? a->extent[0] : expr_const(module_context(a->m), 1);
}

/* The dim in which the access leaves the box of a region; the rank when it is not known to. */
static uint32_t find_beyond(access *a, const attr_node *region)
{
    for (uint32_t d = 0; d < a->rank; d++) {
        expr_id size = extent_of(a, d);
        if (size == 0 || op_expr_range(a->m, a->op, size).lo < 1) return a->rank;
    }
    for (uint32_t d = 0; d < a->rank; d++) {
        if (is_beyond(a, op_index_expr(a->m, a->op, "offsets", d), extent_of(a, d), region_expr(a, region->items[1], d),
                      region_expr(a, region->items[2], d)))
            return d;
    }
    return a->rank;
}

static status fail_parameter(const access *a)
{
    str name = op_attr_str(a->m, a->kernel, "name");
    value_id parameter = block_arg(a->m, a->body, a->grid_rank + a->parameter);
    status s = op_error(a->m, a->op, &E0340,
                        "%s %s%s%s, which @%.*s does not state in its `%s`; launches would not be ordered by it",
                        a->which, value_words(a->m, parameter), a->is_view ? " as " : "",
                        a->is_view ? value_words(a->m, a->memory) : "", (int)name.n, name.p, a->which);
    op_note(a->m, a->kernel, "state it here, or leave the list out to state all parameters of that direction");
    return s;
}

static status fail_box(access *a, const attr_node *region, uint32_t d)
{
    ir_context *c = module_context(a->m);
    str name = op_attr_str(a->m, a->kernel, "name");
    expr_id from = op_index_expr(a->m, a->op, "offsets", d), size = extent_of(a, d);
    expr_id first = region_expr(a, region->items[1], d), count = region_expr(a, region->items[2], d);
    status s = op_error(a->m, a->op, &E0340,
                        "%s %s from %s up to %s in dim %" PRIu32
                        ", of which @%.*s states %s up to %s in its `%s`; launches would not be ordered by the rest",
                        a->which, value_words(a->m, a->memory), expr_words(a->m, a->op, from),
                        expr_words(a->m, a->op, expr_add(c, from, size)), d, (int)name.n, name.p,
                        expr_words(a->m, a->op, first), expr_words(a->m, a->op, expr_add(c, first, count)), a->which);
    op_note(a->m, a->kernel, "state more here");
    return s;
}

static status check_stated(access *a, const attr_node *list)
{
    const ir_context *c = module_context(a->m);
    const attr_node *box = NULL;
    uint32_t count = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        const attr_node *region = attr_at(c, list->items[i]);
        if (region->kind != ATTR_LIST || (region->count != 1 && region->count != 3))
            return OK; /* reported at the kernel */
        if (attr_at(c, region->items[0])->i != (int64_t)a->parameter) continue;
        if (region->count == 1) return OK;
        box = region;
        count++;
    }
    if (count == 0) return fail_parameter(a);
    /* Several boxes may hold the access together. */
    if (count > 1 || a->is_view) return OK;
    uint32_t d = find_beyond(a, box);
    return d == a->rank ? OK : fail_box(a, box, d);
}

status verify_access(module *m, op_id o, value_id memory, bool is_write, bool transpose, const expr_id extent[2])
{
    const expr_id turned[2] = {extent[transpose ? 1 : 0], extent[transpose ? 0 : 1]};
    access a = {.m = m, .op = o, .kernel = kernel_around(m, o), .memory = memory, .extent = turned};
    if (a.kernel == 0) return OK;
    a.which = is_write ? "writes" : "reads";
    attr_id list = op_attr(m, a.kernel, a.which), grid = op_attr(m, a.kernel, "grid");
    if (list == 0 || grid == 0 || op_block_count(m, a.kernel) == 0) return OK;
    a.body = op_block_at(m, a.kernel, 0);
    a.grid_rank = attr_at(module_context(m), grid)->count;
    a.rank = type_of_value(m, memory)->rank;
    if (!find_parameter(&a) || op_is_never_reached(m, o)) return OK;
    return check_stated(&a, attr_at(module_context(m), list));
}
