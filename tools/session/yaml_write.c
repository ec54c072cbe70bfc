/* Trees as YAML that reads back the same. */
#include "tools/session/yaml_write.h"

#include <string.h>

/* `-`, `?` and `:` open a block entry when nothing or a blank follows; inside [..] and {..} they could be text.
 */
static bool opens_entry(str text) { return strchr("-?:", text.p[0]) != NULL && (text.n == 1 || text.p[1] == ' '); }

/* Plain scalars keep their meaning only when they were plain; inside [..] and {..} fewer characters are allowed. */
static bool can_be_plain(str text, bool in_flow)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/+-$";
    if (text.n == 0 || yaml_is_null(text) || opens_entry(text)) return false;
    bool simple = true;
    for (size_t i = 0; i < text.n && simple; i++) simple = memchr(plain, text.p[i], sizeof plain - 1) != NULL;
    if (simple) return true;
    return !in_flow && memchr(text.p, '\n', text.n) == NULL;
}

/* One scalar, quoted when it must be. */
static void yaml_write_scalar(text_buffer *t, str text, bool quoted)
{
    if (!quoted && can_be_plain(text, false)) {
        text_put(t, text.p, text.n);
    } else {
        text_put_quoted(t, text);
    }
}

void yaml_write_origin(text_buffer *t, src_pos at)
{
    if (at.file == NULL) return;
    text_puts(t, "  # ");
    for (const char *p = at.file; *p != 0; p++) text_putc(t, (unsigned char)*p < 0x20 || *p == 0x7F ? '?' : *p);
    if (at.line != 0) text_printf(t, ":%u", at.line);
}

static void put_indent(text_buffer *t, uint32_t columns)
{
    for (uint32_t i = 0; i < columns; i++) text_putc(t, ' ');
}

static bool is_flow_list(const yaml_node *node)
{
    for (uint32_t i = 0; i < node->count; i++) {
        const yaml_node *item = node->items[i];
        if (item->kind != YAML_SCALAR || (!item->quoted && !can_be_plain(item->text, true))) return false;
    }
    return true;
}

static void write_flow_list(text_buffer *t, const yaml_node *node)
{
    text_putc(t, '[');
    for (uint32_t i = 0; i < node->count; i++) {
        if (i > 0) text_puts(t, ", ");
        yaml_write_scalar(t, node->items[i]->text, node->items[i]->quoted);
    }
    text_putc(t, ']');
}

static void end_line(text_buffer *t, src_pos at, bool origins)
{
    if (origins) yaml_write_origin(t, at);
    text_putc(t, '\n');
}

static void write_mapping(text_buffer *t, const yaml_node *node, uint32_t indent, bool origins);

static void write_items(text_buffer *t, const yaml_node *node, uint32_t indent, bool origins)
{
    text_putc(t, '\n');
    for (uint32_t i = 0; i < node->count; i++) {
        put_indent(t, indent);
        text_putc(t, '-');
        const yaml_node *item = node->items[i];
        if (item->kind == YAML_MAPPING && item->count != 0) {
            text_putc(t, '\n');
            put_indent(t, indent + 2);
            write_mapping(t, item, indent + 2, origins);
        } else {
            yaml_write(t, item, indent + 2, origins);
        }
    }
}

/* The first key goes where the line is; the depth of recursion is that of the tree, at most YAML_DEPTH_MAX. */
static void write_mapping(text_buffer *t, const yaml_node *node, uint32_t indent, bool origins)
{
    for (uint32_t i = 0; i < node->count; i++) {
        if (i > 0) put_indent(t, indent);
        const yaml_pair *pair = &node->pairs[i];
        yaml_write_name(t, pair->key);
        text_putc(t, ':');
        yaml_write(t, pair->value, indent + 2, origins);
    }
}

void yaml_write(text_buffer *t, const yaml_node *node, uint32_t indent, bool origins)
{
    switch (node->kind) {
    case YAML_SCALAR:
        text_putc(t, ' ');
        yaml_write_scalar(t, node->text, node->quoted);
        end_line(t, node->at, origins);
        return;
    case YAML_SEQUENCE:
        if (is_flow_list(node)) {
            text_putc(t, ' ');
            write_flow_list(t, node);
            end_line(t, node->at, origins);
        } else {
            write_items(t, node, indent, origins);
        }
        return;
    case YAML_MAPPING:
        if (node->count == 0) {
            text_puts(t, " {}");
            end_line(t, node->at, origins);
        } else {
            text_putc(t, '\n');
            put_indent(t, indent);
            write_mapping(t, node, indent, origins);
        }
        return;
    case YAML_NONE: return;
    }
}
