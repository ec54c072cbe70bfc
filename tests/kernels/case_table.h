/* Reading a table of cases, memory between guard bytes, and comparing elements: what the tests of this folder share. */
#ifndef TESTS_KERNELS_CASE_TABLE_H
#define TESTS_KERNELS_CASE_TABLE_H

#include "semantics/element.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GUARD = 65, NAME = 24, WHAT = 64, GUARD_BYTE = 0xa5 };

typedef struct reader {
    const uint8_t *p, *end;
} reader;

static inline const uint8_t *take(reader *r, size_t n)
{
    if ((size_t)(r->end - r->p) < n) {
        fprintf(stderr, "the table is cut off\n");
        exit(2);
    }
    const uint8_t *p = r->p;
    r->p += n;
    return p;
}

static inline int64_t take_i64(reader *r)
{
    int64_t v;
    memcpy(&v, take(r, sizeof v), sizeof v);
    return v;
}

static inline number take_number(reader *r)
{
    number x = {.is_int = take_i64(r) != 0};
    x.i = take_i64(r);
    memcpy(&x.f, take(r, sizeof x.f), sizeof x.f);
    return x;
}

/* Memory between guards, at an odd address. */
typedef struct region {
    uint8_t *all;
    size_t bytes;
} region;

static inline region region_of(const uint8_t *image, size_t bytes)
{
    region g = {malloc(bytes + 2 * GUARD), bytes};
    if (g.all == NULL) exit(2);
    memset(g.all, GUARD_BYTE, bytes + 2 * GUARD);
    if (bytes) memcpy(g.all + GUARD, image, bytes);
    return g;
}

static inline bool guards_stand(const region *g)
{
    for (size_t i = 0; i < GUARD; i++) {
        if (g->all[i] != GUARD_BYTE || g->all[GUARD + g->bytes + i] != GUARD_BYTE) return false;
    }
    return true;
}

/* Distance of two values of a float type in steps of its last bit. */
static inline int64_t steps(pto_dtype t, const uint8_t *a, const uint8_t *b)
{
    int64_t x, y;
    const int64_t sign = (int64_t)(UINT64_C(1) << (8 * element_bytes(t) - 1));
    element_read_i64(element_bits_type(t), a, 1, 1, &x);
    element_read_i64(element_bits_type(t), b, 1, 1, &y);
    if (x & sign) x = -(x & ~sign);
    if (y & sign) y = -(y & ~sign);
    return x > y ? x - y : y - x;
}

/* The first byte of an element that is more than `ulp` steps off, or -1. */
static inline int64_t first_difference(pto_dtype t, const uint8_t *got, const uint8_t *want, size_t bytes, int64_t ulp)
{
    const size_t size = element_bytes(t);
    for (size_t i = 0; size && i + size <= bytes; i += size) {
        if (memcmp(got + i, want + i, size) == 0) continue;
        if (ulp == 0 || steps(t, got + i, want + i) > ulp) return (int64_t)i;
    }
    return -1;
}

/* The file's bytes, for free(); ends the program when it cannot be read. */
static inline uint8_t *table_load(const char *path, size_t *out_bytes)
{
    FILE *f = fopen(path, "rb");
    if (f == NULL) {
        fprintf(stderr, "cannot open %s\n", path);
        exit(2);
    }
    const long end = fseek(f, 0, SEEK_END) == 0 ? ftell(f) : -1;
    if (end < 0 || fseek(f, 0, SEEK_SET) != 0) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(2);
    }
    *out_bytes = (size_t)end;
    uint8_t *bytes = malloc(*out_bytes);
    if (bytes == NULL || fread(bytes, 1, *out_bytes, f) != *out_bytes) exit(2);
    fclose(f);
    return bytes;
}

#endif
