#include "ir/op_space.h"

#include <string.h>

static const type_node *operand_type(const module *m, op_id o, uint32_t i)
{
    return type_at(module_context(m), value_type(m, op_operand(m, o, i)));
}

static const type_node *result_type(const module *m, op_id o)
{
    return type_at(module_context(m), value_type(m, op_result(m, o, 0)));
}

static bool is_one(const module *m, expr_id e)
{
    int64_t v;
    return expr_is_const(module_context(m), e, &v) && v == 1;
}

/* Every dim of the result is one of the space, parallel. */
static void space_of_result(const module *m, op_id o, iteration *it)
{
    const type_node *r = result_type(m, o);
    it->dim_count = it->result_rank = r->rank;
    for (uint32_t d = 0; d < r->rank; d++) {
        it->extent[d] = r->dims[d];
        it->kind[d] = ITERATION_PARALLEL;
        it->result_dim[d] = (int8_t)d;
    }
}

/* numpy broadcasting: aligned at the end, extent 1 against another extent does not move. */
static void map_broadcast(const module *m, op_id o, uint32_t operand, iteration *it)
{
    const type_node *t = operand_type(m, o, operand);
    uint32_t lead = it->result_rank - t->rank;
    it->operand_rank[operand] = t->rank;
    for (uint32_t d = 0; d < t->rank; d++) {
        bool repeated = is_one(m, t->dims[d]) && !is_one(m, it->extent[lead + d]);
        it->operand_dim[operand][d] = repeated ? -1 : (int8_t)(lead + d);
    }
}

static status elementwise_space(const module *m, op_id o, iteration *it)
{
    it->operand_count = op_value_operand_count(m, o);
    if (it->operand_count > ITERATION_MAX_OPERANDS) return FAILED;
    space_of_result(m, o, it);
    for (uint32_t i = 0; i < it->operand_count; i++) {
        if (operand_type(m, o, i)->rank > it->result_rank) return FAILED;
        map_broadcast(m, o, i, it);
    }
    return OK;
}

static status reduce_space(const module *m, op_id o, iteration *it)
{
    const ir_context *c = module_context(m);
    const type_node *x = operand_type(m, o, 0);
    attr_id axes = op_attr(m, o, "axis");
    bool reduced[ITERATION_MAX_DIMS] = {false};
    uint32_t count = attr_at(c, axes)->kind == ATTR_LIST ? attr_at(c, axes)->count : 1;
    for (uint32_t i = 0; i < count; i++) {
        const attr_node *n = attr_at(c, attr_at(c, axes)->kind == ATTR_LIST ? attr_at(c, axes)->items[i] : axes);
        int64_t axis = n->kind != ATTR_INT ? -1 : n->i < 0 ? n->i + x->rank : n->i;
        if (axis < 0 || axis >= x->rank) return FAILED;
        reduced[axis] = true;
    }
    bool keep = op_attr_int(m, o, "keepdim", 1) != 0;
    it->dim_count = it->operand_rank[0] = x->rank;
    it->operand_count = 1;
    for (uint32_t d = 0; d < x->rank; d++) {
        it->extent[d] = x->dims[d];
        it->kind[d] = reduced[d] ? ITERATION_REDUCE : ITERATION_PARALLEL;
        it->operand_dim[0][d] = (int8_t)d;
        if (!reduced[d])
            it->result_dim[it->result_rank++] = (int8_t)d;
        else if (keep)
            it->result_dim[it->result_rank++] = -1;
    }
    return OK;
}

/* Of matrices, and nothing after the sum: pto.decompose-matmul makes others of that form. */
static status matmul_space(const module *m, op_id o, iteration *it)
{
    const type_node *r = result_type(m, o);
    if (r->rank < 2 || r->rank + 1 > ITERATION_MAX_DIMS) return FAILED;
    if (op_value_operand_count(m, o) != 2 || str_is(op_attr_str(m, o, "activation"), "relu")) return FAILED;
    static const char *const flags[] = {"transpose_a", "transpose_b"};
    int8_t rows = (int8_t)(r->rank - 2), columns = (int8_t)(r->rank - 1), sum = (int8_t)r->rank;
    space_of_result(m, o, it);
    it->operand_count = 2;
    for (uint32_t i = 0; i < 2; i++) {
        const type_node *t = operand_type(m, o, i);
        if (t->rank < 2 || t->rank > r->rank) return FAILED;
        bool turned = op_attr_int(m, o, flags[i], 0) != 0;
        int8_t first = i == 0 ? rows : sum, second = i == 0 ? sum : columns;
        map_broadcast(m, o, i, it);
        it->operand_dim[i][t->rank - 2] = turned ? second : first;
        it->operand_dim[i][t->rank - 1] = turned ? first : second;
        if (i == 0) it->extent[it->dim_count] = t->dims[t->rank - (turned ? 2 : 1)];
    }
    it->kind[it->dim_count++] = ITERATION_REDUCE;
    return OK;
}

static status transpose_space(const module *m, op_id o, iteration *it)
{
    const ir_context *c = module_context(m);
    const attr_node *perm = attr_at(c, op_attr(m, o, "perm"));
    space_of_result(m, o, it);
    it->operand_count = 1;
    it->operand_rank[0] = it->result_rank;
    for (uint32_t d = 0; d < it->result_rank; d++) {
        const attr_node *n = perm->kind == ATTR_LIST ? (d < perm->count ? attr_at(c, perm->items[d]) : NULL) : perm;
        if (n == NULL || n->kind != ATTR_INT || n->i < 0 || n->i >= it->result_rank) return FAILED;
        it->operand_dim[0][n->i] = (int8_t)d;
    }
    return OK;
}

