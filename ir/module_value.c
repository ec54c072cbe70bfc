/* Values, their uses and names, and blocks. */
#include "ir/module_impl.h"

#include <string.h>

/* ---- runs of records ---- */

value_id values_create(module *m, uint32_t n)
{
    if (n == 0) return 0;
    uint32_t class_index = run_class(n);
    value_id first = m->values.free[class_index];
    /* New records are written before they are read, as in op_create. */
    const bool is_new = first == 0;
    if (is_new)
        first = n == 1 ? record_table_add(&m->values, m->memory)
                       : record_table_extend(&m->values, m->memory, run_capacity(class_index));
    else
        m->values.free[class_index] = value_raw(m, first)->first_use;
    for (uint32_t i = 0; i < n; i++) {
        value_record *v = value_raw(m, first + i);
        uint16_t generation = 0;
        if (!is_new) generation = v->generation;
        *v = (value_record){.name_number = VALUE_NO_NUMBER, .generation = generation};
        valid_forget(m, first + i);
    }
    return first;
}

/* Expressions name a value by its number alone: that of an index is never given to another value. */
static bool may_be_in_expressions(const module *m, const value_record *v)
{
    const type_node *t = type_at(m->context, v->type);
    return t->kind == TYPE_SCALAR && t->dtype == DTYPE_INDEX;
}

void values_free(module *m, value_id first, uint32_t n)
{
    if (n == 0) return;
    bool worn_out = false;
    for (uint32_t i = 0; i < n; i++) {
        value_record *v = value_raw(m, first + i);
        v->def = 0;
        worn_out |= v->generation == UINT16_MAX || may_be_in_expressions(m, v);
        if (v->generation < UINT16_MAX) v->generation++;
        valid_forget(m, first + i);
    }
    if (worn_out) return; /* the next generation would look like the first */
    value_raw(m, first)->first_use = m->values.free[run_class(n)];
    m->values.free[run_class(n)] = first;
}

use_id uses_create(module *m, uint32_t n)
{
    if (n == 0) return 0;
    uint32_t class_index = run_class(n);
    use_id first = m->uses.free[class_index];
    if (first == 0) return record_table_extend(&m->uses, m->memory, run_capacity(class_index));
    m->uses.free[class_index] = far_use_raw(m, first)->use.value;
    return first;
}

void uses_free(module *m, use_id first, uint32_t n)
{
    if (n == 0) return;
    for (uint32_t i = 0; i < n; i++) *far_use_raw(m, first + i) = (far_use_record){0};
    far_use_raw(m, first)->use.value = m->uses.free[run_class(n)];
    m->uses.free[run_class(n)] = first;
}

block_id blocks_create(module *m, op_id parent, uint32_t n)
{
    if (n == 0) return 0;
    BUG_IF(n > UINT16_MAX, "an op has at most 65535 blocks, not %u", n);
    uint32_t class_index = run_class(n);
    block_id first = m->blocks.free[class_index];
    if (first == 0)
        first = record_table_extend(&m->blocks, m->memory, run_capacity(class_index));
    else
        m->blocks.free[class_index] = block_raw(m, first)->first;
    for (uint32_t i = 0; i < n; i++) {
        block_record *b = block_raw(m, first + i);
        *b = (block_record){.parent = parent,
                            .generation = b->generation,
                            .siblings = (uint16_t)n,
                            .live = true,
                            .ordered = true,
                            .args = b->args,
                            .arg_capacity = b->arg_capacity};
    }
    return first;
}

void blocks_free(module *m, block_id first, uint32_t n)
{
    if (n == 0) return;
    bool worn_out = false;
    for (uint32_t i = 0; i < n; i++) {
        block_record *b = block_raw(m, first + i);
        for (uint32_t a = 0; a < b->arg_count; a++) values_free(m, b->args[a], 1);
        b->arg_count = 0;
        b->live = false;
        if (b->generation == UINT16_MAX)
            worn_out = true;
        else
            b->generation++;
    }
    if (worn_out) return;
    block_raw(m, first)->first = m->blocks.free[run_class(n)];
    m->blocks.free[run_class(n)] = first;
}

/* ---- uses ---- */

void use_link(module *m, use_id u, value_id v)
{
    value_record *value = value_at(m, v);
    use_record *use = use_raw(m, u);
    *use = (use_record){.value = v, .prev = u};
    if (value->first_use == 0) {
        value->first_use = u;
        return;
    }
    use_record *first = use_raw(m, value->first_use);
    use->prev = first->prev;
    use_raw(m, first->prev)->next = u;
    first->prev = u;
}

void use_unlink(module *m, use_id u)
{
    use_record *use = use_raw(m, u);
    value_record *value = value_raw(m, use->value);
    use_id last = use_raw(m, value->first_use)->prev;
    if (value->first_use == u)
        value->first_use = use->next;
    else
        use_raw(m, use->prev)->next = use->next;
    if (use->next != 0) use_raw(m, use->next)->prev = use->prev;
    if (last == u && value->first_use != 0) use_raw(m, value->first_use)->prev = use->prev;
    use->next = use->prev = 0;
}

use_id value_first_use(const module *m, value_id v) { return value_at(m, v)->first_use; }

use_id use_next(const module *m, use_id u)
{
    (void)use_owner(m, u);
    return use_raw(m, u)->next;
}

op_id use_op(const module *m, use_id u) { return use_owner(m, u); }

uint32_t use_slot(const module *m, use_id u)
{
    op_id o = use_owner(m, u);
    if ((u & USE_NEAR) != 0) return u % NEAR_OPERANDS;
    return u - rest_raw(m, op_at(m, o)->rest)->operands + NEAR_OPERANDS;
}

