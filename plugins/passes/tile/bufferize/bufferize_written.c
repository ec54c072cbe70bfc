/* Outputs that a branch leaves unwritten. */
#include "bufferize.h"

#include <pto/relation.h>

#include <inttypes.h>

static int is_out(pto_op function, uint32_t i)
{
    const pto_attr modes = pto_op_attr(function, PTO_STR("params"));
    return PTO_SOME(modes) && i < pto_attr_count(modes) &&
           pto_str_is(pto_attr_str(pto_attr_item(modes, i, NULL)), "out");
}

/* How many elements the memory has at least. */
static int64_t least_count(pto_op function, pto_type type)
{
    int64_t count = 1;
    for (uint32_t d = 0; d < pto_type_rank(type); d++) {
        const pto_range extent = pto_expr_range(pto_type_dim(type, d), function, NULL);
        if (extent.lo <= 0 || __builtin_mul_overflow(count, extent.lo, &count)) return 0;
    }
    return count;
}

/* Ops that may write to the memory are appended to a list: all that use it but do not load. */
typedef struct writer_list {
    pto_op *ops;
    uint32_t count, capacity;
} writer_list;

static void find_writers(const pto_run *run, pto_value v, writer_list *list)
{
    PTO_EACH_USE(v, use) {
        if (PTO_IS(use.op, VIEW)) {
            find_writers(run, pto_op_result(use.op, 0), list);
        } else if (!PTO_IS(use.op, LOAD)) {
            PTO_GROW(run, list->ops, list->count, list->capacity);
            list->ops[list->count++] = use.op;
        }
    }
}

/* Whether both sides of the branch are taken for some values. Symbols may be known to the caller. */
static int is_open(pto_op branch)
{
    const pto_expr left = pto_expr_of(branch, PTO_STR("left"), 0), right = pto_expr_of(branch, PTO_STR("right"), 0);
    const pto_range r = pto_expr_range(pto_expr_sub(left, right), branch, NULL);
    if (!pto_expr_has_value(left) && !pto_expr_has_value(right)) return 0;
    switch (pto_relation_by_name(pto_attr_str_of(branch, PTO_STR("relation")))) {
    case PTO_RELATION_EQ:
    case PTO_RELATION_NE: return r.lo <= 0 && r.hi >= 0 && r.lo != r.hi;
    case PTO_RELATION_LT:
    case PTO_RELATION_GE: return r.lo < 0 && r.hi >= 0;
    case PTO_RELATION_LE:
    case PTO_RELATION_GT: return r.lo <= 0 && r.hi > 0;
    default: return 0;
    }
}

static int is_in_block(pto_op op, pto_block block)
{
    for (; PTO_SOME(op); op = pto_op_parent(op))
        if (pto_block_same(pto_op_block(op), block)) return 1;
    return 0;
}

/* All writers are in one branch of the function: each side must have one. */
static pto_status check_sides(const bufferizer *b, pto_value param, pto_op branch, const writer_list *writers)
{
    for (uint32_t side = 0; side < 2; side++) {
        uint32_t count = 0;
        for (uint32_t i = 0; i < writers->count && side < pto_op_block_count(branch); i++)
            count += is_in_block(writers->ops[i], pto_op_block_at(branch, side)) ? 1u : 0u;
        if (count != 0) continue;
        return pto_error(
            branch, "pto.bufferize/unwritten",
            "`out` parameter %%%.*s is not written when the condition of `if` %s: its %s writes to none of "
            "at least %" PRId64 " elements, and nothing outside does",
            PTO_FMT(pto_value_name(param)), side == 0 ? "holds" : "does not hold",
            side == 0 ? "first branch" : "`else` branch", least_count(b->function, pto_value_type(param)));
    }
    return PTO_OK;
}

pto_status bufferize_check_written(const bufferizer *b)
{
    const pto_block body = pto_body(b->function);
    for (uint32_t i = 0; i < pto_block_arg_count(body); i++) {
        const pto_value param = pto_block_arg(body, i);
        if (!is_out(b->function, i) || least_count(b->function, pto_value_type(param)) == 0) continue;
        writer_list writers = {0};
        find_writers(b->run, param, &writers);
        pto_op branch = pto_op_none(b->run);
        int is_one = writers.count != 0;
        for (uint32_t k = 0; k < writers.count; k++) {
            pto_op top = writers.ops[k];
            while (!pto_block_same(pto_op_block(top), body)) top = pto_op_parent(top);
            is_one = is_one && (k == 0 || pto_op_same(top, branch));
            branch = top;
        }
        if (is_one && PTO_IS(branch, IF) && is_open(branch)) PTO_TRY(check_sides(b, param, branch, &writers));
    }
    return PTO_OK;
}
