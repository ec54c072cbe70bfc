#include "tools/run/run_case.h"

#include "core/core_diag.h"
#include "tools/base/tool_diag.h"

#include <string.h>

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
    {.name = "terms", .type = VALUE_STR, .doc = "longest sum or chain: a number or a symbol, as $K"},
    {.name = "magnitude", .type = VALUE_STR, .doc = "file with the sum of magnitudes of the terms of each element"},
    END};
static const schema_key output_entry = {.name = "output", .kind = SCHEMA_MAPPING, .keys = output_keys};

static const schema_key top_keys[] = {
    {.name = "pto-case",
     .type = VALUE_I64,
     .is_required = true,
     .min = "1",
     .max = "1",
     .doc = "version of the key list"},
    {.name = "name", .type = VALUE_STR, .is_required = true, .doc = "name of the case"},
    {.name = "doc", .type = VALUE_STR, .doc = "what it computes"},
    {.name = "module", .type = VALUE_STR, .is_required = true, .doc = "the .ptir file"},
    {.name = "entry", .type = VALUE_STR, .doc = "function to run; absent: the only public one"},
    {.name = "data",
     .type = VALUE_STR,
     .doc = "Python program that writes inputs and references: PROGRAM DIR SYMBOL=VALUE .."},
    {.name = "data-arguments", .kind = SCHEMA_SEQUENCE, .element = &argument_item, .doc = "further arguments of it"},
    {.name = "sizes",
     .kind = SCHEMA_NAMED,
     .element = &size_entry,
     .is_required = true,
     .doc = "values of the symbols, by name of the size"},
    {.name = "inputs",
     .kind = SCHEMA_NAMED,
     .element = &file_entry,
     .is_required = true,
     .doc = "file of each input, or the number that a scalar is"},
    {.name = "outputs",
     .kind = SCHEMA_NAMED,
     .element = &output_entry,
     .is_required = true,
     .doc = "reference and rule of each output"},
    END};

const schema_file case_schema = {.kind = "case",
                                 .version_key = "pto-case",
                                 .version = 1,
                                 .keys = top_keys,
                                 .doc = "A kernel with its data and how its results are judged."};

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
            .terms = terms != NULL ? str_from(terms) : (str){"1", 1},
            .at = o->at,
        };
        if (outputs[i].rule == COMPARE_F32_REDUCE && outputs[i].magnitude == NULL) {
            diag_error(d, o->at, &E1031,
                       "rule f32-reduce needs the key `magnitude`: the file with the sums of magnitudes");
            return FAILED;
        }
    }
    out->outputs = outputs;
    out->output_count = map->count;
    return OK;
}

status case_read(arena *a, diag_engine *d, const char *path, case_description *out)
{
    yaml_node *root;
    TRY(yaml_read_file(a, d, path, &root));
    TRY(schema_check(a, d, &case_schema, root));
    *out = (case_description){
        .name = schema_str(a, d, top_keys, root, "name"),
        .doc = schema_str(a, d, top_keys, root, "doc"),
        .entry = schema_str(a, d, top_keys, root, "entry"),
        .module = beside(a, path, schema_str(a, d, top_keys, root, "module")),
        .data = beside(a, path, schema_str(a, d, top_keys, root, "data")),
        .module_at = place_of(root, "module"),
        .data_at = place_of(root, "data"),
    };
    const yaml_node *arguments = yaml_find(root, "data-arguments");
    if (arguments != NULL) {
        const char **texts = arena_array(a, arguments->count, sizeof *texts);
        for (uint32_t i = 0; i < arguments->count; i++) texts[i] = arguments->items[i]->text.p;
        out->data_arguments = texts;
        out->data_argument_count = arguments->count;
    }
    read_sizes(a, d, yaml_find(root, "sizes"), out);
    read_inputs(a, yaml_find(root, "inputs"), out);
    return read_outputs(a, d, yaml_find(root, "outputs"), out);
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
