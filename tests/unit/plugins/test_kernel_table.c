/* plugins/shared/kernels: every row of the table that this machine can run, against sums of exact products; those that
 * it cannot run are named. */
#include "tests/unit/plugins/kernel_each.h"
#include "tests/unit/unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One operand, or C: elements at offset + i * stride + p * k_stride of `bytes`. */
typedef struct operand {
    pto_dtype type;
    unsigned char *bytes;
    int64_t count, offset, stride, k_stride;
    float *values; /* the same, of each row or column upwards along k; every type's fit a float */
} operand;

static uint64_t draws;

static uint32_t draw(void)
{
    draws = draws * 6364136223846793005U + 1442695040888963407U;
    return (uint32_t)(draws >> 33);
}

static int64_t bytes_of(pto_dtype type, int64_t count)
{
    if (type == PTO_KERNEL_I4) return (count + 1) / 2;
    return count * (type == PTO_F32 || type == PTO_I32 ? 4 : type == PTO_BF16 || type == PTO_F16 ? 2 : 1);
}

static float float_of(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static uint32_t bits_of(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

/* From the definition of the type. */
static float value_of_f16(uint32_t bits)
{
    const int exponent = (int)(bits >> 10 & 31), fraction = (int)(bits & 1023);
    const float magnitude = exponent == 31  ? (fraction != 0 ? NAN : INFINITY)
                            : exponent == 0 ? ldexpf((float)fraction, -24)
                                            : ldexpf((float)(fraction + 1024), exponent - 25);
    return bits >> 15 ? -magnitude : magnitude;
}

static float decoded(const operand *x, int64_t i, int64_t p)
{
    const int64_t at = x->offset + i * x->stride + p * x->k_stride;
    uint32_t bits = 0;
    if (x->type == PTO_KERNEL_I4) {
        const int half = x->bytes[at / 2] >> (at % 2 * 4) & 15;
        return (float)(half < 8 ? half : half - 16);
    }
    memcpy(&bits, x->bytes + bytes_of(x->type, at), (size_t)bytes_of(x->type, 1));
    if (x->type == PTO_F32) return float_of(bits);
    if (x->type == PTO_BF16) return float_of(bits << 16);
    if (x->type == PTO_F16) return value_of_f16(bits);
    return x->type == PTO_I8 ? (float)(int8_t)bits : (float)bits;
}

/* Floats of (-2, 2) with exponents down to 2^-6; all integers. */
static void fill(operand *x)
{
    for (int64_t i = 0; i < x->count; i++) {
        const uint32_t sign = draw() & 1, exponent = draw() % 7, fraction = draw();
        uint32_t bits = 0;
        if (x->type == PTO_F32)
            bits = sign << 31 | (127 - exponent) << 23 | (fraction & 0x7fffff);
        else if (x->type == PTO_BF16)
            bits = sign << 15 | (127 - exponent) << 7 | (fraction & 0x7f);
        else if (x->type == PTO_F16)
            bits = sign << 15 | (15 - exponent) << 10 | (fraction & 0x3ff);
        else
            bits = fraction & 0xff;
        if (x->type == PTO_KERNEL_I4)
            x->bytes[i / 2] = (unsigned char)bits;
        else
            memcpy(x->bytes + bytes_of(x->type, i), &bits, (size_t)bytes_of(x->type, 1));
    }
}

/* Those after LAYOUT_COUNT have gaps between rows, and elements of a row beside each other. */
typedef enum layout {
    ALONG_K,
    ACROSS_K,
    PADDED,
    BACKWARDS,
    LAYOUT_COUNT,
    ALONG_APART = LAYOUT_COUNT,
    ACROSS_APART
} layout;

/* Anew, after a change of the bytes. */
static void decode(operand *x, int64_t count, int64_t k)
{
    for (int64_t i = 0; i < count; i++)
        for (int64_t p = 0; p < k; p++) x->values[i * k + p] = decoded(x, i, p);
}

/* An operand of `count` rows or columns, `k` deep, at an address that is a multiple of nothing. Freed by the caller. */
static operand operand_new(pto_dtype type, layout form, int64_t count, int64_t k)
{
    operand x = {.type = type};
    const bool along = form == ALONG_K || form == BACKWARDS;
    x.stride = along ? k : 1;
    x.k_stride = along ? 1 : count;
    if (form == PADDED) {
        x.stride = 2;
        x.k_stride = 2 * count + 3;
    }
    if (form == BACKWARDS) {
        x.stride = -k;
        x.offset = count > 0 ? (count - 1) * k : 0;
    }
    if (form == ALONG_APART) {
        x.stride = k + 5;
        x.k_stride = 1;
    }
    if (form == ACROSS_APART) x.k_stride = count + 5;
    x.count = form == PADDED ? (2 * count + 3) * (k + 1) : (count + 5) * (k + 5);
    x.bytes = calloc((size_t)(bytes_of(type, x.count) + 1), 1);
    assert_non_null(x.bytes);
    x.bytes++;
    fill(&x);
    x.values = malloc((size_t)(count * k + 1) * sizeof *x.values);
    assert_non_null(x.values);
    decode(&x, count, k);
    return x;
}

static void operand_free(operand *x)
{
    free(x->bytes - 1);
    free(x->values);
}

/* Where an operand begins. For I4 an offset is of whole bytes, which BACKWARDS need not be. */
static const void *start_of(const operand *x) { return x->bytes + bytes_of(x->type, x->offset); }

typedef struct product {
    const pto_contraction *row;
    operand a, b;
    int64_t m, n, k;
    unsigned char *c; /* of 4 * c_stride * m bytes and one more in front */
    int64_t c_stride;
} product;

static float flushed(float x) { return fabsf(x) < 0x1p-126F ? copysignf(0, x) : x; }

static uint32_t expected_by_tiles(const product *x, const float *a, const float *b, uint32_t before)
{
    float sum = flushed(float_of(before));
    for (int64_t step = 0; step < x->k; step += 32) {
        float even = 0, odd = 0;
        for (int64_t p = step; p < step + 32; p++) {
            const float u = p < x->k ? a[p] : 0, v = p < x->k ? b[p] : 0;
            float *const to = p % 2 == 0 ? &even : &odd;
            *to = flushed(fmaf(u, v, *to));
        }
        sum = flushed(sum + flushed(even + odd));
    }
    return bits_of(sum);
}

/* The sum that C must hold, from what it held. */
static uint32_t expected(const product *x, int64_t i, int64_t j, uint32_t before)
{
    const float *a = x->a.values + i * x->k, *b = x->b.values + j * x->k;
    if (x->row->acc == PTO_I32) {
        for (int64_t p = 0; p < x->k; p++) before += (uint32_t)((int32_t)a[p] * (int32_t)b[p]);
        return before;
    }
    if (x->row->sums == PTO_SUMS_BY_TILES) return expected_by_tiles(x, a, b, before);
    const bool flushes = x->row->sums == PTO_SUMS_FMA_FLUSHED;
    float sum = flushes ? flushed(float_of(before)) : float_of(before);
    for (int64_t p = 0; p < x->k; p++) {
        sum = fmaf(a[p], b[p], sum);
        if (flushes) sum = flushed(sum);
    }
    return bits_of(sum);
}

/* Against float64: each of k additions is off by half a unit of the largest sum so far. */
static void assert_near(const product *x, int64_t i, int64_t j, uint32_t before, uint32_t got)
{
    const float *a = x->a.values + i * x->k, *b = x->b.values + j * x->k;
    double sum = (double)float_of(before), magnitudes = fabs(sum);
    for (int64_t p = 0; p < x->k; p++) {
        const double term = (double)a[p] * (double)b[p];
        sum += term;
        magnitudes += fabs(term);
    }
    const double error = fabs((double)float_of(got) - sum);
    if (!(error <= (double)x->k * 0x1p-24 * magnitudes + (double)(x->k + 1) * 0x1p-126))
        fail_msg("%s: %g is off by %g", x->row->name, (double)float_of(got), error);
}

static uint32_t at_c(const unsigned char *c, int64_t at)
{
    uint32_t bits;
    memcpy(&bits, c + 4 * at, sizeof bits);
    return bits;
}

static void check(const product *x, const unsigned char *before, bool accumulate)
{
    for (int64_t i = 0; i < x->m; i++)
        for (int64_t j = 0; j < x->c_stride; j++) {
            const uint32_t old = at_c(before, i * x->c_stride + j), got = at_c(x->c, i * x->c_stride + j);
            const uint32_t from = accumulate ? old : 0, want = j < x->n ? expected(x, i, j, from) : old;
            if (j < x->n && x->row->acc == PTO_F32) assert_near(x, i, j, from, got);
            if (want != got)
                fail_msg("%s, %lld x %lld x %lld, element %lld, %lld: %#x instead of %#x", x->row->name,
                         (long long)x->m, (long long)x->n, (long long)x->k, (long long)i, (long long)j, got, want);
        }
}

static product product_new(const pto_contraction *row, layout a, layout b, int64_t m, int64_t n, int64_t k)
{
    product x = {.row = row, .m = m, .n = n, .k = k, .c_stride = n + 3};
    draws = (uint64_t)(m * 1000003 + n * 1009 + k) * 31 + a * 4 + b;
    x.a = operand_new(row->a, a, m, k);
    x.b = operand_new(row->b, b, n, k);
    x.c = malloc((size_t)(4 * m * x.c_stride + 1));
    assert_non_null(x.c);
    x.c++;
    for (int64_t i = 0; i < m * x.c_stride; i++) {
        const uint32_t bits = row->acc == PTO_I32 ? draw() << 1 : bits_of((float)draw() * 0x1p-29F - 2);
        memcpy(x.c + 4 * i, &bits, sizeof bits);
    }
    return x;
}

static void product_free(product *x)
{
    operand_free(&x->a);
    operand_free(&x->b);
    free(x->c - 1);
}

/* Runs `block` and compares. */
static void run(const product *x, bool accumulate)
{
    const size_t bytes = (size_t)(4 * x->m * x->c_stride);
    unsigned char *const before = malloc(bytes + 1), *const scratch =
                                                         malloc((size_t)x->row->scratch_bytes(x->m, x->n, x->k) + 1);
    assert_non_null(before);
    assert_non_null(scratch);
    memcpy(before, x->c, bytes);
    x->row->block(x->m, x->n, x->k, start_of(&x->a), x->a.stride, x->a.k_stride, start_of(&x->b), x->b.k_stride,
                  x->b.stride, x->c, x->c_stride, accumulate, scratch + 1);
    check(x, before, accumulate);
    free(before);
    free(scratch);
}

static bool runs_here(const pto_contraction *row) { return (row->isa & ~pto_isa_of_host()) == 0; }

TEST(rows_that_are_not_run_here_are_named)
{
    const uint32_t isa = pto_isa_of_host();
    uint32_t count = 0;
    const pto_contraction *row;
    for (; (row = pto_contraction_at(count)) != NULL; count++) {
        for (uint32_t bit = 1; bit < 1U << PTO_ISA_COUNT; bit <<= 1)
            if (row->isa & bit & ~isa)
                print_message("not run: `%s`: this machine lacks %s\n", row->name, pto_isa_name(bit));
        assert_non_null(pto_contraction_find(row->a, row->b, row->acc, 0));
        assert_ptr_equal(pto_contraction_find(row->a, row->b, row->acc, row->isa)->block == NULL, 0);
    }
    assert_true(count >= 9);
    assert_null(pto_isa_name(1U << PTO_ISA_COUNT));
    assert_null(pto_contraction_find(PTO_F32, PTO_I8, PTO_F32, isa));
}

TEST(scratch_for_any_depth_is_enough_for_each)
{
    static const int64_t sizes[] = {1,    7,    48,   100,  255,  384,  575,  576,  577,
                                    1000, 1151, 1152, 1153, 2303, 2304, 4096, 5000, 9001};
    enum { COUNT = sizeof sizes / sizeof sizes[0] };
    const pto_contraction *row;
    for (uint32_t i = 0; (row = row_at(i)) != NULL; i++)
        for (int m = 0; m < COUNT; m++)
            for (int n = 0; n < COUNT; n++)
                for (int k = 0; k < COUNT; k++)
                    for (int less = 0; less < 2; less++)
                        assert_true(row->scratch_bytes(sizes[m] - less, sizes[n] - less, sizes[k]) <=
                                    row->scratch_most(sizes[m], sizes[n]));
}

TEST(products_of_all_shapes)
{
    static const int64_t shapes[][3] = {{1, 1, 1},    {1, 1, 0},     {5, 7, 0},    {2, 3, 1},    {3, 17, 2},
                                        {4, 33, 3},   {7, 48, 5},    {13, 31, 64}, {14, 32, 8},  {15, 65, 67},
                                        {29, 97, 7},  {1, 131, 259}, {2, 64, 97},  {3, 37, 300}, {4, 129, 33},
                                        {61, 5, 101}, {6, 16, 1031}, {3, 2061, 17}};
    const pto_contraction *row;
    for (uint32_t r = 0; (row = row_at(r)) != NULL; r++) {
        if (!runs_here(row)) continue;
        for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++)
            for (int forms = 0; forms < LAYOUT_COUNT * LAYOUT_COUNT; forms++) {
                const layout b = (layout)(forms / LAYOUT_COUNT);
                if (row->b == PTO_KERNEL_I4 && b == BACKWARDS) continue;
                product x =
                    product_new(row, (layout)(forms % LAYOUT_COUNT), b, shapes[s][0], shapes[s][1], shapes[s][2]);
                run(&x, forms % 2 == 0);
                product_free(&x);
            }
    }
}

/* Every number of rows that has a way of its own, at tails of pieces, vectors and blocks along k. */
TEST(products_of_few_rows)
{
    static const int64_t shapes[][3] = {{1, 1100, 67}, {2, 67, 131},  {3, 33, 66},  {4, 99, 73},  {5, 1031, 65},
                                        {6, 35, 129},  {7, 63, 31},   {8, 64, 64},  {9, 17, 70},  {10, 16, 65},
                                        {11, 31, 128}, {12, 40, 130}, {13, 37, 69}, {16, 61, 97}, {17, 1, 66},
                                        {20, 50, 33},  {23, 18, 67},  {24, 36, 63}, {25, 34, 68}, {26, 627, 39},
                                        {27, 19, 71},  {28, 20, 72},  {29, 38, 65}, {33, 21, 66}, {36, 35, 34},
                                        {37, 70, 65},  {48, 33, 77},  {57, 22, 65}, {64, 23, 66}, {65, 35, 65}};
    const pto_contraction *row;
    for (uint32_t r = 0; (row = pto_contraction_at(r)) != NULL; r++) {
        if (!runs_here(row)) continue;
        for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++)
            for (int form = 0; form < 2; form++) {
                const layout a = form == 0 ? ALONG_K : s % 2 == 0 ? ACROSS_K : PADDED;
                product x = product_new(row, a, ACROSS_K, shapes[s][0], shapes[s][1], shapes[s][2]);
                run(&x, (s + (size_t)form) % 2 == 0);
                product_free(&x);
            }
    }
}

