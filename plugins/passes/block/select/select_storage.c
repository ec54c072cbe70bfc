/* Buffers at the top of the kernel and descriptors of tiles in them. */
#include "select_plan.h"

/* ---- buffers ---- */

static pto_status capacity_bytes(pto_type type, pto_op at, int64_t *out)
{
    int64_t rows = 0, columns = 0;
    if (pto_dim_is_const(type, 0, &rows) && pto_dim_is_const(type, 1, &columns) &&
        (*out = pto_tile_bytes(pto_type_dtype(type), pto_layout_order(at.run, pto_type_layout(type)), rows, columns)) >
            0 &&
        *out < INT64_C(1) << 40)
        return PTO_OK;
    return pto_error(at, "pto.select/capacity",
                     "a tile of %lld x %lld elements has no storage; it needs 1 byte to 2^40", (long long)rows,
                     (long long)columns);
}

/* `least`: bytes that it has at least. */
static pto_value make_buffer(select_plan *p, pto_type type, int64_t least, int64_t stages, pto_str name, pto_op at)
{
    const pto_value none = pto_value_none(p->run);
    const char *space = pto_space_name(p->run, pto_type_space(type));
    int64_t bytes = 0;
    const int64_t align = pto_space_align(p->run, pto_type_space(type), 0);
    if (pto_type_space(type) == PTO_SPACE_NONE || pto_type_layout(type) == PTO_LAYOUT_NONE) {
        (void)pto_error(at, "pto.select/no-space", "`%%%.*s` has no %s; assign-spaces and assign-layouts give it one",
                        PTO_FMT(name), pto_type_space(type) == PTO_SPACE_NONE ? "memory space" : "layout");
        return none;
    }
    if (align == 0) {
        (void)pto_error(at, "pto.select/no-space",
                        "the machine has no space `%s` for `%%%.*s`; choose one that has it with --machine", space,
                        PTO_FMT(name));
        return none;
    }
    if (capacity_bytes(type, at, &bytes) != PTO_OK) return none;
    if (bytes < least) bytes = least;
    if (bytes % align != 0) bytes += align - bytes % align; /* so that every stage is aligned */
    pto_spec s = pto_spec_make(p->run, pto_kind(p->run, KIND_BUFFER));
    pto_spec_str(&s, PTO_STR("space"), pto_s(space));
    pto_spec_int(&s, PTO_STR("bytes_per_stage"), bytes);
    pto_spec_int(&s, PTO_STR("stages"), stages);
    pto_spec_int(&s, PTO_STR("align"), align);
    pto_spec_result(&s, pto_type_buffer(p->run));
    pto_spec_loc(&s, pto_op_loc(at));
    pto_spec_name(&s, name);
    pto_stat_add(p->run, STAT_BUFFERS, 1);
    pto_place top = PTO_SOME(p->last_buffer) ? pto_after(p->last_buffer) : pto_at_start(pto_body(p->kernel));
    pto_value buffer = pto_spec_value(&s, top);
    if (PTO_SOME(buffer)) p->last_buffer = pto_value_op(buffer);
    return buffer;
}

/* ---- stages ---- */

/* All that share a storage turn with the loop around all of them; without one there is nothing to turn with. */
static pto_expr find_stage(const select_plan *p, uint32_t group, int64_t stages)
{
    if (stages <= 1) return pto_expr_const(p->run, 0);
    const pto_op op = storage_op_at(&p->source, p->storage.groups[group].loop);
    pto_expr index = pto_expr_value(pto_block_arg(pto_body(op), 0));
    pto_expr trip = pto_expr_floordiv(pto_expr_sub(index, pto_expr_of(op, PTO_STR("from"), 0)),
                                      pto_expr_of(op, PTO_STR("step"), 0));
    return pto_expr_mod(trip, pto_expr_const(p->run, stages));
}

select_storage *select_storage_of(select_plan *p, pto_value v)
{
    const uint32_t i = storage_find_value(&p->source, v);
    if (i == STORAGE_NONE) return NULL;
    const uint32_t group = storage_group_of(&p->storage, i);
    select_storage *s = &p->values[group].storage;
    if (PTO_SOME(s->buffer)) return s;
    const int64_t stages = storage_stages(&p->storage, group);
    const pto_value first = p->source.values[group];
    s->stage = find_stage(p, group, stages);
    s->buffer =
        make_buffer(p, pto_value_type(first), 0, stages, pto_str_join(p->run, pto_value_name(first), PTO_STR("_b")),
                    storage_op_at(&p->source, p->storage.values[i].home));
    return PTO_SOME(s->buffer) && PTO_SOME(s->stage) ? s : NULL;
}

