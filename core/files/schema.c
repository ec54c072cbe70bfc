#include "core/files/schema.h"

#include "core/core_diag.h"

#include <inttypes.h>
#include <string.h>

typedef struct checker {
    arena *a;
    diag_engine *d;
    bool failed;
} checker;

static const schema_key *key_find(const schema_key *keys, str name)
{
    for (; keys->name != NULL; keys++) {
        if (str_is(name, keys->name)) return keys;
    }
    return NULL;
}

void schema_unknown(diag_engine *d, src_pos at, const diag_code_info *code, const char *what, str word,
                    const char *const *candidates)
{
    const char *near = str_nearest(word, candidates);
    int shown = word.n > 60 ? 60 : (int)word.n;
    if (near == NULL)
        diag_error(d, at, code, "unknown %s `%.*s`", what, shown, word.p);
    else
        diag_error(d, at, code, "unknown %s `%.*s`; did you mean `%s`?", what, shown, word.p, near);
    text_buffer t;
    text_init(&t);
    uint32_t count = 0;
    for (; candidates[count] != NULL; count++) text_printf(&t, "%s`%s`", count == 0 ? "" : ", ", candidates[count]);
    diag_note(d, at, "%s%s", count == 0 ? "there are none" : "legal: ", count == 0 ? "" : t.p);
    text_fini(&t);
}

static void unknown_key(checker *c, const schema_key *keys, const yaml_pair *pair)
{
    const char *names[64] = {NULL};
    size_t count = 0;
    for (; keys->name != NULL && count < 63; keys++) names[count++] = keys->name;
    schema_unknown(c->d, pair->key_at, &E1030, "key", pair->key, names);
    c->failed = true;
}

static void check_node(checker *c, const schema_key *key, const char *what, const yaml_node *node);

static void check_missing_and_groups(checker *c, const schema_key *keys, const yaml_node *map)
{
    for (const schema_key *k = keys; k->name != NULL; k++) {
        if (k->is_required && yaml_find(map, k->name) == NULL) {
            diag_error(c->d, map->at, &E1031, "the key `%s` is missing here: %s", k->name, k->doc);
            c->failed = true;
        }
        if (k->group == 0 || (k != keys && k[-1].group == k->group)) continue;
        const yaml_pair *first = NULL;
        for (const schema_key *g = k; g->name != NULL && g->group == k->group; g++) {
            const yaml_pair *pair = yaml_find_pair(map, str_from(g->name));
            if (pair == NULL) continue;
            if (first != NULL) {
                const yaml_pair *later = pair > first ? pair : first;
                diag_error(c->d, later->key_at, &E1036, "`%s` and `%s` exclude each other; write two entries",
                           (later == pair ? first : pair)->key.p, later->key.p);
                c->failed = true;
            }
            first = pair;
        }
        if (first != NULL) continue;
        text_buffer t;
        text_init(&t);
        for (const schema_key *g = k; g->name != NULL && g->group == k->group; g++)
            text_printf(&t, "%s`%s`", g == k ? "" : ", ", g->name);
        diag_error(c->d, map->at, &E1031, "one of the keys %s is missing here", t.p);
        text_fini(&t);
        c->failed = true;
    }
}

enum { WHAT_BYTES = YAML_KEY_BYTES_MAX + 3 };

/* What messages call a value: its key in quotes, as far as it fits. Copied by hand: there is one for every key of every
 * file, and few messages. */
static const char *quoted(char out[WHAT_BYTES], str key)
{
    const size_t n = key.n < YAML_KEY_BYTES_MAX ? key.n : YAML_KEY_BYTES_MAX;
    out[0] = '`';
    memcpy(out + 1, key.p, n);
    memcpy(out + 1 + n, "`", 2);
    return out;
}

static void check_mapping(checker *c, const schema_key *keys, const yaml_node *map)
{
    for (uint32_t i = 0; i < map->count; i++) {
        const yaml_pair *pair = &map->pairs[i];
        const schema_key *key = key_find(keys, pair->key);
        if (key == NULL) {
            unknown_key(c, keys, pair);
            continue;
        }
        char what[WHAT_BYTES];
        check_node(c, key, quoted(what, pair->key), pair->value);
    }
    check_missing_and_groups(c, keys, map);
}

static void wrong_kind(checker *c, const char *what, const char *want, const yaml_node *node)
{
    diag_error(c->d, node->at, &E1032, "%s must be %s, not %s", what, want, yaml_kind_text(node->kind));
    c->failed = true;
}

