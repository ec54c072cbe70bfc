/* Lowers ops that move elements. The result is made of boxes: each is copied from a box of an operand or filled with a
 * number, by a nest of its own, and all nests write to one tensor, one after the other.
 *
 *     %e = tile.empty                                                  %y = tensor.concat %a, %b {axis = 1}
 *     %y0 = forall "f_0" (%i) to (..) out(%o = %e) {
 *       %t = tile.load %a[16 * %i, 0] size(..)
 *       tile.store %t, %o[16 * %i, 0]
 *     }
 *     %y1 = forall "f_0_part1" (%i) to (..) out(%o = %y0) { .. tile.store %t, %o[16 * %i, 4] }
 *
 * An assemble starts from its base, which pto.bufferize copies unless it dies there. Neighbouring dims are one axis
 * where the inner one is the whole of both memories. The last two axes are rows and columns of tiles, the others are
 * walked index by index, and so is an axis in steps: without neighbours among the columns single elements are moved. */
#include "machine_types.h"
#include "tile_nest.h"

enum { MOVE_NAME = 80, PATTERN = 16 };

/* Index i of dim d of the box is index start + step * i of the source, and at + i of the result. */
typedef struct move_box {
    pto_value source; /* none: the box is filled */
    pto_expr extent[PTO_MAX_DIMS], start[PTO_MAX_DIMS], at[PTO_MAX_DIMS];
    int64_t step[PTO_MAX_DIMS];
} move_box;

/* Likewise, of dims taken together; `from` and `to`: extents of the memories. */
typedef struct move_axis {
    pto_expr extent, from, to, start, at;
    int64_t step, size; /* of a tile along it */
} move_axis;

typedef struct movement {
    const pto_run *run;
    pto_op op, group;
    pto_type type; /* of the result */
    pto_dtype dtype;
    uint32_t rank, box_count;
    move_box *boxes;
    pto_value base;     /* none: boxes are all there is */
    tile_number number; /* what boxes are filled with */
    pto_value pattern;  /* memory that has it, where the machine does not fill; or none */
    uint32_t axis_count;
    move_axis axes[PTO_MAX_DIMS + 2]; /* of the box being written */
    storage_plan counted;
} movement;

/* ---- boxes ---- */

static int is_const(pto_expr e, int64_t n)
{
    int64_t v = 0;
    return pto_expr_is_const(e, &v) && v == n;
}

static pto_expr number(const movement *m, int64_t n) { return pto_expr_const(m->run, n); }

/* One more box, of the extents of a type, at the start of everything. Boxes without elements are dropped later. */
static move_box *add_box(movement *m, pto_value source, pto_type type)
{
    move_box *b = &m->boxes[m->box_count++];
    *b = (move_box){.source = source};
    for (uint32_t d = 0; d < m->rank; d++) {
        b->extent[d] = pto_type_dim(type, d);
        b->start[d] = b->at[d] = number(m, 0);
        b->step[d] = 1;
    }
    return b;
}

static void read_window(movement *m)
{
    const int flips = PTO_IS(m->op, T_FLIP);
    const uint32_t axes = flips ? pto_axes_of(m->op, m->rank) : 0;
    move_box *b = add_box(m, pto_op_operand(m->op, 0), m->type);
    for (uint32_t d = 0; d < m->rank; d++) {
        if ((axes >> d & 1) != 0) b->start[d] = pto_expr_sub(b->extent[d], number(m, 1));
        if (!flips) b->start[d] = pto_expr_of(m->op, PTO_STR("offsets"), d);
        b->step[d] = (axes >> d & 1) != 0 ? -1 : pto_int_of(m->op, PTO_STR("strides"), d, 1);
    }
}

static void read_concat(movement *m)
{
    const uint32_t axis = (uint32_t)__builtin_ctz(pto_axes_of(m->op, m->rank));
    pto_expr at = number(m, 0);
    for (uint32_t i = 0; i < pto_op_operand_count(m->op); i++) {
        const pto_value part = pto_op_operand(m->op, i);
        add_box(m, part, pto_value_type(part))->at[axis] = at;
        at = pto_expr_add(at, pto_type_dim(pto_value_type(part), axis));
    }
}

