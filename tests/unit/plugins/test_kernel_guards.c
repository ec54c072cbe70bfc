/* plugins/shared/kernels: no row and no packing routine touches a byte outside of its operands. Memory before or after
 * each operand is not mapped, so that what does ends the test. Then which instruction sets facts of a processor are. */
#include "tests/unit/plugins/kernel_each.h"
#include "tests/unit/plugins/kernel_operands.h"

#include <string.h>

enum { SIZES_MOST = 70 };

/* Bytes that are no NaN in any type. */
static guarded guarded_numbers(int64_t bytes, bool at_end)
{
    guarded g = guarded_new(bytes, at_end);
    for (int64_t i = 0; i < bytes; i++) g.bytes[i] = (unsigned char)draw(64);
    return g;
}

static int64_t bytes_of(pto_dtype type, int64_t count)
{
    if (type == PTO_KERNEL_I4) return (count + 1) / 2;
    return count * (type == PTO_F32 ? 4 : type == PTO_BF16 || type == PTO_F16 ? 2 : 1);
}

static bool runs_here(const pto_contraction *row) { return (row->isa & ~pto_isa_of_host()) == 0; }

/* Sizes at which vectors, panels and steps end, and others. */
static int64_t size_of_draw(void)
{
    static const int64_t edges[] = {1, 2, 3, 4, 6, 7, 8, 15, 16, 17, 31, 32, 33, 47, 48, 49, 63, 64, 65, 96, 100, 128};
    enum { COUNT = sizeof edges / sizeof edges[0] };
    return draw(2) == 0 ? edges[draw(COUNT)] : 1 + draw(SIZES_MOST);
}

TEST(products_touch_their_operands_alone)
{
    const pto_contraction *row;
    for (uint32_t r = 0; (row = row_at(r)) != NULL; r++) {
        if (!runs_here(row)) continue;
        draws = r;
        for (int round = 0; round < 160; round++) {
            const int64_t m = size_of_draw(), n = size_of_draw(), k = size_of_draw();
            const bool at_end = round % 2 == 0, a_along = round / 2 % 2 == 0, b_along = round / 4 % 2 == 0;
            guarded a = guarded_numbers(bytes_of(row->a, m * k), at_end),
                    b = guarded_numbers(bytes_of(row->b, n * k), at_end), c = guarded_numbers(4 * m * n, at_end),
                    scratch = guarded_numbers(row->scratch_bytes(m, n, k), at_end);
            row->block(m, n, k, a.bytes, a_along ? k : 1, a_along ? 1 : m, b.bytes, b_along ? 1 : n, b_along ? k : 1,
                       c.bytes, n, round / 8 % 2 == 0, scratch.bytes);
            guarded_free(&a);
            guarded_free(&b);
            guarded_free(&c);
            guarded_free(&scratch);
        }
    }
}

/* Panels begin at a multiple of 64 bytes and take one, so that they can end where a page ends. */
TEST(panels_touch_their_operands_alone)
{
    const pto_contraction *row;
    for (uint32_t r = 0; (row = row_at(r)) != NULL; r++) {
        if (!runs_here(row)) continue;
        draws = r + 99;
        for (int round = 0; round < 160; round++) {
            const int64_t m = 1 + draw((uint32_t)row->mr), n = 1 + draw((uint32_t)row->nr), k = size_of_draw();
            const bool at_end = round % 2 == 0, a_along = round / 2 % 2 == 0, b_along = round / 4 % 2 == 0;
            guarded a = guarded_numbers(bytes_of(row->a, m * k), at_end),
                    b = guarded_numbers(bytes_of(row->b, n * k), at_end), c = guarded_numbers(4 * m * n, at_end),
                    a_panel = guarded_numbers(pto_panel_a_bytes(row, k), at_end),
                    b_panel = guarded_numbers(pto_panel_b_bytes(row, k), at_end);
            row->pack_a(m, k, a.bytes, 0, a_along ? k : 1, a_along ? 1 : m, a_panel.bytes, pto_panel_a_bytes(row, k));
            row->pack_b(n, k, b.bytes, 0, b_along ? k : 1, b_along ? 1 : n, b_panel.bytes, pto_panel_b_bytes(row, k));
            row->micro(k, a_panel.bytes, b_panel.bytes, c.bytes, n, m, n, round / 8 % 2 == 0);
            guarded_free(&a);
            guarded_free(&b);
            guarded_free(&c);
            guarded_free(&a_panel);
            guarded_free(&b_panel);
        }
    }
}

