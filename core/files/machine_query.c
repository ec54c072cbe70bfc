/* Values of a machine file by path. */
#include "core/files/machine.h"

#include <string.h>

/* A place in the file: the node, and what the tables say of it. Node NULL: only the default is left. */
typedef struct cursor {
    const schema_key *key;
    const yaml_node *node;
} cursor;

static bool take_segment(str *path, str *out_segment)
{
    if (path->n == 0) return false;
    const char *dot = memchr(path->p, '.', path->n);
    size_t n = dot == NULL ? path->n : (size_t)(dot - path->p);
    *out_segment = (str){path->p, n};
    size_t used = dot == NULL ? n : n + 1;
    path->p += used;
    path->n -= used;
    return n != 0;
}

static bool step_into_keys(const schema_key *keys, const yaml_node *map, str name, cursor *out)
{
    for (; keys->name != NULL; keys++) {
        if (!str_is(name, keys->name)) continue;
        *out = (cursor){keys, yaml_find(map, keys->name)};
        return true;
    }
    return false;
}

/* "paths.gm.vec": the first path with these ends. */
static bool step_into_path(const machine *m, str from, str *rest, cursor *at)
{
    str to;
    if (!take_segment(rest, &to)) return false;
    const yaml_node *list = at->node;
    for (uint32_t i = 0; i < m->path_count; i++) {
        if (!str_is(from, m->paths[i].from) || !str_is(to, m->paths[i].to)) continue;
        *at = (cursor){at->key->element, list->items[i]};
        return true;
    }
    return false;
}

static bool locate(const machine *m, str path, cursor *out)
{
    cursor at = {NULL, m->root};
    str segment;
    bool any = false;
    while (take_segment(&path, &segment)) {
        any = true;
        const schema_key *key = at.key;
        if (key == NULL || key->kind == SCHEMA_MAPPING) {
            if (!step_into_keys(key == NULL ? machine_schema.keys : key->keys, at.node, segment, &at)) return false;
        } else if (key->kind == SCHEMA_NAMED) {
            const yaml_pair *pair = yaml_find_pair(at.node, segment);
            if (pair == NULL) return false;
            at = (cursor){key->element, pair->value};
        } else if (key->kind != SCHEMA_SEQUENCE || key->element->kind != SCHEMA_MAPPING ||
                   !step_into_path(m, segment, &path, &at)) {
            return false;
        }
    }
    *out = at;
    return any && path.n == 0;
}

/* The text of a value, of its default when it is absent. */
static bool text_of(const cursor *at, str *out)
{
    if (at->key->kind != SCHEMA_VALUE) return false;
    if (at->node != NULL) {
        *out = at->node->text;
    } else if (at->key->def != NULL) {
        *out = str_from(at->key->def);
    } else {
        return false;
    }
    return true;
}

/* Values were checked when the machine was read, so the reader has nothing to report; text needs no arena. */
static bool value_at(const cursor *at, value *out)
{
    str text;
    if (!text_of(at, &text)) return false;
    yaml_node scalar = {.kind = YAML_SCALAR, .text = text};
    value_rule rule = {at->key->type, NULL, NULL, at->key->choices, at->key->name};
    return value_from_node(NULL, NULL, &scalar, &rule, out) == OK;
}

static bool usable_bytes(const machine *m, str path, int64_t *out)
{
    str section, name;
    if (!take_segment(&path, &section) || !take_segment(&path, &name)) return false;
    if (!str_is(section, "spaces") || !str_is(path, "usable-bytes")) return false;
    const machine_space *s = machine_space_by_name(m, name);
    if (s == NULL) return false;
    *out = machine_space_usable_bytes(s);
    return true;
}

bool machine_query_i64(const machine *m, str path, int64_t *out)
{
    if (usable_bytes(m, path, out)) return true;
    cursor at;
    if (!locate(m, path, &at) || at.key == NULL) return false;
    value v;
    bool is_integer = at.key->type == VALUE_I64 || at.key->type == VALUE_BYTES || at.key->type == VALUE_BOOL;
    if (!is_integer || !value_at(&at, &v)) return false;
    *out = v.i;
    return true;
}

bool machine_query_f64(const machine *m, str path, double *out)
{
    int64_t integer;
    if (machine_query_i64(m, path, &integer)) {
        *out = (double)integer;
        return true;
    }
    cursor at;
    value v;
    if (!locate(m, path, &at) || at.key == NULL || at.key->type != VALUE_F64 || !value_at(&at, &v)) return false;
    *out = v.f;
    return true;
}

bool machine_query_str(arena *a, const machine *m, str path, str *out)
{
    cursor at;
    if (!locate(m, path, &at) || at.key == NULL) return false;
    if (at.key->kind == SCHEMA_VALUE) {
        bool is_text = at.key->type == VALUE_STR || at.key->type == VALUE_ENUM;
        return is_text && text_of(&at, out);
    }
    if (at.key->kind != SCHEMA_SEQUENCE || at.node == NULL || at.key->element->kind != SCHEMA_VALUE) return false;
    text_buffer t;
    text_init(&t);
    for (uint32_t i = 0; i < at.node->count; i++) {
        const str name = at.node->kind == YAML_MAPPING ? at.node->pairs[i].key : at.node->items[i]->text;
        text_printf(&t, "%s%.*s", i > 0 ? "," : "", (int)name.n, name.p);
    }
    *out = str_from(text_keep(&t, a));
    return true;
}
