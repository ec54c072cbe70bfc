/* Value names and their scopes: one table for each function, open addressing, cleared between functions. */
#include "ir/text/parser_state.h"

#include <string.h>

enum { FIRST_SLOTS = 1024, SERIES_GAP = 256 };

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* The parts of a name as value_set_name takes it apart: digits at the end when they spell a number plainly. */
static value_name split_name(parser *p, str s)
{
    size_t digits = 0;
    uint64_t number = 0;
    if (s.n <= 9 && (s.p[0] != '0' || s.n == 1)) {
        /* Most names are numbers. */
        uint32_t plain = 0;
        for (; digits < s.n && is_digit(s.p[digits]); digits++) plain = plain * 10 + (uint32_t)(s.p[digits] - '0');
        if (digits == s.n) return (value_name){.base = 0, .number = plain};
        digits = 0;
    }
    while (digits < s.n && digits < 11 && is_digit(s.p[s.n - 1 - digits])) digits++;
    for (size_t i = s.n - digits; i < s.n; i++) number = number * 10 + (uint64_t)(s.p[i] - '0');
    bool is_plain = digits != 0 && (digits == 1 || s.p[s.n - digits] != '0') && number < VALUE_NO_NUMBER;
    if (!is_plain) return (value_name){.base = intern_text(p, s), .number = VALUE_NO_NUMBER};
    s.n -= digits;
    return (value_name){.base = s.n == 0 ? 0 : intern_text(p, s), .number = (uint32_t)number};
}

/* `%x#2` of MLIR: result 2 of an op with several results. */
static status parse_result_number(parser *p, token name, name_ref *out)
{
    next(p);
    int64_t index;
    TRY(parse_int(p, false, &index));
    if (index < 0 || index > MAX_COUNT) {
        FAIL(p, pos_of(p, &name), E0114, "result number %lld; the limit is %d", (long long)index, MAX_COUNT);
    }
    text_buffer text;
    text_init(&text);
    text_printf(&text, "%.*s.%lld", (int)name.n, name.p, (long long)index);
    out->name.base = string_intern(p->c, (str){text.p, text.n});
    out->name.number = VALUE_NO_NUMBER;
    text_fini(&text);
    return OK;
}

status parse_value_name(parser *p, name_ref *out)
{
    if (p->tok.kind != TOK_VALUE) return fail_expected(p, "a value");
    str s = text_of(&p->tok);
    if (p->tok.has_dot) {
        /* The generic printer writes `%_.2d` for `%2d`, which MLIR cannot read. */
        if (!str_starts_with(s, "_.") || memchr(s.p + 2, '.', s.n - 2) != NULL || s.n == 2) {
            FAIL_HERE(p, E0102, "the name of a value cannot contain `.`");
        }
        s = (str){s.p + 2, s.n - 2};
    }
    *out = (name_ref){.name = split_name(p, s), .line = p->tok.line, .column = p->tok.column};
    if (p->tok.p[p->tok.n] == '#') {
        token name = p->tok;
        next(p);
        return parse_result_number(p, name, out);
    }
    next(p);
    return OK;
}

/* ---- the table ---- */

static size_t hash_name(value_name n)
{
    uint64_t h = ((uint64_t)n.base << 32 | n.number) * 0x9E3779B97F4A7C15u;
    return (size_t)(h ^ h >> 32);
}

static bool is_empty(const name_slot *s) { return s->name.base == 0 && s->name.number == VALUE_NO_NUMBER; }

static bool is_same(value_name a, value_name b) { return a.base == b.base && a.number == b.number; }

static void clear_slots(name_table *t)
{
    for (size_t i = 0; i <= t->mask; i++) t->slots[i] = (name_slot){.name.number = VALUE_NO_NUMBER};
    t->used = 0;
}

