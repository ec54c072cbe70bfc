/* Functions of one nest each, which calls of them take the place of tensor ops. */
#ifndef NEST_FUNCTION_H
#define NEST_FUNCTION_H

#include <pto/plugin.h>

/* Calls `lower` for each op of the unit that `matches`; those that it makes are not looked at. Ends when time is up. */
pto_status nest_lower_each(pto_op unit, int (*matches)(pto_op op), pto_status (*lower)(pto_op op));

/* Blocks are no larger than what there is: `n`, or the extent where it is a smaller number. */
int64_t nest_block(int64_t n, pto_expr extent);

/* "f_weights" for an op of @f and the suffix "_weights", with a number where something has that name. */
pto_str nest_free_name(pto_op op, const char *suffix);

/* An extent as a parameter of the function has it: the number that it is, or a symbol of that name. */
pto_expr nest_symbol_or_number(const pto_run *run, pto_expr extent, const char *symbol);

/* A private function after that of the op, of `count` parameters yet to be added: all are inputs but the last one, the
 * output. `func`: the kind "func" of the pass's list. None after a diagnostic. */
pto_op nest_function(pto_op op, pto_kind_id func, pto_str name, uint32_t count);

#endif
