#include "reference_shadow.h"

#include <string.h>

enum { LINE_BYTES = 32, LINES_FIRST = 1 << 12 };

/* Elements of one size; those whose bit is not set are exact. */
typedef struct line {
    uintptr_t at; /* address / LINE_BYTES; 0: the place is free */
    uint32_t size, set;
    bound *bounds; /* LINE_BYTES / size */
} line;

struct shadow {
    const pto_run *run;
    line *lines; /* open addressing; its size is a power of two */
    size_t capacity, count;
};

shadow *shadow_make(const pto_run *run)
{
    shadow *s = PTO_SCRATCH(run, shadow, 1);
    *s = (shadow){.run = run, .capacity = LINES_FIRST};
    s->lines = PTO_SCRATCH(run, line, s->capacity);
    return s;
}

/* The line, or the free place where it would be. */
static line *place_of(const shadow *s, uintptr_t at)
{
    size_t i = (size_t)((uint64_t)at * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (s->capacity - 1);
    while (s->lines[i].at != 0 && s->lines[i].at != at) i = (i + 1) & (s->capacity - 1);
    return &s->lines[i];
}

static void grow(shadow *s)
{
    const line *old = s->lines;
    const size_t capacity = s->capacity;
    s->capacity *= 2;
    s->lines = PTO_SCRATCH(s->run, line, s->capacity);
    for (size_t i = 0; i < capacity; i++) {
        if (old[i].at != 0) *place_of(s, old[i].at) = old[i];
    }
}

static uintptr_t line_number(const void *p) { return (uintptr_t)p / LINE_BYTES; }

/* The bit of the element that starts there. */
static uint32_t index_in(const uint8_t *p, size_t size) { return (uint32_t)((uintptr_t)p % LINE_BYTES / size); }

void shadow_clear(shadow *s, const void *from, size_t bytes)
{
    if (s->count == 0 || bytes == 0) return;
    const uintptr_t end = line_number((const uint8_t *)from + bytes - 1);
    for (uintptr_t at = line_number(from); at <= end; at++) place_of(s, at)->set = 0;
}

bool shadow_has(const shadow *s, const void *from, size_t bytes)
{
    if (s->count == 0 || bytes == 0) return false;
    const uintptr_t end = line_number((const uint8_t *)from + bytes - 1);
    for (uintptr_t at = line_number(from); at <= end; at++) {
        if (place_of(s, at)->set != 0) return true;
    }
    return false;
}

void shadow_read(const shadow *s, pto_dtype t, const uint8_t *from, int64_t stride, size_t n, bound *out)
{
    const size_t size = element_bytes(t);
    for (size_t i = 0; i < n; i++) {
        const uint8_t *p = from + (int64_t)i * stride * (int64_t)size;
        const line *l = place_of(s, line_number(p));
        const uint32_t index = index_in(p, size);
        if (l->size == size && (l->set >> index & 1) != 0) {
            out[i] = l->bounds[index];
            continue;
        }
        double x;
        element_read_f64(t, p, 1, 1, &x);
        out[i] = bound_of(t, x);
    }
}

static void write_one(shadow *s, const uint8_t *p, size_t size, const bound *b)
{
    const uint32_t index = index_in(p, size), bit = 1u << index;
    line *l = place_of(s, line_number(p));
    if (b->is_exact) {
        if (l->size == size) l->set &= ~bit;
        return;
    }
    if (l->at == 0) {
        if (s->count * 2 >= s->capacity) {
            grow(s);
            l = place_of(s, line_number(p));
        }
        s->count++;
        *l = (line){.at = line_number(p)};
    }
    if (l->size != size) {
        /* Space for the smallest elements that were seen here. */
        if (l->bounds == NULL || size < l->size) l->bounds = PTO_SCRATCH(s->run, bound, LINE_BYTES / size);
        l->size = (uint32_t)size;
        l->set = 0;
    }
    l->bounds[index] = *b;
    l->set |= bit;
}

void shadow_write(shadow *s, pto_dtype t, const uint8_t *to, int64_t stride, size_t n, const bound *in)
{
    const size_t size = element_bytes(t);
    for (size_t i = 0; i < n; i++) write_one(s, to + (int64_t)i * stride * (int64_t)size, size, &in[i]);
}
