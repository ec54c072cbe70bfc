/* One builder for each op, from the rows that define the ops:
 *
 *     pto_spec s = pto_spec_TENSOR_EXP(run);
 *     pto_spec_operand(&s, x);
 *     pto_spec_result(&s, type);
 *     pto_value y = pto_spec_value(&s, pto_before(op));
 *
 * A name that no row has does not compile. `PTO_TADD` is the instruction pto.tadd and `TILE_ADD` its value form. A pass
 * that makes many ops lists them in its `kinds`, which are looked up once. */
#ifndef PTO_OPS_H
#define PTO_OPS_H

#include <pto/build.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PTO_SPEC_OF(ID, name)                                            \
    static inline pto_spec pto_spec_##ID(const pto_run *run)             \
    {                                                                    \
        return pto_spec_make(run, pto_kind_by_name(run, PTO_STR(name))); \
    }

#define OP(ID, mnemonic, ...) PTO_SPEC_OF(ID, mnemonic)
#include <pto/ops/block.def>
#include <pto/ops/core.def>
#include <pto/ops/exec.def>
#include <pto/ops/tensor.def>
#include <pto/ops/tile.def>
#undef OP

#define INSN(ID, mnemonic, TILE_ID, tile_mnemonic, ...) \
    PTO_SPEC_OF(PTO_##ID, "pto." mnemonic)              \
    PTO_SPEC_OF(TILE_##TILE_ID, "tile." tile_mnemonic)
#define INSN_ONLY(ID, mnemonic, ...) PTO_SPEC_OF(PTO_##ID, "pto." mnemonic)
#include <pto/ops/pto.def>
#undef INSN
#undef INSN_ONLY
#undef PTO_SPEC_OF

#ifdef __cplusplus
}
#endif

#endif
