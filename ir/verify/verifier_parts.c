#include "ir/verify/verifier_parts.h"

#include "ir/verify/ranges.h"

#include <inttypes.h>

status check_index_count(const module *m, op_id o, const char *attr, uint32_t want)
{
    uint32_t have = op_index_count(m, o, attr);
    if (have == want) return OK;
    return op_error(m, o, &E0327, "has %" PRIu32 " expression%s in `%s` and needs %" PRIu32, have, have == 1 ? "" : "s",
                    attr, want);
}

static status check_one_valid(module *m, op_id o, type_id tile, expr_id e, uint32_t dim)
{
    static const char *const what[] = {"rows", "columns"};
    int64_t capacity;
    if (e == 0 || !expr_is_const(module_context(m), type_at(module_context(m), tile)->dims[dim], &capacity)) return OK;
    expr_range r = op_expr_range(m, o, e);
    if (r.lo != INT64_MIN && r.lo > capacity)
        return op_error(m, o, &E0224, "has %s valid %s, at least %" PRId64 ", in a %s with space for %" PRId64,
                        expr_words(m, o, e), what[dim], r.lo, type_words(m, tile), capacity);
    if (r.hi != INT64_MAX && r.hi < 0)
        return op_error(m, o, &E0224, "has %s valid %s, at most %" PRId64 "; they cannot be fewer than 0",
                        expr_words(m, o, e), what[dim], r.hi);
    return OK;
}

status check_valid_fits(module *m, op_id o, type_id tile, expr_id rows, expr_id columns)
{
    TRY(check_one_valid(m, o, tile, rows, 0));
    return check_one_valid(m, o, tile, columns, 1);
}

bool valid_same(module *m, op_id o, const expr_id a[2], const expr_id b[2])
{
    return op_expr_same(m, o, a[0], b[0]) && op_expr_same(m, o, a[1], b[1]);
}

bool types_agree(module *m, op_id at, type_id a, type_id b)
{
    if (a == b) return true;
    const type_node *x = type_at(module_context(m), a);
    const type_node *y = type_at(module_context(m), b);
    if (x->kind != y->kind || x->dtype != y->dtype || x->rank != y->rank || x->space != y->space ||
        x->layout != y->layout || x->format != y->format || x->has_strides != y->has_strides)
        return false;
    for (uint32_t i = 0; i < 3; i++)
        if (x->panel[i] != y->panel[i]) return false;
    for (uint32_t i = 0; i < x->rank; i++) {
        if (!op_expr_same(m, at, x->dims[i], y->dims[i])) return false;
        if (x->has_strides && !op_expr_same(m, at, x->strides[i], y->strides[i])) return false;
    }
    return true;
}
