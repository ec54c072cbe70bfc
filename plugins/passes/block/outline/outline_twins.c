/* Nests are compared as sequences of words. Only the hash of each is kept: the words of a nest with the same hash are
 * written again, so that memory grows with the largest nest and not with all of them. */
#include "outline_nest.h"

/* ---- growing ---- */

static void words_put(const pto_run *run, nest_words *w, uint64_t word)
{
    PTO_GROW(run, w->items, w->count, w->capacity);
    w->items[w->count++] = word;
}

static void words_put_str(const pto_run *run, nest_words *w, pto_str s)
{
    words_put(run, w, s.n);
    for (size_t i = 0; i < s.n; i += sizeof(uint64_t)) {
        uint64_t word = 0;
        memcpy(&word, s.p + i, s.n - i < sizeof word ? s.n - i : sizeof word);
        words_put(run, w, word);
    }
}

/* ---- numbers of values ---- */

static uint32_t number_slot(const value_numbers *v, uint32_t key)
{
    uint32_t at = key * 2654435761u & v->mask;
    while (v->keys[at] != 0 && v->keys[at] != key) at = (at + 1) & v->mask;
    return at;
}

/* Forgets all numbers and makes space for `count`. */
static void numbers_clear(const pto_run *run, value_numbers *v, uint32_t count)
{
    uint32_t capacity = 16;
    while (capacity / 2 < count) capacity *= 2;
    if (capacity > v->capacity) {
        v->keys = PTO_SCRATCH(run, uint32_t, capacity);
        v->numbers = PTO_SCRATCH(run, uint32_t, capacity);
        v->capacity = capacity;
    } else
        memset(v->keys, 0, capacity * sizeof *v->keys);
    v->mask = capacity - 1;
    v->count = 0;
}

static void numbers_add(value_numbers *v, pto_value value)
{
    const uint32_t at = number_slot(v, value.index);
    v->keys[at] = value.index;
    v->numbers[at] = v->count++;
}

/* ---- words of a nest ---- */

typedef struct writer {
    const pto_run *run;
    nest_words *words;
    value_numbers *numbers;
} writer;

static void put(const writer *w, uint64_t word) { words_put(w->run, w->words, word); }

static void put_value(const writer *w, pto_value v)
{
    const uint32_t at = number_slot(w->numbers, v.index);
    if (w->numbers->keys[at] == 0) w->words->is_cut = 1;
    put(w, w->numbers->numbers[at]);
}

static void put_expr(const writer *w, pto_expr e, int depth)
{
    const pto_expr_kind kind = pto_expr_kind_of(e);
    const uint32_t count = pto_expr_arg_count(e);
    if (depth == OUTLINE_DEPTH_MAX) {
        w->words->is_cut = 1;
        return;
    }
    put(w, (uint64_t)kind << 32 | count);
    if (kind == PTO_EXPR_VALUE) {
        put_value(w, pto_expr_leaf(e));
        return;
    }
    put(w, kind == PTO_EXPR_SYMBOL ? e.index : (uint64_t)pto_expr_number(e));
    for (uint32_t i = 0; i < count; i++) {
        if (kind == PTO_EXPR_SUM) put(w, (uint64_t)pto_expr_coef(e, i));
        put_expr(w, pto_expr_arg(e, i), depth + 1);
    }
}

/* Equal attributes have one index, except for the values in expressions. */
static void put_attr(const writer *w, pto_attr a, int depth)
{
    const pto_attr_kind kind = pto_attr_kind_of(a);
    if (depth == OUTLINE_DEPTH_MAX) {
        w->words->is_cut = 1;
        return;
    }
    put(w, kind);
    if (kind == PTO_ATTR_EXPR) {
        put_expr(w, pto_attr_expr(a), 0);
        return;
    }
    if (kind != PTO_ATTR_LIST) {
        put(w, a.index);
        return;
    }
    put(w, pto_attr_count(a));
    for (uint32_t i = 0; i < pto_attr_count(a); i++) put_attr(w, pto_attr_item(a, i, NULL), depth + 1);
}

