/* Queues between units: what is pushed is a tile in global memory, one place after the other, which lives for one call.
 * No push waits: there is a place for each. On chips whose queues are in other memory the results are the same. */
#include "import.h"

enum { TO_VECTOR, TO_CUBE, HANDED_OVER /* and those after it: of moves between both */ };

/* `{split = 1}` */
static pto_status split_of(const importer *im, mlir_cursor *c, int64_t *out)
{
    mlir_cursor in;
    const mlir_node *number = NULL;
    *out = 0;
    if (!mlir_enter(c, '{', &in)) return PTO_OK;
    if (!mlir_take_word(&in, "split") || !mlir_take_mark(&in, '=') || !mlir_take(&in, MLIR_NUMBER, &number))
        return mlir_expected(&in, "`split = 0`, 1 or 2");
    PTO_TRY(import_number_of(im, number, out));
    if (*out < 0 || *out > 2)
        return mlir_error(im->run, number->line, number->column, "pto.read-ascend/unsupported",
                          "a queue splits tiles by %lld; read are 0, not at all, 1, rows, and 2, columns",
                          (long long)*out);
    return mlir_at_end(&in);
}

static import_queue *queue_of(importer *im, uint32_t which)
{
    static const char *const names[IMPORT_QUEUES] = {
        [TO_VECTOR] = "c2v_queue", [TO_CUBE] = "v2c_queue", [HANDED_OVER] = "moved", "moved2", "moved3", "moved4"};
    import_queue *q = &im->queues[which];
    if (q->memory != NULL) return q;
    PTO_GROW(im->run, im->parameters, im->parameter_count, im->parameter_capacity);
    im->parameters[im->parameter_count] =
        (import_parameter){.name = pto_s(names[which]), .is_pointer = 1, .is_queue = 1};
    q->memory = PTO_SCRATCH(im->run, import_memory, 1);
    q->memory->pointer = im->parameter_count++;
    q->memory->rank = 3;
    q->memory->next = im->memories;
    im->memories = q->memory;
    return q;
}

/* Where the tile of a push or pop is. */
static import_window window_of(const importer *im, const import_queue *q, int64_t slot, int64_t split)
{
    const pto_expr zero = pto_expr_const(im->run, 0);
    import_window w = {.pointer = q->memory->pointer, .rank = 3, .memory = q->memory};
    w.offsets[0] = pto_expr_const(im->run, slot);
    w.offsets[1] = w.offsets[2] = zero;
    if (split != 0) w.offsets[split] = pto_expr_scale(import_subblock(im), q->tile[split - 1] / 2);
    return w;
}

static pto_status check_depth(const importer *im, const mlir_op *op)
{
    if (im->depth == 0) return PTO_OK;
    return import_refuse(im, op,
                         "is in a branch that is not taken always, or in a loop without constant bounds of at "
                         "most %d rounds, which is not read",
                         IMPORT_ROUNDS_MAX);
}

/* The first push says what tiles are in the queue. */
static pto_status fits_queue(const importer *im, const mlir_op *op, import_queue *q, const import_tile_type *t,
                             int64_t split, int is_push)
{
    const int64_t rows = t->rows * (split == 1 && !is_push ? 2 : 1),
                  columns = t->columns * (split == 2 && !is_push ? 2 : 1);
    if (q->tile[0] == 0) {
        q->tile[0] = rows;
        q->tile[1] = columns;
        q->dtype = t->dtype;
    }
    if (q->tile[0] == rows && q->tile[1] == columns && q->dtype == t->dtype) return PTO_OK;
    return import_refuse(im, op, "moves a tile of %lld x %lld of %s through a queue of tiles of %lld x %lld of %s",
                         (long long)rows, (long long)columns, pto_dtype_name(t->dtype), (long long)q->tile[0],
                         (long long)q->tile[1], pto_dtype_name(q->dtype));
}

/* The tile goes into a place of the queue. */
static pto_status put(importer *im, const mlir_op *op, import_queue *q, import_tile *tile)
{
    const int64_t slot = q->pushed++;
    import_use_tile(im, tile, 0);
    import_use_memory(im, q->memory, 1, slot);
    if (!im->builds) return PTO_OK;
    const import_window w = window_of(im, q, slot, 0);
    return import_move(im, op, &w, tile, 0, NULL);
}

