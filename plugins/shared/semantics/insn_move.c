/* Rows of pto.def that copy elements: memory, spaces, layouts, fills. */
#include "semantics/insn_family.h"
#include "semantics/tensor_walk.h"

#include <inttypes.h>
#include <string.h>

/* `count` elements of a row, from one place to another. */
static void copy_elements(const tile_ref *to, int64_t row, int64_t column, const tile_ref *from, int64_t from_row,
                          int64_t from_column, int64_t count)
{
    const int64_t size = (int64_t)element_bytes(to->dtype);
    for (int64_t c = 0; c < count;) {
        const tile_run a = tile_run_at(to, row, column + c, (size_t)(count - c));
        const tile_run b = tile_run_at(from, from_row, from_column + c, a.count);
        element_copy((size_t)size, to->base + a.offset * size, a.stride, from->base + b.offset * size, b.stride,
                     b.count);
        c += (int64_t)b.count;
    }
}

void insn_copy_tile(const tile_ref *to, const tile_ref *from)
{
    tile_ref a = *to, b = *from;
    if (a.order == PTO_ORDER_COLUMN) { /* long runs go down */
        a = tile_transposed(&a);
        b = tile_transposed(&b);
    }
    for (int64_t r = 0; r < b.valid_rows; r++) copy_elements(&a, r, 0, &b, r, 0, b.valid_cols);
}

/* Fills the capacity of t beyond rows x cols. */
static void fill_rest(const tile_ref *t, int64_t rows, int64_t cols, uint64_t bits)
{
    for (int64_t r = 0; r < t->rows; r++) {
        const int64_t from = r < rows ? cols : 0;
        tile_fill(t, r, from, (size_t)(t->cols - from), bits);
    }
}

static pto_status check_window(insn_call *call)
{
    const gm_window *w = &call->gm;
    if (w->rank > PTO_MAX_DIMS) return insn_fail(call, "the array has rank %u, the limit is %d", w->rank, PTO_MAX_DIMS);
    if (w->rows < 0 || w->cols < 0)
        return insn_fail(call, "a window of %" PRId64 " x %" PRId64 " elements", w->rows, w->cols);
    int64_t extent;
    const int d = gm_outside_dim(w, &extent);
    if (d >= 0) {
        return insn_fail(call,
                         "the window leaves the array: dim %d has extent %" PRId64 ", needed are %" PRId64
                         " from %" PRId64 " on",
                         d, w->rank ? w->dims[d] : 1, extent, w->rank ? w->offsets[d] : 0);
    }
    if (!gm_in_bytes(w)) return insn_fail(call, "the window reaches past the %zu bytes of the array", w->bytes);
    return PTO_OK;
}

/* Copies between the window and the first rows and columns of the tile. */
static void transfer(const gm_window *gm, const tile_ref *tile, bool load)
{
    gm_window w = *gm;
    tile_ref t = *tile;
    const size_t size = element_bytes(t.dtype);
    if (t.order == PTO_ORDER_COLUMN) {
        t = tile_transposed(&t);
        w.transpose = !w.transpose;
        w.rows = gm->cols;
        w.cols = gm->rows;
    }
    const int64_t stride = gm_row_stride(&w);
    for (int64_t r = 0; r < w.rows; r++) {
        uint8_t *row = w.cols ? w.base + gm_offset(&w, r, 0) * (int64_t)size : NULL;
        for (int64_t c = 0; c < w.cols;) {
            const tile_run run = tile_run_at(&t, r, c, (size_t)(w.cols - c));
            uint8_t *in_tile = t.base + run.offset * (int64_t)size, *in_gm = row + c * stride * (int64_t)size;
            if (load)
                element_copy(size, in_tile, run.stride, in_gm, stride, run.count);
            else
                element_copy(size, in_gm, stride, in_tile, run.stride, run.count);
            c += (int64_t)run.count;
        }
    }
}