/* ---- descriptors ---- */

/* A tile that the matrix unit reads or writes. */
static int is_of_products(const pto_run *run, pto_type type)
{
    const uint32_t role = pto_space_role(run, pto_type_space(type));
    return role == PTO_ROLE_LEFT || role == PTO_ROLE_RIGHT || role == PTO_ROLE_ACCUMULATOR;
}

pto_value select_descriptor(const select_plan *p, pto_value buffer, pto_expr stage, const pto_expr valid[2],
                            pto_type type, pto_str name, pto_op at)
{
    pto_spec s = pto_spec_make(p->run, pto_kind(p->run, KIND_TILE));
    pto_spec_operand(&s, buffer);
    pto_spec_exprs(&s, PTO_STR("stage"), 1, &stage);
    pto_spec_exprs(&s, PTO_STR("valid"), 2, valid);
    if (p->is_packed && is_of_products(p->run, type) &&
        !(pto_expr_equal(valid[0], pto_type_dim(type, 0)) && pto_expr_equal(valid[1], pto_type_dim(type, 1))))
        pto_spec_bool(&s, PTO_STR("compact"), 1);
    pto_spec_result(&s, type);
    pto_spec_loc(&s, pto_op_loc(at));
    pto_spec_name(&s, name);
    return pto_spec_value(&s, pto_before(at));
}

pto_value select_describe(select_plan *p, pto_value v, pto_op at, const pto_expr *valid)
{
    pto_expr region[2];
    const pto_value none = pto_value_none(p->run);
    select_storage *s = select_storage_of(p, v);
    if (s == NULL) return none;
    if (valid == NULL) {
        if (pto_value_valid(v, region) != PTO_OK) return none;
        valid = region;
    }
    for (select_desc *d = s->descs; d != NULL; d = d->next) {
        if (pto_expr_equal(d->valid[0], valid[0]) && pto_expr_equal(d->valid[1], valid[1]) &&
            pto_op_dominates(pto_value_op(d->value), at))
            return d->value;
    }
    select_desc *d = PTO_SCRATCH(p->run, select_desc, 1);
    d->value = select_descriptor(p, s->buffer, s->stage, valid, pto_value_type(v), pto_value_name(v), at);
    d->valid[0] = valid[0];
    d->valid[1] = valid[1];
    d->next = s->descs;
    s->descs = d;
    return d->value;
}

pto_value select_scratch_tile(select_plan *p, pto_type type, pto_value like, const pto_expr *valid, pto_op at)
{
    const pto_expr whole[2] = {pto_type_dim(type, 0), pto_type_dim(type, 1)};
    pto_str name = pto_str_join(p->run, pto_value_name(like), PTO_STR("_tmp"));
    pto_value buffer = make_buffer(p, type, 0, 1, pto_str_join(p->run, name, PTO_STR("_b")), at);
    if (!PTO_SOME(buffer)) return buffer;
    return select_descriptor(p, buffer, pto_expr_const(p->run, 0), valid != NULL ? valid : whole, type, name, at);
}

pto_status select_scratch_operand(select_plan *p, pto_op op, pto_value *out)
{
    const storage_plan *plan = &p->storage;
    const storage_op *o = &plan->ops[storage_find_op(&p->source, op)];
    storage_shape shape;
    *out = pto_value_none(p->run);
    if (o->scratch == STORAGE_NONE ||
        !storage_scratch_shape(plan, o->kind, &plan->values[plan->uses[o->first_use].value].shape,
                               &plan->values[o->result].shape, &shape))
        return PTO_OK;
    const pto_type type = pto_type_tile(p->run, shape.dtype, shape.rows, shape.columns, shape.space, shape.layout);
    pto_value *buffer = &p->scratches[o->scratch];
    if (!PTO_SOME(*buffer)) *buffer = make_buffer(p, type, plan->scratches[o->scratch].bytes, 1, PTO_STR("tmp_b"), op);
    PTO_NEED(*buffer);
    const pto_expr whole[2] = {pto_type_dim(type, 0), pto_type_dim(type, 1)};
    *out = select_descriptor(p, *buffer, pto_expr_const(p->run, 0), whole, type,
                             pto_str_join(p->run, pto_value_name(pto_op_result(op, 0)), PTO_STR("_tmp")), op);
    PTO_NEED(*out);
    return PTO_OK;
}