TEST(copies_and_transposes_touch_their_operands_alone)
{
    draws = 7;
    for (int round = 0; round < 200; round++) {
        const int64_t rows = size_of_draw(), columns = size_of_draw(), bytes = INT64_C(1) << draw(4);
        const bool at_end = round % 2 == 0;
        guarded from = guarded_numbers(rows * columns * bytes, at_end),
                to = guarded_numbers(rows * columns * bytes, at_end);
        pto_transpose(bytes, rows, columns, from.bytes, columns, to.bytes, rows);
        pto_copy_rows(rows, columns * bytes, from.bytes, columns * bytes, to.bytes, columns * bytes, round % 4 < 2);
        assert_memory_equal(from.bytes, to.bytes, (size_t)(rows * columns * bytes));
        guarded_free(&from);
        guarded_free(&to);
    }
}

static void micro_of_nothing(int64_t k, const void *a_panel, const void *b_panel, void *c, int64_t c_row_stride,
                             int64_t m, int64_t n, bool accumulate)
{
    (void)k;
    (void)a_panel;
    (void)b_panel;
    for (int64_t i = 0; i < m && !accumulate; i++) memset((char *)c + 4 * i * c_row_stride, 0, (size_t)(4 * n));
}

/* What pto_isa_of_host leaves AMX out by. */
TEST(rows_agree_with_their_twins)
{
    const pto_contraction *twin;
    for (uint32_t r = 0; (twin = pto_contraction_twin_at(r)) != NULL; r++) {
        pto_contraction other = *twin;
        assert_true(pto_contraction_agrees(&other, twin));
        other.micro = micro_of_nothing;
        assert_false(pto_contraction_agrees(&other, twin));
        other = *twin;
        other.micro = pto_contraction_twin_at(r == 1 ? 4 : 1)->micro;
        if (twin->b != PTO_KERNEL_I4)
            assert_int_equal(pto_contraction_agrees(&other, twin), other.micro == twin->micro);
    }
}

/* A processor with everything, and what is left of it without this or that. */
TEST(instruction_sets_follow_from_facts)
{
    const uint32_t all = (1U << PTO_ISA_COUNT) - 1, tiles = PTO_ISA_AMX_INT8 | PTO_ISA_AMX_BF16;
    const pto_isa_facts whole = {.leaf1_c = UINT32_MAX,
                                 .leaf7_b = UINT32_MAX,
                                 .leaf7_c = UINT32_MAX,
                                 .leaf7_d = UINT32_MAX,
                                 .leaf7_1_a = UINT32_MAX,
                                 .saves = UINT32_MAX,
                                 .permits_tiles = true};
    pto_isa_facts f = whole;
    assert_int_equal(pto_isa_of_facts(&f), all);
    f.permits_tiles = false; /* the system refuses */
    assert_int_equal(pto_isa_of_facts(&f), all & ~tiles);
    f = whole;
    f.saves = 0xe6; /* it does not save tiles */
    assert_int_equal(pto_isa_of_facts(&f), all & ~tiles);
    f.saves = 0x6; /* nor registers of 512 bits */
    assert_int_equal(pto_isa_of_facts(&f), PTO_ISA_AVX2);
    f.saves = 0x2;
    assert_int_equal(pto_isa_of_facts(&f), 0);
    f = whole;
    f.leaf7_d = ~(UINT32_C(1) << 22);
    assert_int_equal(pto_isa_of_facts(&f), all & ~(uint32_t)PTO_ISA_AMX_BF16);
    f.leaf7_d = ~(UINT32_C(1) << 25);
    assert_int_equal(pto_isa_of_facts(&f), all & ~(uint32_t)PTO_ISA_AMX_INT8);
    f.leaf7_d = ~(UINT32_C(1) << 24);
    assert_int_equal(pto_isa_of_facts(&f), all & ~tiles);
    f = whole;
    f.leaf7_1_a = 0;
    assert_int_equal(pto_isa_of_facts(&f), all & ~(uint32_t)PTO_ISA_AVX512_BF16);
    f = whole;
    f.leaf7_b = ~(UINT32_C(1) << 31); /* no vectors of 256 bits with masks */
    assert_int_equal(pto_isa_of_facts(&f), PTO_ISA_AVX2);
    f = (pto_isa_facts){0};
    assert_int_equal(pto_isa_of_facts(&f), 0);
}
