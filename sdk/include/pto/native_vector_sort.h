/* The order of rows: places of their elements, the first ones of the order alone or all. Include
 * <pto/native_vector.h> before; emitted C includes this where it sorts.
 *
 * An element becomes a key in 32 bits, of which the larger comes first: NaN above all numbers, -0 equal to 0. A record
 * is a key above the complement of its place, so that of equal keys the lower place has the larger record, and no two
 * records are equal. Whatever the way, the result is the same: it depends on the elements alone.
 *
 * A few of many are selected: of keys in groups, lane by lane, the largest of each group; as many of these as are
 * wanted say how large a key is at least. What is not below is listed and sorted, and wherever the list is full, its
 * end is the next bound. Else all are sorted, by bytes of the key from the last one on; few of them by counting those
 * before each. Keys of 64 bits are always sorted. */
#ifndef PTO_NATIVE_VECTOR_SORT_H
#define PTO_NATIVE_VECTOR_SORT_H

#include <pto/native.h>
#include <pto/native_vector_memory.h>

#if !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"
#endif

#define PTO_SORT_FN static __attribute__((noinline, unused))

enum {
    PTO_SORT_BLOCK = 64,  /* keys that are compared with the bound at once, and padding after the last ones */
    PTO_SORT_COUNTED = 64 /* as many records are sorted by counting */
};

typedef long long pto_record;
typedef pto_record pto_records __attribute__((vector_size(PTO_VECTOR_BYTES)));

/* Bit i: whether the mask holds in lane i. */
PTO_VECTOR_FN uint64_t pto_mask_bits(pto_mask m)
{
#if PTO_MASK_REGISTERS
    return m;
#elif PTO_VECTOR_BYTES == 32 && defined(__AVX__)
    return (uint64_t)__builtin_ia32_movmskps256((pto_f32)m);
#elif PTO_VECTOR_BYTES == 16 && defined(__SSE__)
    return (uint64_t)__builtin_ia32_movmskps((pto_f32)m);
#else
    uint64_t bits = 0;
    for (int i = 0; i < PTO_LANES; i++) bits |= (uint64_t)(m[i] & 1) << i;
    return bits;
#endif
}

/* ---- keys, ascending ---- */

/* Of floats: any NaN is one more than infinity; numbers below 0 are minus their size. */
PTO_VECTOR_FN pto_i32 pto_order_key_f32(pto_f32 x)
{
    const pto_i32 bits = (pto_i32)x, size = bits & 0x7fffffff, sign = bits >> 31;
    return pto_select_i32(pto_gt_i32(size, pto_splat_i32(0x7f800000)), pto_splat_i32(0x7f800001), (size ^ sign) - sign);
}
/* Of 32-bit integers. */
PTO_VECTOR_FN pto_i32 pto_order_key_i32(pto_i32 x) { return x; }
/* The same without a sign. */
PTO_VECTOR_FN pto_i32 pto_order_key_u32(pto_u32 x) { return (pto_i32)(x ^ 0x80000000u); }
/* Without high bytes that differ: these need no sorting. */
PTO_VECTOR_FN pto_i32 pto_order_key_i16(pto_i32 x) { return x + 0x8000; }
PTO_VECTOR_FN pto_i32 pto_order_key_i8(pto_i32 x) { return x + 0x80; }
PTO_VECTOR_FN pto_i32 pto_order_key_small(pto_u32 x) { return (pto_i32)x; }

/* ---- records ---- */

/* A record, and what is in it. */
PTO_VECTOR_FN pto_record pto_record_of(int32_t key, int64_t place)
{
    return (pto_record)((uint64_t)(uint32_t)key << 32 | (uint32_t)~place);
}
/* The key of a record. */
PTO_VECTOR_FN int32_t pto_record_key(pto_record r) { return (int32_t)((uint64_t)r >> 32); }
/* The place that it is of. */
PTO_VECTOR_FN int32_t pto_record_place(pto_record r) { return (int32_t)~(uint32_t)r; }

