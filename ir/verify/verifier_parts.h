/* What the files of the verifier and the shape rules share. */
#ifndef IR_VERIFY_VERIFIER_PARTS_H
#define IR_VERIFY_VERIFIER_PARTS_H

#include "ir/op_message.h"

/* The length of an index list attribute must be `want`. Absent lists count as 0. */
MUST_CHECK status check_index_count(const module *m, op_id o, const char *attr, uint32_t want);
/* Valid rows and columns against the capacity of a tile type: a provable violation is an error. `o` is where the
 * expressions are; 0 expressions pass. */
MUST_CHECK status check_valid_fits(module *m, op_id o, type_id tile, expr_id rows, expr_id columns);
/* The stated expressions (two, value leaves) are the valid region `have`. */
bool valid_same(module *m, op_id o, const expr_id a[2], const expr_id b[2]);
/* Fails unless the two types agree except for how their extents are written. */
bool types_agree(module *m, op_id at, type_id a, type_id b);

/* The node of the type of a live value. */
static inline const type_node *type_of_value(const module *m, value_id v)
{
    return type_at(module_context(m), value_type(m, v));
}

/* The value operands of an op with blocks against the arguments of its blocks; verify_blocks.c. */
MUST_CHECK status verify_blocks(module *m, op_id o);
/* An instruction or the value form of one; verify_insn.c. */
MUST_CHECK status verify_insn(module *m, op_id o);
/* The windows of loads and stores; verify_window.c. */
MUST_CHECK status verify_window(module *m, op_id o, const type_node *memory, bool transpose, const expr_id extent[2]);
/* The window [offset, offset + extent) of one dim: fails when it is provably outside of [0, dim) and not empty. */
MUST_CHECK status verify_window_dim(module *m, op_id o, uint32_t index, expr_id offset, expr_id extent, expr_id dim);
/* A load or store against what its kernel states to read and write; verify_regions.c. */
MUST_CHECK status verify_access(module *m, op_id o, value_id memory, bool is_write, bool transpose,
                                const expr_id extent[2]);
/* Event tokens of a function or kernel; verify_flags.c. */
MUST_CHECK status verify_tokens(module *m, op_id function);
/* Whether the op is a `for` whose iterations are stated to be independent. */
bool op_is_parallel(const module *m, op_id o);
/* That they are, of all such loops of a function whose other ops are right; verify_parallel.c. */
MUST_CHECK status verify_parallel(module *m, op_id function);

#endif
