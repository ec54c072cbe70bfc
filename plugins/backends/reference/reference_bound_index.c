/* Sets of values of ops that go by indices, sort, or scan.
 *
 * Where an element goes is found by running the op on places instead of elements. An index that may be another one lets
 * every element be anything. */
#include "reference_bound_lists.h"

#include <stdlib.h>
#include <string.h>

static bool is_exact(const bound_list *l)
{
    for (int64_t i = 0; i < l->count; i++)
        if (!l->at[i].is_exact) return false;
    return true;
}

static void set_all(bound_run *r, bound b)
{
    for (int64_t i = 0; i < r->to.count; i++) r->to.at[i] = b;
}

/* Whether operand `i` has elements of the result, not an index. */
static bool is_data(const bound_run *r, uint32_t i)
{
    if (i == 0) return true;
    const bool puts = r->o->tensor == EVAL_TENSOR_INDEX_PUT;
    return puts ? i == 1 : i == 2;
}

/* An operand that holds the place of each element, counted from `first` on; NULL: memory is short. */
static storage *make_places(const bound_run *r, uint32_t i, int64_t first, pto_tensor *out)
{
    const int64_t count = r->from[i].count;
    storage *s = storage_make(r->in->pool, (size_t)(count != 0 ? count : 1) * sizeof(int64_t));
    if (s == NULL) return NULL;
    void *const memory = s->data;
    int64_t *const at = memory;
    for (int64_t k = 0; k < count; k++) at[k] = first + k;
    *out = bound_packed(r->call->in[i]);
    out->dtype = PTO_I64;
    out->data = s->data;
    out->bytes = (uint64_t)count * sizeof(int64_t);
    return s;
}

/* Operands one after the other. */
static const bound *at_place(const bound_run *r, int64_t place)
{
    uint32_t i = 0;
    while (!is_data(r, i) || place >= r->from[i].count) {
        if (is_data(r, i)) place -= r->from[i].count;
        i++;
    }
    return &r->from[i].at[place];
}

static pto_status follow(bound_run *r, storage *memory[TENSOR_OPERANDS + 1])
{
    tensor_call call = *r->call;
    pto_tensor in[TENSOR_OPERANDS], out = bound_packed(call.out);
    int64_t first = 0;
    for (uint32_t i = 0; i < TENSOR_OPERANDS && call.in[i] != NULL; i++) {
        if (!is_data(r, i)) continue;
        memory[i] = make_places(r, i, first, &in[i]);
        if (memory[i] == NULL) return PTO_FAILED;
        call.in[i] = &in[i];
        first += r->from[i].count;
    }
    memory[TENSOR_OPERANDS] = storage_make(r->in->pool, (size_t)r->to.count * sizeof(int64_t));
    if (memory[TENSOR_OPERANDS] == NULL) return PTO_FAILED;
    void *const made = memory[TENSOR_OPERANDS]->data;
    const int64_t *const places = made;
    out.dtype = PTO_I64;
    out.data = made;
    out.bytes = (uint64_t)r->to.count * sizeof(int64_t);
    call.out = &out;
    PTO_TRY(tensor_run(r->o->tensor, &call));
    for (int64_t i = 0; i < r->to.count; i++) r->to.at[i] = *at_place(r, places[i]);
    return PTO_OK;
}

pto_status bound_moved(bound_run *r)
{
    storage *memory[TENSOR_OPERANDS + 1] = {NULL};
    for (uint32_t i = 0; i < TENSOR_OPERANDS && r->call->in[i] != NULL; i++) {
        if (is_data(r, i) || is_exact(&r->from[i])) continue;
        set_all(r, bound_anything(r->type));
        return PTO_OK;
    }
    const pto_status s = follow(r, memory);
    for (uint32_t i = 0; i <= TENSOR_OPERANDS; i++)
        if (memory[i] != NULL) storage_release(r->in->pool, memory[i]);
    return s;
}

/* ---- places that are combined with others ---- */

typedef struct combination {
    const bound_run *r;
    const bound *source;
    bound alpha;
    bound_sum *sums; /* one for each element of the result; NULL: products, in `to` */
} combination;

