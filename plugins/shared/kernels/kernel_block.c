/* The blocking that all rows share: a block of B is packed for all rows of A, then blocks of A one after the other,
 * each small enough for the second-level cache; there a panel of B stays, too, while panels of A pass. */
#include "kernel_rows.h"

#include <pto/names.h>
#include <pto/native.h>

#include <string.h>

/* Of a cache line: where panels begin. Where k is less than a block, as many more rows of A, up to so many times. Of a
 * block of C that is in the second-level cache: so many elements. Rows further apart than NEAR_BYTES share few sets of
 * a first-level cache. */
enum { LINE = CONTRACTION_LINE, FEW_PANELS = 4, MORE_ROWS_MOST = 3, SMALL_C = 1 << 16, NEAR_BYTES = 2048 };

/* Up to so many columns are multiplied as rows of what is turned. Of A up to TURNED_ROWS rows at a time that lie beside
 * each other, or else up to TURNED_NEAR whose bytes stay in the second-level cache from one turn to the next; no turn
 * has fewer than TURNED_LEAST, which kernels need. */
enum { TURNED_COLUMNS = 8, TURNED_ROWS = 512, TURNED_NEAR = 64, TURNED_LEAST = 8, TURNED_BYTES = 256 << 10 };

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
    int64_t m, n, k;
    int64_t a_bytes, b_bytes; /* of all panels of a block */
} block_sizes;

static block_sizes sizes_of(const pto_contraction *row, int64_t m, int64_t n, int64_t k)
{
    /* As many along k as are nearest to k_block; what that adds to or takes from a block of A goes into its rows. */
    const int64_t p_count = k < row->k_block ? 1 : (k + row->k_block / 2) / row->k_block;
    const int64_t k_most = k <= 0 ? row->k_block : (k + p_count - 1) / p_count;
    const int64_t m_most =
        smaller(row->m_block * row->k_block / k_most, MORE_ROWS_MOST * row->m_block) / row->mr * row->mr;
    block_sizes s = {.m = even_block(m, m_most, row->mr),
                     .n = even_block(n, row->n_block, row->nr),
                     .k = even_block(k, k_most, row->k_group)};
    /* Where a panel of B is used a few times only, it should not leave the first-level cache in between. */
    if (m <= FEW_PANELS * row->mr) s.n = even_block(n, row->nr, row->nr);
    s.a_bytes = s.m / row->mr * pto_panel_a_bytes(row, s.k);
    s.b_bytes = s.n / row->nr * pto_panel_b_bytes(row, s.k);
    return s;
}

int64_t contraction_scratch_bytes(const pto_contraction *row, int64_t m, int64_t n, int64_t k)
{
    const block_sizes s = sizes_of(row, m, n, k);
    return s.a_bytes + s.b_bytes + LINE;
}