void names_reset(parser *p)
{
    name_table *t = &p->names;
    for (uint32_t i = 0; i < t->series_count; i++) {
        name_series *s = &t->series[i];
        if (s->end != 0) memset(s->entries, 0, s->end * sizeof *s->entries);
        s->end = s->used = 0;
    }
    t->series_count = 0;
    t->visible_count = 0;
    if (t->slots == NULL) {
        t->slots = table_grow(NULL, &t->capacity, FIRST_SLOTS, sizeof *t->slots);
        t->mask = FIRST_SLOTS - 1;
    } else if (t->used == 0) {
        return;
    }
    /* A small function after a large one must not pay for the large one's table again and again. */
    while (t->mask >= FIRST_SLOTS && t->used * 8 < t->mask) t->mask /= 2;
    clear_slots(t);
}

/* The slot of a name, or the empty one where it belongs. */
static name_slot *find_slot(const name_table *t, value_name n)
{
    size_t i = hash_name(n) & t->mask;
    while (!is_empty(&t->slots[i]) && !is_same(t->slots[i].name, n)) i = (i + 1) & t->mask;
    return &t->slots[i];
}

static name_series *series_of(name_table *t, str_id base)
{
    for (uint32_t i = 0; i < t->series_count; i++) {
        if (t->series[i].base == base) return &t->series[i];
    }
    return NULL;
}

/* The entry of a name; NULL when it never was defined in this function. */
static name_entry *find_entry(name_table *t, value_name n)
{
    if (n.number != VALUE_NO_NUMBER) {
        name_series *s = series_of(t, n.base);
        if (s != NULL && n.number < s->end && s->entries[n.number].line != 0) return &s->entries[n.number];
    }
    if (t->used == 0) return NULL;
    name_slot *slot = find_slot(t, n);
    return is_empty(slot) ? NULL : &slot->entry;
}

static void grow_slots(name_table *t)
{
    size_t old_count = t->mask + 1;
    if (old_count * 2 > t->capacity) t->slots = table_grow(t->slots, &t->capacity, old_count * 2, sizeof *t->slots);
    size_t copy_capacity = 0;
    name_slot *old = table_grow(NULL, &copy_capacity, old_count, sizeof *old);
    memcpy(old, t->slots, old_count * sizeof *old);
    t->mask = old_count * 2 - 1;
    size_t used = t->used;
    clear_slots(t);
    t->used = used;
    for (size_t i = 0; i < old_count; i++) {
        if (!is_empty(&old[i])) *find_slot(t, old[i].name) = old[i];
    }
    table_free(old);
}

/* The entry in a series for a name that has none yet; NULL when it belongs into the table. */
static name_entry *add_to_series(name_table *t, value_name n)
{
    if (n.number == VALUE_NO_NUMBER) return NULL;
    name_series *s = series_of(t, n.base);
    if (s == NULL) {
        if (t->series_count == NAME_SERIES) return NULL;
        s = &t->series[t->series_count++];
        s->base = n.base;
    }
    /* Numbers may leave gaps, but memory stays in proportion to the names. */
    if (n.number > 4 * (uint64_t)s->used + SERIES_GAP) return NULL;
    if (n.number >= s->capacity)
        s->entries = table_grow(s->entries, &s->capacity, (size_t)n.number + 1, sizeof *s->entries);
    if (n.number >= s->end) s->end = n.number + 1;
    s->used++;
    return &s->entries[n.number];
}

static name_entry *add_entry(name_table *t, value_name n)
{
    name_entry *e = add_to_series(t, n);
    if (e != NULL) return e;
    if (t->used * 2 > t->mask) grow_slots(t);
    name_slot *slot = find_slot(t, n);
    slot->name = n;
    t->used++;
    return &slot->entry;
}

void names_fini(parser *p)
{
    for (uint32_t i = 0; i < NAME_SERIES; i++) table_free(p->names.series[i].entries);
    table_free(p->names.slots);
    table_free(p->names.visible);
}

static void put_name(const parser *p, value_name n, text_buffer *out)
{
    text_putc(out, '%');
    if (n.base != 0) {
        str base = string_of(p->c, n.base);
        text_put(out, base.p, base.n);
    }
    if (n.number != VALUE_NO_NUMBER) text_put_u64(out, n.number);
}

