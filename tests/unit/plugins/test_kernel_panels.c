/* plugins/shared/kernels: products with weights in panels, and with what is packed once, by every row that this machine
 * can run, have the bits of the products with a matrix, and touch their operands alone. */
#include "tests/unit/plugins/kernel_each.h"
#include "tests/unit/plugins/kernel_operands.h"

#include <pto/native.h>
#include <math.h>
#include <string.h>

static int64_t bytes_of(pto_dtype type) { return type == PTO_F32 ? 4 : type == PTO_F16 || type == PTO_BF16 ? 2 : 1; }

/* What the upper byte of a float is drawn from: with the last two of them it may be subnormal. */
enum { KINDS_NORMAL = 6, KINDS_ALL = 8 };
static uint32_t kinds = KINDS_ALL;

/* Any bytes; of floats numbers of both signs, with KINDS_ALL subnormals among them, and few that are large, infinite or
 * none. */
static void fill(guarded *g, int64_t bytes, pto_dtype type)
{
    static const uint8_t high[KINDS_ALL] = {0x3f, 0xbf, 0x3e, 0xbd, 0x3c, 0xbe, 0x00, 0x80};
    const int64_t each = bytes_of(type);
    for (int64_t i = 0; i < bytes; i++) {
        g->bytes[i] = (unsigned char)draw(256);
        if (each > 1 && i % each == each - 1) g->bytes[i] = draw(1000) == 0 ? 0x7f : high[draw(kinds)];
    }
}

/* Sums that C holds. */
static void fill_sums(guarded *g, int64_t count, pto_dtype acc)
{
    fill(g, 4 * count, acc == PTO_F32 ? PTO_F32 : PTO_I8);
}

/* Which of two numbers that are none a sum becomes is open. */
static bool are_same(const unsigned char *x, const unsigned char *y, int64_t count, pto_dtype acc)
{
    for (int64_t i = 0; i < count; i++) {
        float of_x, of_y;
        memcpy(&of_x, x + 4 * i, sizeof of_x);
        memcpy(&of_y, y + 4 * i, sizeof of_y);
        if (memcmp(x + 4 * i, y + 4 * i, 4) != 0 && !(acc == PTO_F32 && isnan(of_x) && isnan(of_y))) return false;
    }
    return true;
}

typedef struct sizes {
    int64_t m, n, k, width, deep;
    bool at_end, a_turned, adds;
} sizes;

static void compare(const pto_contraction *row, sizes s)
{
    const int64_t a_bytes = bytes_of(row->a), b_bytes = bytes_of(row->b), count = (s.n + s.width - 1) / s.width,
                  shift = s.at_end ? 0 : b_bytes, c_bytes = 4 * s.m * s.n;
    guarded a = guarded_new(a_bytes * s.m * s.k, s.at_end), b = guarded_new(b_bytes * s.n * s.k, s.at_end),
            before = guarded_new(c_bytes, s.at_end),
            panels = guarded_new(b_bytes * count * s.deep * s.width + shift, s.at_end),
            c = guarded_new(c_bytes, s.at_end), d = guarded_new(c_bytes, s.at_end),
            scratch = guarded_new(row->scratch_most(s.m, s.n), s.at_end),
            more = guarded_new(row->panels_scratch(s.m, s.n), s.at_end);
    fill(&a, a_bytes * s.m * s.k, row->a);
    fill(&b, b_bytes * s.n * s.k, row->b);
    fill(&panels, b_bytes * count * s.deep * s.width + shift, row->b);
    fill_sums(&c, s.m * s.n, row->acc);
    memcpy(before.bytes, c.bytes, (size_t)c_bytes);
    unsigned char *const lines = panels.bytes + shift;
    for (int64_t p = 0; p < s.k; p++)
        for (int64_t j = 0; j < s.n; j++)
            memcpy(lines + b_bytes * ((j / s.width * s.deep + p) * s.width + j % s.width),
                   b.bytes + b_bytes * (p * s.n + j), (size_t)b_bytes);
    const int64_t a_row = s.a_turned ? 1 : s.k, a_k = s.a_turned ? s.m : 1;
    row->block(s.m, s.n, s.k, a.bytes, a_row, a_k, b.bytes, s.n, 1, c.bytes, s.n, s.adds, scratch.bytes);
    pto_contraction_panels *const ways[] = {row->panels, row->panels_beyond};
    for (size_t way = 0; way < sizeof ways / sizeof ways[0] && ways[way] != NULL; way++) {
        memcpy(d.bytes, before.bytes, (size_t)c_bytes);
        ways[way](s.m, s.n, s.k, a.bytes, a_row, a_k, lines, s.width, s.deep * s.width, d.bytes, s.n, s.adds,
                  more.bytes);
        if (!are_same(c.bytes, d.bytes, s.m * s.n, row->acc))
            fail_msg("%s: %d x %d x %d in panels of %d, way %d", row->name, (int)s.m, (int)s.n, (int)s.k, (int)s.width,
                     (int)way);
    }
    guarded *const all[] = {&a, &b, &before, &panels, &c, &d, &scratch, &more};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) guarded_free(all[i]);
}

