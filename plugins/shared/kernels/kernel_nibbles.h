/* Sixteen 4-bit integers at once, with what every x86-64 has. */
#ifndef PTO_KERNEL_NIBBLES_H
#define PTO_KERNEL_NIBBLES_H

#include "kernel_rows.h"

#include <immintrin.h>
#include <string.h>

/* Elements at .. at + 15 as signed bytes, of which `left` are there, the others 0; `left` may be any number. */
KERNEL_INLINE __m128i nibbles_at(const void *from, int64_t at, int64_t left)
{
    const int64_t odd = at & 1, count = left < 16 ? left : 16, bytes = (count + odd + 1) / 2;
    const char *const p = (const char *)from + (at - odd) / 2;
    uint64_t bits = 0;
    if (count <= 0) return _mm_setzero_si128();
    if (bytes >= 8) {
        memcpy(&bits, p, 8);
    } else if (bytes >= 4) { /* two that overlap, without a loop */
        uint32_t first, last;
        memcpy(&first, p, 4);
        memcpy(&last, p + bytes - 4, 4);
        bits = first | (uint64_t)last << 8 * (bytes - 4);
    } else {
        for (int64_t i = 0; i < bytes; i++) bits |= (uint64_t)(unsigned char)p[i] << 8 * i;
    }
    if (odd) bits = bits >> 4 | (bytes > 8 ? (uint64_t)(unsigned char)p[8] << 60 : 0);
    if (count < 16) bits &= (UINT64_C(1) << 4 * count) - 1;
    const __m128i x = _mm_cvtsi64_si128((int64_t)bits), half = _mm_set1_epi8(15), eight = _mm_set1_epi8(8);
    const __m128i both = _mm_unpacklo_epi8(_mm_and_si128(x, half), _mm_and_si128(_mm_srli_epi16(x, 4), half));
    return _mm_sub_epi8(_mm_xor_si128(both, eight), eight);
}

#endif
