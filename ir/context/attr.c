/* Attributes, uniqued. */
#include "ir/context/context_impl.h"

#include <stdlib.h>

static bool attr_eq(const attr_node *a, const attr_node *b)
{
    if (a->kind != b->kind || a->is_large != b->is_large || a->count != b->count || a->i != b->i || a->type != b->type)
        return false;
    if (a->byte_count != b->byte_count) return false;
    if (a->items != NULL && memcmp(a->items, b->items, a->count * sizeof *a->items) != 0) return false;
    if (a->keys != NULL && memcmp(a->keys, b->keys, a->count * sizeof *a->keys) != 0) return false;
    return a->byte_count == 0 || memcmp(a->bytes, b->bytes, a->byte_count) == 0;
}

static uint32_t attr_hash(const attr_node *a)
{
    uint64_t h = hash_step((uint64_t)a->kind << 32 | (uint64_t)a->is_large << 63 | a->count, (uint64_t)a->i);
    if (a->items != NULL) h = hash_bytes(h, a->items, a->count * sizeof *a->items);
    if (a->keys != NULL) h = hash_bytes(h, a->keys, a->count * sizeof *a->keys);
    if (a->kind == ATTR_DENSE) h = hash_bytes(hash_step(h, a->type), a->bytes, a->byte_count);
    return hash_end(h);
}

static void note_content(const ir_context *c, attr_node *n)
{
    if (n->kind == ATTR_EXPR) {
        n->has_slot = expr_at(c, n->id)->has_slot;
        n->has_symbol = expr_at(c, n->id)->has_symbol;
    }
    if (n->kind == ATTR_TYPE) n->has_symbol = true;
    if (n->kind != ATTR_LIST && n->kind != ATTR_DICT) return;
    uint8_t inner = 0;
    for (uint32_t i = 0; i < n->count; i++) {
        const attr_node *item = attr_at(c, n->items[i]);
        n->has_slot |= item->has_slot;
        n->has_symbol |= item->has_symbol;
        if (item->nesting > inner) inner = item->nesting;
    }
    n->nesting = inner == UINT8_MAX ? inner : (uint8_t)(inner + 1);
}

/* `wanted` has NULL for lists without items; what it points to is copied when it is new. */
static attr_id attr_intern(ir_context *c, const attr_node *wanted)
{
    uint32_t hash = attr_hash(wanted);
    INTERN_EACH(&c->attr_index, hash, found)
    {
        if (attr_eq(attr_at(c, found), wanted)) return found;
    }
    attr_id id;
    attr_node *n = id_table_add(c, &c->tables.attrs, &id);
    *n = *wanted;
    note_content(c, n);
    if (n->items != NULL) n->items = arena_copy(c->memory, wanted->items, wanted->count * sizeof *n->items);
    if (n->keys != NULL) n->keys = arena_copy(c->memory, wanted->keys, wanted->count * sizeof *n->keys);
    if (n->bytes != NULL) n->bytes = arena_copy(c->memory, wanted->bytes, wanted->byte_count);
    intern_add(&c->attr_index, hash, id);
    return id;
}

attr_id attr_bool(ir_context *c, bool v) { return attr_intern(c, &(attr_node){.kind = ATTR_BOOL, .i = v}); }

attr_id attr_int(ir_context *c, int64_t v) { return attr_intern(c, &(attr_node){.kind = ATTR_INT, .i = v}); }

attr_id attr_uint(ir_context *c, uint64_t v)
{
    return attr_intern(c, &(attr_node){.kind = ATTR_INT, .is_large = v > INT64_MAX, .i = (int64_t)v});
}

attr_id attr_float(ir_context *c, double v) { return attr_intern(c, &(attr_node){.kind = ATTR_FLOAT, .f = v}); }

/* Through `i`, so that the upper half of the union is zero. */
static attr_id attr_of_id(ir_context *c, attr_kind kind, uint32_t id)
{
    attr_node n = {.kind = (uint8_t)kind, .i = 0};
    n.id = id;
    return attr_intern(c, &n);
}

attr_id attr_string(ir_context *c, str_id s) { return attr_of_id(c, ATTR_STRING, s); }

attr_id attr_symbol(ir_context *c, str_id s) { return attr_of_id(c, ATTR_SYMBOL, s); }

