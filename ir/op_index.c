/* Index operands: expressions in attributes count an op's operands. Their canonical form has each index value once,
 * after the value operands, in the order in which the printed expressions mention them. */
#include "ir/context/expr_expand.h"
#include "ir/module_impl.h"

#include <stddef.h>
#include <string.h>

uint32_t op_value_operand_count(const module *m, op_id o)
{
    const op_record *op = op_at(m, o);
    return value_operands_of(m, op->kind, op->operand_count, op->result_count);
}

/* ---- canonical form ---- */

/* Expressions are in an attribute itself, in a list, or in a list of lists; no row goes deeper. */
enum { LIST_DEPTH = 3 };

/* Distinct values, numbered in the order in which they were added. */
enum { NEAR_VALUES = 8, FEW_VALUES = 16 };

typedef struct value_list {
    value_id near[NEAR_VALUES]; /* `items` until there are more */
    value_id *items;
    size_t capacity;
    uint32_t count;
    uint32_t *place; /* open addressing by value: index into `items` + 1; only when there are many */
    size_t place_capacity;
} value_list;

typedef struct canonical {
    ir_context *context;
    const value_id *given;
    uint32_t given_count, value_count;
    value_list seen;  /* numbers the leaves of the expressions, whatever their order */
    value_list found; /* in order of first mention: the index operands */
    bool is_numbered; /* of the expression at hand: its slots have the numbers of the index operands */
} canonical;

static void value_list_init(value_list *l)
{
    l->items = l->near;
    l->capacity = NEAR_VALUES;
}

static void value_list_grow(value_list *l)
{
    size_t none = 0;
    const bool is_near = l->items == l->near;
    l->items = table_grow(is_near ? NULL : l->items, is_near ? &none : &l->capacity, l->count + 1u, sizeof *l->items);
    if (!is_near) return;
    memcpy(l->items, l->near, sizeof l->near);
    l->capacity = none;
}

static void place_rebuild(value_list *l)
{
    table_free(l->place);
    size_t wanted = 64;
    while (wanted < 4 * ((size_t)l->count + 1)) wanted *= 2;
    size_t capacity = 0;
    l->place = table_grow(NULL, &capacity, wanted, sizeof *l->place);
    l->place_capacity = wanted;
    for (uint32_t i = 0; i < l->count; i++) {
        size_t at = (l->items[i] * 0x9E3779B1u) & (wanted - 1);
        while (l->place[at] != 0) at = (at + 1) & (wanted - 1);
        l->place[at] = i + 1;
    }
}

/* The number of a value, which is added when new. */
static uint32_t number_of(value_list *l, value_id v)
{
    if (l->count <= FEW_VALUES) {
        for (uint32_t i = 0; i < l->count; i++) {
            if (l->items[i] == v) return i;
        }
    } else {
        if (l->place_capacity < 2 * ((size_t)l->count + 1)) place_rebuild(l);
        size_t at = (v * 0x9E3779B1u) & (l->place_capacity - 1);
        for (; l->place[at] != 0; at = (at + 1) & (l->place_capacity - 1)) {
            if (l->items[l->place[at] - 1] == v) return l->place[at] - 1;
        }
        l->place[at] = l->count + 1;
    }
    if (l->count == l->capacity) value_list_grow(l);
    l->items[l->count] = v;
    return l->count++;
}

static void value_list_fini(value_list *l)
{
    if (l->items != l->near) table_free(l->items);
    table_free(l->place);
}

/* First leaves that name the same value become the same slot, so that they merge; then slots are numbered in print
 * order, which most of them have already. */
static expr_id merge_value(void *self, uint32_t value)
{
    canonical *s = self;
    return expr_slot(s->context, s->value_count + number_of(&s->seen, value));
}

static expr_id merge_slot(void *self, uint32_t slot)
{
    canonical *s = self;
    BUG_IF(slot >= s->given_count, "an expression names operand %u of %u", slot, s->given_count);
    return merge_value(self, s->given[slot]);
}

static uint32_t found_number(canonical *s, uint32_t slot)
{
    return s->value_count + number_of(&s->found, s->seen.items[slot - s->value_count]);
}

static void note_slot(void *self, uint32_t slot)
{
    canonical *s = self;
    s->is_numbered &= found_number(s, slot) == slot;
}

static expr_id renumber_slot(void *self, uint32_t slot)
{
    canonical *s = self;
    return expr_slot(s->context, found_number(s, slot));
}

static expr_id canonical_expr(canonical *s, expr_id e)
{
    if (!expr_at(s->context, e)->has_slot) return e;
    expr_id merged =
        expr_substitute(s->context, e, &(expr_substitution){.slot = merge_slot, .value = merge_value, .self = s});
    BUG_IF(merged == 0, "an index expression overflows when equal operands are merged");
    s->is_numbered = true;
    expr_visit_slots(s->context, merged, note_slot, s);
    if (s->is_numbered) return merged;
    expr_id result = expr_substitute(s->context, merged, &(expr_substitution){.slot = renumber_slot, .self = s});
    BUG_IF(result == 0, "an index expression overflows when its operands are numbered");
    return result;
}

