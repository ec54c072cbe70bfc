/* Values of the interpreter: numbers, arrays, tiles; and the storage of the last two.
 *
 * Storage is counted: a value in a slot holds one reference, and what nothing holds goes back to the pool. Arrays and
 * tiles that ops make are never changed afterwards; only stores change memory.
 *
 * A mark per element tells what wrote it: 0 nothing, 1 something before or outside of every running loop of independent
 * instances, from 2 on the instance of that serial number. Storage without marks is all written. */
#ifndef REFERENCE_VALUE_H
#define REFERENCE_VALUE_H

#include "reference_shadow.h"

#include "semantics/tile_ref.h"

#include <pto/call.h>

enum { MARK_NEVER = 0, MARK_BEFORE = 1, MARK_FIRST = 2 };

typedef struct storage storage;
struct storage {
    uint8_t *data;
    size_t bytes;
    uint32_t refs, size_class;
    uint32_t *marks; /* one for each `element_bytes`; NULL: all elements are written */
    storage *marks_in;
    size_t element_bytes; /* that one mark is of: those of the smallest elements so far */
    bool is_foreign;      /* data belongs to the caller */
    bool is_freed;        /* by exec.free */
    storage *next;        /* in the pool */
};

/* Free storage by size class: four classes for each power of two. Memory comes from `keep`, so that a later execution
 * finds what an earlier one left. */
enum { POOL_CLASSES = 4 * 64 };
typedef struct pool {
    const pto_run *run;
    storage *free[POOL_CLASSES];
    storage *shells; /* without data of their own */
    shadow *shadow;  /* which values elements may have; NULL: nothing asks */
} pool;

/* Row-major, or with strides (in elements). */
typedef struct array {
    storage *in;
    uint8_t *base;
    pto_dtype dtype;
    uint32_t rank;
    int64_t dims[PTO_MAX_DIMS], strides[PTO_MAX_DIMS];
    bool is_read_only;
} array;

typedef enum value_kind { VALUE_NONE, VALUE_NUMBER, VALUE_ARRAY, VALUE_TILE } value_kind;

typedef struct value {
    value_kind kind;
    pto_dtype dtype; /* of a number */
    number number;   /* index and integer scalars are in the frame's slots as well */
    array array;
    tile_ref tile;
    storage *tile_in;
} value;

/* A new one with one reference and no marks; the bytes are 0xff each, which is a NaN in every float type that has one.
 * NULL beyond 64 GiB. */
storage *storage_make(pool *p, size_t bytes);
/* Memory of the caller's. */
storage *storage_wrap(pool *p, void *data, size_t bytes);
void storage_release(pool *p, storage *s);
/* Gets marks, all alike, unless it has some; of smaller elements than before, finer ones. */
void storage_mark(pool *p, storage *s, size_t element_bytes, uint32_t mark);
/* How many marks an element has, once its storage is marked for elements of that size or smaller ones. */
static inline int64_t storage_marks_each(const storage *s, size_t element_bytes)
{
    return (int64_t)(element_bytes / s->element_bytes);
}

/* Drops what the value holds. */
void value_clear(pool *p, value *v);
/* to = from, with a reference of its own. */
void value_copy(pool *p, value *to, const value *from);

/* False on overflow. */
bool array_count(const array *a, int64_t *out);
bool array_is_contiguous(const array *a);
/* Fills in strides of contiguous elements. */
void array_pack(array *a);
/* A new contiguous array of a->dtype, rank and dims in storage of its own; false beyond 64 GiB. */
bool array_make(pool *p, array *a);
/* Copies elements, and marks when `from` has any; both have the same dims. */
void array_copy(pool *p, const array *to, const array *from);

#endif
