/* The six comparisons of `if` and of facts: words and signs as the IR text has them, and what they mean. */
#ifndef PTO_RELATION_H
#define PTO_RELATION_H

#include <pto/abi.h>

#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef uint32_t pto_relation;
#define PTO_RELATIONS(X) /* name, word, sign */ \
    X(EQ, "eq", "==", ==)                       \
    X(NE, "ne", "!=", !=)                       \
    X(LT, "lt", "<", <)                         \
    X(LE, "le", "<=", <=)                       \
    X(GT, "gt", ">", >)                         \
    X(GE, "ge", ">=", >=)
#define PTO_RELATION_ENUM(ID, word, sign, compare) PTO_RELATION_##ID,
enum { PTO_RELATION_NONE, PTO_RELATIONS(PTO_RELATION_ENUM) PTO_RELATION_COUNT };

/* Whether `left r right`; 0 for none. */
static inline int pto_relation_holds(pto_relation r, int64_t left, int64_t right)
{
#define PTO_RELATION_CASE(ID, word, sign, compare) \
    case PTO_RELATION_##ID: return left compare right;
    switch (r) {
        PTO_RELATIONS(PTO_RELATION_CASE)
    default: return 0;
    }
#undef PTO_RELATION_CASE
}

/* "<="; "?" for none. */
static inline const char *pto_relation_sign(pto_relation r)
{
#define PTO_RELATION_SIGN(ID, word, sign, compare) sign,
    static const char *const signs[] = {"?", PTO_RELATIONS(PTO_RELATION_SIGN)};
#undef PTO_RELATION_SIGN
    return signs[r < PTO_RELATION_COUNT ? r : 0];
}

/* Of a word or a sign; NONE when it is neither. */
static inline pto_relation pto_relation_by_name(pto_str name)
{
#define PTO_RELATION_TEXTS(ID, word, sign, compare) {word, sign},
    static const char *const texts[][2] = {{"", ""}, PTO_RELATIONS(PTO_RELATION_TEXTS)};
#undef PTO_RELATION_TEXTS
    for (pto_relation r = 1; r < PTO_RELATION_COUNT; r++)
        for (int i = 0; i < 2; i++)
            if (strlen(texts[r][i]) == name.n && memcmp(texts[r][i], name.p, name.n) == 0) return r;
    return PTO_RELATION_NONE;
}

#ifdef __cplusplus
}
#endif
#endif
