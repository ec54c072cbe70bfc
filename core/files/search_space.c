#include "core/files/search_space.h"

#include <string.h>

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
    space_choice *c = arena_alloc(s->a, sizeof *c);
    *c = (space_choice){.path = {arena_strndup(s->a, path.p, path.n), path.n},
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
    space_choice *c = s->last;
    space_offer *o = arena_alloc(s->a, sizeof *o);
    *o = (space_offer){.has_cost = has_cost, .cost = cost, .limit = limit != NULL ? arena_strdup(s->a, limit) : NULL};
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
