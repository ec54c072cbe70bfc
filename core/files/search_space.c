#include "core/files/search_space.h"

#include "core/files/schedule_impl.h"

#include <inttypes.h>
#include <string.h>

typedef struct offer offer;
struct offer {
    offer *next;
    int64_t values[SCHEDULE_VALUES_MAX];
    bool has_cost;
    double cost;
    const char *limit;
};

typedef struct choice choice;
struct choice {
    choice *next;
    str path;
    const char *name;
    schedule_form form;
    offer *first, *last;
};

struct search_space {
    arena *a;
    choice *first, *last;
    choice *kept; /* the last one that a restart leaves, or NULL */
};

search_space *search_space_create(arena *a)
{
    search_space *s = arena_alloc(a, sizeof *s);
    *s = (search_space){.a = a};
    return s;
}

static const char *const *keep_texts(arena *a, const char *const *texts, uint32_t count)
{
    if (texts == NULL) return NULL;
    const char **kept = arena_array(a, count + 1u, sizeof *kept);
    for (uint32_t i = 0; i < count; i++) kept[i] = arena_strdup(a, texts[i]);
    return kept;
}

static const int64_t *keep_numbers(arena *a, const int64_t *numbers, uint32_t count)
{
    if (numbers == NULL) return NULL;
    int64_t *kept = arena_array(a, count, sizeof *kept);
    memcpy(kept, numbers, count * sizeof *kept);
    return kept;
}

void search_space_add(search_space *s, str path, const char *name, const schedule_form *form)
{
    uint32_t words = 0;
    while (form->words != NULL && form->words[words] != NULL) words++;
    choice *c = arena_alloc(s->a, sizeof *c);
    *c = (choice){.path = {arena_strndup(s->a, path.p, path.n), path.n},
                  .name = arena_strdup(s->a, name),
                  .form = {.count = form->count,
                           .keys = keep_texts(s->a, form->keys, form->count),
                           .words = keep_texts(s->a, form->words, words),
                           .min = keep_numbers(s->a, form->min, form->count),
                           .max = keep_numbers(s->a, form->max, form->count)}};
    *(s->last != NULL ? &s->last->next : &s->first) = c;
    s->last = c;
}

void search_space_add_offer(search_space *s, const int64_t *values, bool has_cost, double cost, const char *limit)
{
    choice *c = s->last;
    offer *o = arena_alloc(s->a, sizeof *o);
    *o = (offer){.has_cost = has_cost, .cost = cost, .limit = limit != NULL ? arena_strdup(s->a, limit) : NULL};
    memcpy(o->values, values, c->form.count * sizeof *values);
    *(c->last != NULL ? &c->last->next : &c->first) = o;
    c->last = o;
}

void search_space_keep(search_space *s) { s->kept = s->last; }

void search_space_restart(search_space *s)
{
    s->last = s->kept;
    *(s->last != NULL ? &s->last->next : &s->first) = NULL;
}

/* ---- printing ---- */

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

static void put_offers(text_buffer *t, const choice *c)
{
    text_puts(t, "    offers:\n");
    for (const offer *o = c->first; o != NULL; o = o->next) {
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

static void put_choice(text_buffer *t, const choice *c, const schedule_decision *chosen)
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

void search_space_write(const search_space *s, const schedule *chosen, text_buffer *out)
{
    const char *head = "decisions:\n";
    for (const choice *c = s->first; c != NULL; c = c->next) {
        const schedule_decision *made = schedule_decision_of(chosen, c->path, c->name);
        if (made == NULL) continue;
        text_puts(out, head);
        put_choice(out, c, made);
        head = "";
    }
    if (*head != '\0') text_puts(out, "decisions: []\n");
}
