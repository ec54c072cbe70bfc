#include "tools/run/run_case.h"

#include "core/core_diag.h"
#include "tools/base/tool_diag.h"

#include <string.h>
#include <sys/stat.h>

#define END {.name = NULL}

static const schema_key symbol_value = {.name = "symbol", .type = VALUE_I64, .min = "0", .max = "9223372036854775807"};
static const schema_key size_entry = {.name = "size", .kind = SCHEMA_NAMED, .element = &symbol_value};
static const schema_key file_entry = {.name = "file", .type = VALUE_STR};
static const schema_key argument_item = {.name = "argument", .type = VALUE_STR};

static const schema_key output_keys[] = {
    {.name = "expect", .type = VALUE_STR, .is_required = true, .doc = "file of the reference"},
    {.name = "rule",
     .type = VALUE_ENUM,
     .choices = compare_rule_names,
     .is_required = true,
     .doc = "how close is close enough"},
    {.name = "rtol", .type = VALUE_F64, .min = "0", .doc = "of rule tolerance: relative to the reference; default 0"},
    {.name = "atol", .type = VALUE_F64, .min = "0", .doc = "of rule tolerance: absolute; default 0"},
    {.name = "terms", .type = VALUE_STR, .doc = "longest sum or chain: a number or a symbol, as $K"},
    {.name = "magnitude", .type = VALUE_STR, .doc = "file with the sum of magnitudes of the terms of each element"},
    END};
static const schema_key output_entry = {.name = "output", .kind = SCHEMA_MAPPING, .keys = output_keys};

/* What a case is; in a file of several, what they have in common stands at the top. */
#define CASE_KEYS                                                                                    \
    {.name = "doc", .type = VALUE_STR, .doc = "what it computes"},                                   \
        {.name = "module", .type = VALUE_STR, .doc = "the .ptir file"},                              \
        {.name = "entry", .type = VALUE_STR, .doc = "function to run; absent: the only public one"}, \
        {.name = "data",                                                                             \
         .type = VALUE_STR,                                                                          \
         .doc = "Python program that writes inputs and references: PROGRAM DIR SYMBOL=VALUE .."},    \
        {.name = "data-arguments",                                                                   \
         .kind = SCHEMA_SEQUENCE,                                                                    \
         .element = &argument_item,                                                                  \
         .doc = "further arguments of it"},                                                          \
        {.name = "sizes",                                                                            \
         .kind = SCHEMA_NAMED,                                                                       \
         .element = &size_entry,                                                                     \
         .doc = "values of the symbols, by name of the size"},                                       \
        {.name = "inputs",                                                                           \
         .kind = SCHEMA_NAMED,                                                                       \
         .element = &file_entry,                                                                     \
         .doc = "tensor file of each input, or the number that a scalar is"},                        \
        {.name = "outputs",                                                                          \
         .kind = SCHEMA_NAMED,                                                                       \
         .element = &output_entry,                                                                   \
         .doc = "reference and rule of each output"}

static const schema_key case_keys[] = {CASE_KEYS, END};
static const schema_key case_entry = {.name = "case", .kind = SCHEMA_MAPPING, .keys = case_keys};

static const schema_key top_keys[] = {
    {.name = "pto-case",
     .type = VALUE_I64,
     .is_required = true,
     .min = "1",
     .max = "1",
     .doc = "version of the key list"},
    {.name = "name", .type = VALUE_STR, .is_required = true, .doc = "name of the case"},
    CASE_KEYS,
    {.name = "cases",
     .kind = SCHEMA_NAMED,
     .element = &case_entry,
     .doc = "several cases by name; what one does not say is as at the top"},
    END};

const schema_file case_schema = {.kind = "case",
                                 .version_key = "pto-case",
                                 .version = 1,
                                 .keys = top_keys,
                                 .doc = "Kernels with their data and how their results are judged."};

static const char *beside(arena *a, const char *path, const char *name)
{
    const char *slash = strrchr(path, '/');
    if (name == NULL || name[0] == '/' || slash == NULL) return name;
    const size_t folder = (size_t)(slash - path) + 1, length = strlen(name);
    char *joined = arena_alloc(a, folder + length + 1);
    memcpy(joined, path, folder);
    memcpy(joined + folder, name, length + 1);
    return joined;
}