/* Numbers of rows with a way of their own, and others; tails of vectors, groups along k, panels, and pieces along k;
 * panels that are deeper than the product, and of widths that no kernel is made for; few rows with several panels. */
TEST(products_with_panels_have_the_bits_of_those_with_a_matrix)
{
    static const int64_t shapes[][3] = {
        {1, 16, 8},    {3, 33, 70},    {6, 40, 385},  {16, 100, 64},  {29, 7, 3},    {7, 48, 0},    {2, 95, 800},
        {200, 17, 5},  {1, 1, 1},      {13, 35, 801}, {200, 20, 401}, {4, 130, 33},  {14, 64, 260}, {15, 65, 513},
        {64, 70, 257}, {65, 40, 30},   {5, 129, 131}, {62, 5, 1090},  {1, 64, 7},    {64, 3, 4103}, {28, 96, 1},
        {1, 128, 37},  {1, 300, 4100}, {2, 161, 9},   {2, 256, 70},   {3, 129, 515}, {3, 130, 1},   {4, 96, 8},
        {4, 200, 301}, {16, 64, 2301}, {20, 70, 1025}};
    static const int64_t widths[] = {16, 32, 64, 48};
    const pto_contraction *row;
    const uint32_t isa = pto_isa_of_host();
    for (uint32_t r = 0; (row = pto_contraction_at(r)) != NULL; r++) {
        if ((row->isa & ~isa) != 0 || row->b == (pto_dtype)PTO_KERNEL_I4) continue;
        draws = r;
        for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++)
            for (int form = 0; form < 16; form += shapes[s][0] < 60 ? 1 : 3) {
                kinds = (s + (size_t)form / 2) % 2 == 0 ? KINDS_ALL : KINDS_NORMAL;
                compare(row, (sizes){.m = shapes[s][0],
                                     .n = shapes[s][1],
                                     .k = shapes[s][2],
                                     .width = widths[form / 4],
                                     .deep = shapes[s][2] + form % 2 * 3,
                                     .at_end = form % 2 == 0,
                                     .a_turned = form / 4 % 2 != 0,
                                     .adds = form / 2 % 2 == 0});
            }
    }
}

typedef struct packed_sizes {
    int64_t m, n, k, column, columns, depth; /* n of `columns`, from `column` on, and k of `depth` */
    bool at_end, b_turned, adds;
} packed_sizes;

