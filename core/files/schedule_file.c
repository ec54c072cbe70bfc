/* The schedule as a file: keys, reading, writing. */
#include "core/core_diag.h"
#include "core/files/schedule_impl.h"

#define END {.name = NULL}

static const schema_key decision_keys[] = {
    {.name = "at", .type = VALUE_STR, .is_required = true, .doc = "path of the op it is about, as \"@softmax/y\""},
    {.name = "decide", .type = VALUE_STR, .is_required = true, .doc = "what is decided, as tile, cores or stages"},
    {.name = "value",
     .kind = SCHEMA_ANY,
     .is_required = true,
     .doc = "a number, a word, or a mapping of numbers as { rows: 16, columns: 256 }"},
    {.name = "pinned",
     .type = VALUE_BOOL,
     .def = "false",
     .doc = "true: kept exactly or refused; false: a record, decided anew"},
    {.name = "origin", .type = VALUE_STR, .doc = "what decided; written, not read"},
    {.name = "limit", .type = VALUE_STR, .doc = "what bounds the value; written, not read"},
    {.name = "cost",
     .type = VALUE_F64,
     .doc = "of the value, in the strategy's own unit, less is better; written, not read"},
    END};
static const schema_key decision_item = {.name = "a decision", .kind = SCHEMA_MAPPING, .keys = decision_keys};

static const schema_key top_keys[] = {
    SCHEMA_VERSION_1("pto-schedule"),
    {.name = "doc", .type = VALUE_STR, .doc = "what it is for"},
    {.name = "machine", .type = VALUE_STR, .doc = "name of the only machine that it is for"},
    {.name = "decisions", .kind = SCHEMA_SEQUENCE, .element = &decision_item, .is_required = true, .doc = "one by one"},
    END};

const schema_file schedule_schema = {.kind = "schedule",
                                     .version_key = "pto-schedule",
                                     .version = 1,
                                     .keys = top_keys,
                                     .doc = "What the compiler decides for a module, and what of it is pinned."};

static status add_pin(schedule *s, const yaml_node *item)
{
    schedule_pin *p = &s->pins[s->pin_count++];
    *p = (schedule_pin){.key = {yaml_find(item, "at")->text, yaml_find(item, "decide")->text},
                        .value = yaml_find(item, "value"),
                        .at = item->at};
    const schedule_pin *first = (const schedule_pin *)schedule_index_find(&s->pin_index, p->key.path, p->key.name);
    if (first == NULL) {
        schedule_index_add(&s->pin_index, &p->key);
        return OK;
    }
    diag_error(s->d, item->at, &E1802, "`%s` of %s is pinned a second time", p->key.name.p, p->key.path.p);
    diag_note(s->d, first->at, "the first time");
    return FAILED;
}

static status read_root(schedule *s, const yaml_node *root)
{
    TRY(schema_check(s->a, s->d, &schedule_schema, root));
    const yaml_node *list = yaml_find(root, "decisions");
    s->machine = yaml_find(root, "machine");
    s->pins = arena_array(s->a, list->count, sizeof *s->pins);
    for (uint32_t i = 0; i < list->count; i++) {
        const yaml_node *item = list->items[i];
        if (schema_i64(s->a, s->d, decision_keys, item, "pinned") == 0) continue;
        TRY(add_pin(s, item));
    }
    if (s->pin_count == 0)
        diag_warning(s->d, list->at, &E1801, "none of the %u decisions is `pinned: true`, so all are made anew",
                     list->count);
    return OK;
}

status schedule_read(schedule *s, const char *path)
{
    yaml_node *root;
    TRY(yaml_read_written(s->a, s->d, path, &root));
    return read_root(s, root);
}

status schedule_read_text(schedule *s, const char *file, str text)
{
    yaml_node *root;
    TRY(yaml_read_text(s->a, s->d, (src_pos){file, 1, 1}, text, &root));
    return read_root(s, root);
}

/* ---- writing ---- */

void schedule_put_value(text_buffer *t, const schedule_decision *d)
{
    if (!d->is_mapping) {
        yaml_write_name(t, str_from(d->values[0]));
        return;
    }
    text_puts(t, "{ ");
    for (uint32_t k = 0; k < d->count; k++) {
        if (k != 0) text_puts(t, ", ");
        yaml_write_name(t, str_from(d->keys[k]));
        text_printf(t, ": %s", d->values[k]);
    }
    text_puts(t, " }");
}

static void put_member(text_buffer *t, const char *key, const char *text)
{
    text_printf(t, "    %s: ", key);
    yaml_write_name(t, str_from(text));
    text_putc(t, '\n');
}

void schedule_write(const schedule *s, const char *machine, text_buffer *out)
{
    text_puts(out, "pto-schedule: 1\n");
    if (machine != NULL) {
        text_puts(out, "machine: ");
        yaml_write_name(out, str_from(machine));
        text_putc(out, '\n');
    }
    text_puts(out, s->first == NULL ? "decisions: []\n" : "decisions:\n");
    for (const schedule_decision *d = s->first; d != NULL; d = d->next) {
        text_puts(out, "  - at: ");
        yaml_write_name(out, d->key.path);
        text_putc(out, '\n');
        put_member(out, "decide", d->key.name.p);
        text_puts(out, "    value: ");
        schedule_put_value(out, d);
        text_putc(out, '\n');
        if (d->is_pinned) text_puts(out, "    pinned: true\n");
        put_member(out, "origin", d->origin);
        if (d->limit != NULL) put_member(out, "limit", d->limit);
        if (d->has_cost) text_printf(out, "    cost: %.6g\n", d->cost);
    }
}