attr_id attr_type(ir_context *c, type_id t) { return attr_of_id(c, ATTR_TYPE, t); }

attr_id attr_expr(ir_context *c, expr_id e) { return attr_of_id(c, ATTR_EXPR, e); }

attr_id attr_resource(ir_context *c, str_id file) { return attr_of_id(c, ATTR_RESOURCE, file); }

attr_id attr_list(ir_context *c, uint32_t count, const attr_id *items)
{
    return attr_intern(c, &(attr_node){.kind = ATTR_LIST, .count = count, .items = count == 0 ? NULL : items});
}

attr_id attr_dense(ir_context *c, type_id type, uint32_t byte_count, const void *bytes)
{
    return attr_intern(
        c, &(attr_node){
               .kind = ATTR_DENSE, .type = type, .byte_count = byte_count, .bytes = byte_count == 0 ? NULL : bytes});
}

/* ---- dicts ---- */

typedef struct dict_entry {
    str_id key;
    attr_id value;
} dict_entry;

static int entry_order(const void *a, const void *b, void *context)
{
    return spelling_order(context, ((const dict_entry *)a)->key, ((const dict_entry *)b)->key);
}

static attr_id dict_intern(ir_context *c, uint32_t count, const str_id *keys, const attr_id *values)
{
    return attr_intern(c, &(attr_node){.kind = ATTR_DICT, .count = count, .keys = keys, .items = values});
}

static attr_id dict_sorted(ir_context *c, uint32_t count, const str_id *keys, const attr_id *values)
{
    enum { SHORT = 32 };
    dict_entry short_entries[SHORT], *entries = short_entries;
    uint32_t short_ids[2 * SHORT], *ids = short_ids;
    size_t capacity = 0, id_capacity = 0;
    if (count > SHORT) {
        entries = table_grow(NULL, &capacity, count, sizeof *entries);
        ids = table_grow(NULL, &id_capacity, 2 * (size_t)count, sizeof *ids);
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t k = i;
        for (; count <= SHORT && k > 0 && spelling_order(c, keys[i], entries[k - 1].key) < 0; k--)
            entries[k] = entries[k - 1];
        entries[k] = (dict_entry){keys[i], values[i]};
    }
    if (count > SHORT) qsort_r(entries, count, sizeof *entries, entry_order, c);
    for (uint32_t i = 0; i < count; i++) {
        BUG_IF(i > 0 && entries[i].key == entries[i - 1].key, "key `%s` twice", string_of(c, entries[i].key).p);
        ids[i] = entries[i].key;
        ids[count + i] = entries[i].value;
    }
    attr_id result = dict_intern(c, count, ids, ids + count);
    if (count > SHORT) {
        table_free(entries);
        table_free(ids);
    }
    return result;
}

attr_id attr_dict(ir_context *c, uint32_t count, const str_id *keys, const attr_id *values)
{
    if (count == 0) return 0;
    for (uint32_t i = 1; i < count; i++) {
        if (spelling_order(c, keys[i - 1], keys[i]) >= 0) return dict_sorted(c, count, keys, values);
    }
    return dict_intern(c, count, keys, values);
}

attr_id attr_dict_empty(ir_context *c) { return attr_intern(c, &(attr_node){.kind = ATTR_DICT}); }

attr_id attr_with(ir_context *c, attr_id dict, str_id key, attr_id value)
{
    attr_id old = attr_get(c, dict, key);
    if (old == value) return dict;
    const attr_node *n = attr_at(c, dict);
    enum { SHORT = 32 };
    uint32_t short_ids[2 * SHORT], *ids = short_ids;
    size_t capacity = 0, most = (size_t)n->count + 1;
    if (most > SHORT) ids = table_grow(NULL, &capacity, 2 * most, sizeof *ids);
    uint32_t count = 0;
    bool placed = value == 0;
    for (uint32_t i = 0; i <= n->count; i++) {
        if (!placed && (i == n->count || spelling_order(c, key, n->keys[i]) <= 0)) {
            ids[count] = key;
            ids[most + count++] = value;
            placed = true;
        }
        if (i == n->count || n->keys[i] == key) continue;
        ids[count] = n->keys[i];
        ids[most + count++] = n->items[i];
    }
    attr_id result = count == 0 ? 0 : dict_intern(c, count, ids, ids + most);
    if (most > SHORT) table_free(ids);
    return result;
}
