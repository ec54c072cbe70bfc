/* Comparing a result with a reference by rules that follow from the element type, never by a number chosen to pass. */
#ifndef TOOLS_RUN_TENSOR_COMPARE_H
#define TOOLS_RUN_TENSOR_COMPARE_H

#include "tools/run/tensor_file.h"

#include <stdbool.h>
#include <stdint.h>

typedef enum compare_rule {
    COMPARE_NONE,
    COMPARE_TOLERANCE,       /* |got - want| <= atol + rtol * |want| */
    COMPARE_F32_ELEMENTWISE, /* rtol 2.4e-7 for each op of the chain (`terms`), atol 1e-37 */
    COMPARE_F32_REDUCE,      /* |got - want| <= 8 * 2^-24 * sqrt(terms) * magnitude */
    COMPARE_BF16_OUT,        /* rtol 2^-7, atol 1e-4 */
    COMPARE_F16_OUT,         /* rtol 2^-10, atol 1e-4 */
    COMPARE_INT8_QUANTISED   /* off by one in at most 0.1 % of the points */
} compare_rule;

/* Names as in case files, in the order of the enum from COMPARE_TOLERANCE on; ends in NULL. */
extern const char *const compare_rule_names[];
compare_rule compare_rule_by_name(str name);
const char *compare_rule_name(compare_rule rule);

typedef struct comparison {
    compare_rule rule;
    double rtol, atol; /* COMPARE_TOLERANCE */
    double terms;
    const tensor_array *want;
    const tensor_array *magnitude; /* COMPARE_F32_REDUCE; same shape as want */
} comparison;

typedef struct comparison_result {
    bool is_equal; /* the verdict */
    double max_abs, max_rel;
    uint64_t element_count, bad_count;
    uint64_t worst; /* linear index of the element that exceeds its bound most */
    double worst_got, worst_want, worst_bound;
} comparison_result;

/* `got`: contiguous elements of `type`, as many as want has. A NaN or infinity that the reference lacks is bad under
 * every rule; one that it has must be matched. */
comparison_result compare_tensors(const comparison *c, dtype type, const void *got);

/* Element `index` of an array as a double; exact except for 64-bit integers beyond 2^53. */
double tensor_element(const tensor_array *a, uint64_t index);

#endif