/* Rows of B of all numbers of panels, and columns that go along k, as values and keys of attention do; depths around
 * what is turned at a time and what is spread of A at a time. */
TEST(products_of_few_rows_with_short_lines)
{
    static const int64_t lengths[] = {1, 15, 16, 31, 32, 33, 64, 96, 100, 128, 160, 192, 224, 256, 257, 288};
    static const int64_t depths[] = {1, 7, 8, 9, 15, 17, 63, 65, 100, 128, 511, 513, 1030};
    enum { LENGTHS = sizeof lengths / sizeof lengths[0], DEPTHS = sizeof depths / sizeof depths[0] };
    const pto_contraction *row;
    for (uint32_t r = 0; (row = pto_contraction_at(r)) != NULL; r++) {
        if (!runs_here(row) || row->skinny == NULL) continue;
        for (int i = 0; i < LENGTHS * DEPTHS; i++) {
            const int64_t m = 1 + i % 9, n = lengths[i % LENGTHS], k = depths[i / LENGTHS];
            const layout a = i % 3 == 0 ? ALONG_K : i % 3 == 1 ? ACROSS_K : PADDED;
            static const layout lie[] = {ALONG_K, ACROSS_K, ALONG_APART, ACROSS_APART, BACKWARDS};
            for (int form = 0; form < (row->b == PTO_KERNEL_I4 ? 4 : 5); form++) {
                product x = product_new(row, a, lie[form], m, n, k);
                run(&x, (i + form) % 2 == 0);
                product_free(&x);
            }
        }
    }
}

