#include "semantics/tile_ref.h"

#include <string.h>

enum { BOX_SHORT = 16, BOX_LONG_BYTES = 32 };

/* 1 x 1 without boxes. */
static void tile_box(const tile_ref *t, int64_t *out_rows, int64_t *out_cols)
{
    *out_rows = *out_cols = 1;
    if (pto_order_boxes(t->order) == PTO_LINES_NONE) return;
    *out_rows = *out_cols = BOX_SHORT;
    if (t->role == PTO_ROLE_ACCUMULATOR) return;
    const size_t size = element_bytes(t->dtype);
    const int64_t wide = size ? BOX_LONG_BYTES / (int64_t)size : 1;
    if (pto_order_elements(t->order) == PTO_LINES_ROW)
        *out_cols = wide;
    else
        *out_rows = wide;
}

size_t tile_capacity_bytes(const tile_ref *t) { return (size_t)pto_tile_bytes(t->dtype, t->order, t->rows, t->cols); }

tile_ref tile_as_bytes(const tile_ref *t)
{
    tile_ref x = *t;
    if (t->dtype != PTO_MASK) return x;
    const bool down = t->order == PTO_ORDER_COLUMN, is_empty = t->valid_rows == 0 || t->valid_cols == 0;
    const int64_t lines = down ? t->cols : t->rows, line = (int64_t)tile_capacity_bytes(t) / lines;
    x.dtype = PTO_U8;
    *(down ? &x.rows : &x.cols) = line;
    *(down ? &x.valid_rows : &x.valid_cols) = is_empty ? 0 : line;
    return x;
}

const char *tile_problem(const tile_ref *t)
{
    enum { MOST = 1 << 30 };
    if (element_bytes(t->dtype) == 0) return "has no element type";
    if (t->order == PTO_ORDER_NONE || t->order >= PTO_ORDER_COUNT) return "has no layout";
    if (t->rows < 1 || t->cols < 1 || t->rows > MOST || t->cols > MOST) return "has a capacity below 1 or above 2^30";
    if (t->valid_rows < 0 || t->valid_cols < 0) return "has a negative valid region";
    if (t->valid_rows > t->rows || t->valid_cols > t->cols) return "has a valid region beyond its capacity";
    int64_t box_rows, box_cols;
    tile_box(t, &box_rows, &box_cols);
    if (t->rows % box_rows || t->cols % box_cols) return "has a capacity that is not a multiple of its box";
    if (tile_capacity_bytes(t) > t->bytes) return "reaches past the end of its buffer";
    return NULL;
}

tile_run tile_run_at(const tile_ref *t, int64_t r, int64_t c, size_t n)
{
    tile_run run = {.stride = 1};
    int64_t most = t->cols - c;
    if (t->order == PTO_ORDER_ROW) {
        run.offset = r * t->cols + c;
    } else if (t->order == PTO_ORDER_COLUMN) {
        run.offset = c * t->rows + r;
        run.stride = t->rows;
    } else {
        int64_t ir, ic;
        tile_box(t, &ir, &ic);
        const bool boxes_down = pto_order_boxes(t->order) == PTO_LINES_COLUMN;
        const bool inside_down = pto_order_elements(t->order) == PTO_LINES_COLUMN;
        const int64_t br = r / ir, bc = c / ic;
        const int64_t box = boxes_down ? bc * (t->rows / ir) + br : br * (t->cols / ic) + bc;
        run.offset = box * ir * ic + (inside_down ? c % ic * ir + r % ir : r % ir * ic + c % ic);
        run.stride = inside_down ? ir : 1;
        most = ic - c % ic;
    }
    run.count = n < (size_t)most ? n : (size_t)most;
    return run;
}

tile_ref tile_transposed(const tile_ref *t)
{
    static const uint8_t exchanged[PTO_ORDER_COUNT] = {
        [PTO_ORDER_ROW] = PTO_ORDER_COLUMN,
        [PTO_ORDER_COLUMN] = PTO_ORDER_ROW,
        [PTO_ORDER_COLUMN_ROW] = PTO_ORDER_ROW_COLUMN,
        [PTO_ORDER_ROW_COLUMN] = PTO_ORDER_COLUMN_ROW,
        [PTO_ORDER_ROW_ROW] = PTO_ORDER_COLUMN_COLUMN,
        [PTO_ORDER_COLUMN_COLUMN] = PTO_ORDER_ROW_ROW,
    };
    tile_ref x = *t;
    x.order = exchanged[t->order];
    x.rows = t->cols;
    x.cols = t->rows;
    x.valid_rows = t->valid_cols;
    x.valid_cols = t->valid_rows;
    return x;
}

bool tile_overlaps(const tile_ref *a, const tile_ref *b)
{
    const uintptr_t p = (uintptr_t)a->base, q = (uintptr_t)b->base;
    return p < q + tile_capacity_bytes(b) && q < p + tile_capacity_bytes(a);
}

