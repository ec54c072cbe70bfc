/* tmatmul, tmatmul_acc and tmatmul_bias, and those of one row. Panels of right and rows of left are unpacked from their
 * layouts to the stack; sums rest in the destination between panels, which keeps every bit: it holds f32 or i32. */
#include "semantics/insn_family.h"
#include "semantics/matmul_panel.h"

#include <inttypes.h>
#include <string.h>

typedef struct product {
    uint32_t cpu;
    tile_ref acc, left, right;
    const tile_ref *start; /* NULL: zero */
    bool repeats;          /* row 0 of `start` for each row */
    int64_t m, k, n;
} product;

/* Row of what the sums of row `i` go on from, and that: at k = 0 the start. */
static int64_t start_row(const product *p, int64_t k, int64_t i) { return k == 0 && p->repeats ? 0 : i; }

static size_t at_most(int64_t left, size_t most) { return left < (int64_t)most ? (size_t)left : most; }

static void rows_f32(const product *p, panel_f32 *w, int64_t k, int64_t j)
{
    const tile_ref *from = k ? &p->acc : p->start;
    for (int64_t i = 0; i < p->m; i += PANEL_ROWS) {
        const size_t rows = at_most(p->m - i, PANEL_ROWS);
        for (size_t r = 0; r < rows; r++) {
            tile_read_f32(&p->left, i + (int64_t)r, k, w->depth, w->left[r]);
            if (from != NULL)
                tile_read_f32(from, start_row(p, k, i + (int64_t)r), j, w->cols, w->acc[r]);
            else
                memset(w->acc[r], 0, sizeof w->acc[r]);
        }
        matmul_panel_f32(p->cpu, w);
        for (size_t r = 0; r < rows; r++) tile_write_f32(&p->acc, i + (int64_t)r, j, w->cols, w->acc[r]);
    }
}

static void product_f32(const product *p)
{
    panel_f32 w;
    memset(&w, 0, sizeof w);
    for (int64_t j = 0; j < p->n; j += PANEL_COLS) {
        w.cols = at_most(p->n - j, PANEL_COLS);
        for (int64_t k = 0; k == 0 || k < p->k; k += PANEL_DEPTH) {
            w.depth = at_most(p->k - k, PANEL_DEPTH);
            for (size_t d = 0; d < w.depth; d++) tile_read_f32(&p->right, k + (int64_t)d, j, w.cols, w.right[d]);
            rows_f32(p, &w, k, j);
        }
    }
}

static void read_i32(const tile_ref *t, int64_t r, int64_t c, size_t n, int32_t *out)
{
    int64_t piece[LANES];
    tile_read_i64(t, r, c, n, piece);
    for (size_t i = 0; i < n; i++) out[i] = (int32_t)piece[i];
}

static void write_i32(const tile_ref *t, int64_t r, int64_t c, size_t n, const int32_t *from)
{
    int64_t piece[LANES];
    for (size_t i = 0; i < n; i++) piece[i] = from[i];
    tile_write_i64(t, r, c, n, piece);
}

static void rows_i32(const product *p, panel_i32 *w, int64_t k, int64_t j)
{
    const tile_ref *from = k ? &p->acc : p->start;
    for (int64_t i = 0; i < p->m; i += PANEL_ROWS) {
        const size_t rows = at_most(p->m - i, PANEL_ROWS);
        memset(w->acc, 0, sizeof w->acc);
        for (size_t r = 0; r < rows; r++) {
            read_i32(&p->left, i + (int64_t)r, k, w->depth, w->left[r]);
            if (from != NULL) read_i32(from, start_row(p, k, i + (int64_t)r), j, w->cols, w->acc[r]);
        }
        matmul_panel_i32(w);
        for (size_t r = 0; r < rows; r++) write_i32(&p->acc, i + (int64_t)r, j, w->cols, w->acc[r]);
    }
}

