/* Index spaces of vector ops: which dims are rows and which are columns, or where a box has its axes. */
#include "fuse_plan.h"

static uint32_t lowest(uint32_t mask) { return mask & (~mask + 1u); }

/* Extents of a tensor type; neither rows nor columns are known. */
static fuse_shape fuse_shape_of(pto_type type)
{
    fuse_shape s = {.type = type, .rank = pto_type_rank(type)};
    for (uint32_t i = 0; i < s.rank; i++) {
        int64_t extent = 0;
        if (!pto_dim_is_const(type, s.rank - 1 - i, &extent) || extent != 1) s.wide |= 1u << i;
    }
    return s;
}

/* Marks where neighbouring wide dims differ in `mask`. */
static void note_cuts(fuse_shape *s, uint32_t mask)
{
    uint32_t last = PTO_MAX_DIMS;
    for (uint32_t i = 0; i < PTO_MAX_DIMS; i++) {
        if ((s->wide & (1u << i)) == 0) continue;
        if (last != PTO_MAX_DIMS && ((mask >> last) & 1) != ((mask >> i) & 1)) s->cuts |= 1u << last;
        last = i;
    }
}

/* Something in the space `s` does not vary along `missing`. Dims that make no rows-before-columns become both. */
static void note_missing(fuse_shape *s, uint32_t missing)
{
    uint32_t present = s->wide & ~missing;
    if (missing == 0 || present == 0) return;
    note_cuts(s, missing);
    if (lowest(present) > missing) {
        s->rows |= present;
        s->columns |= missing;
    } else if (lowest(missing) > present) {
        s->rows |= missing;
        s->columns |= present;
    } else {
        s->rows = s->columns = s->wide;
    }
}

static int is_split(const fuse_shape *s) { return s->rows == 0 || s->columns == 0 || lowest(s->rows) > s->columns; }

int fuse_is_splat(pto_op op)
{
    if (!PTO_SOME(op) || pto_kind_column(op.run, pto_op_kind(op), PTO_COLUMN_SPACE_RULE) != PTO_ITER_FILL) return 0;
    pto_attr value = pto_op_attr(op, "value");
    pto_attr_kind kind = pto_attr_kind_of(value);
    return !PTO_SOME(value) || kind == PTO_ATTR_INT || kind == PTO_ATTR_FLOAT;
}

uint32_t fuse_reduced_dims(pto_op op)
{
    const uint32_t rank = pto_type_rank(pto_value_type(pto_operand(op, 0)));
    pto_attr axes = pto_op_attr(op, "axis");
    int is_list = pto_attr_kind_of(axes) == PTO_ATTR_LIST;
    uint32_t count = is_list ? pto_attr_count(axes) : 1, mask = 0;
    for (uint32_t i = 0; i < count; i++) {
        int64_t axis = pto_attr_i64(is_list ? pto_attr_item(axes, i, NULL) : axes);
        if (axis < 0) axis += rank;
        if (axis >= 0 && axis < (int64_t)rank) mask |= 1u << (rank - 1 - (uint32_t)axis);
    }
    return mask;
}

fuse_shape fuse_shape_of_op(pto_op op)
{
    int reduces = pto_kind_column(op.run, pto_op_kind(op), PTO_COLUMN_SPACE_RULE) == PTO_ITER_REDUCE;
    fuse_shape s = fuse_shape_of(pto_value_type(reduces ? pto_operand(op, 0) : pto_result(op, 0)));
    if (reduces) {
        s.reduced = fuse_reduced_dims(op) & s.wide;
        s.columns = s.reduced;
        s.rows = s.reduced != 0 ? s.wide & ~s.reduced : 0;
        note_cuts(&s, s.reduced);
        s.is_box = !is_split(&s);
        return s;
    }
    for (uint32_t k = 0; k < pto_operand_count(op); k++) {
        pto_value operand = pto_operand(op, k);
        if (fuse_is_splat(pto_value_op(operand))) continue;
        note_missing(&s, s.wide & ~fuse_shape_of(pto_value_type(operand)).wide);
    }
    s.is_box = !is_split(&s);
    return s;
}

/* Adds what follows from `s` living in the wider space of `to`; 0 when it would be repeated along rows. */
static int fits_in(fuse_shape *s, const fuse_shape *to, uint32_t known_columns)
{
    uint32_t missing = to->wide & ~s->wide;
    if (missing == 0) return 1;
    if (s->wide == 0) return (missing & ~known_columns) == 0;
    if (lowest(s->wide) < missing) return 0;
    s->rows |= s->wide;
    s->columns |= missing;
    return 1;
}

/* Whether the reduced dims are one axis: neighbours that nothing tells apart. */
static int is_one_axis(const fuse_shape *s)
{
    uint32_t last = PTO_MAX_DIMS, ended = 0;
    for (uint32_t i = 0; i < PTO_MAX_DIMS; i++) {
        if ((s->wide & (1u << i)) == 0) continue;
        const uint32_t is_in = (s->reduced >> i) & 1;
        if (is_in && (ended || (last != PTO_MAX_DIMS && ((s->reduced & s->cuts) >> last) & 1))) return 0;
        if (!is_in && last != PTO_MAX_DIMS && ((s->reduced >> last) & 1)) ended = 1;
        last = i;
    }
    return 1;
}

/* `wide` is the space of one of them, and has the dims of both. */
static int join_boxes(fuse_shape *a, const fuse_shape *b, fuse_shape wide)
{
    if (a->reduced != 0 && b->reduced != 0 && a->reduced != b->reduced) return 0;
    wide.reduced = a->reduced | b->reduced;
    if (((wide.wide & ~a->wide) | (wide.wide & ~b->wide)) & ~wide.reduced) return 0;
    wide.cuts = a->cuts | b->cuts;
    note_cuts(&wide, a->wide);
    note_cuts(&wide, b->wide);
    wide.is_box = 1;
    *a = wide;
    return is_one_axis(a);
}

int fuse_shape_join(fuse_shape *a, const fuse_shape *b)
{
    fuse_shape other = *b;
    uint32_t both = a->wide & b->wide;
    for (uint32_t i = 0; i < PTO_MAX_DIMS; i++) {
        if ((both & (1u << i)) == 0) continue;
        if (!pto_expr_same_number(pto_type_dim(a->type, a->rank - 1 - i), pto_type_dim(b->type, b->rank - 1 - i)))
            return 0;
    }
    uint32_t known_columns = a->columns | b->columns;
    fuse_shape wide = (b->wide & ~a->wide) != 0 ? *b : *a;
    if (((a->wide | b->wide) & ~wide.wide) != 0) return 0;
    if (a->is_box || b->is_box) return join_boxes(a, b, wide);
    if (!fits_in(a, &wide, known_columns) || !fits_in(&other, &wide, known_columns)) return 0;
    wide.rows = a->rows | other.rows;
    wide.columns = a->columns | other.columns;
    wide.cuts = a->cuts | b->cuts;
    note_cuts(&wide, a->wide);
    note_cuts(&wide, b->wide);
    wide.reduced = a->reduced | b->reduced;
    *a = wide;
    return is_split(a);
}

int fuse_shape_repeats(const fuse_shape *from, const fuse_shape *to)
{
    uint32_t missing = to->wide & ~from->wide;
    return missing > lowest(from->wide);
}
