/* Element types as the machine description lists them. Without a machine every list is empty. */
#ifndef MACHINE_TYPES_H
#define MACHINE_TYPES_H

#include <pto/plugin.h>

/* Whether a comma-separated list of the machine has the item. */
int machine_lists(pto_str list, const char *item);
/* The tile op whose instruction has the element types that a tensor op can be computed in; 0: it becomes several ops.
 */
pto_kind_id machine_tile_kind(const pto_run *run, pto_kind_id tensor_kind);
/* Element types that the vector instruction of a tile op takes: those of its cost class, else those of the vector unit.
 */
pto_str machine_dtypes(const pto_run *run, pto_kind_id kind);
/* Whether it takes the type; of a conversion: whether it rounds numbers of the type to whole ones. */
int machine_takes(const pto_run *run, pto_kind_id kind, pto_dtype t);
/* Whether it has the type in a list of its own class. */
int machine_states(const pto_run *run, pto_kind_id kind, pto_dtype t);
/* Whether the instruction is of those that no chip has, and the machine lists no types for it. */
int machine_lacks(const pto_run *run, pto_kind_id kind);
/* Whether a tensor op is one of functions.def, which machines may call; and whether the machine does, for a type. */
int machine_is_function(const pto_run *run, pto_kind_id tensor_kind);
int machine_calls(const pto_run *run, pto_kind_id tensor_kind, pto_dtype t);
/* Element types that the machine converts `from` to with one instruction. */
pto_str machine_conversions(const pto_run *run, pto_dtype from);
int machine_converts(const pto_run *run, pto_dtype from, pto_dtype to);
/* Whether stores of accumulators multiply `from` by a number and make `to` of it. */
int machine_scales(const pto_run *run, pto_dtype from, pto_dtype to);
/* The same with a factor for each column. */
int machine_scales_columns(const pto_run *run, pto_dtype from, pto_dtype to);
/* Whether all elements of a scale are one finite number that is known; rounded to f32. */
int machine_scale_number(pto_value scale, double *number);
/* Whether a store with a factor for each column takes the scale as it is: factors have 11 bits, as f16 and bf16 have at
 * most. */
int machine_scale_is_short(pto_value scale);

/* Whether sums of products go to vector work and its results back to products, all on one kind of core. */
int machine_has_common_core(const pto_run *run);

/* What follows the sums of a `tensor.matmul` on their way out. */
typedef struct machine_epilogue {
    pto_value bias, scale; /* may be none; a scale is one known number, or a number for each column or for all */
    pto_dtype to;          /* element type of what is stored */
    int relu;
} machine_epilogue;
/* That of the op's own operands and attributes. */
machine_epilogue machine_epilogue_of(pto_op product);
/* Why it cannot be in the kernel of the product; NULL: it can. */
const char *machine_epilogue_obstacle(pto_op product, const machine_epilogue *epilogue);

#endif