/* Sorts n <= PTO_SORT_COUNTED records of a to b, the largest first; a has space for a vector more. */
PTO_VECTOR_FN void pto_sort_by_counting(pto_record *a, pto_record *b, int64_t n)
{
    enum { LANES = PTO_VECTOR_BYTES / 8 };
    for (int64_t i = n; i % LANES != 0; i++) a[i] = INT64_MIN;
    for (int64_t i = 0; i < n; i += LANES) {
        pto_records x, before = {0};
        __builtin_memcpy(&x, a + i, sizeof x);
        for (int64_t j = 0; j < n; j++) before -= (pto_records)(x < a[j]);
        for (int l = 0; l < LANES && i + l < n; l++) b[before[l]] = a[i + l];
    }
}

/* Sorts by the four bytes of the key, keeping the order of records with equal ones. Returns which array is sorted. */
PTO_VECTOR_FN pto_record *pto_sort_by_bytes(pto_record *a, pto_record *b, int64_t n)
{
    uint32_t counts[4][256];
    __builtin_memset(counts, 0, sizeof counts);
    for (int64_t i = 0; i < n; i++) {
        const uint32_t key = ~(uint32_t)pto_record_key(a[i]) ^ 0x80000000u;
        for (int byte = 0; byte < 4; byte++) counts[byte][key >> 8 * byte & 255]++;
    }
    for (int byte = 0; byte < 4; byte++) {
        uint32_t *const at = counts[byte], sum = 0;
        if (at[(~(uint32_t)pto_record_key(a[0]) ^ 0x80000000u) >> 8 * byte & 255] == (uint32_t)n) continue;
        for (int i = 0; i < 256; i++) {
            const uint32_t count = at[i];
            at[i] = sum;
            sum += count;
        }
        for (int64_t i = 0; i < n; i++) {
            const pto_record r = a[i];
            b[at[(~(uint32_t)pto_record_key(r) ^ 0x80000000u) >> 8 * byte & 255]++] = r;
        }
        pto_record *const sorted = b;
        b = a;
        a = sorted;
    }
    return a;
}

/* Sorts records that stand in the order of their places where keys are equal. Returns which array is sorted. */
PTO_SORT_FN pto_record *pto_sort_records(pto_record *a, pto_record *b, int64_t n)
{
    if (n > PTO_SORT_COUNTED) return pto_sort_by_bytes(a, b, n);
    pto_sort_by_counting(a, b, n);
    return b;
}

/* ---- a few of many ---- */

/* The largest of each of 16 * vectors * PTO_LANES / 16 groups of the n keys; the one of these that `kept` are not
 * below. Keys are padded. */
PTO_VECTOR_FN int32_t pto_order_bound(const int32_t *keys, int64_t n, int64_t kept, int vectors)
{
    pto_i32 most[64 / PTO_LANES], bound = pto_splat_i32(INT32_MAX);
    int32_t all[64];
    for (int v = 0; v < vectors; v++) most[v] = pto_load_i32(keys + v * PTO_LANES);
    for (int64_t j = vectors * PTO_LANES; j < n; j += vectors * PTO_LANES)
        for (int v = 0; v < vectors; v++) most[v] = pto_max_i32(most[v], pto_load_i32(keys + j + v * PTO_LANES));
    for (int v = 0; v < vectors; v++) pto_store_i32(all + v * PTO_LANES, most[v]);
    for (int v = 0; v < vectors; v++) {
        pto_i32 above = {0};
        for (int i = 0; i < vectors * PTO_LANES; i++)
            above += pto_i32_from_mask(pto_gt_i32(pto_splat_i32(all[i]), most[v]));
        const pto_mask is_kept = pto_gt_i32(pto_splat_i32((int)kept), above);
        bound = pto_min_i32(bound, pto_select_i32(is_kept, most[v], pto_splat_i32(INT32_MAX)));
    }
    return pto_smallest_i32(bound);
}