/* Few columns, whose products are turned: around how many rows of A are taken at a time. */
TEST(products_of_few_columns)
{
    static const int64_t rows[] = {2, 7, 8, 9, 17, 63, 64, 65, 71, 72, 73, 136, 137, 511, 519, 520, 521, 1100};
    static const int64_t depths[] = {1, 8, 65, 300, 1030, 2050};
    static const layout lie[] = {ALONG_K, ACROSS_K, PADDED, ALONG_APART};
    enum { ROWS = sizeof rows / sizeof rows[0], DEPTHS = sizeof depths / sizeof depths[0], COLUMNS = 9, LAYOUTS = 4 };
    const pto_contraction *row;
    for (uint32_t r = 0; (row = pto_contraction_at(r)) != NULL; r++) {
        if (!runs_here(row) || row->skinny == NULL || row->b == PTO_KERNEL_I4) continue;
        for (int i = 0; i < ROWS * COLUMNS; i++) {
            const int64_t m = rows[i % ROWS], n = 1 + i / ROWS, most = m > 200 ? 3 : DEPTHS;
            product x = product_new(row, lie[i % LAYOUTS], lie[i / LAYOUTS % LAYOUTS], m, n, depths[i % most]);
            run(&x, i % 5 < 2);
            product_free(&x);
        }
    }
}