static void combine(void *self, int64_t from, int64_t to)
{
    const combination *c = self;
    if (c->sums != NULL)
        bound_sum_add_product(&c->sums[to], &c->alpha, &c->source[from]);
    else
        c->r->to.at[to] = bound_mul(PTO_F32, &c->r->to.at[to], &c->source[from], 1);
}

static pto_status combine_floats(bound_run *r, bound_sum *sums)
{
    const uint32_t operand = r->o->tensor == EVAL_TENSOR_INDEX_PUT ? 1 : 2;
    const pto_tensor out = bound_packed(r->call->out), source = bound_packed(r->call->in[operand]);
    const double alpha = r->call->alpha.is_int ? (double)r->call->alpha.i : r->call->alpha.f;
    tensor_call call = *r->call;
    call.out = &out;
    call.in[operand] = &source;
    combination c = {r, r->from[operand].at, bound_near(alpha), sums};
    for (int64_t i = 0; i < r->to.count; i++) {
        r->to.at[i] = r->from[0].at[i];
        sums[i] = bound_sum_start();
        bound_sum_add(&sums[i], &r->from[0].at[i]);
    }
    if (r->call->combine == COMBINE_MUL) c.sums = NULL;
    PTO_TRY(tensor_each_combined(r->o->tensor, &call, combine, &c));
    for (int64_t i = 0; i < r->to.count; i++) {
        r->to.at[i] = c.sums != NULL ? bound_sum_end(r->type, PTO_F32, &sums[i])
                                     : bound_convert(r->type, PTO_F32, &r->to.at[i], ROUND_RINT, false);
        r->to.at[i].is_exact = false;
    }
    return PTO_OK;
}

/* An index that may be another one lets every element be anything. */
pto_status bound_combined(bound_run *r)
{
    if (r->call->combine == COMBINE_NONE) return bound_moved(r);
    bool exact = !element_is_float(r->type), known = element_is_float(r->type);
    for (uint32_t i = 0; i < TENSOR_OPERANDS && r->call->in[i] != NULL; i++) {
        exact = exact && is_exact(&r->from[i]);
        known = known && (is_data(r, i) || is_exact(&r->from[i]));
    }
    if (!known) {
        set_all(r, exact ? (bound){.is_exact = true} : bound_anything(r->type));
        return PTO_OK;
    }
    storage *memory = storage_make(r->in->pool, (size_t)r->to.count * sizeof(bound_sum));
    if (memory == NULL) return PTO_FAILED;
    void *const sums = memory->data;
    const pto_status s = combine_floats(r, sums);
    storage_release(r->in->pool, memory);
    return s;
}

/* ---- orders ---- */

typedef struct bound_line {
    const bound *x;
    bound *y;
    int64_t n, stride, count, y_stride; /* elements of x, and those of the result */
    double *ends;                       /* 2 n */
} bound_line;

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The least that can be in a place is what the least of all elements have there, and so is the most. Zeros of both
 * signs are one number. */
static void order(const bound_run *r, const bound_line *l)
{
    bool is_exact = true, has_nan = false;
    for (int64_t i = 0; i < l->n; i++) {
        const bound *x = &l->x[i * l->stride];
        is_exact = is_exact && x->is_exact;
        has_nan = has_nan || x->may_be_nan;
        l->ends[i] = x->lo;
        l->ends[l->n + i] = x->hi;
    }
    qsort(l->ends, (size_t)l->n, sizeof *l->ends, by_size);
    qsort(l->ends + l->n, (size_t)l->n, sizeof *l->ends, by_size);
    for (int64_t i = 0; i < l->count; i++) {
        const int64_t at = r->call->descending ? l->n - 1 - i : i;
        const double lo = l->ends[at], hi = l->ends[l->n + at];
        const bound y = {.lo = lo == 0 ? -0.0 : lo, .hi = hi == 0 ? 0.0 : hi};
        l->y[i * l->y_stride] = is_exact ? (bound){.is_exact = true} : has_nan ? bound_anything(r->type) : y;
    }
}

