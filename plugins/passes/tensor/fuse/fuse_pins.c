/* The decisions of pto.fuse: for each op that others feed, which of these are in its group. */
#include "fuse_plan.h"

#include <stdio.h>
#include <string.h>

enum { WORD_JOINED, WORD_APART, WORDS_OF_ONE, WORDS_MAX = 1 << PTO_MAX_SPACE_OPERANDS };
static const char *const plain_words[] = {"joined", "apart", NULL};

/* `masks` has the operands that each word means. */
typedef struct choice {
    pto_decision d;
    uint32_t word_count;
    uint8_t masks[WORDS_MAX];
    const char *words[WORDS_MAX + 1];
} choice;

/* As it is called in the text, if that tells it from the others. */
static const char *operand_word(const pto_run *run, const fuse_node *n, uint32_t k)
{
    const pto_str name = pto_value_name(pto_op_operand(n->op, k));
    int is_told = name.n != 0;
    for (uint32_t i = 0; i < n->in_count && is_told; i++)
        is_told = i == k || (n->open & (1u << i)) == 0 || !pto_str_same(pto_value_name(pto_op_operand(n->op, i)), name);
    const size_t capacity = name.n + 16;
    char *text = pto_scratch(run, capacity);
    if (is_told)
        (void)snprintf(text, capacity, "%%%.*s", PTO_FMT(name));
    else
        (void)snprintf(text, capacity, "operand %u", (unsigned)k);
    return text;
}

static const char *list_word(const pto_run *run, uint32_t mask, const char *const *names)
{
    size_t capacity = 1, n = 0;
    for (uint32_t k = 0; k < PTO_MAX_SPACE_OPERANDS; k++)
        if ((mask & (1u << k)) != 0) capacity += strlen(names[k]) + 2;
    char *text = pto_scratch(run, capacity);
    for (uint32_t k = 0; k < PTO_MAX_SPACE_OPERANDS; k++)
        if ((mask & (1u << k)) != 0)
            n += (size_t)snprintf(text + n, capacity - n, "%s%s", n == 0 ? "" : ", ", names[k]);
    return text;
}

/* `joined` with all of them, `apart` from all, or in one group with those that a word lists. */
static void find_choice(const pto_run *run, const fuse_node *n, choice *c)
{
    const char *names[PTO_MAX_SPACE_OPERANDS];
    *c = (choice){.d = {.struct_size = sizeof c->d, .count = 1, .name = "fuse", .words = plain_words}};
    c->masks[WORD_JOINED] = n->open;
    c->word_count = WORDS_OF_ONE;
    if ((n->open & (n->open - 1)) == 0) return;
    for (uint32_t k = 0; k < PTO_MAX_SPACE_OPERANDS; k++)
        names[k] = (n->open & (1u << k)) != 0 ? operand_word(run, n, k) : "";
    memcpy(c->words, plain_words, WORDS_OF_ONE * sizeof *plain_words);
    c->d.words = c->words;
    /* Every part of `open` but none and all, ascending. */
    for (uint32_t part = n->open & (~n->open + 1u); part != n->open; part = (part - n->open) & n->open) {
        c->masks[c->word_count] = (uint8_t)part;
        c->words[c->word_count++] = list_word(run, part, names);
    }
}

static int32_t ask(const fuse_plan *p, const fuse_node *n, uint8_t *mask)
{
    choice c;
    int64_t word = 0;
    find_choice(p->run, n, &c);
    const int32_t pinned = pto_decision_pinned(n->op, &c.d, &word);
    if (pinned == 1) *mask = c.masks[word];
    return pinned;
}

pto_status fuse_read_pins(fuse_plan *p)
{
    for (uint32_t i = 0; i < p->count; i++) {
        fuse_node *n = &p->nodes[i];
        if (n->role != FUSE_VECTOR || (n->is_live && n->open == 0)) continue;
        const int32_t pinned = ask(p, n, &n->joined);
        PTO_TRY(pinned);
        n->is_pinned = pinned != 0;
        if (n->is_pinned && !n->is_live)
            return pto_error(
                n->op, "pto.fuse/in-no-group",
                "`%.*s` is in no group of its own: each group that uses it computes it again, or none does",
                PTO_FMT(pto_op_name(n->op)));
    }
    return PTO_OK;
}

int fuse_is_pinned_apart(const fuse_node *n, uint32_t k)
{
    uint32_t first = 0;
    while (n->in[first] != n->in[k]) first++;
    return n->is_pinned && (n->open & ~n->joined & (1u << first)) != 0;
}

/* Others were asked about since: the note belongs at the line of this one. */
static pto_status ask_again(const fuse_plan *p, const fuse_node *n)
{
    uint8_t mask;
    return ask(p, n, &mask) < 0 ? PTO_FAILED : PTO_OK;
}