TEST(products_of_many_blocks)
{
    const pto_contraction *row;
    for (uint32_t r = 0; (row = row_at(r)) != NULL; r++) {
        if (!runs_here(row)) continue;
        /* Two blocks along k, each less deep than one may be, so that one of A has more rows. */
        const int64_t n = row->n_block > 64 ? 35 : row->n_block + 3;
        product x = product_new(row, ALONG_K, ACROSS_K, row->m_block * 4 / 3 + 7, n, row->k_block * 3 / 2 + 3);
        run(&x, false);
        run(&x, true);
        product_free(&x);
        product y = product_new(row, ACROSS_K, ALONG_K, 5, row->n_block + 3, 11);
        run(&y, true);
        product_free(&y);
    }
}

/* The same operand, of `count` rows or columns, k deep, with lines `apart` elements apart, in memory that is freed by
 * the caller, from its second byte on. */
static operand far_of(const operand *near, layout form, int64_t count, int64_t k, int64_t apart, unsigned char *memory)
{
    operand x = *near;
    const bool along = form == ALONG_K;
    const int64_t lines = along ? count : k, length = along ? k : count;
    int64_t *const stride = along ? &x.stride : &x.k_stride;
    x.bytes = memory + 1;
    for (int64_t i = 0; i < lines; i++)
        memcpy(x.bytes + bytes_of(x.type, i * apart), near->bytes + bytes_of(x.type, i * *stride),
               (size_t)bytes_of(x.type, length));
    *stride = apart;
    return x;
}

