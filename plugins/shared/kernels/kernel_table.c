#include "kernel_rows.h"

#include <stddef.h>
#include <string.h>
#include <time.h>
#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

/* Of extended control register 0: the state that the system saves. */
enum { SAVES_AVX = 0x6, SAVES_AVX512 = 0xe0, SAVES_TILES = 0x60000 };

/* Of CPUID; <cpuid.h> of gcc 12 lacks some, and names others otherwise than clang does. */
enum {
    BITS_LEAF1_C = 1 << 27 | 1 << 28 | 1 << 12 | 1 << 29, /* OSXSAVE, AVX, FMA, F16C */
    BIT_AVX2 = 1 << 5,
    BIT_VNNI = 1 << 11,
    BIT_AVX512_BF16 = 1 << 5,
    BIT_AMX_BF16 = 1 << 22,
    BIT_AMX_TILE = 1 << 24,
    BIT_AMX_INT8 = 1 << 25
};
#define BITS_AVX512                                                                                  \
    (UINT32_C(1) << 16 | UINT32_C(1) << 17 | UINT32_C(1) << 30 | UINT32_C(1) << 31) /* F, DQ, BW, VL \
                                                                                     */

static bool has_all(uint32_t bits, uint32_t needed) { return (bits & needed) == needed; }

uint32_t pto_isa_of_facts(const pto_isa_facts *f)
{
    if (!has_all(f->leaf1_c, BITS_LEAF1_C) || !has_all(f->saves, SAVES_AVX) || !(f->leaf7_b & BIT_AVX2)) return 0;
    uint32_t isa = PTO_ISA_AVX2;
    if (!has_all(f->saves, SAVES_AVX | SAVES_AVX512) || !has_all(f->leaf7_b, BITS_AVX512)) return isa;
    isa |= PTO_ISA_AVX512;
    if (f->leaf7_c & BIT_VNNI) isa |= PTO_ISA_AVX512_VNNI;
    if (f->leaf7_1_a & BIT_AVX512_BF16) isa |= PTO_ISA_AVX512_BF16;
    if (!has_all(f->saves, SAVES_TILES) || !(f->leaf7_d & BIT_AMX_TILE) || !f->permits_tiles) return isa;
    if (f->leaf7_d & BIT_AMX_INT8) isa |= PTO_ISA_AMX_INT8;
    if (f->leaf7_d & BIT_AMX_BF16) isa |= PTO_ISA_AMX_BF16;
    return isa;
}

#if defined(__x86_64__)
/* The system is asked once there is something to ask for: where it does not know the question, it refuses. */
static bool permits_tiles(const pto_isa_facts *f)
{
    enum { ASK_FOR_STATE = 0x1023, STATE_TILE_DATA = 18 }; /* of arch_prctl() */
    if (!has_all(f->saves, SAVES_TILES) || !(f->leaf7_d & BIT_AMX_TILE)) return false;
    return syscall(SYS_arch_prctl, ASK_FOR_STATE, STATE_TILE_DATA) == 0;
}

/* Without the instruction sets of rows of AMX that do not what is known of them. */
static uint32_t with_tiles_that_agree(uint32_t isa)
{
    for (int i = 0; kernel_rows_amx[i].name != NULL; i++) {
        const uint32_t needs = kernel_rows_amx[i].isa;
        if ((needs & ~isa) == 0 && !pto_contraction_agrees(&kernel_rows_amx[i], &kernel_rows_amx_twin[i]))
            isa &= ~(needs & (PTO_ISA_AMX_INT8 | PTO_ISA_AMX_BF16));
    }
    return isa;
}

uint32_t pto_isa_of_host(void)
{
    pto_isa_facts f = {0};
    unsigned a, b, c, d, leaves;
    if (!__get_cpuid(1, &a, &b, &f.leaf1_c, &d) || !has_all(f.leaf1_c, BITS_LEAF1_C)) return 0;
    __asm__("xgetbv" : "=a"(f.saves), "=d"(d) : "c"(0));
    if (!__get_cpuid_count(7, 0, &leaves, &f.leaf7_b, &f.leaf7_c, &f.leaf7_d)) return 0;
    if (leaves == 0 || !__get_cpuid_count(7, 1, &f.leaf7_1_a, &b, &c, &d)) f.leaf7_1_a = 0;
    f.permits_tiles = permits_tiles(&f);
    return with_tiles_that_agree(pto_isa_of_facts(&f));
}

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Of a tile of zeros, DEPTH deep. */
static double seconds_of_tile(const pto_contraction *row)
{
    enum { DEPTH = 128, PANEL = 32 * DEPTH * 4 + 256, MOST = 32, TIMES = 6 };
    static _Alignas(64) const char panel[PANEL];
    char c[MOST * MOST * 4];
    double least = 1;
    if (row->mr > MOST || row->nr > MOST || pto_panel_a_bytes(row, DEPTH) > PANEL ||
        pto_panel_b_bytes(row, DEPTH) > PANEL)
        return least;
    for (int i = 0; i < TIMES; i++) {
        const double begin = seconds_now();
        row->micro(DEPTH, panel, panel, c, row->nr, row->mr, row->nr, false);
        const double took = seconds_now() - begin;
        if (took < least) least = took;
    }
    return least;
}

