/* Inside of the context, for the files that implement ir/context/context.h only.
 *
 * Each kind of object has an id_table (records, found by id) and an intern_table (open addressing, found by content).
 * Id 0 is a record of zeros, so that looking at "none" needs no test. */
#ifndef IR_CONTEXT_CONTEXT_IMPL_H
#define IR_CONTEXT_CONTEXT_IMPL_H

#include "ir/context/context.h"

#include <string.h>

typedef struct intern_slot {
    uint32_t hash;
    uint32_t id; /* 0: free */
} intern_slot;

typedef struct intern_table {
    intern_slot *slots;
    size_t capacity; /* a power of two */
    size_t count;
} intern_table;

typedef struct loc_record {
    str_id file;
    uint32_t line, column;
    uint32_t count; /* 0: one place; else a fused list of plain or interned single places */
    const loc_id *items;
} loc_record;

/* Where a text was when it was interned: literals are asked for again and again, and need no hash then. */
enum { TEXT_PLACES = 512 };
typedef struct text_place {
    const char *p;
    str_id id;
} text_place;

struct ir_context {
    context_tables tables; /* first: context_read.h finds them there */
    diag_engine *diags;
    arena *memory;
    op_table *ops;
    role_names *names;
    intern_table string_index, expr_index, type_index, attr_index, loc_index;
    text_place texts[TEXT_PLACES]; /* by address */
    str_id main_file;
    const _Atomic uint32_t *stop; /* not 0: the time is up; or NULL */
};

/* A zeroed record and its id. BUG beyond 2^31 records. */
void *id_table_add(ir_context *c, id_table *t, uint32_t *out_id);
void intern_add(intern_table *t, uint32_t hash, uint32_t id);
/* value + the sum of coefs[i] * args[i], simplified like the sums of expr_add; 0 when a number overflows or an argument
 * is 0. `count` is at most EXPR_MAX_ARGS. */
expr_id expr_sum(ir_context *c, int64_t value, uint32_t count, const expr_id *args, const int64_t *coefs);

/* INTERN_EACH(table, hash, id) { compare; } runs for each id whose hash is equal. */
#define INTERN_EACH(t, wanted, name)                                                 \
    for (size_t probe_ = (wanted) & ((t)->capacity - 1); (t)->slots[probe_].id != 0; \
         probe_ = (probe_ + 1) & ((t)->capacity - 1))                                \
        if ((t)->slots[probe_].hash == (wanted))                                     \
            for (uint32_t name = (t)->slots[probe_].id; name != 0; name = 0)

/* A hash is made of steps from any start and an end; hash_bytes is a step over bytes. The same on every machine with
 * this byte order. */
static inline uint64_t hash_step(uint64_t h, uint64_t v)
{
    h = (h ^ v) * UINT64_C(0x9E3779B97F4A7C15);
    return h ^ (h >> 29);
}

/* The hash of what was stepped over. */
static inline uint32_t hash_end(uint64_t h) { return (uint32_t)((h * UINT64_C(0xD6E8FEB86659FD93)) >> 32); }

/* Up to 7 bytes as one number, without a call for their copy. */
static inline uint64_t few_bytes(const char *p, size_t n)
{
    uint32_t first, last;
    if (n >= sizeof first) {
        memcpy(&first, p, sizeof first);
        memcpy(&last, p + n - sizeof last, sizeof last);
        return first | (uint64_t)last << 8 * (n - sizeof last);
    }
    const unsigned char *b = (const unsigned char *)p;
    return n == 0 ? 0 : b[0] | (uint64_t)b[n / 2] << 8 * (n / 2) | (uint64_t)b[n - 1] << 8 * (n - 1);
}

/* Whether `n` bytes are the same. */
static inline bool bytes_equal(const char *a, const char *b, size_t n)
{
    return n < sizeof(uint64_t) ? few_bytes(a, n) == few_bytes(b, n) : memcmp(a, b, n) == 0;
}

/* A step over bytes; their number counts, too. */
static inline uint64_t hash_bytes(uint64_t h, const void *bytes, size_t n)
{
    const char *p = bytes;
    uint64_t word;
    for (; n >= sizeof word; p += sizeof word, n -= sizeof word) {
        memcpy(&word, p, sizeof word);
        h = hash_step(h, word);
    }
    return hash_step(h, few_bytes(p, n) ^ ((uint64_t)n << 56));
}

/* Order by bytes, the shorter first when one is the start of the other. */
static inline int spelling_order(const ir_context *c, str_id a, str_id b)
{
    if (a == b) return 0;
    str x = string_of(c, a), y = string_of(c, b);
    int order = memcmp(x.p, y.p, x.n < y.n ? x.n : y.n);
    return order != 0 ? order : (x.n > y.n) - (x.n < y.n);
}

#endif
