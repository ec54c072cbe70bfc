#include "core/files/option.h"

#include "core/core_diag.h"
#include "core/files/schema.h"

#include <stdio.h>

enum { WHAT_BYTES = 200, OPTION_NAME_BYTES = 64 };

uint32_t option_count(const pto_option *const *options)
{
    uint32_t n = 0;
    while (options != NULL && options[n] != NULL) n++;
    return n;
}

int32_t option_index_by_name(const pto_option *const *options, str name)
{
    for (int32_t i = 0; options != NULL && options[i] != NULL; i++) {
        if (str_is(name, options[i]->name)) return i;
    }
    return -1;
}

static value_rule rule_of(const pto_option *o, const char *owner, char *what)
{
    snprintf(what, WHAT_BYTES, "option `%s` of %s", o->name, owner);
    return (value_rule){(value_kind)o->type, o->min, o->max, o->type == PTO_OPT_ENUM ? o->choices : NULL, what};
}

static status malformed(diag_engine *d, src_pos at, const char *what, const char *why)
{
    diag_error(d, at, &E1390, "%s: %s", what, why);
    return FAILED;
}

/* Limits are read as one element of what they limit. */
static status check_limit_text(arena *a, diag_engine *d, src_pos at, const value_rule *rule, const char *text)
{
    if (text == NULL) return OK;
    value v;
    value_rule bare = {rule->type == VALUE_LIST ? VALUE_I64 : rule->type, NULL, NULL, NULL, rule->what};
    bool is_numeric = bare.type == VALUE_I64 || bare.type == VALUE_F64 || bare.type == VALUE_BYTES;
    if (!is_numeric) return malformed(d, at, rule->what, "only numbers have a minimum or maximum");
    return value_from_text(a, d, at, text, &bare, &v);
}

/* A key of a pipeline file, as a step's id is, and no word for nothing. */
static bool is_key(str name)
{
    for (size_t i = 0; i < name.n; i++) {
        const char c = name.p[i];
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!letter && (i == 0 || (c != '-' && c != '_'))) return false;
    }
    return name.n <= OPTION_NAME_BYTES && !yaml_is_null(name);
}

static status check_choices(diag_engine *d, src_pos at, const char *what, const pto_option *o)
{
    const bool has_choices = o->type == PTO_OPT_ENUM || o->type == PTO_OPT_PLUGIN;
    if (!has_choices) return OK;
    if (o->choices == NULL || o->choices[0] == NULL) return malformed(d, at, what, "its choices are missing");
    for (uint32_t i = 0; o->type == PTO_OPT_ENUM && o->choices[i] != NULL; i++)
        if (!is_key(str_from(o->choices[i])))
            return malformed(d, at, what, "a choice cannot be written: it takes letters, digits, - and _");
    if (o->type != PTO_OPT_PLUGIN) return OK;
    static const char *const kinds[] = {"tiling", "cost", "generator", NULL};
    if (o->choices[1] != NULL || !str_list_has(kinds, o->choices[0]))
        return malformed(d, at, what, "options can name plugins of one kind: tiling, cost or generator");
    return OK;
}

static status check_one(arena *a, diag_engine *d, src_pos at, const char *owner, const pto_option *const *options,
                        uint32_t index)
{
    const pto_option *o = options[index];
    char what[WHAT_BYTES];
    if (o->name == NULL || o->name[0] == 0) return malformed(d, at, owner, "an option has no name");
    if (!is_key(str_from(o->name)))
        return malformed(d, at, owner,
                         "an option has a name that cannot be written: it takes letters, digits, - and _");
    value_rule rule = rule_of(o, owner, what);
    if (o->type <= PTO_OPT_NONE || o->type > PTO_OPT_PLUGIN) return malformed(d, at, what, "it has an unknown type");
    if (o->doc == NULL || o->doc[0] == 0) return malformed(d, at, what, "it has no doc text");
    if (option_index_by_name(options, str_from(o->name)) != (int32_t)index)
        return malformed(d, at, what, "it occurs twice");
    TRY(check_choices(d, at, what, o));
    TRY(check_limit_text(a, d, at, &rule, o->min));
    TRY(check_limit_text(a, d, at, &rule, o->max));
    value v;
    if (o->def == NULL || value_from_text(a, d, at, o->def, &rule, &v) == OK) return OK;
    /* These are read as YAML, and the messages of its reader do not know of options. */
    if (rule.type == VALUE_LIST || rule.type == VALUE_PLUGIN)
        diag_note(d, at, "the default of %s is `%.60s`", what, o->def);
    return FAILED;
}

status options_check(arena *a, diag_engine *d, src_pos at, const char *owner, const pto_option *const *options)
{
    status result = OK;
    for (uint32_t i = 0; options != NULL && options[i] != NULL; i++) {
        if (check_one(a, d, at, owner, options, i) != OK) result = FAILED;
    }
    return result;
}

static void unknown_option(arena *a, diag_engine *d, const char *owner, const pto_option *const *options,
                           const yaml_pair *pair)
{
    uint32_t count = option_count(options);
    const char **names = arena_array(a, (size_t)count + 1, sizeof *names);
    for (uint32_t i = 0; i < count; i++) names[i] = options[i]->name;
    char what[WHAT_BYTES];
    snprintf(what, sizeof what, "option of %s:", owner);
    schema_unknown(d, pair->key_at, &E1110, what, pair->key, names);
}

status options_read(arena *a, diag_engine *d, const char *owner, const pto_option *const *options,
                    const yaml_node *with, src_pos at, value **out_values)
{
    if (with != NULL && with->kind != YAML_MAPPING) {
        diag_error(d, with->at, &E1032, "the options of %s must be a mapping, not %s", owner,
                   yaml_kind_text(with->kind));
        return FAILED;
    }
    status result = OK;
    for (uint32_t i = 0; with != NULL && i < with->count; i++) {
        if (option_index_by_name(options, with->pairs[i].key) >= 0) continue;
        unknown_option(a, d, owner, options, &with->pairs[i]);
        result = FAILED;
    }
    uint32_t count = option_count(options);
    value *values = arena_array(a, count, sizeof *values);
    for (uint32_t i = 0; i < count; i++) {
        const pto_option *o = options[i];
        char what[WHAT_BYTES];
        value_rule rule = rule_of(o, owner, what);
        const yaml_node *node = yaml_find(with, o->name);
        if (node != NULL) {
            if (value_from_node(a, d, node, &rule, &values[i]) != OK) result = FAILED;
        } else if (o->def != NULL) {
            if (value_from_text(a, d, NO_POS, o->def, &rule, &values[i]) != OK) result = FAILED;
        } else {
            diag_error(d, at, &E1111, "%s needs the option `%s`: %s", owner, o->name, o->doc == NULL ? "" : o->doc);
            result = FAILED;
        }
    }
    *out_values = values;
    return result;
}
