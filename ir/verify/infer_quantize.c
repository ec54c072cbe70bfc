/* Shape rules of ops that make few bits of many, and of those that bring them back. */
#include "ir/op_rules.h"
#include "ir/verify/infer.h"
#include "ir/verify/ranges.h"

#include <inttypes.h>

enum { DT_MADE = DT(I8) | DT(U8) | DT(I16) | DT(U16) | DT_FLOAT8 };

static const type_node *operand_type(const module *m, op_id op, uint32_t i)
{
    return type_of_value(m, op_operand(m, op, i));
}

static const char *operand_name(const module *m, op_id op, uint32_t i) { return op_info_of(m, op)->in[i].name; }

status infer_block(const module *m, op_id op, int64_t *out)
{
    *out = op_attr_int(m, op, "block", 0);
    if (op_attr(m, op, "block") == 0 || *out > 0) return OK;
    return op_error(m, op, &E0314, "has blocks of %" PRId64 " elements; legal are 1 and more", *out);
}

status infer_check_blocks(module *m, op_id op, const type_node *x, uint32_t scales, const type_node *scale,
                          uint32_t axis, int64_t block)
{
    ir_context *c = module_context(m);
    const expr_id one = expr_const(c, 1);
    if (scale->rank != x->rank)
        return op_error(m, op, &E0213, "needs as many dims of `%s` as of what it scales, %u; it has %u",
                        operand_name(m, op, scales), x->rank, scale->rank);
    for (uint32_t d = 0; d < x->rank; d++) {
        const expr_id covered = d == axis ? expr_mul(c, scale->dims[d], expr_const(c, block)) : scale->dims[d];
        if (op_expr_same(m, op, covered, x->dims[d]) || (d != axis && scale->dims[d] == one)) continue;
        return op_error(m, op, &E0213, "has %s %s of %" PRId64 " along dim %" PRIu32 " of `%s`; what it scales has %s",
                        expr_words(m, op, scale->dims[d]), d == axis ? "blocks" : "blocks each", d == axis ? block : 1,
                        d, operand_name(m, op, scales), expr_words(m, op, x->dims[d]));
    }
    return OK;
}

/* Scale and zero point: repeated up to x, or blocks of it along an axis. */
static status check_parameters(module *m, op_id op)
{
    const type_node *x = operand_type(m, op, 0);
    int64_t block = 0;
    uint32_t axis = x->rank - 1u;
    TRY(infer_block(m, op, &block));
    const attr_id named = op_attr(m, op, "axis");
    if (block == 0 && named != 0)
        return op_error(m, op, &E0314, "has no `block`, so `axis` has no effect; leave it out");
    if (block != 0 && x->rank == 0) return op_error(m, op, &E0213, "needs an operand `x` with at least one dim");
    if (block != 0 && x->rank == TYPE_MAX_RANK)
        return op_error(m, op, &E0213, "has blocks of an operand with %u dims; legal are up to %d", x->rank,
                        TYPE_MAX_RANK - 1);
    if (named != 0) TRY(infer_axis(m, op, named, x->rank, &axis));
    for (uint32_t i = 1; i < op_value_operand_count(m, op); i++) {
        const type_node *t = operand_type(m, op, i);
        if (block != 0) {
            TRY(infer_check_blocks(m, op, x, i, t, axis, block));
            continue;
        }
        shape to = infer_shape_of(x), from = infer_shape_of(t);
        TRY(infer_broadcast_into(m, op, &to, i, &from));
        bool grows = to.rank != x->rank;
        for (uint32_t d = 0; d < to.rank && !grows; d++) grows = to.dims[d] != x->dims[d];
        if (grows)
            return op_error(m, op, &E0213, "repeats `%s` up to `x`; that has fewer elements than %s",
                            operand_name(m, op, i), type_words(m, value_type(m, op_operand(m, op, i))));
    }
    return OK;
}

static status check_zero_point(const module *m, op_id op, dtype quantised)
{
    if (op_value_operand_count(m, op) < 3) return OK;
    if (dtype_class_of(quantised) == DTYPE_CLASS_FLOAT)
        return op_error(m, op, &E0212, "has a `zero_point`, which %s does not take", dtype_name(quantised));
    const dtype t = operand_type(m, op, 2)->dtype;
    if (t == quantised) return OK;
    return op_error(m, op, &E0212, "has a `zero_point` of %s and must have %s", dtype_name(t), dtype_name(quantised));
}