static bool has_slots(const ir_context *c, attr_id a, int depth)
{
    const attr_node *node = attr_at(c, a);
    if (!node->has_slot) return false;
    if (node->kind == ATTR_EXPR) return expr_at(c, node->id)->has_slot;
    if ((node->kind != ATTR_LIST && node->kind != ATTR_DICT) || depth == LIST_DEPTH) return false;
    for (uint32_t i = 0; i < node->count; i++) {
        if (has_slots(c, node->items[i], depth + 1)) return true;
    }
    return false;
}

static attr_id canonical_attr(canonical *s, attr_id a, int depth)
{
    const attr_node *node = attr_at(s->context, a);
    if (node->kind == ATTR_EXPR) return attr_expr(s->context, canonical_expr(s, node->id));
    if (node->kind != ATTR_LIST || depth == LIST_DEPTH || !has_slots(s->context, a, depth)) return a;
    attr_id few[16] = {0};
    size_t capacity = 0;
    attr_id *items = node->count <= 16 ? few : table_grow(NULL, &capacity, node->count, sizeof *items);
    uint32_t count = node->count;
    for (uint32_t i = 0; i < count; i++) items[i] = canonical_attr(s, attr_at(s->context, a)->items[i], depth + 1);
    attr_id list = attr_list(s->context, count, items);
    if (items != few) table_free(items);
    return list;
}

/* Attributes in print order: those of the row as declared, then the others by spelling. The dictionary has them all by
 * spelling, and stays as it is meanwhile. */
static attr_id canonical_dict(canonical *s, const kind_cache *k, attr_id attrs)
{
    enum { FEW_ATTRS = 16 };
    const attr_node *dict = attr_at(s->context, attrs);
    attr_id few[FEW_ATTRS] = {0};
    size_t capacity = 0;
    attr_id *values = dict->count <= FEW_ATTRS ? few : table_grow(NULL, &capacity, dict->count, sizeof *values);
    for (uint32_t i = 0; i < k->attr_count; i++) {
        for (uint32_t j = 0; j < dict->count; j++)
            if (dict->keys[j] == k->keys[i]) values[j] = canonical_attr(s, dict->items[j], 0);
    }
    for (uint32_t j = 0; j < dict->count; j++)
        if (values[j] == 0) values[j] = canonical_attr(s, dict->items[j], 0);
    const attr_id result = attr_dict(s->context, dict->count, dict->keys, values);
    if (values != few) table_free(values);
    return result;
}

void index_form_init(const module *m, index_form *f, op_kind kind, uint32_t value_count, uint32_t count,
                     const value_id *operands, attr_id attrs)
{
    *f = (index_form){.count = count, .operands = operands, .attrs = attrs};
    const kind_cache *k = kind_cache_at(m, kind);
    /* Slots of kernels count block arguments, and annotations of other rows name operands that they have anyway. */
    if (!k->index_attrs) return;
    f->count = value_count;
    if (!has_slots(m->context, attrs, 0)) return;
    canonical s = {.context = m->context, .given = operands, .given_count = count, .value_count = value_count};
    value_list_init(&s.seen);
    value_list_init(&s.found);
    f->attrs = canonical_dict(&s, k, attrs);
    f->count = value_count + s.found.count;
    size_t capacity = 0;
    if (f->count > INDEX_FORM_NEAR) f->scratch = table_grow(NULL, &capacity, f->count, sizeof *f->scratch);
    value_id *all = f->scratch != NULL ? f->scratch : f->near;
    if (value_count != 0) memcpy(all, operands, value_count * sizeof *operands);
    if (s.found.count != 0) memcpy(all + value_count, s.found.items, s.found.count * sizeof *s.found.items);
    f->operands = all;
    value_list_fini(&s.seen);
    value_list_fini(&s.found);
}

void index_form_fini(index_form *f) { table_free(f->scratch); }

/* ---- reading ---- */

typedef struct slot_reader {
    const module *m;
    const op_record *op;
} slot_reader;

static expr_id slot_value(void *self, uint32_t slot)
{
    const slot_reader *r = self;
    return slot < r->op->operand_count ? expr_value(r->m->context, operand_value(r->m, r->op, slot)) : 0;
}

/* What has to be there for an answer to be that of an attribute or expression of such an op: nothing else counts, so it
 * holds for ever. False: of ops with many operands none is kept. */
static bool over_values_key(const module *m, const op_record *op, uint32_t from, over_values *out)
{
    *out = (over_values){.from = from, .operand_count = op->operand_count};
    if (op->operand_count > OVER_VALUES_OPERANDS) return false;
    for (uint32_t i = 0; i < op->operand_count; i++) out->operands[i] = operand_value(m, op, i);
    return true;
}

static over_values *over_values_place(const module_caches *c, const over_values *key)
{
    uint32_t hash = key->from * 0x9E3779B1u;
    for (uint32_t i = 0; i < key->operand_count; i++) hash = (hash ^ key->operands[i]) * 0x9E3779B1u;
    return &c->over_values[hash >> (32 - c->over_values_log2)];
}

