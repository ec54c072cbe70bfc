#include "ir/verify/function_class.h"

#include "ir/context/float_format.h"
#include "ir/module_read.h"

#include <math.h>
#include <string.h>

enum { FIRST_BUCKETS = 16 };

struct function_classes {
    arena *arena;
    const module *module;
    function_class **buckets; /* a power of two of them, by content */
    uint32_t bucket_count, class_count;
    function_class *unused;
    str_id name, label;
    uint32_t *numbers; /* of values, by id, in the order of the function; those below `first_number` are of others */
    uint32_t number_capacity, first_number, next_number;
};

function_classes *function_classes_create(arena *a, const module *m)
{
    function_classes *s = arena_alloc(a, sizeof *s);
    *s = (function_classes){.arena = a, .module = m, .bucket_count = FIRST_BUCKETS};
    s->buckets = arena_array(a, s->bucket_count, sizeof(function_class *));
    s->name = string_intern_z(m->context, "name");
    s->label = string_intern_z(m->context, "label");
    return s;
}

/* ---- content: two hashes of all that counts, 128 bits, so that equal ones are taken for equal functions ---- */

static void add(uint64_t content[2], uint64_t word)
{
    content[0] = (content[0] ^ word) * UINT64_C(0x9E3779B97F4A7C15);
    content[0] ^= content[0] >> 29;
    const uint64_t mixed = content[1] + word * UINT64_C(0xC2B2AE3D27D4EB4F);
    content[1] = (mixed << 31 | mixed >> 33) * UINT64_C(0x165667B19E3779F9);
}

static void begin_numbers(function_classes *s)
{
    const uint32_t values = s->module->values.count;
    if (values > s->number_capacity || s->next_number > UINT32_MAX - values) {
        s->number_capacity = values < UINT32_MAX / 2 ? 2 * values : values;
        s->numbers = arena_array(s->arena, s->number_capacity, sizeof *s->numbers);
        s->next_number = 1;
    }
    s->first_number = s->next_number;
}

/* A scalar constant of a float type with nothing but a number that the type can hold: it verifies whatever the number.
 */
static bool has_any_number(const module *m, const op_record *op)
{
    if (op->kind != OP_CONSTANT || op->attrs == 0 || op->result_count != 1) return false;
    const attr_node *dict = attr_at(m->context, op->attrs);
    const dtype d = type_at(m->context, value_raw(m, op->results)->type)->dtype;
    if (dict->count != 1 || dtype_class_of(d) != DTYPE_CLASS_FLOAT) return false;
    const attr_node *number = attr_at(m->context, dict->items[0]);
    return number->kind == ATTR_FLOAT && fabs(number->f) <= float_largest(d);
}

/* Of a name it counts that there is one. */
static void add_attrs_but(const module *m, attr_id attrs, str_id name, uint64_t content[2])
{
    add(content, attrs == 0 ? 0 : attr_at(m->context, attrs)->count);
    if (attrs == 0) return;
    const attr_node *dict = attr_at(m->context, attrs);
    for (uint32_t i = 0; i < dict->count; i++) {
        const bool is_name = dict->keys[i] == name && attr_at(m->context, dict->items[i])->kind == ATTR_STRING;
        add(content, (uint64_t)dict->keys[i] << 32 | (is_name ? 0 : dict->items[i]));
    }
}

static void add_value(function_classes *s, value_id v, uint64_t content[2])
{
    s->numbers[v] = s->next_number++;
    add(content, value_raw(s->module, v)->type);
}

/* What is in which block follows from the order of the ops, from which are the last of theirs, and from which blocks
 * are empty. False: the op keeps its function alone. */
static bool add_op(function_classes *s, op_id o, op_id f, uint64_t content[2])
{
    const module *m = s->module;
    const op_record *op = op_at(m, o);
    const uint32_t blocks = block_count(m, op);
    if (op->kind >= OP_KIND_COUNT || op->kind == OP_CALL || op->loc == 0) return false;
    add(content,
        op->kind | (uint64_t)op->operand_count << 16 | (uint64_t)op->result_count << 32 | (uint64_t)blocks << 48);
    if (has_any_number(m, op))
        add(content, (uint64_t)attr_at(m->context, op->attrs)->keys[0] << 32);
    else if (blocks == 0)
        add(content, op->attrs);
    else
        add_attrs_but(m, op->attrs, o == f ? s->name : s->label, content);
    if (o != f) add(content, op->next == 0);
    for (uint32_t i = 0; i < op->operand_count; i++) {
        const uint32_t number = s->numbers[operand_value(m, op, i)];
        if (number < s->first_number) return false;
        add(content, number - s->first_number);
    }
    for (uint32_t i = 0; i < op->result_count; i++) add_value(s, op->results + i, content);
    for (uint32_t b = 0; b < blocks; b++) {
        const block_record *block = block_raw(m, first_block(m, op) + b);
        add(content, block->arg_count | (uint64_t)(block->first == 0) << 32);
        for (uint32_t i = 0; i < block->arg_count; i++) add_value(s, block->args[i], content);
    }
    return true;
}

static bool find_content(function_classes *s, op_id f, uint64_t content[2])
{
    begin_numbers(s);
    IR_WALK(s->module, o, f)
    {
        if (!add_op(s, o, f, content)) return false;
    }
    return true;
}

/* ---- classes ---- */

static function_class **bucket_of(const function_classes *s, const uint64_t content[2])
{
    return &s->buckets[(content[0] ^ content[1] >> 32) & (s->bucket_count - 1)];
}

static void grow(function_classes *s)
{
    function_class **old = s->buckets;
    const uint32_t old_count = s->bucket_count;
    s->bucket_count *= 2;
    s->buckets = arena_array(s->arena, s->bucket_count, sizeof(function_class *));
    for (uint32_t i = 0; i < old_count; i++) {
        for (function_class *c = old[i], *next = NULL; c != NULL; c = next) {
            next = c->next;
            function_class **bucket = bucket_of(s, c->content);
            c->next = *bucket;
            *bucket = c;
        }
    }
}

static function_class *add_class(function_classes *s, const uint64_t content[2], bool is_alone)
{
    function_class *c = s->unused;
    if (c != NULL)
        s->unused = c->next;
    else
        c = arena_alloc(s->arena, sizeof *c);
    *c = (function_class){.content = {content[0], content[1]}, .is_alone = is_alone};
    if (is_alone) return c;
    if (++s->class_count > s->bucket_count) grow(s);
    function_class **bucket = bucket_of(s, content);
    c->next = *bucket;
    *bucket = c;
    return c;
}

function_class *function_class_join(function_classes *s, op_id f, bool alone)
{
    uint64_t content[2] = {1, 2};
    const bool is_alone = alone || !find_content(s, f, content);
    function_class *c = is_alone ? NULL : *bucket_of(s, content);
    while (c != NULL && (c->content[0] != content[0] || c->content[1] != content[1])) c = c->next;
    if (c == NULL) {
        c = add_class(s, content, is_alone);
        c->level = function_level(s->module, f);
    }
    c->members++;
    return c;
}

void function_class_leave(function_classes *s, function_class *c)
{
    if (--c->members > 0) return;
    if (!c->is_alone) {
        function_class **link = bucket_of(s, c->content);
        while (*link != c) link = &(*link)->next;
        *link = c->next;
        s->class_count--;
    }
    c->next = s->unused;
    s->unused = c;
}
