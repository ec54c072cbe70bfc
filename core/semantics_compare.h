/* Comparing what a module computed before and after a step, element by element. */
#ifndef CORE_SEMANTICS_COMPARE_H
#define CORE_SEMANTICS_COMPARE_H

#include "core/call_binding.h"

typedef struct semantics_difference {
    uint64_t count; /* elements beyond their limit */
    uint64_t at;    /* linear index of the one that is furthest beyond it */
    double error, limit;
    double worst_ratio; /* largest error / limit of all elements that are within it */
    bool is_same;       /* every bit, but that every NaN is the same */
} semantics_difference;

/* `spread` NULL: every bit counts. Otherwise one number for each element: see semantics_check.h. Both tensors have the
 * same type and dims. */
semantics_difference semantics_compare(const bound_tensor *before, const bound_tensor *after, const double *spread);
/* Adds what one perturbed run differs by to `sums`: squares, for integers the largest. */
void semantics_add_spread(const bound_tensor *before, const bound_tensor *perturbed, double *sums);
/* From sums over `runs` runs to the spread. */
void semantics_finish_spread(const bound_tensor *t, uint32_t runs, double *sums);
/* One element as text that tells any two values apart. */
void semantics_put_element(const bound_tensor *t, uint64_t index, text_buffer *out);

#endif
