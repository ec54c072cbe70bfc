#include "ir/module_impl.h"

#include <string.h>

static module *module_allocate(ir_context *c)
{
    arena *memory = arena_create("module");
    module *m = arena_alloc(memory, sizeof *m);
    m->memory = memory;
    m->context = c;
    m->known_ops = context_ops(c);
    m->valid_epoch = 1;
    m->caches = arena_alloc(memory, sizeof *m->caches);
    return m;
}

module *module_create(ir_context *c, str_id name)
{
    module *m = module_allocate(c);
    m->name = name;
    record_table_init(&m->ops, sizeof(op_record));
    record_table_init(&m->values, sizeof(value_record));
    record_table_init(&m->rests, sizeof(rest_record));
    record_table_init(&m->uses, sizeof(far_use_record));
    record_table_init(&m->blocks, sizeof(block_record));
    /* The first chunk of each exists from the start, so that id 0 can be asked about. */
    record_table_extend(&m->ops, m->memory, 0);
    record_table_extend(&m->values, m->memory, 0);
    record_table_extend(&m->uses, m->memory, 0);
    m->top = blocks_create(m, 0, 1);
    return m;
}

static void free_tables(module *m)
{
    record_table_fini(&m->ops);
    record_table_fini(&m->rests);
    record_table_fini(&m->values);
    record_table_fini(&m->uses);
    record_table_fini(&m->blocks);
}

void module_destroy(module *m)
{
    if (m == NULL) return;
    free_tables(m);
    table_free(m->caches->symbols);
    table_free(m->caches->valid);
    table_free(m->caches->steps);
    table_free(m->caches->over_values);
    arena_destroy(m->memory);
}

static void copy_content(module *m, const module *from)
{
    m->name = from->name;
    m->file = from->file;
    m->attrs = from->attrs;
    m->attrs_at = from->attrs_at;
    m->top = from->top;
    record_table_copy(&m->ops, &from->ops, m->memory);
    record_table_copy(&m->rests, &from->rests, m->memory);
    record_table_copy(&m->values, &from->values, m->memory);
    record_table_copy(&m->uses, &from->uses, m->memory);
    record_table_copy(&m->blocks, &from->blocks, m->memory);
    for (block_id b = 1; b < m->blocks.count; b++) {
        block_record *block = block_raw(m, b);
        if (block->arg_capacity == 0) continue;
        value_id *args = arena_array(m->memory, block->arg_capacity, sizeof *args);
        memcpy(args, block->args, block->arg_capacity * sizeof *args);
        block->args = args;
    }
    m->caches->symbols_stale = true;
}

module *module_clone(const module *from)
{
    module *m = module_allocate(from->context);
    m->epoch = from->epoch;
    m->pathless = from->pathless;
    m->rangeless = from->rangeless;
    copy_content(m, from);
    return m;
}

void module_restore(module *m, const module *from)
{
    free_tables(m);
    copy_content(m, from);
    m->epoch++;
    m->valid_epoch++;
}

str_id module_name(const module *m) { return m->name; }
attr_id module_attrs(const module *m) { return m->attrs; }
uint64_t module_epoch(const module *m) { return m->epoch; }
uint64_t module_path_epoch(const module *m) { return m->epoch - m->pathless; }
str_id module_file(const module *m) { return m->file; }

void module_set_attrs(module *m, attr_id dict)
{
    if (dict != 0 && attr_at(m->context, dict)->count == 0) dict = 0;
    if (m->attrs == dict) return;
    m->attrs = dict;
    m->epoch++;
}

void module_set_attrs_pos(module *m, src_pos at) { m->attrs_at = at; }

src_pos module_attrs_pos(const module *m) { return m->attrs_at; }

void module_set_file(module *m, str_id file)
{
    if (m->file == file) return;
    m->file = file;
    m->epoch++;
}

size_t module_bytes(const module *m)
{
    const record_table *tables[] = {&m->ops, &m->rests, &m->values, &m->uses, &m->blocks};
    size_t bytes = 0;
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        bytes += (size_t)tables[i]->count * tables[i]->record_bytes + tables[i]->chunk_count * sizeof(void *);
    for (block_id b = 1; b < m->blocks.count; b++) bytes += block_raw(m, b)->arg_capacity * sizeof(value_id);
    return bytes;
}

