/* Rows of pto.def that copy accumulators on chip, each column times its factor. */
#include "semantics/insn_scale.h"

#include <inttypes.h>
#include <string.h>

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

/* ---- on chip ---- */

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
