/* Index spaces of vector ops, and what nests pto.tile makes of them: rows before columns, or a box with axes. */
#include "fuse_plan.h"

static uint32_t lowest(uint32_t mask) { return mask & (~mask + 1u); }

int fuse_is_reduction(pto_op op)
{
    return pto_kind_column(op.run, pto_op_kind(op), PTO_COLUMN_SPACE_RULE) == PTO_ITER_REDUCE;
}

int fuse_is_splat(pto_op op)
{
    if (!PTO_SOME(op) || pto_kind_column(op.run, pto_op_kind(op), PTO_COLUMN_SPACE_RULE) != PTO_ITER_FILL) return 0;
    pto_attr value = pto_op_attr(op, "value");
    pto_attr_kind kind = pto_attr_kind_of(value);
    return !PTO_SOME(value) || kind == PTO_ATTR_INT || kind == PTO_ATTR_FLOAT;
}

static uint32_t wide_dims(pto_type type)
{
    const uint32_t rank = pto_type_rank(type);
    uint32_t wide = 0;
    for (uint32_t i = 0; i < rank; i++) {
        int64_t extent = 0;
        if (!pto_dim_is_const(type, rank - 1 - i, &extent) || extent != 1) wide |= 1u << i;
    }
    return wide;
}

static uint32_t reduced_dims(pto_op op)
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

static void note_value(fuse_space *s, uint32_t wide) { s->varies[wide / 64] |= UINT64_C(1) << (wide % 64); }

fuse_space fuse_space_of_op(pto_op op)
{
    const int reduces = fuse_is_reduction(op);
    fuse_space s = {.type = pto_value_type(reduces ? pto_operand(op, 0) : pto_result(op, 0))};
    s.rank = pto_type_rank(s.type);
    s.wide = s.common = wide_dims(s.type);
    note_value(&s, s.wide);
    for (uint32_t k = 0; k < pto_operand_count(op); k++) {
        pto_value operand = pto_operand(op, k);
        if (!fuse_is_splat(pto_value_op(operand))) note_value(&s, wide_dims(pto_value_type(operand)) & s.wide);
    }
    if (!reduces) return s;
    s.reduced = reduced_dims(op) & s.wide;
    s.common = s.wide & ~s.reduced;
    if (s.reduced != 0) s.left = s.common;
    if (pto_attr_bool_of(op, "keepdim", 1)) note_value(&s, s.common);
    return s;
}

int fuse_space_join(fuse_space *a, const fuse_space *b)
{
    const uint32_t both = a->wide & b->wide, all = a->wide | b->wide;
    if (all != a->wide && all != b->wide) return 0;
    for (uint32_t i = 0; i < PTO_MAX_DIMS; i++) {
        if ((both & (1u << i)) == 0) continue;
        if (!pto_expr_same_number(pto_type_dim(a->type, a->rank - 1 - i), pto_type_dim(b->type, b->rank - 1 - i)))
            return 0;
    }
    a->reduces_apart |= b->reduces_apart | (a->reduced != 0 && b->reduced != 0 && a->reduced != b->reduced);
    a->reduced |= b->reduced;
    a->left |= b->left;
    a->common &= b->common;
    for (uint32_t i = 0; i < FUSE_MASKS / 64; i++) a->varies[i] |= b->varies[i];
    if (all == a->wide) return 1;
    a->type = b->type;
    a->rank = b->rank;
    a->wide = all;
    return 1;
}

/* Where neighbouring wide dims differ in `mask`: bit i stands between dim i and the next one outwards. */
static uint32_t cuts_of(uint32_t wide, uint32_t mask)
{
    uint32_t cuts = 0;
    for (uint32_t i = 0, last = PTO_MAX_DIMS; i < PTO_MAX_DIMS; i++) {
        if ((wide & (1u << i)) == 0) continue;
        if (last != PTO_MAX_DIMS && ((mask >> last) & 1) != ((mask >> i) & 1)) cuts |= 1u << last;
        last = i;
    }
    return cuts;
}

/* The axis of a box that starts at its dim `first`. */
static uint32_t axis_at(uint32_t wide, uint32_t cuts, uint32_t first)
{
    uint32_t axis = 0;
    for (uint32_t bit = first; bit <= wide; bit <<= 1) {
        axis |= bit & wide;
        if ((bit & wide & cuts) != 0) break;
    }
    return axis;
}

/* A box has axes: runs of neighbouring dims that all values treat alike. What is reduced is one of them. */
static void find_box(const fuse_space *s, uint32_t cuts, fuse_nest *nest)
{
    cuts |= cuts_of(s->wide, s->reduced);
    nest->is_box = 1;
    nest->walked = axis_at(s->wide, cuts, lowest(s->reduced != 0 ? s->reduced : s->wide));
    nest->known = s->reduced;
    nest->is_one = !s->reduces_apart && (s->reduced == 0 || nest->walked == s->reduced);
}

fuse_nest fuse_space_nest(const fuse_space *s)
{
    uint32_t rows = s->left, columns = s->reduced, cuts = 0;
    for (uint32_t i = 0; i < FUSE_MASKS / 64; i++) {
        for (uint64_t left = s->varies[i]; left != 0; left &= left - 1) {
            const uint32_t present = 64 * i + (uint32_t)__builtin_ctzll(left), missing = s->wide & ~present;
            cuts |= cuts_of(s->wide, present);
            if (present == 0 || missing == 0) continue;
            rows |= lowest(present) > missing ? present : missing;
            columns |= lowest(present) > missing ? missing : present;
        }
    }
    fuse_nest nest = {.is_one = 1, .known = columns};
    if (rows != 0 && columns != 0 && lowest(rows) <= columns) {
        find_box(s, cuts, &nest);
        return nest;
    }
    if (columns == 0) columns = rows != 0 ? s->wide & (lowest(rows) - 1u) : s->wide & 1u;
    while (nest.walked < columns) nest.walked = 2 * nest.walked + 1;
    nest.walked &= s->wide;
    return nest;
}

int fuse_space_repeats(const fuse_space *from, const fuse_space *to)
{
    uint32_t missing = to->wide & ~from->wide;
    return missing > lowest(from->wide);
}
