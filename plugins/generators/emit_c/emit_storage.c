/* Where tiles are in scratch memory, and how loops and branches hand them over. */
#include "emit.h"

enum { ALIGNMENT = 64 };

static int64_t capacity(pto_type type, uint32_t dim)
{
    int64_t n = 0;
    return pto_dim_is_const(type, dim, &n) ? n : 0;
}

int64_t emit_columns(pto_value tile) { return capacity(pto_value_type(tile), 1); }

static int64_t bytes_of(pto_type type)
{
    const pto_dtype t = pto_type_dtype(type);
    return capacity(type, 0) * capacity(type, 1) * (t == PTO_MASK ? 1 : pto_dtype_bytes(t));
}

void emit_tiles_plan(emitter *e)
{
    e->storage = fused_storage_of(&e->model);
    e->places = PTO_SCRATCH(e->run, int64_t, e->storage->plan.value_count);
    e->scratch_bytes = 0;
    e->loaded_count = 0;
    e->has_streams = e->asks_stream_bytes = e->has_trail = 0;
    e->sweeps = 0;
    for (uint32_t i = 0; i < e->storage->plan.value_count; i++) e->places[i] = -1;
}

int64_t emit_scratch(emitter *e, int64_t bytes)
{
    const int64_t at = e->scratch_bytes;
    e->scratch_bytes = pto_round_up(at + bytes, ALIGNMENT);
    return at;
}

/* The value that speaks for the storage of a tile; its place is found with the first use. */
static uint32_t speaker_of(emitter *e, pto_value v)
{
    const uint32_t i = storage_group_of(&e->storage->plan, storage_find_value(&e->storage->source, v));
    if (e->places[i] >= 0) return i;
    e->places[i] = emit_scratch(e, bytes_of(pto_value_type(e->storage->source.values[i])));
    return i;
}

int emit_tiles_share(const emitter *e, pto_value a, pto_value b)
{
    const uint32_t x = storage_find_value(&e->storage->source, a), y = storage_find_value(&e->storage->source, b);
    if (x == STORAGE_NONE || y == STORAGE_NONE) return pto_value_same(a, b);
    return storage_group_of(&e->storage->plan, x) == storage_group_of(&e->storage->plan, y);
}

/* Whether a group is of one pass through the loop that is closest around an op, and of nothing further out. */
static int is_of_loop(const storage_plan *p, uint32_t group, uint32_t op)
{
    return p->groups[group].loop == storage_loop_around(p, op);
}

/* Whether what already took the place of a group is needed at the same time as another group. */
static int is_taken(const emitter *e, uint32_t from, uint32_t by)
{
    const storage_plan *p = &e->storage->plan;
    for (uint32_t i = 0; i < p->value_count; i++)
        if (i != from && e->places[i] == e->places[from] && p->groups[i].from < p->groups[by].end &&
            p->groups[by].from < p->groups[i].end)
            return 1;
    return 0;
}

int emit_tile_take(emitter *e, pto_value to, pto_value from, pto_op by)
{
    const storage_plan *p = &e->storage->plan;
    const storage_source *source = &e->storage->source;
    const uint32_t first = storage_find_op(source, by), v = storage_find_value(source, to),
                   w = storage_find_value(source, from);
    if (first == STORAGE_NONE || v == STORAGE_NONE || w == STORAGE_NONE) return 0;
    const uint32_t a = storage_group_of(p, w), b = storage_group_of(p, v);
    const storage_shape *x = &p->values[w].shape, *y = &p->values[v].shape;
    const int is_alike = x->rows == y->rows && x->columns == y->columns && x->dtype == y->dtype;
    if (!is_alike || a == b || e->places[a] < 0 || e->places[b] >= 0) return 0;
    if (p->groups[a].last > p->ops[first].last || p->groups[b].from < 2 * first) return 0;
    if (!is_of_loop(p, a, first) || !is_of_loop(p, b, first) || is_taken(e, a, b)) return 0;
    e->places[b] = e->places[a];
    return 1;
}

void emit_tile_stays(emitter *e, pto_value tile, const emit_window *w)
{
    PTO_GROW(e->run, e->loaded, e->loaded_count, e->loaded_capacity);
    e->loaded[e->loaded_count++] = (emit_loaded){tile.index, *w};
}

const emit_window *emit_tile_window(const emitter *e, pto_value tile)
{
    for (uint32_t i = 0; i < e->loaded_count; i++)
        if (e->loaded[i].key == tile.index) return &e->loaded[i].window;
    return NULL;
}

const char *emit_tile(emitter *e, pto_value v) { return emit_value(e, e->storage->source.values[speaker_of(e, v)]); }

void emit_tiles_declare(emitter *e, text *out)
{
    for (uint32_t i = 0; i < e->storage->plan.value_count; i++) {
        if (e->places[i] < 0) continue;
        const pto_value v = e->storage->source.values[i];
        const pto_type type = pto_value_type(v);
        const char *c = emit_memory_type(pto_type_dtype(type));
        text_put(out, "    %s *const %s = (%s *)(scratch_ + %lld); /* %lld x %lld */\n", c, emit_value(e, v), c,
                 (long long)e->places[i], (long long)capacity(type, 0), (long long)capacity(type, 1));
    }
}