static void read_assemble(movement *m)
{
    const pto_value x = pto_op_operand(m->op, 0);
    move_box *b = add_box(m, x, pto_value_type(x));
    for (uint32_t d = 0; d < m->rank; d++) b->at[d] = pto_expr_of(m->op, PTO_STR("offsets"), d);
    m->base = pto_op_operand(m->op, 1);
}

/* x, then along each dim what is before and after it: as wide as x in the dims before, as the result in those after. */
static void read_pad(movement *m)
{
    const pto_value x = pto_op_operand(m->op, 0);
    const pto_attr value = pto_op_attr(m->op, PTO_STR("value"));
    const pto_type type = pto_value_type(x);
    move_box *inner = add_box(m, x, type);
    for (uint32_t d = 0; d < m->rank; d++) inner->at[d] = pto_expr_of(m->op, PTO_STR("low"), d);
    for (uint32_t d = 0; d < m->rank; d++)
        for (int after = 0; after < 2; after++) {
            move_box *b = add_box(m, pto_value_none(m->run), m->type);
            for (uint32_t k = 0; k < d; k++) {
                b->extent[k] = inner->extent[k];
                b->at[k] = inner->at[k];
            }
            b->extent[d] = after ? pto_expr_of(m->op, PTO_STR("high"), d) : inner->at[d];
            if (after) b->at[d] = pto_expr_add(inner->at[d], inner->extent[d]);
        }
    m->number.real = pto_attr_f64(value);
    if (pto_attr_kind_of(value) == PTO_ATTR_INT) m->number.whole = pto_attr_i64(value);
}

static int is_empty(const movement *m, const move_box *b)
{
    for (uint32_t d = 0; d < m->rank; d++)
        if (is_const(b->extent[d], 0)) return 1;
    return 0;
}

/* One stays, so that something writes to the result. */
static void drop_empty(movement *m)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < m->box_count; i++)
        if (!is_empty(m, &m->boxes[i])) m->boxes[kept++] = m->boxes[i];
    m->box_count = kept == 0 ? 1 : kept;
}

static void read_op(movement *m)
{
    m->boxes = PTO_SCRATCH(m->run, move_box, pto_op_operand_count(m->op) + 2 * (size_t)m->rank);
    if (PTO_IS(m->op, T_CONCAT))
        read_concat(m);
    else if (PTO_IS(m->op, T_PAD))
        read_pad(m);
    else if (PTO_IS(m->op, T_ASSEMBLE))
        read_assemble(m);
    else
        read_window(m);
    drop_empty(m);
}

/* ---- axes ---- */

/* Whether the box has all of both memories along the axis, so that the dim before it can go on into it. */
static int is_whole(const move_axis *a)
{
    return a->step == 1 && is_const(a->start, 0) && is_const(a->at, 0) && pto_expr_equal(a->extent, a->from) &&
           pto_expr_equal(a->extent, a->to);
}

static int is_never_below(const movement *m, pto_expr a, pto_expr b)
{
    return pto_expr_range(pto_expr_sub(a, b), m->op, NULL).lo >= 0;
}

/* Whether the box is certainly inside of both memories along the axis. One that may not be stays an axis: a fault then
 * names its index. */
static int is_certain(const movement *m, const move_axis *a)
{
    const pto_expr zero = number(m, 0);
    return is_never_below(m, a->start, zero) && is_never_below(m, a->from, pto_expr_add(a->start, a->extent)) &&
           is_never_below(m, a->at, zero) && is_never_below(m, a->to, pto_expr_add(a->at, a->extent));
}

static void take_together(const move_axis *outer, move_axis *inner)
{
    const pto_expr n = inner->extent;
    *inner = (move_axis){.extent = pto_expr_mul(outer->extent, n),
                         .from = pto_expr_mul(outer->from, n),
                         .to = pto_expr_mul(outer->to, n),
                         .start = pto_expr_mul(outer->start, n),
                         .at = pto_expr_mul(outer->at, n),
                         .step = 1};
}

static move_axis unit_axis(const movement *m)
{
    return (move_axis){.extent = number(m, 1),
                       .from = number(m, 1),
                       .to = number(m, 1),
                       .start = number(m, 0),
                       .at = number(m, 0),
                       .step = 1};
}