/* Packed for many rows, or in panels of `width` columns for few; whether there is something to be packed. */
static bool compare_packed(const pto_contraction *row, int64_t width, packed_sizes s)
{
    const int64_t a_bytes = bytes_of(row->a), b_bytes = bytes_of(row->b), c_bytes = 4 * s.m * s.n,
                  b_k = s.b_turned ? 1 : s.columns, b_column = s.b_turned ? s.depth : 1,
                  bytes = (width == 0 ? row->packed_bytes : row->few_bytes)(s.columns, s.depth, b_k, b_column);
    const bool is_first = s.k % row->k_group == 0 && (row->b_tail_bytes == 0 || row->micro_deeper != NULL),
               has_way = width != 0 || s.k == s.depth || s.k == 0 || is_first;
    if (bytes == 0) { /* there is nothing of it, or it lies near */
        assert_true(s.depth == 0 || (width == 0 && row->b_near_bytes > 0));
        return false;
    }
    const pto_native_product product = {.struct_size = sizeof product,
                                        .panels = row->panels,
                                        .packed = row->packed,
                                        .panels_scratch = row->panels_scratch,
                                        .scratch_most = row->scratch_most};
    guarded a = guarded_new(a_bytes * s.m * s.k, s.at_end), b = guarded_new(b_bytes * s.columns * s.depth, s.at_end),
            packed = guarded_new(bytes, s.at_end), c = guarded_new(c_bytes, s.at_end),
            d = guarded_new(c_bytes, s.at_end), scratch = guarded_new(row->scratch_most(s.m, s.n), s.at_end),
            more = guarded_new(pto_native_scratch_most(&product, s.m, s.n), s.at_end);
    assert_int_equal((uintptr_t)packed.bytes % 64, 0);
    fill(&a, a_bytes * s.m * s.k, row->a);
    fill(&b, b_bytes * s.columns * s.depth, row->b);
    fill_sums(&c, s.m * s.n, row->acc);
    memcpy(d.bytes, c.bytes, (size_t)c_bytes);
    row->block(s.m, s.n, s.k, a.bytes, s.k, 1, b.bytes + b_bytes * b_column * s.column, b_k, b_column, c.bytes, s.n,
               s.adds, scratch.bytes);
    for (int64_t part = (s.columns + PTO_PACKED_COLUMNS - 1) / PTO_PACKED_COLUMNS; part-- > 0;)
        (width == 0 ? row->pack : row->few_pack)(part, s.columns, s.depth, b.bytes, b_k, b_column, packed.bytes);
    const pto_native_right right = {.product = &product,
                                    .b = b.bytes,
                                    .count = 1,
                                    .n = s.columns,
                                    .k = s.depth,
                                    .width = width,
                                    .packed = (char *)packed.bytes,
                                    .bytes = bytes};
    assert_int_equal(
        pto_native_multiply(&right, 0, s.column, s.m, s.n, s.k, a.bytes, s.k, 1, d.bytes, s.n, s.adds, more.bytes),
        has_way);
    if (has_way && !are_same(c.bytes, d.bytes, s.m * s.n, row->acc))
        fail_msg("%s: %d x %d x %d, packed, panels of %d", row->name, (int)s.m, (int)s.n, (int)s.k, (int)width);
    guarded *const all[] = {&a, &b, &packed, &c, &d, &scratch, &more};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) guarded_free(all[i]);
    return true;
}

/* One part and more, the last one narrow; some of the columns, and the first of k; one block along k and more; few rows
 * and some blocks of them; columns that lie beside each other, and rows that do. */
