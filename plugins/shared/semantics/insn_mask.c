/* Rows of pto.def that make, combine and read masks: tiles with one bit for each element. */
#include "semantics/insn_family.h"
#include "semantics/lanes.h"

#include <string.h>

static size_t piece_at(const tile_ref *t, int64_t c)
{
    return t->valid_cols - c < LANES ? (size_t)(t->valid_cols - c) : LANES;
}

/* Bits lie in rows: column-major tiles are taken with rows and columns exchanged. */
static void turn_column_major(insn_call *call, int source_count)
{
    if (call->dst.order != PTO_ORDER_COLUMN) return;
    call->dst = tile_transposed(&call->dst);
    for (int i = 0; i < source_count; i++) call->src[i] = tile_transposed(&call->src[i]);
}

static pto_status begin(insn_call *call, int source_count, unsigned in_place)
{
    INSN_TRY(insn_begin(call, source_count, in_place));
    for (int i = 0; i < source_count; i++) {
        INSN_TRY(insn_check_valid(call, i, call->dst.valid_rows, call->dst.valid_cols));
        if (call->src[i].order != call->dst.order)
            return insn_fail(call, "source %d has another layout than the destination", i + 1);
    }
    turn_column_major(call, source_count);
    return PTO_OK;
}

static pto_status check_mask(insn_call *call, const tile_ref *t)
{
    if (t->dtype == PTO_MASK && t->order == PTO_ORDER_ROW) return PTO_OK;
    return insn_fail(call, "the bits are %s: they must be a mask, of rows or of columns", pto_dtype_name(t->dtype));
}

/* ---- making ---- */

static void read_f64(const tile_ref *t, int64_t r, int64_t c, size_t n, double *out)
{
    float x[LANES];
    tile_read_f32(t, r, c, n, x);
    for (size_t i = 0; i < n; i++) out[i] = (double)x[i];
}

static void compare_floats(const insn_call *call, bool has_scalar)
{
    const tile_ref *t = &call->dst, *a = &call->src[0];
    const uint64_t bits = element_from_number(a->dtype, call->scalar, false);
    double x[LANES], y[LANES];
    uint8_t out[LANES];
    if (has_scalar) element_read_f64(a->dtype, &bits, 0, LANES, y);
    for (int64_t r = 0; r < t->valid_rows; r++) {
        for (int64_t c = 0; c < t->valid_cols; c += LANES) {
            const size_t n = piece_at(t, c);
            read_f64(a, r, c, n, x);
            if (!has_scalar) read_f64(&call->src[1], r, c, n, y);
            lanes_compare_f64(call->relation, n, x, y, out);
            tile_write_bits(t, r, c, n, out);
        }
    }
}

static void compare_integers(const insn_call *call, bool has_scalar)
{
    const tile_ref *t = &call->dst, *a = &call->src[0];
    const uint64_t bits = element_from_number(a->dtype, call->scalar, false);
    int64_t x[LANES], y[LANES];
    uint8_t out[LANES];
    if (has_scalar) element_read_i64(a->dtype, &bits, 0, LANES, y);
    for (int64_t r = 0; r < t->valid_rows; r++) {
        for (int64_t c = 0; c < t->valid_cols; c += LANES) {
            const size_t n = piece_at(t, c);
            tile_read_i64(a, r, c, n, x);
            if (!has_scalar) tile_read_i64(&call->src[1], r, c, n, y);
            lanes_compare_i64(call->relation, element_is_unsigned(a->dtype), n, x, y, out);
            tile_write_bits(t, r, c, n, out);
        }
    }
}

static pto_status compare(insn_call *call, bool has_scalar)
{
    const int sources = has_scalar ? 1 : 2;
    INSN_TRY(begin(call, sources, 0));
    INSN_TRY(check_mask(call, &call->dst));
    INSN_TRY(insn_check_number(call, call->src[0].dtype));
    if (!has_scalar && call->src[1].dtype != call->src[0].dtype)
        return insn_fail(call, "source 2 is %s, source 1 %s: they must be equal", pto_dtype_name(call->src[1].dtype),
                         pto_dtype_name(call->src[0].dtype));
    const tile_ref rows = tile_as_bytes(&call->dst);
    for (int64_t r = 0; r < rows.valid_rows; r++) memset(rows.base + r * rows.cols, 0, (size_t)rows.valid_cols);
    if (element_is_float(call->src[0].dtype))
        compare_floats(call, has_scalar);
    else
        compare_integers(call, has_scalar);
    return PTO_OK;
}

pto_status insn_TCMP(insn_call *call) { return compare(call, false); }
pto_status insn_TCMPS(insn_call *call) { return compare(call, true); }

