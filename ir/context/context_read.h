/* What is read most, inline: the records of a context by id. Only for context.h, which ends in it and documents the
 * functions. */
#ifndef IR_CONTEXT_CONTEXT_READ_H
#define IR_CONTEXT_CONTEXT_READ_H

#include "ir/context/context.h" // NOLINT(misc-header-include-cycle): which ends with this one

/* Records in chunks of 64, 64, 128, 256, ... so that they never move. `count` includes record 0. */
enum { ID_FIRST_CHUNK = 64, ID_FIRST_CHUNK_LOG2 = 6, ID_CHUNKS = 27 };
typedef struct id_table {
    char *chunks[ID_CHUNKS];
    uint32_t count;
    uint32_t record_bytes;
} id_table;

typedef struct string_record {
    const char *p;
    size_t n;
} string_record;

/* Each context begins with its tables. */
typedef struct context_tables {
    id_table strings, exprs, types, attrs, locs;
} context_tables;

/* The tables of a context, which is known by its first member alone. */
static inline const context_tables *context_tables_of(const ir_context *c) { return (const void *)c; }

/* Record `id + 64` lies in the chunk of its highest bit. Callers pass the size of the record as a constant. */
static inline void *id_table_at(const id_table *t, uint32_t id, size_t record_bytes)
{
    BUG_IF(id >= t->count, "id %u of %u in a table of the context", id, t->count);
    uint32_t place = id + ID_FIRST_CHUNK;
    uint32_t top = 31 - (uint32_t)__builtin_clz(place);
    return t->chunks[top - ID_FIRST_CHUNK_LOG2] + (size_t)(place - (UINT32_C(1) << top)) * record_bytes;
}

static inline str string_of(const ir_context *c, str_id id)
{
    const string_record *r = id_table_at(&context_tables_of(c)->strings, id, sizeof *r);
    return (str){r->p, r->n};
}

static inline const expr_node *expr_at(const ir_context *c, expr_id e)
{
    return id_table_at(&context_tables_of(c)->exprs, e, sizeof(expr_node));
}

static inline bool expr_exists(const ir_context *c, expr_id e) { return e < context_tables_of(c)->exprs.count; }

static inline bool expr_is_const(const ir_context *c, expr_id e, int64_t *out)
{
    const expr_node *n = expr_at(c, e);
    if (n->kind != EXPR_CONST) return false;
    if (out != NULL) *out = n->value;
    return true;
}

static inline const type_node *type_at(const ir_context *c, type_id t)
{
    return id_table_at(&context_tables_of(c)->types, t, sizeof(type_node));
}

static inline bool type_exists(const ir_context *c, type_id t) { return t < context_tables_of(c)->types.count; }

static inline const attr_node *attr_at(const ir_context *c, attr_id a)
{
    return id_table_at(&context_tables_of(c)->attrs, a, sizeof(attr_node));
}

static inline bool attr_exists(const ir_context *c, attr_id a) { return a < context_tables_of(c)->attrs.count; }

static inline attr_id attr_get(const ir_context *c, attr_id dict, str_id key)
{
    const attr_node *n = attr_at(c, dict);
    BUG_IF(dict != 0 && n->kind != ATTR_DICT, "attr_get of an attribute of kind %d", n->kind);
    for (uint32_t i = 0; i < n->count; i++) {
        if (n->keys[i] == key) return n->items[i];
    }
    return 0;
}

#endif
