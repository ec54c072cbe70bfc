/* Arithmetic of the instruction set on short arrays: f32 (also for f16 and bf16, rounded when stored) and 64-bit
 * integers. */
#ifndef PTO_SEMANTICS_LANES_H
#define PTO_SEMANTICS_LANES_H

#include <pto/relation.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum lane_op {
    LANE_ADD,
    LANE_SUB,
    LANE_MUL,
    LANE_DIV,
    LANE_MAX,
    LANE_MIN,
    LANE_REM,  /* with the sign of b */
    LANE_FMOD, /* with the sign of a */
    LANE_POW,  /* of floats */
    LANE_LRELU /* of floats: a where it is above 0, else a * b */
} lane_op;

/* out[i] = a[i] op b[i]; out may be a or b. Numerics: insn_semantics.h. */
void lanes_f32(lane_op op, size_t n, const float *a, const float *b, float *out);
/* a - b floor(a / b), as numpy has it: with the sign of b, and exact but where |a| is much smaller than |b|. */
double lanes_rem(double a, double b);
/* Results wrap to 64 bits; the caller cuts to the element type. Returns the number of divisions by zero. */
uint64_t lanes_i64(lane_op op, bool is_unsigned, size_t n, const int64_t *a, const int64_t *b, int64_t *out);
/* a shifted by b bits in a type of that width; by as much or more, or by less than 0, nothing is left but the sign. */
int64_t lanes_shift(int64_t a, int64_t b, int width, bool is_unsigned, bool left);
/* out[i] = 1 where a[i] r b[i], else 0. With a NaN `ne` holds and no other. */
void lanes_compare_f64(pto_relation r, size_t n, const double *a, const double *b, uint8_t *out);
void lanes_compare_i64(pto_relation r, bool is_unsigned, size_t n, const int64_t *a, const int64_t *b, uint8_t *out);

#endif