/* Axes of a box, at least two. */
static void find_axes(movement *m, const move_box *b)
{
    move_axis reversed[PTO_MAX_DIMS];
    uint32_t count = 0;
    for (uint32_t d = m->rank; d-- > 0;) {
        const int copies = PTO_SOME(b->source);
        const move_axis a = {.extent = b->extent[d],
                             .from = copies ? pto_type_dim(pto_value_type(b->source), d) : b->extent[d],
                             .to = pto_type_dim(m->type, d),
                             .start = b->start[d],
                             .at = b->at[d],
                             .step = b->step[d]};
        if (is_const(a.extent, 1) && is_const(a.from, 1) && is_const(a.to, 1)) continue;
        if (count != 0 && a.step == 1 && is_whole(&reversed[count - 1]) && is_certain(m, &a))
            take_together(&a, &reversed[count - 1]);
        else
            reversed[count++] = a;
    }
    m->axis_count = 0;
    for (uint32_t missing = count; missing < 2; missing++) m->axes[m->axis_count++] = unit_axis(m);
    while (count-- > 0) m->axes[m->axis_count++] = reversed[count];
    for (uint32_t a = 0; a < m->axis_count; a++) m->axes[a].size = 1;
}

/* ---- tiles ---- */

/* Rows or columns. */
static move_axis *tiled(movement *m, uint32_t which) { return &m->axes[m->axis_count - 2 + which]; }

static int64_t static_extent(const move_axis *a)
{
    int64_t n = 0;
    return a->step != 1 ? 1 : pto_expr_is_const(a->extent, &n) ? n : -1;
}

static tile_nest count_instance(movement *m, const int64_t *tile)
{
    tile_nest n = tile_nest_make(m->run, &m->counted);
    const pto_value memory = pto_op_operand(m->op, 0);
    tile_emit_store(&n, tile_emit_load(&n, memory, NULL, NULL, tile[0], tile[1], 0), memory, NULL);
    return n;
}

static int64_t footprint(void *self, const int64_t *tile, pto_space space)
{
    movement *m = self;
    if (space != pto_space_of_role(m->run, PTO_ROLE_SCRATCHPAD)) return 0;
    const tile_nest n = count_instance(m, tile);
    return tile_counted_bytes(&n);
}

static void work(void *self, const int64_t *tile, const pto_work_sink *sink)
{
    const tile_nest n = count_instance(self, tile);
    tile_put_work(&n, 1.0, 1.0, sink);
}

static int64_t capacity(void *self, pto_space space) { return tile_capacity(((const movement *)self)->run, space); }

/* Tiles of the axes that tiles have no size along; -1: symbolic. */
static int64_t outer_instances(const movement *m)
{
    int64_t instances = 1, extent = 0;
    for (uint32_t a = 0; a < m->axis_count; a++) {
        if (a + 2 >= m->axis_count && m->axes[a].step == 1) continue;
        if (!pto_expr_is_const(m->axes[a].extent, &extent)) return -1;
        instances = tile_mul(instances, extent);
    }
    return instances;
}

/* The tile of the first box, which the others have as far as they are as large. */
static pto_status choose(movement *m, int64_t tile[2])
{
    static const char *const names[2] = {"rows", "columns"};
    const int64_t block = pto_machine_i64_or(m->run, 1, "vector.block-bytes"), bytes = pto_dtype_bytes(m->dtype);
    pto_tiling_dim dims[2];
    const pto_tiling_dim *list[2] = {&dims[0], &dims[1]};
    for (uint32_t d = 0; d < 2; d++)
        dims[d] = (pto_tiling_dim){.struct_size = sizeof dims[d],
                                   .kind = PTO_PARALLEL,
                                   .name = names[d],
                                   .extent = tiled(m, d)->step != 1 ? number(m, 1) : tiled(m, d)->extent,
                                   .static_extent = static_extent(tiled(m, d)),
                                   .granule = d == 1 && bytes > 0 && block > bytes ? block / bytes : 1};
    const pto_tiling_problem problem = {.struct_size = sizeof problem,
                                        .dim_count = 2,
                                        .shape = m->axis_count == 2 ? "elementwise" : "box",
                                        .nest = m->group,
                                        .dims = list,
                                        .self = m,
                                        .footprint = footprint,
                                        .capacity = capacity,
                                        .outer_instances = outer_instances(m),
                                        .work = work};
    return pto_tiling_choose(m->run, TILE_OPT_STRATEGY, &problem, tile, NULL);
}

