/* Rows of pto.def between floats and integers of 8 and 16 bits, with factors and offsets of rows, and accumulators that
 * leave with factors of columns. */
#include "semantics/insn_family.h"
#include "semantics/lanes.h"

#include <inttypes.h>
#include <string.h>

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

/* ---- factors of columns ---- */

enum { SIGNED_WORD = 0x4000 };

float store_factor(float stated)
{
    uint32_t bits;
    memcpy(&bits, &stated, sizeof bits);
    bits &= 0xffffe000u;
    memcpy(&stated, &bits, sizeof bits);
    return stated;
}

/* The words after the factors say what is made. */
static pto_status check_words(insn_call *call, const tile_ref *factors, pto_dtype to)
{
    const uint32_t settings = to == PTO_I8 ? SIGNED_WORD : 0;
    for (int64_t c = 1; factors->valid_rows != 0 && c < factors->valid_cols; c += 2) {
        float stated;
        uint32_t word;
        tile_read_f32(factors, 0, c, 1, &stated);
        memcpy(&word, &stated, sizeof word);
        if (word != settings)
            return insn_fail(call, "the second word of column %" PRId64 " is 0x%" PRIx32 ", for %s it is 0x%" PRIx32,
                             c / 2, word, pto_dtype_name(to), settings);
    }
    return PTO_OK;
}

static void read_factors(const tile_ref *factors, int64_t c, size_t n, float *out)
{
    for (size_t i = 0; i < n; i++) {
        tile_read_f32(factors, 0, 2 * (c + (int64_t)i), 1, &out[i]);
        out[i] = store_factor(out[i]);
    }
}

static void read_sums(const tile_ref *t, int64_t r, int64_t c, size_t n, float *out)
{
    int64_t sums[LANES];
    if (t->dtype == PTO_F32) {
        tile_read_f32(t, r, c, n, out);
        return;
    }
    tile_read_i64(t, r, c, n, sums);
    for (size_t i = 0; i < n; i++) out[i] = (float)sums[i];
}

void insn_scale(const insn_call *call, const tile_ref *sums, int64_t r, int64_t c, size_t n, const tile_ref *factors,
                float *out)
{
    float column[LANES];
    read_sums(sums, r, c, n, out);
    for (size_t i = 0; i < n && call->relu; i++) out[i] = out[i] < 0 || out[i] == 0 ? 0 : out[i];
    for (size_t i = 0; i < n && call->has_scale; i++) out[i] *= call->scale;
    if (factors != NULL) read_factors(factors, c, n, column);
    for (size_t i = 0; i < n && factors != NULL; i++) out[i] *= column[i];
}

pto_status insn_check_factors(insn_call *call, const tile_ref *sums, const tile_ref *factors, pto_dtype to)
{
    const bool is_byte = to == PTO_I8 || to == PTO_U8;
    if (sums->role != PTO_ROLE_ACCUMULATOR || (!is_byte && (sums->dtype != PTO_I32 || to != PTO_F16)) ||
        (sums->dtype != PTO_F32 && sums->dtype != PTO_I32))
        return insn_fail(call, "%s does not leave as %s: only i32 in `acc` as f16, i8 and u8, f32 as i8 and u8",
                         pto_dtype_name(sums->dtype), pto_dtype_name(to));
    if (factors->dtype != PTO_F32 || (sums->valid_rows != 0 && factors->valid_rows != 1) ||
        factors->valid_cols != 2 * sums->valid_cols)
        return insn_fail(
            call, "%s factors, %" PRId64 " x %" PRId64 ", for %" PRId64 " columns: it takes 1 x %" PRId64 " of f32",
            pto_dtype_name(factors->dtype), factors->valid_rows, factors->valid_cols, sums->valid_cols,
            2 * sums->valid_cols);
    return check_words(call, factors, to);
}

/* Where a part begins, in the accumulator and in the target, and how large it is. */
typedef struct scaled_part {
    const tile_ref *sums, *factors;
    int64_t from[2], to[2], rows, cols;
} scaled_part;

static pto_status check_part(insn_call *call, const scaled_part *p)
{
    const pto_dtype to = call->dst.dtype;
    if (to == PTO_U8 && p->sums->dtype == PTO_F32) return insn_fail(call, "f32 leaves as i8 alone on chip");
    return insn_check_factors(call, p->sums, p->factors, to);
}

static void scale_part(const insn_call *call, const scaled_part *p)
{
    const tile_ref *t = &call->dst;
    const int64_t size = (int64_t)element_bytes(t->dtype);
    float piece[LANES];
    for (int64_t r = 0; r < p->rows; r++) {
        for (int64_t c = 0; c < p->cols;) {
            const size_t left = p->cols - c < LANES ? (size_t)(p->cols - c) : LANES;
            const tile_run run = tile_run_at(t, p->to[0] + r, p->to[1] + c, left);
            insn_scale(call, p->sums, p->from[0] + r, p->from[1] + c, run.count, p->factors, piece);
            element_convert(t->dtype, t->base + run.offset * size, run.stride, PTO_F32, piece, 1, run.count, ROUND_RINT,
                            !element_is_float(t->dtype), false);
            c += (int64_t)run.count;
        }
    }
}

pto_status insn_TMOV_FP(insn_call *call)
{
    const tile_ref *t = &call->dst;
    INSN_TRY(insn_begin(call, 2, 0));
    INSN_TRY(insn_check_valid(call, 0, t->valid_rows, t->valid_cols));
    const scaled_part all = {&call->src[0], &call->src[1], .rows = t->valid_rows, .cols = t->valid_cols};
    INSN_TRY(check_part(call, &all));
    scale_part(call, &all);
    return PTO_OK;
}

/* Factors are read from a multiple of 128 bytes on, which are those of 16 columns. */
enum { FACTORS_AT_ONCE = 16 };

pto_status insn_TEXTRACT_FP(insn_call *call)
{
    const tile_ref *t = &call->dst;
    INSN_TRY(insn_begin(call, 2, 0));
    INSN_TRY(insn_check_inside(call, t, &call->src[0]));
    if (call->at[1] % FACTORS_AT_ONCE != 0)
        return insn_fail(call, "column %" PRId64 " is not a multiple of %d, at which factors begin", call->at[1],
                         FACTORS_AT_ONCE);
    const scaled_part part = {&call->src[0], &call->src[1], .from = {call->at[0], call->at[1]}, .rows = t->valid_rows,
                              .cols = t->valid_cols};
    INSN_TRY(check_part(call, &part));
    scale_part(call, &part);
    return PTO_OK;
}

pto_status insn_TINSERT_FP(insn_call *call)
{
    const tile_ref *t = &call->dst, *s = &call->src[1];
    INSN_TRY(insn_begin(call, 3, 1));
    INSN_TRY(insn_check_dtype(call, 0));
    INSN_TRY(insn_check_valid(call, 0, t->valid_rows, t->valid_cols));
    INSN_TRY(insn_check_inside(call, s, t));
    const scaled_part part = {s, &call->src[2], .to = {call->at[0], call->at[1]}, .rows = s->valid_rows,
                              .cols = s->valid_cols};
    INSN_TRY(check_part(call, &part));
    insn_copy_tile(t, &call->src[0]);
    scale_part(call, &part);
    return PTO_OK;
}