/* A place of the queue, or the part of it that a vector core takes, goes into the tile. */
static pto_status take(importer *im, const mlir_op *op, import_queue *q, import_tile *tile, int64_t split)
{
    const int64_t slot = q->popped++;
    import_use_tile(im, tile, 1);
    import_use_memory(im, q->memory, 0, slot);
    q->last_pop = op;
    if (!im->builds) return PTO_OK;
    const import_window w = window_of(im, q, slot, split);
    return import_move(im, op, &w, tile, 1, NULL);
}

/* `pto.tpush_to_aiv(%t : type) {split = 1}` */
static pto_status push(importer *im, const mlir_op *op, uint32_t which)
{
    mlir_cursor c = mlir_arguments(im->run, op), in;
    const mlir_node *name = NULL, *type = NULL;
    const import_name *tile;
    int64_t split;
    if (!mlir_enter(&c, '(', &in) || !mlir_take(&in, MLIR_VALUE, &name)) return mlir_expected(&c, "`(` and a tile");
    PTO_TRY(import_find(im, name, 1 << IMPORT_TILE, "a tile", &tile));
    if (!mlir_take_mark(&in, ':')) return mlir_expected(&in, "`:` and a type");
    PTO_TRY(import_take_type(&in, &type));
    PTO_TRY(mlir_at_end(&in));
    PTO_TRY(split_of(im, &c, &split));
    PTO_TRY(mlir_at_end(&c));
    PTO_TRY(check_depth(im, op));
    import_queue *q = queue_of(im, which);
    PTO_TRY(fits_queue(im, op, q, &tile->tile->type, split, 1));
    return put(im, op, q, tile->tile);
}

/* `%t = pto.tpop_from_aic {split = 1} -> type` */
static pto_status pop(importer *im, const mlir_op *op, uint32_t which)
{
    mlir_cursor c = mlir_arguments(im->run, op);
    const mlir_node *type = NULL;
    int64_t split;
    if (op->results == NULL || op->results->next != NULL) return import_refuse(im, op, "has one result");
    PTO_TRY(split_of(im, &c, &split));
    if (!mlir_take_mark(&c, '>')) return mlir_expected(&c, "`->` and a type");
    PTO_TRY(import_take_type(&c, &type));
    PTO_TRY(mlir_at_end(&c));
    PTO_TRY(check_depth(im, op));
    import_queue *q = queue_of(im, which);
    import_tile *t = PTO_SCRATCH(im->run, import_tile, 1);
    PTO_TRY(import_tile_type_of(im, type, &t->type));
    PTO_TRY(fits_queue(im, op, q, &t->type, split, 0));
    t->address = t->valid[0] = t->valid[1] = pto_expr_none(im->run);
    if (im->queue_base[which] >= 0)
        t->address =
            pto_expr_const(im->run, im->queue_base[which] + q->popped % im->queue_slots * im->queue_slot_bytes);
    im->uses_subblock |= split != 0;
    PTO_TRY(import_new_tile(im, op, t));
    return take(im, op, q, t, split);
}

pto_status import_hand_over(importer *im, const mlir_op *op, import_tile *from, import_tile *to)
{
    const import_tile_type *t = &from->type;
    uint32_t which = HANDED_OVER;
    int is_of_kernel;
    if (im->is_dry) return PTO_OK;
    PTO_TRY(check_depth(im, op));
    while (which < IMPORT_QUEUES - 1 && im->queues[which].memory != NULL &&
           (im->queues[which].tile[0] != t->rows || im->queues[which].tile[1] != t->columns ||
            im->queues[which].dtype != t->dtype))
        which++;
    import_queue *q = queue_of(im, which);
    PTO_TRY(fits_queue(im, op, q, t, 0, 1));
    PTO_TRY(fits_queue(im, op, q, &to->type, 0, 0));
    PTO_TRY(put(im, op, q, from));
    PTO_TRY(import_begin_step(im, op, &is_of_kernel));
    im->builds = !im->analyses && is_of_kernel;
    return take(im, op, q, to, 0);
}