static pto_status order_all(bound_run *r)
{
    const pto_tensor x = bound_packed(r->call->in[0]), out = bound_packed(r->call->out);
    const int64_t named = r->call->axes[0];
    const uint32_t axis = (uint32_t)(named < 0 ? named + x.rank : named);
    const int64_t n = x.dims[axis];
    storage *memory = storage_make(r->in->pool, (size_t)(2 * n + 1) * sizeof(double));
    if (memory == NULL) return PTO_FAILED;
    void *const ends = memory->data;
    walk w = {.rank = x.rank};
    for (uint32_t d = 0; d < x.rank; d++) {
        w.dims[d] = d == axis ? 1 : x.dims[d];
        w.strides[0][d] = out.strides[d];
        w.strides[1][d] = x.strides[d];
    }
    for (bool more = walk_begin(&w); more; more = walk_next(&w))
        order(r, &(bound_line){r->from[0].at + w.offset[1], r->to.at + w.offset[0], n, x.strides[axis], out.dims[axis],
                               out.strides[axis], ends});
    storage_release(r->in->pool, memory);
    return PTO_OK;
}

/* Elements in order; places, as soon as an element may be another one, may be any. */
pto_status bound_ordered(bound_run *r)
{
    const bool has_elements =
        r->o->tensor == EVAL_TENSOR_SORT || (r->o->tensor == EVAL_TENSOR_TOPK && r->computed == r->call->out->data);
    if (has_elements) return order_all(r);
    set_all(r, is_exact(&r->from[0]) ? (bound){.is_exact = true} : bound_anything(r->type));
    return PTO_OK;
}

/* ---- scans ---- */

typedef struct scan_line {
    const bound *x;
    bound *y;
    int64_t n, stride; /* along the axis, in either direction */
} scan_line;

static void scan_sums(const bound_run *r, const scan_line *l)
{
    bound_sum s = bound_sum_start();
    for (int64_t i = 0; i < l->n; i++) {
        if (!r->call->exclusive) bound_sum_add(&s, &l->x[i * l->stride]);
        const bool is_whole = s.is_exact && (s.count == 0 || !element_is_float(r->type));
        l->y[i * l->stride] = is_whole ? (bound){.is_exact = true} : bound_sum_end(r->type, PTO_F32, &s);
        if (r->call->exclusive) bound_sum_add(&s, &l->x[i * l->stride]);
    }
}

static void scan_products(const bound_run *r, const scan_line *l)
{
    const pto_dtype inside = element_is_float(r->type) ? PTO_F32 : r->type;
    bound p = {.lo = 1, .hi = 1, .is_exact = true};
    for (int64_t i = 0; i < l->n; i++) {
        const bound *x = &l->x[i * l->stride];
        bound through = bound_mul(inside, &p, x, 1);
        through.is_exact = inside == r->type && !element_is_float(r->type) && p.is_exact && x->is_exact;
        const bound here = r->call->exclusive ? p : through;
        l->y[i * l->stride] =
            here.is_exact ? (bound){.is_exact = true} : bound_convert(r->type, inside, &here, ROUND_RINT, false);
        p = through;
    }
}

pto_status bound_scanned(bound_run *r)
{
    const pto_tensor a = bound_packed(r->call->in[0]);
    const int64_t named = r->call->axes[0];
    const uint32_t axis = (uint32_t)(named < 0 ? named + a.rank : named);
    walk w = {.rank = a.rank};
    for (uint32_t d = 0; d < a.rank; d++) {
        w.dims[d] = d == axis ? 1 : a.dims[d];
        w.strides[0][d] = a.strides[d];
    }
    for (bool more = walk_begin(&w); more; more = walk_next(&w)) {
        const int64_t first = w.offset[0] + (r->call->reverse ? (a.dims[axis] - 1) * a.strides[axis] : 0);
        const scan_line l = {r->from[0].at + first, r->to.at + first, a.dims[axis],
                             r->call->reverse ? -a.strides[axis] : a.strides[axis]};
        if (r->o->tensor == EVAL_TENSOR_CUMSUM)
            scan_sums(r, &l);
        else
            scan_products(r, &l);
    }
    return PTO_OK;
}
