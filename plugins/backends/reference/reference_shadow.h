/* Sets of values beside memory: for each element that need not be what was computed, which values it may have.
 *
 * Kept by address, 32 bytes at a time, so that whatever names memory (arrays, windows, tiles) finds them. Elements that
 * have no set are exact. */
#ifndef REFERENCE_SHADOW_H
#define REFERENCE_SHADOW_H

#include "reference_bound.h"

#include <pto/call.h>

typedef struct shadow shadow;

/* No sets; scratch memory of the run. */
shadow *shadow_make(const pto_run *run);
/* The elements there are exact from now on. */
void shadow_clear(shadow *s, const void *from, size_t bytes);
/* n elements `stride` apart (any sign, 0 repeats one). Without a set: what memory holds, exact. */
void shadow_read(const shadow *s, pto_dtype t, const uint8_t *from, int64_t stride, size_t n, bound *out);
void shadow_write(shadow *s, pto_dtype t, const uint8_t *to, int64_t stride, size_t n, const bound *in);
/* Whether some of the bytes have a set. */
bool shadow_has(const shadow *s, const void *from, size_t bytes);

#endif
