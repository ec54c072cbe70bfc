/* The answers of a solved plan: stages, scratch storages, lives. */
#include "storage_plan.h"

static int64_t product_of(int64_t a, int64_t b)
{
    int64_t r = 0;
    return __builtin_mul_overflow(a, b, &r) ? INT64_MAX : r;
}

int64_t storage_stages(const storage_plan *p, uint32_t group)
{
    const uint32_t loop = p->groups[group].loop;
    return loop != STORAGE_NONE && p->ops[loop].counts ? p->groups[group].stages : 1;
}

/* Whether an op runs in every iteration of the loop around it. */
static uint8_t is_always_run(const storage_plan *p, uint32_t op)
{
    const uint32_t parent = p->ops[op].parent;
    return parent == STORAGE_NONE || p->ops[parent].repeats ? 1 : 0;
}

static int64_t alignment(const storage_plan *p, pto_space space) { return pto_space_align(p->run, space, 1); }

/* From `first` to `last`; all of the loop when something crosses its iterations, and all of the kernel when that may
 * come from further back. */
static storage_life life_of(const storage_plan *p, uint32_t loop, uint32_t first, uint32_t last, int crosses,
                            int is_fresh)
{
    const uint32_t end = p->op_count - 1;
    storage_life l = {.first = first, .last = last, .loop_first = first, .loop_last = last};
    if (loop != STORAGE_NONE) {
        l.loop_first = loop;
        l.loop_last = p->ops[loop].last;
    }
    if (!is_fresh || (crosses && loop == STORAGE_NONE)) {
        l.first = l.loop_first = 0;
        l.last = l.loop_last = end;
    } else if (crosses) {
        l.first = l.loop_first;
        l.last = l.loop_last;
    }
    return l;
}

/* ---- scratch ---- */

int storage_scratch_shape(const storage_plan *p, pto_kind_id kind, const storage_shape *source,
                          const storage_shape *result, storage_shape *out)
{
    const int64_t tmp = p->wants_scratch ? pto_kind_column(p->run, kind, PTO_COLUMN_TMP) : PTO_TMP_NONE;
    if (tmp == PTO_TMP_NONE) return 0;
    *out = tmp == PTO_TMP_LIKE_SRC ? *source : *result;
    if (tmp == PTO_TMP_ROW_BLOCKS) {
        /* ceil(R/8) repeats of 256 bytes, at most 30 of them: [isa] of docs/sources.md. */
        const int64_t element = pto_dtype_bytes(result->dtype);
        out->rows = result->rows >= 256 ? 30 : (result->rows + 7) / 8;
        out->columns = element > 0 ? 256 / element : 256;
        out->bytes = out->rows * 256;
        out->layout = pto_layout_of_order(p->run, PTO_ORDER_ROW);
    }
    if (out->dtype == PTO_MASK) {
        const int is_down = pto_layout_order(p->run, out->layout) == PTO_ORDER_COLUMN;
        out->dtype = PTO_U8;
        *(is_down ? &out->rows : &out->columns) = out->bytes / (is_down ? out->columns : out->rows);
    }
    /* Bits of a comparison follow the first row: [hazards] of docs/sources.md. */
    if (pto_kind_column(p->run, kind, PTO_COLUMN_RULE) == PTO_RULE_REMAINDER) out->bytes += 256;
    if (tmp == PTO_TMP_BIT_ROWS) {
        out->dtype = PTO_U8;
        out->rows = result->rows + 1;
        out->columns = pto_round_up(result->columns, 256) / 8;
        out->bytes = out->rows * out->columns;
    }
    if (tmp == PTO_TMP_INDICES) {
        out->dtype = PTO_I32;
        out->bytes = pto_round_up(out->rows * out->columns * (int64_t)sizeof(int32_t), 32);
    }
    if (tmp == PTO_TMP_MERGED) {
        out->columns += source->columns;
        out->bytes = pto_round_up(out->columns * pto_dtype_bytes(out->dtype), 32);
    }
    if (tmp == PTO_TMP_BLOCK)
        *out = (storage_shape){.rows = 1,
                               .columns = 8,
                               .bytes = 32,
                               .dtype = PTO_U32,
                               .space = result->space,
                               .layout = pto_layout_of_order(p->run, PTO_ORDER_ROW)};
    return 1;
}

