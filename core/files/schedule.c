#include "core/files/schedule.h"

#include "core/core_diag.h"
#include "core/files/schedule_impl.h"
#include "core/files/search_space.h"

#include <inttypes.h>
#include <string.h>

schedule *schedule_create(arena *a, diag_engine *d)
{
    schedule *s = arena_alloc(a, sizeof *s);
    *s = (schedule){.a = a, .d = d, .pin_index = {.a = a}, .decision_index = {.a = a}};
    return s;
}

void schedule_destroy(schedule *s)
{
    if (s != NULL && s->paths.arena != NULL) arena_destroy(s->paths.arena);
}

void schedule_print_path(schedule *s, const module *m, op_id o, text_buffer *out)
{
    const op_id function = op_function(m, o);
    const bool is_same =
        s->paths.module == m && s->paths.function == function && s->paths.epoch == module_path_epoch(m);
    if (!is_same) {
        s->paths.module = m;
        s->paths.function = function;
        s->paths.epoch = module_path_epoch(m);
        s->paths.table = NULL;
        op_print_path(m, o, out);
        return;
    }
    if (s->paths.table == NULL) {
        if (s->paths.arena == NULL) s->paths.arena = arena_create("paths");
        arena_rewind(s->paths.arena, (arena_mark){0});
        s->paths.table = path_table_create(s->paths.arena, m, function);
    }
    path_table_print(s->paths.table, o, out);
}

status schedule_check_machine(schedule *s, const char *machine)
{
    if (s->machine == NULL || (machine != NULL && str_is(s->machine->text, machine))) return OK;
    diag_error(s->d, s->machine->at, &E1805, "the schedule was made for machine %s, the pipeline %s%s",
               s->machine->text.p, machine != NULL ? "is for " : "names none", machine != NULL ? machine : "");
    diag_note(s->d, s->machine->at, "without the key `machine` its decisions are tried on any machine");
    return FAILED;
}

static schedule_pin *pin_of(const schedule *s, str path, const char *name)
{
    return (schedule_pin *)schedule_index_find(&s->pin_index, path, str_from(name));
}

/* ---- the value of a pin ---- */

/* `key`: of the value in a mapping; NULL: of all that the pin has. */
static void refuse_form(schedule *s, const schedule_pin *p, const yaml_node *node, const schedule_form *form,
                        const char *key)
{
    text_buffer t;
    text_init(&t);
    if (form->keys != NULL && key == NULL) {
        text_puts(&t, "a mapping such as { ");
        for (uint32_t k = 0; k < form->count; k++) text_printf(&t, "%s%s: 1", k == 0 ? "" : ", ", form->keys[k]);
        text_puts(&t, " }");
    } else if (form->words != NULL) {
        text_puts(&t, "one of");
        for (uint32_t w = 0; form->words[w] != NULL; w++) text_printf(&t, "%s `%s`", w == 0 ? "" : ",", form->words[w]);
    } else {
        text_puts(&t, "a whole number");
    }
    diag_error(s->d, node->at, &E1803, "`%s%s%s` of %s is %s", p->key.name.p, key != NULL ? "." : "",
               key != NULL ? key : "", p->key.path.p, t.p);
    text_fini(&t);
}

static bool read_one(schedule *s, const schedule_pin *p, const yaml_node *node, const schedule_form *form, uint32_t k,
                     int64_t *out)
{
    bool is_read = false;
    if (node->kind == YAML_SCALAR && form->words != NULL) {
        for (*out = 0; form->words[*out] != NULL && !is_read; *out += !is_read)
            is_read = str_is(node->text, form->words[*out]);
    } else if (node->kind == YAML_SCALAR && !node->quoted) {
        is_read = str_to_i64(node->text, out) == OK;
    }
    if (!is_read) {
        refuse_form(s, p, node, form, form->keys != NULL ? form->keys[k] : NULL);
        return false;
    }
    const char *dot = form->keys != NULL ? "." : "", *key = form->keys != NULL ? form->keys[k] : "";
    const bool is_low = form->min != NULL && *out < form->min[k];
    if (!is_low && (form->max == NULL || *out <= form->max[k])) return true;
    if (form->words != NULL && form->limit != NULL)
        diag_error(s->d, node->at, &E1804, "`%s%s%s` of %s cannot be `%s`: %s", p->key.name.p, dot, key, p->key.path.p,
                   form->words[*out], form->limit);
    else
        diag_error(s->d, node->at, &E1804, "`%s%s%s` of %s is %" PRId64 "; the %s legal value is %" PRId64,
                   p->key.name.p, dot, key, p->key.path.p, *out, is_low ? "least" : "largest",
                   is_low ? form->min[k] : form->max[k]);
    return false;
}

static bool read_mapping(schedule *s, const schedule_pin *p, const schedule_form *form, int64_t *values)
{
    const yaml_node *map = p->value;
    if (map->kind != YAML_MAPPING) {
        refuse_form(s, p, map, form, NULL);
        return false;
    }
    for (uint32_t i = 0; i < map->count; i++) {
        uint32_t k = 0;
        while (k < form->count && !str_is(map->pairs[i].key, form->keys[k])) k++;
        if (k < form->count) continue;
        const char **names = arena_array(s->a, form->count + 1u, sizeof *names);
        for (k = 0; k < form->count; k++) names[k] = form->keys[k];
        schema_unknown(s->d, map->pairs[i].key_at, &E1803, "key", map->pairs[i].key, names);
        return false;
    }
    for (uint32_t k = 0; k < form->count; k++) {
        const yaml_node *node = yaml_find(map, form->keys[k]);
        if (node == NULL) {
            diag_error(s->d, map->at, &E1803, "`%s` of %s lacks `%s`: a pinned decision says all of its values",
                       p->key.name.p, p->key.path.p, form->keys[k]);
            return false;
        }
        if (!read_one(s, p, node, form, k, &values[k])) return false;
    }
    return true;
}

