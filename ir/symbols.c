/* Functions and kernels by name: a hash table that is filled on the first question and kept up to date from then on.
 * Names that repeat (malformed text) mean the first one. */
#include "ir/module_impl.h"

#include <string.h>

static symbol_slot *slot_of(const module_caches *c, str_id name)
{
    size_t at = (name * 0x9E3779B1u) & (c->symbol_capacity - 1);
    while (c->symbols[at].name != 0 && c->symbols[at].name != name) at = (at + 1) & (c->symbol_capacity - 1);
    return &c->symbols[at];
}

static void grow(module_caches *c)
{
    symbol_slot *old = c->symbols;
    size_t old_capacity = c->symbol_capacity, got = 0;
    c->symbol_capacity = old_capacity == 0 ? 16 : 2 * old_capacity;
    c->symbols = table_grow(NULL, &got, c->symbol_capacity, sizeof *c->symbols);
    for (size_t i = 0; i < old_capacity; i++) {
        if (old[i].name != 0) *slot_of(c, old[i].name) = old[i];
    }
    table_free(old);
}

static void insert(module_caches *c, str_id name, op_id f)
{
    if (name == 0) return;
    if (2 * (c->symbol_count + 1) > c->symbol_capacity) grow(c);
    symbol_slot *slot = slot_of(c, name);
    if (slot->name == 0) {
        *slot = (symbol_slot){name, f};
        c->symbol_count++;
    } else if (slot->op == 0) {
        slot->op = f;
    } else {
        c->symbols_repeat = true;
    }
}

static void refill(const module *m)
{
    module_caches *c = m->caches;
    if (c->symbol_capacity != 0) memset(c->symbols, 0, c->symbol_capacity * sizeof *c->symbols);
    c->symbol_count = 0;
    c->symbols_repeat = c->symbols_stale = false;
    BLOCK_EACH_OP(m, o, m->top) {
        if ((op_info_of(m, o)->traits & TRAIT_FUNCTION) != 0) insert(c, function_name(m, o), o);
    }
}

void symbols_forget(module *m) { m->caches->symbols_stale = true; }

void symbols_add(module *m, op_id f)
{
    module_caches *c = m->caches;
    if (c->symbols_stale || op_block(m, f) != m->top) return;
    insert(c, function_name(m, f), f);
    if (c->symbols_repeat) c->symbols_stale = true; /* the new one may come before the other */
}

void symbols_remove(module *m, op_id f)
{
    module_caches *c = m->caches;
    if (c->symbols_stale || c->symbol_capacity == 0) return;
    symbol_slot *slot = slot_of(c, function_name(m, f));
    if (slot->name == 0 || slot->op != f) return;
    slot->op = 0;
    if (c->symbols_repeat) c->symbols_stale = true;
}

op_id module_find_symbol(const module *m, str_id name)
{
    if (name == 0) return 0;
    if (m->caches->symbols_stale) refill(m);
    return m->caches->symbol_capacity == 0 ? 0 : slot_of(m->caches, name)->op;
}
