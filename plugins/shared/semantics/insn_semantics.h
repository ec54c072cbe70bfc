/* What each PTO instruction of <pto/ops/pto.def> computes.
 *
 * An instruction reads the valid regions of its sources and writes the valid region of its destination; only tload with
 * pad and tfillpad write beyond it. Sources are read before the destination is written: where they overlap in other
 * places, through `scratch`. Instructions without data (flags, barriers) are not here.
 *
 * Numerics, the same bits on every machine with the same libm: f32 is IEEE, nearest even; f16 and bf16 compute in f32
 * and round once; texp tlog tsqrt trsqrt trecip compute in double and round once; max and min ignore a NaN beside a
 * number, -0 < +0; trelu keeps NaN, and makes +0 of -0; tneg and tabs change the sign bit alone; a NaN result of
 * anything else is the canonical one. Integers wrap; integer division truncates, x / 0 is all ones and counts in
 * `faults`. trowsum adds columns ascending from +0 in f32 (integers wrap in their type), tcolsum rows ascending from
 * +0, each sum rounded to the element type. The maximum of no element is the lowest value of the type. tmatmul: k
 * ascending from +0, one fused multiply-add in f32 for each k; i8 in i32, wrapping. tcmp: with a NaN `ne` holds and no
 * other; tsel copies bits. */
#ifndef PTO_SEMANTICS_INSN_SEMANTICS_H
#define PTO_SEMANTICS_INSN_SEMANTICS_H

#include "semantics/tensor_ops.h"
#include "semantics/tile_ref.h"

#include <pto/relation.h>

typedef enum insn_id {
    INSN_NONE,
#define INSN(ID, ...) INSN_##ID,
#define INSN_ONLY(ID, ...)
#include <pto/ops/pto.def>
#undef INSN
#undef INSN_ONLY
    INSN_COUNT
} insn_id;

/* A row of <pto/ops/functions.def>. */
typedef struct insn_function {
    const char *word;
    tensor_op row;
    gelu_approx approx;
} insn_function;
/* NULL: no function of that name. */
const insn_function *insn_function_by_name(const char *p, size_t n);

/* CPU features that may be used, found once by insn_cpu(); results do not depend on them. */
enum { INSN_CPU_FMA = 1 };
uint32_t insn_cpu(void);

/* Operands in instruction order without gm window, scalar and tmp: tadd dst, src[0], src[1]; tmatmul dst, left, right;
 * tmatmul_acc dst, acc in, left, right; tstore has src[0] alone, tstore_fp the factors too.
 * Windows: gm.rows x gm.cols is the valid region without `pad`; tload with `pad` fills the rest of the capacity. */
typedef struct insn_call {
    uint32_t cpu; /* from insn_cpu(), or 0 */
    tile_ref dst, src[3];
    gm_window gm;
    number scalar, pad; /* converted to the element type, nearest even; of tgetval: the result */
    int64_t at[2];      /* row and column; tgetval, textract, tinsert, ttri */
    int64_t run;        /* records; tmrgsort */
    bool descending;    /* torder */
    bool upper;         /* ttri */
    bool has_pad, saturate, relu, has_scale;
    float scale; /* with has_scale: what a store multiplies by */
    round_mode mode;
    pto_relation relation;
    const insn_function *function; /* tfunction, tfunction2 */
    void *scratch;                 /* may be NULL when scratch_bytes is 0 */
    size_t scratch_bytes;
    size_t scratch_needed; /* out */
    uint64_t faults;       /* out, added to: integer divisions by zero */
    char text[256];        /* out: what is wrong, when PTO_FAILED; starts with the mnemonic */
} insn_call;

/* What tstore_fp makes of a factor: sign, exponent and 10 bits of the fraction. */
float store_factor(float stated);
const char *insn_name(insn_id id);                  /* "tadd"; "?" outside the table */
insn_id insn_by_name(const char *p, size_t n);      /* "tadd", with or without "pto."; INSN_NONE when unknown */
insn_id insn_by_tile_name(const char *p, size_t n); /* by the value form: "add", with or without "tile." */
/* Executes. PTO_FAILED: text says why; memory is unchanged. Too little scratch is one reason, and scratch_needed is
 * then not 0: the call may be repeated with so much. Scratch is needed when a source overlaps the destination in other
 * places. */
pto_status insn_run(insn_id id, insn_call *call);

#endif
