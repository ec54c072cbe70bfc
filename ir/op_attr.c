/* Attributes of ops: rows and their defaults. */
#include "ir/module_impl.h"

#include <string.h>

/* The value of a default in .ptir spelling. */
static attr_id default_value(ir_context *c, const attr_spec *spec)
{
    str text = str_from(spec->def);
    int64_t i;
    double f;
    if (str_is(text, "true") || str_is(text, "false")) return attr_bool(c, text.p[0] == 't');
    if (text.n >= 2 && text.p[0] == '"') return attr_string(c, string_intern(c, (str){text.p + 1, text.n - 2}));
    if (spec->kind != SPEC_FLOAT && str_to_i64(text, &i) == OK) {
        attr_id value = attr_int(c, i);
        return spec->kind == SPEC_INTS ? attr_list(c, 1, &value) : value;
    }
    BUG_IF(str_to_f64(text, &f) != OK, "the default `%s` of attribute `%s` cannot be read", spec->def, spec->name);
    return attr_float(c, f);
}

void kind_cache_fill(const module *m, op_kind kind, kind_cache *k)
{
    const op_info *info = op_info_at(m->known_ops, kind);
    bool list_of_exprs = kind == OP_FOR; /* `valid` */
    size_t n = 0;
    for (; n < sizeof info->attrs / sizeof info->attrs[0] && info->attrs[n].name != NULL; n++) {
        const attr_spec *spec = &info->attrs[n];
        k->names[n] = spec->name;
        k->keys[n] = string_intern_z(m->context, spec->name);
        if (spec->kind == SPEC_EXPRS || (list_of_exprs && spec->kind == SPEC_LIST)) k->index_attrs = true;
        if (spec->def == NULL) continue;
        k->has_default = true;
        k->defaults[n] = default_value(m->context, spec);
    }
    k->attr_count = (uint8_t)n;
    if ((info->traits & TRAIT_FUNCTION) != 0) k->index_attrs = false;
    k->in_count = (uint16_t)op_info_operands(info);
    k->in_variadic = info->in_variadic != 0;
    k->info = info;
    k->ready = true;
}

kind_cache *kind_cache_added(const module *m, op_kind kind)
{
    module_caches *c = m->caches;
    const size_t i = (size_t)kind - OP_KIND_COUNT;
    (void)op_table_row(m->known_ops, kind);
    if (i >= c->added_capacity) {
        const size_t capacity = i + 16;
        kind_cache **grown = arena_array(m->memory, capacity, sizeof *grown);
        for (size_t k = 0; k < c->added_capacity; k++) grown[k] = c->added_kinds[k];
        c->added_kinds = grown;
        c->added_capacity = capacity;
    }
    if (c->added_kinds[i] == NULL) c->added_kinds[i] = arena_alloc(m->memory, sizeof **c->added_kinds);
    return c->added_kinds[i];
}

attr_id attrs_without_defaults(const module *m, op_kind kind, attr_id attrs)
{
    if (attrs == 0) return 0;
    const kind_cache *k = kind_cache_at(m, kind);
    if (k->has_default) {
        for (uint32_t i = 0; i < k->attr_count; i++) {
            if (k->defaults[i] == 0 || attr_get(m->context, attrs, k->keys[i]) != k->defaults[i]) continue;
            attrs = attr_with(m->context, attrs, k->keys[i], 0);
        }
    }
    return attrs == 0 || attr_at(m->context, attrs)->count == 0 ? 0 : attrs;
}

void op_set_attrs(module *m, op_id o, attr_id dict)
{
    const op_record *op = op_at(m, o);
    uint32_t count = op->operand_count;
    value_id few[16] = {0};
    size_t capacity = 0;
    value_id *operands = count <= 16 ? few : table_grow(NULL, &capacity, count, sizeof *operands);
    for (uint32_t i = 0; i < count; i++) operands[i] = operand_value(m, op, i);
    op_set_operands(m, o, count, operands, dict);
    if (operands != few) table_free(operands);
}

static uint32_t place_of_text(const kind_cache *k, const char *name)
{
    uint32_t i = 0;
    while (i < k->attr_count && (k->names[i][0] != name[0] || strcmp(k->names[i], name) != 0)) i++;
    return i;
}

/* The place of a name in the row; attr_count: there is none. Names are mostly literals, of which the linker makes one.
 */
static inline uint32_t place_of(const kind_cache *k, const char *name)
{
    uint32_t i = 0;
    while (i < k->attr_count && k->names[i] != name) i++;
    return i < k->attr_count ? i : place_of_text(k, name);
}

attr_id op_given_attr(const module *m, op_id o, const char *name)
{
    const op_record *op = op_at(m, o);
    if (op->attrs == 0) return 0;
    const kind_cache *k = kind_cache_at(m, op->kind);
    const uint32_t i = place_of(k, name);
    return attr_get(m->context, op->attrs, i < k->attr_count ? k->keys[i] : string_intern_z(m->context, name));
}

/* Of any kind and name. */
static __attribute__((noinline)) attr_id find_attr(const module *m, op_id o, const char *name)
{
    const attr_id value = op_given_attr(m, o, name);
    const kind_cache *k = kind_cache_at(m, op_at(m, o)->kind);
    const uint32_t i = value == 0 ? place_of(k, name) : k->attr_count;
    return i < k->attr_count ? k->defaults[i] : value;
}

/* Asked more often than all else of the IR: what is known is found without a call. */
attr_id op_attr(const module *m, op_id o, const char *name)
{
    const op_record *op = op_at(m, o);
    if (op->kind >= OP_KIND_COUNT) return find_attr(m, o, name);
    const kind_cache *k = &m->caches->kinds[op->kind];
    uint32_t i = 0;
    while (i < k->attr_count && k->names[i] != name) i++;
    if (i == k->attr_count) return find_attr(m, o, name);
    const attr_id value = op->attrs == 0 ? 0 : attr_get(m->context, op->attrs, k->keys[i]);
    return value == 0 ? k->defaults[i] : value;
}

attr_id op_attr_by_key(const module *m, op_id o, str_id key)
{
    const op_record *op = op_at(m, o);
    const attr_id value = op->attrs == 0 ? 0 : attr_get(m->context, op->attrs, key);
    const kind_cache *k = kind_cache_at(m, op->kind);
    for (uint32_t i = 0; value == 0 && k->has_default && i < k->attr_count; i++)
        if (k->keys[i] == key) return k->defaults[i];
    return value;
}

void op_set_attr(module *m, op_id o, const char *name, attr_id value)
{
    const kind_cache *k = kind_cache_at(m, op_at(m, o)->kind);
    const uint32_t i = place_of(k, name);
    const str_id key = i < k->attr_count ? k->keys[i] : string_intern_z(m->context, name);
    op_set_attrs(m, o, attr_with(m->context, op_at(m, o)->attrs, key, value));
}

int64_t op_attr_int(const module *m, op_id o, const char *name, int64_t absent)
{
    attr_id a = op_attr(m, o, name);
    if (a == 0) return absent;
    const attr_node *node = attr_at(m->context, a);
    return node->kind == ATTR_INT || node->kind == ATTR_BOOL ? node->i : absent;
}

str op_attr_str(const module *m, op_id o, const char *name)
{
    attr_id a = op_attr(m, o, name);
    if (a == 0) return (str){NULL, 0};
    const attr_node *node = attr_at(m->context, a);
    if (node->kind != ATTR_STRING && node->kind != ATTR_SYMBOL) return (str){NULL, 0};
    return string_of(m->context, node->id);
}