int64_t contraction_scratch_most(const pto_contraction *row, int64_t m, int64_t n)
{
    /* Blocks along k are at most half as long again as k_block; blocks of A and B have full panels, or one block's.
     * Many panels of A hold no more than m_block rows do that are k_block deep, besides their tails. */
    const int64_t k = (row->k_block * 3 / 2 + row->k_group) / row->k_group * row->k_group;
    const int64_t m_panels = (m + row->mr - 1) / row->mr, n_panels = (smaller(n, row->n_block) + row->nr - 1) / row->nr;
    const int64_t block = row->m_block / row->mr * pto_panel_a_bytes(row, row->k_block),
                  tails = MORE_ROWS_MOST * row->m_block / row->mr * pto_panel_a_bytes(row, 1);
    return smaller(m_panels * pto_panel_a_bytes(row, k), block + tails) + n_panels * pto_panel_b_bytes(row, k) + LINE;
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

/* Rows of A, or columns of B, as micro-kernels take them: in panels, or as they lie. */
typedef struct operand {
    const char *from;
    int64_t panel_bytes;      /* from one panel to the next, or to where the next rows or columns lie */
    int64_t stride, k_stride; /* of rows or columns, and along k */
    bool is_packed;
    int64_t deeper; /* of panels of B with a tail that are deeper than the product: how deep; 0: of all others */
} operand;

/* Whether rows of A or columns of B need no panels: they lie so near to each other that caches keep them beside what
 * else they hold, those of one micro-kernel in the first level. */
static bool lie_near(int64_t near_bytes, int64_t element_bytes, int64_t lines, int64_t stride)
{
    const int64_t apart = (stride < 0 ? -stride : stride) * element_bytes;
    return near_bytes > 0 && apart <= NEAR_BYTES && lines * apart <= near_bytes;
}

/* Rows of which each goes upwards along k, or which lie beside each other. */
static bool rows_lie_near(const pto_contraction *row, int64_t rows, int64_t depth, int64_t a_row_stride,
                          int64_t a_k_stride)
{
    if (a_k_stride == 1) return lie_near(row->a_near_bytes, row->a_bytes, rows, a_row_stride);
    return a_row_stride == 1 && lie_near(row->a_near_bytes, row->a_bytes, depth, a_k_stride);
}

/* Columns beside each other, of which each panel is full. */
static bool columns_lie_near(const pto_contraction *row, int64_t columns, int64_t depth, int64_t b_k_stride,
                             int64_t b_column_stride)
{
    return b_column_stride == 1 && columns % row->nr == 0 &&
           lie_near(row->b_near_bytes, row->b_bytes, depth, b_k_stride);
}

/* Whether few columns are multiplied as rows of what is turned: columns of B by rows of A, along k as before. Blocks of
 * integers are as fast with several. */
static bool turns(const pto_contraction *row, int64_t n)
{
    return n <= (row->acc == PTO_F32 ? TURNED_COLUMNS : 1) && row->skinny != NULL && row->a == row->b;
}

/* C as it is where the product lies, and where it is turned. */
typedef struct turned_c {
    char *c;
    int64_t c_row_bytes;
    int32_t tile[TURNED_COLUMNS][TURNED_ROWS + TURNED_LEAST];
} turned_c;

static void turn_in(turned_c *t, int64_t rows, int64_t columns)
{
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++) memcpy(&t->tile[j][i], t->c + i * t->c_row_bytes + 4 * j, 4);
}

static void turn_out(const turned_c *t, int64_t rows, int64_t columns)
{
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++) memcpy(t->c + i * t->c_row_bytes + 4 * j, &t->tile[j][i], 4);
}

/* How many rows are taken at a time, each of so many bytes. */
static int64_t turned_rows_of(int64_t row_bytes, int64_t row_stride)
{
    int64_t rows = TURNED_NEAR;
    if (row_stride == 1) return TURNED_ROWS;
    while (rows > 16 && rows * row_bytes > TURNED_BYTES) rows -= 16;
    return rows;
}

/* Kernels that take no such columns say so at the first turn: it depends on strides and on the number of columns. */
static bool multiply_turned(const pto_contraction *row, int64_t m, int64_t n, int64_t k, const void *a,
                            int64_t a_row_stride, int64_t a_k_stride, const void *b, int64_t b_k_stride,
                            int64_t b_column_stride, void *c, int64_t c_row_stride, bool accumulate)
{
    turned_c t; /* its tile is written before it is read */
    const char *left = a;
    const int64_t bytes = (int64_t)pto_dtype_bytes(row->a), fit = turned_rows_of(k * bytes, a_row_stride);
    t.c = c;
    t.c_row_bytes = 4 * c_row_stride;
    for (int64_t i = 0, rows; i < m; i += rows, left += rows * a_row_stride * bytes) {
        rows = m - i < fit + TURNED_LEAST ? m - i : fit;
        if (accumulate) turn_in(&t, rows, n);
        if (!row->skinny(n, rows, k, b, b_column_stride, b_k_stride, left, a_k_stride, a_row_stride, t.tile,
                         TURNED_ROWS + TURNED_LEAST, accumulate)) {
            if (i > 0) __builtin_trap();
            return false;
        }
        turn_out(&t, rows, n);
        t.c += rows * t.c_row_bytes;
    }
    return true;
}