/* `pto.aic_initialize_pipe {dir_mask = 1, slot_size = 1024} (..)`: of it, how far places are from each other. */
static pto_status initialize(importer *im, const mlir_op *op)
{
    mlir_cursor c = mlir_arguments(im->run, op), in;
    const mlir_node *key = NULL, *number = NULL;
    int64_t mask = 0, bytes = 0;
    if (!mlir_enter(&c, '{', &in)) return mlir_expected(&c, "`{dir_mask = .., slot_size = ..}`");
    do {
        if (!mlir_take(&in, MLIR_WORD, &key) || !mlir_take_mark(&in, '=') || !mlir_take(&in, MLIR_NUMBER, &number))
            return mlir_expected(&in, "`dir_mask = ..` or `slot_size = ..`");
        PTO_TRY(import_number_of(im, number, pto_str_is(key->text, "dir_mask") ? &mask : &bytes));
    } while (mlir_take_mark(&in, ','));
    PTO_TRY(mlir_at_end(&in));
    if (!mlir_enter(&c, '(', &in)) return mlir_expected(&c, "`(`");
    PTO_TRY(mlir_at_end(&c));
    if (mask < 1 || mask > 3 || bytes < 1)
        return import_refuse(im, op,
                             "has dir_mask %lld and slot_size %lld; dir_mask is 1, 2 or 3, slot_size is above 0",
                             (long long)mask, (long long)bytes);
    im->queue_slots = mask == 3 ? 4 : 8;
    im->queue_slot_bytes = bytes;
    return PTO_OK;
}

/* `%b = pto.reserve_buffer {name = .., size = .., location = .., auto = false, base = 0} -> i32`: where a consumer has
 * its tiles. */
static pto_status reserve(importer *im, const mlir_op *op)
{
    mlir_cursor c = mlir_arguments(im->run, op), in;
    const mlir_node *key = NULL, *number = NULL, *type = NULL, *location = NULL;
    int64_t base = -1, size = 0;
    if (op->results == NULL || op->results->next != NULL) return import_refuse(im, op, "has one result");
    if (!mlir_enter(&c, '{', &in)) return mlir_expected(&c, "`{`");
    do {
        if (!mlir_take(&in, MLIR_WORD, &key) || !mlir_take_mark(&in, '=') || in.at == NULL)
            return mlir_expected(&in, "an attribute");
        if (pto_str_is(key->text, "location")) location = in.at;
        if (mlir_take(&in, MLIR_NUMBER, &number))
            PTO_TRY(import_number_of(im, number, pto_str_is(key->text, "base") ? &base : &size));
        else
            in.at = in.at->next;
    } while (mlir_take_mark(&in, ','));
    PTO_TRY(mlir_at_end(&in));
    if (!mlir_take_mark(&c, '>')) return mlir_expected(&c, "`->` and a type");
    PTO_TRY(import_take_type(&c, &type));
    PTO_TRY(mlir_at_end(&c));
    if (location != NULL) im->queue_base[pto_str_is(location->body, "mat") ? TO_CUBE : TO_VECTOR] = base;
    const import_name made = {.kind = IMPORT_INDEX, .dtype = PTO_I32, .index = pto_expr_const(im->run, 0)};
    return import_define(im, op->results, made);
}

pto_status import_close_queues(importer *im)
{
    for (uint32_t i = 0; i < IMPORT_QUEUES; i++) {
        import_queue *q = &im->queues[i];
        const int64_t dims[] = {q->pushed, q->tile[0], q->tile[1]};
        if (q->popped > q->pushed)
            return import_refuse(im, q->last_pop,
                                 "takes tile %lld out of its queue, and %lld are put in: it would wait for ever",
                                 (long long)q->popped, (long long)q->pushed);
        for (uint32_t d = 0; q->memory != NULL && d < 3; d++) q->memory->dims[d] = pto_expr_const(im->run, dims[d]);
        if (q->memory != NULL) im->parameters[q->memory->pointer].dtype = q->dtype;
    }
    return PTO_OK;
}

pto_status import_queue_op(importer *im, const mlir_op *op)
{
    const pto_str n = op->name;
    if (pto_str_is(n, "pto.tpush_to_aiv")) return push(im, op, TO_VECTOR);
    if (pto_str_is(n, "pto.tpush_to_aic")) return push(im, op, TO_CUBE);
    if (pto_str_is(n, "pto.tpop_from_aic")) return pop(im, op, TO_VECTOR);
    if (pto_str_is(n, "pto.tpop_from_aiv")) return pop(im, op, TO_CUBE);
    if (pto_str_is(n, "pto.reserve_buffer")) return reserve(im, op);
    if (pto_str_is(n, "pto.aic_initialize_pipe") || pto_str_is(n, "pto.aiv_initialize_pipe")) return initialize(im, op);
    if (pto_str_is(n, "pto.import_reserved_buffer")) {
        const import_name made = {.kind = IMPORT_INDEX, .dtype = PTO_I32, .index = pto_expr_const(im->run, 0)};
        return op->results != NULL ? import_define(im, op->results, made) : import_refuse(im, op, "has one result");
    }
    return PTO_OK; /* pto.tfree_from_aic and _aiv: a place is not used twice */
}
