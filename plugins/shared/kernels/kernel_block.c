/* The blocking that all rows share: a block of B is packed for all rows of A, then blocks of A one after the other,
 * each small enough for the second-level cache; a panel of B stays in the first while panels of A pass. */
#include "kernel_rows.h"

#include <string.h>

/* Of a cache line: where panels begin. */
enum { LINE = 64 };

/* How far the blocks of one extent reach: as few as `most` allows, of equal size, in multiples of `unit`. */
static int64_t even_block(int64_t extent, int64_t most, int64_t unit)
{
    if (extent <= 0) return 0;
    const int64_t count = (extent + most - 1) / most, each = (extent + count - 1) / count;
    return (each + unit - 1) / unit * unit;
}

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

static int64_t panel_bytes(const pto_contraction *row, int64_t k, int64_t width, int64_t bytes, int64_t tail_bytes)
{
    const int64_t depth = (k + row->k_group - 1) / row->k_group * row->k_group;
    return (width * (depth * bytes + tail_bytes) + LINE - 1) / LINE * LINE;
}

int64_t pto_panel_a_bytes(const pto_contraction *row, int64_t k)
{
    return panel_bytes(row, k, row->mr, row->a_bytes, row->a_tail_bytes);
}

int64_t pto_panel_b_bytes(const pto_contraction *row, int64_t k)
{
    return panel_bytes(row, k, row->nr, row->b_bytes, row->b_tail_bytes);
}

typedef struct block_sizes {
    int64_t m, n, k;          /* of a block */
    int64_t a_panel, b_panel; /* bytes */
    int64_t a_bytes, b_bytes; /* of all panels of a block */
} block_sizes;

static block_sizes sizes_of(const pto_contraction *row, int64_t m, int64_t n, int64_t k)
{
    block_sizes s = {.m = even_block(m, row->m_block, row->mr),
                     .n = even_block(n, row->n_block, row->nr),
                     .k = even_block(k, row->k_block, row->k_group)};
    s.a_panel = pto_panel_a_bytes(row, s.k);
    s.b_panel = pto_panel_b_bytes(row, s.k);
    s.a_bytes = s.m / row->mr * s.a_panel;
    s.b_bytes = s.n / row->nr * s.b_panel;
    return s;
}

int64_t contraction_scratch_bytes(const pto_contraction *row, int64_t m, int64_t n, int64_t k)
{
    const block_sizes s = sizes_of(row, m, n, k);
    return s.a_bytes + s.b_bytes + LINE;
}

static void pack_panels(pto_contraction_pack *pack, int64_t width, int64_t panel, int64_t count, int64_t k,
                        const void *from, int64_t offset, int64_t stride, int64_t k_stride, char *to)
{
    for (int64_t first = 0; first < count; first += width, to += panel)
        pack(smaller(width, count - first), k, from, offset + first * stride, stride, k_stride, to);
}

static void clear(int64_t m, int64_t n, char *c, int64_t c_row_bytes)
{
    for (int64_t i = 0; i < m; i++) memset(c + i * c_row_bytes, 0, (size_t)(4 * n));
}

static void fetch(int64_t rows, const char *from, int64_t row_bytes, int64_t bytes)
{
    for (int64_t i = 0; i < rows; i++)
        for (int64_t q = 0; q < bytes; q += LINE) __builtin_prefetch(from + i * row_bytes + q, 1, 2);
}

void contraction_block(const pto_contraction *row, int64_t m, int64_t n, int64_t k, const void *a, int64_t a_row_stride,
                       int64_t a_k_stride, const void *b, int64_t b_k_stride, int64_t b_column_stride, void *c,
                       int64_t c_row_stride, bool accumulate, void *scratch, const pto_contraction_finish *finish)
{
    const int64_t c_row_bytes = 4 * c_row_stride;
    if (m <= 0 || n <= 0) return;
    if (k <= 0 && !accumulate) clear(m, n, c, c_row_bytes);
    if (k <= 0 || (row->skinny != NULL && row->skinny(m, n, k, a, a_row_stride, a_k_stride, b, b_k_stride,
                                                      b_column_stride, c, c_row_stride, accumulate))) {
        if (finish != NULL) contraction_finish(finish, row->acc, 0, 0, m, n, c, c_row_stride);
        return;
    }
    const block_sizes s = sizes_of(row, m, n, k);
    char *const a_panels = (char *)scratch + (-(uintptr_t)scratch & (LINE - 1)), *const b_panels = a_panels + s.a_bytes;
    for (int64_t j = 0; j < n; j += s.n) {
        const int64_t columns = smaller(s.n, n - j);
        for (int64_t p = 0; p < k; p += s.k) {
            const int64_t depth = smaller(s.k, k - p);
            const bool is_last = p + depth == k, adds = accumulate || p > 0;
            const int64_t a_panel = pto_panel_a_bytes(row, depth), b_panel = pto_panel_b_bytes(row, depth);
            pack_panels(row->pack_b, row->nr, b_panel, columns, depth, b, p * b_k_stride + j * b_column_stride,
                        b_column_stride, b_k_stride, b_panels);
            for (int64_t i = 0; i < m; i += s.m) {
                const int64_t rows = smaller(s.m, m - i);
                pack_panels(row->pack_a, row->mr, a_panel, rows, depth, a, i * a_row_stride + p * a_k_stride,
                            a_row_stride, a_k_stride, a_panels);
                char *const c_block = (char *)c + i * c_row_bytes + 4 * j;
                for (int64_t jj = 0; jj < columns; jj += row->nr)
                    for (int64_t ii = 0; ii < rows; ii += row->mr) {
                        char *const tile = c_block + ii * c_row_bytes + 4 * jj;
                        /* The next tile of C comes while this one is computed. */
                        fetch(smaller(row->mr, rows - ii - row->mr), tile + row->mr * c_row_bytes, c_row_bytes,
                              4 * row->nr);
                        row->micro(depth, a_panels + ii / row->mr * a_panel, b_panels + jj / row->nr * b_panel, tile,
                                   c_row_stride, smaller(row->mr, rows - ii), smaller(row->nr, columns - jj), adds);
                    }
                if (is_last && finish != NULL)
                    contraction_finish(finish, row->acc, i, j, rows, columns, c_block, c_row_stride);
            }
        }
    }
}
