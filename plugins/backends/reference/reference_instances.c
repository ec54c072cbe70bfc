/* Independent instances: their order, and what each wrote. */
#include "reference_interp.h"

#include <inttypes.h>
#include <string.h>

/* Orders and serial numbers are kept up to this many instances: 64 MiB each. */
enum { KEPT_MAX = 1 << 24 };

/* splitmix64 */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static pto_status shuffle(interp *in, instances *s)
{
    if (s->count > KEPT_MAX)
        return pto_error(s->op, "pto.reference/limit",
                         "%" PRId64 " instances cannot be put in a random order, the limit is %d", s->count, KEPT_MAX);
    s->order_in = storage_make(in->pool, (size_t)s->count * sizeof(uint32_t));
    void *const memory = s->order_in->data;
    uint32_t *const order = memory;
    for (uint32_t i = 0; i < s->count; i++) order[i] = i;
    for (uint32_t i = (uint32_t)s->count; i > 1; i--) {
        const uint32_t j = (uint32_t)(next_random(&in->random) % i), t = order[i - 1];
        order[i - 1] = order[j];
        order[j] = t;
    }
    s->order = order;
    return PTO_OK;
}

static pto_status new_serial(interp *in, instances *s)
{
    if (in->serial == UINT32_MAX)
        return pto_error(s->op, "pto.reference/limit", "more than %" PRIu32 " instances in one run", UINT32_MAX);
    s->current = ++in->serial;
    if (s->serials != NULL) s->serials[s->done] = s->current;
    in->instance_count++;
    return PTO_OK;
}

instances *instances_begin(interp *in, pto_op at, uint32_t rank, const int64_t *extents)
{
    instances *s = in->free_instances;
    if (s != NULL)
        in->free_instances = s->around;
    else
        s = PTO_SCRATCH(in->run, instances, 1);
    *s = (instances){.around = in->innermost, .rank = rank, .count = 1, .op = at};
    bool bad = false, empty = false;
    for (uint32_t d = 0; d < rank; d++) {
        s->extents[d] = extents[d];
        bad |= extents[d] < 0;
        empty |= extents[d] == 0;
    }
    for (uint32_t d = 0; d < rank && !empty; d++) bad |= __builtin_mul_overflow(s->count, extents[d], &s->count);
    if (empty) s->count = 0;
    if (bad) {
        pto_error(at, "pto.reference/expression", "the extents of the instances are negative or too large");
        return NULL;
    }
    if (in->call->seed != 0 && s->count > 1 && shuffle(in, s) < 0) return NULL;
    if (s->count <= KEPT_MAX) {
        s->serials_in = storage_make(in->pool, (size_t)s->count * sizeof(uint32_t));
        void *const memory = s->serials_in->data;
        s->serials = memory;
    }
    in->innermost = s;
    if (s->count != 0 && new_serial(in, s) < 0) return NULL;
    s->first = s->current;
    return s;
}

static void indices_of(const instances *s, int64_t place, int64_t *out)
{
    int64_t n = s->order != NULL ? s->order[place] : place;
    for (uint32_t d = s->rank; d-- > 0;) {
        out[d] = n % s->extents[d];
        n /= s->extents[d];
    }
}

void instances_indices(const instances *s, int64_t *out) { indices_of(s, s->done, out); }

pto_status instances_next(interp *in, instances *s, bool *out_more)
{
    *out_more = ++s->done < s->count;
    return *out_more ? new_serial(in, s) : PTO_OK;
}

void instances_end(interp *in, instances *s)
{
    in->innermost = s->around;
    if (s->order_in != NULL) storage_release(in->pool, s->order_in);
    if (s->serials_in != NULL) storage_release(in->pool, s->serials_in);
    s->around = in->free_instances;
    in->free_instances = s;
}

/* ---- what each wrote ---- */

/* "(2, 0)", or "?" when not kept. */
static const char *index_text(const instances *s, int64_t place, char *out, size_t size)
{
    int64_t index[PTO_MAX_DIMS];
    size_t used = 0;
    if (place < 0) return "?";
    indices_of(s, place, index);
    for (uint32_t d = 0; d < s->rank && used < size; d++)
        used += (size_t)snprintf(out + used, size - used, "%s%" PRId64, d == 0 ? "(" : ", ", index[d]);
    if (used < size) snprintf(out + used, size - used, ")");
    return out;
}

