/* Products with weights of 4 bits: blocks of them become panels of f32, which the f32 row of the instruction set
 * multiplies. Few rows of A read the weights as they lie. */
#include "kernel_weights.h"
#include "kernel_load.h"

/* Of the weights a block has so many rows and columns. With few rows of A, whose panels are in a cache, blocks of fewer
 * columns are: those stay in the second-level cache, too. */
enum { DEPTH = 256, COLUMNS = 1024, FEW_ROWS = 64, FEW_COLUMNS = 256, FEW_DEPTH = 128 };

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t up_to(int64_t x, int64_t unit) { return (x + unit - 1) / unit * unit; }

static void unpack_plain(const pto_native_weights *w, int64_t at, int64_t column, int64_t depth, int64_t count,
                         int64_t width, float *panels)
{
    for (int64_t first = 0; first < count; first += width)
        for (int64_t p = at; p < at + depth; p++) {
            const int64_t row = w->first + p * w->k_stride, scale = p / w->group * w->scale_k_stride;
            for (int64_t i = first; i < first + width; i++, panels++) {
                const int64_t j = column + i;
                *panels = i < count ? load_i4_f32(w->halves, row + j * w->column_stride) *
                                          w->scales[scale + j * w->scale_column_stride]
                                    : 0;
            }
        }
}

static int64_t panels_bytes(const pto_contraction *row, int64_t depth, int64_t columns)
{
    return up_to(columns, row->nr) * depth * (int64_t)sizeof(float);
}

static int64_t scratch_most(uint32_t isa, int64_t m, int64_t n)
{
    const pto_contraction *row = pto_contraction_find(PTO_F32, PTO_F32, PTO_F32, isa);
    return CONTRACTION_LINE + panels_bytes(row, DEPTH, smaller(n, COLUMNS)) + contraction_panels_scratch(row, m, DEPTH);
}

static void multiply(uint32_t isa, const pto_weights *weights, int64_t m, int64_t n, int64_t k, const void *a,
                     int64_t a_row_stride, int64_t a_k_stride, const pto_native_weights *w, void *c,
                     int64_t c_row_stride, bool accumulate, void *scratch)
{
    const pto_contraction *row = pto_contraction_find(PTO_F32, PTO_F32, PTO_F32, isa);
    if (m <= 0 || n <= 0) return;
    if (k > 0 && weights->few != NULL &&
        weights->few(m, n, k, a, a_row_stride, a_k_stride, w, c, c_row_stride, accumulate))
        return;
    const int64_t columns_most = m <= FEW_ROWS ? FEW_COLUMNS : COLUMNS, depth_most = m <= FEW_ROWS ? FEW_DEPTH : DEPTH;
    float *const panels = contraction_align(scratch);
    char *const rest = (char *)panels + panels_bytes(row, depth_most, smaller(n, columns_most));
    for (int64_t j = 0; j < n; j += columns_most)
        for (int64_t p = 0; p == 0 || p < k; p += depth_most) {
            const int64_t columns = smaller(columns_most, n - j), depth = smaller(depth_most, k - p);
            if (depth > 0) weights->unpack(w, p, j, depth, columns, row->nr, panels);
            contraction_panels(row, m, columns, depth, (const float *)a + p * a_k_stride, a_row_stride, a_k_stride,
                               panels, depth * row->nr * (int64_t)sizeof(float), (float *)c + j, c_row_stride,
                               accumulate || p > 0, rest);
        }
}

/* Functions without a row among their arguments. */
#define ENTRIES(name, row_isa, index)                                                                                  \
    static int64_t name##_scratch_most(int64_t m, int64_t n) { return scratch_most(row_isa, m, n); }                   \
    static void name##_block(int64_t m, int64_t n, int64_t k, const void *a, int64_t a_row_stride, int64_t a_k_stride, \
                             const pto_native_weights *w, void *c, int64_t c_row_stride, bool accumulate,              \
                             void *scratch)                                                                            \
    {                                                                                                                  \
        multiply(row_isa, &rows[index], m, n, k, a, a_row_stride, a_k_stride, w, c, c_row_stride, accumulate,          \
                 scratch);                                                                                             \
    }                                                                                                                  \
    _Static_assert((index) >= 0, "a row's index")
#define ROW(name_, text, row_isa, unpack_, few_) \
    {.name = (text),                             \
     .isa = (row_isa),                           \
     .unpack = (unpack_),                        \
     .few = (few_),                              \
     .block = name_##_block,                     \
     .scratch_most = name_##_scratch_most}

enum {
    ROW_PLAIN,
#if defined(__x86_64__)
    ROW_AVX2,
    ROW_AVX512,
#endif
    ROW_COUNT
};
static const pto_weights rows[ROW_COUNT];

ENTRIES(plain, 0, ROW_PLAIN);
#if defined(__x86_64__)
ENTRIES(avx2, PTO_ISA_AVX2, ROW_AVX2);
ENTRIES(avx512, PTO_ISA_AVX2 | PTO_ISA_AVX512, ROW_AVX512);
#endif

static const pto_weights rows[ROW_COUNT] = {
    [ROW_PLAIN] = ROW(plain, "f32 scaled i4 plain", 0, unpack_plain, NULL),
#if defined(__x86_64__)
    [ROW_AVX2] = ROW(avx2, "f32 scaled i4 avx2", PTO_ISA_AVX2, kernel_unpack_avx2, kernel_few_weights_avx2),
    [ROW_AVX512] = ROW(avx512, "f32 scaled i4 avx512", PTO_ISA_AVX2 | PTO_ISA_AVX512, kernel_unpack_avx2,
                       kernel_few_weights_avx512),
#endif
};

const pto_weights *pto_weights_at(uint32_t index) { return index < ROW_COUNT ? &rows[index] : NULL; }

const pto_weights *pto_weights_find(uint32_t isa)
{
    const pto_weights *found = NULL;
    for (uint32_t i = 0; i < ROW_COUNT; i++)
        if ((rows[i].isa & ~isa) == 0) found = &rows[i];
    return found;
}
