/* Rows of pto.def between floats and integers of 8 and 16 bits, with factors and offsets of rows. */
#include "semantics/insn_family.h"
#include "semantics/lanes.h"

#include <inttypes.h>

static pto_status check_of_rows(insn_call *call, int i, const char *what)
{
    const tile_ref *v = &call->src[i];
    if (v->dtype != PTO_F32) return insn_fail(call, "%s are %s, they must be f32", what, pto_dtype_name(v->dtype));
    if (v->valid_rows == call->dst.valid_rows && v->valid_cols == 1) return PTO_OK;
    return insn_fail(call, "%s have a valid region of %" PRId64 " x %" PRId64 ", it must be %" PRId64 " x 1", what,
                     v->valid_rows, v->valid_cols, call->dst.valid_rows);
}

static pto_status begin(insn_call *call, pto_dtype from, pto_dtype to, bool has_offset)
{
    INSN_TRY(insn_begin(call, has_offset ? 3 : 2, 0));
    if (call->src[0].dtype != from || call->dst.dtype != to)
        return insn_fail(call, "of %s to %s: it makes %s of %s", pto_dtype_name(call->src[0].dtype),
                         pto_dtype_name(call->dst.dtype), pto_dtype_name(to), pto_dtype_name(from));
    INSN_TRY(insn_check_valid(call, 0, call->dst.valid_rows, call->dst.valid_cols));
    INSN_TRY(check_of_rows(call, 1, "the factors"));
    return has_offset ? check_of_rows(call, 2, "the offsets") : PTO_OK;
}

static size_t piece_at(const tile_ref *t, int64_t c)
{
    return t->valid_cols - c < LANES ? (size_t)(t->valid_cols - c) : LANES;
}

static void repeat(const tile_ref *of_rows, int64_t r, float *out)
{
    tile_read_f32(of_rows, r, 0, 1, out);
    for (size_t i = 1; i < LANES; i++) out[i] = out[0];
}

static pto_status quantize(insn_call *call, pto_dtype to, bool has_offset)
{
    const tile_ref *t = &call->dst;
    float x[LANES], factor[LANES], offset[LANES];
    uint8_t made[LANES];
    int64_t whole[LANES];
    INSN_TRY(begin(call, PTO_F32, to, has_offset));
    for (int64_t r = 0; r < t->valid_rows; r++) {
        repeat(&call->src[1], r, factor);
        if (has_offset) repeat(&call->src[2], r, offset);
        for (int64_t c = 0; c < t->valid_cols; c += LANES) {
            const size_t n = piece_at(t, c);
            tile_read_f32(&call->src[0], r, c, n, x);
            lanes_f32(LANE_MUL, n, x, factor, x);
            if (has_offset) lanes_f32(LANE_ADD, n, x, offset, x);
            element_convert(to, made, 1, PTO_F32, x, 1, n, ROUND_RINT, true, false);
            element_read_i64(to, made, 1, n, whole);
            tile_write_i64(t, r, c, n, whole);
        }
    }
    return PTO_OK;
}

pto_status insn_TQUANT(insn_call *call) { return quantize(call, PTO_I8, false); }
pto_status insn_TQUANT_FROM(insn_call *call) { return quantize(call, PTO_U8, true); }

pto_status insn_TDEQUANT(insn_call *call)
{
    const tile_ref *t = &call->dst;
    float x[LANES], factor[LANES], offset[LANES];
    int64_t whole[LANES];
    INSN_TRY(begin(call, call->src[0].dtype == PTO_I8 ? PTO_I8 : PTO_I16, PTO_F32, true));
    for (int64_t r = 0; r < t->valid_rows; r++) {
        repeat(&call->src[1], r, factor);
        repeat(&call->src[2], r, offset);
        for (int64_t c = 0; c < t->valid_cols; c += LANES) {
            const size_t n = piece_at(t, c);
            tile_read_i64(&call->src[0], r, c, n, whole);
            for (size_t i = 0; i < n; i++) x[i] = (float)whole[i];
            lanes_f32(LANE_SUB, n, x, offset, x);
            lanes_f32(LANE_MUL, n, x, factor, x);
            tile_write_f32(t, r, c, n, x);
        }
    }
    return PTO_OK;
}
