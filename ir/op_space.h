/* Iteration spaces of structured tensor ops: which dims an op walks and how operands and result lie in them. */
#ifndef IR_OP_SPACE_H
#define IR_OP_SPACE_H

#include "ir/module.h"

enum { ITERATION_MAX_DIMS = IR_MAX_DIMS, ITERATION_MAX_OPERANDS = IR_MAX_SPACE_OPERANDS };
typedef enum iteration_kind {
    ITERATION_NONE,
#define ITERATION_KIND(ID) ITERATION_##ID,
#include "ir/ops/kinds.def"
} iteration_kind;

/* Dims are those of the result in order, then those that are reduced away; a reduction has them in the order of its
 * operand. A map entry is the dim of the space that a dim of the operand (or result) walks, or -1: extent 1, so the
 * element is the same all along. Index i of that dim is index offset + step * i of the operand; one that it does not
 * have means that the element of the result is not from this operand. */
typedef struct iteration {
    uint32_t dim_count, operand_count, operand_rank[ITERATION_MAX_OPERANDS], result_rank;
    expr_id extent[ITERATION_MAX_DIMS];
    uint8_t kind[ITERATION_MAX_DIMS]; /* iteration_kind */
    int8_t operand_dim[ITERATION_MAX_OPERANDS][ITERATION_MAX_DIMS];
    int8_t result_dim[ITERATION_MAX_DIMS];
    expr_id operand_offset[ITERATION_MAX_OPERANDS][ITERATION_MAX_DIMS]; /* with value leaves; 0: none, it is 0 */
    int64_t operand_step[ITERATION_MAX_OPERANDS][ITERATION_MAX_DIMS];   /* 0: it is 1 */
} iteration;

/* FAILED when the op has no iteration space: not structured, a reshape that merges or splits dims, or a space of more
 * than 8 dims. Nothing is reported. The op has passed the verifier. */
MUST_CHECK status op_iteration(module *m, op_id o, iteration *out);

#endif