static void read_sizes(arena *a, diag_engine *d, const yaml_node *map, case_description *out)
{
    case_size *sizes = arena_array(a, map->count, sizeof *sizes);
    for (uint32_t i = 0; i < map->count; i++) {
        const yaml_node *symbols = map->pairs[i].value;
        case_size_symbol *values = arena_array(a, symbols->count, sizeof *values);
        for (uint32_t k = 0; k < symbols->count; k++) {
            value v = {0};
            const value_rule rule = {.type = VALUE_I64, .what = "symbol"};
            BUG_IF(value_from_node(a, d, symbols->pairs[k].value, &rule, &v) != OK, "a checked size is not an integer");
            values[k] = (case_size_symbol){symbols->pairs[k].key, v.i};
        }
        sizes[i] = (case_size){map->pairs[i].key, values, symbols->count};
    }
    out->sizes = sizes;
    out->sizes_at = map->at;
    out->size_count = map->count;
}

static void read_inputs(arena *a, const yaml_node *map, case_description *out)
{
    case_file_entry *inputs = arena_array(a, map->count, sizeof *inputs);
    for (uint32_t i = 0; i < map->count; i++)
        inputs[i] = (case_file_entry){map->pairs[i].key, map->pairs[i].value->text.p, map->pairs[i].value->at};
    out->inputs = inputs;
    out->input_count = map->count;
}

static src_pos place_of(const yaml_node *map, const char *key)
{
    const yaml_node *node = yaml_find(map, key);
    return node != NULL ? node->at : map->at;
}

static double tolerance(arena *a, diag_engine *d, const yaml_node *output, const char *name)
{
    value v = {0};
    return schema_value(a, d, output_keys, output, name, &v) ? v.f : 0;
}

/* The other rules follow from the element type, and take none. */
static status check_tolerances(diag_engine *d, const yaml_node *output, compare_rule rule)
{
    const yaml_node *r = yaml_find(output, "rtol"), *t = r != NULL ? r : yaml_find(output, "atol");
    if (t == NULL || rule == COMPARE_TOLERANCE) return OK;
    diag_error(d, t->at, &E1036, "`%s` is of rule `tolerance`; the rule here is `%s`", t == r ? "rtol" : "atol",
               compare_rule_name(rule));
    return FAILED;
}

static status read_outputs(arena *a, diag_engine *d, const yaml_node *map, case_description *out)
{
    case_output *outputs = arena_array(a, map->count, sizeof *outputs);
    for (uint32_t i = 0; i < map->count; i++) {
        const yaml_node *o = map->pairs[i].value;
        const char *terms = schema_str(a, d, output_keys, o, "terms");
        outputs[i] = (case_output){
            .parameter = map->pairs[i].key,
            .expect = schema_str(a, d, output_keys, o, "expect"),
            .magnitude = schema_str(a, d, output_keys, o, "magnitude"),
            .expect_at = place_of(o, "expect"),
            .magnitude_at = place_of(o, "magnitude"),
            .rule = compare_rule_by_name(str_from(schema_str(a, d, output_keys, o, "rule"))),
            .rtol = tolerance(a, d, o, "rtol"),
            .atol = tolerance(a, d, o, "atol"),
            .terms = terms != NULL ? str_from(terms) : (str){"1", 1},
            .at = o->at,
        };
        if (outputs[i].rule == COMPARE_F32_REDUCE && outputs[i].magnitude == NULL) {
            diag_error(d, o->at, &E1031,
                       "rule f32-reduce needs the key `magnitude`: the file with the sums of magnitudes");
            return FAILED;
        }
        TRY(check_tolerances(d, o, outputs[i].rule));
    }
    out->outputs = outputs;
    out->output_count = map->count;
    return OK;
}

size_t case_split(const char *text, const char **name)
{
    static const char *const endings[] = {".yaml:", ".yml:"};
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        const char *at = strstr(text, endings[i]);
        if (at == NULL) continue;
        *name = at + strlen(endings[i]);
        return (size_t)(*name - text) - 1;
    }
    *name = NULL;
    return strlen(text);
}

static status read_root(arena *a, diag_engine *d, const char *text, const char **name, const char **path,
                        yaml_node **root)
{
    *path = arena_strndup(a, text, case_split(text, name));
    TRY(yaml_read_file(a, d, *path, root));
    return schema_check(a, d, &case_schema, *root);
}

