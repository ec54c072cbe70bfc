/* Philox4x32-10: four words from a counter of four words and a key of two. Salmon, Moraes, Dror and Shaw, Parallel
 * random numbers: as easy as 1, 2, 3 (SC 2011). */
#ifndef PTO_SEMANTICS_PHILOX_H
#define PTO_SEMANTICS_PHILOX_H

#include <stdint.h>

/* words: in, the counter, the low word first; out, the four random words. key1 is the high half of the key. */
static inline void philox4x32_10(uint32_t key0, uint32_t key1, uint32_t words[4])
{
    for (int round = 0; round < 10; round++) {
        const uint64_t a = UINT64_C(0xd2511f53) * words[0], b = UINT64_C(0xcd9e8d57) * words[2];
        const uint32_t next[4] = {(uint32_t)(b >> 32) ^ words[1] ^ key0, (uint32_t)b,
                                  (uint32_t)(a >> 32) ^ words[3] ^ key1, (uint32_t)a};
        for (int i = 0; i < 4; i++) words[i] = next[i];
        key0 += 0x9e3779b9;
        key1 += 0xbb67ae85;
    }
}

#endif
