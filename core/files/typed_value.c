#include "core/files/typed_value.h"

#include "core/core_diag.h"

#include <string.h>

static const struct {
    const char *name, *text;
} types[VALUE_TYPE_COUNT] = {
    {"none", "nothing"},
#define OPTION_TYPE(ID, name, words) {name, words},
#include <pto/options.def>
};

const char *value_type_text(value_kind type) { return types[type].text; }
const char *value_type_name(value_kind type) { return types[type].name; }

value_kind value_type_by_name(str name)
{
    for (int i = 1; i < VALUE_TYPE_COUNT; i++) {
        if (str_is(name, types[i].name)) return (value_kind)i;
    }
    return VALUE_NONE;
}

/* What a reader of a value needs; bundled because every step may have to complain. */
typedef struct parse {
    arena *a;
    diag_engine *d;
    const yaml_node *node;
    const value_rule *rule;
} parse;

static int shown(str s) { return s.n > 60 ? 60 : (int)s.n; }

static status wrong_type(const parse *p)
{
    const yaml_node *node = p->node;
    const char *want = value_type_text(p->rule->type);
    if (node->kind != YAML_SCALAR) {
        diag_error(p->d, node->at, &E1032, "%s must be %s, not %s", p->rule->what, want, yaml_kind_text(node->kind));
    } else if (node->quoted) {
        diag_error(p->d, node->at, &E1032, "%s must be %s; quoted, \"%.*s\" is text", p->rule->what, want,
                   shown(node->text), node->text.p);
    } else {
        diag_error(p->d, node->at, &E1032, "%s must be %s, not `%.*s`", p->rule->what, want, shown(node->text),
                   node->text.p);
    }
    return FAILED;
}

static bool text_to_bool(str s, int64_t *out)
{
    *out = str_is(s, "true");
    return *out != 0 || str_is(s, "false");
}

/* YAML 1.1 reads 010 as eight, people as ten. */
static bool has_leading_zero(str s)
{
    size_t at = s.n > 0 && (s.p[0] == '-' || s.p[0] == '+') ? 1 : 0;
    return s.n > at + 1 && s.p[at] == '0' && s.p[at + 1] >= '0' && s.p[at + 1] <= '9';
}

static bool text_to_i64(str s, int64_t *out) { return !has_leading_zero(s) && str_to_i64(s, out) == OK; }

static bool text_to_bytes(str s, int64_t *out)
{
    static const struct {
        const char *unit;
        int64_t bytes;
    } units[] = {
        {"KiB", 1024}, {"MiB", 1024 * 1024}, {"GiB", 1024 * 1024 * 1024}, {"TiB", 1024LL * 1024 * 1024 * 1024}};
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (s.n <= 3 || memcmp(s.p + s.n - 3, units[i].unit, 3) != 0) continue;
        int64_t count;
        return text_to_i64((str){s.p, s.n - 3}, &count) && count >= 0 &&
               !__builtin_mul_overflow(count, units[i].bytes, out);
    }
    return text_to_i64(s, out) && *out >= 0;
}

/* A scalar of one of the four numeric types into i or f. */
static bool text_to_number(value_kind type, str s, value *out)
{
    switch (type) {
    case VALUE_BOOL: return text_to_bool(s, &out->i);
    case VALUE_LIST:
    case VALUE_I64: return text_to_i64(s, &out->i);
    case VALUE_BYTES: return text_to_bytes(s, &out->i);
    case VALUE_F64: return !has_leading_zero(s) && str_to_f64(s, &out->f) == OK;
    default: return false;
    }
}

static status check_limit(const parse *p, const value *v, const char *limit_text, bool is_max)
{
    if (limit_text == NULL) return OK;
    value limit = {0};
    bool legal = text_to_number(p->rule->type, str_from(limit_text), &limit);
    BUG_IF(!legal, "limit `%s` of %s is not %s", limit_text, p->rule->what, value_type_text(p->rule->type));
    bool is_float = p->rule->type == VALUE_F64;
    bool inside =
        is_float ? (is_max ? v->f <= limit.f : v->f >= limit.f) : (is_max ? v->i <= limit.i : v->i >= limit.i);
    if (inside) return OK;
    diag_error(p->d, p->node->at, &E1033, "%s is %.*s; the %s is %s", p->rule->what, shown(p->node->text),
               p->node->text.p, is_max ? "maximum" : "minimum", limit_text);
    return FAILED;
}

static status read_number(const parse *p, value *out)
{
    if (p->node->kind != YAML_SCALAR || p->node->quoted || !text_to_number(p->rule->type, p->node->text, out)) {
        TRY(wrong_type(p));
    }
    TRY(check_limit(p, out, p->rule->min, false));
    return check_limit(p, out, p->rule->max, true);
}

static status read_enum(const parse *p, value *out)
{
    if (p->node->kind != YAML_SCALAR) return wrong_type(p);
    const char *const *choices = p->rule->choices;
    for (int64_t i = 0; choices[i] != NULL; i++) {
        if (!str_is(p->node->text, choices[i])) continue;
        out->i = i;
        out->s = p->node->text;
        return OK;
    }
    const char *near = str_nearest(p->node->text, choices);
    diag_error(p->d, p->node->at, &E1034, "%s cannot be `%.*s`%s%s%s", p->rule->what, shown(p->node->text),
               p->node->text.p, near == NULL ? "" : "; did you mean `", near == NULL ? "" : near,
               near == NULL ? "" : "`?");
    text_buffer t;
    text_init(&t);
    for (size_t i = 0; choices[i] != NULL; i++) text_printf(&t, "%s`%s`", i == 0 ? "" : ", ", choices[i]);
    diag_note(p->d, p->node->at, "choices: %s", t.p == NULL ? "none" : t.p);
    text_fini(&t);
    return FAILED;
}

