#include "ir/context/context_impl.h"

#include <stdatomic.h>

static void id_table_init(ir_context *c, id_table *t, size_t record_bytes)
{
    uint32_t none;
    t->record_bytes = (uint32_t)record_bytes;
    id_table_add(c, t, &none);
}

void *id_table_add(ir_context *c, id_table *t, uint32_t *out_id)
{
    uint32_t id = t->count;
    BUG_IF(id >= UINT32_C(1) << 31, "more than 2^31 records in a table of the context");
    uint32_t place = id + ID_FIRST_CHUNK;
    uint32_t top = 31 - (uint32_t)__builtin_clz(place);
    char **chunk = &t->chunks[top - ID_FIRST_CHUNK_LOG2];
    if (*chunk == NULL) *chunk = arena_array(c->memory, (size_t)1 << top, t->record_bytes);
    t->count = id + 1;
    *out_id = id;
    return *chunk + (size_t)(place - (UINT32_C(1) << top)) * t->record_bytes;
}

static void intern_place(intern_table *t, uint32_t hash, uint32_t id)
{
    size_t i = hash & (t->capacity - 1);
    while (t->slots[i].id != 0) i = (i + 1) & (t->capacity - 1);
    t->slots[i] = (intern_slot){.hash = hash, .id = id};
}

static void intern_resize(intern_table *t, size_t capacity)
{
    intern_table old = *t;
    t->slots = NULL;
    t->capacity = 0;
    t->slots = table_grow(NULL, &t->capacity, capacity, sizeof *t->slots);
    for (size_t i = 0; i < old.capacity; i++) {
        if (old.slots[i].id != 0) intern_place(t, old.slots[i].hash, old.slots[i].id);
    }
    table_free(old.slots);
}

void intern_add(intern_table *t, uint32_t hash, uint32_t id)
{
    if (2 * (t->count + 1) > t->capacity) intern_resize(t, 2 * t->capacity);
    intern_place(t, hash, id);
    t->count++;
}

void context_set_stop(ir_context *c, const _Atomic uint32_t *stop) { c->stop = stop; }

bool context_should_stop(const ir_context *c)
{
    return c->stop != NULL && atomic_load_explicit(c->stop, memory_order_relaxed) != 0;
}

ir_context *context_create(diag_engine *diags)
{
    arena *memory = arena_create("context");
    ir_context *c = arena_alloc(memory, sizeof *c);
    c->memory = memory;
    c->diags = diags;
    c->names = role_names_create(memory);
    id_table_init(c, &c->tables.strings, sizeof(string_record));
    id_table_init(c, &c->tables.exprs, sizeof(expr_node));
    id_table_init(c, &c->tables.types, sizeof(type_node));
    id_table_init(c, &c->tables.attrs, sizeof(attr_node));
    id_table_init(c, &c->tables.locs, sizeof(loc_record));
    enum { FIRST_SLOTS = 128 };
    intern_resize(&c->string_index, FIRST_SLOTS);
    intern_resize(&c->expr_index, FIRST_SLOTS);
    intern_resize(&c->type_index, FIRST_SLOTS);
    intern_resize(&c->attr_index, FIRST_SLOTS);
    intern_resize(&c->loc_index, FIRST_SLOTS);
    string_record *none = id_table_at(&c->tables.strings, 0, sizeof *none);
    none->p = "";
    return c;
}

void context_destroy(ir_context *c)
{
    if (c == NULL) return;
    table_free(c->string_index.slots);
    table_free(c->expr_index.slots);
    table_free(c->type_index.slots);
    table_free(c->attr_index.slots);
    table_free(c->loc_index.slots);
    arena_destroy(c->memory);
}

diag_engine *context_diags(const ir_context *c) { return c->diags; }

arena *context_arena(const ir_context *c) { return c->memory; }

void context_set_ops(ir_context *c, op_table *ops) { c->ops = ops; }

op_table *context_ops(const ir_context *c) { return c->ops; }

role_names *context_names(const ir_context *c) { return c->names; }

const char *space_name(const ir_context *c, space s)
{
    return s == SPACE_NONE ? "?" : role_names_text(c->names, NAME_SPACE, s);
}

space space_by_name(const ir_context *c, str s) { return role_names_find(c->names, NAME_SPACE, s); }

space_role space_role_of(const ir_context *c, space s)
{
    return s == SPACE_NONE ? SPACE_ROLE_NONE : (space_role)role_names_role(c->names, NAME_SPACE, s);
}

const char *layout_name(const ir_context *c, layout l)
{
    return l == LAYOUT_NONE ? "none" : role_names_text(c->names, NAME_LAYOUT, l);
}

layout layout_by_name(const ir_context *c, str s) { return role_names_find(c->names, NAME_LAYOUT, s); }

layout_order layout_order_of(const ir_context *c, layout l)
{
    return l == LAYOUT_NONE ? ORDER_NONE : (layout_order)role_names_role(c->names, NAME_LAYOUT, l);
}

static bool is_text(const ir_context *c, str_id id, str s)
{
    const string_record *r = id_table_at(&c->tables.strings, id, sizeof *r);
    return r->n == s.n && bytes_equal(r->p, s.p, s.n);
}

static str_id find_text(ir_context *c, str s)
{
    uint32_t hash = hash_end(hash_bytes(s.n, s.p, s.n));
    INTERN_EACH(&c->string_index, hash, found)
    {
        if (is_text(c, found, s)) return found;
    }
    str_id id;
    string_record *r = id_table_add(c, &c->tables.strings, &id);
    *r = (string_record){.p = arena_strndup(c->memory, s.p, s.n), .n = s.n};
    intern_add(&c->string_index, hash, id);
    return id;
}

str_id string_intern(ir_context *c, str s)
{
    text_place *at = &c->texts[((uintptr_t)s.p ^ (uintptr_t)s.p >> 9) % TEXT_PLACES];
    if (at->p != s.p || at->id == 0 || !is_text(c, at->id, s)) *at = (text_place){s.p, find_text(c, s)};
    return at->id;
}

str_id string_intern_z(ir_context *c, const char *s) { return string_intern(c, str_from(s)); }
