/* The comparisons of `if` and of facts, from <pto/ops/relations.def>: words and signs as the IR text has them, and what
 * they mean. Functions are pure and may be called from any thread. */
#ifndef PTO_RELATION_H
#define PTO_RELATION_H

#include <pto/abi.h>

#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef uint32_t pto_relation;
#define RELATION(ID, word, sign, compare) PTO_RELATION_##ID,
enum {
    PTO_RELATION_NONE,
#include <pto/ops/relations.def>
    PTO_RELATION_COUNT
};
#undef RELATION

/* Whether `left r right`; 0 for none. */
static inline int pto_relation_holds(pto_relation r, int64_t left, int64_t right)
{
    switch (r) {
#define RELATION(ID, word, sign, compare) \
    case PTO_RELATION_##ID: return left compare right;
#include <pto/ops/relations.def>
#undef RELATION
    default: return 0;
    }
}

/* "le"; "?" for none. */
static inline const char *pto_relation_word(pto_relation r)
{
#define RELATION(ID, word, sign, compare) word,
    static const char *const words[] = {
        "?",
#include <pto/ops/relations.def>
    };
#undef RELATION
    return words[r < PTO_RELATION_COUNT ? r : 0];
}

/* "<="; "?" for none. */
static inline const char *pto_relation_sign(pto_relation r)
{
#define RELATION(ID, word, sign, compare) sign,
    static const char *const signs[] = {
        "?",
#include <pto/ops/relations.def>
    };
#undef RELATION
    return signs[r < PTO_RELATION_COUNT ? r : 0];
}

/* Of a word or a sign; NONE when it is neither. */
static inline pto_relation pto_relation_by_name(pto_str name)
{
#define RELATION(ID, word, sign, compare) {word, sign},
    static const char *const texts[][2] = {
        {"", ""},
#include <pto/ops/relations.def>
    };
#undef RELATION
    for (pto_relation r = 1; r < PTO_RELATION_COUNT; r++)
        for (int i = 0; i < 2; i++)
            if (strlen(texts[r][i]) == name.n && memcmp(texts[r][i], name.p, name.n) == 0) return r;
    return PTO_RELATION_NONE;
}

#ifdef __cplusplus
}
#endif
#endif
