/* The effective pipeline as YAML, with defaults and origins. */
#include "tools/session/pipeline_write.h"

#include "tools/session/yaml_write.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

typedef struct writer {
    text_buffer *t;
    pipeline_options_fn options_of;
    void *self;
} writer;

static void put_indent(text_buffer *t, uint32_t columns)
{
    for (uint32_t i = 0; i < columns; i++) text_putc(t, ' ');
}

static void end_line(text_buffer *t, src_pos at)
{
    yaml_write_origin(t, at);
    text_putc(t, '\n');
}

static const pto_option *const *options_of(const writer *w, const char *kind, const char *id)
{
    return w->options_of == NULL ? NULL : w->options_of(w->self, kind, id);
}

static void write_options(const writer *w, const pto_option *const *options, const yaml_node *with, uint32_t indent);

/* `use:` and `with:` of a plugin reference, which follows its key. `at` no place: a default. */
static void write_reference(const writer *w, const char *kind, str id, src_pos at, const yaml_node *with,
                            uint32_t indent)
{
    text_buffer name;
    text_init(&name);
    text_put(&name, id.p, id.n);
    const pto_option *const *options = options_of(w, kind, name.p);
    text_fini(&name);
    text_putc(w->t, '\n');
    put_indent(w->t, indent);
    text_puts(w->t, "use: ");
    yaml_write_name(w->t, id);
    if (at.file == NULL) text_puts(w->t, "  # default");
    end_line(w->t, at);
    write_options(w, options, with, indent);
}

static void write_given(const writer *w, const pto_option *option, const yaml_pair *pair, uint32_t indent)
{
    const yaml_node *node = pair->value;
    put_indent(w->t, indent);
    yaml_write_name(w->t, pair->key);
    text_putc(w->t, ':');
    const yaml_node *use = node->kind == YAML_SCALAR ? node : yaml_find(node, "use");
    bool is_reference =
        option != NULL && option->type == PTO_OPT_PLUGIN && use != NULL && use->refers == NULL && use->text.n != 0;
    if (is_reference) {
        write_reference(w, option->choices[0], use->text, use->at, node == use ? NULL : yaml_find(node, "with"),
                        indent + 2);
    } else {
        yaml_write(w->t, node, indent + 2, true);
    }
}

static void write_default(const writer *w, const pto_option *option, uint32_t indent)
{
    put_indent(w->t, indent);
    text_puts(w->t, option->name);
    text_putc(w->t, ':');
    const bool is_spelled = option->def[0] == '"' || option->def[0] == '\'';
    if (option->type == PTO_OPT_PLUGIN && option->def[0] != '{' && !is_spelled) {
        write_reference(w, option->choices[0], str_from(option->def), NO_POS, NULL, indent + 2);
        return;
    }
    text_putc(w->t, ' ');
    if (option->type == PTO_OPT_STR && !is_spelled) {
        text_put_quoted(w->t, str_from(option->def));
    } else {
        text_puts(w->t, option->def);
    }
    text_puts(w->t, "  # default\n");
}

/* `with:` and what is below it; nothing when there is nothing. */
static void write_options(const writer *w, const pto_option *const *options, const yaml_node *with, uint32_t indent)
{
    bool any = with != NULL && with->count != 0;
    for (uint32_t i = 0; options != NULL && options[i] != NULL && !any; i++) any = options[i]->def != NULL;
    if (!any) return;
    put_indent(w->t, indent);
    text_puts(w->t, "with:\n");
    for (uint32_t i = 0; with != NULL && i < with->count; i++) {
        int32_t index = option_index_by_name(options, with->pairs[i].key);
        write_given(w, options == NULL || index < 0 ? NULL : options[index], &with->pairs[i], indent + 2);
    }
    for (uint32_t i = 0; options != NULL && options[i] != NULL; i++) {
        if (options[i]->def != NULL && yaml_find(with, options[i]->name) == NULL)
            write_default(w, options[i], indent + 2);
    }
}

static void write_text_line(text_buffer *t, const char *key, const char *text, uint32_t indent)
{
    if (text == NULL) return;
    put_indent(t, indent);
    text_printf(t, "%s: ", key);
    text_put_quoted(t, str_from(text));
    text_putc(t, '\n');
}

static void write_param(text_buffer *t, const pipeline_param *p)
{
    text_puts(t, "  ");
    yaml_write_name(t, str_from(p->name));
    text_putc(t, ':');
    end_line(t, p->at);
    text_printf(t, "    type: %s\n    default:", value_type_name(p->type));
    yaml_write(t, p->value_node, 6, true);
    if (p->min != NULL) text_printf(t, "    min: %s\n", p->min);
    if (p->max != NULL) text_printf(t, "    max: %s\n", p->max);
    if (p->choices != NULL) text_puts(t, "    choices: [");
    for (size_t i = 0; p->choices != NULL && p->choices[i] != NULL; i++) {
        if (i > 0) text_puts(t, ", ");
        text_put_quoted(t, str_from(p->choices[i]));
    }
    if (p->choices != NULL) text_puts(t, "]\n");
    write_text_line(t, "doc", p->doc, 4);
}

static void write_head(text_buffer *t, const pipeline *p)
{
    text_puts(t, "pto-pipeline: 1\n");
    write_text_line(t, "name", p->name, 0);
    write_text_line(t, "doc", p->doc, 0);
    if (p->machine != NULL) {
        /* Absolute, so that the text can be read back from any folder. */
        char path[PATH_MAX];
        text_puts(t, "machine: ");
        text_put_quoted(t, str_from(realpath(p->machine, path) == NULL ? p->machine : path));
        end_line(t, p->machine_at);
    }
    if (p->param_count != 0) text_puts(t, "params:\n");
    for (uint32_t i = 0; i < p->param_count; i++) write_param(t, &p->params[i]);
    text_printf(t, "verify: %s", pipeline_verify_names[p->verify]);
    if (p->verify_at.file == NULL) text_puts(t, "  # default");
    end_line(t, p->verify_at);
}

void pipeline_write(text_buffer *t, const pipeline *p, pipeline_options_fn options_of_plugin, void *self)
{
    writer w = {t, options_of_plugin, self};
    write_head(t, p);
    text_puts(t, p->step_count == 0 ? "passes: []\n" : "passes:\n");
    for (uint32_t i = 0; i < p->step_count; i++) {
        const pipeline_step *step = &p->steps[i];
        text_puts(t, "  - pass: ");
        yaml_write_name(t, str_from(step->pass));
        end_line(t, step->at);
        text_puts(t, "    id: ");
        yaml_write_name(t, str_from(step->id));
        text_putc(t, '\n');
        write_options(&w, options_of(&w, "pass", step->pass), step->with, 4);
    }
    if (p->backend == NULL) return;
    text_puts(t, "backend:\n  use: ");
    yaml_write_name(t, str_from(p->backend));
    end_line(t, p->backend_at);
    write_options(&w, options_of(&w, "backend", p->backend), p->backend_with, 2);
}
