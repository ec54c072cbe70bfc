/* libFuzzer target: any bytes as a tensor file. What is accepted names elements that all lie inside the file, and an
 * array of the same shape is written so that it reads back the same. */
#include "tools/run/npy.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint64_t most_written = 4096;

static void check_header(const npy_header *h, size_t size)
{
    BUG_IF(h->rank > NPY_MAX_RANK, "rank %u", h->rank);
    BUG_IF(h->item_bytes == 0 || h->item_bytes > 8, "items of %u bytes", h->item_bytes);
    uint64_t count = 1;
    for (uint32_t i = 0; i < h->rank; i++) {
        BUG_IF(h->dims[i] < 0, "a negative extent");
        BUG_IF(__builtin_mul_overflow(count, (uint64_t)h->dims[i], &count), "extents that overflow");
    }
    BUG_IF(count != h->element_count, "another element count");
    BUG_IF(h->data_offset > size || h->element_count > (size - h->data_offset) / h->item_bytes, "elements outside");
    char descr[8];
    npy_header_descr(h, descr);
    BUG_IF(strlen(descr) != 3, "the descr is `%s`", descr);
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

static void check_round_trip(diag_engine *d, arena *a, const npy_header *h, const uint8_t *elements)
{
    dtype type = DTYPE_NONE;
    for (dtype t = DTYPE_NONE; t < DTYPE_COUNT && type == DTYPE_NONE; t++) {
        if (npy_matches(h, t)) type = t;
    }
    if (type == DTYPE_NONE || h->element_count * h->item_bytes > most_written) return;
    if (folder[0] == '\0') make_folder();
    npy_array again;
    BUG_IF(npy_write(d, path, type, h->rank, h->dims, elements) != OK, "cannot be written");
    BUG_IF(npy_read(a, d, path, &again) != OK, "what was written does not read back");
    BUG_IF(again.header.rank != h->rank || memcmp(again.header.dims, h->dims, sizeof h->dims) != 0, "another shape");
    BUG_IF(!npy_matches(&again.header, type), "another element type");
    BUG_IF(memcmp(again.data, elements, h->element_count * h->item_bytes) != 0, "other elements");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    arena *a = arena_create("fuzz");
    diag_engine *d = diag_create(NULL, 0);
    npy_header h;
    if (npy_parse(d, "fuzz.npy", (str){(const char *)data, size}, &h) == OK) {
        BUG_IF(diag_error_count(d) != 0, "accepted with an error");
        check_header(&h, size);
        check_round_trip(d, a, &h, data + h.data_offset);
    } else {
        BUG_IF(diag_error_count(d) == 0, "refused without a diagnostic");
    }
    diag_destroy(d);
    arena_destroy(a);
    return 0;
}
