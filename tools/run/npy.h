/* Tensor files: numpy's .npy, versions 1.0 to 3.0.
 *
 * The header is hostile input: everything is checked, nothing is trusted. A file holds raw elements; which pto
 * element type they are is decided by the parameter they are bound to, since .npy knows no bf16 and no fp8
 * (bf16 travels as <u2 or |V2, fp8 as |u1). */
#ifndef TOOLS_RUN_NPY_H
#define TOOLS_RUN_NPY_H

#include "ir/base/arena.h"
#include "ir/base/diag.h"
#include "ir/base/status.h"
#include "ir/context/context.h"

#include <stdint.h>

enum { NPY_MAX_RANK = 8 };

typedef struct npy_header {
    char kind;           /* 'f' 'i' 'u' 'b' 'V', as in the descr */
    uint32_t item_bytes; /* 1, 2, 4 or 8 */
    uint32_t rank;       /* 0..8 */
    int64_t dims[NPY_MAX_RANK];
    uint64_t element_count;
    uint64_t data_offset; /* of the first element in the file */
} npy_header;

/* Reads and checks a header, and that `file` holds all elements; warns of bytes after them. `name` is for messages. */
MUST_CHECK status npy_parse(diag_engine *d, const char *name, str file, npy_header *out);

typedef struct npy_array {
    npy_header header;
    const uint8_t *data; /* C order, little endian */
} npy_array;

/* Reads a file into the arena. */
MUST_CHECK status npy_read(arena *a, diag_engine *d, const char *path, npy_array *out);

/* True when the elements can stand for a dtype: f32 is <f4; bf16 is <u2 or |V2; fp8 is |u1; and so on. */
bool npy_matches(const npy_header *h, dtype wanted);
/* The descr that a dtype is written as, such as "<f4", and "<i8" for index; NULL for what no tensor has. */
const char *npy_descr(dtype d);
/* The descr of a header, for messages, into `out` (8 bytes). */
void npy_header_descr(const npy_header *h, char out[8]);

/* Writes contiguous elements to a temporary file beside `path` and renames it. */
MUST_CHECK status npy_write(diag_engine *d, const char *path, dtype type, uint32_t rank, const int64_t *dims,
                            const void *data);

#endif