uint32_t pto_isa_worth_using(uint32_t isa)
{
    const uint32_t without = isa & ~(uint32_t)PTO_ISA_AVX512_BF16;
    if (without == isa || (isa & PTO_ISA_AMX_BF16) != 0) return isa;
    const pto_contraction *const pairs = pto_contraction_find(PTO_BF16, PTO_BF16, PTO_F32, isa),
                                 *const widened = pto_contraction_find(PTO_BF16, PTO_BF16, PTO_F32, without);
    return seconds_of_tile(widened) < seconds_of_tile(pairs) ? without : isa;
}
#else
uint32_t pto_isa_of_host(void) { return 0; }
uint32_t pto_isa_worth_using(uint32_t isa) { return isa; }
#endif

const char *pto_isa_name(uint32_t bit)
{
    static const char *const names[PTO_ISA_COUNT] = {"avx2",        "avx512",   "avx512-vnni",
                                                     "avx512-bf16", "amx-int8", "amx-bf16"};
    for (int i = 0; i < PTO_ISA_COUNT; i++)
        if (bit == 1U << i) return names[i];
    return NULL;
}

/* From the least to the most that a processor has. */
static const pto_contraction *const tables[] = {
    kernel_rows_plain,
#if defined(__x86_64__)
    kernel_rows_avx2,  kernel_rows_avx512, kernel_rows_bf16, kernel_rows_vnni, kernel_rows_amx,
#endif
};
enum { TABLE_COUNT = sizeof tables / sizeof tables[0] };

const pto_contraction *pto_contraction_at(uint32_t index)
{
    for (int t = 0; t < TABLE_COUNT; t++)
        for (const pto_contraction *row = tables[t]; row->name != NULL; row++)
            if (index-- == 0) return row;
    return NULL;
}

/* Elements of all types that are small numbers, of which sums are not whole: bits that differ by how they are rounded.
 */
bool pto_contraction_agrees(const pto_contraction *row, const pto_contraction *other)
{
    enum { MOST = 32, DEPTH = 70, PANEL = MOST * 128 * 4 + 64 * MOST };
    _Alignas(64) char a_panel[PANEL], b_panel[PANEL];
    unsigned char a[MOST * DEPTH * 2], b[MOST * DEPTH * 2];
    uint32_t c[2][MOST * MOST];
    if (row->mr > MOST || row->nr > MOST || pto_panel_a_bytes(row, DEPTH) > PANEL ||
        pto_panel_b_bytes(row, DEPTH) > PANEL)
        return false;
    for (uint32_t i = 0, x = 1; i < sizeof a; i++, x = x * 1664525 + 1013904223) {
        const int is_high = i % 2 != 0 && row->a == PTO_BF16;
        a[i] = (unsigned char)(is_high ? 0x3e + (x >> 31 << 7) : x >> 24);
        b[i] = (unsigned char)(is_high ? 0x3f : x >> 16 & 255);
    }
    row->pack_a(row->mr, DEPTH, a, 0, DEPTH, 1, a_panel, sizeof a_panel);
    row->pack_b(row->nr, DEPTH, b, 0, DEPTH, 1, b_panel, sizeof b_panel);
    for (int adds = 0; adds < 2; adds++) {
        row->micro(DEPTH, a_panel, b_panel, c[0], row->nr, row->mr, row->nr, adds != 0);
        other->micro(DEPTH, a_panel, b_panel, c[1], row->nr, row->mr, row->nr, adds != 0);
        if (memcmp(c[0], c[1], (size_t)(4 * row->mr * row->nr)) != 0) return false;
    }
    return true;
}

const pto_contraction *pto_contraction_twin_at(uint32_t index)
{
    const pto_contraction *row = kernel_rows_amx_twin;
    while (row->name != NULL && index != 0) {
        row++;
        index--;
    }
    return row->name != NULL ? row : NULL;
}

const pto_contraction *pto_contraction_find(pto_dtype a, pto_dtype b, pto_dtype acc, uint32_t isa)
{
    const pto_contraction *found = NULL;
    for (int t = 0; t < TABLE_COUNT; t++)
        for (const pto_contraction *row = tables[t]; row->name != NULL; row++)
            if (row->a == a && row->b == b && row->acc == acc && (row->isa & ~isa) == 0) found = row;
    return found;
}
