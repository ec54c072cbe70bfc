/* Paths of ops: text to name one by, and back (module.h). */
#include "ir/module_impl.h"

#include <string.h>

/* What an op is called, in two parts. */
typedef struct own_name {
    str word;        /* with letters that print as `_` */
    uint32_t number; /* after it, or VALUE_NO_NUMBER */
} own_name;

/* The attributes that name an op: of a nest, and of the symbol that a `tune` or `bind` declares. */
typedef struct name_keys {
    str_id label, symbol;
} name_keys;

static name_keys name_keys_of(const module *m)
{
    return (name_keys){string_intern_z(m->context, "label"), string_intern_z(m->context, "symbol")};
}

static str text_of(const module *m, attr_id attrs, str_id key)
{
    const attr_id text = attrs == 0 ? 0 : attr_get(m->context, attrs, key);
    const bool is_text = text != 0 && attr_at(m->context, text)->kind == ATTR_STRING;
    return is_text ? string_of(m->context, attr_at(m->context, text)->id) : (str){NULL, 0};
}

static own_name name_of(const module *m, op_id o, name_keys keys)
{
    const op_record *op = op_at(m, o);
    str text = text_of(m, op->attrs, keys.label);
    if (text.n == 0 && op->result_count == 0) text = text_of(m, op->attrs, keys.symbol);
    if (text.n != 0) return (own_name){text, VALUE_NO_NUMBER};
    const value_record *v = op->result_count == 0 ? NULL : value_raw(m, op->results);
    if (v == NULL || (v->name_base == 0 && v->name_number == VALUE_NO_NUMBER))
        return (own_name){str_from(op_info_at(m->known_ops, op->kind)->name), VALUE_NO_NUMBER};
    return (own_name){v->name_base == 0 ? (str){NULL, 0} : string_of(m->context, v->name_base), v->name_number};
}

bool attrs_call_alike(const module *m, attr_id a, attr_id b)
{
    const name_keys keys = name_keys_of(m);
    const str_id all[] = {keys.label, keys.symbol, string_intern_z(m->context, "name")};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if ((a == 0 ? 0 : attr_get(m->context, a, all[i])) != (b == 0 ? 0 : attr_get(m->context, b, all[i])))
            return false;
    return true;
}

/* What ends a name or looks like another part of a path must not be in one. */
static char visible(char c)
{
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    return is_letter || c == '.' || c == '-' ? c : '_';
}

static void print_name(own_name n, text_buffer *out)
{
    for (size_t i = 0; i < n.word.n; i++) text_putc(out, visible(n.word.p[i]));
    if (n.number != VALUE_NO_NUMBER) text_put_u64(out, n.number);
}

static bool is_called(own_name n, str text)
{
    if (n.word.n > text.n) return false;
    for (size_t i = 0; i < n.word.n; i++)
        if (visible(n.word.p[i]) != text.p[i]) return false;
    /* The digits, last one first. */
    size_t end = text.n;
    if (n.number != VALUE_NO_NUMBER) {
        uint32_t rest = n.number;
        do {
            if (end == n.word.n || text.p[end - 1] != (char)('0' + rest % 10)) return false;
            end--;
            rest /= 10;
        } while (rest != 0);
    }
    return end == n.word.n;
}

/* The op of function `f` after `o`, in print order; of the ops outside of all functions when `f` is 0. From the first
 * one when `o` is `f`. */
static op_id next_in(const module *m, op_id f, op_id o)
{
    op_id next = o != 0 ? walk_next(m, f, o) : block_first(m, m->top);
    while (next != 0 && (op_info_at(m->known_ops, op_at(m, next)->kind)->traits & TRAIT_FUNCTION) != 0)
        next = walk_skip(m, f, next);
    return next;
}

/* The path of an op that is the `number`-th of its name in function `f`. */
static void put_path(const module *m, op_id f, op_id o, uint32_t number, text_buffer *out)
{
    const str function = f == 0 ? (str){NULL, 0} : string_of(m->context, function_name(m, f));
    text_putc(out, '@');
    text_put(out, function.p, function.n);
    if (f == o) return;
    text_putc(out, '/');
    print_name(name_of(m, o, name_keys_of(m)), out);
    if (number > 1) {
        text_putc(out, '#');
        text_put_u64(out, number);
    }
}

