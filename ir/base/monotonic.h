/* Time that only goes forward, for spans and limits. */
#ifndef IR_BASE_MONOTONIC_H
#define IR_BASE_MONOTONIC_H

#include <stdint.h>
#include <time.h>

/* Nanoseconds since an arbitrary moment. [any] */
static inline uint64_t monotonic_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

#endif
