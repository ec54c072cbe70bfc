/* The options with which generated C is compiled for this CPU. */
#ifndef PTO_NATIVE_FLAGS_H
#define PTO_NATIVE_FLAGS_H

#include <stdint.h>

enum { NATIVE_FLAGS_MAX = 16 };

/* What such C needs of a compiler, then the instructions that this CPU has, by its CPUID bits: at most NATIVE_FLAGS_MAX
 * static texts into `out`; returns how many. [any thread] */
uint32_t native_flags_of_host(const char **out);

#endif