static void set_tile(movement *m, const move_box *b, const int64_t tile[2])
{
    for (uint32_t d = 0; d < 2; d++) {
        const int64_t n = static_extent(tiled(m, d)), most = n == 0 ? 1 : n;
        tiled(m, d)->size = most > 0 && tile[d] > most ? most : tile[d];
    }
    if (PTO_SOME(b->source) || !PTO_SOME(m->pattern)) return;
    tiled(m, 0)->size = 1;
    if (tiled(m, 1)->size > PATTERN) tiled(m, 1)->size = PATTERN;
}

/* ---- nests ---- */

/* Elements that all have the number, for machines that do not fill tiles of the type: the number is the value of a
 * constant tensor of the same type. */
static pto_status make_pattern(movement *m)
{
    uint8_t bytes[PATTERN * sizeof(uint64_t)];
    const uint32_t size = (uint32_t)pto_dtype_bytes(m->dtype);
    const pto_expr dims[2] = {number(m, 1), number(m, PATTERN)};
    const pto_type type = pto_type_tensor(m->run, m->dtype, 2, dims);
    m->pattern = pto_value_none(m->run);
    if (m->box_count == 0 || !PTO_IS(m->op, T_PAD) || machine_takes(m->run, pto_kind(m->run, KIND_FILL), m->dtype))
        return PTO_OK;
    if (pto_dtype_is_float(m->dtype) || size == 0 || size > sizeof(uint64_t))
        return pto_error(m->op, "pto.tile/no-fill",
                         "`tensor.pad` needs tiles filled with %s, which the machine does not do: pad in another type",
                         pto_dtype_name(m->dtype));
    for (uint32_t i = 0; i < PATTERN * size; i++) bytes[i] = (uint8_t)((uint64_t)m->number.whole >> (8 * (i % size)));
    pto_spec s = pto_spec_make(m->run, pto_kind(m->run, KIND_CONSTANT_ARRAY));
    pto_spec_attr(&s, PTO_STR("value"), pto_attr_make_dense(m->run, type, PATTERN * size, bytes));
    pto_spec_result(&s, type);
    pto_spec_loc(&s, pto_op_loc(m->op));
    pto_spec_name(&s, PTO_STR("pad"));
    m->pattern = pto_spec_value(&s, pto_before(m->group));
    return PTO_SOME(m->pattern) ? PTO_OK : PTO_FAILED;
}

/* Memory of the axes: of the source, or of the result. */
static pto_value memory_of(const movement *m, pto_value v, int is_result)
{
    pto_expr dims[PTO_MAX_DIMS + 2];
    for (uint32_t a = 0; a < m->axis_count; a++) dims[a] = is_result ? m->axes[a].to : m->axes[a].from;
    if (PTO_SOME(v)) return tile_view(m->run, m->group, v, m->axis_count, dims);
    return tile_empty(m->run, m->group, pto_type_tensor(m->run, m->dtype, m->axis_count, dims), PTO_STR("e"));
}

/* Where an instance is: index by index along axes that tiles have no size along. */
typedef struct place {
    pto_expr from[PTO_MAX_DIMS + 2], to[PTO_MAX_DIMS + 2], valid[2];
} place;

/* Grid: axes that one tile does not cover, at least one. */
static pto_op begin_instances(movement *m, tile_nest *n, pto_value target, place *p)
{
    static const char *const names[] = {"i", "j"};
    pto_expr to[PTO_MAX_DIMS + 2];
    const char *of[PTO_MAX_DIMS + 2];
    uint32_t walked[PTO_MAX_DIMS + 2], count = 0;
    for (uint32_t a = 0; a < m->axis_count; a++) {
        const int64_t size = m->axes[a].size;
        int64_t extent = 0;
        const int covers = pto_expr_is_const(m->axes[a].extent, &extent) && extent <= size && extent != 0;
        if (covers && (a + 1 != m->axis_count || count != 0)) continue;
        to[count] = pto_expr_ceildiv(m->axes[a].extent, number(m, size));
        of[count] = a + 2 < m->axis_count ? "ib" : names[a + 2 - m->axis_count];
        walked[count++] = a;
    }
    const pto_op forall = tile_begin_forall(n, m->group, count, to, of, 1, &target);
    for (uint32_t a = 0, next = 0; a < m->axis_count && PTO_SOME(forall); a++) {
        const move_axis *x = &m->axes[a];
        const int moves = next < count && walked[next] == a;
        const pto_expr index = moves ? pto_expr_value(pto_block_arg(n->block, next++)) : number(m, 0);
        const pto_expr first = pto_expr_scale(index, x->size);
        p->from[a] = pto_expr_add(x->start, pto_expr_scale(first, x->step));
        p->to[a] = pto_expr_add(x->at, first);
        if (a + 2 >= m->axis_count)
            p->valid[a + 2 - m->axis_count] = moves ? tile_valid_extent(x->size, x->extent, index) : x->extent;
    }
    return forall;
}