/* ---- copies ---- */

typedef struct move_item {
    uint32_t dst, src; /* groups; src STORAGE_NONE: in the spare tile */
    pto_value dst_value, src_value, src_tile;
} move_item;

static pto_status emit_copy(select_plan *p, pto_value dst, pto_value src, pto_op at)
{
    if (!PTO_SOME(dst) || !PTO_SOME(src)) return PTO_FAILED;
    pto_type type = pto_value_type(dst);
    const pto_space home = pto_type_space(type);
    if (pto_space_role(p->run, home) != PTO_ROLE_SCRATCHPAD || pto_machine_path(p->run, home, home) == NULL) {
        const char *space = pto_space_name(p->run, home);
        pto_status s = pto_error(at, "pto.select/no-copy",
                                 "a carried tile in `%s` must be copied, and the machine has no move from `%s` to `%s`",
                                 space, space, space);
        pto_note(at, "no copy is needed when the old value is not used after the new one is computed");
        return s;
    }
    pto_spec s = pto_spec_make(p->run, pto_kind(p->run, KIND_TMOV));
    pto_spec_operand(&s, dst);
    pto_spec_operand(&s, src);
    pto_spec_loc(&s, pto_op_loc(at));
    pto_stat_add(p->run, STAT_COPIES, 1);
    return PTO_SOME(pto_spec_build(&s, pto_before(at))) ? PTO_OK : PTO_FAILED;
}

static pto_status emit_move(select_plan *p, const move_item *m, pto_op at)
{
    pto_expr valid[2];
    PTO_TRY(pto_value_valid(m->src_value, valid));
    pto_value src = m->src == STORAGE_NONE ? m->src_tile : select_describe(p, m->src_value, at, valid);
    return emit_copy(p, select_describe(p, m->dst_value, at, valid), src, at);
}

static int is_read(const move_item *items, uint32_t count, uint32_t group, uint32_t but)
{
    for (uint32_t i = 0; i < count; i++) {
        if (i != but && items[i].src == group) return 1;
    }
    return 0;
}

/* Every target is read by another copy: the first one's old content goes to a spare tile. */
static pto_status break_circle(select_plan *p, move_item *items, uint32_t count, pto_op at)
{
    pto_value old = items[0].dst_value;
    pto_expr valid[2];
    uint32_t reader = 1;
    while (reader < count && items[reader].src != items[0].dst) reader++;
    if (reader == count) return PTO_FAILED;
    PTO_TRY(pto_value_valid(items[reader].src_value, valid));
    pto_value tile = select_scratch_tile(p, pto_value_type(old), old, valid, at);
    PTO_TRY(emit_copy(p, tile, select_describe(p, items[reader].src_value, at, valid), at));
    for (uint32_t i = 0; i < count; i++) {
        if (items[i].src != items[0].dst) continue;
        items[i].src = STORAGE_NONE;
        items[i].src_tile = tile;
    }
    return PTO_OK;
}

pto_status select_copy_all(select_plan *p, uint32_t count, const pto_value *dst, const pto_value *src, pto_op at)
{
    move_item *items = PTO_SCRATCH(p->run, move_item, count);
    uint32_t left = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t to = storage_find_value(&p->source, dst[i]), from = storage_find_value(&p->source, src[i]);
        if (to == STORAGE_NONE || from == STORAGE_NONE) continue;
        to = storage_group_of(&p->storage, to);
        /* Zeros of a chain that has not begun are nowhere yet. */
        if (to == storage_group_of(&p->storage, from) || p->values[from].zero == ZERO_ALWAYS) continue;
        items[left++] = (move_item){to, storage_group_of(&p->storage, from), dst[i], src[i], pto_value_none(p->run)};
    }
    while (left != 0) {
        uint32_t next = 0;
        while (next < left && is_read(items, left, items[next].dst, next)) next++;
        if (next == left) {
            PTO_TRY(break_circle(p, items, left, at));
            continue;
        }
        PTO_TRY(emit_move(p, &items[next], at));
        items[next] = items[--left];
    }
    return PTO_OK;
}
