/* Where tensors lie in a file: numpy's .npy (versions 1.0 to 3.0), .npz (a zip archive of .npy files) and .safetensors.
 *
 * All bytes of the file are in memory, most often mapped; nothing is copied. The headers are hostile input: every
 * number is checked against the bytes that are there before it is used, and a count before memory is taken for it.
 * No function here keeps state; all may be called from any thread. */
#ifndef PTO_TENSOR_FILES_TENSOR_LAYOUT_H
#define PTO_TENSOR_FILES_TENSOR_LAYOUT_H

#include <pto/abi.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TENSOR_MAX_RANK = 8, TENSOR_DESCR_BYTES = 16 };

typedef enum tensor_file_kind { TENSOR_NPY, TENSOR_NPZ, TENSOR_SAFETENSORS } tensor_file_kind;

/* Why a file is refused. */
typedef enum tensor_fault {
    TENSOR_MALFORMED,
    TENSOR_TOO_LARGE,    /* too many dims or elements */
    TENSOR_ELEMENT_TYPE, /* unknown, or big endian */
    TENSOR_ORDER,        /* Fortran order */
    TENSOR_TRUNCATED,
    TENSOR_ENTRY /* no tensor of that name, or no name where one is needed */
} tensor_fault;

typedef struct tensor_problem {
    tensor_fault fault;
    char text[480];   /* without the name of the file */
    const char *note; /* a way out, static; NULL when there is none */
} tensor_problem;

/* Fills a problem; false, always. */
__attribute__((format(printf, 3, 4))) bool tensor_file_fail(tensor_problem *problem, tensor_fault fault,
                                                            const char *format, ...);

typedef struct tensor_header {
    char kind;           /* 'f' 'i' 'u' 'b' 'V', as in the descr of .npy */
    uint32_t item_bytes; /* 1, 2, 4 or 8 */
    pto_dtype type; /* of .safetensors, which names it; PTO_DTYPE_NONE: what `kind` and `item_bytes` can stand for */
    uint32_t rank;  /* 0..8 */
    int64_t dims[TENSOR_MAX_RANK];
    uint64_t element_count;
    uint64_t data_offset; /* of the first element in the bytes that were parsed */
} tensor_header;

typedef struct tensor_entry {
    const char *name; /* in an archive, UTF-8; of .npz without `.npy`; NULL for .npy */
    size_t name_bytes;
    uint64_t offset;       /* in the file, of the first element; of the compressed bytes when it is deflated */
    uint64_t stored_bytes; /* in the file, from `offset` on */
    uint64_t rest_bytes;   /* of these, what follows the elements, to be warned of */
    tensor_header header;  /* empty when it is deflated: tensor_npy_header of the inflated bytes has it */
    bool is_deflated;
    uint64_t inflated_bytes; /* of the whole .npy, when it is deflated */
    uint32_t crc;            /* of these bytes, as zip counts it */
} tensor_entry;

/* A file in memory, and the function that returns memory for names and lists, which lives as long as the caller needs.
 */
typedef struct tensor_file_bytes {
    const uint8_t *bytes;
    uint64_t n;
    void *(*allocate)(void *self, size_t bytes); /* zeroed, aligned for any type, never NULL */
    void *self;
    tensor_problem *problem; /* filled on failure */
} tensor_file_bytes;

/* "weights.safetensors:layer.0.w": the path ends where `.npz:` or `.safetensors:` first ends, and the entry's name
 * follows; without one, `*entry` is NULL and the text is all path. The kind is by the path's ending. */
tensor_file_kind tensor_split(const char *text, size_t *path_bytes, const char **entry);

/* A whole .npy file of `n` bytes, or one inside of an archive. Bytes after the elements are no failure. */
bool tensor_npy_header(const uint8_t *bytes, uint64_t n, tensor_header *out, tensor_problem *problem);

/* The tensor of a name; without one, of a file that holds one tensor only. */
bool tensor_locate(const tensor_file_bytes *file, tensor_file_kind kind, const char *entry, tensor_entry *out);

/* All tensors of an archive, in the order of the file; names are different and bytes do not overlap. */
bool tensor_list_npz(const tensor_file_bytes *file, tensor_entry **list, uint32_t *count);
bool tensor_list_safetensors(const tensor_file_bytes *file, tensor_entry **list, uint32_t *count);
/* For both: no name comes twice. */
bool tensor_check_names(const tensor_file_bytes *file, const tensor_entry *list, uint32_t count);
/* Elements of the dims: `out->element_count` of `rank` and `dims`. */
bool tensor_count_elements(tensor_header *out, tensor_problem *problem);

/* True when the elements can stand for a type: f32 is <f4; of .npy, bf16 is <u2 or |V2, and fp8 is |u1. */
bool tensor_matches(const tensor_header *h, pto_dtype wanted);
/* What the file calls the type: "<f4", or "BF16" of .safetensors. */
void tensor_descr(const tensor_header *h, char out[TENSOR_DESCR_BYTES]);
/* How a type is written: the descr of .npy, the name in .safetensors; NULL for what no file holds. Static. */
const char *tensor_npy_type(pto_dtype type);
const char *tensor_safetensors_type(pto_dtype type);

#endif