/* Computes C by the row's way for few rows, where that is faster. */
static bool multiply_few(const pto_contraction *row, int64_t m, int64_t n, int64_t k, const void *a,
                         int64_t a_row_stride, int64_t a_k_stride, const void *b, int64_t b_k_stride,
                         int64_t b_column_stride, void *c, int64_t c_row_stride, bool accumulate)
{
    const bool needs_no_panels = row->near_rows > 0 && m >= row->near_rows &&
                                 rows_lie_near(row, m, k, a_row_stride, a_k_stride) &&
                                 columns_lie_near(row, n, k, b_k_stride, b_column_stride);
    if (row->skinny == NULL || needs_no_panels) return false;
    if (n == 1 && turns(row, n) && c_row_stride == 1 &&
        row->skinny(1, m, k, b, b_column_stride, b_k_stride, a, a_k_stride, a_row_stride, c, m, accumulate))
        return true;
    if (m > n && m >= TURNED_LEAST && turns(row, n) &&
        multiply_turned(row, m, n, k, a, a_row_stride, a_k_stride, b, b_k_stride, b_column_stride, c, c_row_stride,
                        accumulate))
        return true;
    return row->skinny(m, n, k, a, a_row_stride, a_k_stride, b, b_k_stride, b_column_stride, c, c_row_stride,
                       accumulate);
}

/* `rows` of them from element `at` on, packed where they are not taken as they lie. */
static operand left_of(const pto_contraction *row, bool packs, int64_t rows, int64_t depth, const void *a, int64_t at,
                       int64_t a_row_stride, int64_t a_k_stride, char *a_panels)
{
    const int64_t bytes = row->a_bytes, panel = pto_panel_a_bytes(row, depth);
    if (!packs)
        return (operand){
            (const char *)a + at * bytes, row->mr * a_row_stride * bytes, a_row_stride, a_k_stride, false, 0};
    row->pack_a(rows, depth, a, at, a_row_stride, a_k_stride, a_panels, panel);
    return (operand){a_panels, panel, 1, row->mr, true, 0};
}

/* The same for columns of B. */
static operand right_of(const pto_contraction *row, bool packs, int64_t columns, int64_t depth, const void *b,
                        int64_t at, int64_t b_k_stride, int64_t b_column_stride, char *b_panels)
{
    const int64_t bytes = row->b_bytes, panel = pto_panel_b_bytes(row, depth);
    if (!packs) return (operand){(const char *)b + at * bytes, row->nr * bytes, 1, b_k_stride, false, 0};
    row->pack_b(columns, depth, b, at, b_column_stride, b_k_stride, b_panels, panel);
    return (operand){b_panels, panel, 1, row->nr, true, 0};
}

static void multiply_tile(const pto_contraction *row, int64_t depth, const operand *a, const operand *b,
                          const char *left, const char *right, char *tile, int64_t c_row_stride, int64_t m, int64_t n,
                          bool adds)
{
    if (b->deeper != 0)
        row->micro_deeper(depth, b->deeper, left, right, tile, c_row_stride, m, n, adds);
    else if (a->is_packed && b->is_packed)
        row->micro(depth, left, right, tile, c_row_stride, m, n, adds);
    else
        row->micro_strided(depth, left, a->stride, a->k_stride, right, b->k_stride, tile, c_row_stride, m, n, adds);
}

static void multiply_panels(const pto_contraction *row, int64_t rows, int64_t columns, int64_t depth, const operand *a,
                            const operand *b, char *c, int64_t c_row_stride, bool adds)
{
    const int64_t c_row_bytes = 4 * c_row_stride, tile_bytes = row->mr * c_row_bytes;
    const int64_t panel_count = (rows + row->mr - 1) / row->mr, each = pto_panel_b_bytes(row, depth) / panel_count;
    const bool fetches = rows * columns > SMALL_C;
    const char *right = b->from;
    for (int64_t j = 0; j < columns; j += row->nr, right += b->panel_bytes, c += 4 * row->nr) {
        /* Of the next panel of B, as deep as this, a part comes with each panel of A; one alone reads on by itself. */
        const bool comes = !row->asks_ahead && b->is_packed && columns - j > row->nr && panel_count > 1;
        const int64_t share = comes ? each + LINE : 0;
        const char *left = a->from, *next = right + b->panel_bytes;
        char *tile = c;
        for (int64_t i = 0; i < rows; i += row->mr, left += a->panel_bytes, next += each, tile += tile_bytes) {
            for (int64_t q = 0; q < share; q += LINE) __builtin_prefetch(next + q, 0, 2);
            /* The next tile of C comes while this one is computed; a small C is in the cache. */
            if (fetches) fetch(smaller(row->mr, rows - i - row->mr), tile + tile_bytes, c_row_bytes, 4 * row->nr);
            multiply_tile(row, depth, a, b, left, right, tile, c_row_stride, smaller(row->mr, rows - i),
                          smaller(row->nr, columns - j), adds);
        }
    }
}

