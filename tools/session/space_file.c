#include "tools/session/space_file.h"

#include <inttypes.h>

static void put_numbers(text_buffer *t, const schedule_form *form, const int64_t *numbers)
{
    if (form->keys == NULL) {
        text_printf(t, "%" PRId64, numbers[0]);
        return;
    }
    for (uint32_t k = 0; k < form->count; k++) {
        text_puts(t, k == 0 ? "{ " : ", ");
        yaml_write_name(t, str_from(form->keys[k]));
        text_printf(t, ": %" PRId64, numbers[k]);
    }
    text_puts(t, " }");
}

static void put_limits(text_buffer *t, const char *key, const schedule_form *form, const int64_t *numbers)
{
    if (numbers == NULL) return;
    text_printf(t, "    %s: ", key);
    put_numbers(t, form, numbers);
    text_putc(t, '\n');
}

static void put_offers(text_buffer *t, const space_choice *c)
{
    text_puts(t, "    offers:\n");
    for (const space_offer *o = c->first; o != NULL; o = o->next) {
        text_puts(t, "      - value: ");
        put_numbers(t, &c->form, o->values);
        text_putc(t, '\n');
        if (o->has_cost) text_printf(t, "        cost: %.6g\n", o->cost);
        if (o->limit == NULL) continue;
        text_puts(t, "        limit: ");
        yaml_write_name(t, str_from(o->limit));
        text_putc(t, '\n');
    }
}

static void put_choice(text_buffer *t, const space_choice *c, const struct schedule_decision *chosen)
{
    text_puts(t, "  - at: ");
    yaml_write_name(t, c->path);
    text_puts(t, "\n    decide: ");
    yaml_write_name(t, str_from(c->name));
    text_puts(t, "\n    chosen: ");
    schedule_put_value(t, chosen);
    text_putc(t, '\n');
    for (uint32_t w = 0; c->form.words != NULL && c->form.words[w] != NULL; w++) {
        text_puts(t, w == 0 ? "    words: [" : ", ");
        yaml_write_name(t, str_from(c->form.words[w]));
        if (c->form.words[w + 1] == NULL) text_puts(t, "]\n");
    }
    put_limits(t, "least", &c->form, c->form.min);
    put_limits(t, "most", &c->form, c->form.max);
    if (c->first != NULL) put_offers(t, c);
}

void space_file_write(const search_space *s, const schedule *chosen, text_buffer *out)
{
    const char *head = "decisions:\n";
    for (const space_choice *c = s->first; c != NULL; c = c->next) {
        const struct schedule_decision *made = schedule_decision_of(chosen, c->path, c->name);
        if (made == NULL) continue;
        text_puts(out, head);
        put_choice(out, c, made);
        head = "";
    }
    if (*head != '\0') text_puts(out, "decisions: []\n");
}