/* An op holds no index operand twice, so those cannot just be exchanged. */
static bool has_index_use(const module *m, value_id v)
{
    for (use_id u = value_raw(m, v)->first_use; u != 0; u = use_raw(m, u)->next) {
        op_id o = use_owner(m, u);
        if (kind_cache_at(m, op_raw(m, o)->kind)->index_attrs && use_slot(m, u) >= op_value_operand_count(m, o))
            return true;
    }
    return false;
}

void value_replace_all(module *m, value_id v, value_id by)
{
    if (v == by || value_first_use(m, v) == 0) return;
    value_record *to = value_at(m, by);
    if (has_index_use(m, v)) {
        for (use_id u = value_first_use(m, v); u != 0; u = value_first_use(m, v))
            op_set_operand(m, use_op(m, u), use_slot(m, u), by);
        return;
    }
    /* The whole list after the other one. */
    use_id first = value_first_use(m, v), last = use_raw(m, first)->prev;
    for (use_id u = first; u != 0; u = use_raw(m, u)->next) {
        use_raw(m, u)->value = by;
        m->epoch++;
    }
    if (to->first_use == 0) {
        to->first_use = first;
    } else {
        use_record *head = use_raw(m, to->first_use);
        use_raw(m, head->prev)->next = first;
        use_raw(m, first)->prev = head->prev;
        head->prev = last;
    }
    value_raw(m, v)->first_use = 0;
    m->valid_epoch++;
}

/* ---- values ---- */

void value_set_type(module *m, value_id v, type_id t)
{
    value_record *value = value_at(m, v);
    if (value->type == t) return;
    value->type = t;
    m->epoch++;
    m->valid_epoch++;
}

/* ---- names ---- */

value_name value_name_of(const module *m, value_id v)
{
    const value_record *value = value_at(m, v);
    return (value_name){value->name_base, value->name_number};
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* Splits digits off the end when they are the plain spelling of a number; a base then never ends in a digit, so that
 * equal texts have equal parts. */
static value_name name_from_text(const module *m, str text)
{
    size_t n = text.n;
    uint64_t number = 0, scale = 1;
    while (n != 0 && is_digit(text.p[n - 1]) && text.n - n < 11) {
        n--;
        number += scale * (uint64_t)(text.p[n] - '0');
        scale *= 10;
    }
    size_t digits = text.n - n;
    bool plain = digits != 0 && (digits == 1 || text.p[n] != '0') && number < VALUE_NO_NUMBER;
    if (plain && (n == 0 || !is_digit(text.p[n - 1]))) {
        str base = {text.p, n};
        return (value_name){n == 0 ? 0 : string_intern(m->context, base), (uint32_t)number};
    }
    return (value_name){text.n == 0 ? 0 : string_intern(m->context, text), VALUE_NO_NUMBER};
}

static void put_name(module *m, value_id v, value_name n)
{
    value_record *value = value_at(m, v);
    if (value->name_base == n.base && value->name_number == n.number) return;
    value->name_base = n.base;
    value->name_number = n.number;
    m->epoch++;
}

void value_set_name(module *m, value_id v, str text) { put_name(m, v, name_from_text(m, text)); }

static void name_print(const module *m, value_name n, text_buffer *out)
{
    if (n.base != 0) {
        str base = string_of(m->context, n.base);
        text_put(out, base.p, base.n);
    }
    if (n.number != VALUE_NO_NUMBER) text_put_u64(out, n.number);
}

void value_set_name_parts(module *m, value_id v, value_name n)
{
    str base = n.base == 0 ? (str){NULL, 0} : string_of(m->context, n.base);
    if (base.n == 0 || !is_digit(base.p[base.n - 1])) {
        put_name(m, v, n);
        return;
    }
    text_buffer text;
    text_init(&text);
    name_print(m, n, &text);
    put_name(m, v, name_from_text(m, (str){text.p, text.n}));
    text_fini(&text);
}

void value_print_name(const module *m, value_id v, text_buffer *out)
{
    value_name n = value_name_of(m, v);
    text_putc(out, '%');
    name_print(m, n, out);
    if (n.base == 0 && n.number == VALUE_NO_NUMBER) {
        text_putc(out, '_'); /* before module_settle */
        text_put_u64(out, v);
    }
}

/* ---- blocks ---- */

value_id block_add_arg(module *m, block_id b, type_id type)
{
    block_record *block = block_at(m, b);
    BUG_IF(block->arg_count == UINT16_MAX, "a block has at most 65535 arguments");
    if (block->arg_count == block->arg_capacity) {
        uint32_t capacity = block->arg_capacity == 0 ? 4 : 2 * block->arg_capacity;
        value_id *args = arena_array(m->memory, capacity, sizeof *args);
        if (block->arg_count != 0) memcpy(args, block->args, block->arg_count * sizeof *args);
        block->args = args;
        block->arg_capacity = capacity;
    }
    value_id v = values_create(m, 1);
    value_record *value = value_raw(m, v);
    value->type = type;
    value->def = b | DEF_BLOCK;
    value->index = block->arg_count;
    block->args[block->arg_count++] = v;
    m->epoch++;
    return v;
}

void block_erase_arg(module *m, block_id b, uint32_t i)
{
    value_id v = block_arg(m, b, i);
    BUG_IF(value_first_use(m, v) != 0, "argument %u of a block is erased but has uses", i);
    block_record *block = block_at(m, b);
    values_free(m, v, 1);
    block->arg_count--;
    for (uint32_t a = i; a < block->arg_count; a++) {
        block->args[a] = block->args[a + 1];
        value_raw(m, block->args[a])->index = (uint16_t)a;
    }
    m->epoch++;
    m->valid_epoch++;
}