/* Which of PTO_SORT_BLOCK keys are at least `low`. */
PTO_VECTOR_FN uint64_t pto_order_above(const int32_t *keys, int32_t low)
{
    uint64_t bits = 0;
    for (int j = 0; j < PTO_SORT_BLOCK; j += PTO_LANES)
        bits |= pto_mask_bits(pto_ge_i32(pto_load_i32(keys + j), pto_splat_i32(low))) << j;
    return bits;
}

/* The first `kept` records of n keys, sorted; kept <= n. Lists have space for 4 * kept records, and PTO_SORT_LIST. */
PTO_VECTOR_FN pto_record *pto_select_records(const int32_t *keys, int64_t n, int64_t kept, pto_record *a, pto_record *b)
{
    const int64_t capacity = 4 * kept < PTO_SORT_LIST ? PTO_SORT_LIST : 4 * kept;
    int64_t count = 0;
    int32_t low = INT32_MIN;
    int is_strict = 0; /* `low` is above the bound: there are as many as are wanted, in earlier places */
    if (kept <= 8 && n >= 32)
        low = pto_order_bound(keys, n, kept, 16 / PTO_LANES);
    else if (kept <= 32 && n >= 128)
        low = pto_order_bound(keys, n, kept, 64 / PTO_LANES);
    for (int64_t j = 0; j < n; j += PTO_SORT_BLOCK) {
        uint64_t bits = pto_order_above(keys + j, low);
        if (n - j < PTO_SORT_BLOCK) bits &= (UINT64_C(1) << (n - j)) - 1;
        for (; bits != 0; bits &= bits - 1) {
            const int64_t place = j + __builtin_ctzll(bits);
            a[count++] = pto_record_of(keys[place], place);
        }
        if (count >= kept && !is_strict) {
            if (low == INT32_MAX) break;
            low++;
            is_strict = 1;
        }
        if (count <= capacity - PTO_SORT_BLOCK) continue;
        pto_record *const sorted = pto_sort_records(a, b, count);
        b = sorted == a ? b : a;
        a = sorted;
        count = kept;
        if (pto_record_key(a[kept - 1]) == INT32_MAX) break;
        low = pto_record_key(a[kept - 1]) + 1;
        is_strict = 1;
    }
    return pto_sort_records(a, b, count);
}

/* Places of the first `kept` of n keys. */
PTO_SORT_FN void pto_order_keys(const int32_t *keys, int64_t n, int64_t kept, int32_t *places, char *scratch)
{
    pto_record *const a = (pto_record *)scratch, *const b = a + n + PTO_SORT_LIST, *sorted;
    if (kept <= 0) return;
    if (4 * kept < n && n > PTO_SORT_COUNTED) {
        sorted = pto_select_records(keys, n, kept, a, b);
    } else {
        for (int64_t i = 0; i < n; i++) a[i] = pto_record_of(keys[i], i);
        sorted = pto_sort_records(a, b, n);
    }
    for (int64_t i = 0; i < kept; i++) places[i] = pto_record_place(sorted[i]);
}

/* ---- rows ---- */

/* pto_order_f32(x, stride, rows, n, kept, descending, places, places_stride, scratch): of each row of n elements, which
 * are `stride` elements apart, the places of the first `kept`; kept <= n. */
