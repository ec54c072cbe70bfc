/* Weights of few bits, and panels, as kernels of products take them. */
#include "emit.h"

/* Checks that dim `d` of what an operand holds has what the product reads, from `offset` on. */
static void check(emitter *e, pto_op op, uint32_t operand, uint32_t d, pto_expr offset, pto_expr size, int64_t each)
{
    const pto_type type = pto_value_type(pto_op_operand(op, operand));
    emit_check_dim(e, op, offset, size, pto_expr_scale(pto_type_dim(type, d), each));
}

const char *emit_weights(emitter *e, pto_op op, pto_expr columns)
{
    const pto_value bytes = pto_op_operand(op, 2), scales = pto_op_operand(op, 3);
    const int turned = pto_attr_bool_of(op, PTO_STR("transpose_right"), 0);
    const int64_t block = pto_attr_int_of(op, PTO_STR("block"), 1);
    const pto_expr depth = pto_expr_of(op, PTO_STR("depth"), 0), column = pto_expr_of(op, PTO_STR("column"), 0),
                   groups = pto_expr_ceildiv(depth, pto_expr_const(e->run, block)), zero = pto_expr_const(e->run, 0),
                   one = pto_expr_const(e->run, 1);
    const pto_expr row = pto_expr_scale(pto_type_stride(pto_value_type(bytes), 0), 2),
                   scale_row = pto_type_stride(pto_value_type(scales), 0);
    const uint32_t along_k = turned ? 1 : 0, along_n = 1 - along_k;
    check(e, op, 2, along_k, zero, depth, turned ? 2 : 1);
    check(e, op, 2, along_n, column, columns, turned ? 1 : 2);
    check(e, op, 3, along_k, zero, groups, 1);
    check(e, op, 3, along_n, column, columns, 1);
    const char *name = emit_spare(e, "weights");
    const char *first = emit_index(e, pto_expr_mul(column, turned ? row : one)),
               *first_scale = emit_index(e, pto_expr_mul(column, turned ? scale_row : one));
    text_line(e->out, "const pto_native_weights %s = {%s, %s, %s, %s, %s + %s, %s, %s, %lld};", name,
              emit_value(e, bytes), first, emit_index(e, turned ? one : row), emit_index(e, turned ? row : one),
              emit_value(e, scales), first_scale, emit_index(e, turned ? one : scale_row),
              emit_index(e, turned ? scale_row : one), (long long)block);
    return name;
}

const char *emit_panels(emitter *e, pto_op op, pto_expr depth, pto_expr columns)
{
    const pto_value memory = pto_op_operand(op, 2);
    const int64_t width = pto_attr_int_of(op, PTO_STR("panels"), 0);
    const pto_expr panel = pto_expr_of(op, PTO_STR("right"), 0), row = pto_expr_of(op, PTO_STR("right"), 1),
                   stride = pto_type_stride(pto_value_type(memory), 0),
                   at = pto_expr_add(pto_expr_mul(panel, stride), pto_expr_scale(row, width));
    check(e, op, 2, 0, panel, pto_expr_ceildiv(columns, pto_expr_const(e->run, width)), 1);
    check(e, op, 2, 1, row, depth, 1);
    const char *name = emit_spare(e, "right");
    text_line(e->out, "const %s *const %s = %s + %s;", emit_memory_type(pto_type_dtype(pto_value_type(memory))), name,
              emit_value(e, memory), emit_index(e, at));
    return emit_format(e, "%s, %lld, %s", name, (long long)width, emit_index(e, stride));
}