/* The label names the kernel and does nothing else. */
static void put_attrs(const writer *w, pto_op op)
{
    put(w, pto_op_attr_count(op));
    for (uint32_t i = 0, end = pto_op_attr_count(op); i < end; i++) {
        pto_str name = pto_no_str();
        const pto_attr a = pto_op_attr_at(op, i, &name);
        words_put_str(w->run, w->words, name);
        if (!pto_str_is(name, "label")) put_attr(w, a, 0);
    }
}

static void put_new_value(const writer *w, pto_value v)
{
    put(w, pto_value_type(v).index);
    numbers_add(w->numbers, v);
}

/* Blocks end in terminators, so the ops in the order of a walk say where each of them is. */
static void put_op(const writer *w, pto_op op)
{
    put(w, pto_op_kind(op));
    put(w, (uint64_t)pto_op_operand_count(op) << 32 | pto_op_result_count(op));
    put(w, pto_op_block_count(op));
    for (uint32_t i = 0, end = pto_op_operand_count(op); i < end; i++) put_value(w, pto_op_operand(op, i));
    put_attrs(w, op);
    for (uint32_t i = 0, end = pto_op_result_count(op); i < end; i++) put_new_value(w, pto_op_result(op, i));
    for (uint32_t k = 0, blocks = pto_op_block_count(op); k < blocks; k++) {
        const pto_block block = pto_op_block_at(op, k);
        put(w, pto_block_arg_count(block));
        for (uint32_t i = 0, end = pto_block_arg_count(block); i < end; i++) put_new_value(w, pto_block_arg(block, i));
    }
}

static uint32_t count_values(pto_op op)
{
    uint32_t n = pto_op_result_count(op);
    for (uint32_t k = 0, blocks = pto_op_block_count(op); k < blocks; k++)
        n += pto_block_arg_count(pto_op_block_at(op, k));
    return n;
}

static void put_nest(twin_table *t, const nest *n, nest_words *words)
{
    const writer w = {t->run, words, &t->numbers};
    uint32_t values = n->count + count_values(n->op);
    PTO_WALK(n->op, op) values += count_values(op);
    numbers_clear(t->run, &t->numbers, values);
    words->count = 0;
    words->is_cut = 0;
    put(&w, n->count);
    for (uint32_t i = 0; i < n->count; i++) {
        const capture *c = &n->captures[i];
        put(&w, c->uses);
        if (c->uses == 0) put_attr(&w, pto_op_attr(pto_value_op(c->value), PTO_STR("value")), 0);
        put_new_value(&w, c->value);
    }
    put(&w, n->bind_count);
    for (uint32_t i = 0; i < n->bind_count; i++) put_op(&w, n->binds[i]);
    put_op(&w, n->op);
    PTO_WALK(n->op, op) put_op(&w, op);
}

static uint64_t hash_of(const nest_words *w)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (uint32_t i = 0; i < w->count; i++) {
        h = (h ^ w->items[i]) * 0x9e3779b97f4a7c15u;
        h ^= h >> 29;
    }
    return h;
}

/* ---- the table ---- */

twin_table outline_twin_table(const pto_run *run, const nest *nests, uint32_t count)
{
    uint32_t capacity = 16;
    while (capacity / 2 < count) capacity *= 2;
    return (twin_table){
        .run = run, .nests = nests, .slots = PTO_SCRATCH(run, twin_slot, capacity), .mask = capacity - 1};
}

static int is_wanted(twin_table *t, const nest *n)
{
    put_nest(t, n, &t->other);
    return t->other.count == t->wanted.count &&
           memcmp(t->other.items, t->wanted.items, t->wanted.count * sizeof *t->wanted.items) == 0;
}

uint32_t outline_find_twin(twin_table *t, const nest *n, uint32_t place)
{
    put_nest(t, n, &t->wanted);
    if (t->wanted.is_cut) return OUTLINE_NO_TWIN;
    const uint64_t hash = hash_of(&t->wanted);
    uint32_t at = (uint32_t)(hash >> 32) & t->mask;
    for (; t->slots[at].nest != 0; at = (at + 1) & t->mask) {
        const twin_slot *s = &t->slots[at];
        if (s->hash == hash && is_wanted(t, &t->nests[s->nest - 1])) return s->nest - 1;
    }
    t->slots[at] = (twin_slot){hash, place + 1};
    return OUTLINE_NO_TWIN;
}