schedule_answer schedule_find(schedule *s, str path, const char *name, const schedule_form *form, int64_t *values,
                              src_pos *at)
{
    schedule_pin *p = pin_of(s, path, name);
    if (s->space != NULL) search_space_add(s->space, path, name, form);
    if (p == NULL) return SCHEDULE_FREE;
    p->is_asked = true;
    *at = p->at;
    const bool is_read =
        form->keys != NULL ? read_mapping(s, p, form, values) : read_one(s, p, p->value, form, 0, &values[0]);
    if (is_read)
        memcpy(p->answer, values, form->count * sizeof *values);
    else
        s->is_refused = true;
    return is_read ? SCHEDULE_PINNED : SCHEDULE_REFUSED;
}

void schedule_set_refused(schedule *s) { s->is_refused = true; }
bool schedule_is_refused(const schedule *s) { return s->is_refused; }

/* ---- what was decided ---- */

bool schedule_keeps_pin(const schedule *s, const schedule_record *r)
{
    const schedule_pin *p = pin_of(s, r->at, r->name);
    return p == NULL || (p->is_asked && memcmp(p->answer, r->values, r->form.count * sizeof *r->values) == 0);
}

static const char *keep(schedule *s, const char *text) { return text != NULL ? arena_strdup(s->a, text) : NULL; }

void schedule_record_decision(schedule *s, const schedule_record *r)
{
    schedule_decision *d = arena_alloc(s->a, sizeof *d);
    *(s->last != NULL ? &s->last->next : &s->first) = d;
    s->last = d;
    s->decision_count++;
    *d = (schedule_decision){
        .key = {{arena_strndup(s->a, r->at.p, r->at.n), r->at.n}, str_from(keep(s, r->name))},
        .count = r->form.count,
        .is_mapping = r->form.keys != NULL,
        .is_pinned = pin_of(s, r->at, r->name) != NULL,
        .limit = keep(s, r->limit),
        .cost = r->cost,
        .has_cost = r->has_cost,
    };
    d->origin = d->is_pinned ? "user" : keep(s, r->origin);
    const char **keys = arena_array(s->a, d->count, sizeof *keys),
               **values = arena_array(s->a, d->count, sizeof *values);
    for (uint32_t k = 0; k < d->count; k++) {
        char number[24];
        snprintf(number, sizeof number, "%" PRId64, r->values[k]);
        keys[k] = d->is_mapping ? keep(s, r->form.keys[k]) : "";
        values[k] = keep(s, r->form.words != NULL ? r->form.words[r->values[k]] : number);
    }
    d->keys = keys;
    d->values = values;
    schedule_index_add(&s->decision_index, &d->key);
}

void schedule_keep(schedule *s)
{
    s->kept = s->last;
    s->kept_count = s->decision_count;
    if (s->space != NULL) search_space_keep(s->space);
}

void schedule_restart(schedule *s)
{
    s->last = s->kept;
    *(s->last != NULL ? &s->last->next : &s->first) = NULL;
    s->decision_count = s->kept_count;
    schedule_index_clear(&s->decision_index);
    for (schedule_decision *d = s->first; d != NULL; d = d->next) schedule_index_add(&s->decision_index, &d->key);
    if (s->space != NULL) search_space_restart(s->space);
}

void schedule_set_space(schedule *s, search_space *to) { s->space = to; }
search_space *schedule_space(const schedule *s) { return s->space; }

const schedule_decision *schedule_decision_of(const schedule *s, str path, const char *name)
{
    return (const schedule_decision *)schedule_index_find(&s->decision_index, path, str_from(name));
}

/* The path of a decision of that name that is nearest to what the pin says, or NULL. */
static const char *nearest_path(const schedule *s, const schedule_pin *p)
{
    const char **paths = arena_array(s->a, s->decision_count + 1u, sizeof *paths);
    uint32_t count = 0;
    for (const schedule_decision *d = s->first; d != NULL; d = d->next) {
        if (str_eq(p->key.name, d->key.name)) paths[count++] = d->key.path.p;
    }
    const char *near = str_nearest(p->key.path, paths);
    return near != NULL || count == 0 ? near : paths[0];
}

static void report_not_asked(const schedule *s, const schedule_pin *p, bool is_complete)
{
    if (is_complete)
        diag_error(s->d, p->at, &E1801, "no step decides `%s` of %s", p->key.name.p, p->key.path.p);
    else
        diag_warning(s->d, p->at, &E1801, "none of the steps that ran decides `%s` of %s", p->key.name.p,
                     p->key.path.p);
    const char *near = nearest_path(s, p);
    if (near != NULL)
        diag_note(s->d, p->at, "it is decided of %s, for example; a written schedule lists all decisions", near);
    else
        diag_note(s->d, p->at, "no `%s` was decided at all; a written schedule lists all decisions", p->key.name.p);
}

status schedule_check_asked(const schedule *s, bool is_complete)
{
    status result = OK;
    for (uint32_t i = 0; i < s->pin_count; i++) {
        if (s->pins[i].is_asked) continue;
        report_not_asked(s, &s->pins[i], is_complete);
        if (is_complete) result = FAILED;
    }
    return result;
}
