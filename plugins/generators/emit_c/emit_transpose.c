/* Transposes: of tiles, of loads, and from memory to memory where the tile is loaded and stored for nothing else. */
#include "emit.h"

static pto_dtype dtype_of(pto_value v) { return pto_type_dtype(pto_value_type(v)); }
static int bits_of(pto_value v) { return dtype_of(v) == PTO_MASK ? 8 : (int)(8 * pto_dtype_bytes(dtype_of(v))); }

static void put_transpose(emitter *e, pto_op op, const char *to, const char *to_stride, const char *from,
                          const char *from_stride, const char *rows, const char *columns, const char *streams)
{
    text_line(e->out, "pto_transpose_b%d(%s, %s, %s, %s, %s, %s, %s);%s", bits_of(pto_op_operand(op, 0)), to, to_stride,
              from, from_stride, rows, columns, streams, emit_remark(e, op));
}

/* From where the operand is. */
static pto_status transpose_to(emitter *e, pto_op op, const char *to, const char *to_stride, const char *streams)
{
    const pto_value from = pto_op_operand(op, 0);
    const emit_window *loaded = emit_tile_window(e, from);
    pto_expr size[2];
    PTO_TRY(pto_value_valid(from, size));
    put_transpose(e, op, to, to_stride, loaded != NULL ? emit_value(e, from) : emit_tile(e, from),
                  loaded != NULL ? loaded->row_stride : emit_format(e, "%lld", (long long)emit_columns(from)),
                  emit_extent(e, size[0], "rows"), emit_extent(e, size[1], "columns"), streams);
    return PTO_OK;
}

pto_status emit_transpose_out(emitter *e, pto_op store, const char *to, const char *to_stride)
{
    const pto_value memory = pto_op_operand(store, 1);
    const char *streams = "0";
    if (emit_may_stream(e, memory)) {
        streams = emit_format(e, "pto_streams(%s, %s >= PTO_STREAM_BYTES)", to, emit_bytes(e, memory));
        e->has_streams = 1;
    }
    return transpose_to(e, pto_value_op(pto_op_operand(store, 0)), to, to_stride, streams);
}

pto_status emit_transpose(emitter *e, pto_op op)
{
    const pto_value result = pto_op_result(op, 0);
    if (fused_transpose_goes_out(&e->model, op)) return PTO_OK;
    return transpose_to(e, op, emit_tile(e, result), emit_format(e, "%lld", (long long)emit_columns(result)), "0");
}

int emit_load_transposed(emitter *e, pto_op load, const emit_window *from, const char *rows, const char *columns)
{
    const pto_value result = pto_op_result(load, 0);
    if (!pto_attr_bool_of(load, PTO_STR("transpose"), 0) || strcmp(from->row_stride, "1") != 0) return 0;
    put_transpose(e, load, emit_tile(e, result), emit_format(e, "%lld", (long long)emit_columns(result)), from->base,
                  from->column_stride, columns, rows, "0");
    return 1;
}