/* Near to each other they are multiplied as they lie, and packed where a cache would not keep them. */
static void near_and_far(const pto_contraction *row, layout of_a, int64_t m, int64_t n, int64_t k)
{
    enum { FAR = 4099 };
    product near = product_new(row, of_a, ACROSS_K, m, n, k), far = near;
    const size_t c_bytes = (size_t)(4 * near.m * near.c_stride);
    unsigned char *const a = calloc((size_t)(4 * FAR * (m + k)), 1), *const b = calloc((size_t)(4 * FAR * k) + 1, 1);
    unsigned char *const c = malloc(c_bytes);
    assert_true(a != NULL && b != NULL && c != NULL);
    far.a = far_of(&near.a, of_a, m, k, FAR, a);
    /* Halves of bytes cannot be moved. */
    if (row->b == PTO_F32) far.b = far_of(&near.b, ACROSS_K, n, k, FAR, b);
    far.c = memcpy(c, near.c, c_bytes);
    assert_true(bytes_of(row->a, m * k) <= row->a_near_bytes);
    run(&near, k % 2 == 0);
    run(&far, k % 2 == 0);
    assert_memory_equal(near.c, far.c, c_bytes);
    free(a);
    free(b);
    free(c);
    product_free(&near);
}

TEST(operands_as_they_lie_have_the_bits_of_packed_ones)
{
    static const int64_t depths[] = {1, 7, 64, 401, 512};
    uint32_t count = 0;
    const pto_contraction *row;
    for (uint32_t r = 0; (row = row_at(r)) != NULL; r++) {
        if (!runs_here(row) || row->micro_strided == NULL) continue;
        count++;
        for (size_t d = 0; d < sizeof depths / sizeof depths[0]; d++) {
            near_and_far(row, ALONG_K, 47, 39, depths[d]); /* panels of B are not full */
            near_and_far(row, ALONG_K, 47, 64, depths[d]);
            near_and_far(row, ACROSS_K, 47, 64, depths[d]);
        }
    }
    const uint32_t isa = pto_isa_of_host(), of_each = 2;
    assert_int_equal(count, (isa & PTO_ISA_AVX512) ? 2 * of_each : (isa & PTO_ISA_AVX2) ? of_each : 0);
}

