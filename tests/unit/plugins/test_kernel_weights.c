/* plugins/shared/kernels: products with weights of 4 bits and scales, by every row that this machine can run, have the
 * bits of a chain of fma over what the weights stand for, and touch their operands alone. */
#include "tests/unit/plugins/kernel_operands.h"

#include <kernel_weights.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A product: weights along rows or along k, from a column on, of which the memory has more. */
typedef struct product {
    int64_t m, n, k, column, columns, group;
    bool is_turned, a_turned;
    guarded a, halves, scales, c, scratch;
    pto_native_weights w;
    float *expected;
} product;

static float random_float(void) { return (float)((int32_t)draw(2001) - 1000) * 0x1.3p-7F; }

static float weight_at(const product *x, int64_t p, int64_t j)
{
    const int64_t half = x->w.first + p * x->w.k_stride + j * x->w.column_stride;
    const int32_t bits = x->halves.bytes[half / 2] >> 4 * (half & 1) & 15;
    return (float)(bits < 8 ? bits : bits - 16) *
           x->w.scales[p / x->group * x->w.scale_k_stride + j * x->w.scale_column_stride];
}

static float a_at(const product *x, int64_t i, int64_t p)
{
    float value;
    memcpy(&value, x->a.bytes + 4 * (x->a_turned ? p * x->m + i : i * x->k + p), sizeof value);
    return value;
}

static void fill_floats(guarded *g, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        const float value = random_float();
        memcpy(g->bytes + 4 * i, &value, sizeof value);
    }
}

static product product_new(const pto_weights *row, int64_t m, int64_t n, int64_t k, int64_t group, int forms)
{
    const bool at_end = (forms & 1) != 0;
    product x = {.m = m, .n = n, .k = k, .group = group, .is_turned = (forms & 2) != 0, .a_turned = (forms & 4) != 0};
    x.column = forms & 8 ? 1 + draw(40) : 0;
    x.columns = x.column + n + (forms & 8 ? draw(3) : 0);
    const int64_t groups = (k + group - 1) / group, row_halves = ((x.is_turned ? k : x.columns) + 1) / 2 * 2,
                  bytes = (x.is_turned ? x.columns : k) * row_halves / 2;
    x.a = guarded_new(4 * m * k, at_end);
    x.halves = guarded_new(bytes, at_end);
    x.scales = guarded_new(4 * groups * x.columns, at_end);
    x.c = guarded_new(4 * m * n, at_end);
    x.scratch = guarded_new(row->scratch_most(m, n), at_end);
    fill_floats(&x.a, m * k);
    fill_floats(&x.scales, groups * x.columns);
    fill_floats(&x.c, m * n);
    for (int64_t i = 0; i < bytes; i++) x.halves.bytes[i] = (unsigned char)draw(256);
    const void *scales = x.scales.bytes;
    x.w = (pto_native_weights){.halves = x.halves.bytes,
                               .first = x.column * (x.is_turned ? row_halves : 1),
                               .k_stride = x.is_turned ? 1 : row_halves,
                               .column_stride = x.is_turned ? row_halves : 1,
                               .scales = (const float *)scales + x.column * (x.is_turned ? groups : 1),
                               .scale_k_stride = x.is_turned ? 1 : x.columns,
                               .scale_column_stride = x.is_turned ? groups : 1,
                               .group = group};
    x.expected = malloc((size_t)(4 * m * n + 1));
    assert_non_null(x.expected);
    return x;
}

static void product_run(product *x, const pto_weights *row, bool accumulate)
{
    float *const column = malloc((size_t)x->k * sizeof *column + 1);
    assert_non_null(column);
    for (int64_t j = 0; j < x->n; j++) {
        for (int64_t p = 0; p < x->k; p++) column[p] = weight_at(x, p, j);
        for (int64_t i = 0; i < x->m; i++) {
            float sum = 0;
            if (accumulate) memcpy(&sum, x->c.bytes + 4 * (i * x->n + j), sizeof sum);
            for (int64_t p = 0; p < x->k; p++) sum = fmaf(a_at(x, i, p), column[p], sum);
            x->expected[i * x->n + j] = sum;
        }
    }
    free(column);
    row->block(x->m, x->n, x->k, x->a.bytes, x->a_turned ? 1 : x->k, x->a_turned ? x->m : 1, &x->w, x->c.bytes, x->n,
               accumulate, x->scratch.bytes);
    assert_memory_equal(x->c.bytes, x->expected, (size_t)(4 * x->m * x->n));
}

