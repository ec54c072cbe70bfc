/* The options with which generated C is compiled, and the instructions that this CPU has. */
#ifndef PTO_NATIVE_FLAGS_H
#define PTO_NATIVE_FLAGS_H

#include <stdbool.h>
#include <stdint.h>

enum { NATIVE_FLAGS_MAX = 32 };

/* What such C needs of the compiler at that path, then the instructions on vectors of so many bytes: 64 AVX-512, 32
 * AVX2 with FMA, 16 what all CPUs of the architecture have. C with wider vectors computes them in parts. At most
 * NATIVE_FLAGS_MAX static texts into `out`; returns how many. [any thread] */
uint32_t native_flags_upto(const char *compiler, uint32_t vector_bytes, const char **out);
/* Bytes of the widest vector that this CPU and the system have instructions for: 16, 32 or 64. [any thread] */
uint32_t native_host_vector_bytes(void);
/* Whether they have AMX for products of bf16 and of i8. [any thread] */
bool native_host_has_amx(void);

#endif
