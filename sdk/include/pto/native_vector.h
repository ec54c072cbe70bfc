/* Vectors for emitted C, with the GNU vector extensions of gcc 12 and clang 19: no other header but <stdint.h>.
 *
 * PTO_VECTOR_BYTES (16, 32, 64) follows from the ISA that the compiler is told of, unless it is set before. A vector
 * has PTO_LANES lanes of 32 bits: pto_f32, pto_i32, pto_u32; pto_mask is one truth value a lane. Narrow elements are
 * widened when they are loaded; of 64 bits there are no vectors. `+ - * / & | ^ ~` act lane by lane; integers that may
 * overflow are pto_u32 or use pto_add_i32 and its like.
 *
 * Every function is branch-free unless it says so, and takes all numbers: subnormals, infinities, NaN. A result depends
 * on its own lane alone: its bits are the same in each lane, tail, width and ISA; reductions say where theirs are not.
 * Of functions of f32 the largest error is said in ulp of the result. `pto_exp_f32_1` and its like take one number: by
 * the same steps. Compile with -ffp-contract=off: what is to be fused is pto_fma_f32; and with -fno-strict-aliasing:
 * memory that was written as one type is moved as another of its width, and scratch memory is used again. */
#ifndef PTO_NATIVE_VECTOR_H
#define PTO_NATIVE_VECTOR_H

#include <pto/native_vector_angle.h>     // IWYU pragma: export
#include <pto/native_vector_base.h>      // IWYU pragma: export
#include <pto/native_vector_exp.h>       // IWYU pragma: export
#include <pto/native_vector_log.h>       // IWYU pragma: export
#include <pto/native_vector_memory.h>    // IWYU pragma: export
#include <pto/native_vector_pow.h>       // IWYU pragma: export
#include <pto/native_vector_row.h>       // IWYU pragma: export
#include <pto/native_vector_transpose.h> // IWYU pragma: export

#endif