pto_status insn_TLOAD(insn_call *call)
{
    const gm_window *w = &call->gm;
    const tile_ref *t = &call->dst;
    INSN_TRY(insn_begin(call, 0, 0));
    INSN_TRY(check_window(call));
    if (w->dtype != t->dtype)
        return insn_fail(call, "the array is %s, the tile %s", pto_dtype_name(w->dtype), pto_dtype_name(t->dtype));
    const int64_t rows = call->has_pad ? t->rows : t->valid_rows, cols = call->has_pad ? t->cols : t->valid_cols;
    if (call->has_pad ? w->rows > rows || w->cols > cols : w->rows != rows || w->cols != cols) {
        return insn_fail(call, "a window of %" PRId64 " x %" PRId64 " for a %s of %" PRId64 " x %" PRId64, w->rows,
                         w->cols, call->has_pad ? "capacity" : "valid region", rows, cols);
    }
    transfer(w, t, true);
    if (call->has_pad) fill_rest(t, w->rows, w->cols, element_from_number(t->dtype, call->pad, true));
    return PTO_OK;
}

/* Why an accumulator cannot leave as the window's type: with a scale it becomes a narrower one, without rounded f32. */
static pto_status check_leaving(insn_call *call)
{
    const pto_dtype from = call->src[0].dtype, to = call->gm.dtype;
    const bool is_float = from == PTO_F32, is_half = to == PTO_F16 || (to == PTO_BF16 && is_float),
               is_byte = to == PTO_I8 || to == PTO_U8, is_sum = call->src[0].role == PTO_ROLE_ACCUMULATOR;
    if (call->has_scale && is_sum && (is_float || from == PTO_I32) && (is_half || is_byte)) return PTO_OK;
    if (call->has_scale)
        return insn_fail(call,
                         "%s is not scaled to %s: only f32 and i32 in `acc` are, to f16, i8 and u8, f32 to bf16 too",
                         pto_dtype_name(from), pto_dtype_name(to));
    if (from != to && !(is_sum && is_float && is_half))
        return insn_fail(call, "the tile is %s, the array %s: only f32 in `acc` is converted, to f16 or bf16",
                         pto_dtype_name(from), pto_dtype_name(to));
    return is_sum && is_float ? PTO_OK : insn_fail(call, "only f32 in `acc` passes a relu on its way");
}

/* What accumulators do on their way out: a relu, a product, rounding to nearest even. */
static void store_converted(const insn_call *call)
{
    const gm_window *w = &call->gm;
    const tile_ref *factors = call->src[1].base != NULL ? &call->src[1] : NULL;
    float piece[LANES];
    const int64_t stride = gm_row_stride(w), size = (int64_t)element_bytes(w->dtype);
    for (int64_t r = 0; r < w->rows; r++) {
        for (int64_t c = 0; c < w->cols; c += LANES) {
            const size_t n = w->cols - c < LANES ? (size_t)(w->cols - c) : LANES;
            insn_scale(call, &call->src[0], r, c, n, factors, piece);
            element_convert(w->dtype, w->base + gm_offset(w, r, c) * size, stride, PTO_F32, piece, 1, n, ROUND_RINT,
                            !element_is_float(w->dtype), false);
        }
    }
}

/* What is stored and where; tiles: those that are read. */
static pto_status check_store(insn_call *call, int tiles)
{
    const gm_window *w = &call->gm;
    const tile_ref *t = &call->src[0];
    call->dst = *t; /* there is no destination tile: the checks look at the source alone */
    INSN_TRY(insn_begin(call, tiles, 1));
    INSN_TRY(check_window(call));
    if (w->transpose) return insn_fail(call, "a store cannot transpose");
    if (w->rows != t->valid_rows || w->cols != t->valid_cols) {
        return insn_fail(call, "a window of %" PRId64 " x %" PRId64 " for a valid region of %" PRId64 " x %" PRId64,
                         w->rows, w->cols, t->valid_rows, t->valid_cols);
    }
    return PTO_OK;
}

pto_status insn_TSTORE(insn_call *call)
{
    call->src[1].base = NULL;
    INSN_TRY(check_store(call, 1));
    if (call->relu || call->has_scale || call->gm.dtype != call->src[0].dtype) {
        INSN_TRY(check_leaving(call));
        store_converted(call);
    } else {
        transfer(&call->gm, &call->src[0], false);
    }
    return PTO_OK;
}

pto_status insn_TSTORE_FP(insn_call *call)
{
    INSN_TRY(check_store(call, 2));
    INSN_TRY(insn_check_factors(call, &call->src[0], &call->src[1], call->gm.dtype));
    store_converted(call);
    return PTO_OK;
}