status case_list(arena *a, diag_engine *d, const char *text, const char *const **out, uint32_t *count)
{
    const char *name, *path = arena_strndup(a, text, case_split(text, &name));
    struct stat st;
    yaml_node *root = NULL;
    /* A pipe nobody may ever write to, and it is read once: the worker does that, within its limits. */
    const bool is_file = stat(path, &st) != 0 || S_ISREG(st.st_mode);
    if (is_file) TRY(read_root(a, d, text, &name, &path, &root));
    const yaml_node *cases = is_file ? yaml_find(root, "cases") : NULL;
    const bool is_one = name != NULL || cases == NULL;
    *count = is_one ? 1 : cases->count;
    const char **texts = arena_array(a, *count, sizeof *texts);
    for (uint32_t i = 0; i < *count; i++) {
        text_buffer t;
        text_init(&t);
        if (is_one)
            text_puts(&t, text);
        else
            text_printf(&t, "%s:%s", path, cases->pairs[i].key.p);
        texts[i] = text_keep(&t, a);
    }
    *out = texts;
    return OK;
}

/* The mapping of the case, and the top for what it does not say; NULL after a diagnostic. */
static const yaml_node *find_case(diag_engine *d, const char *path, const yaml_node *root, const char *name)
{
    const yaml_node *cases = yaml_find(root, "cases");
    if (name == NULL && cases == NULL) return root;
    if (cases == NULL) {
        diag_error(d, (src_pos){path, 0, 0}, &E1505, "the file has one case, which has no name of its own, not `%s`",
                   name);
        return NULL;
    }
    const yaml_node *found = name != NULL ? yaml_find(cases, name) : NULL;
    if (found != NULL) return found;
    if (name != NULL)
        diag_error(d, cases->at, &E1505, "the file has no case `%s`", name);
    else
        diag_error(d, cases->at, &E1505, "the file has several cases, and none is named");
    for (uint32_t i = 0; i < cases->count; i++) diag_note(d, NO_POS, "case `%s`", cases->pairs[i].key.p);
    return NULL;
}

typedef struct case_nodes {
    const yaml_node *own, *top;
} case_nodes;

static const yaml_node *part(const case_nodes *n, const char *key)
{
    const yaml_node *own = yaml_find(n->own, key);
    return own != NULL ? own : yaml_find(n->top, key);
}

static const char *part_text(const case_nodes *n, const char *key)
{
    const yaml_node *node = part(n, key);
    return node != NULL ? node->text.p : NULL;
}

static status check_whole(diag_engine *d, const case_nodes *n)
{
    static const char *const needed[] = {"module", "sizes", "inputs", "outputs"};
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++) {
        if (part(n, needed[i]) != NULL) continue;
        diag_error(d, n->own->at, &E1031, "the key `%s` is missing here%s", needed[i],
                   n->own != n->top ? " and at the top of the file" : "");
        return FAILED;
    }
    return OK;
}

status case_read(arena *a, diag_engine *d, const char *text, case_description *out)
{
    const char *case_name, *path;
    yaml_node *root;
    TRY(read_root(a, d, text, &case_name, &path, &root));
    const case_nodes n = {find_case(d, path, root, case_name), root};
    if (n.own == NULL) return FAILED;
    TRY(check_whole(d, &n));
    const char *name = schema_str(a, d, top_keys, root, "name");
    text_buffer full;
    text_init(&full);
    text_puts(&full, name);
    if (case_name != NULL) text_printf(&full, "/%s", case_name);
    *out = (case_description){
        .name = text_keep(&full, a),
        .doc = part_text(&n, "doc"),
        .entry = part_text(&n, "entry"),
        .module = beside(a, path, part_text(&n, "module")),
        .data = beside(a, path, part_text(&n, "data")),
        .module_at = part(&n, "module")->at,
        .data_at = part(&n, "data") != NULL ? part(&n, "data")->at : root->at,
    };
    const yaml_node *arguments = part(&n, "data-arguments");
    if (arguments != NULL) {
        const char **texts = arena_array(a, arguments->count, sizeof *texts);
        for (uint32_t i = 0; i < arguments->count; i++) texts[i] = arguments->items[i]->text.p;
        out->data_arguments = texts;
        out->data_argument_count = arguments->count;
    }
    read_sizes(a, d, part(&n, "sizes"), out);
    read_inputs(a, part(&n, "inputs"), out);
    return read_outputs(a, d, part(&n, "outputs"), out);
}

const case_size *case_size_by_name(diag_engine *d, const case_description *c, str name)
{
    for (uint32_t i = 0; i < c->size_count; i++) {
        if (str_eq(c->sizes[i].name, name)) return &c->sizes[i];
    }
    diag_error(d, c->sizes_at, &E1505, "the case has no size `%.*s`", (int)name.n, name.p);
    for (uint32_t i = 0; i < c->size_count; i++)
        diag_note(d, NO_POS, "size `%.*s`", (int)c->sizes[i].name.n, c->sizes[i].name.p);
    return NULL;
}
