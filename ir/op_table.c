#include "ir/op_table.h"

#include <string.h>

typedef struct added_op {
    op_info info;
    op_form form;
} added_op;

struct op_table {
    arena *a;
    op_source source;
    const added_op **added;
    size_t capacity;
    uint32_t count;
};

op_table *op_table_create(arena *a)
{
    op_table *t = arena_alloc(a, sizeof *t);
    t->a = a;
    return t;
}

void op_table_set_source(op_table *t, const op_source *source) { t->source = *source; }

bool op_dialect_is_ours(str dialect)
{
    static const char *const ours[] = {"core", "tensor", "tile", "block", "pto", "exec"};
    for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++)
        if (str_is(dialect, ours[i])) return true;
    return false;
}

static bool is_ours(str name)
{
    const char *dot = memchr(name.p, '.', name.n);
    return dot == NULL || op_dialect_is_ours((str){name.p, (size_t)(dot - name.p)});
}

op_kind op_table_add(op_table *t, const op_info *row)
{
    const str name = str_from(row->name);
    BUG_IF(is_ours(name) || op_table_find_added(t, name) != OP_NONE, "op `%s` is added twice", row->name);
    BUG_IF(t->count == UINT16_MAX - OP_KIND_COUNT, "more ops than there are numbers for");
    if (t->count == t->capacity) {
        const size_t capacity = t->capacity == 0 ? 16 : 2 * t->capacity;
        const added_op **grown = arena_array(t->a, capacity, sizeof *grown);
        for (uint32_t i = 0; i < t->count; i++) grown[i] = t->added[i];
        t->added = grown;
        t->capacity = capacity;
    }
    added_op *op = arena_alloc(t->a, sizeof *op);
    op->info = *row;
    op_form_fill(&op->form, &op->info);
    t->added[t->count] = op;
    return (op_kind)(OP_KIND_COUNT + t->count++);
}

static const added_op *added_at(const op_table *t, op_kind kind)
{
    BUG_IF(t == NULL || kind < OP_KIND_COUNT || (uint32_t)(kind - OP_KIND_COUNT) >= t->count, "there is no op kind %u",
           kind);
    return t->added[kind - OP_KIND_COUNT];
}

const op_info *op_table_row(const op_table *t, op_kind kind) { return &added_at(t, kind)->info; }

const op_form *op_table_form(const op_table *t, op_kind kind) { return &added_at(t, kind)->form; }

op_kind op_table_find_added(const op_table *t, str name)
{
    for (uint32_t i = 0; t != NULL && i < t->count; i++)
        if (str_is(name, t->added[i]->info.name)) return (op_kind)(OP_KIND_COUNT + i);
    return OP_NONE;
}

op_kind op_kind_by_name(op_table *t, str name)
{
    op_kind kind = op_kind_of_ours(name);
    if (kind != OP_NONE || t == NULL || name.n == 0 || is_ours(name)) return kind;
    kind = op_table_find_added(t, name);
    if (kind != OP_NONE || t->source.find == NULL) return kind;
    t->source.find(t->source.self, t, name);
    return op_table_find_added(t, name);
}

uint32_t op_kind_count(const op_table *t) { return OP_KIND_COUNT + (t != NULL ? t->count : 0); }

const char *op_nearest_name(const op_table *t, str name)
{
    static const char *const nothing[] = {NULL};
    const char *const *more = t != NULL && t->source.names != NULL ? t->source.names(t->source.self) : nothing;
    uint32_t count = op_kind_count(t), n = 0;
    for (const char *const *p = more; *p != NULL; p++) count++;
    size_t capacity = 0;
    const char **names = table_grow(NULL, &capacity, count, sizeof *names);
    for (uint32_t k = OP_NONE + 1; k < op_kind_count(t); k++) names[n++] = op_info_at(t, (op_kind)k)->name;
    while (*more != NULL) names[n++] = *more++;
    names[n] = NULL;
    const char *near = str_nearest(name, names);
    table_free((void *)names);
    return near;
}

const char *op_table_excuse(const op_table *t, str name)
{
    return t == NULL || t->source.excuse == NULL || is_ours(name) ? NULL : t->source.excuse(t->source.self);
}
