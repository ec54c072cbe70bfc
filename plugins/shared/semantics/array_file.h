/* Elements of constant arrays: listed in the program, or in a tensor file beside it, as resource("w.npy") or
 * resource("weights.safetensors:layer.0.w"). */
#ifndef PTO_SEMANTICS_ARRAY_FILE_H
#define PTO_SEMANTICS_ARRAY_FILE_H

#include <pto/plugin.h>

/* Where elements go: `bytes` contiguous bytes at base. `code` and `rest_code` are of the backend's diagnostics, which
 * are at `op`: an array that cannot be read, and bytes after its elements. */
typedef struct array_file {
    pto_op op;
    const char *code, *rest_code;
    pto_dtype dtype;
    uint32_t rank;
    const int64_t *dims;
    void *base;
    size_t bytes;
} array_file;

/* `value`: a list of elements, or a file, whose path is relative to the module. */
pto_status array_file_read(const array_file *to, pto_attr value);

#endif
