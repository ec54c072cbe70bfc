/* What the files of pto.expand-math share. */
#ifndef EXPAND_MATH_H
#define EXPAND_MATH_H

#include <pto/plugin.h>

#define KINDS(X)                         \
    X(RELU, "tensor.relu")               \
    X(REDUCE_MEAN, "tensor.reduce_mean") \
    X(MAXIMUM, "tensor.maximum")         \
    X(MINIMUM, "tensor.minimum")         \
    X(REDUCE_MAX, "tensor.reduce_max")   \
    X(REDUCE_MIN, "tensor.reduce_min")   \
    X(REDUCE_SUM, "tensor.reduce_sum")   \
    X(REDUCE_PROD, "tensor.reduce_prod") \
    X(ANY, "tensor.any")                 \
    X(ALL, "tensor.all")                 \
    X(TILE_RELU, "tile.relu")            \
    X(GT, "tensor.gt")                   \
    X(ABS, "tensor.abs")                 \
    X(ADD, "tensor.add")                 \
    X(SUB, "tensor.sub")                 \
    X(MUL, "tensor.mul")                 \
    X(DIV, "tensor.div")                 \
    X(CAST, "tensor.cast")               \
    X(RESHAPE, "tensor.reshape")         \
    X(TRANSPOSE, "tensor.transpose")     \
    X(BROADCAST, "tensor.broadcast")     \
    X(PAD, "tensor.pad")                 \
    X(VIEW, "tensor.view")               \
    X(CONSTANT, "tensor.constant")       \
    X(INDEX_CAST, "tensor.index_cast")
PTO_KINDS(KINDS);

#define OPTIONS(X)                                                                                                    \
    X(NAN, ENUM, "nan", .def = "strict", .choices = nan_choices,                                                      \
      .doc = "strict: NaN as the program says; any: maxima and minima may be a number where one operand is NaN",      \
      .example = "with: { nan: any }")                                                                                \
    X(ROW_SUMS, ENUM, "row-sums", .def = "ascending", .choices = row_sum_choices,                                     \
      .doc =                                                                                                          \
          "in which order instructions add up a row: ascending, or any; then sums whose order is stated take others", \
      .example = "with: { row-sums: any }")                                                                           \
    X(FUNCTIONS, ENUM, "functions", .def = "calls", .choices = function_choices,                                      \
      .doc = "calls: functions that the machine calls stay one op; steps: they become others, as on a chip",          \
      .example = "with: { functions: steps }")
static const char *const nan_choices[] = {"strict", "any", NULL};
static const char *const row_sum_choices[] = {"ascending", "any", NULL};
static const char *const function_choices[] = {"calls", "steps", NULL};
PTO_OPTIONS(OPTIONS);

/* ordered_sums.c: sums and products of floats whose order is stated. */

/* Whether instructions do not add in that order by themselves. */
int ordered_sum_expands(pto_op op);
/* Makes the ops before `op` and returns the value for its result; none when an op could not be made, which is
 * reported. */
pto_value ordered_sum_expand(pto_op op);

#endif
