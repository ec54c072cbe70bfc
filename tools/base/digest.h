/* A digest of bytes, FNV-1a with 64 bits: tells whether a text changed, and keeps no secret. */
#ifndef TOOLS_BASE_DIGEST_H
#define TOOLS_BASE_DIGEST_H

#include <stddef.h>
#include <stdint.h>

#define DIGEST_OF_NOTHING UINT64_C(0xcbf29ce484222325)

/* The digest of what `digest` stands for, followed by these bytes. */
static inline uint64_t digest_add(uint64_t digest, const void *bytes, size_t n)
{
    const uint8_t *p = bytes;
    for (size_t i = 0; i < n; i++) digest = (digest ^ p[i]) * UINT64_C(0x100000001b3);
    return digest;
}

#endif
