/* Floats below the least normal one, which a chip may take, and make, as zeros. */
#include "denormals.h"

#include <pto/build.h>
#include <math.h>
#include <string.h>

/* 0: no float that has such numbers. */
static double least_normal(pto_dtype t)
{
    return t == PTO_F16 ? 0x1p-14 : t == PTO_F32 || t == PTO_BF16 ? 0x1p-126 : 0;
}

/* Instructions that compute; others move bits. */
static bool computes(int64_t rule)
{
    switch (rule) {
    case PTO_RULE_UNARY:
    case PTO_RULE_ROOT:
    case PTO_RULE_BINARY:
    case PTO_RULE_SCALAR:
    case PTO_RULE_CONVERT:
    case PTO_RULE_ROW_REDUCE:
    case PTO_RULE_COL_REDUCE:
    case PTO_RULE_ROW_BINARY:
    case PTO_RULE_COL_BINARY:
    case PTO_RULE_REMAINDER:
    case PTO_RULE_REMAINDER_SCALAR:
    case PTO_RULE_COMPARE:
    case PTO_RULE_COMPARE_SCALAR:
    case PTO_RULE_AXPY:
    case PTO_RULE_SLOPES:
    case PTO_RULE_QUANTIZE:
    case PTO_RULE_QUANTIZE_FROM:
    case PTO_RULE_DEQUANTIZE: return true;
    default: return false;
    }
}

bool denormals_are_zeros(const pto_run *run, const program_site *site)
{
    return site->unit == PTO_UNIT_VECTOR && pto_machine_i64_or(run, 0, "vector.denormals-are-zeros") != 0 &&
           computes(pto_kind_column(run, pto_op_kind(site->op), PTO_COLUMN_RULE));
}

void denormals_clear(const tile_ref *t)
{
    const double least = least_normal(t->dtype);
    for (int64_t r = 0; least != 0 && r < t->valid_rows; r++) {
        for (int64_t c = 0; c < t->valid_cols; c++) {
            float x;
            tile_read_f32(t, r, c, 1, &x);
            if (x == 0 || !(fabs((double)x) < least)) continue;
            x = copysignf(0, x);
            tile_write_f32(t, r, c, 1, &x);
        }
    }
}

static bool has_any(const tile_ref *t)
{
    const double least = least_normal(t->dtype);
    for (int64_t r = 0; least != 0 && r < t->valid_rows; r++) {
        for (int64_t c = 0; c < t->valid_cols; c++) {
            float x;
            tile_read_f32(t, r, c, 1, &x);
            if (x != 0 && fabs((double)x) < least) return true;
        }
    }
    return false;
}

void denormals_clear_sources(const pto_run *run, insn_call *call)
{
    for (uint32_t i = 0; i < sizeof call->src / sizeof call->src[0]; i++) {
        tile_ref *t = &call->src[i];
        if (!has_any(t)) continue;
        const size_t bytes = tile_capacity_bytes(t);
        void *copy = pto_scratch(run, bytes);
        memcpy(copy, t->base, bytes);
        t->base = copy;
        t->bytes = bytes;
        denormals_clear(t);
    }
    const double least = least_normal(call->dst.dtype);
    if (!call->scalar.is_int && call->scalar.f != 0 && fabs(call->scalar.f) < least)
        call->scalar.f = copysign(0, call->scalar.f);
}