static void product_i32(const product *p)
{
    panel_i32 w;
    memset(&w, 0, sizeof w);
    for (int64_t j = 0; j < p->n; j += PANEL_COLS) {
        w.cols = at_most(p->n - j, PANEL_COLS);
        for (int64_t k = 0; k == 0 || k < p->k; k += PANEL_DEPTH) {
            w.depth = at_most(p->k - k, PANEL_DEPTH);
            for (size_t d = 0; d < w.depth; d++) read_i32(&p->right, k + (int64_t)d, j, w.cols, w.right[d]);
            rows_i32(p, &w, k, j);
        }
    }
}

typedef enum start_of { FROM_ZERO, FROM_ACC, FROM_BIAS } start_of;

/* Sources are left and right; before them what is added to, or after them the bias. */
static pto_status run_product(insn_call *call, start_of from)
{
    const int first = from == FROM_ACC;
    const tile_ref *acc = &call->dst, *left = &call->src[first], *right = &call->src[first + 1];
    INSN_TRY(insn_begin(call, from == FROM_ZERO ? 2 : 3, first ? 1 : 0));
    const bool is_float = element_is_float(left->dtype) && left->dtype != PTO_F8E8M0;
    if (!is_float && left->dtype != PTO_I8)
        return insn_fail(call, "left is %s: f32, f16, bf16, f8e4m3, f8e5m2 and i8 are multiplied",
                         pto_dtype_name(left->dtype));
    if (left->dtype != right->dtype) {
        return insn_fail(call, "left is %s, right %s: they must be equal", pto_dtype_name(left->dtype),
                         pto_dtype_name(right->dtype));
    }
    if (acc->dtype != (is_float ? PTO_F32 : PTO_I32)) {
        return insn_fail(call, "%s products are summed in %s, the destination is %s", pto_dtype_name(left->dtype),
                         is_float ? "f32" : "i32", pto_dtype_name(acc->dtype));
    }
    if (left->valid_cols != right->valid_rows || acc->valid_rows != left->valid_rows ||
        acc->valid_cols != right->valid_cols) {
        return insn_fail(call,
                         "valid regions do not fit: %" PRId64 " x %" PRId64 " = %" PRId64 " x %" PRId64
                         " times %" PRId64 " x %" PRId64,
                         acc->valid_rows, acc->valid_cols, left->valid_rows, left->valid_cols, right->valid_rows,
                         right->valid_cols);
    }
    product p = {.cpu = call->cpu,
                 .acc = *acc,
                 .left = *left,
                 .right = *right,
                 .m = left->valid_rows,
                 .k = left->valid_cols,
                 .n = right->valid_cols};
    if (from != FROM_ZERO) {
        const int start = from == FROM_ACC ? 0 : 2;
        INSN_TRY(insn_check_dtype(call, start));
        INSN_TRY(insn_check_valid(call, start, from == FROM_ACC ? acc->valid_rows : 1, acc->valid_cols));
        p.start = &call->src[start];
        p.repeats = from == FROM_BIAS;
    }
    if (is_float)
        product_f32(&p);
    else
        product_i32(&p);
    return PTO_OK;
}

pto_status insn_TMATMUL(insn_call *call) { return run_product(call, FROM_ZERO); }
pto_status insn_TMATMUL_ACC(insn_call *call) { return run_product(call, FROM_ACC); }
pto_status insn_TMATMUL_BIAS(insn_call *call) { return run_product(call, FROM_BIAS); }

static pto_status row_product(insn_call *call, start_of from)
{
    if (call->dst.valid_rows == 1) return run_product(call, from);
    return insn_fail(call, "%" PRId64 " rows: it multiplies one", call->dst.valid_rows);
}

pto_status insn_TGEMV(insn_call *call) { return row_product(call, FROM_ZERO); }
pto_status insn_TGEMV_ACC(insn_call *call) { return row_product(call, FROM_ACC); }
pto_status insn_TGEMV_BIAS(insn_call *call) { return row_product(call, FROM_BIAS); }
