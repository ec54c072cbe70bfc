/* Vectors and memory: loads, stores and tails against a page that must not be touched; conversions of every mode, and
 * maxima and minima, against the semantics that the reference interpreter has. Prints how many results agree. */
#include <pto/native_vector.h>

#include "semantics/element.h"
#include "semantics/lanes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static long compared;
static int bad;

static void expect(const char *what, int mode, int saturate, uint32_t from, uint32_t got, uint32_t wanted)
{
    compared++;
    if (got == wanted || bad > 20) return;
    printf("%s, mode %d, saturate %d: %08x becomes %08x, wanted is %08x\n", what, mode, saturate, from, got, wanted);
    bad++;
}

enum { COUNT = 512 * 64 + 512 };
static uint32_t samples[COUNT];

/* 64 of each exponent and sign, with random low bits, and numbers near whole ones, halves and limits of types. */
static void make_samples(void)
{
    static const float edges[] = {0.5F,      1.5F,      2.5F,     127,      128,     255,           256,
                                  448,       464,       480,      32767,    32768,   57344,         61440,
                                  65504,     65520,     65535,    65536,    0x1p24F, 2147483648.0F, 4294967296.0F,
                                  0x1p-126F, 0x1p-127F, 0x1p-24F, 0x1p-133F};
    uint32_t seed = 1;
    int n = 0;
    for (uint32_t top = 0; top < 512; top++) {
        for (uint32_t i = 0; i < 64; i++) {
            seed = seed * 1664525 + 1013904223;
            /* Half of them with few digits, so that ties come. */
            samples[n++] = top << 23 | i << 17 | (i == 0 ? 0 : i & 1 ? seed >> 15 & 0x1f000 : seed >> 15 & 0x1ffff);
        }
    }
    for (size_t i = 0; i < sizeof edges / sizeof *edges; i++) {
        uint32_t bits;
        memcpy(&bits, &edges[i], sizeof bits);
        for (uint32_t d = 0; d < 10; d++) samples[n++] = (bits - 4 + d / 2) ^ (d & 1) << 31;
    }
    for (; n < COUNT; n++) samples[n] = 0x7f800000 ^ (uint32_t)(n & 1) << 31;
}

static const round_mode modes[] = {ROUND_RINT, ROUND_ROUND, ROUND_FLOOR, ROUND_CEIL, ROUND_TRUNC, ROUND_ODD};

/* What the reference makes of the bits of one element. */
static uint32_t converted(pto_dtype to, pto_dtype from, uint32_t bits, int mode, int saturate)
{
    uint32_t out = 0;
    element_convert(to, &out, 1, from, &bits, 1, 1, modes[mode], saturate != 0, true);
    return out;
}

/* NaN of f32 as its canonical bits: the reference writes no other. */
static pto_u32 canonical(pto_f32 x) { return (pto_u32)pto_canonical_f32(x); }

#define EACH_VECTOR(x)                               \
    for (int at_ = 0; at_ < COUNT; at_ += PTO_LANES) \
        for (pto_u32 x = pto_load_u32(samples + at_), *once_ = &x; once_ != NULL; once_ = NULL)

static void check_vector(const char *what, pto_dtype to, pto_dtype from, int mode, int saturate, pto_u32 x, pto_u32 y)
{
    const uint32_t mask = element_bytes(to) == 4 ? 0xffffffff : (1u << 8 * element_bytes(to)) - 1;
    for (int i = 0; i < PTO_LANES; i++)
        expect(what, mode, saturate, x[i], y[i] & mask, converted(to, from, x[i], mode, saturate));
}

