/* Products with weights that lie in panels of a few columns: by what a row has for few rows of A, by its micro-kernels
 * where the panels are as these want them, or as matrices beside each other. */
#include "kernel_rows.h"

#include <pto/names.h>

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

/* Elements of B as they lie. */
static int64_t element_bytes(const pto_contraction *row) { return (int64_t)pto_dtype_bytes(row->b); }

/* Panels of f32 are those of micro-kernels. */
static bool are_its_panels(const pto_contraction *row, int64_t width)
{
    return row->b == PTO_F32 && row->k_group == 1 && width == row->nr;
}

int64_t contraction_by_panels_scratch(const pto_contraction *row, int64_t m, int64_t n)
{
    const int64_t few = row->few != NULL ? CONTRACTION_FEW_BYTES + CONTRACTION_LINE : 0,
                  any = contraction_scratch_most(row, m, n);
    return few > any ? few : any;
}

void contraction_by_panels(const pto_contraction *row, int64_t m, int64_t n, int64_t k, const void *a,
                           int64_t a_row_stride, int64_t a_k_stride, const void *b, int64_t width, int64_t panel_stride,
                           void *c, int64_t c_row_stride, bool accumulate, void *scratch)
{
    const int64_t panel_bytes = panel_stride * element_bytes(row);
    if (m <= 0 || n <= 0) return;
    if (k > 0 && contraction_few(row, m, n, k, a, a_row_stride, a_k_stride, b, width, panel_stride, c, c_row_stride,
                                 accumulate, scratch))
        return;
    if (are_its_panels(row, width)) {
        contraction_panels(row, m, n, k, a, a_row_stride, a_k_stride, b, panel_bytes, c, c_row_stride, accumulate,
                           scratch);
        return;
    }
    for (int64_t j = 0; j < n; j += width)
        row->block(m, smaller(width, n - j), k, a, a_row_stride, a_k_stride, (const char *)b + j / width * panel_bytes,
                   width, 1, (char *)c + 4 * j, c_row_stride, accumulate, scratch);
}
