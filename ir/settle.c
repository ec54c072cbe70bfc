/* Unique names and ordered use lists (module_settle). */
#include "ir/module_impl.h"

#include <string.h>

/* Numbers by 64-bit key; key 0 is empty. Used again for each function. */
typedef struct name_table {
    uint64_t *keys;
    uint32_t *numbers;
    size_t capacity;  /* power of two, or 0 */
    size_t allocated; /* what is allocated */
    size_t count;
} name_table;

/* Plain numbers in use: those of the function whose serial is at their place. */
typedef struct number_set {
    uint32_t *serial_of;
    size_t capacity;
    uint32_t serial;
    uint32_t count; /* in this function */
} number_set;

typedef struct settler {
    module *m;
    number_set numbers;  /* names without a base in use, except for those that are far beyond their count */
    name_table taken;    /* the other names in use */
    name_table counters; /* base -> smallest number that may be free */
    uint32_t unnamed;    /* the same for base 0 */
    value_id *later;     /* values that still need a name, in print order */
    size_t later_capacity, later_count;
} settler;

static uint64_t name_key(value_name n) { return ((uint64_t)n.base << 32 | n.number) ^ VALUE_NO_NUMBER; }

static size_t key_place(const name_table *t, uint64_t key)
{
    uint64_t hash = key * 0x9E3779B97F4A7C15u;
    size_t at = (size_t)(hash >> 32) & (t->capacity - 1);
    while (t->keys[at] != 0 && t->keys[at] != key) at = (at + 1) & (t->capacity - 1);
    return at;
}

/* Empties a table and leaves a small capacity, so that a small function does not pay for a large one before it. */
static void table_clear(name_table *t)
{
    enum { SMALL = 64 };
    if (t->allocated < SMALL) {
        size_t keys = 0, numbers = 0;
        t->keys = table_grow(NULL, &keys, SMALL, sizeof *t->keys);
        t->numbers = table_grow(NULL, &numbers, SMALL, sizeof *t->numbers);
        t->allocated = SMALL;
    }
    t->capacity = SMALL;
    t->count = 0;
    memset(t->keys, 0, t->capacity * sizeof *t->keys);
}

static void table_enlarge(name_table *t)
{
    name_table bigger = {.capacity = 2 * t->capacity, .count = t->count};
    size_t keys = 0, numbers = 0;
    bigger.keys = table_grow(NULL, &keys, bigger.capacity, sizeof *bigger.keys);
    bigger.numbers = table_grow(NULL, &numbers, bigger.capacity, sizeof *bigger.numbers);
    bigger.allocated = bigger.capacity;
    for (size_t i = 0; i < t->capacity; i++) {
        if (t->keys[i] == 0) continue;
        size_t at = key_place(&bigger, t->keys[i]);
        bigger.keys[at] = t->keys[i];
        bigger.numbers[at] = t->numbers[i];
    }
    table_free(t->keys);
    table_free(t->numbers);
    *t = bigger;
}

/* The number of a key, which is added with 0 when new. */
static uint32_t *number_at(name_table *t, uint64_t key, bool *is_new)
{
    if (2 * (t->count + 1) > t->capacity) table_enlarge(t);
    size_t at = key_place(t, key);
    *is_new = t->keys[at] == 0;
    if (*is_new) {
        t->keys[at] = key;
        t->numbers[at] = 0;
        t->count++;
    }
    return &t->numbers[at];
}

/* Whether the number was free; false in `*fits` when it belongs into the table of the others. */
static bool take_number(number_set *set, uint32_t number, bool *fits)
{
    enum { GAP = 256 };
    *fits = true;
    if (number < set->capacity && set->serial_of[number] == set->serial) return false;
    /* Memory stays in proportion to the names. */
    *fits = number / 4 <= (uint64_t)set->count + GAP;
    if (!*fits) return false;
    set->serial_of = table_grow(set->serial_of, &set->capacity, (size_t)number + 1, sizeof *set->serial_of);
    set->serial_of[number] = set->serial;
    set->count++;
    return true;
}

