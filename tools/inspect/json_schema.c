#include "tools/inspect/json_schema.h"

#include "core/files/machine.h"
#include "core/files/pipeline.h"
#include "core/files/schedule.h"
#include "tools/run/run_case.h"

static void put_indent(text_buffer *t, uint32_t columns)
{
    for (uint32_t i = 0; i < columns; i++) text_putc(t, ' ');
}

/* Begins one `"name": ` line of an object; `is_first` belongs to the object. */
static void put_member(text_buffer *t, uint32_t indent, bool *is_first, const char *name)
{
    text_puts(t, *is_first ? "\n" : ",\n");
    *is_first = false;
    put_indent(t, indent);
    text_put_quoted(t, str_from(name));
    text_puts(t, ": ");
}

static void put_member_text(text_buffer *t, uint32_t indent, bool *is_first, const char *name, const char *text)
{
    put_member(t, indent, is_first, name);
    text_put_quoted(t, str_from(text));
}

static const char *json_type(value_kind type)
{
    switch (type) {
    case VALUE_BOOL: return "\"boolean\"";
    case VALUE_I64: return "\"integer\"";
    case VALUE_F64: return "\"number\"";
    case VALUE_BYTES: return "[\"integer\", \"string\"]";
    case VALUE_LIST: return "\"array\"";
    case VALUE_PLUGIN: return "[\"string\", \"object\"]";
    case VALUE_STR: return "[\"string\", \"number\", \"boolean\"]";
    case VALUE_ENUM: return "\"string\"";
    case VALUE_NONE:
    case VALUE_TYPE_COUNT: break;
    }
    return "\"string\"";
}

static void put_choices(text_buffer *t, const char *const *choices)
{
    text_putc(t, '[');
    for (size_t i = 0; choices[i] != NULL; i++) {
        if (i > 0) text_puts(t, ", ");
        text_put_quoted(t, str_from(choices[i]));
    }
    text_putc(t, ']');
}

static void put_value(text_buffer *t, const schema_key *key, uint32_t indent, bool *first)
{
    put_member(t, indent, first, "type");
    text_puts(t, json_type(key->type));
    bool is_number = key->type == VALUE_I64 || key->type == VALUE_F64;
    if (key->type == VALUE_ENUM) {
        put_member(t, indent, first, "enum");
        put_choices(t, key->choices);
    }
    if (key->type == VALUE_BYTES)
        put_member_text(t, indent, first, "pattern", "^(0|[1-9][0-9]*|0x[0-9a-fA-F]+)([KMGT]iB)?$");
    if (key->type == VALUE_LIST) {
        put_member(t, indent, first, "items");
        text_puts(t, "{\"type\": \"integer\"}");
    }
    if (is_number && key->min != NULL) {
        put_member(t, indent, first, "minimum");
        text_puts(t, key->min);
    }
    if (is_number && key->max != NULL) {
        put_member(t, indent, first, "maximum");
        text_puts(t, key->max);
    }
    if (key->def == NULL) return;
    put_member(t, indent, first, "default");
    if (is_number || key->type == VALUE_BOOL || key->type == VALUE_LIST) {
        text_puts(t, key->def);
    } else {
        text_put_quoted(t, str_from(key->def));
    }
}

static void put_schema(text_buffer *t, const schema_key *key, uint32_t indent);

static void put_groups(text_buffer *t, const schema_key *keys, uint32_t indent, bool *first)
{
    bool open = false;
    for (const schema_key *k = keys; k->name != NULL; k++) {
        if (k->group == 0) continue;
        if (!open) put_member(t, indent, first, "oneOf");
        text_puts(t, open ? ", {\"required\": [" : "[{\"required\": [");
        text_put_quoted(t, str_from(k->name));
        text_puts(t, "]}");
        open = true;
    }
    if (open) text_putc(t, ']');
}

static void put_mapping(text_buffer *t, const schema_key *keys, uint32_t indent, bool *first)
{
    put_member(t, indent, first, "additionalProperties");
    text_puts(t, "false");
    bool open = false;
    for (const schema_key *k = keys; k->name != NULL; k++) {
        if (!k->is_required) continue;
        if (!open) put_member(t, indent, first, "required");
        text_puts(t, open ? ", " : "[");
        text_put_quoted(t, str_from(k->name));
        open = true;
    }
    if (open) text_putc(t, ']');
    put_groups(t, keys, indent, first);
    put_member(t, indent, first, "properties");
    text_putc(t, '{');
    bool first_key = true;
    for (const schema_key *k = keys; k->name != NULL; k++) {
        put_member(t, indent + 2, &first_key, k->name);
        put_schema(t, k, indent + 2);
    }
    text_putc(t, '\n');
    put_indent(t, indent);
    text_putc(t, '}');
}

/* Recursion is as deep as the tables nest, and they do not contain themselves. */
static void put_schema(text_buffer *t, const schema_key *key, uint32_t indent)
{
    bool first = true;
    text_putc(t, '{');
    if (key->doc != NULL) put_member_text(t, indent + 2, &first, "description", key->doc);
    switch (key->kind) {
    case SCHEMA_VALUE: put_value(t, key, indent + 2, &first); break;
    case SCHEMA_MAPPING:
        put_member(t, indent + 2, &first, "type");
        text_puts(t, key->may_be_scalar ? "[\"object\", \"string\"]" : "\"object\"");
        put_mapping(t, key->keys, indent + 2, &first);
        break;
    case SCHEMA_NAMED:
        put_member_text(t, indent + 2, &first, "type", "object");
        if (key->choices != NULL) {
            put_member(t, indent + 2, &first, "propertyNames");
            text_puts(t, "{\"enum\": ");
            put_choices(t, key->choices);
            text_putc(t, '}');
        }
        put_member(t, indent + 2, &first, "additionalProperties");
        put_schema(t, key->element, indent + 2);
        break;
    case SCHEMA_SEQUENCE:
        if (key->or_named != NULL) {
            schema_key plain = *key;
            plain.or_named = NULL;
            plain.doc = NULL;
            put_member(t, indent + 2, &first, "oneOf");
            text_putc(t, '[');
            put_schema(t, &plain, indent + 2);
            text_puts(t, ", ");
            put_schema(t, key->or_named, indent + 2);
            text_putc(t, ']');
            break;
        }
        put_member_text(t, indent + 2, &first, "type", "array");
        put_member(t, indent + 2, &first, "items");
        put_schema(t, key->element, indent + 2);
        break;
    case SCHEMA_ANY: break;
    }
    if (!first) {
        text_putc(t, '\n');
        put_indent(t, indent);
    }
    text_putc(t, '}');
}

void schema_write_json(text_buffer *t, const schema_file *file)
{
    bool first = true;
    text_putc(t, '{');
    put_member_text(t, 2, &first, "$schema", "https://json-schema.org/draft/2020-12/schema");
    put_member_text(t, 2, &first, "title", file->version_key);
    put_member_text(t, 2, &first, "description", file->doc);
    put_member_text(t, 2, &first, "type", "object");
    put_mapping(t, file->keys, 2, &first);
    text_puts(t, "\n}\n");
}

const schema_file *schema_file_by_kind(str kind)
{
    static const schema_file *const files[] = {&pipeline_schema, &machine_schema, &schedule_schema, &case_schema};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        if (str_is(kind, files[i]->kind)) return files[i];
    }
    return NULL;
}