pto_status insn_TEXPANDS(insn_call *call)
{
    const tile_ref *t = &call->dst;
    INSN_TRY(insn_begin(call, 0, 0));
    const uint64_t bits = element_from_number(t->dtype, call->scalar, false);
    for (int64_t r = 0; r < t->valid_rows; r++) tile_fill(t, r, 0, (size_t)t->valid_cols, bits);
    return PTO_OK;
}

pto_status insn_TCI(insn_call *call)
{
    const tile_ref *t = &call->dst;
    int64_t x[LANES], start;
    INSN_TRY(insn_begin(call, 0, 0));
    const uint64_t bits = element_from_number(t->dtype, call->scalar, false);
    element_read_i64(t->dtype, &bits, 1, 1, &start);
    for (int64_t c = 0; t->valid_rows != 0 && c < t->valid_cols; c += LANES) {
        const size_t n = t->valid_cols - c < LANES ? (size_t)(t->valid_cols - c) : LANES;
        for (size_t i = 0; i < n; i++) x[i] = (int64_t)((uint64_t)start + (uint64_t)c + i);
        tile_write_i64(t, 0, c, n, x);
    }
    return PTO_OK;
}

pto_status insn_TGETVAL(insn_call *call)
{
    const tile_ref *s = &call->src[0];
    const int64_t r = call->at[0], c = call->at[1];
    INSN_TRY(insn_check_number(call, s->dtype));
    if (r < 0 || c < 0 || r >= s->valid_rows || c >= s->valid_cols)
        return insn_fail(call,
                         "element [%" PRId64 ", %" PRId64 "] is outside of the valid region of %" PRId64 " x %" PRId64,
                         r, c, s->valid_rows, s->valid_cols);
    const uint8_t *from = s->base + tile_run_at(s, r, c, 1).offset * (int64_t)element_bytes(s->dtype);
    call->scalar = element_number(s->dtype, from);
    return PTO_OK;
}

/* What can be printed: the caller does it. */
pto_status insn_TPRINT(insn_call *call)
{
    call->dst = call->src[0];
    INSN_TRY(insn_begin(call, 0, 0));
    return insn_check_number(call, call->src[0].dtype);
}

/* Whether f32 of an accumulator leaves as a float of 16 bits. */
static bool is_rounded(const tile_ref *to, const tile_ref *from)
{
    return from->role == PTO_ROLE_ACCUMULATOR && from->dtype == PTO_F32 && pto_dtype_is_half_float(to->dtype);
}

/* All of `from`, to where row `row` and column `column` are. */
static void round_tile(const tile_ref *to, int64_t row, int64_t column, const tile_ref *from)
{
    float piece[LANES];
    for (int64_t r = 0; r < from->valid_rows; r++) {
        for (int64_t c = 0; c < from->valid_cols; c += LANES) {
            const size_t n = from->valid_cols - c < LANES ? (size_t)(from->valid_cols - c) : LANES;
            tile_read_f32(from, r, c, n, piece);
            tile_write_f32(to, row + r, column + c, n, piece);
        }
    }
}

pto_status insn_TMOV(insn_call *call)
{
    const tile_ref *t = &call->dst, *s = &call->src[0];
    INSN_TRY(insn_begin(call, 1, 1));
    INSN_TRY(insn_check_valid(call, 0, t->valid_rows, t->valid_cols));
    if (is_rounded(t, s)) {
        round_tile(t, 0, 0, s);
        return PTO_OK;
    }
    INSN_TRY(insn_check_dtype(call, 0));
    insn_copy_tile(t, s);
    return PTO_OK;
}

pto_status insn_TEXTRACT(insn_call *call)
{
    const tile_ref *t = &call->dst, *s = &call->src[0];
    const int64_t r = call->at[0], c = call->at[1];
    INSN_TRY(insn_begin(call, 1, 0));
    INSN_TRY(insn_check_dtype(call, 0));
    INSN_TRY(insn_check_inside(call, t, s));
    for (int64_t i = 0; i < t->valid_rows; i++) copy_elements(t, i, 0, s, r + i, c, t->valid_cols);
    return PTO_OK;
}

