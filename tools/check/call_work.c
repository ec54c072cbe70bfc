#include "tools/check/call_work.h"

#include <math.h>

enum { PRODUCTS_PER_ELEMENT = 8, WORK_TOO_LARGE = 1 << 30 };

/* Elements of a tensor type, empty extents taken as 1; 0 of anything else, and where a symbol is bound inside of the
 * function. */
static uint64_t count_of_type(module *m, const expr_values *values, type_id type)
{
    const type_node *t = type_at(module_context(m), type);
    int64_t n = 1, extent;
    if (t->kind != TYPE_TENSOR && t->kind != TYPE_GM) return 0;
    for (uint32_t d = 0; d < t->rank; d++) {
        if (!expr_eval(module_context(m), t->dims[d], values, &extent) || extent < 0) return 0;
        /* Loops around an empty one run nevertheless. */
        if (__builtin_mul_overflow(n, extent > 0 ? extent : 1, &n) || n > WORK_TOO_LARGE) return WORK_TOO_LARGE;
    }
    return (uint64_t)n;
}

/* 0 when it is not known. */
static uint64_t extent_of_axis(module *m, const expr_values *values, type_id type, int64_t axis)
{
    const type_node *t = type_at(module_context(m), type);
    const int64_t d = axis < 0 ? axis + t->rank : axis;
    int64_t extent;
    if (d < 0 || d >= t->rank || !expr_eval(module_context(m), t->dims[d], values, &extent) || extent < 0) return 0;
    return extent < WORK_TOO_LARGE ? (uint64_t)extent : WORK_TOO_LARGE;
}

/* What an op makes while it is computed: products, which are cheaper than elements, and comparisons of each element
 * with each of its line, of which passes make elements. */
static uint64_t work_of_op(module *m, const expr_values *values, op_id o)
{
    const op_kind kind = op_kind_of(m, o);
    uint64_t n = 0;
    for (uint32_t i = 0; i < op_result_count(m, o); i++)
        n += count_of_type(m, values, value_type(m, op_result(m, o, i)));
    if (n == 0) return n;
    if (kind == OP_TENSOR_SORT || kind == OP_TENSOR_ARGSORT || kind == OP_TENSOR_TOPK) {
        const type_id x = value_type(m, op_operand(m, o, 0));
        const uint64_t line = extent_of_axis(m, values, x, op_attr_int(m, o, "axis", -1));
        const uint64_t pairs = count_of_type(m, values, x) * line;
        return n + (pairs < WORK_TOO_LARGE ? pairs : WORK_TOO_LARGE);
    }
    if (op_info_of(m, o)->space != ITER_MATMUL && kind != OP_TENSOR_CONV2D) return n;
    /* (m k) (k n) (m n) is the square of m n k; of windows it lacks the elements of one kernel. */
    const uint64_t a = count_of_type(m, values, value_type(m, op_operand(m, o, 0))),
                   b = count_of_type(m, values, value_type(m, op_operand(m, o, 1)));
    const double products = sqrt((double)a * (double)b * (double)n);
    return n + (uint64_t)products / PRODUCTS_PER_ELEMENT;
}

uint64_t call_work(module *m, op_id function, const expr_values *values)
{
    const block_id body = function_body(m, function);
    uint64_t n = 0;
    for (uint32_t i = 0; i < block_arg_count(m, body); i++)
        n += count_of_type(m, values, value_type(m, block_arg(m, body, i)));
    IR_WALK(m, o, function) n += work_of_op(m, values, o);
    return n;
}