void op_print_path(const module *m, op_id o, text_buffer *out)
{
    const op_id f = op_function(m, o);
    if (f == o) {
        put_path(m, f, o, 1, out);
        return;
    }
    const name_keys keys = name_keys_of(m);
    text_buffer own;
    text_init(&own);
    print_name(name_of(m, o, keys), &own);
    uint32_t number = 1;
    for (op_id i = next_in(m, f, f); i != 0 && i != o; i = next_in(m, f, i))
        number += is_called(name_of(m, i, keys), (str){own.p, own.n});
    text_fini(&own);
    put_path(m, f, o, number, out);
}

/* ---- many paths of one function ---- */

typedef struct name_count {
    str name;
    uint32_t count;
} name_count;

struct path_table {
    const module *module;
    op_id function;
    uint32_t op_count;
    uint32_t *numbers; /* by op id: 1 for the first of its name; 0: not of the function */
    name_count *slots; /* open addressing */
    uint32_t mask;
};

static name_count *slot_of(const path_table *t, str name)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < name.n; i++) hash = (hash ^ (uint8_t)name.p[i]) * 0x100000001b3u;
    uint32_t at = (uint32_t)(hash ^ hash >> 32) & t->mask;
    while (t->slots[at].count != 0 && !str_eq(t->slots[at].name, name)) at = (at + 1) & t->mask;
    return &t->slots[at];
}

path_table *path_table_create(arena *a, const module *m, op_id function)
{
    path_table *t = arena_alloc(a, sizeof *t);
    const name_keys keys = name_keys_of(m);
    uint32_t count = 0;
    for (op_id i = next_in(m, function, function); i != 0; i = next_in(m, function, i)) count++;
    *t = (path_table){.module = m, .function = function, .op_count = m->ops.count, .mask = 15};
    while (t->mask < 2 * count) t->mask = 2 * t->mask + 1;
    t->slots = arena_array(a, t->mask + 1u, sizeof *t->slots);
    t->numbers = arena_array(a, t->op_count, sizeof *t->numbers);
    text_buffer own;
    text_init(&own);
    for (op_id i = next_in(m, function, function); i != 0; i = next_in(m, function, i)) {
        own.n = 0;
        print_name(name_of(m, i, keys), &own);
        name_count *slot = slot_of(t, (str){own.p, own.n});
        if (slot->count == 0) slot->name = (str){arena_strndup(a, own.p, own.n), own.n};
        t->numbers[i] = ++slot->count;
    }
    text_fini(&own);
    return t;
}

void path_table_print(const path_table *t, op_id o, text_buffer *out)
{
    BUG_IF(o >= t->op_count || (t->numbers[o] == 0 && o != t->function), "op %u is not of the table's function", o);
    put_path(t->module, t->function, o, t->numbers[o], out);
}

/* ---- back ---- */

/* Takes "#12" off the end of `name`; no number is 1, and 0 stands for what is none. */
static uint64_t take_number(str *name)
{
    const char *mark = name->n == 0 ? NULL : memchr(name->p, '#', name->n);
    if (mark == NULL) return 1;
    const str digits = {mark + 1, name->n - (size_t)(mark + 1 - name->p)};
    uint64_t number = 0;
    name->n = (size_t)(mark - name->p);
    if (digits.n == 0 || digits.n > 10 || digits.p[0] == '0') return 0;
    for (size_t i = 0; i < digits.n; i++) {
        if (digits.p[i] < '0' || digits.p[i] > '9') return 0;
        number = 10 * number + (uint64_t)(digits.p[i] - '0');
    }
    return number;
}

op_id op_by_path(const module *m, str path)
{
    if (path.n == 0 || path.p[0] != '@') return 0;
    const char *slash = memchr(path.p, '/', path.n);
    const str function = {path.p + 1, (slash == NULL ? path.n : (size_t)(slash - path.p)) - 1};
    const op_id f = function.n == 0 ? 0 : module_find_symbol(m, string_intern(m->context, function));
    if (slash == NULL || (f == 0 && function.n != 0)) return f;
    str name = {slash + 1, path.n - (size_t)(slash + 1 - path.p)};
    uint64_t number = take_number(&name);
    if (name.n == 0 || number == 0) return 0;
    const name_keys keys = name_keys_of(m);
    for (op_id i = next_in(m, f, f); i != 0; i = next_in(m, f, i))
        if (is_called(name_of(m, i, keys), name) && --number == 0) return i;
    return 0;
}

void op_name_diag(diag_engine *d, const module *m, op_id o, diag_severity severity)
{
    if (o == 0 || !diag_wants_path(d, severity)) return;
    text_buffer path;
    text_init(&path);
    op_print_path(m, o, &path);
    diag_set_path(d, (str){path.p, path.n});
    text_fini(&path);
}
