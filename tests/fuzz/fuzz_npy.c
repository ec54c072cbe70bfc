/* libFuzzer target: any bytes as a tensor file. What is accepted names elements that all lie inside the file, and an
 * array of the same shape is written so that it reads back the same. */
#include "tools/run/tensor_file.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint64_t most_written = 4096;

static void check_header(const tensor_header *h)
{
    BUG_IF(h->rank > TENSOR_MAX_RANK, "rank %u", h->rank);
    BUG_IF(h->item_bytes == 0 || h->item_bytes > 8, "items of %u bytes", h->item_bytes);
    uint64_t count = 1;
    for (uint32_t i = 0; i < h->rank; i++) {
        BUG_IF(h->dims[i] < 0, "a negative extent");
        BUG_IF(__builtin_mul_overflow(count, (uint64_t)h->dims[i], &count), "extents that overflow");
    }
    BUG_IF(count != h->element_count, "another element count");
    char descr[TENSOR_DESCR_BYTES];
    tensor_descr(h, descr);
    BUG_IF(strlen(descr) < 2, "the descr is `%s`", descr);
}

static char folder[64], path[80];

static void remove_folder(void)
{
    unlink(path);
    rmdir(folder);
}

static void make_folder(void)
{
    const char *base = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%.40s/fuzz-npy-XXXXXX", base != NULL ? base : "/tmp");
    BUG_IF(mkdtemp(folder) == NULL, "cannot create %s", folder);
    snprintf(path, sizeof path, "%s/x.npy", folder);
    atexit(remove_folder);
}

static void check_round_trip(diag_engine *d, arena *a, const tensor_header *h, const uint8_t *elements)
{
    dtype type = DTYPE_NONE;
    for (dtype t = DTYPE_NONE; t < DTYPE_COUNT && type == DTYPE_NONE; t++) {
        if (tensor_matches(h, t)) type = t;
    }
    if (type == DTYPE_NONE || h->element_count * h->item_bytes > most_written) return;
    if (folder[0] == '\0') make_folder();
    tensor_array again;
    const tensor_output output = {path, STR("x"), type, h->rank, h->dims, elements};
    BUG_IF(tensor_write(a, d, 1, &output) != OK, "cannot be written");
    BUG_IF(tensor_read(a, d, path, &again) != OK, "what was written does not read back");
    BUG_IF(again.header.rank != h->rank || memcmp(again.header.dims, h->dims, sizeof h->dims) != 0, "another shape");
    BUG_IF(!tensor_matches(&again.header, type), "another element type");
    BUG_IF(memcmp(again.data, elements, h->element_count * h->item_bytes) != 0, "other elements");
}

static void try_kind(const char *text, const uint8_t *data, size_t size)
{
    arena *a = arena_create("fuzz");
    diag_engine *d = diag_create(NULL, 0);
    tensor_array array;
    if (tensor_parse(a, d, text, (str){(const char *)data, size}, &array) == OK) {
        const uint64_t bytes = array.header.element_count * array.header.item_bytes;
        BUG_IF(diag_error_count(d) != 0, "accepted with an error");
        check_header(&array.header);
        const bool is_inside = array.data >= data && array.data <= data + size;
        BUG_IF(is_inside && bytes > (size_t)(data + size - array.data), "elements outside");
        check_round_trip(d, a, &array.header, array.data);
    } else {
        BUG_IF(diag_error_count(d) == 0, "refused without a diagnostic");
    }
    diag_destroy(d);
    arena_destroy(a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    try_kind("fuzz.npy", data, size);
    try_kind("fuzz.npz", data, size);
    try_kind("fuzz.npz:x", data, size);
    try_kind("fuzz.safetensors", data, size);
    try_kind("fuzz.safetensors:x", data, size);
    return 0;
}