static void multiply(const pto_contraction *row, int64_t m, int64_t n, int64_t k, const void *a, int64_t a_row_stride,
                     int64_t a_k_stride, const void *b, int64_t b_k_stride, int64_t b_column_stride, void *c,
                     int64_t c_row_stride, bool accumulate, void *scratch)
{
    const int64_t c_row_bytes = 4 * c_row_stride;
    if (m <= 0 || n <= 0) return;
    if (k <= 0 && !accumulate) clear(m, n, c, c_row_bytes);
    if (k <= 0 || multiply_few(row, m, n, k, a, a_row_stride, a_k_stride, b, b_k_stride, b_column_stride, c,
                               c_row_stride, accumulate))
        return;
    const block_sizes s = sizes_of(row, m, n, k);
    char *const a_panels = (char *)scratch + (-(uintptr_t)scratch & (LINE - 1)), *const b_panels = a_panels + s.a_bytes;
    /* With one block of A it is packed once for each depth; otherwise blocks of B are, once for all of A. */
    const bool is_flat = m <= s.m, packs = !rows_lie_near(row, smaller(m, s.m), s.k, a_row_stride, a_k_stride);
    operand left = {.from = NULL};
    const int64_t j_count = (n + s.n - 1) / s.n, p_count = (k + s.k - 1) / s.k;
    for (int64_t t = 0; t < j_count * p_count; t++) {
        const int64_t j = (is_flat ? t % j_count : t / p_count) * s.n, p = (is_flat ? t / j_count : t % p_count) * s.k;
        const int64_t columns = smaller(s.n, n - j), depth = smaller(s.k, k - p);
        const bool adds = accumulate || p > 0;
        const operand right =
            right_of(row, !columns_lie_near(row, columns, depth, b_k_stride, b_column_stride), columns, depth, b,
                     p * b_k_stride + j * b_column_stride, b_k_stride, b_column_stride, b_panels);
        for (int64_t i = 0; i < m; i += s.m) {
            const int64_t rows = smaller(s.m, m - i);
            if (!is_flat || j == 0)
                left = left_of(row, packs, rows, depth, a, i * a_row_stride + p * a_k_stride, a_row_stride, a_k_stride,
                               a_panels);
            multiply_panels(row, rows, columns, depth, &left, &right, (char *)c + i * c_row_bytes + 4 * j, c_row_stride,
                            adds);
        }
    }
}

#if defined(__x86_64__)
/* Numbers of C that are subnormal become zeros of their sign. */
static void flush(int64_t m, int64_t n, char *c, int64_t c_row_bytes)
{
    const uint32_t exponent = 0x7f800000, sign = UINT32_C(1) << 31;
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            uint32_t bits;
            memcpy(&bits, c + i * c_row_bytes + 4 * j, sizeof bits);
            if ((bits & exponent) == 0) bits &= sign;
            memcpy(c + i * c_row_bytes + 4 * j, &bits, sizeof bits);
        }
}

enum { FLUSHES_RESULTS = 0x8000 };

/* From here to flush_end(), of a row that flushes, results that are subnormal become 0, and so do those that C holds;
 * operands that are keep their value. */
static unsigned flush_begin(const pto_contraction *row, int64_t m, int64_t n, void *c, int64_t c_row_stride,
                            bool accumulate)
{
    const unsigned mode = __builtin_ia32_stmxcsr();
    if (!row->flushes) return mode;
    if (accumulate) flush(m, n, c, 4 * c_row_stride);
    __builtin_ia32_ldmxcsr(mode | FLUSHES_RESULTS);
    return mode;
}