static void product_free(product *x)
{
    guarded_free(&x->a);
    guarded_free(&x->halves);
    guarded_free(&x->scales);
    guarded_free(&x->c);
    guarded_free(&x->scratch);
    free(x->expected);
}

static bool runs_here(const pto_weights *row) { return (row->isa & ~pto_isa_of_host()) == 0; }

/* Numbers of rows with a way of their own, and others; tails of strips, vectors, groups and blocks. */
TEST(products_have_the_bits_of_what_weights_stand_for)
{
    static const int64_t shapes[][4] = {
        {1, 32, 32, 32},           {1, 1, 1, 1},     {1, 31, 65, 32},     {2, 33, 40, 8},     {3, 70, 37, 16},
        {4, 129, 33, 3},           {5, 64, 96, 32},  {7, 47, 130, 64},    {16, 96, 257, 7},   {65, 17, 70, 32},
        {13, 1040, 30, 30},        {2, 2090, 19, 5}, {6, 300, 290, 32},   {168, 40, 300, 32}, {3, 5, 0, 32},
        {67, 1100, 3, 2147483647}, {9, 40, 600, 48}, {14, 2100, 260, 32}, {28, 65, 300, 24},  {57, 70, 40, 8},
        {1, 100, 513, 128}};
    const pto_weights *row;
    for (uint32_t r = 0; (row = pto_weights_at(r)) != NULL; r++) {
        if (!runs_here(row)) continue;
        draws = r;
        for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++)
            for (int forms = 0; forms < 32; forms++) {
                const int64_t *of = shapes[s];
                product x = product_new(row, of[0], of[1], of[2], of[3], forms);
                product_run(&x, row, forms >= 16);
                product_free(&x);
            }
    }
}

/* Every half of a byte, times a scale that is exact. */
TEST(halves_are_whole_numbers_from_minus_8_to_7)
{
    const pto_weights *row;
    for (uint32_t r = 0; (row = pto_weights_at(r)) != NULL; r++) {
        if (!runs_here(row)) continue;
        for (int64_t m = 1; m < 8; m += 3) {
            product x = product_new(row, m, 64, 1, 32, 0);
            const float one = 1;
            for (int64_t i = 0; i < 32; i++) x.halves.bytes[i] = (unsigned char)(16 * (15 - i % 16) + i % 16);
            for (int64_t i = 0; i < 64; i++) memcpy(x.scales.bytes + 4 * i, &one, sizeof one);
            for (int64_t i = 0; i < m; i++) memcpy(x.a.bytes + 4 * i, &one, sizeof one);
            product_run(&x, row, false);
            for (int64_t j = 0; j < 64; j++) {
                const int64_t half = j % 2 == 0 ? j / 2 % 16 : 15 - j / 2 % 16;
                assert_float_equal(x.expected[j], (float)(half < 8 ? half : half - 16), 0);
            }
            product_free(&x);
        }
    }
}

/* A scale that is too large for f32 with its weight stays in its block and column. */
TEST(infinities_stay_in_their_column)
{
    const pto_weights *row;
    for (uint32_t r = 0; (row = pto_weights_at(r)) != NULL; r++) {
        if (!runs_here(row)) continue;
        for (int64_t m = 1; m < 8; m += 3) {
            product x = product_new(row, m, 40, 64, 32, 0);
            const float large = 0x1p127F;
            float found;
            memset(x.halves.bytes, 0x77, (size_t)(64 * 20));
            memcpy(x.scales.bytes + 4 * (40 + 5), &large, sizeof large);
            product_run(&x, row, false);
            memcpy(&found, x.c.bytes + 4 * 5, sizeof found);
            assert_true(!isfinite(found));
            for (int64_t j = 0; j < 40; j++) assert_true(j == 5 || isfinite(x.expected[j]));
            product_free(&x);
        }
    }
}

/* Of products of at most so many rows and columns. */
TEST(scratch_is_enough_for_smaller_products)
{
    const pto_weights *row;
    for (uint32_t r = 0; (row = pto_weights_at(r)) != NULL; r++)
        for (int64_t size = 1; size < 1500; size++) {
            assert_true(row->scratch_most(size, 640) <= row->scratch_most(size + 1, 640));
            assert_true(row->scratch_most(170, size) <= row->scratch_most(170, size + 1));
        }
    assert_null(pto_weights_at(99));
    assert_string_equal(pto_weights_find(0)->name, "f32 scaled i4 plain");
    assert_string_equal(pto_weights_find(PTO_ISA_AVX2)->name, "f32 scaled i4 avx2");
}
