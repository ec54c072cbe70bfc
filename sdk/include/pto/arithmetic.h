/* Arithmetic on 64-bit integers that C does not have. Pure functions, for any thread. */
#ifndef PTO_ARITHMETIC_H
#define PTO_ARITHMETIC_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Quotients rounded down and up, for b > 0 and any a. */
static inline int64_t pto_floor_div(int64_t a, int64_t b) { return a / b - (a % b < 0); }
static inline int64_t pto_ceil_div(int64_t a, int64_t b) { return a / b + (a % b > 0); }

/* The least multiple of `unit` that is at least n, for n >= 0; n when the unit is below 2, INT64_MAX when there is no
 * such number in 64 bits. */
static inline int64_t pto_round_up(int64_t n, int64_t unit)
{
    if (unit < 2 || n % unit == 0) return n;
    const int64_t more = unit - n % unit;
    return n > INT64_MAX - more ? INT64_MAX : n + more;
}

/* The greatest common divisor of two numbers above 0; the other one when one is 0. */
static inline int64_t pto_gcd(int64_t a, int64_t b)
{
    while (b != 0) {
        const int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

#ifdef __cplusplus
}
#endif
#endif