status infer_quantize(module *m, uint32_t op, type_id *out)
{
    const dtype to = type_at(module_context(m), *out)->dtype;
    if ((DT_MADE & 1u << to) == 0)
        return op_error(m, op, &E0211, "cannot make %s; legal are i8, u8, i16, u16, f8e4m3 and f8e5m2", dtype_name(to));
    TRY(check_zero_point(m, op, to));
    TRY(check_parameters(m, op));
    shape s = infer_shape_of(operand_type(m, op, 0));
    return infer_give(m, to, &s, out);
}

status infer_dequantize(module *m, uint32_t op, type_id *out)
{
    const dtype to = type_at(module_context(m), *out)->dtype;
    if ((DT_FLOAT & 1u << to) == 0)
        return op_error(m, op, &E0211, "cannot make %s; legal are f32, f16 and bf16", dtype_name(to));
    TRY(check_zero_point(m, op, operand_type(m, op, 0)->dtype));
    TRY(check_parameters(m, op));
    shape s = infer_shape_of(operand_type(m, op, 0));
    return infer_give(m, to, &s, out);
}

status infer_quantize_block(module *m, uint32_t op, type_id *out)
{
    ir_context *c = module_context(m);
    const type_node *x = operand_type(m, op, 0);
    const dtype to = type_at(c, out[0])->dtype, scale = type_at(c, out[1])->dtype;
    int64_t block = 0;
    if (x->rank == 0 || x->rank == TYPE_MAX_RANK)
        return op_error(m, op, &E0213, "needs an operand `x` with 1 to %d dims, got %u", TYPE_MAX_RANK - 1, x->rank);
    uint32_t axis = x->rank - 1u;
    TRY(infer_block(m, op, &block));
    if (op_attr(m, op, "axis") != 0) TRY(infer_axis(m, op, op_attr(m, op, "axis"), x->rank, &axis));
    if (((DT(I8) | DT_FLOAT8) & 1u << to) == 0)
        return op_error(m, op, &E0211, "cannot make %s; legal are i8, f8e4m3 and f8e5m2", dtype_name(to));
    if (scale != DTYPE_F32 && scale != DTYPE_F8E8M0)
        return op_error(m, op, &E0211, "cannot make scales of %s; legal are f32 and f8e8m0", dtype_name(scale));
    const expr_id blocks = expr_floordiv(c, x->dims[axis], expr_const(c, block));
    if (!op_expr_same(m, op, expr_mul(c, blocks, expr_const(c, block)), x->dims[axis]))
        return op_error(m, op, &E0213,
                        "has blocks of %" PRId64 " elements along an axis of extent %s, which is not a multiple", block,
                        expr_words(m, op, x->dims[axis]));
    shape s = infer_shape_of(x);
    TRY(infer_give(m, to, &s, &out[0]));
    s.dims[axis] = blocks;
    return infer_give(m, scale, &s, &out[1]);
}

status infer_pack(module *m, uint32_t op, type_id *out)
{
    ir_context *c = module_context(m);
    shape s = infer_shape_of(operand_type(m, op, 0));
    if (s.rank == 0) return op_error(m, op, &E0213, "needs an operand `x` with at least one dim");
    const expr_id last = s.dims[s.rank - 1], half = expr_floordiv(c, last, expr_const(c, 2));
    if (!op_expr_same(m, op, expr_mul(c, half, expr_const(c, 2)), last))
        return op_error(m, op, &E0213,
                        "puts two elements into a byte; the last dim has %s, which is not known to be even",
                        expr_words(m, op, last));
    s.dims[s.rank - 1] = half;
    return infer_give(m, DTYPE_U8, &s, out);
}

status infer_unpack(module *m, uint32_t op, type_id *out)
{
    ir_context *c = module_context(m);
    const dtype to = type_at(c, *out)->dtype;
    shape s = infer_shape_of(operand_type(m, op, 0));
    if (s.rank == 0) return op_error(m, op, &E0213, "needs an operand `x` with at least one dim");
    if (to != DTYPE_I8 && to != DTYPE_U8)
        return op_error(m, op, &E0211, "cannot make %s; legal are i8 and u8", dtype_name(to));
    s.dims[s.rank - 1] = expr_mul(c, s.dims[s.rank - 1], expr_const(c, 2));
    return infer_give(m, to, &s, out);
}