static tile_piece emit_source(movement *m, tile_nest *n, pto_value source, const place *p)
{
    const int64_t rows = tiled(m, 0)->size, columns = tiled(m, 1)->size;
    const pto_expr start[2] = {number(m, 0), number(m, 0)};
    if (PTO_SOME(source)) return tile_emit_load(n, source, p->from, p->valid, rows, columns, 0);
    if (PTO_SOME(m->pattern)) return tile_emit_load(n, m->pattern, start, p->valid, rows, columns, 0);
    return tile_emit_fill(n, m->dtype, m->number, p->valid, rows, columns);
}

/* The nest of box `i`, which goes on with `target`; its result, or what is in the place of the group's. */
static pto_status write_box(movement *m, uint32_t i, const int64_t tile[2], pto_value *target)
{
    const move_box *b = &m->boxes[i];
    place p;
    find_axes(m, b);
    set_tile(m, b, tile);
    const pto_value source = PTO_SOME(b->source) ? memory_of(m, b->source, 0) : b->source;
    const pto_value out = memory_of(m, *target, 1);
    PTO_NEED(out);
    if (PTO_SOME(b->source)) PTO_NEED(source);
    tile_nest n = tile_nest_make(m->run, NULL);
    n.loc = pto_op_loc(m->op);
    n.name = pto_value_name(pto_op_result(m->group, 0));
    const pto_op forall = begin_instances(m, &n, out, &p);
    PTO_NEED(forall);
    const uint32_t args = pto_block_arg_count(n.block);
    tile_emit_store(&n, emit_source(m, &n, source, &p), pto_block_arg(n.block, args - 1), p.to);
    if (i != 0) {
        char label[MOVE_NAME];
        const pto_str whole = pto_attr_str_of(m->group, PTO_STR("label"));
        (void)snprintf(label, sizeof label, "%.*s_part%u", whole.n < 60 ? (int)whole.n : 60, whole.p, (unsigned)i);
        PTO_TRY(pto_op_set_attr(forall, PTO_STR("label"), pto_attr_make_str(m->run, pto_s(label))));
    }
    if (i + 1 == m->box_count) return tile_end_forall(&n, m->group, forall);
    *target = pto_op_result(forall, 0);
    return tile_end_body(&n);
}

pto_status tile_lower_move(const pto_run *run, pto_op group, pto_op op)
{
    const pto_type type = pto_value_type(pto_op_result(op, 0));
    movement m = {.run = run,
                  .op = op,
                  .group = group,
                  .type = type,
                  .dtype = pto_type_dtype(type),
                  .rank = pto_type_rank(type),
                  .base = pto_value_none(run)};
    int64_t tile[2] = {1, 1};
    if (pto_str_is(pto_attr_str_of(op, PTO_STR("atomic")), "add"))
        return pto_error(op, "pto.tile/unsupported-op",
                         "`%.*s` adds to what it replaces: `pto.canonicalize` makes that a `tensor.add` of its own",
                         PTO_FMT(pto_op_name(op)));
    m.counted = storage_plan_make(run, pto_opt_bool(run, TILE_OPT_IN_PLACE));
    read_op(&m);
    find_axes(&m, &m.boxes[0]);
    PTO_TRY(choose(&m, tile));
    if (tiled(&m, 1)->step != 1)
        pto_remark(op, "pto.tile/single-elements",
                   "`%.*s` moves its elements one by one, since those it takes are not neighbours in memory",
                   PTO_FMT(pto_op_name(op)));
    PTO_TRY(make_pattern(&m));
    pto_value target = m.base;
    for (uint32_t i = 0; i < m.box_count; i++) PTO_TRY(write_box(&m, i, tile, &target));
    return PTO_OK;
}
