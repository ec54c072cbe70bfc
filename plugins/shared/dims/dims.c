#include "dims.h"

uint32_t dims_of_type(pto_type type)
{
    const uint32_t rank = pto_type_rank(type);
    uint32_t wide = 0;
    for (uint32_t i = 0; i < rank; i++) {
        int64_t extent = 0;
        if (!pto_dim_is_const(type, rank - 1 - i, &extent) || extent != 1) wide |= 1u << i;
    }
    return wide;
}

uint32_t dims_reduced(pto_op op)
{
    const pto_type type = pto_value_type(pto_op_operand(op, 0));
    const uint32_t rank = pto_type_rank(type);
    const pto_attr axes = pto_op_attr(op, PTO_STR("axis"));
    const int is_list = pto_attr_kind_of(axes) == PTO_ATTR_LIST;
    const uint32_t count = is_list ? pto_attr_count(axes) : 1;
    uint32_t mask = 0;
    for (uint32_t i = 0; i < count; i++) {
        int64_t axis = pto_attr_i64(is_list ? pto_attr_item(axes, i, NULL) : axes);
        if (axis < 0) axis += rank;
        if (axis >= 0 && axis < (int64_t)rank) mask |= 1u << (rank - 1 - (uint32_t)axis);
    }
    return mask & dims_of_type(type);
}

/* Where neighbouring wide dims differ in `mask`. */
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

void dims_note_value(dims_space *s, uint32_t present)
{
    const uint32_t missing = s->wide & ~present;
    present &= s->wide;
    s->cuts |= cuts_of(s->wide, present);
    if (present == 0 || missing == 0) return;
    s->rows |= dims_lowest(present) > missing ? present : missing;
    s->columns |= dims_lowest(present) > missing ? missing : present;
}

void dims_note_reduction(dims_space *s, uint32_t reduced, uint32_t left)
{
    if (reduced == 0) return;
    s->reduces_apart |= s->reduced != 0 && s->reduced != reduced;
    s->reduced |= reduced;
    s->cuts |= cuts_of(s->wide, reduced);
    s->columns |= reduced;
    s->rows |= left;
}

int dims_are_split(const dims_space *s) { return s->rows == 0 || s->columns == 0 || dims_lowest(s->rows) > s->columns; }

uint32_t dims_columns(const dims_space *s)
{
    uint32_t columns = s->columns, all = 0;
    if (columns == 0) columns = s->rows != 0 ? dims_lowest(s->rows) - 1u : 1u;
    /* What lies between columns and rows is columns. */
    while (all < (columns & s->wide)) all = 2 * all + 1;
    return all & s->wide;
}

uint32_t dims_axis(const dims_space *s, uint32_t first)
{
    uint32_t axis = 0;
    for (uint32_t bit = first; bit != 0 && bit <= s->wide; bit <<= 1) {
        axis |= bit & s->wide;
        if ((bit & s->wide & s->cuts) != 0) break;
    }
    return axis;
}