static void set_all(operand *x, uint32_t bits, int64_t count, int64_t k)
{
    for (int64_t i = 0; i < x->count; i++) memcpy(x->bytes + bytes_of(x->type, i), &bits, (size_t)bytes_of(x->type, 1));
    decode(x, count, k);
}

/* Two products of 255 and -128 exceed 16 bits: libraries that add pairs in them are off by up to a fifth here. */
TEST(pairs_of_byte_products_do_not_saturate)
{
    static const uint32_t bytes[] = {0x80, 0x7f, 0xff};
    const pto_contraction *row;
    for (uint32_t r = 0; (row = row_at(r)) != NULL; r++) {
        if (!runs_here(row) || row->acc != PTO_I32 || row->b == PTO_KERNEL_I4) continue;
        for (int pair = 0; pair < 9; pair++) {
            product x = product_new(row, ALONG_K, ACROSS_K, 15, 33, 263);
            set_all(&x.a, bytes[pair / 3], 15, 263);
            set_all(&x.b, bytes[pair % 3], 33, 263);
            run(&x, pair % 2 == 0);
            product_free(&x);
        }
    }
}

/* 1 + 2^-8 + 2^-8 + ..: in bf16 each addition is lost, in f32 none is. */
TEST(sums_of_bf16_are_kept_in_f32)
{
    const pto_contraction *row;
    for (uint32_t r = 0; (row = row_at(r)) != NULL; r++) {
        if (!runs_here(row) || row->a != PTO_BF16) continue;
        product x = product_new(row, ALONG_K, ACROSS_K, 3, 5, 257);
        set_all(&x.a, 0x3f80, 3, 257);
        set_all(&x.b, 0x3b80, 5, 257);
        run(&x, false);
        assert_true(float_of(at_c(x.c, 0)) == 257 * 0x1p-8F);
        product_free(&x);
    }
}

