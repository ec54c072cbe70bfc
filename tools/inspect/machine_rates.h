/* What this host's cores do: measured in about two seconds, by loops whose instructions are known. */
#ifndef TOOLS_INSPECT_MACHINE_RATES_H
#define TOOLS_INSPECT_MACHINE_RATES_H

#include <stdint.h>

/* Maxima of short runs: other work on the host makes numbers lower, never higher. */
typedef struct machine_rates {
    double hz; /* of one core while it computes: dependent additions a second */
    /* Added up: multiplications a cycle, one core, by an instruction that takes the type as it is; 0: there is none. */
    double f32_products, bf16_products, i8_products;
    double l1_bytes;       /* read a cycle, one core */
    double l2_bytes;       /* read a cycle, one core */
    double copy_bytes;     /* copied a cycle from memory to memory, one core: as many are read and written */
    double all_copy_bytes; /* the same, all threads together */
} machine_rates;

/* l1_bytes, l2_bytes: sizes of the caches. Blocks for about two seconds; starts `threads` threads for the last number.
 * Rates that could not be measured, for want of memory or threads, are 0. */
void machine_measure(int64_t l1_bytes, int64_t l2_bytes, int threads, machine_rates *out);

#endif