/* The scalar that a `$params.` reference, after a check that its type fits; `node` itself when it is none. */
static const yaml_node *follow(const parse *p, value_kind type)
{
    const yaml_node *node = p->node;
    if (node->refers == NULL) return node;
    value_kind given = value_type_by_name(str_from(node->refers_type));
    bool fits = given == type || (type == VALUE_F64 && given == VALUE_I64) ||
                (type == VALUE_BYTES && given == VALUE_I64) || (type == VALUE_STR && given == VALUE_ENUM) ||
                (type == VALUE_ENUM && given == VALUE_STR) || (type == VALUE_PLUGIN && given == VALUE_STR);
    if (fits) return node->refers;
    diag_error(p->d, node->at, &E1032, "%s must be %s, but the parameter `%.*s` has type %s", p->rule->what,
               value_type_text(type), (int)node->text.n, node->text.p, node->refers_type);
    diag_note(p->d, node->refers->at, "its value comes from here");
    return NULL;
}

static status read_list(const parse *p, value *out)
{
    const yaml_node *node = p->node;
    if (node->kind != YAML_SEQUENCE) return wrong_type(p);
    if (node->count > VALUE_LIST_MAX) {
        diag_error(p->d, node->at, &E1033, "%s has %u elements; the maximum is %d", p->rule->what, node->count,
                   VALUE_LIST_MAX);
        return FAILED;
    }
    int64_t *items = arena_array(p->a, node->count, sizeof *items);
    value_rule element = *p->rule;
    element.type = VALUE_I64;
    for (uint32_t i = 0; i < node->count; i++) {
        parse inner = {p->a, p->d, node->items[i], &element};
        inner.node = follow(&inner, VALUE_I64);
        if (inner.node == NULL) return FAILED;
        value v = {0};
        TRY(read_number(&inner, &v));
        items[i] = v.i;
    }
    out->items = items;
    out->count = node->count;
    return OK;
}

static status read_plugin(const parse *p, value *out)
{
    const yaml_node *id = p->node;
    if (p->node->kind == YAML_MAPPING) {
        id = NULL;
        for (uint32_t i = 0; i < p->node->count; i++) {
            const yaml_pair *pair = &p->node->pairs[i];
            if (str_is(pair->key, "use")) {
                id = pair->value;
            } else if (str_is(pair->key, "with") && pair->value->kind == YAML_MAPPING) {
                out->with = pair->value;
            } else if (str_is(pair->key, "with")) {
                diag_error(p->d, pair->value->at, &E1032, "`with` must be a mapping, not %s",
                           yaml_kind_text(pair->value->kind));
                return FAILED;
            } else {
                diag_error(p->d, pair->key_at, &E1030,
                           "unknown key `%s` in a plugin reference; legal are `use` and `with`", pair->key.p);
                return FAILED;
            }
        }
        if (id == NULL) {
            diag_error(p->d, p->node->at, &E1031, "%s names no plugin: `use:` is missing", p->rule->what);
            return FAILED;
        }
    }
    parse inner = {p->a, p->d, id, p->rule};
    id = follow(&inner, VALUE_PLUGIN);
    if (id == NULL) return FAILED;
    inner.node = id;
    if (id->kind != YAML_SCALAR) return wrong_type(&inner);
    out->s = id->text;
    return OK;
}

status value_from_node(arena *a, diag_engine *d, const yaml_node *node, const value_rule *rule, value *out_value)
{
    parse p = {a, d, node, rule};
    p.node = follow(&p, rule->type);
    if (p.node == NULL) return FAILED;
    value v = {.type = rule->type, .at = node->at, .is_given = true};
    switch (rule->type) {
    case VALUE_BOOL:
    case VALUE_I64:
    case VALUE_F64:
    case VALUE_BYTES: TRY(read_number(&p, &v)); break;
    case VALUE_STR:
        if (p.node->kind != YAML_SCALAR) return wrong_type(&p);
        v.s = p.node->text;
        break;
    case VALUE_ENUM: TRY(read_enum(&p, &v)); break;
    case VALUE_LIST: TRY(read_list(&p, &v)); break;
    case VALUE_PLUGIN: TRY(read_plugin(&p, &v)); break;
    case VALUE_NONE:
    case VALUE_TYPE_COUNT: BUG_IF(true, "%s has no type", rule->what);
    }
    *out_value = v;
    return OK;
}

status value_from_text(arena *a, diag_engine *d, src_pos at, const char *text, const value_rule *rule, value *out_value)
{
    yaml_node *node;
    if (rule->type == VALUE_LIST || rule->type == VALUE_PLUGIN || text[0] == '"' || text[0] == '\'') {
        src_pos start = at.file == NULL ? (src_pos){"<default>", 1, 1} : at;
        TRY(yaml_read_text(a, d, start, str_from(text), &node));
    } else {
        node = yaml_new_scalar(a, at, str_from(arena_strdup(a, text)), false);
    }
    TRY(value_from_node(a, d, node, rule, out_value));
    out_value->at = NO_POS;
    out_value->is_given = false;
    return OK;
}
