/* Arithmetic of the instruction set on short arrays: f32 (also for f16 and bf16, rounded when stored) and 64-bit
 * integers. */
#ifndef PTO_SEMANTICS_LANES_H
#define PTO_SEMANTICS_LANES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum lane_op { LANE_ADD, LANE_SUB, LANE_MUL, LANE_DIV, LANE_MAX, LANE_MIN } lane_op;

/* out[i] = a[i] op b[i]; out may be a or b. Numerics: insn_semantics.h. */
void lanes_f32(lane_op op, size_t n, const float *a, const float *b, float *out);
/* Results wrap to 64 bits; the caller cuts to the element type. Returns the number of divisions by zero. */
uint64_t lanes_i64(lane_op op, bool is_unsigned, size_t n, const int64_t *a, const int64_t *b, int64_t *out);

#endif
