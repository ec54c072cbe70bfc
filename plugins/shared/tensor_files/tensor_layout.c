#include "tensor_files/tensor_layout.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct type_names {
    const char *npy, *safetensors;
    bool is_float;
} type_names;

enum { CLASS_FLOAT = 1, CLASS_SINT = 0, CLASS_UINT = 0, CLASS_BOOL = 0, CLASS_INDEX = 0, CLASS_OPAQUE = 0 };

/* Spellings of the types; in .npy those that numpy lacks travel as integers of their size. */
static const type_names types[PTO_DTYPE_COUNT] = {
#define DTYPE(ID, text, bits, class, exponent_bits, mantissa_bits, largest, quiet_nan, numpy, mlir, safetensors) \
    [PTO_##ID] = {(numpy), (safetensors), CLASS_##class},
#include <pto/ops/types.def>
};

bool tensor_file_fail(tensor_problem *problem, tensor_fault fault, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(problem->text, sizeof problem->text, format, list);
    va_end(list);
    problem->fault = fault;
    problem->note = NULL;
    return false;
}

const char *tensor_npy_type(pto_dtype type) { return type < PTO_DTYPE_COUNT ? types[type].npy : NULL; }

const char *tensor_safetensors_type(pto_dtype type) { return type < PTO_DTYPE_COUNT ? types[type].safetensors : NULL; }

bool tensor_matches(const tensor_header *h, pto_dtype wanted)
{
    if (wanted >= PTO_DTYPE_COUNT || types[wanted].npy == NULL) return false;
    const type_names *want = &types[wanted];
    if (h->type != PTO_DTYPE_NONE)
        return want->safetensors != NULL && strcmp(types[h->type].safetensors, want->safetensors) == 0;
    /* Extensions of numpy write the floats that it lacks as bytes without a type. */
    const bool is_bare = h->kind == 'V' && want->npy[1] == 'u' && want->is_float;
    return (h->kind == want->npy[1] || is_bare) && h->item_bytes == (uint32_t)(want->npy[2] - '0');
}

void tensor_descr(const tensor_header *h, char out[TENSOR_DESCR_BYTES])
{
    if (h->type != PTO_DTYPE_NONE && types[h->type].safetensors != NULL)
        snprintf(out, TENSOR_DESCR_BYTES, "%s", types[h->type].safetensors);
    else
        snprintf(out, TENSOR_DESCR_BYTES, "%c%c%u", h->item_bytes == 1 || h->kind == 'V' ? '|' : '<', h->kind,
                 h->item_bytes);
}

bool tensor_count_elements(tensor_header *out, tensor_problem *problem)
{
    const uint64_t most = INT64_MAX / 8;
    uint64_t count = 1;
    for (uint32_t i = 0; i < out->rank; i++)
        if (__builtin_mul_overflow(count, (uint64_t)out->dims[i], &count) || count > most)
            return tensor_file_fail(problem, TENSOR_TOO_LARGE, "the array has more than %" PRIu64 " elements", most);
    out->element_count = count;
    return true;
}

static bool ends_with(const char *text, size_t n, const char *ending)
{
    const size_t k = strlen(ending);
    return n >= k && memcmp(text + n - k, ending, k) == 0;
}

tensor_file_kind tensor_split(const char *text, size_t *path_bytes, const char **entry)
{
    size_t n = strlen(text);
    *entry = NULL;
    for (const char *colon = strchr(text, ':'); colon != NULL; colon = strchr(colon + 1, ':')) {
        const size_t before = (size_t)(colon - text);
        if (!ends_with(text, before, ".npz") && !ends_with(text, before, ".safetensors")) continue;
        *entry = colon + 1;
        n = before;
        break;
    }
    *path_bytes = n;
    return ends_with(text, n, ".npz")           ? TENSOR_NPZ
           : ends_with(text, n, ".safetensors") ? TENSOR_SAFETENSORS
                                                : TENSOR_NPY;
}

static int compare_names(const void *x, const void *y)
{
    const tensor_entry *a = *(const tensor_entry *const *)x, *b = *(const tensor_entry *const *)y;
    const int order = memcmp(a->name, b->name, a->name_bytes < b->name_bytes ? a->name_bytes : b->name_bytes);
    return order != 0 ? order : (a->name_bytes > b->name_bytes) - (a->name_bytes < b->name_bytes);
}

bool tensor_check_names(const tensor_file_bytes *file, const tensor_entry *list, uint32_t count)
{
    if (count < 2) return true;
    const tensor_entry **sorted = file->allocate(file->self, count * sizeof *sorted);
    for (uint32_t i = 0; i < count; i++) sorted[i] = &list[i];
    qsort((void *)sorted, count, sizeof *sorted, compare_names);
    for (uint32_t i = 1; i < count; i++)
        if (compare_names((const void *)&sorted[i - 1], (const void *)&sorted[i]) == 0)
            return tensor_file_fail(file->problem, TENSOR_MALFORMED, "two tensors of the file are called `%.*s`",
                                    (int)(sorted[i]->name_bytes > 200 ? 200 : sorted[i]->name_bytes), sorted[i]->name);
    return true;
}

/* Why no tensor is meant, with the first names that there are. */
static bool fail_entry(tensor_problem *problem, const tensor_entry *list, uint32_t count, const char *entry)
{
    if (entry != NULL)
        tensor_file_fail(problem, TENSOR_ENTRY, "the file has no tensor `%.100s`", entry);
    else if (count != 0)
        tensor_file_fail(problem, TENSOR_ENTRY, "the file has %" PRIu32 " tensors, and none of them is named", count);
    if (count == 0) return tensor_file_fail(problem, TENSOR_ENTRY, "the file has no tensors");
    size_t n = strlen(problem->text);
    uint32_t i = 0;
    for (; i < count && list[i].name_bytes <= 60 && n + 100 < sizeof problem->text; i++)
        n += (size_t)snprintf(problem->text + n, sizeof problem->text - n, "%s`%.*s`", i == 0 ? "; it has " : ", ",
                              (int)list[i].name_bytes, list[i].name);
    if (i < count)
        snprintf(problem->text + n, sizeof problem->text - n, i == 0 ? "; it has %" PRIu32 : " and %" PRIu32 " more",
                 count - i);
    problem->note = "write the name after a colon, as FILE.npz:NAME or FILE.safetensors:NAME";
    return false;
}

static bool locate_npy(const tensor_file_bytes *file, const uint8_t *bytes, uint64_t n, tensor_entry *out)
{
    if (!tensor_npy_header(bytes, n, &out->header, file->problem)) return false;
    const uint64_t elements = out->header.element_count * out->header.item_bytes;
    out->offset = (uint64_t)(bytes - file->bytes) + out->header.data_offset;
    out->stored_bytes = n - out->header.data_offset;
    out->rest_bytes = out->stored_bytes - elements;
    return true;
}

bool tensor_locate(const tensor_file_bytes *file, tensor_file_kind kind, const char *entry, tensor_entry *out)
{
    *out = (tensor_entry){.name = NULL};
    if (kind == TENSOR_NPY) return locate_npy(file, file->bytes, file->n, out);
    tensor_entry *list;
    uint32_t count, found = 0;
    if (!(kind == TENSOR_NPZ ? tensor_list_npz : tensor_list_safetensors)(file, &list, &count)) return false;
    if (entry != NULL) {
        const size_t n = strlen(entry);
        while (found < count && (list[found].name_bytes != n || memcmp(list[found].name, entry, n) != 0)) found++;
    }
    if (found == count || (entry == NULL && count != 1)) return fail_entry(file->problem, list, count, entry);
    *out = list[found];
    if (kind != TENSOR_NPZ || out->is_deflated) return true;
    return locate_npy(file, file->bytes + out->offset, out->stored_bytes, out);
}