bool tile_same_places(const tile_ref *a, const tile_ref *b)
{
    int64_t a_rows, a_cols, b_rows, b_cols;
    tile_box(a, &a_rows, &a_cols);
    tile_box(b, &b_rows, &b_cols);
    return a->base == b->base && (a->dtype == PTO_MASK) == (b->dtype == PTO_MASK) && a->order == b->order &&
           a->rows == b->rows && a->cols == b->cols && element_bytes(a->dtype) == element_bytes(b->dtype) &&
           a_rows == b_rows && a_cols == b_cols;
}

/* Walks n elements of a row run by run; `p` is the first byte of each run. */
#define EACH_RUN(statement)                                    \
    do {                                                       \
        const int64_t size = (int64_t)element_bytes(t->dtype); \
        while (n) {                                            \
            const tile_run run = tile_run_at(t, r, c, n);      \
            uint8_t *const p = t->base + run.offset * size;    \
            statement;                                         \
            c += (int64_t)run.count;                           \
            n -= run.count;                                    \
        }                                                      \
    } while (0)

void tile_read_f32(const tile_ref *t, int64_t r, int64_t c, size_t n, float *out)
{
    EACH_RUN(element_read_f32(t->dtype, p, run.stride, run.count, out); out += run.count);
}

void tile_read_i64(const tile_ref *t, int64_t r, int64_t c, size_t n, int64_t *out)
{
    EACH_RUN(element_read_i64(t->dtype, p, run.stride, run.count, out); out += run.count);
}

void tile_write_f32(const tile_ref *t, int64_t r, int64_t c, size_t n, const float *from)
{
    EACH_RUN(element_write_f32(t->dtype, p, run.stride, run.count, from); from += run.count);
}

void tile_write_f64(const tile_ref *t, int64_t r, int64_t c, size_t n, const double *from)
{
    EACH_RUN(element_write_f64(t->dtype, p, run.stride, run.count, from); from += run.count);
}

void tile_write_i64(const tile_ref *t, int64_t r, int64_t c, size_t n, const int64_t *from)
{
    EACH_RUN(element_write_i64(t->dtype, p, run.stride, run.count, from); from += run.count);
}

/* The byte of a mask in layout nd that has the bit. */
static uint8_t *bits_at(const tile_ref *t, int64_t r, int64_t c)
{
    return t->base + r * ((int64_t)tile_capacity_bytes(t) / t->rows) + c / 8;
}

void tile_read_bits(const tile_ref *t, int64_t r, int64_t c, size_t n, uint8_t *out)
{
    for (size_t i = 0; i < n; i++, c++) out[i] = *bits_at(t, r, c) >> (c % 8) & 1;
}

void tile_write_bits(const tile_ref *t, int64_t r, int64_t c, size_t n, const uint8_t *from)
{
    for (size_t i = 0; i < n; i++, c++) {
        uint8_t *to = bits_at(t, r, c);
        const uint8_t bit = (uint8_t)(1U << (c % 8));
        *to = (uint8_t)(from[i] != 0 ? *to | bit : *to & ~bit);
    }
}

void tile_fill(const tile_ref *t, int64_t r, int64_t c, size_t n, uint64_t bits)
{
    EACH_RUN(element_copy((size_t)size, p, run.stride, &bits, 0, run.count));
}

int64_t gm_offset(const gm_window *w, int64_t r, int64_t c)
{
    int64_t at = 0;
    for (uint32_t d = 0; d < w->rank; d++) at += w->offsets[d] * w->strides[d];
    const int64_t first = w->transpose ? c : r, second = w->transpose ? r : c;
    if (w->rank >= 2) at += first * w->strides[w->rank - 2];
    if (w->rank >= 1) at += second * w->strides[w->rank - 1];
    return at;
}

int64_t gm_row_stride(const gm_window *w)
{
    if (w->transpose) return w->rank >= 2 ? w->strides[w->rank - 2] : 0;
    return w->rank >= 1 ? w->strides[w->rank - 1] : 0;
}

/* Extent of the window along dim d of the array. */
static int64_t window_extent(const gm_window *w, int d)
{
    const int rank = (int)w->rank;
    if (d == rank - 1) return w->transpose ? w->rows : w->cols;
    if (d == rank - 2) return w->transpose ? w->cols : w->rows;
    return 1;
}

int gm_outside_dim(const gm_window *w, int64_t *out_extent)
{
    const int rank = (int)w->rank;
    for (int d = rank - 2 < 0 ? rank - 2 : 0; d < rank; d++) {
        const int64_t extent = window_extent(w, d);
        *out_extent = extent;
        if (d < 0) { /* a dim that the array does not have has extent 1 */
            if (extent > 1) return 0;
        } else if (w->offsets[d] < 0 || extent > w->dims[d] || w->offsets[d] > w->dims[d] - extent) {
            return d;
        }
    }
    return -1;
}

bool gm_in_bytes(const gm_window *w)
{
    if (w->rows == 0 || w->cols == 0) return true;
    __extension__ typedef __int128 wide;
    wide low = 0, high = 0;
    for (int d = 0; d < (int)w->rank; d++) {
        const wide first = (wide)w->offsets[d] * w->strides[d];
        const wide last = first + (wide)(window_extent(w, d) - 1) * w->strides[d];
        low += first < last ? first : last;
        high += first < last ? last : first;
    }
    return low >= 0 && (high + 1) * (wide)element_bytes(w->dtype) <= (wide)w->bytes;
}