/* The answer is in `key->to`, when it is known. */
static bool is_over_values_known(const module_caches *c, over_values *key)
{
    if (c->over_values == NULL) return false;
    const over_values *kept = over_values_place(c, key);
    if (memcmp(kept, key, offsetof(over_values, to)) != 0) return false;
    key->to = kept->to;
    return true;
}

static void put_over_values(module_caches *c, const over_values *known)
{
    over_values *place = over_values_place(c, known);
    c->over_values_kept += place->from == 0;
    *place = *known;
}

/* The table grows with what is asked, so that one sweep over a large module leaves what the next one asks. */
static void keep_over_values(module_caches *c, over_values *key, uint32_t to)
{
    over_values *old = c->over_values;
    const uint32_t count = old != NULL ? 1u << c->over_values_log2 : 0;
    key->to = to;
    if (2 * c->over_values_kept >= count && c->over_values_log2 < OVER_VALUES_LAST_LOG2) {
        size_t capacity = 0;
        c->over_values_log2 = old != NULL ? c->over_values_log2 + 1 : OVER_VALUES_FIRST_LOG2;
        c->over_values = table_grow(NULL, &capacity, (size_t)1 << c->over_values_log2, sizeof *c->over_values);
        c->over_values_kept = 0;
        for (uint32_t i = 0; i < count; i++)
            if (old[i].from != 0) put_over_values(c, &old[i]);
        table_free(old);
    }
    put_over_values(c, key);
}

static expr_id expr_over_values(const module *m, const op_record *op, expr_id e)
{
    if (!expr_at(m->context, e)->has_slot) return e;
    over_values key;
    const bool is_kept = over_values_key(m, op, e, &key);
    if (is_kept && is_over_values_known(m->caches, &key)) return key.to;
    slot_reader reader = {m, op};
    expr_id to = expr_substitute(m->context, e, &(expr_substitution){.slot = slot_value, .self = &reader});
    if (is_kept) keep_over_values(m->caches, &key, to);
    return to;
}

/* Lists of lists are looked into as deep as those of rows go. */
static attr_id put_values(const module *m, const op_record *op, attr_id a, int depth)
{
    ir_context *c = m->context;
    const attr_node *node = attr_at(c, a);
    if (!node->has_slot) return a;
    if (node->kind == ATTR_EXPR) {
        const expr_id e = expr_over_values(m, op, node->id);
        return e != 0 ? attr_expr(c, e) : a;
    }
    if (node->kind != ATTR_LIST || depth == LIST_DEPTH) return a;
    attr_id few[16] = {0};
    size_t capacity = 0;
    attr_id *items = node->count <= 16 ? few : table_grow(NULL, &capacity, node->count, sizeof *items);
    for (uint32_t i = 0; i < node->count; i++) items[i] = put_values(m, op, node->items[i], depth + 1);
    const attr_id list = attr_list(c, node->count, items);
    if (items != few) table_free(items);
    return list;
}

attr_id op_attr_over_values(const module *m, op_id o, attr_id a)
{
    const op_record *op = op_at(m, o);
    if (!attr_at(m->context, a)->has_slot) return a;
    over_values key;
    const bool is_kept = over_values_key(m, op, a | OVER_VALUES_ATTR, &key);
    if (is_kept && is_over_values_known(m->caches, &key)) return key.to;
    const attr_id to = put_values(m, op, a, 0);
    if (is_kept) keep_over_values(m->caches, &key, to);
    return to;
}

expr_id op_index_expr(const module *m, op_id o, const char *attr, uint32_t index)
{
    attr_id a = op_attr(m, o, attr);
    return a == 0 ? 0 : index_expr_of(m, o, a, index);
}

expr_id index_expr_of(const module *m, op_id o, attr_id list, uint32_t index)
{
    const attr_node *node = attr_at(m->context, list);
    if (node->kind == ATTR_LIST) {
        if (index >= node->count) return 0;
        node = attr_at(m->context, node->items[index]);
    } else if (index != 0) {
        return 0;
    }
    if (node->kind == ATTR_INT) return expr_const(m->context, node->i);
    return node->kind == ATTR_EXPR ? expr_over_values(m, op_at(m, o), node->id) : 0;
}

uint32_t op_index_count(const module *m, op_id o, const char *attr)
{
    attr_id a = op_attr(m, o, attr);
    if (a == 0) return 0;
    const attr_node *node = attr_at(m->context, a);
    return node->kind == ATTR_LIST ? node->count : 1;
}

bool expr_same(ir_context *c, expr_id a, expr_id b)
{
    if (a == 0 || b == 0) return false;
    if (a == b) return true;
    int64_t number;
    expr_id difference = expr_sub(c, a, b);
    if (difference != 0 && expr_has_product(c, difference)) difference = expr_expand(c, difference);
    return expr_is_const(c, difference, &number) && number == 0;
}
