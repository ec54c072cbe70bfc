/* The one evaluator of index expressions in plugins: they are compiled to postfix code over slots of 64-bit integers.
 *
 * Division rounds towards minus infinity and has a divisor of at least 1, as in the IR. */
#ifndef CONTROL_INDEX_CODE_H
#define CONTROL_INDEX_CODE_H

#include <pto/abi.h>

#include <stdbool.h>
#include <stdint.h>

/* Place of a compiled expression in its pool. */
typedef struct index_expr {
    uint32_t first, count; /* codes; count 0: the constant */
    int64_t constant;
} index_expr;

typedef struct index_code {
    uint32_t what; /* enum in index_code.c */
    uint32_t slot;
    int64_t number;
} index_code;

/* Codes of many expressions. Grows in scratch memory of the run. */
typedef struct index_pool {
    const pto_run *run;
    index_code *codes;
    uint32_t count, capacity;
} index_pool;

/* Where leaves live. Both return the slot, or UINT32_MAX when there is none. */
typedef struct index_leaves {
    void *self;
    uint32_t (*symbol)(void *self, pto_str name);
    uint32_t (*value)(void *self, pto_value value);
} index_leaves;

typedef enum index_result { INDEX_OK, INDEX_OVERFLOW, INDEX_DIVISOR } index_result;

/* Whether the code reads a slot. */
bool index_code_reads(const index_code *c);
/* False: a leaf without slot, or nested too deep. */
bool index_compile(index_pool *pool, const index_leaves *leaves, pto_expr e, index_expr *out);
/* Out is untouched unless INDEX_OK. */
index_result index_eval(const index_code *codes, const index_expr *e, const int64_t *slots, int64_t *out);

#endif
