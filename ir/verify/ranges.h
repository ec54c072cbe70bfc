/* Intervals of index expressions from what the text says: facts of the function, ranges of `bind` and `tune`, loop
 * bounds, grid extents. Symbols are at least 0. Sound: the value is in the interval whenever control gets to the op. */
#ifndef IR_VERIFY_RANGES_H
#define IR_VERIFY_RANGES_H

#include "ir/module.h"
#include "ir/relations.h"

/* Interval of `e` where `at` is. Slots are operands of `at`; symbols and value leaves are welcome. INT64_MIN and
 * INT64_MAX mean "no bound". Costs at most a few hundred evaluations whatever the nest looks like: bounds of loops
 * more than 16 levels out count as unknown. */
expr_range op_expr_range(module *m, op_id at, expr_id e);

/* True when `e` takes both ends of its range each time the loops around `at` run: it is linear in indices of loops and
 * grids with constant bounds, and nothing between them and `at` is conditional. */
bool op_expr_reaches_ends(module *m, op_id at, expr_id e);

/* True when a loop or grid around `at` has no iteration, by constants. */
bool op_is_never_reached(module *m, op_id at);

/* True when both are the same number for all values that the facts allow. */
bool op_expr_same(module *m, op_id at, expr_id a, expr_id b);

/* The trips of a `for` when its bounds are constants; false otherwise or when the step is not positive. */
bool loop_constant_bounds(module *m, op_id loop, int64_t *from, int64_t *to, int64_t *step);

/* One entry of the attribute `facts`: [relation, left, right]. False when it is malformed. */
bool fact_read(const ir_context *c, attr_id fact, relation *out_relation, expr_id *out_left, expr_id *out_right);

/* Item of a list that is an expression or an integer; 0 when it is neither. */
expr_id attr_as_expr(ir_context *c, attr_id a);
/* Whether an extent of a parameter mentions the symbol. */
bool is_parameter_symbol(const module *m, op_id function, str_id name);
/* Reads an item of the attribute `known` of a function: a symbol that the text no longer has, and what it is. */
bool known_read(ir_context *c, attr_id item, str *out_name, expr_id *out_value);

#endif
