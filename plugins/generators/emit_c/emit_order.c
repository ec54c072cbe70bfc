/* Rows in order: functions of <pto/native_vector_sort.h>. */
#include "emit.h"

#include <pto/native.h>

static pto_dtype dtype_of(pto_value v) { return pto_type_dtype(pto_value_type(v)); }

/* Rows and columns that are valid, as C. */
static pto_status region_of(emitter *e, pto_value v, const char *out[2])
{
    pto_expr valid[2];
    PTO_TRY(pto_value_valid(v, valid));
    out[0] = emit_extent(e, valid[0], "rows");
    out[1] = emit_extent(e, valid[1], "columns");
    return PTO_OK;
}

static pto_status emit_order(emitter *e, pto_op op)
{
    const pto_value result = pto_op_result(op, 0), x = pto_op_operand(op, 0);
    const char *rows_and_length[2], *kept[2];
    PTO_TRY(region_of(e, x, rows_and_length));
    PTO_TRY(region_of(e, result, kept));
    const int64_t bytes = PTO_SORT_BYTES(emit_columns(x));
    const emit_window *w = emit_tile_window(e, x);
    const char *stride = w != NULL ? w->row_stride : emit_format(e, "%lld", (long long)emit_columns(x));
    /* Each takes scratch memory: in this order, whatever compiler we are built by. */
    const int64_t scratch = emit_scratch(e, bytes);
    const char *const to = emit_tile(e, result), *const from = w != NULL ? emit_value(e, x) : emit_tile(e, x);
    e->sorts = 1;
    text_line(e->out, "pto_order_%s(%s, %s, %s, %s, %s, %d, %s, %lld, scratch_ + %lld);", emit_type_name(dtype_of(x)),
              from, stride, kept[0], rows_and_length[1], kept[1], pto_attr_bool_of(op, PTO_STR("descending"), 0), to,
              (long long)emit_columns(result), (long long)scratch);
    return PTO_OK;
}

/* Places that are from an order of the same tile are in range. */
static int is_in_order(emitter *e, pto_op op)
{
    const pto_op order = pto_value_op(pto_op_operand(op, 1));
    return PTO_SOME(order) && EMIT_IS(e, order, ORDER) &&
           pto_value_same(pto_op_operand(order, 0), pto_op_operand(op, 0));
}

static pto_status emit_rowgather(emitter *e, pto_op op)
{
    const pto_value result = pto_op_result(op, 0), x = pto_op_operand(op, 0), index = pto_op_operand(op, 1);
    const char *region[2], *all[2];
    PTO_TRY(region_of(e, result, region));
    PTO_TRY(region_of(e, x, all));
    text_open(e->out, "for (int64_t i_ = 0; i_ < %s; i_++)", region[0]);
    text_open(e->out, "for (int64_t j_ = 0; j_ < %s; j_++)", region[1]);
    text_line(e->out, "const int32_t at_ = %s;", emit_at(e, index, "i_", "j_"));
    if (!is_in_order(e, op))
        text_line(e->out, "if (at_ < 0 || at_ >= %s) return %s;", all[1],
                  emit_index_fault(e, op, "has an index that is out of range", "at_", all[1]));
    const emit_window *w = emit_tile_window(e, x);
    const char *from = w != NULL ? emit_window_at(e, w, emit_value(e, x), "i_", "at_") : emit_at(e, x, "i_", "at_");
    text_line(e->out, "%s = %s;", emit_at(e, result, "i_", "j_"), from);
    text_close(e->out, "");
    text_close(e->out, "");
    return PTO_OK;
}

pto_status emit_in_order(emitter *e, pto_op op, int *taken)
{
    *taken = EMIT_IS(e, op, ORDER) || EMIT_IS(e, op, ROWGATHER);
    if (!*taken) return PTO_OK;
    return EMIT_IS(e, op, ORDER) ? emit_order(e, op) : emit_rowgather(e, op);
}