static void flush_end(const pto_contraction *row, unsigned mode)
{
    if (row->flushes) __builtin_ia32_ldmxcsr(mode);
}
#else
/* Rows of other processors do not flush. */
static unsigned flush_begin(const pto_contraction *row, int64_t m, int64_t n, void *c, int64_t c_row_stride,
                            bool accumulate)
{
    (void)row, (void)m, (void)n, (void)c, (void)c_row_stride, (void)accumulate;
    return 0;
}

static void flush_end(const pto_contraction *row, unsigned mode) { (void)row, (void)mode; }
#endif

void contraction_block(const pto_contraction *row, int64_t m, int64_t n, int64_t k, const void *a, int64_t a_row_stride,
                       int64_t a_k_stride, const void *b, int64_t b_k_stride, int64_t b_column_stride, void *c,
                       int64_t c_row_stride, bool accumulate, void *scratch)
{
    const unsigned mode = flush_begin(row, m, n, c, c_row_stride, accumulate && k > 0);
    multiply(row, m, n, k, a, a_row_stride, a_k_stride, b, b_k_stride, b_column_stride, c, c_row_stride, accumulate,
             scratch);
    flush_end(row, mode);
}

bool contraction_few(const pto_contraction *row, pto_contraction_few *few, int64_t m, int64_t n, int64_t k,
                     const void *a, int64_t a_row_stride, int64_t a_k_stride, const void *b, int64_t width,
                     int64_t panel_stride, void *c, int64_t c_row_stride, bool accumulate, void *scratch)
{
    void *const at = contraction_align(scratch);
    if (few == NULL) return false;
    const unsigned mode = flush_begin(row, m, n, c, c_row_stride, accumulate);
    const bool is_done =
        few(m, n, k, a, a_row_stride, a_k_stride, b, width, panel_stride, c, c_row_stride, accumulate, at);
    flush_end(row, mode);
    return is_done;
}

/* How many rows of A, up to k_block deep, are packed at a time beside panels of B that are there. */
static int64_t rows_beside_panels(const pto_contraction *row, int64_t m)
{
    return even_block(m, row->m_block, row->mr);
}

int64_t contraction_panels_scratch(const pto_contraction *row, int64_t m, int64_t k)
{
    /* Of fewer rows, too, which may be more at a time where they are one block. */
    const int64_t depth = smaller(k, row->k_block), rows = smaller(m, row->m_block) + row->mr - 1;
    return rows / row->mr * pto_panel_a_bytes(row, depth) + LINE;
}

/* All of B in panels: one after the other, and blocks along k of them. */
typedef struct right_panels {
    const char *from;
    int64_t panel_bytes, block_bytes; /* from one panel to the next, and from one block to the next */
    int64_t depth, all;               /* of a block, of which the last one has less, and of all */
} right_panels;

static void multiply_by_panels(const pto_contraction *row, int64_t m, int64_t n, int64_t k, const void *a,
                               int64_t a_row_stride, int64_t a_k_stride, const right_panels *b, int64_t rows_most,
                               bool packs, void *c, int64_t c_row_stride, bool accumulate, void *scratch)
{
    char *const a_panels = contraction_align(scratch);
    const char *from = b->from;
    if (m <= 0 || n <= 0) return;
    if (k <= 0 && !accumulate) clear(m, n, c, 4 * c_row_stride);
    for (int64_t p = 0; p < k; p += b->depth, from += b->block_bytes)
        for (int64_t i = 0; i < m; i += rows_most) {
            const int64_t rows = smaller(rows_most, m - i), depth = smaller(b->depth, k - p);
            const operand left = left_of(row, packs, rows, depth, a, i * a_row_stride + p * a_k_stride, a_row_stride,
                                         a_k_stride, a_panels);
            const int64_t whole = smaller(b->depth, b->all - p);
            const operand right = {from,    b->panel_bytes, 1,
                                   row->nr, true,           row->b_tail_bytes != 0 && whole > depth ? whole : 0};
            multiply_panels(row, rows, n, depth, &left, &right, (char *)c + 4 * i * c_row_stride, c_row_stride,
                            accumulate || p > 0);
        }
}

