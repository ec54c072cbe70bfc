#include "ir/base/record_table.h"

#include "ir/base/status.h"

#include <string.h>

enum { CACHE_LINE_BYTES = 64 };

void record_table_init(record_table *t, uint32_t record_bytes) { *t = (record_table){.record_bytes = record_bytes}; }

void record_table_fini(record_table *t) { table_free(t->chunks); }

static void add_chunk(record_table *t, arena *memory)
{
    if (t->chunk_count == t->chunk_capacity)
        t->chunks = table_grow(t->chunks, &t->chunk_capacity, t->chunk_count + 1u, sizeof *t->chunks);
    t->chunks[t->chunk_count++] =
        arena_alloc_aligned(memory, (size_t)CHUNK_RECORDS * t->record_bytes, CACHE_LINE_BYTES);
}

void record_table_copy(record_table *to, const record_table *from, arena *memory)
{
    *to = *from;
    to->chunks = NULL;
    to->chunk_capacity = to->chunk_count = 0;
    for (uint32_t i = 0; i < from->chunk_count; i++) {
        /* What was never given out is zero, and its pages need not be there. */
        const uint32_t rest = from->count - i * CHUNK_RECORDS, used = rest < CHUNK_RECORDS ? rest : CHUNK_RECORDS;
        add_chunk(to, memory);
        memcpy(to->chunks[i], from->chunks[i], (size_t)used * from->record_bytes);
    }
}

uint32_t record_table_extend(record_table *t, arena *memory, uint32_t n)
{
    if (t->count == 0) t->count = 1; /* id 0 is none */
    BUG_IF(n >= RECORDS_END - t->count, "a table of records has no space for %u more", n);
    uint32_t first = t->count;
    t->count += n;
    while ((size_t)t->chunk_count * CHUNK_RECORDS < t->count) add_chunk(t, memory);
    return first;
}

uint32_t run_class(uint32_t n)
{
    if (n <= EXACT_RUN) return n;
    return EXACT_RUN + 32u - (uint32_t)__builtin_clz(n - 1);
}

uint32_t run_capacity(uint32_t class_index)
{
    if (class_index <= EXACT_RUN) return class_index;
    return 1u << (class_index - EXACT_RUN);
}