int fuse_refuse(fuse_plan *p, uint32_t root, const char *why)
{
    uint32_t last = FUSE_NONE;
    for (uint32_t m = p->clusters[root].head; m != FUSE_NONE; m = p->nodes[m].next)
        if (p->nodes[m].joined != 0 && (last == FUSE_NONE || m > last)) last = m;
    if (last == FUSE_NONE || ask_again(p, &p->nodes[last]) != PTO_OK) return 0;
    (void)pto_error(p->nodes[last].op, "pto.fuse/cannot-join", "`%.*s` cannot be in one group with what feeds it: %s",
                    PTO_FMT(pto_op_name(p->nodes[last].op)), why);
    return 1;
}

/* Why the members cannot be in one group, or NULL; their space and number otherwise. */
static const char *check_members(fuse_plan *p, uint32_t root)
{
    fuse_cluster *c = &p->clusters[root];
    uint32_t all = 0, widest = c->head;
    c->op_count = 0;
    for (uint32_t m = c->head; m != FUSE_NONE; m = p->nodes[m].next) {
        const fuse_node *n = &p->nodes[m];
        all |= n->space.wide;
        if ((n->space.wide & ~p->nodes[widest].space.wide) != 0) widest = m;
        if (n->is_alone) return fuse_shared;
        for (uint32_t k = 0; k < n->in_count && n->role == FUSE_PRODUCT; k++)
            if (n->in[k] != FUSE_NONE && fuse_root(p, n->in[k]) == root) return "a product reads all of what feeds it";
        for (uint32_t k = 0; k < n->in_count; k++)
            if (n->in[k] != FUSE_NONE && p->nodes[n->in[k]].ends_group != NULL && fuse_root(p, n->in[k]) == root)
                return p->nodes[n->in[k]].ends_group;
        c->op_count++;
    }
    if (c->op_count > p->max_ops) return "the group would have more ops than `max-ops`";
    /* With the dims of all of them at first, the order of the others does not matter. */
    c->space = p->nodes[widest].space;
    int is_one = c->space.wide == all;
    for (uint32_t m = c->head; m != FUSE_NONE && is_one; m = p->nodes[m].next)
        is_one = fuse_space_join(&c->space, &p->nodes[m].space);
    return is_one && fuse_space_nest(&c->space).is_one ? NULL : "its dims and theirs do not make one nest";
}

static pto_status refuse_apart(fuse_plan *p, const fuse_node *n)
{
    PTO_TRY(ask_again(p, n));
    return pto_error(n->op, "pto.fuse/cannot-part",
                     "`%.*s` cannot be apart from what feeds it: the schedule puts both into one group",
                     PTO_FMT(pto_op_name(n->op)));
}

pto_status fuse_join_pinned(fuse_plan *p)
{
    for (uint32_t i = 0; i < p->count; i++)
        for (uint32_t k = 0; k < p->nodes[i].in_count; k++) {
            if ((p->nodes[i].joined & (1u << k)) == 0) continue;
            const uint32_t from = fuse_root(p, p->nodes[i].in[k]), to = fuse_root(p, i);
            if (from != to) fuse_merge(p, from < to ? from : to, from < to ? to : from);
        }
    for (uint32_t i = 0; i < p->count; i++) {
        const fuse_cluster *c = &p->clusters[i];
        const char *why = c->parent == i && c->head != c->tail ? check_members(p, i) : NULL;
        if (why != NULL && fuse_refuse(p, i, why)) return PTO_FAILED;
    }
    for (uint32_t i = 0; i < p->count; i++)
        for (uint32_t k = 0; k < p->nodes[i].in_count; k++)
            if (p->nodes[i].in[k] != FUSE_NONE && fuse_is_pinned_apart(&p->nodes[i], k) &&
                fuse_root(p, p->nodes[i].in[k]) == fuse_root(p, i))
                return refuse_apart(p, &p->nodes[i]);
    return PTO_OK;
}

pto_status fuse_record(fuse_plan *p)
{
    for (uint32_t i = 0; i < p->count; i++) {
        const fuse_node *n = &p->nodes[i];
        if (n->open == 0) continue;
        choice c;
        uint8_t joined = 0;
        int64_t word = 0;
        find_choice(p->run, n, &c);
        for (uint32_t k = 0; k < n->in_count; k++)
            if ((n->open & (1u << k)) != 0 && fuse_root(p, n->in[k]) == fuse_root(p, i)) joined |= (uint8_t)(1u << k);
        while (c.masks[word] != joined) word++;
        c.d.limit = word != WORD_JOINED ? n->obstacle : NULL;
        PTO_TRY(pto_decision_made(n->op, &c.d, &word));
    }
    return PTO_OK;
}
