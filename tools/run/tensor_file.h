/* Tensor files: .npy, and tensors of .npz and .safetensors archives, named as FILE.npz:NAME (tensor_layout.h says how
 * they are checked).
 *
 * Which pto element type the elements of numpy's files are is decided by the parameter they are bound to, since numpy
 * knows no bf16 and no fp8 (bf16 travels as <u2 or |V2, fp8 as |u1); .safetensors names it. */
#ifndef TOOLS_RUN_TENSOR_FILE_H
#define TOOLS_RUN_TENSOR_FILE_H

#include "ir/base/arena.h"
#include "ir/base/diag.h"
#include "ir/base/status.h"
#include "ir/context/context.h"
#include "tensor_files/tensor_layout.h"

typedef struct tensor_array {
    tensor_header header;
    const uint8_t *data; /* C order, little endian, of any alignment */
} tensor_array;

/* The header of a .npy file in memory, checked, and that the file holds all elements; warns of bytes after them. `name`
 * is for messages. */
MUST_CHECK status tensor_parse_npy(diag_engine *d, const char *name, str file, tensor_header *out);
/* The same for the tensor that `text` names in bytes of its file. What is deflated comes from the arena. */
MUST_CHECK status tensor_parse(arena *a, diag_engine *d, const char *text, str file, tensor_array *out);

/* Maps the file that `text` names, which stays mapped until the process ends; its elements can be written to, which
 * changes no file. Only deflated members of .npz are copied, into the arena. */
MUST_CHECK status tensor_read(arena *a, diag_engine *d, const char *text, tensor_array *out);

/* "FILE.npz" of "FILE.npz:NAME", in the arena; any other text is its own path. */
const char *tensor_path(arena *a, const char *text);

/* One output: `text` names its file; in an archive its name is `name` when the text has none. */
typedef struct tensor_output {
    const char *text;
    str name;
    dtype type; /* one that files hold */
    uint32_t rank;
    const int64_t *dims;
    const void *data; /* contiguous */
} tensor_output;

/* Writes contiguous elements to temporary files beside the ones that are named, and renames these. Outputs with one
 * path, of an archive, share the file. Members of .npz are stored, and all elements are aligned to 64 bytes. */
MUST_CHECK status tensor_write(arena *a, diag_engine *d, uint32_t count, const tensor_output *outputs);

#endif