void contraction_panels(const pto_contraction *row, int64_t m, int64_t n, int64_t k, const void *a,
                        int64_t a_row_stride, int64_t a_k_stride, const void *panels, int64_t b_panel, void *c,
                        int64_t c_row_stride, bool accumulate, void *scratch)
{
    const int64_t rows_most = rows_beside_panels(row, m);
    const bool packs = !rows_lie_near(row, smaller(m, rows_most), smaller(k, row->k_block), a_row_stride, a_k_stride);
    /* A panel that is used once is read from its begin to its end. */
    const int64_t depth = !packs && m <= row->mr ? k : row->k_block;
    const right_panels b = {panels, b_panel, depth * row->nr * row->b_bytes, depth, k};
    multiply_by_panels(row, m, n, k, a, a_row_stride, a_k_stride, &b, rows_most, packs, c, c_row_stride, accumulate,
                       scratch);
}

/* ---- B packed once ---- */

/* How B of so many columns is packed, as blocks of it are for a product, but all of them. */
static right_panels packed_of(const pto_contraction *row, int64_t n, int64_t k, const void *packed)
{
    const int64_t depth = sizes_of(row, row->m_block, n, k).k, panel = pto_panel_b_bytes(row, depth);
    return (right_panels){packed, panel, (n + row->nr - 1) / row->nr * panel, depth, k};
}

int64_t contraction_packed_bytes(const pto_contraction *row, int64_t n, int64_t k, int64_t b_k_stride,
                                 int64_t b_column_stride)
{
    if (n <= 0 || k <= 0 || turns(row, n)) return 0;
    const right_panels b = packed_of(row, n, k, NULL);
    if (columns_lie_near(row, n, smaller(b.depth, k), b_k_stride, b_column_stride)) return 0;
    return (k + b.depth - 1) / b.depth * b.block_bytes;
}

void contraction_pack(const pto_contraction *row, int64_t part, int64_t n, int64_t k, const void *from,
                      int64_t b_k_stride, int64_t b_column_stride, void *packed)
{
    const int64_t first = part * PTO_PACKED_COLUMNS;
    const right_panels b = packed_of(row, n, k, packed);
    char *to = (char *)packed + first / row->nr * b.panel_bytes;
    for (int64_t p = 0; p < k; p += b.depth, to += b.block_bytes)
        row->pack_b(smaller(PTO_PACKED_COLUMNS, n - first), smaller(b.depth, k - p), from,
                    p * b_k_stride + first * b_column_stride, b_column_stride, b_k_stride, to, b.panel_bytes);
}

/* Whether a product may take the first k of what is packed. */
static bool has_first(const pto_contraction *row, const right_panels *b, int64_t k)
{
    if (k == b->all) return true;
    return k % row->k_group == 0 && (row->b_tail_bytes == 0 || row->micro_deeper != NULL || k % b->depth == 0);
}

bool contraction_packed(const pto_contraction *row, int64_t m, int64_t n, int64_t k, const void *a,
                        int64_t a_row_stride, int64_t a_k_stride, const void *packed, int64_t columns, int64_t depth,
                        int64_t column, void *c, int64_t c_row_stride, bool accumulate, void *scratch)
{
    /* Blocks of A are as deep as those that are packed. */
    const int64_t rows_most = sizes_of(row, m, n, depth).m;
    right_panels b = packed_of(row, columns, depth, packed);
    b.from += column / row->nr * b.panel_bytes;
    if (!has_first(row, &b, k)) return false;
    const bool packs = !rows_lie_near(row, smaller(m, rows_most), smaller(k, b.depth), a_row_stride, a_k_stride);
    const unsigned mode = flush_begin(row, m, n, c, c_row_stride, accumulate && k > 0);
    multiply_by_panels(row, m, n, k, a, a_row_stride, a_k_stride, &b, rows_most, packs, c, c_row_stride, accumulate,
                       scratch);
    flush_end(row, mode);
    return true;
}