pto_status insn_TINSERT(insn_call *call)
{
    const tile_ref *t = &call->dst, *s = &call->src[1];
    const int64_t r = call->at[0], c = call->at[1];
    INSN_TRY(insn_begin(call, 2, 1));
    INSN_TRY(insn_check_dtype(call, 0));
    if (!is_rounded(t, s)) INSN_TRY(insn_check_dtype(call, 1));
    INSN_TRY(insn_check_valid(call, 0, t->valid_rows, t->valid_cols));
    INSN_TRY(insn_check_inside(call, s, t));
    insn_copy_tile(t, &call->src[0]);
    if (is_rounded(t, s)) round_tile(t, r, c, s);
    for (int64_t i = 0; t->dtype == s->dtype && i < s->valid_rows; i++)
        copy_elements(t, r + i, c, s, i, 0, s->valid_cols);
    return PTO_OK;
}

static int64_t within(int64_t n, int64_t most) { return n < 0 ? 0 : n > most ? most : n; }

pto_status insn_TTRI(insn_call *call)
{
    const tile_ref *t = &call->dst;
    INSN_TRY(insn_begin(call, 0, 0));
    INSN_TRY(insn_check_number(call, t->dtype));
    const uint64_t one = element_from_number(t->dtype, number_from_int(1), false), zero = 0;
    for (int64_t r = 0; r < t->valid_rows; r++) {
        const int64_t diagonal = call->at[0] + r - call->at[1];
        const int64_t turn = within(call->upper ? diagonal : diagonal + 1, t->valid_cols);
        tile_fill(t, r, 0, (size_t)turn, call->upper ? zero : one);
        tile_fill(t, r, turn, (size_t)(t->valid_cols - turn), call->upper ? one : zero);
    }
    return PTO_OK;
}

pto_status insn_TCONCAT(insn_call *call)
{
    const tile_ref *t = &call->dst, *a = &call->src[0], *b = &call->src[1];
    INSN_TRY(insn_begin(call, 2, 0));
    INSN_TRY(insn_check_dtype(call, 0));
    INSN_TRY(insn_check_dtype(call, 1));
    INSN_TRY(insn_check_valid(call, 0, t->valid_rows, a->valid_cols));
    INSN_TRY(insn_check_valid(call, 1, t->valid_rows, b->valid_cols));
    if (t->valid_cols != a->valid_cols + b->valid_cols)
        return insn_fail(call, "%" PRId64 " valid columns for %" PRId64 " and %" PRId64, t->valid_cols, a->valid_cols,
                         b->valid_cols);
    for (int64_t r = 0; r < t->valid_rows; r++) {
        copy_elements(t, r, 0, a, r, 0, a->valid_cols);
        copy_elements(t, r, a->valid_cols, b, r, 0, b->valid_cols);
    }
    return PTO_OK;
}

pto_status insn_TTRANS(insn_call *call)
{
    INSN_TRY(insn_begin(call, 1, 0));
    INSN_TRY(insn_check_valid(call, 0, call->dst.valid_cols, call->dst.valid_rows));
    INSN_TRY(insn_check_dtype(call, 0));
    const tile_ref s = tile_transposed(&call->src[0]);
    insn_copy_tile(&call->dst, &s);
    return PTO_OK;
}

/* ---- by indices ---- */

static size_t piece_at(const tile_ref *t, int64_t c)
{
    return t->valid_cols - c < LANES ? (size_t)(t->valid_cols - c) : LANES;
}

/* One row of each is valid: `listed` has an element for each of `index`, and these count along `table`. */
static pto_status check_indices(insn_call *call, const tile_ref *table, const tile_ref *listed, const tile_ref *index)
{
    if (table->valid_rows > 1 || listed->valid_rows > 1 || index->valid_rows > 1)
        return insn_fail(call, "more than one row");
    if (listed->valid_rows != index->valid_rows || listed->valid_cols != index->valid_cols)
        return insn_fail(call, "%" PRId64 " x %" PRId64 " indices for %" PRId64 " x %" PRId64 " elements",
                         index->valid_rows, index->valid_cols, listed->valid_rows, listed->valid_cols);
    if (index->dtype != PTO_I32)
        return insn_fail(call, "the indices are %s, they must be i32", pto_dtype_name(index->dtype));
    const int64_t extent = table->valid_rows == 0 ? 0 : table->valid_cols;
    int64_t at[LANES];
    for (int64_t c = 0; index->valid_rows != 0 && c < index->valid_cols; c += LANES) {
        const size_t n = piece_at(index, c);
        tile_read_i64(index, 0, c, n, at);
        for (size_t i = 0; i < n; i++)
            if (at[i] < 0 || at[i] >= extent)
                return insn_fail(call, "index %" PRId64 " at column %" PRId64 " is out of the %" PRId64 " elements",
                                 at[i], c + (int64_t)i, extent);
    }
    return PTO_OK;
}

