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

/* An order of `count` things that do not depend on each other, such as the instances of a launch: the k-th of it is
 * pto_order_at. Seed 0 keeps them in order; others (pto_call.seed) visit each once, a stride apart. */
typedef struct pto_order {
    int64_t count, stride, shift;
} pto_order;
static inline pto_order pto_order_make(uint64_t seed, int64_t count)
{
    const uint64_t mixed = seed * UINT64_C(0x9e3779b97f4a7c15);
    pto_order o;
    o.count = count;
    o.stride = 1;
    o.shift = 0;
    if (seed == 0 || count < 2) return o;
    const int64_t most = INT64_MAX / count; /* so that k strides are a number */
    o.stride = 1 + (int64_t)(mixed % (uint64_t)(count < most ? count : most));
    while (pto_gcd(count, o.stride) != 1) o.stride--;
    o.shift = (int64_t)((mixed >> 32) % (uint64_t)count);
    return o;
}
static inline int64_t pto_order_at(const pto_order *o, int64_t k)
{
    return (int64_t)(((uint64_t)k * (uint64_t)o->stride + (uint64_t)o->shift) % (uint64_t)o->count);
}

#ifdef __cplusplus
}
#endif
#endif
