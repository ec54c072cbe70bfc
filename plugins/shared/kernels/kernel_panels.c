/* Products with weights that lie in panels of a few columns: by what a row has for few rows of A, by its micro-kernels
 * where the panels are as these want them, one panel after the other for few rows, or as matrices beside each other. */
#include "kernel_rows.h"

#include <pto/names.h>
#include <pto/native.h>

#include <string.h>

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

/* Elements of B as they lie. */
static int64_t element_bytes(const pto_contraction *row) { return (int64_t)pto_dtype_bytes(row->b); }

/* Panels of f32 are those of micro-kernels. */
static bool are_its_panels(const pto_contraction *row, int64_t width)
{
    return row->b == PTO_F32 && row->k_group == 1 && width == row->nr;
}

/* How much of k the panels of A hold in CONTRACTION_FEW_BYTES, PIECE elements of it in each; 0: too little to be worth
 * it. Then memory is read panel by panel, each from its begin to its end, and PIECE lines of it stay in a cache while
 * panels of A take turns. */
enum { PIECE = 512, PIECES_LEAST = 2 };
static int64_t depth_of_few(const pto_contraction *row, int64_t m)
{
    const int64_t pieces = CONTRACTION_FEW_BYTES / ((m + row->mr - 1) / row->mr * pto_panel_a_bytes(row, PIECE));
    return pieces < PIECES_LEAST ? 0 : pieces * PIECE;
}

/* One panel of B, of which n columns are there, times `depth` elements of all rows. */
static void few_times_panel(const pto_contraction *row, int64_t m, int64_t n, int64_t depth, const char *left,
                            const char *right, char *c, int64_t c_row_stride, bool adds)
{
    const int64_t unit = pto_panel_a_bytes(row, PIECE);
    for (int64_t q = 0; q < depth; q += PIECE, right += PIECE * row->nr * row->b_bytes)
        for (int64_t i = 0; i < m; i += row->mr, left += unit)
            row->micro(smaller(PIECE, depth - q), left, right, c + 4 * i * c_row_stride, c_row_stride,
                       smaller(row->mr, m - i), n, adds || q > 0);
}

/* Few rows of A, whose panels are made for `most` elements along k at a time. */
static void few_by_panels(const pto_contraction *row, int64_t most, int64_t m, int64_t n, int64_t k, const void *a,
                          int64_t a_row_stride, int64_t a_k_stride, const char *b, int64_t panel_bytes, char *c,
                          int64_t c_row_stride, bool accumulate, char *a_panels)
{
    const int64_t unit = pto_panel_a_bytes(row, PIECE), parts = (m + row->mr - 1) / row->mr;
    for (int64_t p = 0; p < k; p += most, b += most * row->nr * row->b_bytes) {
        const int64_t depth = smaller(most, k - p);
        for (int64_t q = 0; q < depth; q += PIECE)
            row->pack_a(m, smaller(PIECE, depth - q), a, (p + q) * a_k_stride, a_row_stride, a_k_stride,
                        a_panels + q / PIECE * parts * unit, unit);
        for (int64_t j = 0; j < n; j += row->nr)
            few_times_panel(row, m, smaller(row->nr, n - j), depth, a_panels, b + j / row->nr * panel_bytes, c + 4 * j,
                            c_row_stride, accumulate || p > 0);
    }
}

int64_t contraction_by_panels_scratch(const pto_contraction *row, int64_t m, int64_t n)
{
    const bool has_few = row->few != NULL || are_its_panels(row, row->nr);
    const int64_t few = has_few ? CONTRACTION_FEW_BYTES + CONTRACTION_LINE : 0,
                  any = contraction_scratch_most(row, m, n);
    return few > any ? few : any;
}

void contraction_by_panels(const pto_contraction *row, pto_contraction_few *few, int64_t m, int64_t n, int64_t k,
                           const void *a, int64_t a_row_stride, int64_t a_k_stride, const void *b, int64_t width,
                           int64_t panel_stride, void *c, int64_t c_row_stride, bool accumulate, void *scratch)
{
    const int64_t panel_bytes = panel_stride * element_bytes(row);
    if (m <= 0 || n <= 0) return;
    if (k > 0 && contraction_few(row, few, m, n, k, a, a_row_stride, a_k_stride, b, width, panel_stride, c,
                                 c_row_stride, accumulate, scratch))
        return;
    const int64_t most = k > 0 && are_its_panels(row, width) ? depth_of_few(row, m) : 0;
    if (most > 0) {
        few_by_panels(row, most, m, n, k, a, a_row_stride, a_k_stride, b, panel_bytes, c, c_row_stride, accumulate,
                      contraction_align(scratch));
        return;
    }
    if (are_its_panels(row, width)) {
        contraction_panels(row, m, n, k, a, a_row_stride, a_k_stride, b, panel_bytes, c, c_row_stride, accumulate,
                           scratch);
        return;
    }
    for (int64_t j = 0; j < n; j += width)
        row->block(m, smaller(width, n - j), k, a, a_row_stride, a_k_stride, (const char *)b + j / width * panel_bytes,
                   width, 1, (char *)c + 4 * j, c_row_stride, accumulate, scratch);
}

/* ---- panels made of a matrix ---- */

int64_t contraction_few_bytes(const pto_contraction *row, int64_t n, int64_t k, int64_t b_k_stride,
                              int64_t b_column_stride)
{
    if (row->few_columns == 0 || n <= 0 || k <= 0 || (b_k_stride != 1 && b_column_stride != 1)) return 0;
    return (n + row->few_columns - 1) / row->few_columns * row->few_columns * k * element_bytes(row);
}

/* One panel of `width` columns, of which n are there; the others become 0. */
static void make_panel(int64_t bytes, int64_t n, int64_t k, const char *from, int64_t k_stride, int64_t column_stride,
                       char *panel, int64_t width)
{
    if (n < width) memset(panel, 0, (size_t)(width * k * bytes));
    if (column_stride == 1)
        pto_copy_rows(k, n * bytes, from, k_stride * bytes, panel, width * bytes, false);
    else
        pto_transpose(bytes, n, k, from, column_stride, panel, width);
}

void contraction_few_pack(const pto_contraction *row, int64_t part, int64_t n, int64_t k, const void *from,
                          int64_t b_k_stride, int64_t b_column_stride, void *panels)
{
    const int64_t width = row->few_columns, bytes = element_bytes(row), first = part * PTO_PACKED_COLUMNS,
                  end = smaller(n, first + PTO_PACKED_COLUMNS);
    for (int64_t j = first; j < end; j += width)
        make_panel(bytes, smaller(width, n - j), k, (const char *)from + j * b_column_stride * bytes, b_k_stride,
                   b_column_stride, (char *)panels + j * k * bytes, width);
}