/* Dims of extent 1 may come and go; all others must stay, in order. */
static status reshape_space(const module *m, op_id o, iteration *it)
{
    const type_node *x = operand_type(m, o, 0);
    space_of_result(m, o, it);
    it->operand_count = 1;
    it->operand_rank[0] = x->rank;
    uint32_t next = 0;
    for (uint32_t d = 0; d < x->rank; d++) {
        it->operand_dim[0][d] = -1;
        if (is_one(m, x->dims[d])) continue;
        while (next < it->result_rank && is_one(m, it->extent[next])) next++;
        if (next == it->result_rank || it->extent[next] != x->dims[d]) return FAILED;
        it->operand_dim[0][d] = (int8_t)next++;
    }
    while (next < it->result_rank && is_one(m, it->extent[next])) next++;
    return next == it->result_rank ? OK : FAILED;
}

/* Operand `i`, with all dims of the space: index + offset. */
static void map_shifted(const module *m, op_id o, uint32_t i, const expr_id *offset, iteration *it)
{
    it->operand_rank[i] = operand_type(m, o, i)->rank;
    for (uint32_t d = 0; d < it->operand_rank[i]; d++) {
        it->operand_dim[i][d] = (int8_t)d;
        if (offset != NULL) it->operand_offset[i][d] = offset[d];
    }
}

/* The operand from an index on, in steps: a view as it says, a flip from the last index back. */
static void window_space(const module *m, op_id o, iteration *it)
{
    ir_context *c = module_context(m);
    const bool flips = op_kind_of(m, o) == OP_TENSOR_FLIP;
    const uint32_t rank = operand_type(m, o, 0)->rank;
    const attr_id list = op_attr(m, o, flips ? "axis" : "strides");
    const uint32_t count = list == 0 ? 0 : attr_at(c, list)->kind == ATTR_LIST ? attr_at(c, list)->count : 1;
    space_of_result(m, o, it);
    it->operand_count = 1;
    map_shifted(m, o, 0, NULL, it);
    for (uint32_t d = 0; d < rank && !flips; d++) it->operand_offset[0][d] = op_index_expr(m, o, "offsets", d);
    for (uint32_t i = 0; i < count; i++) {
        const int64_t n = attr_at(c, attr_at(c, list)->kind == ATTR_LIST ? attr_at(c, list)->items[i] : list)->i;
        const uint32_t d = !flips ? i : (uint32_t)(n < 0 ? n + rank : n);
        it->operand_step[0][d] = flips ? -1 : n;
        if (flips) it->operand_offset[0][d] = expr_sub(c, it->extent[d], expr_const(c, 1));
    }
}

/* Operands with windows of the result, of which they start at minus their offset. */
static status parts_space(const module *m, op_id o, iteration *it)
{
    ir_context *c = module_context(m);
    const expr_id zero = expr_const(c, 0);
    expr_id offset[ITERATION_MAX_DIMS] = {0};
    const uint32_t count = op_value_operand_count(m, o);
    if (count > ITERATION_MAX_OPERANDS) return FAILED;
    space_of_result(m, o, it);
    it->operand_count = count;
    if (op_kind_of(m, o) != OP_TENSOR_CONCAT) {
        const char *const start = op_kind_of(m, o) == OP_TENSOR_PAD ? "low" : "offsets";
        for (uint32_t d = 0; d < it->result_rank; d++) offset[d] = expr_sub(c, zero, op_index_expr(m, o, start, d));
        map_shifted(m, o, 0, offset, it);
        if (count == 2) map_shifted(m, o, 1, NULL, it);
        return OK;
    }
    const int64_t named = op_attr_int(m, o, "axis", 0);
    const uint32_t axis = (uint32_t)(named < 0 ? named + it->result_rank : named);
    for (uint32_t i = 0; i < count; i++) {
        map_shifted(m, o, i, offset, it);
        offset[axis] = expr_sub(c, i == 0 ? zero : offset[axis], operand_type(m, o, i)->dims[axis]);
    }
    return OK;
}

status op_iteration(module *m, op_id o, iteration *out)
{
    memset(out, 0, sizeof *out);
    if (op_info_of(m, o)->space == ITER_NONE || op_result_count(m, o) != 1) return FAILED;
    if (result_type(m, o)->kind != TYPE_TENSOR) return FAILED;
    switch ((space_rule)op_info_of(m, o)->space) {
    case ITER_ELEMENTWISE:
    case ITER_BROADCAST: return elementwise_space(m, o, out);
    case ITER_REDUCE: return reduce_space(m, o, out);
    case ITER_MATMUL: return matmul_space(m, o, out);
    case ITER_TRANSPOSE: return transpose_space(m, o, out);
    case ITER_RESHAPE: return reshape_space(m, o, out);
    case ITER_COUNT:
    case ITER_FILL: space_of_result(m, o, out); return OK;
    case ITER_WINDOW: window_space(m, o, out); return OK;
    case ITER_PARTS: return parts_space(m, o, out);
    case ITER_INDEXED:
    case ITER_SCAN:
    case ITER_ORDER:
    case ITER_NONE: break;
    }
    return FAILED;
}
