#include "ir/relations.h"

#define RELATION(ID, word, sign, compare) [RELATION_##ID] = {word, sign},
static const char *const texts[RELATION_COUNT][2] = {
    {"?", "?"},
#include "ir/ops/relations.def"
};
#undef RELATION

#define RELATION(ID, word, sign, compare) word,
const char *const relation_word_list[] = {
#include "ir/ops/relations.def"
    NULL};
#undef RELATION

relation relation_by_name(str s)
{
    for (uint32_t r = RELATION_NONE + 1; r < RELATION_COUNT; r++)
        if (str_is(s, texts[r][0]) || str_is(s, texts[r][1])) return (relation)r;
    return RELATION_NONE;
}

const char *relation_word(relation r) { return texts[r][0]; }

const char *relation_sign(relation r) { return texts[r][1]; }

bool relation_holds(relation r, int64_t left, int64_t right)
{
    switch (r) {
#define RELATION(ID, word, sign, compare) \
    case RELATION_##ID: return left compare right;
#include "ir/ops/relations.def"
#undef RELATION
    case RELATION_NONE:
    case RELATION_COUNT: break;
    }
    return false;
}
