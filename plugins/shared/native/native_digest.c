#include "native_digest.h"

#include <stdbool.h>
#include <string.h>
#if defined __x86_64__
#include <cpuid.h>
#include <immintrin.h>
#endif

/* The first 32 bits of the fractional parts of the cube roots of the first 64 primes. */
static const uint32_t rounds[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotate(uint32_t x, unsigned n) { return x >> n | x << (32 - n); }

static void add_block(uint32_t state[8], const uint8_t block[NATIVE_DIGEST_BLOCK])
{
    uint32_t w[64];
    for (size_t i = 0; i < 16; i++) {
        const uint8_t *b = block + 4 * i;
        w[i] = (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
    }
    for (size_t i = 16; i < 64; i++) {
        const uint32_t a = w[i - 15], b = w[i - 2];
        w[i] =
            w[i - 16] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) + w[i - 7] + (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
    }
    uint32_t s[8];
    memcpy(s, state, sizeof s);
    for (size_t i = 0; i < 64; i++) {
        const uint32_t e = s[4], a = s[0];
        const uint32_t t =
            s[7] + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & s[5]) ^ (~e & s[6])) + rounds[i] + w[i];
        const uint32_t u = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));
        memmove(s + 1, s, 7 * sizeof *s);
        s[4] += t;
        s[0] = t + u;
    }
    for (size_t i = 0; i < 8; i++) state[i] += s[i];
}

#if defined __x86_64__
static bool has_sha(void)
{
    enum { SHA_BIT = 1 << 29 };
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & SHA_BIT) != 0;
}

/* The same with the instructions for it: some 8 times as fast, so that looking a file up costs little beside running
 * it. They keep the state as the words abef and cdgh, the first one highest. */
__attribute__((target("sha,ssse3,sse4.1"))) static void add_block_sha(uint32_t state[8],
                                                                      const uint8_t block[NATIVE_DIGEST_BLOCK])
{
    const __m128i big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    const __m128i before_abef = _mm_set_epi32((int)state[0], (int)state[1], (int)state[4], (int)state[5]);
    const __m128i before_cdgh = _mm_set_epi32((int)state[2], (int)state[3], (int)state[6], (int)state[7]);
    __m128i abef = before_abef, cdgh = before_cdgh, w[4];
    for (size_t i = 0; i < 4; i++) {
        memcpy(&w[i], block + 16 * i, sizeof w[i]);
        w[i] = _mm_shuffle_epi8(w[i], big_endian);
    }
    for (size_t i = 0; i < 16; i++) {
        __m128i k, *now = &w[i % 4];
        const __m128i last = w[(i + 3) % 4], second_last = w[(i + 2) % 4];
        if (i >= 4) {
            const __m128i sum =
                _mm_add_epi32(_mm_sha256msg1_epu32(*now, w[(i + 1) % 4]), _mm_alignr_epi8(last, second_last, 4));
            *now = _mm_sha256msg2_epu32(sum, last);
        }
        memcpy(&k, rounds + 4 * i, sizeof k);
        const __m128i x = _mm_add_epi32(*now, k);
        cdgh = _mm_sha256rnds2_epu32(cdgh, abef, x);
        abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(x, 0x0e));
    }
    uint32_t words[8];
    const __m128i sums[2] = {_mm_add_epi32(abef, before_abef), _mm_add_epi32(cdgh, before_cdgh)};
    memcpy(words, sums, sizeof words);
    static const uint8_t place[8] = {3, 2, 7, 6, 1, 0, 5, 4};
    for (size_t i = 0; i < 8; i++) state[i] = words[place[i]];
}
#endif

native_hash native_hash_begin_plain(void)
{
    return (native_hash){
        .state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19},
        .add_block = add_block,
    };
}

native_hash native_hash_begin(void)
{
    native_hash h = native_hash_begin_plain();
#if defined __x86_64__
    if (has_sha()) h.add_block = add_block_sha;
#endif
    return h;
}

void native_hash_add(native_hash *h, const void *p, size_t n)
{
    const uint8_t *at = p;
    while (n > 0) {
        const size_t held = h->bytes % NATIVE_DIGEST_BLOCK, space = NATIVE_DIGEST_BLOCK - held;
        const size_t taken = n < space ? n : space;
        memcpy(h->block + held, at, taken);
        h->bytes += taken;
        at += taken;
        n -= taken;
        if (taken == space) h->add_block(h->state, h->block);
    }
}

void native_hash_add_text(native_hash *h, const char *text)
{
    const bool is_set = text != NULL;
    native_hash_add(h, &is_set, sizeof is_set);
    if (is_set) native_hash_add(h, text, strlen(text) + 1);
}

native_digest native_hash_end(native_hash *h)
{
    static const uint8_t one = 0x80, zero = 0;
    const uint64_t bits = 8 * h->bytes;
    native_hash_add(h, &one, 1);
    while (h->bytes % NATIVE_DIGEST_BLOCK != NATIVE_DIGEST_BLOCK - sizeof bits) native_hash_add(h, &zero, 1);
    uint8_t length[sizeof bits];
    for (size_t i = 0; i < sizeof length; i++) length[i] = (uint8_t)(bits >> (56 - 8 * i));
    native_hash_add(h, length, sizeof length);
    native_digest d;
    for (size_t i = 0; i < sizeof d.bytes; i++) d.bytes[i] = (uint8_t)(h->state[i / 4] >> (24 - 8 * (i % 4)));
    return d;
}

void native_digest_print(const native_digest *d, char text[NATIVE_DIGEST_DIGITS + 1])
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < sizeof d->bytes; i++) {
        text[2 * i] = digits[d->bytes[i] >> 4];
        text[2 * i + 1] = digits[d->bytes[i] & 15];
    }
    text[NATIVE_DIGEST_DIGITS] = '\0';
}
