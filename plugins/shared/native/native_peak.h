/* What a core of this CPU multiplies at most: loops of instructions that find all they take in registers. */
#ifndef PTO_NATIVE_PEAK_H
#define PTO_NATIVE_PEAK_H

#include <stdbool.h>

typedef struct native_peak {
    void (*run)(void);
    double products; /* that one call of `run` adds up */
} native_peak;

/* The loop of the widest instruction for exact sums of products of "f32", "bf16" or "i8". false: there is none for
 * elements as they are, and kernels widen them; f32 has one on any CPU. [any thread] */
bool native_peak_of(const char *type, native_peak *out);

#endif
