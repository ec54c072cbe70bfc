#include "reference_value.h"

#include <string.h>

/* More cannot be meant. */
static const uint64_t storage_max = UINT64_C(1) << 36;

/* The smallest class of at least `bytes`: 1, 1.25, 1.5, 1.75 times a power of two. */
static uint32_t class_of(size_t bytes, size_t *out_capacity)
{
    uint32_t power = 6;
    while (power < 62 && ((size_t)2 << power) <= bytes) power++;
    const size_t step = (size_t)1 << (power - 2);
    size_t quarter = 0, capacity = (size_t)1 << power;
    while (capacity < bytes) {
        capacity += step;
        quarter++;
    }
    *out_capacity = capacity;
    return (uint32_t)(power * 4 + quarter);
}

static storage *shell(pool *p)
{
    storage *s = p->shells;
    if (s != NULL)
        p->shells = s->next;
    else
        s = pto_keep(p->run, sizeof *s);
    *s = (storage){.refs = 1};
    return s;
}

storage *storage_make(pool *p, size_t bytes)
{
    if (bytes > storage_max) return NULL;
    size_t capacity;
    const uint32_t size_class = class_of(bytes, &capacity);
    storage *s = p->free[size_class];
    if (s != NULL) {
        p->free[size_class] = s->next;
    } else {
        s = pto_keep(p->run, sizeof *s);
        s->data = pto_keep(p->run, capacity);
    }
    *s = (storage){.data = s->data, .bytes = bytes, .refs = 1, .size_class = size_class};
    memset(s->data, 0xff, bytes);
    if (p->shadow != NULL) shadow_clear(p->shadow, s->data, bytes);
    return s;
}

storage *storage_wrap(pool *p, void *data, size_t bytes)
{
    storage *s = shell(p);
    s->data = data;
    s->bytes = bytes;
    s->is_foreign = true;
    return s;
}

/* Marks have none themselves, so this goes one step deep. */
void storage_release(pool *p, storage *s)
{
    while (s != NULL && --s->refs == 0) {
        storage *marks = s->marks_in;
        storage **list = s->is_foreign ? &p->shells : &p->free[s->size_class];
        s->next = *list;
        *list = s;
        s = marks;
    }
}

void storage_mark(pool *p, storage *s, size_t element_bytes, uint32_t mark)
{
    if (s->marks != NULL && s->element_bytes <= element_bytes) return;
    const size_t count = s->bytes / element_bytes, before = s->element_bytes;
    const uint32_t *const coarse = s->marks;
    storage *const coarse_in = s->marks_in;
    s->element_bytes = element_bytes;
    s->marks_in = storage_make(p, count * sizeof *s->marks);
    void *const memory = s->marks_in->data;
    s->marks = memory;
    for (size_t i = 0; i < count; i++) s->marks[i] = coarse != NULL ? coarse[i * element_bytes / before] : mark;
    if (coarse_in != NULL) storage_release(p, coarse_in);
}

void value_clear(pool *p, value *v)
{
    if (v->kind == VALUE_ARRAY) storage_release(p, v->array.in);
    if (v->kind == VALUE_TILE) storage_release(p, v->tile_in);
    v->kind = VALUE_NONE;
}

void value_copy(pool *p, value *to, const value *from)
{
    if (to == from) return;
    if (from->kind == VALUE_ARRAY) from->array.in->refs++;
    if (from->kind == VALUE_TILE) from->tile_in->refs++;
    value_clear(p, to);
    *to = *from;
}

bool array_count(const array *a, int64_t *out)
{
    int64_t n = 1;
    bool bad = false, empty = false;
    for (uint32_t d = 0; d < a->rank; d++) {
        bad |= a->dims[d] < 0;
        empty |= a->dims[d] == 0;
    }
    for (uint32_t d = 0; d < a->rank && !bad && !empty; d++) bad |= __builtin_mul_overflow(n, a->dims[d], &n);
    *out = empty ? 0 : n;
    return !bad;
}