/* Subnormal operands count with their value, times what makes that large, and sums that are subnormal may become 0. */
TEST(subnormals_of_bf16_are_not_lost)
{
    const pto_contraction *row;
    for (uint32_t r = 0; (row = row_at(r)) != NULL; r++) {
        if (!runs_here(row) || row->a != PTO_BF16) continue;
        for (int form = 0; form < 6; form++) {
            product x = product_new(row, form % 2 ? ALONG_K : PADDED, ACROSS_K, 19, 37, 33);
            if (form < 3) set_all(form < 2 ? &x.a : &x.b, form == 0 ? 0x8001 : 0x0040, form < 2 ? 19 : 37, 33);
            if (form == 1) set_all(&x.b, 0x7f00, 37, 33);
            if (form >= 3) set_all(&x.a, 0x0180 + (uint32_t)form, 19, 33);
            if (form == 4) memset(x.c, 0x80, 19 * 4 * (size_t)x.c_stride);
            run(&x, form > 3);
            product_free(&x);
        }
    }
}

/* One is enough, wherever it is, and only what it is multiplied with is computed otherwise. */
TEST(one_subnormal_of_bf16_is_enough)
{
    enum { N = 203, K = 139 };
    static const int64_t rows[] = {1, 5, 9, 13, 17, 21, 25, 29, 70, 99}; /* few, and more than those */
    const pto_contraction *row;
    for (uint32_t r = 0; (row = pto_contraction_at(r)) != NULL; r++) {
        if (!runs_here(row) || row->a != PTO_BF16) continue;
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
            for (int form = 0; form < 8; form++) {
                const int64_t m = rows[i];
                product x = product_new(row, ALONG_K, ACROSS_K, m, N, K);
                operand *const with = form % 2 == 0 ? &x.a : &x.b, *const other = form % 2 == 0 ? &x.b : &x.a;
                const uint16_t subnormal = form < 4 ? 0x0001 : 0x807f, large = 0x7f00;
                const int64_t p = form % 4 < 2 ? K - 1 : 70, at = form % 2 == 0 ? m - 1 : 66;
                memcpy(with->bytes + 2 * (at * with->stride + p * with->k_stride), &subnormal, sizeof subnormal);
                memcpy(other->bytes + 2 * p * other->k_stride, &large, sizeof large);
                decode(&x.a, m, K);
                decode(&x.b, N, K);
                run(&x, form < 6);
                product_free(&x);
            }
    }
}

/* Infinities and NaN meet the zeros of padding in panels; they stay in their row and their column. */
TEST(infinities_stay_in_their_row_and_column)
{
    const pto_contraction *row;
    for (uint32_t r = 0; (row = row_at(r)) != NULL; r++) {
        if (!runs_here(row) || row->acc != PTO_F32 || row->b == PTO_KERNEL_I4) continue;
        product x = product_new(row, ALONG_K, ACROSS_K, 5, 19, 7);
        const float special[] = {INFINITY, NAN};
        for (int s = 0; s < 2; s++) {
            const uint32_t bits = row->a == PTO_F32    ? bits_of(special[s])
                                  : row->a == PTO_BF16 ? bits_of(special[s]) >> 16
                                                       : (s == 0 ? 0x7c00 : 0x7e00);
            memcpy(x.a.bytes + bytes_of(row->a, 2 * 7 + 3), &bits, (size_t)bytes_of(row->a, 1));
            memcpy(x.b.bytes + bytes_of(row->b, 6 * 19 + 17), &bits, (size_t)bytes_of(row->b, 1));
            unsigned char *const scratch = malloc((size_t)row->scratch_bytes(5, 19, 7));
            assert_non_null(scratch);
            row->block(5, 19, 7, x.a.bytes, 7, 1, x.b.bytes, 19, 1, x.c, x.c_stride, false, scratch);
            free(scratch);
            for (int64_t i = 0; i < 5; i++)
                for (int64_t j = 0; j < 19; j++)
                    assert_int_equal(isfinite(float_of(at_c(x.c, i * x.c_stride + j))) != 0, i != 2 && j != 17);
        }
        product_free(&x);
    }
}

