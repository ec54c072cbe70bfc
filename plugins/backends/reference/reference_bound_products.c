/* Sets of values of products of matrices. Where all numbers are finite the ends come from middles and radii, which
 * loops over doubles add up; the few others go term by term. */
#include "reference_interp.h"

#include <math.h>

/* The terms of one row or one column. */
typedef struct vector {
    const bound *at;
    int64_t step;
    const double *middle, *radius;
    int grain; /* see bound_sum */
    bool is_finite, is_exact;
} vector;

static vector read_vector(const bound *at, int64_t step, int64_t n, double *memory)
{
    vector v = {.at = at, .step = step, .middle = memory, .radius = memory + n, .is_finite = true};
    bound_sum s = bound_sum_start();
    for (int64_t i = 0; i < n; i++) {
        const bound *x = &at[i * step];
        v.is_finite &= isfinite(x->lo) && isfinite(x->hi) && !x->may_be_nan;
        memory[i] = x->lo / 2 + x->hi / 2;
        memory[n + i] = x->hi > x->lo ? (x->hi - x->lo) / 2 * (1 + 0x1p-50) : 0;
        bound_sum_add(&s, x);
    }
    v.grain = s.grain;
    v.is_exact = s.is_exact;
    return v;
}

static bool add_fast(bound_sum *s, const vector *a, const vector *b, int64_t n)
{
    double sum = 0, size = 0, radius = 0;
    if (!a->is_finite || !b->is_finite) return false;
    for (int64_t i = 0; i < n; i++) {
        const double x = a->middle[i], y = b->middle[i], r = a->radius[i], q = b->radius[i];
        sum += x * y;
        size += (fabs(x) + r) * (fabs(y) + q);
        radius += fabs(x) * q + r * (fabs(y) + q);
    }
    /* Near the largest numbers signs count, and near zero those of zeros. */
    if (!(size < 0x1p100) || size == 0) return false;
    radius += size * (double)n * 0x1p-51;
    s->lo += sum - radius;
    s->hi += sum + radius;
    s->magnitude += size;
    s->positive += size;
    s->negative += size;
    s->count += n;
    s->rounding_count += n;
    s->may_be_minus_zero = false;
    const int grain = a->grain > BOUND_NO_GRAIN && b->grain > BOUND_NO_GRAIN ? a->grain + b->grain : BOUND_NO_GRAIN;
    if (grain < s->grain) s->grain = grain;
    return true;
}

static bound one_product(const bound_matrices *p, const vector *a, const vector *b, const bound *first)
{
    bound_sum s = bound_sum_start();
    const bool is_float = element_is_float(p->inside);
    const bool is_exact = a->is_exact && b->is_exact && (first == NULL || first->is_exact);
    if (is_exact && !p->needs_numbers && (p->k == 0 || !is_float)) return (bound){.is_exact = true};
    if (first != NULL) bound_sum_add(&s, first);
    if (!add_fast(&s, a, b, p->k)) {
        for (int64_t i = 0; i < p->k; i++) bound_sum_add_product(&s, &a->at[i * a->step], &b->at[i * b->step]);
    }
    s.may_flush = p->is_bf16 && p->k > 0;
    return bound_sum_end(p->type, p->inside, &s);
}

bool bound_products(interp *in, const bound_matrices *p)
{
    const size_t k = (size_t)p->k, columns = (size_t)p->n;
    storage *memory = storage_make(in->pool, (2 * k * (columns + 1)) * sizeof(double));
    storage *vectors = storage_make(in->pool, (columns + 1) * sizeof(vector));
    if (memory == NULL || vectors == NULL) return false;
    void *const numbers = memory->data, *const list = vectors->data;
    double *const at = numbers;
    vector *const columns_of_b = list;
    for (size_t j = 0; j < columns; j++)
        columns_of_b[j] = read_vector(p->b + (int64_t)j * p->b_strides[1], p->b_strides[0], p->k, at + 2 * k * (j + 1));
    for (int64_t i = 0; i < p->m; i++) {
        const vector row = read_vector(p->a + i * p->a_strides[0], p->a_strides[1], p->k, at);
        for (int64_t j = 0; j < p->n; j++) {
            const bound *first = p->first != NULL ? &p->first[i * p->n + j] : NULL;
            p->out[i * p->out_strides[0] + j * p->out_strides[1]] = one_product(p, &row, &columns_of_b[j], first);
        }
    }
    storage_release(in->pool, memory);
    storage_release(in->pool, vectors);
    return true;
}
