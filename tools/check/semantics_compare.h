/* Comparing what a module computed before and after a step, element by element. */
#ifndef TOOLS_CHECK_SEMANTICS_COMPARE_H
#define TOOLS_CHECK_SEMANTICS_COMPARE_H

#include "tools/run/call_binding.h"

/* Which values each element of one output may have: tensors of its type, from runs of pto.reference with the option
 * `bound`. Numbers from `least` to `most`, -0 below +0; a NaN in `least`: no number. NaN where `nan` is not 0. */
typedef struct semantics_bounds {
    const bound_tensor *least, *most, *nan;
} semantics_bounds;

typedef struct semantics_difference {
    uint64_t count; /* elements beyond their bounds */
    uint64_t at;    /* linear index of the one that is furthest beyond them */
    uint64_t open;  /* elements that changed where every number is allowed */
    double error, limit;
    double worst_ratio; /* largest error / limit of all elements that are within it */
    bool is_same;       /* every bit, but that every NaN is the same */
} semantics_difference;

/* `bounds` NULL: every bit counts. Both tensors have the same type and dims. */
semantics_difference semantics_compare(const bound_tensor *before, const bound_tensor *after,
                                       const semantics_bounds *bounds);
/* Whether NaN is allowed there. */
bool semantics_allows_nan(const semantics_bounds *b, uint64_t index);
/* One element as text that tells any two values apart. */
void semantics_put_element(const bound_tensor *t, uint64_t index, text_buffer *out);

#endif