/* Panels are the interface of `micro`: one of A and one of B, with tails of both. */
TEST(panels_hold_tails)
{
    const pto_contraction *row;
    for (uint32_t r = 0; (row = row_at(r)) != NULL; r++) {
        if (!runs_here(row)) continue;
        const int64_t m = row->mr > 1 ? row->mr - 1 : 1, n = row->nr - 1, k = 9;
        product x = product_new(row, ALONG_K, ACROSS_K, m, n, k);
        unsigned char *const before = malloc((size_t)(4 * m * x.c_stride));
        unsigned char *const a = aligned_alloc(64, (size_t)pto_panel_a_bytes(row, k));
        unsigned char *const b = aligned_alloc(64, (size_t)pto_panel_b_bytes(row, k));
        assert_true(before != NULL && a != NULL && b != NULL);
        memcpy(before, x.c, (size_t)(4 * m * x.c_stride));
        row->pack_a(m, k, x.a.bytes, 0, x.a.stride, x.a.k_stride, a, 0);
        row->pack_b(n, k, x.b.bytes, 0, x.b.stride, x.b.k_stride, b, 0);
        row->micro(k, a, b, x.c, x.c_stride, m, n, true);
        check(&x, before, true);
        free(before);
        free(a);
        free(b);
        product_free(&x);
    }
}

/* The rows for bf16 of which the faster one is used have the same bits: both are held against the same sums above. */
TEST(instructions_that_are_not_worth_using_change_no_bits)
{
    const uint32_t host = pto_isa_of_host(), used = pto_isa_worth_using(host);
    assert_int_equal(host & ~used & ~(uint32_t)PTO_ISA_AVX512_BF16, 0);
    assert_int_equal(used & ~host, 0);
    assert_int_equal(pto_isa_worth_using(used), used);
    for (uint32_t isa = 0; isa < 1U << PTO_ISA_COUNT; isa++)
        if ((isa & ~host) == 0 && (isa & PTO_ISA_AVX512_BF16) == 0) assert_int_equal(pto_isa_worth_using(isa), isa);
    if ((host & PTO_ISA_AMX_BF16) != 0) {
        assert_int_equal(used, host);
        return;
    }
    const pto_contraction *const row = pto_contraction_find(PTO_BF16, PTO_BF16, PTO_F32, host),
                                 *const faster = pto_contraction_find(PTO_BF16, PTO_BF16, PTO_F32, used);
    assert_int_equal(row->sums, faster->sums);
}

TEST(copies_and_transposes_move_every_byte)
{
    enum { ROWS = 37, COLUMNS = 83, BYTES = 8, ALL = ROWS * COLUMNS * BYTES };
    unsigned char *const from = malloc(ALL + 1), *const to = malloc(ALL + 1);
    assert_true(from != NULL && to != NULL);
    for (int i = 0; i < ALL; i++) from[i + 1] = (unsigned char)draw();
    for (int64_t bytes = 1; bytes <= BYTES; bytes *= 2) {
        pto_transpose(bytes, ROWS, COLUMNS, from + 1, COLUMNS, to + 1, ROWS);
        for (int64_t i = 0; i < ROWS; i++)
            for (int64_t j = 0; j < COLUMNS; j++)
                assert_memory_equal(to + 1 + (j * ROWS + i) * bytes, from + 1 + (i * COLUMNS + j) * bytes,
                                    (size_t)bytes);
    }
    for (int streaming = 0; streaming < 2; streaming++) {
        memset(to, 0xee, ALL + 1);
        pto_copy_rows(ROWS, 501, from + 1, COLUMNS * BYTES, to + 1, COLUMNS * BYTES, streaming != 0);
        for (int64_t i = 0; i < ROWS; i++) {
            assert_memory_equal(to + 1 + i * COLUMNS * BYTES, from + 1 + i * COLUMNS * BYTES, 501);
            assert_int_equal(to[1 + i * COLUMNS * BYTES + 501], 0xee);
        }
    }
    free(from);
    free(to);
}