static uint8_t *element_at(const tile_ref *t, int64_t c)
{
    return t->base + tile_run_at(t, 0, c, 1).offset * (int64_t)element_bytes(t->dtype);
}

/* Elements of the table at the indices, to what is listed, or back. */
static void move_by_index(const tile_ref *table, const tile_ref *listed, const tile_ref *index, bool gathers)
{
    const size_t size = element_bytes(table->dtype);
    int64_t at[LANES];
    for (int64_t c = 0; index->valid_rows != 0 && c < index->valid_cols; c += LANES) {
        const size_t n = piece_at(index, c);
        tile_read_i64(index, 0, c, n, at);
        for (size_t i = 0; i < n; i++) {
            uint8_t *const one = element_at(listed, c + (int64_t)i), *const other = element_at(table, at[i]);
            memcpy(gathers ? one : other, gathers ? other : one, size);
        }
    }
}

pto_status insn_TGATHER(insn_call *call)
{
    const tile_ref *table = &call->src[0], *index = &call->src[1];
    INSN_TRY(insn_begin(call, 2, 0));
    INSN_TRY(insn_check_number(call, call->dst.dtype));
    INSN_TRY(insn_check_dtype(call, 0));
    INSN_TRY(check_indices(call, table, &call->dst, index));
    move_by_index(table, &call->dst, index, true);
    return PTO_OK;
}

enum { BLOCK_BYTES = 32 };

/* Row and first column of the block at a byte of a tile without boxes; false: it is not one that is all valid. */
static bool find_block(const tile_ref *t, int64_t offset, int64_t block, int64_t *row, int64_t *column)
{
    const bool down = t->order == PTO_ORDER_COLUMN;
    const int64_t line = down ? t->rows : t->cols, at = offset / (int64_t)element_bytes(t->dtype);
    if (offset < 0 || offset % BLOCK_BYTES != 0 || line == 0 || down) return false;
    *row = at / line;
    *column = at % line;
    return *row < t->valid_rows && *column + block <= t->valid_cols;
}

pto_status insn_TGATHERB(insn_call *call)
{
    const tile_ref *t = &call->dst, *s = &call->src[0], *offset = &call->src[1];
    const int64_t block = BLOCK_BYTES / (int64_t)element_bytes(t->dtype);
    INSN_TRY(insn_begin(call, 2, 0));
    INSN_TRY(insn_check_number(call, t->dtype));
    INSN_TRY(insn_check_dtype(call, 0));
    if (offset->dtype != PTO_I32)
        return insn_fail(call, "the offsets are %s, they must be i32", pto_dtype_name(offset->dtype));
    if (t->valid_rows != offset->valid_rows || t->valid_cols != block * offset->valid_cols)
        return insn_fail(call, "%" PRId64 " x %" PRId64 " blocks of %" PRId64 " for %" PRId64 " x %" PRId64 " elements",
                         offset->valid_rows, offset->valid_cols, block, t->valid_rows, t->valid_cols);
    for (int moves = 0; moves < 2; moves++)
        for (int64_t r = 0; r < t->valid_rows; r++)
            for (int64_t b = 0; b < offset->valid_cols; b++) {
                int64_t from, row, column;
                tile_read_i64(offset, r, b, 1, &from);
                if (!find_block(s, from, block, &row, &column))
                    return insn_fail(call,
                                     "offset %" PRId64 " at [%" PRId64 ", %" PRId64
                                     "] is not that of a block in the valid region of %" PRId64 " x %" PRId64,
                                     from, r, b, s->valid_rows, s->valid_cols);
                if (moves) copy_elements(t, r, b * block, s, row, column, block);
            }
    return PTO_OK;
}