/* The visible name nearest to `wanted`, onto `out`; nothing when none is near. */
static void put_nearest(const parser *p, str wanted, text_buffer *out)
{
    const name_table *t = &p->names;
    size_t limit = wanted.n / 3 < 2 ? 2 : wanted.n / 3;
    size_t best_distance = limit < wanted.n - 1 ? limit + 1 : wanted.n - 1;
    const value_name *best = NULL;
    text_buffer text;
    text_init(&text);
    size_t from = t->visible_count > 1000 ? t->visible_count - 1000 : 0;
    for (size_t i = t->visible_count; i > from; i--) {
        text.n = 0;
        put_name(p, t->visible[i - 1], &text);
        size_t distance = str_distance(wanted, (str){text.p, text.n});
        if (distance >= best_distance) continue;
        best_distance = distance;
        best = &t->visible[i - 1];
    }
    text_fini(&text);
    if (best != NULL) put_name(p, *best, out);
}

static status fail_undefined(parser *p, const name_ref *ref, uint32_t ended_line)
{
    if (!may_report(p)) return FAILED;
    text_buffer name, near;
    text_init(&name);
    text_init(&near);
    put_name(p, ref->name, &name);
    put_nearest(p, (str){name.p, name.n}, &near);
    src_pos at = pos_at(p, ref->line, ref->column);
    if (ended_line != 0) {
        diag_error(p->diags, at, &E0110, "`%s` is not visible here: the block of its definition in line %u has ended",
                   name.p, ended_line);
    } else if (near.n != 0) {
        diag_error(p->diags, at, &E0110, "`%s` is not defined; did you mean `%s`?", name.p, near.p);
    } else {
        diag_error(p->diags, at, &E0110, "`%s` is not defined; values must be defined before their use", name.p);
    }
    text_fini(&name);
    text_fini(&near);
    return FAILED;
}

status names_find(parser *p, const name_ref *ref, value_id *out)
{
    const name_entry *e = find_entry(&p->names, ref->name);
    if (e == NULL || e->value == 0) return fail_undefined(p, ref, e == NULL ? 0 : e->line);
    if (e->value == POISON_VALUE) p->poisoned = true;
    *out = e->value;
    return OK;
}

status parse_value(parser *p, value_id *out)
{
    name_ref ref = {0};
    TRY(parse_value_name(p, &ref));
    return names_find(p, &ref, out);
}

static status fail_defined(parser *p, const name_ref *ref, uint32_t line)
{
    text_buffer name;
    text_init(&name);
    put_name(p, ref->name, &name);
    if (may_report(p)) {
        diag_error(p->diags, pos_at(p, ref->line, ref->column), &E0111, "`%s` is defined already, in line %u", name.p,
                   line);
    }
    text_fini(&name);
    return FAILED;
}

status names_define(parser *p, const name_ref *ref, value_id v)
{
    name_table *t = &p->names;
    name_entry *e = find_entry(t, ref->name);
    if (e == NULL) {
        e = add_entry(t, ref->name);
    } else if (e->value == 0) {
        p->needs_settle = true;
    } else {
        return v == POISON_VALUE ? OK : fail_defined(p, ref, e->line);
    }
    *e = (name_entry){.value = v, .line = ref->line};
    if (t->visible_count == t->visible_capacity) {
        t->visible = table_grow(t->visible, &t->visible_capacity, t->visible_count + 1, sizeof *t->visible);
    }
    t->visible[t->visible_count++] = ref->name;
    if (v == POISON_VALUE) return OK;
    /* `0.1` stands for MLIR's `%0#1`: no name of ours. */
    bool is_ours = !p->is_generic || ref->name.base == 0;
    if (!is_ours) {
        str base = string_of(p->c, ref->name.base);
        is_ours = memchr(base.p, '.', base.n) == NULL;
    }
    p->needs_settle = p->needs_settle || !is_ours;
    if (is_ours) value_set_name_parts(p->m, v, ref->name);
    return OK;
}

void names_leave(parser *p, size_t scope)
{
    name_table *t = &p->names;
    while (t->visible_count > scope) {
        name_entry *e = find_entry(t, t->visible[--t->visible_count]);
        BUG_IF(e == NULL, "a visible name has no entry");
        e->value = 0;
    }
}