static bool is_taken(const name_table *t, value_name n)
{
    return t->count != 0 && t->keys[key_place(t, name_key(n))] != 0;
}

static bool take(settler *s, value_name n)
{
    if (n.base == 0 && n.number != VALUE_NO_NUMBER) {
        bool fits;
        if (is_taken(&s->taken, n)) return false; /* it was far off once */
        bool is_free = take_number(&s->numbers, n.number, &fits);
        if (fits) return is_free;
    }
    bool is_new;
    (void)number_at(&s->taken, name_key(n), &is_new);
    return is_new;
}

/* First come, first served. */
static void claim(settler *s, value_id v)
{
    const value_record *value = value_raw(s->m, v);
    value_name n = {value->name_base, value->name_number};
    if ((n.base != 0 || n.number != VALUE_NO_NUMBER) && take(s, n)) return;
    if (s->later_count == s->later_capacity)
        s->later = table_grow(s->later, &s->later_capacity, s->later_count + 1, sizeof *s->later);
    s->later[s->later_count++] = v;
}

/* A number after a base that ends in a digit would read as another name. */
static str_id numbered_base(settler *s, str_id base)
{
    str text = base == 0 ? (str){NULL, 0} : string_of(s->m->context, base);
    if (text.n == 0 || text.p[text.n - 1] < '0' || text.p[text.n - 1] > '9') return base;
    text_buffer longer;
    text_init(&longer);
    text_put(&longer, text.p, text.n);
    text_putc(&longer, '_');
    base = string_intern(s->m->context, (str){longer.p, longer.n});
    text_fini(&longer);
    return base;
}

static void rename_later(settler *s)
{
    for (size_t i = 0; i < s->later_count; i++) {
        value_record *value = value_raw(s->m, s->later[i]);
        value_name n = {numbered_base(s, value->name_base), 0};
        bool is_new;
        uint32_t *counter = n.base == 0 ? &s->unnamed : number_at(&s->counters, n.base, &is_new);
        do n.number = (*counter)++;
        while (!take(s, n));
        value->name_base = n.base;
        value->name_number = n.number;
        s->m->epoch++;
    }
    s->later_count = 0;
}

static void claim_op(settler *s, op_id o)
{
    const op_record *op = op_raw(s->m, o);
    for (uint32_t i = 0; i < op->result_count; i++) claim(s, op->results + i);
    for (uint32_t b = 0, n = block_count(s->m, op); b < n; b++) {
        const block_record *block = block_raw(s->m, first_block(s->m, op) + b);
        for (uint32_t i = 0; i < block->arg_count; i++) claim(s, block->args[i]);
    }
}

/* Puts the uses of an op after those of all ops before it: every list was emptied first. */
static void relink_uses(module *m, op_id o)
{
    const op_record *op = op_raw(m, o);
    for (uint32_t i = 0; i < op->operand_count; i++) use_link(m, operand_use(m, o, i), operand_value(m, op, i));
}

void module_settle(module *m)
{
    settler s = {.m = m};
    for (value_id v = 1; v < m->values.count; v++) {
        if (value_raw(m, v)->def != 0) value_raw(m, v)->first_use = 0;
    }
    BLOCK_EACH_OP(m, f, m->top) {
        table_clear(&s.taken);
        table_clear(&s.counters);
        s.numbers.serial++;
        s.numbers.count = 0;
        s.unnamed = 0;
        for (op_id o = f; o != 0; o = walk_next(m, f, o)) {
            claim_op(&s, o);
            relink_uses(m, o);
        }
        rename_later(&s);
    }
    table_free(s.numbers.serial_of);
    table_free(s.taken.keys);
    table_free(s.taken.numbers);
    table_free(s.counters.keys);
    table_free(s.counters.numbers);
    table_free(s.later);
}