static void check_named(checker *c, const schema_key *key, const yaml_node *map)
{
    for (uint32_t i = 0; i < map->count; i++) {
        const yaml_pair *pair = &map->pairs[i];
        if (key->choices != NULL && !str_list_has(key->choices, pair->key.p)) {
            schema_unknown(c->d, pair->key_at, &E1030, key->element->name, pair->key, key->choices);
            c->failed = true;
            continue;
        }
        char what[WHAT_BYTES];
        check_node(c, key->element, quoted(what, pair->key), pair->value);
    }
}

/* Recursion is as deep as the tables nest, and they do not contain themselves. */
static void check_node(checker *c, const schema_key *key, const char *what, const yaml_node *node)
{
    switch (key->kind) {
    case SCHEMA_VALUE: {
        value_rule rule = {key->type, key->min, key->max, key->choices, what};
        value v;
        if (value_from_node(c->a, c->d, node, &rule, &v) != OK) c->failed = true;
        return;
    }
    case SCHEMA_MAPPING:
        if (key->may_be_scalar && node->kind == YAML_SCALAR) return;
        if (node->kind != YAML_MAPPING) {
            wrong_kind(c, what, key->may_be_scalar ? "a name or a mapping" : "a mapping", node);
        } else {
            check_mapping(c, key->keys, node);
        }
        return;
    case SCHEMA_NAMED:
        if (node->kind != YAML_MAPPING) {
            wrong_kind(c, what, "a mapping", node);
        } else {
            check_named(c, key, node);
        }
        return;
    case SCHEMA_SEQUENCE:
        if (key->or_named != NULL && node->kind == YAML_MAPPING) {
            check_named(c, key->or_named, node);
            return;
        }
        if (node->kind != YAML_SEQUENCE) {
            wrong_kind(c, what, key->or_named != NULL ? "a sequence or a mapping" : "a sequence", node);
            return;
        }
        for (uint32_t i = 0; i < node->count; i++) check_node(c, key->element, key->element->name, node->items[i]);
        return;
    case SCHEMA_ANY: return;
    }
}

static status check_version(diag_engine *d, const schema_file *file, const yaml_node *root)
{
    if (root->kind != YAML_MAPPING || root->count == 0) {
        diag_error(d, root->at, &E1035, "a %s file is a mapping that begins `%s: %" PRId64 "`", file->kind,
                   file->version_key, file->version);
        return FAILED;
    }
    const yaml_pair *pair = &root->pairs[0];
    if (!str_is(pair->key, file->version_key)) {
        diag_error(d, pair->key_at, &E1035, "a %s file begins with the key `%s: %" PRId64 "`, not `%s`", file->kind,
                   file->version_key, file->version, pair->key.p);
        return FAILED;
    }
    int64_t version;
    if (pair->value->kind == YAML_SCALAR && str_to_i64(pair->value->text, &version) == OK && version == file->version) {
        return OK;
    }
    diag_error(d, pair->value->at, &E1035, "this program reads version %" PRId64 " of `%s` and no other", file->version,
               file->version_key);
    return FAILED;
}

status schema_check(arena *a, diag_engine *d, const schema_file *file, const yaml_node *root)
{
    TRY(check_version(d, file, root));
    checker c = {a, d, false};
    check_mapping(&c, file->keys, root);
    return c.failed ? FAILED : OK;
}

bool schema_value(arena *a, diag_engine *d, const schema_key *keys, const yaml_node *map, const char *name,
                  value *out_value)
{
    const schema_key *key = key_find(keys, str_from(name));
    BUG_IF(key == NULL || key->kind != SCHEMA_VALUE, "no key `%s` in this table", name);
    value_rule rule = {key->type, key->min, key->max, key->choices, name};
    const yaml_node *node = yaml_find(map, name);
    if (node == NULL && key->def == NULL) return false;
    status read = node == NULL ? value_from_text(a, d, NO_POS, key->def, &rule, out_value)
                               : value_from_node(a, d, node, &rule, out_value);
    BUG_IF(read != OK, "the value of `%s` was not checked", name);
    return true;
}

static value needed(arena *a, diag_engine *d, const schema_key *keys, const yaml_node *map, const char *name)
{
    value v = {0};
    bool found = schema_value(a, d, keys, map, name, &v);
    BUG_IF(!found, "key `%s` has neither value nor default", name);
    return v;
}

int64_t schema_i64(arena *a, diag_engine *d, const schema_key *keys, const yaml_node *map, const char *name)
{
    return needed(a, d, keys, map, name).i;
}

double schema_f64(arena *a, diag_engine *d, const schema_key *keys, const yaml_node *map, const char *name)
{
    return needed(a, d, keys, map, name).f;
}

const char *schema_str(arena *a, diag_engine *d, const schema_key *keys, const yaml_node *map, const char *name)
{
    value v;
    return schema_value(a, d, keys, map, name, &v) ? v.s.p : NULL;
}