static void check_from_f32(int mode, int saturate)
{
#define CHECK(text, TYPE, result) \
    EACH_VECTOR(x) check_vector(text, PTO_##TYPE, PTO_F32, mode, saturate, x, (pto_u32)(result))
    CHECK("f16", F16, pto_f16_from_f32((pto_f32)x, mode, saturate));
    CHECK("bf16", BF16, pto_bf16_from_f32((pto_f32)x, mode, saturate));
    CHECK("f8e4m3", F8E4M3, pto_f8e4m3_from_f32((pto_f32)x, mode, saturate));
    CHECK("f8e5m2", F8E5M2, pto_f8e5m2_from_f32((pto_f32)x, mode, saturate));
    CHECK("f8e8m0", F8E8M0, pto_f8e8m0_from_f32((pto_f32)x, mode, saturate));
    CHECK("i8", I8, pto_int_from_f32((pto_f32)x, -128, 127, mode, saturate));
    CHECK("u8", U8, pto_int_from_f32((pto_f32)x, 0, 255, mode, saturate));
    CHECK("i16", I16, pto_int_from_f32((pto_f32)x, -32768, 32767, mode, saturate));
    CHECK("u16", U16, pto_int_from_f32((pto_f32)x, 0, 65535, mode, saturate));
    CHECK("i32", I32, pto_i32_from_f32((pto_f32)x, mode, saturate));
    CHECK("u32", U32, pto_u32_from_f32((pto_f32)x, mode, saturate));
}

static void check_modes(void)
{
    for (int mode = 0; mode < 6; mode++) {
        for (int saturate = 0; saturate < 2; saturate++) check_from_f32(mode, saturate);
        EACH_VECTOR(x)
        {
            /* The reference writes the bits of a NaN anew. */
            check_vector("whole", PTO_F32, PTO_F32, mode, 0, canonical((pto_f32)x),
                         canonical(pto_whole_f32((pto_f32)x, mode)));
            check_vector("f32 of i32", PTO_F32, PTO_I32, mode, 0, x, (pto_u32)pto_f32_from_i32((pto_i32)x, mode));
            check_vector("f32 of u32", PTO_F32, PTO_U32, mode, 0, x, (pto_u32)pto_f32_from_u32(x, mode));
        }
    }
}

static void check_widening(void)
{
    for (uint32_t base = 0; base < 65536; base += PTO_LANES) {
        const pto_u32 bits = (pto_u32)pto_lane_numbers() + base;
        pto_raw16 raw = __builtin_convertvector(bits, pto_raw16);
        check_vector("f32 of f16", PTO_F32, PTO_F16, 0, 0, bits, canonical(pto_f32_from_f16(bits)));
        check_vector("f32 of f16 by the ISA", PTO_F32, PTO_F16, 0, 0, bits, canonical(pto_widen_f16(raw)));
        check_vector("f32 of bf16", PTO_F32, PTO_BF16, 0, 0, bits, canonical(pto_f32_from_bf16(bits)));
        if (base >= 256) continue;
        check_vector("f32 of f8e4m3", PTO_F32, PTO_F8E4M3, 0, 0, bits, canonical(pto_f32_from_f8e4m3(bits)));
        check_vector("f32 of f8e5m2", PTO_F32, PTO_F8E5M2, 0, 0, bits, canonical(pto_f32_from_f8e5m2(bits)));
        check_vector("f32 of f8e8m0", PTO_F32, PTO_F8E8M0, 0, 0, bits, canonical(pto_f32_from_f8e8m0(bits)));
    }
    EACH_VECTOR(x)
    {
        const pto_raw16 h = pto_rint_f16((pto_f32)x);
        check_vector("f16 by the ISA", PTO_F16, PTO_F32, 0, 0, x, __builtin_convertvector(h, pto_u32));
        check_vector("bf16 nearest", PTO_BF16, PTO_F32, 0, 0, x, pto_rint_bf16((pto_f32)x));
        const pto_raw16 narrow = pto_narrow_bf16((pto_f32)x);
        check_vector("bf16 as it is stored", PTO_BF16, PTO_F32, 0, 0, x, __builtin_convertvector(narrow, pto_u32));
    }
}

static void check_extreme(const char *what, lane_op op, int rule, pto_f32 a, pto_f32 b, pto_f32 y)
{
    for (int i = 0; i < PTO_LANES; i++) {
        const float p = a[i], q = b[i], got = y[i];
        float wanted;
        lanes_f32(op, 1, &p, &q, &wanted);
        const int has_nan = p != p || q != q;
        if (rule == 0 && has_nan) continue;
        if (rule == 2 && has_nan) wanted = p != p ? p : q;
        uint32_t bits[3];
        memcpy(&bits[0], &p, 4);
        memcpy(&bits[1], &got, 4);
        memcpy(&bits[2], &wanted, 4);
        if (p != p && q != q && got != got) bits[1] = bits[2]; /* which of two NaNs is open */
        expect(what, rule, 0, bits[0], bits[1], bits[2]);
    }
}

static void check_extremes(void)
{
    static const float edges[] = {0.0F,     -0.0F, 1, -1, __builtin_inff(), -__builtin_inff(), __builtin_nanf(""),
                                  0x1p-149F};
    EACH_VECTOR(x)
    {
        for (size_t e = 0; e < sizeof edges / sizeof *edges; e++) {
            const pto_f32 a = (pto_f32)x, b = pto_splat_f32(edges[e]);
            check_extreme("max any", LANE_MAX, 0, a, b, pto_max_any_f32(a, b));
            check_extreme("max ignore", LANE_MAX, 1, a, b, pto_max_ignore_f32(a, b));
            check_extreme("max propagate", LANE_MAX, 2, a, b, pto_max_propagate_f32(a, b));
            check_extreme("min any", LANE_MIN, 0, b, a, pto_min_any_f32(b, a));
            check_extreme("min ignore", LANE_MIN, 1, b, a, pto_min_ignore_f32(b, a));
            check_extreme("min propagate", LANE_MIN, 2, b, a, pto_min_propagate_f32(b, a));
        }
    }
}

/* A tree over all lanes, in halves, as the header says. */
static float tree(float *v, int n, float (*f)(float, float))
{
    for (int half = n / 2; half; half /= 2)
        for (int i = 0; i < half; i++) v[i] = f(v[i], v[i + half]);
    return v[0];
}
static float plus(float a, float b) { return a + b; }
static float times(float a, float b) { return a * b; }
static float most(float a, float b) { return a > b ? a : b; }
static float least(float a, float b) { return a < b ? a : b; }

static void check_reductions(void)
{
    float v[PTO_LANES], w[PTO_LANES];
    for (int round = 0; round < 100; round++) {
        unsigned sum = 0;
        for (int i = 0; i < PTO_LANES; i++) {
            v[i] = (float)(rand() % 2000 - 1000) / 7;
            sum += (unsigned)(int)v[i];
        }
#define AGAINST_TREE(got, f)                                                                            \
    memcpy(w, v, sizeof w);                                                                             \
    {                                                                                                   \
        const float got_ = (got), wanted_ = tree(w, PTO_LANES, f);                                      \
        if (got_ != wanted_) bad++, printf(#got ": %a instead of %a\n", (double)got_, (double)wanted_); \
    }
        const pto_f32 x = pto_load_f32(v);
        const pto_i32 k = pto_i32_from_f32(x, PTO_TRUNC, 0);
        AGAINST_TREE(pto_sum_f32(x), plus)
        AGAINST_TREE(pto_product_f32(x), times)
        AGAINST_TREE(pto_largest_any_f32(x), most)
        AGAINST_TREE(pto_largest_ignore_f32(x), most)
        AGAINST_TREE(pto_largest_propagate_f32(x), most)
        AGAINST_TREE(pto_smallest_any_f32(x), least)
        AGAINST_TREE(pto_smallest_ignore_f32(x), least)
        AGAINST_TREE(pto_smallest_propagate_f32(x), least)
        for (int i = 0; i < PTO_LANES; i++) v[i] = (float)k[i];
        AGAINST_TREE((float)pto_largest_i32(k), most)
        AGAINST_TREE((float)pto_smallest_i32(k), least)
        if ((unsigned)pto_sum_i32(k) != sum) bad++, printf("sum of integers\n");
    }
}

static void check_pair(const char *what, lane_op op, int is_unsigned, uint32_t a, uint32_t b, uint32_t got)
{
    const int64_t x = is_unsigned ? (int64_t)a : (int32_t)a, y = is_unsigned ? (int64_t)b : (int32_t)b;
    int64_t wanted;
    lanes_i64(op, is_unsigned, 1, &x, &y, &wanted);
    expect(what, (int)b, is_unsigned, a, got, (uint32_t)wanted);
}

static void check_integers(void)
{
    static const uint32_t edges[] = {0,   1,     2,          3,          7,          31,         32,        33,
                                     255, 65537, 0x7fffffff, 0x80000000, 0xffffffff, 0xfffffffe, 0xfffffff9};
    EACH_VECTOR(x)
    {
        for (size_t e = 0; e < sizeof edges / sizeof *edges; e++) {
            const pto_u32 b = pto_splat_u32(edges[e]);
            const pto_i32 p = (pto_i32)x, q = (pto_i32)b;
#define CHECK_PAIR(text, OP, call)                                            \
    {                                                                         \
        const pto_i32 y = pto_##call##_i32(p, q), z = pto_##call##_i32(q, p); \
        const pto_u32 v = pto_##call##_u32(x, b), w = pto_##call##_u32(b, x); \
        for (int l = 0; l < PTO_LANES; l++) {                                 \
            check_pair(text, LANE_##OP, 0, x[l], b[l], (uint32_t)y[l]);       \
            check_pair(text, LANE_##OP, 0, b[l], x[l], (uint32_t)z[l]);       \
            check_pair(text, LANE_##OP, 1, x[l], b[l], v[l]);                 \
            check_pair(text, LANE_##OP, 1, b[l], x[l], w[l]);                 \
        }                                                                     \
    }
            CHECK_PAIR("div", DIV, div)
            CHECK_PAIR("fmod", FMOD, fmod)
            CHECK_PAIR("mod", REM, mod)
            CHECK_PAIR("max", MAX, max)
            CHECK_PAIR("min", MIN, min)
            for (unsigned width = 8; width <= 32; width *= 2) {
                const int gap = 32 - (int)width;
                const pto_i32 s = (p << gap) >> gap;
                const pto_u32 u = x << gap >> gap;
                const pto_i32 left = pto_shl_i32(s, q, width), right = pto_shr_i32(s, q, width);
                const pto_u32 up = pto_shl_u32(u, b, width), down = pto_shr_u32(u, b, width);
                const uint32_t mask = 0xffffffff >> gap;
                for (int l = 0; l < PTO_LANES; l++) {
                    expect("shl", (int)b[l], 0, x[l], (uint32_t)left[l] & mask,
                           (uint32_t)lanes_shift(s[l], q[l], (int)width, 0, 1) & mask);
                    expect("shr", (int)b[l], 0, x[l], (uint32_t)right[l],
                           (uint32_t)lanes_shift(s[l], q[l], (int)width, 0, 0));
                    expect("shl", (int)b[l], 1, x[l], up[l] & mask,
                           (uint32_t)lanes_shift(u[l], b[l], (int)width, 1, 1) & mask);
                    expect("shr", (int)b[l], 1, x[l], down[l], (uint32_t)lanes_shift(u[l], b[l], (int)width, 1, 0));
                }
            }
        }
    }
}

/* The last bytes before a page that may not be touched. */
static void *fence;
static void make_fence(void)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    unsigned char *p = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED || mprotect(p + page, page, PROT_NONE) != 0) exit(2);
    fence = p + page;
}

#define CHECK_MEMORY(word, element)                                                                       \
    for (long n = 0; n <= PTO_LANES; n++) {                                                               \
        element from[PTO_LANES + 1], to[PTO_LANES + 1];                                                   \
        element *edge = (element *)fence - n;                                                             \
        memset(to, 0x11, sizeof to);                                                                      \
        for (long i = 0; i <= PTO_LANES; i++) from[i] = (element)(i % 2);                                 \
        memcpy(edge, from, (size_t)n * sizeof *edge);                                                     \
        pto_store_##word##_tail(to, pto_load_##word##_tail(edge, n), n);                                  \
        if (memcmp(to, from, (size_t)n * sizeof *to) != 0) bad++, printf(#word " tail of %ld\n", n);      \
        for (long i = n; i <= PTO_LANES; i++) {                                                           \
            element untouched;                                                                            \
            memset(&untouched, 0x11, sizeof untouched);                                                   \
            if (memcmp(&to[i], &untouched, sizeof untouched) != 0)                                        \
                bad++, printf(#word " tail of %ld writes %ld\n", n, i);                                   \
        }                                                                                                 \
        pto_store_##word##_tail(edge, pto_load_##word(from), n);                                          \
        if (memcmp(edge, from, (size_t)n * sizeof *edge) != 0) bad++, printf(#word " store of %ld\n", n); \
        pto_store_##word(to, pto_load_##word##_tail(edge, n));                                            \
        for (long i = n; i < PTO_LANES; i++)                                                              \
            if (to[i] != 0) bad++, printf(#word " lane %ld of a tail of %ld is not 0\n", i, n);           \
    }

static void check_memory(void)
{
    CHECK_MEMORY(f32, float)
    CHECK_MEMORY(i32, int)
    CHECK_MEMORY(u32, unsigned)
    CHECK_MEMORY(f16, unsigned short)
    CHECK_MEMORY(bf16, unsigned short)
    CHECK_MEMORY(i16, short)
    CHECK_MEMORY(u16, unsigned short)
    CHECK_MEMORY(i8, signed char)
    CHECK_MEMORY(u8, unsigned char)
    CHECK_MEMORY(bool, unsigned char)
}

int main(void)
{
    make_samples();
    make_fence();
    check_memory();
    check_reductions();
    check_widening();
    check_extremes();
    check_integers();
    check_modes();
    if (bad == 0) printf("%ld results agree\n", compared);
    return bad != 0;
}
