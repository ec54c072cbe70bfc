/* Binary floating-point formats narrower than double: exact decoding, and encoding with every rounding mode.
 *
 * f32, f16, bf16 and f8e5m2 follow IEEE 754. f8e4m3 has no infinity: 0x7f and 0xff are NaN and 448 is its largest
 * value. f8e8m0 is a bare power of two, 2^(bits - 127), with 0xff as NaN: it has neither sign nor zero.
 * All functions: [any] thread, no failure; BUG when the dtype is not a float. */
#ifndef IR_CONTEXT_FLOAT_FORMAT_H
#define IR_CONTEXT_FLOAT_FORMAT_H

#include "ir/context/context.h"

typedef enum round_mode {
    ROUND_RINT,  /* nearest, ties to even */
    ROUND_ROUND, /* nearest, ties away from zero */
    ROUND_FLOOR, /* toward minus infinity */
    ROUND_CEIL,  /* toward plus infinity */
    ROUND_TRUNC, /* toward zero */
    ROUND_ODD    /* exact, or the neighbour with an odd last bit */
} round_mode;

/* The mode of an attribute's spelling (`rint`, `round`, ...; `none` is rint). False when unknown. */
bool round_mode_by_name(str s, round_mode *out);

/* The value of a pattern, exact; NaNs become a quiet NaN. Bits above the width are ignored. */
double float_decode(dtype d, uint32_t bits);

/* The pattern of a value after one rounding. Overflow becomes infinity or the largest finite value as IEEE 754 has it
 * for the mode (f8e4m3: NaN instead of infinity); with `saturate` always the largest finite value, for infinities too.
 * NaN becomes the quiet NaN of the same sign. f8e8m0: zero and what is below the range become 2^-127, negatives NaN. */
uint32_t float_encode(dtype d, double v, round_mode mode, bool saturate);
/* The same for an integer of up to 64 bits, without going through double. */
uint32_t float_encode_integer(dtype d, bool negative, uint64_t magnitude, round_mode mode, bool saturate);

/* The largest finite value. */
double float_largest(dtype d);
/* Whether a float has every value of another one, or of integers of so many bits beside the sign. */
bool float_has_float(dtype d, dtype other);
bool float_has_integers(dtype d, uint32_t bits);
/* Whether none of them is beyond its largest value when it is rounded to the nearest; infinity where it has one. */
bool float_spans_float(dtype d, dtype other);
bool float_spans_integers(dtype d, uint32_t bits);
/* Rounds to an integral value; infinities, NaN and the sign of zero stay. ROUND_ODD takes the odd neighbour. */
double float_round_integral(double v, round_mode mode);

#endif
