/* What instructions and their value forms do with their operands, by the row of their rule in <pto/ops/rules.def>. All
 * return 0 for other ops and for operands that the row does not have. */
#ifndef PTO_OPERANDS_H
#define PTO_OPERANDS_H

#include <pto/call.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Whether operand `i` is in the set that a column holds, such as PTO_COLUMN_WRITTEN. */
static inline int pto_kind_has_operand(const pto_run *run, pto_kind_id kind, uint32_t column, uint32_t i)
{
    return i < 32 && (pto_kind_column(run, kind, column) >> i & 1) != 0;
}
/* The target may have the bytes of this source: each element is read before it is written. */
static inline int pto_kind_is_in_place(const pto_run *run, pto_kind_id kind, uint32_t i)
{
    return pto_kind_has_operand(run, kind, PTO_COLUMN_IN_PLACE, i);
}
static inline int pto_op_has_operand(pto_op op, uint32_t column, uint32_t i)
{
    return op.run != NULL && PTO_SOME(op) && pto_kind_has_operand(op.run, pto_op_kind(op), column, i);
}
/* The instruction writes the tile or memory there, its scratch included. */
static inline int pto_op_writes(pto_op op, uint32_t i) { return pto_op_has_operand(op, PTO_COLUMN_WRITTEN, i); }
/* A tile that the instruction needs while it runs; what it holds before and after has no meaning. */
static inline int pto_op_is_scratch(pto_op op, uint32_t i) { return pto_op_has_operand(op, PTO_COLUMN_SCRATCH, i); }
/* The target starts with the values of this source, in its bytes: the chain of an accumulator. */
static inline int pto_op_continues(pto_op op, uint32_t i) { return pto_op_has_operand(op, PTO_COLUMN_CONTINUED, i); }

/* What an op, which may be none, moves: PTO_TRANSFER_* of <pto/insn.h>. */
static inline uint32_t pto_op_transfer(pto_op op)
{
    if (op.run == NULL || !PTO_SOME(op)) return 0;
    return (uint32_t)pto_kind_column(op.run, pto_op_kind(op), PTO_COLUMN_TRANSFER);
}

#ifdef __cplusplus
}
#endif

#endif