/* The latest scratch storage of the loop, pipe and space, or a new one. */
static storage_scratch *scratch_at(storage_plan *p, uint32_t k, const storage_shape *shape)
{
    const uint32_t loop = storage_loop_around(p, k), pipe = storage_pipe(p->run, p->ops[k].kind);
    for (uint32_t i = p->scratch_count; i-- > 0;) {
        storage_scratch *s = &p->scratches[i];
        if (s->loop != loop || s->pipe != pipe || s->space != shape->space) continue;
        p->ops[k].scratch = i;
        return s;
    }
    PTO_GROW(p->run, p->scratches, p->scratch_count, p->scratch_capacity);
    p->ops[k].scratch = p->scratch_count;
    p->scratches[p->scratch_count] = (storage_scratch){
        .loop = loop, .pipe = pipe, .first = k, .is_fresh = is_always_run(p, k), .space = shape->space};
    return &p->scratches[p->scratch_count++];
}

void storage_find_scratch(storage_plan *p)
{
    p->scratch_count = 0;
    for (uint32_t k = 0; k < p->op_count; k++) {
        const storage_op *op = &p->ops[k];
        storage_shape shape;
        p->ops[k].scratch = STORAGE_NONE;
        if (op->hands_over || op->result == STORAGE_NONE || op->use_count == 0) continue;
        if (!storage_scratch_shape(p, op->kind, &p->values[p->uses[op->first_use].value].shape,
                                   &p->values[op->result].shape, &shape))
            continue;
        storage_scratch *s = scratch_at(p, k, &shape);
        s->last = k;
        if (shape.bytes > s->bytes) s->bytes = shape.bytes;
    }
}

/* ---- lives ---- */

static void add_life(storage_plan *p, storage_life l, pto_space space, int64_t bytes, uint32_t pipes)
{
    l.order = p->life_count;
    l.space = space;
    l.align = alignment(p, space);
    l.bytes = bytes % l.align != 0 && bytes <= INT64_MAX - l.align ? bytes + l.align - bytes % l.align : bytes;
    l.pipes = pipes;
    p->lives[p->life_count++] = l;
}

uint32_t storage_lives(storage_plan *p, storage_life **out)
{
    const uint32_t capacity = p->value_count + p->scratch_count;
    if (p->life_capacity < capacity) {
        p->life_capacity = capacity * 2;
        p->lives = PTO_SCRATCH(p->run, storage_life, p->life_capacity);
        p->pointers = PTO_SCRATCH(p->run, storage_life *, 2 * (size_t)p->life_capacity);
    }
    p->life_count = 0;
    for (uint32_t i = 0; i < p->value_count; i++) {
        const storage_group *g = &p->groups[i];
        const storage_shape *shape = &p->values[i].shape;
        if (p->values[i].group != i) continue;
        const int64_t stages = storage_stages(p, i);
        storage_life l =
            life_of(p, g->loop, g->from / 2, g->last, stages > 1, is_always_run(p, p->values[g->first].home));
        l.name = p->values[i].name;
        add_life(p, l, shape->space, product_of(shape->bytes, stages), g->writers | g->readers);
    }
    for (uint32_t i = 0; i < p->scratch_count; i++) {
        const storage_scratch *s = &p->scratches[i];
        storage_life l = life_of(p, s->loop, s->first, s->last, 0, s->is_fresh);
        l.name = PTO_STR("tmp");
        add_life(p, l, s->space, s->bytes, s->pipe);
    }
    *out = p->lives;
    return p->life_count;
}

int64_t storage_bytes(storage_plan *p, pto_space space, int64_t capacity)
{
    storage_life *lives = NULL;
    const uint32_t all = storage_lives(p, &lives);
    uint32_t count = 0;
    for (uint32_t i = 0; i < all; i++)
        if (lives[i].space == space) p->pointers[count++] = &lives[i];
    return storage_needed(p->run, p->pointers, p->pointers + p->life_capacity, count, capacity);
}
