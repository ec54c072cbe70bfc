/* Inside of the instruction semantics: one function for each row, and the checks that families of rows share. */
#ifndef PTO_SEMANTICS_INSN_FAMILY_H
#define PTO_SEMANTICS_INSN_FAMILY_H

#include "semantics/insn_semantics.h"

typedef pto_status (*insn_fn)(insn_call *call);
#define INSN(ID, ...) pto_status insn_##ID(insn_call *call);
#define INSN_ONLY(ID, ...)
#include <pto/ops/pto.def>
#undef INSN
#undef INSN_ONLY

/* Elements handled at a time. */
enum { LANES = 256 };

/* First step of every row with a destination tile: checks the descriptors of dst and of the first source_count sources,
 * and moves sources that overlap dst to scratch. Bit i of in_place: source i may have the very places of dst, since the
 * function reads each element before it writes that place. */
pto_status insn_begin(insn_call *call, int source_count, unsigned in_place);
/* Writes text (without mnemonic) and fails. */
__attribute__((format(printf, 2, 3))) pto_status insn_fail(insn_call *call, const char *format, ...);
/* The valid region of source `i` is rows x cols; its element type is that of the destination. */
pto_status insn_check_valid(insn_call *call, int i, int64_t rows, int64_t cols);
pto_status insn_check_dtype(insn_call *call, int i);
/* Float (f32 f16 bf16) or integer. */
pto_status insn_check_number(insn_call *call, pto_dtype t);

/* `part`, put where `at` says, is inside of the valid region of `whole`. */
pto_status insn_check_inside(insn_call *call, const tile_ref *part, const tile_ref *whole);
/* The valid region of `from`. */
void insn_copy_tile(const tile_ref *to, const tile_ref *from);

/* Whether sums may leave as elements of type `to`, each column times its factor, and the factors are those of such. */
pto_status insn_check_factors(insn_call *call, const tile_ref *sums, const tile_ref *factors, pto_dtype to);
/* n sums from row r and column c on, in f32: a relu, a scale, factors of columns, whichever there are. */
void insn_scale(const insn_call *call, const tile_ref *sums, int64_t r, int64_t c, size_t n, const tile_ref *factors,
                float *out);

#define INSN_TRY(x)                           \
    do {                                      \
        if ((x) != PTO_OK) return PTO_FAILED; \
    } while (0)

#endif