pto_status insn_TSCATTER(insn_call *call)
{
    const tile_ref *t = &call->dst, *values = &call->src[1], *index = &call->src[2];
    INSN_TRY(insn_begin(call, 3, 1));
    INSN_TRY(insn_check_number(call, t->dtype));
    INSN_TRY(insn_check_dtype(call, 0));
    INSN_TRY(insn_check_dtype(call, 1));
    INSN_TRY(insn_check_valid(call, 0, t->valid_rows, t->valid_cols));
    INSN_TRY(check_indices(call, t, values, index));
    insn_copy_tile(t, &call->src[0]);
    move_by_index(t, values, index, false);
    return PTO_OK;
}

/* ---- order ---- */

/* Memory for the order of a row is in scratch, after what insn_begin may have put there. */
pto_status insn_TORDER(insn_call *call)
{
    const tile_ref *t = &call->dst, *s = &call->src[0];
    INSN_TRY(insn_check_number(call, s->dtype));
    if (t->dtype != PTO_I32) return insn_fail(call, "places are %s, they must be i32", pto_dtype_name(t->dtype));
    if (t->valid_rows != s->valid_rows || t->valid_cols > s->valid_cols)
        return insn_fail(call, "%" PRId64 " x %" PRId64 " places in rows of %" PRId64 " x %" PRId64, t->valid_rows,
                         t->valid_cols, s->valid_rows, s->valid_cols);
    INSN_TRY(insn_begin(call, 1, 0));
    const int64_t n = s->valid_cols;
    const size_t before = (tile_capacity_bytes(s) + 7) / 8 * 8, needed = before + 3 * sizeof(int64_t) * (size_t)n;
    if (needed > call->scratch_bytes) {
        call->scratch_needed = needed;
        return insn_fail(call, "the order takes %zu bytes of scratch", needed);
    }
    void *const keys = (uint8_t *)call->scratch + before;
    int64_t *const numbers = keys;
    for (int64_t r = 0; r < t->valid_rows && n != 0; r++) {
        order_line l = {.dtype = s->dtype, .descending = call->descending, .n = n, .reals = keys, .wholes = keys};
        l.order = numbers + n;
        l.spare = numbers + 2 * n;
        for (int64_t c = 0; c < n;) {
            const tile_run run = tile_run_at(s, r, c, (size_t)(n - c));
            const void *from = s->base + run.offset * (int64_t)element_bytes(s->dtype);
            if (element_is_float(s->dtype))
                element_read_f64(s->dtype, from, run.stride, run.count, l.reals + c);
            else
                element_read_i64(s->dtype, from, run.stride, run.count, l.wholes + c);
            c += (int64_t)run.count;
        }
        order_sort(&l);
        for (int64_t c = 0; c < t->valid_cols; c++)
            element_write_i64(PTO_I32, t->base + tile_run_at(t, r, c, 1).offset * (int64_t)sizeof(int32_t), 1, 1,
                              l.order + c);
    }
    return PTO_OK;
}

pto_status insn_TROWGATHER(insn_call *call)
{
    const tile_ref *t = &call->dst, *s = &call->src[0], *index = &call->src[1];
    const size_t size = element_bytes(t->dtype);
    INSN_TRY(insn_begin(call, 2, 0));
    INSN_TRY(insn_check_number(call, t->dtype));
    INSN_TRY(insn_check_dtype(call, 0));
    INSN_TRY(insn_check_valid(call, 1, t->valid_rows, t->valid_cols));
    if (index->dtype != PTO_I32)
        return insn_fail(call, "the indices are %s, they must be i32", pto_dtype_name(index->dtype));
    if (s->valid_rows != t->valid_rows)
        return insn_fail(call, "%" PRId64 " rows of indices for %" PRId64, t->valid_rows, s->valid_rows);
    for (int moves = 0; moves < 2; moves++)
        for (int64_t r = 0; r < t->valid_rows; r++)
            for (int64_t c = 0; c < t->valid_cols; c++) {
                int64_t at;
                tile_read_i64(index, r, c, 1, &at);
                if (at < 0 || at >= s->valid_cols)
                    return insn_fail(call, "index %" PRId64 " at row %" PRId64 " is out of the %" PRId64 " elements",
                                     at, r, s->valid_cols);
                if (moves)
                    memcpy(t->base + tile_run_at(t, r, c, 1).offset * (int64_t)size,
                           s->base + tile_run_at(s, r, at, 1).offset * (int64_t)size, size);
            }
    return PTO_OK;
}