bool array_is_contiguous(const array *a)
{
    int64_t stride = 1;
    for (uint32_t d = a->rank; d-- > 0;) {
        if (a->dims[d] != 1 && a->strides[d] != stride) return false;
        stride *= a->dims[d];
    }
    return true;
}

void array_pack(array *a)
{
    uint64_t stride = 1; /* wraps only beside an extent of 0, where no element is */
    for (uint32_t d = a->rank; d-- > 0;) {
        a->strides[d] = (int64_t)stride;
        stride *= (uint64_t)a->dims[d];
    }
}

bool array_make(pool *p, array *a)
{
    int64_t count, bytes;
    if (!array_count(a, &count) || __builtin_mul_overflow(count, (int64_t)element_bytes(a->dtype), &bytes))
        return false;
    storage *s = storage_make(p, (size_t)bytes);
    if (s == NULL) return false;
    a->in = s;
    a->base = s->data;
    a->is_read_only = false;
    array_pack(a);
    return true;
}

/* An element is as written as the first of its parts, where marks of the source are finer. */
static void copy_marks(const array *to, int64_t to_at, const array *from, int64_t from_at, int64_t n, int64_t to_stride,
                       int64_t from_stride)
{
    const int64_t size = (int64_t)element_bytes(to->dtype), each = storage_marks_each(to->in, (size_t)size);
    const int64_t to_first = (to->base - to->in->data) / size + to_at;
    const int64_t from_first = (from->base - from->in->data) / size + from_at;
    const uint32_t *in = from->in->marks;
    const int64_t from_each = in != NULL ? storage_marks_each(from->in, (size_t)size) : 1;
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < each; k++)
            to->in->marks[(to_first + i * to_stride) * each + k] =
                in != NULL ? in[(from_first + i * from_stride) * from_each + k * from_each / each] : MARK_BEFORE;
}

enum { COPIED_AT_ONCE = 64 };

static void copy_shadow(const pool *p, pto_dtype t, uint8_t *to, int64_t to_stride, const uint8_t *from,
                        int64_t from_stride, int64_t n)
{
    bound piece[COPIED_AT_ONCE];
    const int64_t size = (int64_t)element_bytes(t);
    for (int64_t i = 0; i < n; i += COPIED_AT_ONCE) {
        const size_t count = n - i < COPIED_AT_ONCE ? (size_t)(n - i) : COPIED_AT_ONCE;
        shadow_read(p->shadow, t, from + i * from_stride * size, from_stride, count, piece);
        shadow_write(p->shadow, t, to + i * to_stride * size, to_stride, count, piece);
    }
}

void array_copy(pool *p, const array *to, const array *from)
{
    const size_t size = element_bytes(to->dtype);
    int64_t count, at[PTO_MAX_DIMS] = {0};
    if (!array_count(to, &count) || count == 0) return;
    if (from->in->marks != NULL || to->in->marks != NULL) storage_mark(p, to->in, size, MARK_BEFORE);
    if (from->in->marks != NULL) storage_mark(p, from->in, size, MARK_BEFORE);
    const uint32_t last = to->rank > 0 ? to->rank - 1 : 0;
    const int64_t run = to->rank > 0 ? to->dims[last] : 1;
    const int64_t to_stride = to->rank > 0 ? to->strides[last] : 1,
                  from_stride = to->rank > 0 ? from->strides[last] : 1;
    for (int64_t done = 0; done < count; done += run) {
        int64_t to_at = 0, from_at = 0;
        for (uint32_t d = 0; d < last; d++) {
            to_at += at[d] * to->strides[d];
            from_at += at[d] * from->strides[d];
        }
        element_copy(size, to->base + to_at * (int64_t)size, to_stride, from->base + from_at * (int64_t)size,
                     from_stride, (size_t)run);
        if (p->shadow != NULL)
            copy_shadow(p, to->dtype, to->base + to_at * (int64_t)size, to_stride, from->base + from_at * (int64_t)size,
                        from_stride, run);
        if (to->in->marks != NULL) copy_marks(to, to_at, from, from_at, run, to_stride, from_stride);
        for (uint32_t d = last; d-- > 0;) {
            if (++at[d] < to->dims[d]) break;
            at[d] = 0;
        }
    }
}