TEST(products_with_what_is_packed_once_have_the_bits_of_those_that_pack_it)
{
    static const int64_t shapes[][6] = {
        {1, 16, 8, 0, 16, 8},          {13, 128, 70, 128, 256, 70},  {40, 133, 33, 0, 133, 40},
        {130, 44, 515, 192, 300, 515}, {15, 36, 2500, 0, 36, 2500},  {3, 1, 3200, 128, 129, 4200},
        {390, 33, 37, 128, 161, 37},   {3, 140, 0, 0, 140, 0},       {64, 129, 1, 320, 520, 1},
        {150, 20, 1600, 0, 20, 2900},  {29, 40, 0, 0, 40, 64},       {16, 33, 64, 0, 100, 128},
        {3, 133, 70, 128, 261, 70},    {8, 200, 515, 192, 500, 515}, {6, 36, 2500, 0, 36, 2500},
        {2, 1, 320, 64, 65, 420},      {5, 129, 1, 384, 520, 1},     {4, 128, 37, 128, 256, 64}};
    const pto_contraction *row;
    const uint32_t isa = pto_isa_of_host();
    bool has_panels = false;
    for (uint32_t r = 0; (row = row_at(r)) != NULL; r++) {
        const int64_t widths[] = {0, row->few_columns}, width_count = row->few_columns == 0 ? 1 : 2;
        assert_int_equal(PTO_PACKED_BEGIN % row->nr, 0);
        assert_true(row->few_columns == 0 || (row->few_rows > 0 && PTO_PACKED_BEGIN % row->few_columns == 0));
        assert_int_equal(row->few_bytes(32, 32, 2, 3), 0);
        const bool is_twin = pto_contraction_at(r) == NULL;
        if ((!is_twin && (row->isa & ~isa) != 0) || row->b == (pto_dtype)PTO_KERNEL_I4) continue;
        draws = r;
        for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++)
            for (int form = 0; form < 8 * width_count; form++) {
                kinds = form % 3 == 0 ? KINDS_ALL : KINDS_NORMAL;
                const bool is_packed = compare_packed(row, widths[form / 8],
                                                      (packed_sizes){.m = shapes[s][0],
                                                                     .n = shapes[s][1],
                                                                     .k = shapes[s][2],
                                                                     .column = shapes[s][3],
                                                                     .columns = shapes[s][4],
                                                                     .depth = shapes[s][5],
                                                                     .at_end = form % 2 == 0,
                                                                     .b_turned = form / 2 % 2 != 0,
                                                                     .adds = form / 4 % 2 == 0});
                has_panels = has_panels || (is_packed && form >= 8);
            }
    }
    assert_true((isa & PTO_ISA_AVX512) == 0 || has_panels);
}

/* By the bytes of a call and of the cache, where there are kernels for both and the cache is known. */
TEST(what_no_cache_holds_has_kernels_of_its_own)
{
    const pto_native_product beyond = {.struct_size = sizeof beyond, .panels = pto_contraction_at(0)->panels};
    pto_native_product near = beyond;
    const pto_native_product *const products[] = {&near};
    pto_native_services services = {
        .struct_size = sizeof services, .product_count = 1, .products = products, .cache_bytes = 800};
    assert_ptr_equal(pto_native_panels_of(&services, 0, INT64_MAX), &near);
    near.beyond = &beyond;
    assert_ptr_equal(pto_native_panels_of(&services, 0, 900), &near);
    assert_ptr_equal(pto_native_panels_of(&services, 0, 901), &beyond);
    assert_ptr_equal(pto_native_panels_of(&services, 0, INT64_MAX), &beyond);
    services.cache_bytes = 0;
    assert_ptr_equal(pto_native_panels_of(&services, 0, INT64_MAX), &near);
    services.cache_bytes = 800;
    services.struct_size = offsetof(pto_native_services, cache_bytes);
    assert_ptr_equal(pto_native_panels_of(&services, 0, INT64_MAX), &near);
}

/* Of products of at most so many rows and columns. */
TEST(scratch_for_panels_is_enough_for_smaller_products)
{
    const pto_contraction *row;
    for (uint32_t r = 0; (row = pto_contraction_at(r)) != NULL; r++)
        for (int64_t size = 1; size < 1500; size++) {
            assert_true(row->panels_scratch(size, 640) <= row->panels_scratch(size + 1, 640));
            assert_true(row->panels_scratch(170, size) <= row->panels_scratch(170, size + 1));
        }
}
