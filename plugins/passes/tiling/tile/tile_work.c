/* What an instance takes, read off the ops that were counted for its bytes. */
#include "tile_nest.h"

static int64_t elements_of(const storage_shape *s) { return tile_mul(s->rows, s->columns); }

/* The larger of two operands, with the wider element type of both. */
static void widen(pto_tile_work *w, const storage_shape *s)
{
    const pto_dtype wide = pto_dtype_bytes(s->dtype) > pto_dtype_bytes(w->dtype) ? s->dtype : w->dtype;
    if (elements_of(s) > tile_mul(w->rows, w->columns)) {
        w->rows = s->rows;
        w->columns = s->columns;
    }
    w->dtype = wide;
}

static pto_tile_work work_of(const tile_nest *n, const storage_op *op, uint32_t last_result)
{
    const storage_plan *p = n->counts;
    pto_tile_work w = {.struct_size = sizeof w, .kind = op->kind};
    if (op->result != STORAGE_NONE) {
        const storage_shape *s = &p->values[op->result].shape;
        w.rows = s->rows;
        w.columns = s->columns;
        w.dtype = s->dtype;
    }
    for (uint32_t i = 0; i < op->use_count; i++) {
        const uint32_t value = p->uses[op->first_use + i].value;
        widen(&w, &p->values[value].shape);
        if (value == last_result) w.reads_last = 1;
    }
    if (op->kind == pto_kind(n->run, KIND_LOAD)) {
        w.from = n->global;
        w.to = n->scratchpad;
    } else if (op->kind == pto_kind(n->run, KIND_STORE)) {
        w.from = n->scratchpad;
        w.to = n->global;
    }
    return w;
}

/* How often an op is done: a loop within a loop is walked `inner` times for each trip of that. */
static double times_of(const storage_plan *p, const storage_op *op, double trips, double inner)
{
    if (op->parent == 0) return 1.0;
    return p->ops[op->parent].parent == 0 ? trips : trips * inner;
}

void tile_put_work(const tile_nest *n, double trips, double inner, const pto_work_sink *sink)
{
    const storage_plan *p = n->counts;
    uint32_t last_result = STORAGE_NONE, loop = STORAGE_NONE, loops = 0;
    for (uint32_t i = 0; i < p->op_count; i++) {
        const storage_op *op = &p->ops[i];
        if (op->hands_over || op->repeats) continue;
        pto_tile_work w = work_of(n, op, last_result);
        /* The first op is the loop of a core over its instances. */
        if (op->parent != 0 && op->parent != loop) loops++;
        if (op->parent != 0) loop = op->parent;
        w.loop = op->parent == 0 ? 0 : loops;
        w.times = times_of(p, op, trips, inner);
        sink->take(sink->self, &w);
        if (w.from == PTO_SPACE_NONE) last_result = op->result;
    }
}
