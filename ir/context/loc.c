/* loc_id: 0 is none; with bit 31 clear it is line << 11 | column of the main file; with bit 31 set the rest is the
 * number of an interned record: another file, a long line or column, or a fused list. */
#include "ir/context/context_impl.h"

enum { COLUMN_BITS = 11, LINE_BITS = 20 };
#define COLUMN_END (UINT32_C(1) << COLUMN_BITS)
#define LINE_END (UINT32_C(1) << LINE_BITS)
#define INTERNED (UINT32_C(1) << 31)

static const loc_record *loc_record_at(const ir_context *c, loc_id l)
{
    return id_table_at(&c->tables.locs, l & ~INTERNED, sizeof(loc_record));
}

bool loc_exists(const ir_context *c, loc_id l)
{
    return (l & INTERNED) == 0 || (l != INTERNED && (l & ~INTERNED) < c->tables.locs.count);
}

static loc_id loc_intern(ir_context *c, const loc_record *wanted)
{
    uint64_t h = hash_step(wanted->file, (uint64_t)wanted->line << 32 | wanted->column);
    size_t items_bytes = wanted->count * sizeof *wanted->items;
    if (wanted->count != 0) h = hash_bytes(h, wanted->items, items_bytes);
    uint32_t hash = hash_end(h);
    INTERN_EACH(&c->loc_index, hash, found)
    {
        const loc_record *r = id_table_at(&c->tables.locs, found, sizeof *r);
        if (r->file == wanted->file && r->line == wanted->line && r->column == wanted->column &&
            r->count == wanted->count && (r->count == 0 || memcmp(r->items, wanted->items, items_bytes) == 0))
            return INTERNED | found;
    }
    uint32_t id;
    loc_record *r = id_table_add(c, &c->tables.locs, &id);
    *r = *wanted;
    if (r->count != 0) r->items = arena_copy(c->memory, wanted->items, items_bytes);
    intern_add(&c->loc_index, hash, id);
    return INTERNED | id;
}

loc_id loc_make(ir_context *c, str_id file, uint32_t line, uint32_t column)
{
    if (file == 0 && line == 0) return 0;
    if (file == c->main_file && line != 0 && line < LINE_END && column < COLUMN_END)
        return line << COLUMN_BITS | column;
    return loc_intern(c, &(loc_record){.file = file, .line = line, .column = column});
}

static void loc_list_add(loc_id *list, uint32_t *count, intern_table *seen, loc_id l)
{
    if (seen->capacity != 0) {
        uint32_t hash = hash_end(hash_step(0, l));
        INTERN_EACH(seen, hash, found)
        {
            if (found == l) return;
        }
        intern_add(seen, hash, l);
    } else {
        for (uint32_t i = 0; i < *count; i++) {
            if (list[i] == l) return;
        }
    }
    list[(*count)++] = l;
}

loc_id loc_fuse(ir_context *c, uint32_t count, const loc_id *locs)
{
    enum { SHORT = 32 };
    loc_id on_stack[SHORT], *list = on_stack;
    size_t capacity = 0, total = 0;
    for (uint32_t i = 0; i < count; i++) total += loc_count(c, locs[i]);
    BUG_IF(total > UINT32_MAX, "%zu origins in one location", total);
    intern_table seen = {0};
    if (total > SHORT) {
        list = table_grow(NULL, &capacity, total, sizeof *list);
        seen.slots = table_grow(NULL, &seen.capacity, 2 * total, sizeof *seen.slots);
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        loc_id l = locs[i];
        if (l == 0) continue;
        const loc_record *r = (l & INTERNED) != 0 ? loc_record_at(c, l) : NULL;
        if (r == NULL || r->count == 0) {
            loc_list_add(list, &kept, &seen, l);
        } else {
            for (uint32_t k = 0; k < r->count; k++) loc_list_add(list, &kept, &seen, r->items[k]);
        }
    }
    loc_id result = kept == 0 ? 0 : kept == 1 ? list[0] : loc_intern(c, &(loc_record){.count = kept, .items = list});
    table_free(seen.slots);
    if (list != on_stack) table_free(list);
    return result;
}

uint32_t loc_count(const ir_context *c, loc_id l)
{
    if (l == 0) return 0;
    if ((l & INTERNED) == 0) return 1;
    uint32_t count = loc_record_at(c, l)->count;
    return count == 0 ? 1 : count;
}

static src_pos pos_of(const ir_context *c, str_id file, uint32_t line, uint32_t column)
{
    return (src_pos){.file = file == 0 ? NULL : string_of(c, file).p, .line = line, .column = column};
}

src_pos loc_at(const ir_context *c, loc_id l, uint32_t index)
{
    BUG_IF(l != 0 && index >= loc_count(c, l), "origin %u of a location that has %u", index, loc_count(c, l));
    if (l == 0) return NO_POS;
    if ((l & INTERNED) != 0 && loc_record_at(c, l)->count != 0) l = loc_record_at(c, l)->items[index];
    if ((l & INTERNED) == 0) return pos_of(c, c->main_file, l >> COLUMN_BITS, l & (COLUMN_END - 1));
    const loc_record *r = loc_record_at(c, l);
    return pos_of(c, r->file, r->line, r->column);
}

void loc_set_main_file(ir_context *c, str_id file) { c->main_file = file; }
