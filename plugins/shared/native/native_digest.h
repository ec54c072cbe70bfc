/* SHA-256 (FIPS 180-4): keys of the cache, and whether a file is what was written. Pure functions, for any thread. */
#ifndef PTO_NATIVE_DIGEST_H
#define PTO_NATIVE_DIGEST_H

#include <stddef.h>
#include <stdint.h>

enum { NATIVE_DIGEST_BYTES = 32, NATIVE_DIGEST_BLOCK = 64, NATIVE_DIGEST_DIGITS = 2 * NATIVE_DIGEST_BYTES };

typedef struct native_digest {
    uint8_t bytes[NATIVE_DIGEST_BYTES];
} native_digest;

/* A digest of what was added so far. */
typedef struct native_hash {
    uint32_t state[8];
    uint64_t bytes;
    uint8_t block[NATIVE_DIGEST_BLOCK]; /* the last bytes, which fill no block yet */
    /* Adds a full block to the state: with instructions of this CPU for it, or plain C. */
    void (*add_block)(uint32_t state[8], const uint8_t block[NATIVE_DIGEST_BLOCK]);
} native_hash;

/* The hash of no bytes. `_plain` uses no special instructions: what tests compare with. */
native_hash native_hash_begin(void);
native_hash native_hash_begin_plain(void);
/* Adds n bytes at p. */
void native_hash_add(native_hash *h, const void *p, size_t n);
/* Adds a text with its end, so that "ab", "c" and "a", "bc" differ. NULL differs from every text. */
void native_hash_add_text(native_hash *h, const char *text);
/* The digest; `h` is spent. */
native_digest native_hash_end(native_hash *h);
/* Writes 64 hexadecimal digits and a NUL. */
void native_digest_print(const native_digest *d, char text[NATIVE_DIGEST_DIGITS + 1]);

#endif