#define PTO_ORDER(word, element, key)                                                                               \
    PTO_SORT_FN void pto_order_##word(const element *x, int64_t stride, int64_t rows, int64_t n, int64_t kept,      \
                                      int descending, int32_t *places, int64_t places_stride, char *scratch)        \
    {                                                                                                               \
        int32_t *const keys = (int32_t *)scratch;                                                                   \
        char *const lists = scratch + 4 * ((n + 2 * PTO_SORT_BLOCK - 1) / 16 * 16);                                 \
        const pto_i32 turn = pto_splat_i32(descending ? 0 : -1);                                                    \
        for (int64_t i = 0; i < rows; i++, x += stride, places += places_stride) {                                  \
            int64_t j = 0;                                                                                          \
            for (; j + PTO_LANES <= n; j += PTO_LANES) pto_store_i32(keys + j, key(pto_load_##word(x + j)) ^ turn); \
            if (j < n) pto_store_i32(keys + j, key(pto_load_##word##_tail(x + j, n - j)) ^ turn);                   \
            for (j = n; j < n + PTO_SORT_BLOCK; j++) keys[j] = INT32_MIN;                                           \
            pto_order_keys(keys, n, kept, places, lists);                                                           \
        }                                                                                                           \
    }
PTO_ORDER(f32, float, pto_order_key_f32)
PTO_ORDER(f16, unsigned short, pto_order_key_f32)
PTO_ORDER(bf16, unsigned short, pto_order_key_f32)
PTO_ORDER(i32, int, pto_order_key_i32)
PTO_ORDER(u32, unsigned, pto_order_key_u32)
PTO_ORDER(i16, short, pto_order_key_i16)
PTO_ORDER(u16, unsigned short, pto_order_key_small)
PTO_ORDER(i8, signed char, pto_order_key_i8)
PTO_ORDER(u8, unsigned char, pto_order_key_small)
#undef PTO_ORDER

/* The same of keys in 64 bits, ascending and unsigned, which are changed by `turn`. */
PTO_SORT_FN void pto_order_long(const uint64_t *x, int64_t n, int64_t kept, uint64_t turn, int32_t *places,
                                char *scratch)
{
    uint64_t *a = (uint64_t *)scratch, *b = a + n;
    uint32_t *at_a = (uint32_t *)(b + n), *at_b = at_a + n;
    for (int64_t i = 0; i < n; i++) {
        a[i] = x[i] ^ turn;
        at_a[i] = (uint32_t)i;
    }
    for (int byte = 0; byte < 8 && n > 0; byte++) {
        uint32_t counts[256] = {0}, sum = 0;
        for (int64_t i = 0; i < n; i++) counts[a[i] >> 8 * byte & 255]++;
        if (counts[a[0] >> 8 * byte & 255] == (uint32_t)n) continue;
        for (int i = 0; i < 256; i++) {
            const uint32_t count = counts[i];
            counts[i] = sum;
            sum += count;
        }
        for (int64_t i = 0; i < n; i++) {
            const uint32_t to = counts[a[i] >> 8 * byte & 255]++;
            b[to] = a[i];
            at_b[to] = at_a[i];
        }
        uint64_t *const sorted = b;
        uint32_t *const at_sorted = at_b;
        b = a;
        a = sorted;
        at_b = at_a;
        at_a = at_sorted;
    }
    for (int64_t i = 0; i < kept; i++) places[i] = (int32_t)at_a[i];
}
#define PTO_ORDER_LONG(word, element, flip)                                                                         \
    PTO_SORT_FN void pto_order_##word(const element *x, int64_t stride, int64_t rows, int64_t n, int64_t kept,      \
                                      int descending, int32_t *places, int64_t places_stride, char *scratch)        \
    {                                                                                                               \
        const uint64_t turn = (flip) ^ (descending ? UINT64_MAX : 0);                                               \
        for (int64_t i = 0; i < rows; i++)                                                                          \
            pto_order_long((const uint64_t *)(x + i * stride), n, kept, turn, places + i * places_stride, scratch); \
    }
PTO_ORDER_LONG(i64, int64_t, UINT64_C(1) << 63)
PTO_ORDER_LONG(u64, uint64_t, UINT64_C(0))
#undef PTO_ORDER_LONG

#if !defined(__clang__)
#pragma GCC diagnostic pop
#endif
#endif
