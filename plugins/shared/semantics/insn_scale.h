/* Inside of the instruction semantics: how an accumulator leaves with factors, which stores and moves share. */
#ifndef PTO_SEMANTICS_INSN_SCALE_H
#define PTO_SEMANTICS_INSN_SCALE_H

#include "semantics/insn_family.h"

/* Whether sums may leave as elements of type `to`, each column times its factor, and the factors are those of such. */
pto_status insn_check_factors(insn_call *call, const tile_ref *sums, const tile_ref *factors, pto_dtype to);
/* n sums from row r and column c on, in f32: a relu, a scale, factors of columns, whichever there are. */
void insn_scale(const insn_call *call, const tile_ref *sums, int64_t r, int64_t c, size_t n, const tile_ref *factors,
                float *out);

#endif
