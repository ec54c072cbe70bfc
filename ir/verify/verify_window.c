/* Windows of loads and stores: a tile on the last two dims of memory, extent 1 in the dims before them. Memory with
 * one dim is one row. */
#include "ir/verify/ranges.h"
#include "ir/verify/verifier_parts.h"

#include <inttypes.h>

/* Numbers, of which nothing has to be computed. */
static bool is_inside(const ir_context *c, expr_id offset, expr_id extent, expr_id dim)
{
    int64_t from, size, whole;
    return extent != 0 && offset != 0 && expr_is_const(c, dim, &whole) && expr_is_const(c, extent, &size) &&
           expr_is_const(c, offset, &from) && from >= 0 && size >= 0 && from <= whole && size <= whole - from;
}

status verify_window_dim(module *m, op_id o, uint32_t index, expr_id offset, expr_id extent, expr_id dim)
{
    ir_context *c = module_context(m);
    if (is_inside(c, offset, extent, dim)) return OK;
    expr_range size = op_expr_range(m, o, extent);
    if (size.lo < 1) return OK;
    expr_range start = op_expr_range(m, o, offset);
    if (start.lo > start.hi || size.lo > size.hi) return OK;
    if (start.hi != INT64_MAX && start.hi < 0 && !op_is_never_reached(m, o))
        return op_error(m, o, &E0225, "starts at %s, at most %" PRId64 ", in dim %" PRIu32 "; indices start at 0",
                        expr_words(m, o, offset), start.hi, index);
    expr_id end = expr_add(c, offset, extent);
    expr_id over = end == 0 ? 0 : expr_sub(c, end, dim);
    if (over == 0) return OK;
    expr_range excess = op_expr_range(m, o, over);
    bool always = excess.lo != INT64_MIN && excess.lo > 0;
    bool once = excess.hi > 0 && excess.hi != INT64_MAX && size.lo == size.hi && op_expr_reaches_ends(m, o, over);
    if ((!always && !once) || op_is_never_reached(m, o)) return OK;
    const char *how = excess.lo == excess.hi ? "" : always ? "at least " : "up to ";
    return op_error(m, o, &E0225, "reaches %s, %s%" PRId64 " beyond dim %" PRIu32 " of extent %s",
                    expr_words(m, o, end), how, always ? excess.lo : excess.hi, index, expr_words(m, o, dim));
}

status verify_window(module *m, op_id o, const type_node *memory, bool transpose, const expr_id extent[2])
{
    ir_context *c = module_context(m);
    uint32_t rank = memory->rank;
    uint32_t offsets = op_index_count(m, o, "offsets");
    if (offsets != rank)
        return op_error(m, o, &E0226, "has %" PRIu32 " offset%s into memory with %" PRIu32 " dim%s", offsets,
                        offsets == 1 ? "" : "s", rank, rank == 1 ? "" : "s");
    expr_id one = expr_const(c, 1);
    expr_id rows = extent[transpose ? 1 : 0], columns = extent[transpose ? 0 : 1];
    if (rank < 2 && rows != 0 && op_expr_range(m, o, rows).lo > 1)
        return op_error(m, o, &E0226, "covers %s rows of memory with %" PRIu32 " dim%s, which has one row",
                        expr_words(m, o, rows), rank, rank == 1 ? "" : "s");
    for (uint32_t i = 0; i < rank; i++) {
        expr_id size = i + 1 == rank ? columns : i + 2 == rank ? rows : one;
        if (size == 0) continue;
        TRY(verify_window_dim(m, o, i, op_index_expr(m, o, "offsets", i), size, memory->dims[i]));
    }
    return OK;
}