/* ---- bits and records ---- */

pto_status insn_TRESHAPE(insn_call *call)
{
    INSN_TRY(insn_begin(call, 1, 0));
    INSN_TRY(insn_check_valid(call, 0, call->dst.valid_rows, call->dst.valid_cols));
    if (element_bytes(call->src[0].dtype) != element_bytes(call->dst.dtype))
        return insn_fail(call, "elements of %s and %s are not of one width", pto_dtype_name(call->src[0].dtype),
                         pto_dtype_name(call->dst.dtype));
    insn_copy_tile(&call->dst, &call->src[0]);
    return PTO_OK;
}

/* A key in the low half, as the bits of an f32, and an index. */
enum { SORTED_AT_ONCE = 32, MERGED_AT_ONCE = 4 };

static uint64_t record_at(const tile_ref *t, int64_t c)
{
    uint64_t record;
    memcpy(&record, element_at(t, c), sizeof record);
    return record;
}
static void put_record(const tile_ref *t, int64_t c, uint64_t record)
{
    memcpy(element_at(t, c), &record, sizeof record);
}

static float key_of(uint64_t record)
{
    const uint32_t bits = (uint32_t)record;
    float key;
    memcpy(&key, &bits, sizeof key);
    return key;
}

/* Descending, NaN last: 1 where `a` is before `b`, 0 where they are equal. */
static int compare_records(uint64_t a, uint64_t b)
{
    const float x = key_of(a), y = key_of(b);
    const int x_lacks = x != x, y_lacks = y != y;
    if (x_lacks || y_lacks) return y_lacks - x_lacks;
    return (x > y) - (x < y);
}

pto_status insn_TSORT32(insn_call *call)
{
    const tile_ref *t = &call->dst, *key = &call->src[0], *index = &call->src[1];
    INSN_TRY(insn_begin(call, 2, 0));
    INSN_TRY(insn_check_valid(call, 0, t->valid_rows, t->valid_cols));
    INSN_TRY(insn_check_valid(call, 1, t->valid_rows, t->valid_cols));
    if (t->valid_rows > 1) return insn_fail(call, "more than one row");
    if (t->dtype != PTO_REC64 || key->dtype != PTO_F32 || index->dtype != PTO_I32)
        return insn_fail(call, "records are rec64, of keys in f32 and indices in i32");
    if (t->valid_cols % SORTED_AT_ONCE != 0)
        return insn_fail(call, "%" PRId64 " columns are not a multiple of 32", t->valid_cols);
    for (int64_t c = 0; t->valid_rows != 0 && c < t->valid_cols; c += SORTED_AT_ONCE) {
        uint64_t sorted[SORTED_AT_ONCE];
        for (int i = 0; i < SORTED_AT_ONCE; i++) {
            uint32_t halves[2];
            memcpy(&halves[0], element_at(key, c + i), sizeof halves[0]);
            memcpy(&halves[1], element_at(index, c + i), sizeof halves[1]);
            const uint64_t record = (uint64_t)halves[1] << 32 | halves[0];
            int at = i;
            for (; at > 0; at--) {
                const int order = compare_records(sorted[at - 1], record);
                if (order > 0 || (order == 0 && sorted[at - 1] >> 32 <= halves[1])) break;
                sorted[at] = sorted[at - 1];
            }
            sorted[at] = record;
        }
        for (int i = 0; i < SORTED_AT_ONCE; i++) put_record(t, c + i, sorted[i]);
    }
    return PTO_OK;
}

/* Records from `at` to before `end` of a list. */
typedef struct record_list {
    const tile_ref *tile;
    int64_t at, end;
} record_list;

/* The first `room` records of the lists, from column c on; of equal ones those of an earlier list. */
static void merge_lists(const tile_ref *to, int64_t c, int64_t room, int count, record_list *lists)
{
    for (int64_t stop = c + room; c < stop; c++) {
        record_list *best = NULL;
        for (int i = 0; i < count; i++) {
            if (lists[i].at >= lists[i].end) continue;
            if (best == NULL ||
                compare_records(record_at(lists[i].tile, lists[i].at), record_at(best->tile, best->at)) > 0)
                best = &lists[i];
        }
        if (best == NULL) return;
        put_record(to, c, record_at(best->tile, best->at++));
    }
}

