/* Index spaces of vector ops, and what nests pto.tile makes of them. */
#include "fuse_plan.h"

int fuse_is_reduction(pto_op op)
{
    return pto_kind_column(op.run, pto_op_kind(op), PTO_COLUMN_SPACE_RULE) == PTO_ITER_REDUCE;
}

int fuse_is_count(pto_op op)
{
    return pto_kind_column(op.run, pto_op_kind(op), PTO_COLUMN_SPACE_RULE) == PTO_ITER_COUNT;
}

int fuse_is_splat(pto_op op)
{
    if (!PTO_SOME(op) || pto_kind_column(op.run, pto_op_kind(op), PTO_COLUMN_SPACE_RULE) != PTO_ITER_FILL) return 0;
    pto_attr value = pto_op_attr(op, PTO_STR("value"));
    pto_attr_kind kind = pto_attr_kind_of(value);
    return !PTO_SOME(value) || kind == PTO_ATTR_INT || kind == PTO_ATTR_FLOAT;
}

static int is_product(pto_op op)
{
    return pto_kind_column(op.run, pto_op_kind(op), PTO_COLUMN_SPACE_RULE) == PTO_ITER_MATMUL;
}

static void note_value(fuse_space *s, uint32_t wide) { s->varies[wide / 64] |= UINT64_C(1) << (wide % 64); }

fuse_space fuse_space_of_op(pto_op op)
{
    const int reduces = fuse_is_reduction(op);
    fuse_space s = {.type = pto_value_type(reduces ? pto_op_operand(op, 0) : pto_op_result(op, 0))};
    s.rank = pto_type_rank(s.type);
    s.wide = s.common = dims_of_type(s.type);
    note_value(&s, s.wide);
    if (is_product(op)) {
        s.product = s.wide;
        return s;
    }
    for (uint32_t k = 0, end = pto_op_operand_count(op); k < end; k++) {
        pto_value operand = pto_op_operand(op, k);
        if (!fuse_is_splat(pto_value_op(operand))) note_value(&s, dims_of_type(pto_value_type(operand)) & s.wide);
    }
    if (!reduces) return s;
    s.reduced = dims_reduced(op);
    s.common = s.wide & ~s.reduced;
    if (s.reduced != 0) s.left = s.common;
    if (pto_attr_bool_of(op, PTO_STR("keepdim"), 1)) note_value(&s, s.common);
    return s;
}

int fuse_space_join(fuse_space *a, const fuse_space *b)
{
    const uint32_t both = a->wide & b->wide, all = a->wide | b->wide;
    if (all != a->wide && all != b->wide) return 0;
    for (uint32_t i = 0; i < PTO_MAX_DIMS; i++) {
        if ((both & (1u << i)) == 0) continue;
        if (!pto_expr_equal(pto_type_dim(a->type, a->rank - 1 - i), pto_type_dim(b->type, b->rank - 1 - i))) return 0;
    }
    a->reduces_apart |= b->reduces_apart | (a->reduced != 0 && b->reduced != 0 && a->reduced != b->reduced);
    a->reduced |= b->reduced;
    a->left |= b->left;
    a->product |= b->product;
    a->common &= b->common;
    for (uint32_t i = 0; i < FUSE_MASKS / 64; i++) a->varies[i] |= b->varies[i];
    if (all == a->wide) return 1;
    a->type = b->type;
    a->rank = b->rank;
    a->wide = all;
    return 1;
}

fuse_nest fuse_space_nest(const fuse_space *s)
{
    dims_space dims = {.wide = s->wide};
    dims_note_reduction(&dims, s->reduced, s->left);
    for (uint32_t i = 0; i < FUSE_MASKS / 64; i++)
        for (uint64_t left = s->varies[i]; left != 0; left &= left - 1)
            dims_note_value(&dims, 64 * i + (uint32_t)__builtin_ctzll(left));
    /* Instances of a product are at rows and columns, and walk neither. */
    if (s->product != 0)
        return (fuse_nest){.is_one = dims_are_split(&dims) && dims_columns(&dims) == 1 && s->wide == s->product &&
                                     s->reduced == 0};
    if (dims_are_split(&dims)) return (fuse_nest){.is_one = 1, .walked = dims_columns(&dims), .known = dims.columns};
    const uint32_t first = dims_axis(&dims, dims_lowest(s->wide)),
                   second = dims_axis(&dims, dims_lowest(s->wide & ~first));
    uint32_t left = s->reduced;
    int is_one = !s->reduces_apart && (first == 0 || second == 0 || ((first | second) & ~s->reduced) != 0);
    while (left != 0 && is_one) {
        const uint32_t axis = dims_axis(&dims, dims_lowest(left));
        is_one = (axis & ~left) == 0;
        left &= ~axis;
    }
    return (fuse_nest){
        .is_one = is_one, .is_box = 1, .walked = s->reduced != 0 ? s->reduced : first, .known = s->reduced};
}

int fuse_space_repeats(const fuse_space *from, const fuse_space *to)
{
    uint32_t missing = to->wide & ~from->wide;
    return missing > dims_lowest(from->wide);
}
