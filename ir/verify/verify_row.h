/* One op against its row; the part of the verifier that needs nothing but the op. */
#ifndef IR_VERIFY_VERIFY_ROW_H
#define IR_VERIFY_VERIFY_ROW_H

#include "ir/module.h"

/* Operand and result counts, type classes and element types of value operands, integer index operands. */
MUST_CHECK status row_check_values(const module *m, op_id o, const op_info *info);
/* Attributes: required, known, of the right kind, out of the choices; slots of index lists. */
MUST_CHECK status row_check_attrs(const module *m, op_id o, const op_info *info);
/* Result types against the infer rule, then the op's own rule, then that of its instruction. */
MUST_CHECK status row_check_rules(module *m, op_id o, const op_info *info);
/* A type by itself: extents not below 0, at most 8 dims, element count within 63 bits. */
MUST_CHECK status row_check_type(const module *m, op_id o, type_id t);

#endif