static pto_status check_records(insn_call *call, int source_count, int64_t have)
{
    const tile_ref *t = &call->dst;
    for (int i = 0; i < source_count; i++) {
        INSN_TRY(insn_check_dtype(call, i));
        if (call->src[i].valid_rows > 1) return insn_fail(call, "more than one row");
    }
    if (t->dtype != PTO_REC64) return insn_fail(call, "records are %s, they must be rec64", pto_dtype_name(t->dtype));
    if (t->valid_rows > 1) return insn_fail(call, "more than one row");
    if (t->valid_cols > have) return insn_fail(call, "%" PRId64 " records are wanted of %" PRId64, t->valid_cols, have);
    return PTO_OK;
}

pto_status insn_TMRGSORT(insn_call *call)
{
    const tile_ref *t = &call->dst, *s = &call->src[0];
    const int64_t run = call->run;
    INSN_TRY(insn_begin(call, 1, 0));
    INSN_TRY(check_records(call, 1, s->valid_rows * s->valid_cols));
    if (run < SORTED_AT_ONCE || run % SORTED_AT_ONCE != 0)
        return insn_fail(call, "a run of %" PRId64 " is not a multiple of 32", run);
    for (int64_t c = 0; c < t->valid_cols; c += MERGED_AT_ONCE * run) {
        record_list lists[MERGED_AT_ONCE];
        for (int i = 0; i < MERGED_AT_ONCE; i++) {
            const int64_t from = c + i * run;
            lists[i] = (record_list){s, from, from + run < s->valid_cols ? from + run : s->valid_cols};
        }
        const int64_t rest = t->valid_cols - c;
        merge_lists(t, c, rest < MERGED_AT_ONCE * run ? rest : MERGED_AT_ONCE * run, MERGED_AT_ONCE, lists);
    }
    return PTO_OK;
}

pto_status insn_TMRGSORT_LISTS(insn_call *call)
{
    const tile_ref *t = &call->dst, *next = &call->src[0], *first = &call->src[1];
    INSN_TRY(insn_begin(call, 2, 0));
    INSN_TRY(check_records(call, 2, next->valid_rows * next->valid_cols + first->valid_rows * first->valid_cols));
    record_list lists[2] = {{first, 0, first->valid_rows * first->valid_cols},
                            {next, 0, next->valid_rows * next->valid_cols}};
    merge_lists(t, 0, t->valid_rows * t->valid_cols, 2, lists);
    return PTO_OK;
}

pto_status insn_TGATHER_MASK(insn_call *call)
{
    const tile_ref *t = &call->dst, *s = &call->src[0];
    INSN_TRY(insn_begin(call, 1, 0));
    INSN_TRY(insn_check_valid(call, 0, t->valid_rows, t->valid_cols));
    if (t->dtype != PTO_I32 || s->dtype != PTO_REC64)
        return insn_fail(call, "%s of %s: records are rec64, their indices i32", pto_dtype_name(t->dtype),
                         pto_dtype_name(s->dtype));
    for (int64_t c = 0; t->valid_rows == 1 && c < t->valid_cols; c++) {
        const uint32_t index = (uint32_t)(record_at(s, c) >> 32);
        memcpy(element_at(t, c), &index, sizeof index);
    }
    return PTO_OK;
}

pto_status insn_TFILLPAD(insn_call *call)
{
    const tile_ref *t = &call->dst, *s = &call->src[0];
    INSN_TRY(insn_begin(call, 1, 1));
    INSN_TRY(insn_check_dtype(call, 0));
    if (s->valid_rows > t->rows || s->valid_cols > t->cols) {
        return insn_fail(call, "a source of %" PRId64 " x %" PRId64 " for a capacity of %" PRId64 " x %" PRId64,
                         s->valid_rows, s->valid_cols, t->rows, t->cols);
    }
    insn_copy_tile(t, s);
    fill_rest(t, s->valid_rows, s->valid_cols, element_from_number(t->dtype, call->pad, true));
    return PTO_OK;
}
