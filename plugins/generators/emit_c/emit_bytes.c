/* How many bytes memory has, for what is chosen by them in the run: stores past the caches, and kernels of products. */
#include "emit.h"

#include <pto/native.h>

/* None where they are beyond 64 bits. */
static pto_expr bytes_of(const emitter *e, pto_type type)
{
    pto_expr bytes = pto_expr_const(e->run, pto_dtype_bytes(pto_type_dtype(type)));
    for (uint32_t d = 0; d < pto_type_rank(type) && PTO_SOME(bytes); d++)
        bytes = pto_expr_mul(bytes, pto_type_dim(type, d));
    return bytes;
}

int emit_may_stream(const emitter *e, pto_value memory)
{
    const pto_type type = pto_value_type(memory);
    const pto_expr bytes = bytes_of(e, type);
    int64_t n = 0;
    return pto_dtype_bytes(pto_type_dtype(type)) == 4 && PTO_SOME(bytes) &&
           (!pto_expr_is_const(bytes, &n) || n >= PTO_STREAM_BYTES);
}

const char *emit_bytes(emitter *e, pto_value memory)
{
    return emit_extent(e, bytes_of(e, pto_value_type(memory)), "bytes");
}

const char *emit_is_large(emitter *e, pto_value memory)
{
    e->has_streams = e->asks_stream_bytes = 1;
    return emit_format(e, "%s >= frame_->stream_bytes_", emit_bytes(e, memory));
}

/* None where that is beyond 64 bits. */
static pto_expr add_bytes(const emitter *e, pto_expr sum, pto_value v)
{
    const pto_type type = pto_value_type(v);
    return PTO_SOME(sum) && pto_type_kind_of(type) == PTO_TYPE_GM ? pto_expr_add(sum, bytes_of(e, type)) : sum;
}

static const char *sum_of(emitter *e, pto_expr sum) { return PTO_SOME(sum) ? emit_index(e, sum) : "INT64_MAX"; }

const char *emit_moved_bytes(emitter *e, pto_op launch)
{
    pto_expr sum = pto_expr_const(e->run, 0);
    for (uint32_t i = 0; i < pto_op_operand_count(launch); i++) sum = add_bytes(e, sum, pto_op_operand(launch, i));
    return sum_of(e, sum);
}

const char *emit_call_bytes(emitter *e)
{
    const pto_block body = pto_body(e->function);
    pto_expr sum = pto_expr_const(e->run, 0);
    for (uint32_t i = 0; i < pto_block_arg_count(body); i++) sum = add_bytes(e, sum, pto_block_arg(body, i));
    return sum_of(e, sum);
}