/* ---- functions ---- */

str_id function_name(const module *m, op_id f)
{
    attr_id a = op_attr(m, f, "name");
    if (a == 0) return 0;
    const attr_node *node = attr_at(m->context, a);
    return node->kind == ATTR_STRING || node->kind == ATTR_SYMBOL ? node->id : 0;
}

void function_set_name(module *m, op_id f, str_id name) { op_set_attr(m, f, "name", attr_string(m->context, name)); }
block_id function_body(const module *m, op_id f) { return op_block_at(m, f, 0); }

str function_param_mode(const module *m, op_id f, uint32_t parameter)
{
    const attr_id modes = op_attr(m, f, "params");
    const attr_node *list = modes != 0 ? attr_at(m->context, modes) : NULL;
    if (list == NULL || list->kind != ATTR_LIST || parameter >= list->count) return STR("in");
    const attr_node *mode = attr_at(m->context, list->items[parameter]);
    return mode->kind == ATTR_STRING ? string_of(m->context, mode->id) : STR("in");
}

uint32_t function_alias(const module *m, op_id f, uint32_t result)
{
    const attr_id aliases = op_attr(m, f, "aliases");
    const attr_node *list = aliases != 0 ? attr_at(m->context, aliases) : NULL;
    if (list == NULL || list->kind != ATTR_LIST || result >= list->count) return UINT32_MAX;
    const attr_node *item = attr_at(m->context, list->items[result]);
    return item->kind == ATTR_INT && item->i >= 0 && item->i < UINT32_MAX ? (uint32_t)item->i : UINT32_MAX;
}

bool function_may_alias(const module *m, op_id f, uint32_t a, uint32_t b)
{
    const attr_id pairs = op_attr(m, f, "may_alias");
    const attr_node *list = pairs != 0 ? attr_at(m->context, pairs) : NULL;
    const int64_t count = block_arg_count(m, function_body(m, f));
    for (uint32_t i = 0; list != NULL && i < list->count; i++) {
        const attr_node *pair = attr_at(m->context, list->items[i]);
        const int64_t who = attr_at(m->context, pair->items[0])->i, other = attr_at(m->context, pair->items[1])->i;
        const int64_t first = who < 0 ? count - 1 - who : who;
        if ((first == a && other == b) || (first == b && other == a)) return true;
    }
    return false;
}

static bool is_tensor(const module *m, type_id t) { return t != 0 && type_at(m->context, t)->kind == TYPE_TENSOR; }

static bool signature_has_tensor(const module *m, op_id f)
{
    attr_id results = op_attr(m, f, "results");
    if (results == 0) return false;
    const attr_node *list = attr_at(m->context, results);
    for (uint32_t i = 0; i < list->count; i++) {
        const attr_node *type = attr_at(m->context, list->items[i]);
        if (type->kind == ATTR_TYPE && is_tensor(m, type->id)) return true;
    }
    return false;
}

static bool makes_tensor(const module *m, op_id o)
{
    const op_record *op = op_at(m, o);
    for (uint32_t i = 0; i < op->result_count; i++) {
        if (is_tensor(m, value_raw(m, op->results + i)->type)) return true;
    }
    for (uint32_t b = 0; b < block_count(m, op); b++) {
        const block_record *block = block_raw(m, first_block(m, op) + b);
        for (uint32_t i = 0; i < block->arg_count; i++) {
            if (is_tensor(m, value_raw(m, block->args[i])->type)) return true;
        }
    }
    return false;
}

ir_level function_level(const module *m, op_id f)
{
    if (op_kind_of(m, f) == OP_BLOCK_KERNEL) return LEVEL_BLOCK;
    bool tensor = false;
    IR_WALK(m, o, f)
    {
        ir_level level = op_home_level(op_info_of(m, o)->home);
        if (level != LEVEL_NONE) return level;
        tensor = tensor || (o != f && makes_tensor(m, o));
    }
    return tensor || signature_has_tensor(m, f) ? LEVEL_TENSOR : LEVEL_NONE;
}