/* ---- reading ---- */

/* src[0] is the mask. Elements are bits of their size, so that a NaN stays as it is. */
static pto_status choose(insn_call *call, bool has_scalar)
{
    const int sources = has_scalar ? 2 : 3;
    INSN_TRY(begin(call, sources, 6));
    INSN_TRY(check_mask(call, &call->src[0]));
    INSN_TRY(insn_check_number(call, call->dst.dtype));
    for (int i = 1; i < sources; i++) INSN_TRY(insn_check_dtype(call, i));
    const uint64_t scalar = element_from_number(call->dst.dtype, call->scalar, false);
    const pto_dtype bits = element_bits_type(call->dst.dtype);
    call->dst.dtype = call->src[1].dtype = call->src[2].dtype = bits;
    const tile_ref *t = &call->dst;
    int64_t a[LANES], b[LANES];
    uint8_t is_a[LANES];
    if (has_scalar) element_read_i64(bits, &scalar, 0, LANES, b);
    for (int64_t r = 0; r < t->valid_rows; r++) {
        for (int64_t c = 0; c < t->valid_cols; c += LANES) {
            const size_t n = piece_at(t, c);
            tile_read_bits(&call->src[0], r, c, n, is_a);
            tile_read_i64(&call->src[1], r, c, n, a);
            if (!has_scalar) tile_read_i64(&call->src[2], r, c, n, b);
            for (size_t i = 0; i < n; i++) a[i] = is_a[i] ? a[i] : b[i];
            tile_write_i64(t, r, c, n, a);
        }
    }
    return PTO_OK;
}

pto_status insn_TSEL(insn_call *call) { return choose(call, false); }
pto_status insn_TSELS(insn_call *call) { return choose(call, true); }

/* ---- bit by bit: of integers, and of whole rows of masks ---- */

typedef enum bit_op { BIT_AND, BIT_OR, BIT_XOR, BIT_NOT, BIT_SHL, BIT_SHR } bit_op;

static void combine(bit_op op, pto_dtype t, size_t n, int64_t *a, const int64_t *b)
{
    for (size_t i = 0; i < n; i++) {
        switch (op) {
        case BIT_AND: a[i] &= b[i]; break;
        case BIT_OR: a[i] |= b[i]; break;
        case BIT_XOR: a[i] ^= b[i]; break;
        case BIT_NOT: a[i] = ~a[i]; break;
        case BIT_SHL:
        case BIT_SHR:
            a[i] = lanes_shift(a[i], b[i], (int)(8 * element_bytes(t)), element_is_unsigned(t), op == BIT_SHL);
        }
    }
}

static pto_status check_bits(insn_call *call)
{
    const pto_dtype t = call->dst.dtype;
    if (t == PTO_MASK) return check_mask(call, &call->dst);
    if (element_is_float(t)) return insn_fail(call, "element type %s has no bits to combine", pto_dtype_name(t));
    return insn_check_number(call, t);
}

static pto_status combine_tiles(insn_call *call, bit_op op)
{
    const int sources = op == BIT_NOT ? 1 : 2;
    INSN_TRY(begin(call, sources, 3));
    INSN_TRY(check_bits(call));
    for (int i = 0; i < sources; i++) {
        INSN_TRY(insn_check_dtype(call, i));
        call->src[i] = tile_as_bytes(&call->src[i]);
    }
    const tile_ref to = tile_as_bytes(&call->dst);
    int64_t a[LANES], b[LANES] = {0};
    for (int64_t r = 0; r < to.valid_rows; r++) {
        for (int64_t c = 0; c < to.valid_cols; c += LANES) {
            const size_t n = piece_at(&to, c);
            tile_read_i64(&call->src[0], r, c, n, a);
            if (sources == 2) tile_read_i64(&call->src[1], r, c, n, b);
            combine(op, to.dtype, n, a, b);
            tile_write_i64(&to, r, c, n, a);
        }
    }
    return PTO_OK;
}

pto_status insn_TAND(insn_call *call) { return combine_tiles(call, BIT_AND); }
pto_status insn_TOR(insn_call *call) { return combine_tiles(call, BIT_OR); }
pto_status insn_TXOR(insn_call *call) { return combine_tiles(call, BIT_XOR); }
pto_status insn_TNOT(insn_call *call) { return combine_tiles(call, BIT_NOT); }
pto_status insn_TSHL(insn_call *call) { return combine_tiles(call, BIT_SHL); }
pto_status insn_TSHR(insn_call *call) { return combine_tiles(call, BIT_SHR); }