/* Place of the instance whose insides have the serial number. */
static int64_t place_of(const instances *s, uint32_t serial)
{
    if (s->serials == NULL) return -1;
    int64_t low = 0, high = s->done;
    while (low < high) {
        const int64_t middle = low + (high - low + 1) / 2;
        if (s->serials[middle] <= serial)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

static pto_status conflict(pto_op op, const instances *s, uint32_t mark, int64_t element, bool is_write)
{
    char mine[160], other[160];
    pto_error(op, is_write ? "pto.reference/overlapping-writes" : "pto.reference/dependent-instances",
              "instance %s %s element %" PRId64 " of the memory, which instance %s has written; instances are "
              "independent",
              index_text(s, s->done, mine, sizeof mine), is_write ? "writes" : "reads", element,
              index_text(s, place_of(s, mark), other, sizeof other));
    pto_note(s->op, "the instances are those of this op");
    return PTO_FAILED;
}

/* The set in which the mark is that of another instance than the running one; NULL when there is none. */
static const instances *foreign(const interp *in, uint32_t mark)
{
    for (const instances *s = in->innermost; s != NULL; s = s->around)
        if (mark >= s->first && mark < s->current) return s;
    return NULL;
}

static pto_status freed(pto_op op, const storage *s)
{
    if (!s->is_freed) return PTO_OK;
    return pto_error(op, "pto.reference/freed", "the memory was freed before");
}

/* Called before n elements of `size` bytes are read, element `at` of the storage first. */
static pto_status instances_note_read(interp *in, pto_op op, storage *s, size_t size, int64_t at, int64_t stride,
                                      int64_t n)
{
    PTO_TRY(freed(op, s));
    if (s->marks == NULL) return PTO_OK;
    storage_mark(in->pool, s, size, MARK_BEFORE);
    const int64_t each = storage_marks_each(s, size);
    for (int64_t i = 0; i < n * each; i++) {
        const int64_t element = at + i / each * stride;
        const uint32_t mark = s->marks[element * each + i % each];
        if (mark == MARK_BEFORE) continue;
        if (mark == MARK_NEVER)
            return pto_error(op, "pto.reference/uninitialised",
                             "element %" PRId64 " of the memory is read, nothing has written it", element);
        const instances *set = foreign(in, mark);
        if (set != NULL) return conflict(op, set, mark, element, false);
    }
    return PTO_OK;
}

/* Likewise before they are written. */
static pto_status instances_note_write(interp *in, pto_op op, storage *s, size_t size, int64_t at, int64_t stride,
                                       int64_t n)
{
    PTO_TRY(freed(op, s));
    if (s->marks == NULL) return PTO_OK;
    storage_mark(in->pool, s, size, MARK_BEFORE);
    const uint32_t mine = in->innermost != NULL ? in->innermost->current : MARK_BEFORE;
    const int64_t each = storage_marks_each(s, size);
    for (int64_t i = 0; i < n * each; i++) {
        const int64_t element = at + i / each * stride;
        uint32_t *mark = &s->marks[element * each + i % each];
        if (*mark >= MARK_FIRST && *mark != mine) {
            const instances *set = foreign(in, *mark);
            if (set != NULL) return conflict(op, set, *mark, element, true);
        }
        *mark = mine;
    }
    return PTO_OK;
}

/* Element of the storage where the window begins. */
static int64_t window_start(const storage *s, const gm_window *w, int64_t row)
{
    return (w->base - s->data) / (int64_t)element_bytes(w->dtype) + gm_offset(w, row, 0);
}

pto_status instances_read_window(interp *in, pto_op op, storage *s, const gm_window *w)
{
    PTO_TRY(freed(op, s));
    if (s->marks == NULL || w->cols == 0) return PTO_OK;
    for (int64_t r = 0; r < w->rows; r++)
        PTO_TRY(
            instances_note_read(in, op, s, element_bytes(w->dtype), window_start(s, w, r), gm_row_stride(w), w->cols));
    return PTO_OK;
}

pto_status instances_write_window(interp *in, pto_op op, storage *s, const gm_window *w)
{
    PTO_TRY(freed(op, s));
    if (s->marks == NULL) storage_mark(in->pool, s, element_bytes(w->dtype), MARK_BEFORE);
    for (int64_t r = 0; r < w->rows && w->cols != 0; r++)
        PTO_TRY(
            instances_note_write(in, op, s, element_bytes(w->dtype), window_start(s, w, r), gm_row_stride(w), w->cols));
    return PTO_OK;
}

pto_status instances_read_array(interp *in, pto_op op, const array *a)
{
    PTO_TRY(freed(op, a->in));
    int64_t count;
    if (a->in->marks == NULL || !array_count(a, &count) || count == 0) return PTO_OK;
    const int64_t first = (a->base - a->in->data) / (int64_t)element_bytes(a->dtype);
    if (array_is_contiguous(a)) return instances_note_read(in, op, a->in, element_bytes(a->dtype), first, 1, count);
    gm_window w = {.base = a->base, .dtype = a->dtype, .rank = a->rank};
    memcpy(w.dims, a->dims, sizeof w.dims);
    memcpy(w.strides, a->strides, sizeof w.strides);
    w.rows = a->rank >= 2 ? a->dims[a->rank - 2] : 1;
    w.cols = a->dims[a->rank - 1];
    for (int64_t done = 0; done < count; done += w.rows * w.cols) {
        PTO_TRY(instances_read_window(in, op, a->in, &w));
        for (uint32_t d = a->rank >= 2 ? a->rank - 2 : 0; d-- > 0;) {
            if (++w.offsets[d] < w.dims[d]) break;
            w.offsets[d] = 0;
        }
    }
    return PTO_OK;
}
