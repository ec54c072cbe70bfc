/* Time that does not go back. [any thread] */
#ifndef PTO_NATIVE_CLOCK_H
#define PTO_NATIVE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Nanoseconds from some moment on. */
static inline uint64_t native_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

#endif
