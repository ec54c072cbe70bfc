/* Stores of sums that become something else on the way: a relu, a factor, another element type; in vectors. */
#include "emit.h"

static pto_dtype dtype_of(pto_value v) { return pto_type_dtype(pto_value_type(v)); }

/* What `leaving` of a scalar is, of a vector: in f32 as soon as there is a relu or a factor. NULL: not in vectors. */
static const char *leaving(emitter *e, pto_op store, pto_dtype from, pto_dtype to, const char *x)
{
    const pto_attr scale = pto_op_attr(store, PTO_STR("scale"));
    const int has_relu = pto_attr_bool_of(store, PTO_STR("relu"), 0);
    const pto_dtype passes = has_relu || PTO_SOME(scale) ? PTO_F32 : from;
    x = emit_vector_convert(e, passes, from, x, 1, 0, 0);
    if (x != NULL && has_relu) x = emit_format(e, "pto_relu_f32(%s)", x);
    if (x != NULL && PTO_SOME(scale))
        x = emit_format(e, "%s * %s", x, emit_splat(e, PTO_F32, emit_number(e, PTO_F32, scale, 0)));
    if (x == NULL || pto_dtype_is_half_float(to)) return x; /* storing rounds */
    if (PTO_SOME(scale)) x = emit_format(e, "(%s)", x);
    return emit_vector_convert(e, to, passes, x, 1, !pto_dtype_is_float(to), 0);
}

static int has_unit_columns(pto_value memory)
{
    const pto_type type = pto_value_type(memory);
    int64_t n = 0;
    return pto_expr_is_const(pto_type_stride(type, pto_type_rank(type) - 1), &n) && n == 1;
}

int emit_leaves_in_vectors(emitter *e, pto_op store)
{
    /* A transposed tile may go to memory by what transposes it, and then is nowhere else. */
    if (!EMIT_IS(e, store, STORE) || fused_transpose_goes_out(&e->model, pto_value_op(pto_op_operand(store, 0))))
        return 0;
    const pto_dtype from = dtype_of(pto_op_operand(store, 0)), to = dtype_of(pto_op_operand(store, 1));
    if (from == to && !pto_attr_bool_of(store, PTO_STR("relu"), 0) && !PTO_SOME(pto_op_attr(store, PTO_STR("scale"))))
        return 0; /* nothing becomes of it */
    return (from == PTO_F32 || from == PTO_I32) && fused_has_lanes(to) && to != PTO_MASK &&
           emit_columns(pto_op_operand(store, 0)) != 1 && has_unit_columns(pto_op_operand(store, 1)) &&
           leaving(e, store, from, to, "x_") != NULL;
}

static void put_columns(emitter *e, pto_op store, const char *to, const emit_window *w, const char *tail)
{
    const pto_value tile = pto_op_operand(store, 0);
    const pto_dtype from = dtype_of(tile), memory = dtype_of(pto_op_operand(store, 1));
    text_line(e->out, "const %s x_ = %s;", emit_vector_type(from),
              emit_vector_load(e, from, emit_format(e, "&%s", emit_at(e, tile, "i_", "j_")), tail));
    text_line(e->out, "%s",
              emit_vector_store(e, memory, emit_format(e, "&%s", emit_window_at(e, w, to, "i_", "j_")),
                                leaving(e, store, from, memory, "x_"), tail));
}

pto_status emit_leaving_store(emitter *e, pto_op store)
{
    const pto_value tile = pto_op_operand(store, 0), memory = pto_op_operand(store, 1);
    const char *to = emit_spare(e, "to");
    emit_window w;
    pto_expr size[2];
    PTO_TRY(pto_value_valid(tile, size));
    emit_open_block(e);
    emit_window_open(e, store, memory, size, 0, &w);
    text_line(e->out, "%s *const %s = %s;", emit_memory_type(dtype_of(memory)), to, w.base);
    text_line(e->out, "const int64_t n_ = %s, rest_ = n_ %% PTO_LANES;", emit_index(e, size[1]));
    text_open(e->out, "for (int64_t i_ = 0; i_ < %s; i_++)", emit_index(e, size[0]));
    text_open(e->out, "for (int64_t j_ = 0; j_ + PTO_LANES <= n_; j_ += PTO_LANES)");
    put_columns(e, store, to, &w, NULL);
    text_close(e->out, "");
    text_open(e->out, "if (rest_ != 0)");
    text_line(e->out, "const int64_t j_ = n_ - rest_;");
    put_columns(e, store, to, &w, "rest_");
    text_close(e->out, "");
    text_close(e->out, "");
    text_close(e->out, "");
    return PTO_OK;
}
