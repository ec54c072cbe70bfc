#include "cpu-sim/written.h"

#include <pto/call.h>

void written_init(const pto_run *run, written_memory *w) { *w = (written_memory){.run = run}; }

void written_add(written_memory *w, pto_op at, pto_str name, const program_array *array, bool is_written,
                 bool is_shared)
{
    PTO_GROW(w->run, w->roots, w->count, w->capacity);
    gm_root *r = &w->roots[w->count++];
    *r = (gm_root){.at = at, .name = name, .array = *array};
    if (is_written || array->base == NULL) return;
    r->marks = PTO_SCRATCH(w->run, uint8_t, array->bytes + 1);
    if (array->bytes && !is_shared) memset(array->base, 0xff, array->bytes);
}

/* Byte of the root where row r of the window begins. */
static int64_t row_start(const gm_root *root, const gm_window *w, int64_t r)
{
    return w->base - root->array.base + gm_offset(w, r, 0) * (int64_t)element_bytes(w->dtype);
}

void written_mark(written_memory *w, uint32_t root, const gm_window *window)
{
    const gm_root *to = &w->roots[root];
    const int64_t stride = gm_row_stride(window);
    const size_t bytes = element_bytes(window->dtype);
    for (int64_t r = 0; to->marks != NULL && window->cols != 0 && r < window->rows; r++) {
        uint8_t *row = to->marks + row_start(to, window, r);
        if (stride == 1)
            memset(row, 1, (size_t)window->cols * bytes);
        else
            for (int64_t c = 0; c < window->cols; c++) memset(row + c * stride * (int64_t)bytes, 1, bytes);
    }
}

int64_t written_find_blank(const written_memory *w, uint32_t root, const gm_window *window)
{
    const gm_root *from = &w->roots[root];
    const int64_t bytes = (int64_t)element_bytes(window->dtype), step = gm_row_stride(window) * bytes;
    for (int64_t r = 0; from->marks != NULL && window->cols != 0 && r < window->rows; r++) {
        const int64_t first = row_start(from, window, r);
        for (int64_t c = 0; c < window->cols; c++)
            if (memchr(from->marks + first + c * step, 0, (size_t)bytes) != NULL)
                return (first + c * step) / (int64_t)element_bytes(from->array.dtype);
    }
    return -1;
}

int64_t written_find_blank_of(const written_memory *w, uint32_t root, const gm_window *array)
{
    gm_window rows = *array;
    int64_t count = 1;
    for (uint32_t d = 0; d < rows.rank; d++) count *= rows.dims[d];
    if (count == 0) return -1;
    rows.rows = rows.rank >= 2 ? rows.dims[rows.rank - 2] : 1;
    rows.cols = rows.rank != 0 ? rows.dims[rows.rank - 1] : 1;
    for (int64_t done = 0; done < count; done += rows.rows * rows.cols) {
        const int64_t blank = written_find_blank(w, root, &rows);
        if (blank >= 0) return blank;
        for (uint32_t d = rows.rank >= 2 ? rows.rank - 2 : 0; d-- > 0;) {
            if (++rows.offsets[d] < rows.dims[d]) break;
            rows.offsets[d] = 0;
        }
    }
    return -1;
}

size_t written_count_blank(const gm_root *r, size_t *out_of, size_t *out_first)
{
    const program_array *a = &r->array;
    int64_t index[PTO_MAX_DIMS] = {0};
    size_t missing = 0;
    const size_t bytes = element_bytes(a->dtype);
    *out_of = 1;
    for (uint32_t d = 0; d < a->rank; d++) *out_of *= (size_t)a->dims[d];
    if (r->marks == NULL || memchr(r->marks, 0, a->bytes) == NULL) return 0;
    for (size_t k = 0; k < *out_of; k++) {
        int64_t at = 0;
        for (uint32_t d = 0; d < a->rank; d++) at += index[d] * a->strides[d];
        if (memchr(r->marks + at * (int64_t)bytes, 0, bytes) != NULL && missing++ == 0) *out_first = k;
        for (uint32_t d = a->rank; d-- > 0;) {
            if (++index[d] < a->dims[d]) break;
            index[d] = 0;
        }
    }
    return missing;
}