const char *emit_at(emitter *e, pto_value tile, const char *row, const char *column)
{
    const int64_t columns = emit_columns(tile);
    const char *name = emit_tile(e, tile);
    const int no_row = strcmp(row, "0") == 0, no_column = strcmp(column, "0") == 0;
    if (no_row) return emit_format(e, "%s[%s]", name, column);
    if (columns == 1) return emit_format(e, "%s[%s]", name, row);
    if (no_column) return emit_format(e, "%s[%s * %lld]", name, row, (long long)columns);
    return emit_format(e, "%s[%s * %lld + %s]", name, row, (long long)columns, column);
}

/* ---- handing over ---- */

typedef struct hand {
    uint32_t to, from; /* groups; from STORAGE_NONE: it was put aside */
    pto_value value;   /* what is handed over, for its valid region and type */
    const char *aside;
} hand;

static pto_status copy_tile(emitter *e, const char *to, const char *from, pto_value value)
{
    pto_expr valid[2];
    const long long columns = (long long)emit_columns(value);
    PTO_TRY(pto_value_valid(value, valid));
    text_line(e->out, "for (int64_t i_ = 0; i_ < %s; i_++)", emit_index(e, valid[0]));
    text_line(e->out, "    memcpy(%s + i_ * %lld, %s + i_ * %lld, (size_t)(%s) * sizeof *%s);", to, columns, from,
              columns, emit_index(e, valid[1]), to);
    return PTO_OK;
}

static int is_read(const hand *hands, uint32_t count, uint32_t group, uint32_t but)
{
    for (uint32_t i = 0; i < count; i++)
        if (i != but && hands[i].from == group) return 1;
    return 0;
}

/* Every target is still read by another copy: what the first one holds is put aside. */
static pto_status put_aside(emitter *e, hand *hands, uint32_t count)
{
    const uint32_t group = hands[0].to;
    const pto_value old = e->storage->source.values[group];
    const char *c = emit_memory_type(pto_type_dtype(pto_value_type(old)));
    const char *aside = emit_spare(e, "aside");
    const int64_t at = emit_scratch(e, bytes_of(pto_value_type(old)));
    text_line(e->out, "%s *const %s = (%s *)(scratch_ + %lld);", c, aside, c, (long long)at);
    int is_copied = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (hands[i].from != group) continue;
        if (!is_copied) PTO_TRY(copy_tile(e, aside, emit_value(e, old), hands[i].value));
        is_copied = 1;
        hands[i].from = STORAGE_NONE;
        hands[i].aside = aside;
    }
    return PTO_OK;
}

static pto_status hand_tiles(emitter *e, hand *hands, uint32_t count)
{
    while (count != 0) {
        uint32_t next = 0;
        while (next < count && is_read(hands, count, hands[next].to, next)) next++;
        if (next == count) {
            PTO_TRY(put_aside(e, hands, count));
            continue;
        }
        const hand *h = &hands[next];
        PTO_TRY(copy_tile(e, emit_value(e, e->storage->source.values[h->to]),
                          h->from == STORAGE_NONE ? h->aside : emit_value(e, e->storage->source.values[h->from]),
                          h->value));
        hands[next] = hands[--count];
    }
    return PTO_OK;
}

const char *emit_type_of(emitter *e, pto_value v)
{
    const pto_type type = pto_value_type(v);
    const int is_memory = pto_type_kind_of(type) == PTO_TYPE_GM;
    const pto_dtype t = pto_type_dtype(type);
    return is_memory ? emit_format(e, "%s *", emit_memory_type(t)) : emit_format(e, "%s ", emit_lane_type(t));
}

pto_status emit_hand_over(emitter *e, uint32_t count, const pto_value *to, const pto_value *from, int declares)
{
    hand *hands = PTO_SCRATCH(e->run, hand, count);
    const char **values = PTO_SCRATCH(e->run, const char *, count);
    uint32_t tiles = 0, others = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!storage_is_tile(to[i])) {
            others++;
            continue;
        }
        const uint32_t a = speaker_of(e, to[i]), b = speaker_of(e, from[i]);
        if (a != b) hands[tiles++] = (hand){a, b, from[i], NULL};
    }
    PTO_TRY(hand_tiles(e, hands, tiles));
    for (uint32_t i = 0; i < count; i++) {
        if (storage_is_tile(to[i])) continue;
        values[i] = emit_value(e, from[i]);
        if (declares || others < 2) continue;
        const char *aside = emit_spare(e, "next");
        text_line(e->out, "%sconst %s = %s;", emit_type_of(e, from[i]), aside, values[i]);
        values[i] = aside;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (storage_is_tile(to[i])) continue;
        text_line(e->out, "%s%s = %s;", declares ? emit_type_of(e, to[i]) : "", emit_value(e, to[i]), values[i]);
    }
    return PTO_OK;
}
