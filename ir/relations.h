/* Comparisons of two numbers: their words, their signs, and what they mean, from ops/relations.def. */
#ifndef IR_RELATIONS_H
#define IR_RELATIONS_H

#include "ir/base/text.h"

#include <stdbool.h>
#include <stdint.h>

#define RELATION(ID, word, sign, compare) RELATION_##ID,
typedef enum relation {
    RELATION_NONE,
#include "ir/ops/relations.def"
    RELATION_COUNT
} relation;
#undef RELATION

/* Of a word or a sign, `le` or `<=`; RELATION_NONE when it is neither. */
relation relation_by_name(str s);
/* All words, NULL after the last. */
extern const char *const relation_word_list[];
/* "le" and "<="; "?" for RELATION_NONE. */
const char *relation_word(relation r);
const char *relation_sign(relation r);
/* Whether `left r right`; false for RELATION_NONE. */
bool relation_holds(relation r, int64_t left, int64_t right);

#endif
