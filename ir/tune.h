/* Symbols that get a value: those of a `tune`, and any that an expression takes the place of.
 *
 * Symbols that the compiler fixes: `tune $KB in [64, 512] step 64` lets $KB be 64, 128, .. 512 in the ops after it.
 *
 * It is fixed by a tiling pass, or by the caller that runs the function. Nothing that runs has one left. */
#ifndef IR_TUNE_H
#define IR_TUNE_H

#include "ir/module.h"

typedef struct tune_range {
    int64_t lo, hi, step; /* hi: the largest value that a number of steps reaches */
} tune_range;

/* Of a malformed one, which the verifier refuses: everything from 1 on. */
tune_range tune_range_of(const module *m, op_id tune);
/* The `tune` of a symbol in a function or, with an empty name, its first one; 0 when there is none. */
op_id tune_find(const module *m, op_id function, str name);
/* Fixes the symbol: every expression and type of the function gets the number and the op is erased. Fails with E0415
 * when the range does not hold the value, with E0401 when an expression overflows for it; the module may then be
 * changed in part. */
MUST_CHECK status tune_fix(module *m, op_id tune, int64_t value);
/* Puts expressions in place of symbols in `root` and all that is inside: in attributes and types. A `bind` or `tune`
 * there whose symbol becomes another one declares that. Fails with E0401 when an expression overflows; the module may
 * then be changed in part. */
MUST_CHECK status symbols_replace(module *m, op_id root, uint32_t count, const str_id *names, const expr_id *by);
/* An extent over the symbol of a `tune` alone is 0 or more, and fits, for all its values. `o` has the type. */
MUST_CHECK status tune_check_extent(const module *m, op_id o, type_id type, expr_id extent, op_id tune);

#endif
