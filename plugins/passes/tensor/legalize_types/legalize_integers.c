/* Ops of integers that the machine lacks, of those that it has. What is made here may need the same again.
 *
 *   u16 u32   in i16 and i32, whose bits they are (tensor.bitcast, which computes nothing). Sums, products and moves
 * are the same there; order is when the highest bit is the other one on both sides. / and %   of 8 and 16 bits: in i32.
 * i32: n is a sum of two quotients in f32, the second one of what the first leaves: that is at most 2^-22 of a and half
 * of b more, so that in the end it is below b; sums wrap to what they are. i64: of three, in the same way. u32: the
 * quotient of a / 2, doubled, is what is wanted or one less; by divisors from 2^31 on it is 0 or 1. u64 by the half, as
 * u32. By 0 it is -1, all bits, as everywhere.
 *   i64 u64   two planes of i32, the low and the high halves. Sums of halves are sums of 16 bits each; of more than
 * 65536 numbers: legalize_sums.c. Products of many numbers: legalize_products.c. */
#include "legalize_types.h"

#include "expand_steps.h"
#include "machine_facts.h"

#include <inttypes.h>

#define CARRY(x, y, sum)                                                            \
    "p = bitwise_and " x " " y "; q = bitwise_or " x " " y "; r = bitwise_not " sum \
    "; q = bitwise_and q r; p = bitwise_or p q; c = shr p 31; "
#define IS_LESS                                                                                                        \
    "h = lt ak bk; s = eq ah bh; f = bitwise_xor al lowest; g = bitwise_xor bl lowest; l = lt f g; l = logical_and s " \
    "l; y = logical_or h l"
#define HALVES(op)                                                                                                     \
    "u = bitwise_and al 65535; v = shr al 16; v = bitwise_and v 65535; s = @" op " u; t = @" op " v; h = @" op " ah; " \
    "m = shl t 16; lo = add s m; " CARRY("s", "m",                                                                     \
                                         "lo") "t = shr t 16; t = bitwise_and t 65535; hi = add h t; hi = sub hi c"
/* Of sums of low halves up to each one, what each adds to the sum of the high ones. */
#define CARRY_OF(sum) \
    "f = bitwise_xor " sum " lowest; g = bitwise_xor al lowest; c = lt f g; c = where c 1 0; h = add ah c; "
#define EXTREME(op, last)                                                                             \
    "m = @" op " ak; e = eq ak m; f = bitwise_xor al lowest; f = where e f " last "; l = @" op " f; " \
    "lo = bitwise_xor l lowest; hk = add m 0"
/* Shifts of the lower half up or the higher one down by m = 32 - n, and by n - 32. */
#define SHIFTS \
    "m = sub 32 bl; m = bitcast:u32 m; n = bitcast:u32 bl; o = sub bl 32; w = bitcast:u32 al; z = bitcast:u32 ah; "

/* Of operands a and b: their halves al ah bl bh; ak and bk are ah and bh in signed order; t is the truth operand. Makes
 * lo and hi, or hk in signed order for hi, or y. */
static const struct {
    const char *name, *formula;
} wide_formulas[] = {
    {"tensor.add", "lo = add al bl; " CARRY("al", "bl", "lo") "hi = add ah bh; hi = sub hi c"},
    {"tensor.sub",
     "n = bitwise_not al; lo = sub al bl; p = bitwise_and n bl; q = bitwise_or n bl; q = bitwise_and q lo; "
     "p = bitwise_or p q; c = shr p 31; hi = sub ah bh; hi = add hi c"},
    {"tensor.neg", "lo = neg al; n = bitwise_not ah; z = eq al 0; c = where z 1 0; hi = add n c"},
    {"tensor.mul",
     "u0 = bitwise_and al 65535; u1 = shr al 16; u1 = bitwise_and u1 65535; v0 = bitwise_and bl 65535; "
     "v1 = shr bl 16; v1 = bitwise_and v1 65535; p = mul u0 v0; q = mul u0 v1; r = mul u1 v0; s = mul u1 v1; "
     "c = shr p 16; c = bitwise_and c 65535; f = bitwise_and q 65535; g = bitwise_and r 65535; c = add c f; "
     "c = add c g; c = shr c 16; f = shr q 16; f = bitwise_and f 65535; g = shr r 16; g = bitwise_and g 65535; "
     "hi = add s f; hi = add hi g; hi = add hi c; f = mul al bh; g = mul ah bl; hi = add hi f; hi = add hi g; "
     "lo = mul al bl"},
    {"tensor.eq", "l = eq al bl; h = eq ah bh; y = logical_and l h"},
    {"tensor.lt", IS_LESS},
    {"tensor.maximum", IS_LESS "; lo = where y bl al; hi = where y bh ah"},
    {"tensor.minimum", IS_LESS "; lo = where y al bl; hi = where y ah bh"},
    {"tensor.where", "lo = where t al bl; hi = where t ah bh"},
    {"tensor.broadcast", "lo = @broadcast al; hi = @broadcast ah"},
    {"tensor.bitwise_and", "lo = bitwise_and al bl; hi = bitwise_and ah bh"},
    {"tensor.bitwise_or", "lo = bitwise_or al bl; hi = bitwise_or ah bh"},
    {"tensor.bitwise_xor", "lo = bitwise_xor al bl; hi = bitwise_xor ah bh"},
    {"tensor.bitwise_not", "lo = bitwise_not al; hi = bitwise_not ah"},
    {"tensor.reduce_sum", HALVES("reduce_sum")},
    {"tensor.cumsum", "lo = @cumsum al; " CARRY_OF("lo") "hi = @cumsum h"},
    {"tensor.reduce_max", EXTREME("reduce_max", "lowest")},
    {"tensor.reduce_min", EXTREME("reduce_min", "highest")},
    {"tensor.shl",
     SHIFTS "lo = shl al bl; d = shr w m; d = bitcast:i32 d; f = shl al o; hi = shl ah bl; hi = bitwise_or hi d; "
            "hi = bitwise_or hi f; g = eq bh 0; lo = where g lo 0; hi = where g hi 0"},
};
static const char cumsum_exclusive[] = "lo = @cumsum al; n = add lo al; " CARRY_OF("n") "hi = @cumsum h";
static const char shr_unsigned[] = SHIFTS
    "j = bitcast:i32 m; e = bitcast:u32 o; lo = shr w n; lo = bitcast:i32 lo; d = shl ah j; f = shr z e; f = "
    "bitcast:i32 f; "
    "lo = bitwise_or lo d; lo = bitwise_or lo f; hi = shr z n; hi = bitcast:i32 hi; g = eq bh 0; lo = where g lo 0; "
    "hi = where g hi 0";
static const char shr_signed[] = SHIFTS "j = bitcast:i32 m; s = shr ah 31; lo = shr w n; lo = bitcast:i32 lo; d = shl "
                                        "ah j; lo = bitwise_or lo d; f = shr ah o; "
                                        "e = lt bl 32; lo = where e lo f; hi = shr ah bl; g = eq bh 0; k = ge bl 0; g "
                                        "= logical_and g k; lo = where g lo s; "
                                        "hi = where g hi s";
static const char divide_u32[] =
    "h = shr a 1; h = bitwise_and h highest; q = div h b; q = add q q; p = mul q b; r = sub a p; f = bitwise_xor r "
    "lowest; "
    "g = bitwise_xor b lowest; e = ge f g; n = add q 1; q = where e n q; f = bitwise_xor a lowest; e = ge f g; "
    "n = where e 1 0; e = lt b 0; q = where e n q; e = eq b 0; where e -1 q";

#define FIRST(type) "w = cast:f32 b; p = cast:f32 a; p = div p w; n = cast:" type " p; t = mul n b; r = sub a t; "
#define NEARER(type) "p = cast:f32 r; p = div p w; k = cast:" type " p; n = add n k; t = mul k b; r = sub r t; "
#define TOWARDS_ZERO                                                                                      \
    "s = bitwise_xor r a; e = lt s 0; z = ne r 0; e = logical_and e z; s = bitwise_xor a b; g = lt s 0; " \
    "k = where g 1 -1; k = where e k 0; n = add n k; t = neg b; t = where g b t; t = where e t 0; r = sub r t; "
/* Quotient n and remainder r of a sign of a, by a divisor other than 0. */
#define DIVIDE_I32 FIRST("i32") NEARER("i32") TOWARDS_ZERO
#define DIVIDE_I64 FIRST("i64") NEARER("i64") NEARER("i64") TOWARDS_ZERO
#define IS_BELOW "s = bitwise_xor r b; e = lt s 0; z = ne r 0; e = logical_and e z; "
#define DIVIDE_U64                                                                                                  \
    "h = shr a 1; x = bitcast:i64 h; y = bitcast:i64 b; q = div x y; q = bitcast:u64 q; q = add q q; p = mul q b; " \
    "r = sub a p; e = ge r b; n = add q 1; q = where e n q; e = ge a b; n = where e 1 0; z = sub y y; g = lt y z; " \
    "q = where g n q; e = eq b 0; m = sub b b; m = bitwise_not m; "
#define REST_U64 DIVIDE_U64 "p = mul q b; r = sub a p; where e m r"
#define QUOTIENT "g = eq b 0; where g -1 n"
#define REMAINDER "g = eq b 0; where g -1 r"
#define MODULO IS_BELOW "t = where e b 0; r = add r t; " REMAINDER
#define FLOOR IS_BELOW "k = where e -1 0; n = add n k; " QUOTIENT
static const struct {
    const char *name, *of_i32, *of_i64, *of_u64;
} quotients[] = {
    {"tensor.div", DIVIDE_I32 QUOTIENT, DIVIDE_I64 QUOTIENT, DIVIDE_U64 "where e m q"},
    {"tensor.fmod", DIVIDE_I32 REMAINDER, DIVIDE_I64 REMAINDER, REST_U64},
    {"tensor.mod", DIVIDE_I32 MODULO, DIVIDE_I64 MODULO, REST_U64},
    {"tensor.floordiv", DIVIDE_I32 FLOOR, DIVIDE_I64 FLOOR, DIVIDE_U64 "where e m q"},
};

static pto_dtype dtype_of(pto_value x) { return pto_type_dtype(pto_value_type(x)); }
static int is_named(pto_op op, const char *name) { return pto_str_is(pto_op_name(op), name); }
static int is_wide(pto_dtype t) { return t == PTO_I64 || t == PTO_U64; }

/* ---- bits of one type as another ---- */

static pto_dtype signed_of(pto_dtype t)
{
    switch (legalize_bits(t)) {
    case 8: return PTO_I8;
    case 16: return PTO_I16;
    case 32: return PTO_I32;
    default: return PTO_I64;
    }
}

static int is_number(pto_value x, int64_t *number)
{
    const pto_op op = pto_value_op(x);
    if (!PTO_SOME(op) || !PTO_IS(op, CONSTANT)) return 0;
    if (pto_attr_kind_of(pto_op_attr(op, PTO_STR("value"))) != PTO_ATTR_INT) return 0;
    *number = pto_attr_int_of(op, PTO_STR("value"), 0);
    return legalize_is_integer(dtype_of(x));
}

static pto_value constant(pto_op op, pto_type type, int64_t number)
{
    pto_spec s = pto_spec_make(op.run, pto_kind(op.run, KIND_CONSTANT));
    const int bits = legalize_bits(pto_type_dtype(type));
    if (bits > 0 && bits < 64) {
        const int64_t above = INT64_C(1) << (bits - 1);
        number = ((number + above) & (2 * above - 1)) - above;
    }
    pto_spec_int(&s, PTO_STR("value"), number);
    pto_spec_result(&s, type);
    pto_spec_name(&s, pto_name_after(op, PTO_STR("_c")));
    return pto_spec_value(&s, pto_before(op));
}

pto_value legalize_reinterpret(pto_op op, pto_value x, pto_dtype to, const char *suffix)
{
    const pto_type type = pto_type_with_dtype(op.run, pto_value_type(x), to);
    const pto_op from = pto_value_op(x);
    int64_t number;
    if (dtype_of(x) == to) return x;
    if (legalize_is_integer(to) && legalize_is_signed(to) && is_number(x, &number)) return constant(op, type, number);
    if (PTO_SOME(from) && PTO_IS(from, BITCAST) && pto_type_same(pto_value_type(pto_op_operand(from, 0)), type))
        return pto_op_operand(from, 0);
    pto_spec s = pto_spec_make(op.run, pto_kind(op.run, KIND_BITCAST));
    pto_spec_operand(&s, x);
    pto_spec_result(&s, type);
    pto_spec_name(&s, pto_name_after(op, pto_s(suffix)));
    return pto_spec_value(&s, pto_before(op));
}

/* ---- planes ---- */

static uint32_t list_dims(pto_type type, pto_expr dims[PTO_MAX_DIMS + 1])
{
    const uint32_t rank = pto_type_rank(type);
    for (uint32_t d = 0; d < rank; d++) dims[d] = pto_type_dim(type, d);
    return rank;
}

static pto_value shaped(pto_op op, pto_value x, uint32_t rank, const pto_expr *dims)
{
    pto_spec s = pto_spec_make(op.run, pto_kind(op.run, KIND_RESHAPE));
    pto_spec_operand(&s, x);
    pto_spec_result(&s, pto_type_tensor(op.run, dtype_of(x), rank, dims));
    pto_spec_name(&s, pto_name_after(op, PTO_STR("_plane")));
    return pto_spec_value(&s, pto_before(op));
}

/* The half of a value that was joined here. */
static pto_value half_of_joined(pto_value x, uint32_t half)
{
    const pto_value none = pto_value_none(x.run);
    const pto_op cast = pto_value_op(x), parts = PTO_SOME(cast) && PTO_IS(cast, BITCAST)
                                                     ? pto_value_op(pto_op_operand(cast, 0))
                                                     : pto_op_none(x.run);
    if (!PTO_SOME(parts) || !PTO_IS(parts, CONCAT) || pto_op_operand_count(parts) != 2) return none;
    const pto_op part = pto_value_op(pto_op_operand(parts, half));
    if (!PTO_SOME(part) || !PTO_IS(part, RESHAPE) || dtype_of(pto_op_result(part, 0)) != PTO_I32) return none;
    const pto_value y = pto_op_operand(part, 0);
    const pto_type want = pto_type_with_dtype(x.run, pto_value_type(x), PTO_I32);
    return pto_type_same(pto_value_type(y), want) ? y : none;
}

pto_value legalize_half_of(pto_op op, pto_value x, uint32_t half)
{
    const pto_run *run = op.run;
    pto_expr dims[PTO_MAX_DIMS + 1], offsets[PTO_MAX_DIMS + 1];
    const uint32_t rank = list_dims(pto_value_type(x), dims);
    int64_t number;
    if (is_number(x, &number))
        return constant(op, pto_type_with_dtype(run, pto_value_type(x), PTO_I32), half ? number >> 32 : number);
    const pto_value known = half_of_joined(x, half);
    if (PTO_SOME(known)) return known;
    dims[rank] = pto_expr_const(run, 2);
    pto_spec both = pto_spec_make(run, pto_kind(run, KIND_BITCAST));
    pto_spec_operand(&both, x);
    pto_spec_result(&both, pto_type_tensor(run, PTO_I32, rank + 1, dims));
    pto_spec_name(&both, pto_name_after(op, PTO_STR("_halves")));
    const pto_value halves = pto_spec_value(&both, pto_before(op));
    for (uint32_t d = 0; d < rank; d++) offsets[d] = pto_expr_const(run, 0);
    offsets[rank] = pto_expr_const(run, half);
    dims[rank] = pto_expr_const(run, 1);
    pto_spec s = pto_spec_make(run, pto_kind(run, KIND_VIEW));
    pto_spec_operand(&s, halves);
    pto_spec_exprs(&s, PTO_STR("offsets"), rank + 1, offsets);
    pto_spec_result(&s, pto_type_tensor(run, PTO_I32, rank + 1, dims));
    pto_spec_name(&s, pto_name_after(op, PTO_STR("_half")));
    const pto_value view = pto_spec_value(&s, pto_before(op));
    return shaped(op, view, rank, dims);
}

pto_value legalize_join(pto_op op, pto_value low, pto_value high, pto_dtype to)
{
    const pto_run *run = op.run;
    pto_expr dims[PTO_MAX_DIMS + 1];
    const uint32_t rank = list_dims(pto_value_type(low), dims);
    dims[rank] = pto_expr_const(run, 1);
    pto_spec s = pto_spec_make(run, pto_kind(run, KIND_CONCAT));
    pto_spec_operand(&s, shaped(op, low, rank + 1, dims));
    pto_spec_operand(&s, shaped(op, high, rank + 1, dims));
    pto_spec_int(&s, PTO_STR("axis"), rank);
    dims[rank] = pto_expr_const(run, 2);
    pto_spec_result(&s, pto_type_tensor(run, PTO_I32, rank + 1, dims));
    pto_spec_name(&s, pto_name_after(op, PTO_STR("_halves")));
    const pto_value halves = pto_spec_value(&s, pto_before(op));
    pto_spec whole = pto_spec_make(run, pto_kind(run, KIND_BITCAST));
    pto_spec_operand(&whole, halves);
    pto_spec_result(&whole, pto_type_tensor(run, to, rank, dims));
    pto_spec_name(&whole, pto_name_after(op, PTO_STR("")));
    return pto_spec_value(&whole, pto_before(op));
}

static pto_value flipped(pto_op op, pto_value x)
{
    const expand_operand given = {"x", x};
    return expand_formula(op, "flip = bitwise_xor x lowest", pto_value_type(x), dtype_of(x), 1, &given, 0, NULL);
}

/* Sums of 16 bits that stay below 2^32. */
static int adds_few(pto_op op)
{
    const pto_type type = pto_value_type(pto_op_operand(op, 0));
    const uint32_t rank = pto_type_rank(type), along = pto_axes_of(op, rank);
    int64_t count = 1;
    for (uint32_t d = 0; d < rank; d++) {
        const int64_t most = pto_expr_range(pto_type_dim(type, d), op, NULL).hi;
        if ((along >> d & 1) == 0) continue;
        if (most < 0 || most > 65536 || count * most > 65536) return 0;
        count *= most;
    }
    return 1;
}

static const char *wide_formula(pto_op op, pto_dtype t)
{
    if (is_named(op, "tensor.shr")) return t == PTO_U64 ? shr_unsigned : shr_signed;
    const int64_t rule = pto_kind_column(op.run, pto_op_kind(op), PTO_COLUMN_SPACE_RULE);
    const int adds = is_named(op, "tensor.reduce_sum");
    if (is_named(op, "tensor.cumsum") && pto_attr_bool_of(op, PTO_STR("exclusive"), 0)) return cumsum_exclusive;
    if (adds && !adds_few(op)) return NULL;
    if (rule == PTO_ITER_REDUCE && !pto_attr_bool_of(op, PTO_STR("keepdim"), 1) && !adds) return NULL;
    for (size_t i = 0; i < sizeof wide_formulas / sizeof *wide_formulas; i++)
        if (is_named(op, wide_formulas[i].name)) return wide_formulas[i].formula;
    return NULL;
}

/* A reduction along one dim after the other, and a reshape if it does not keep them. */
static pto_value dim_by_dim(pto_op op)
{
    const pto_run *run = op.run;
    pto_value x = pto_op_operand(op, 0);
    pto_expr dims[PTO_MAX_DIMS + 1];
    const uint32_t rank = list_dims(pto_value_type(x), dims), along = pto_axes_of(op, rank);
    for (uint32_t d = 0; d < rank && PTO_SOME(x); d++) {
        const int64_t axis = d;
        if ((along >> d & 1) == 0) continue;
        dims[d] = pto_expr_const(run, 1);
        pto_spec s = pto_spec_make(run, pto_op_kind(op));
        pto_spec_operand(&s, x);
        pto_spec_ints(&s, PTO_STR("axis"), 1, &axis);
        pto_spec_result(&s, pto_type_tensor(run, dtype_of(x), rank, dims));
        pto_spec_name(&s, pto_name_after(op, PTO_STR("_kept")));
        x = pto_spec_value(&s, pto_before(op));
    }
    if (!PTO_SOME(x) || pto_attr_bool_of(op, PTO_STR("keepdim"), 1)) return x;
    const uint32_t left = list_dims(pto_value_type(pto_op_result(op, 0)), dims);
    return shaped(op, x, left, dims);
}

/* Whether it is along one dim, which stays; and which. */
static int is_simple_reduction(pto_op op, uint32_t *axis)
{
    const uint32_t along = pto_axes_of(op, pto_type_rank(pto_value_type(pto_op_operand(op, 0))));
    if (along == 0 || (along & (along - 1)) != 0 || !pto_attr_bool_of(op, PTO_STR("keepdim"), 1)) return 0;
    for (*axis = 0; (along >> *axis & 1) == 0;) ++*axis;
    return 1;
}

/* A sum of more numbers than the 16 bits of each leave bits for. */
static pto_value many_summed(pto_op op)
{
    uint32_t axis;
    if (pto_type_rank(pto_value_type(pto_op_operand(op, 0))) >= PTO_MAX_DIMS) return pto_value_none(op.run);
    if (!is_simple_reduction(op, &axis)) return dim_by_dim(op);
    return legalize_sum(op, axis);
}

static pto_value many_multiplied(pto_op op)
{
    uint32_t axis;
    return is_simple_reduction(op, &axis) ? legalize_product(op, axis) : dim_by_dim(op);
}

static pto_value in_planes(pto_op op, pto_dtype t)
{
    static const char *const names[2][3] = {{"al", "ah", "ak"}, {"bl", "bh", "bk"}};
    const char *formula = wide_formula(op, t);
    const pto_value none = pto_value_none(op.run), result = pto_op_result(op, 0);
    expand_operand given[7], made[] = {{"lo", none}, {"hi", none}, {"hk", none}};
    uint32_t n = 0, k = 0;
    if (formula == NULL) {
        if (is_named(op, "tensor.reduce_sum")) return many_summed(op);
        if (is_named(op, "tensor.reduce_prod")) return many_multiplied(op);
        if (is_named(op, "tensor.cumprod")) return legalize_products_up_to(op);
        return is_named(op, "tensor.reduce_max") || is_named(op, "tensor.reduce_min") ? dim_by_dim(op) : none;
    }
    if (pto_type_rank(pto_value_type(result)) >= PTO_MAX_DIMS) return none;
    for (uint32_t i = 0, end = pto_op_operand_count(op); i < end; i++) {
        const pto_value x = pto_op_operand(op, i);
        if (dtype_of(x) == PTO_BOOL) {
            given[n++] = (expand_operand){"t", x};
            continue;
        }
        if (k == 2 || pto_type_rank(pto_value_type(x)) >= PTO_MAX_DIMS) return none;
        const pto_value high = legalize_half_of(op, x, 1);
        given[n++] = (expand_operand){names[k][0], legalize_half_of(op, x, 0)};
        given[n++] = (expand_operand){names[k][1], high};
        if (strstr(formula, names[k][2]) != NULL)
            given[n++] = (expand_operand){names[k][2], t == PTO_U64 ? flipped(op, high) : high};
        k++;
    }
    const int reduces = pto_kind_column(op.run, pto_op_kind(op), PTO_COLUMN_SPACE_RULE) == PTO_ITER_REDUCE;
    const pto_type all = pto_value_type(reduces ? pto_op_operand(op, 0) : result);
    const pto_value y = expand_formula(op, formula, all, PTO_I32, n, given, 3, made);
    if (!PTO_SOME(y) || dtype_of(result) == PTO_BOOL) return y;
    if (PTO_SOME(made[2].value)) made[1].value = t == PTO_U64 ? flipped(op, made[2].value) : made[2].value;
    return legalize_join(op, made[0].value, made[1].value, t);
}

/* ---- sums at indices ---- */

/* How often an element may be added to. What tensor.scatter adds stays in its line along the axis. */
static int adds_few_at(pto_op op, uint32_t index)
{
    const pto_type type = pto_value_type(pto_op_operand(op, index));
    const int64_t rank = pto_type_rank(type), given = pto_attr_int_of(op, PTO_STR("axis"), 0);
    const int64_t axis = given < 0 ? given + rank : given;
    int64_t count = 1;
    for (uint32_t d = 0; d < rank; d++) {
        const int64_t most = pto_expr_range(pto_type_dim(type, d), op, NULL).hi;
        if (is_named(op, "tensor.scatter") && d != axis) continue;
        if (most < 0 || most > 65535 || count * most > 65535) return 0;
        count *= most;
    }
    return 1;
}

/* The factor of what is added, as an op of its own. */
static pto_value without_factor(pto_op op, int64_t factor)
{
    const pto_run *run = op.run;
    const pto_value x = pto_op_operand(op, 2);
    const pto_value c = constant(op, pto_type_tensor(run, dtype_of(x), 0, NULL), factor);
    const pto_value y = pto_make2(run, pto_before(op), pto_kind(run, KIND_MUL), pto_value_type(x), x, c);
    pto_spec s = pto_spec_make(run, pto_op_kind(op));
    pto_spec_operand(&s, pto_op_operand(op, 0));
    pto_spec_operand(&s, pto_op_operand(op, 1));
    pto_spec_operand(&s, y);
    pto_spec_attrs_of(&s, op);
    pto_spec_int(&s, PTO_STR("alpha"), 1);
    pto_spec_result(&s, pto_value_type(pto_op_result(op, 0)));
    pto_spec_name(&s, pto_name_after(op, PTO_STR("")));
    return pto_spec_value(&s, pto_before(op));
}

static int is_sum_at(pto_op op)
{
    return PTO_IS(op, INDEX_ADD) || pto_str_is(pto_attr_str_of(op, PTO_STR("reduce")), "add") ||
           pto_attr_bool_of(op, PTO_STR("accumulate"), 0);
}

/* As sums: 16 bits of each. */
static pto_value sums_at(pto_op op, pto_dtype t)
{
    static const char *const names[] = {"i0", "i1", "i2", "i3", "i4", "i5", "i6", "i7"};
    const uint32_t count = pto_op_operand_count(op), values = is_named(op, "tensor.index_put") ? 1 : 2;
    const pto_value none = pto_value_none(op.run), x = pto_op_operand(op, 0), y = pto_op_operand(op, values);
    expand_operand given[12], made[] = {{"lo", none}, {"hi", none}};
    char calls[3][64], text[1024];
    static const char *const parts[3][2] = {{"u", "p"}, {"v", "q"}, {"ah", "bh"}};
    uint32_t n = 0;
    const pto_attr alpha = pto_op_attr(op, PTO_STR("alpha"));
    if (pto_str_is(pto_attr_str_of(op, PTO_STR("reduce")), "mul")) return legalize_products_at(op);
    if (!is_sum_at(op) || count > 7) return none;
    if (!adds_few_at(op, values == 1 ? 2 : 1))
        return legalize_sums_at(op, values, values == 1 ? 2 : 1, is_named(op, "tensor.scatter"));
    if (PTO_SOME(alpha) && pto_attr_kind_of(alpha) != PTO_ATTR_INT) return none;
    if (pto_attr_int_of(op, PTO_STR("alpha"), 1) != 1)
        return without_factor(op, pto_attr_int_of(op, PTO_STR("alpha"), 1));
    given[n++] = (expand_operand){"al", legalize_half_of(op, x, 0)};
    given[n++] = (expand_operand){"ah", legalize_half_of(op, x, 1)};
    given[n++] = (expand_operand){"bl", legalize_half_of(op, y, 0)};
    given[n++] = (expand_operand){"bh", legalize_half_of(op, y, 1)};
    for (uint32_t i = 1; i < count; i++)
        if (i != values) given[n++] = (expand_operand){names[i], pto_op_operand(op, i)};
    for (uint32_t k = 0; k < 3; k++) {
        int used = snprintf(calls[k], sizeof calls[k], "%s", parts[k][0]);
        for (uint32_t i = 1; i < count; i++)
            used +=
                snprintf(calls[k] + used, sizeof calls[k] - (size_t)used, " %s", i == values ? parts[k][1] : names[i]);
    }
    const pto_str name = pto_op_name(op);
    const int length = (int)name.n - 7;
    (void)snprintf(text, sizeof text,
                   "u = bitwise_and al 65535; v = shr al 16; v = bitwise_and v 65535; p = bitwise_and bl 65535; "
                   "q = shr bl 16; q = bitwise_and q 65535; s = @%.*s:i32 %s; t = @%.*s:i32 %s; h = @%.*s:i32 %s; "
                   "m = shl t 16; lo = add s m; " CARRY("s", "m", "lo") "t = shr t 16; t = bitwise_and t 65535; "
                                                                        "hi = add h t; hi = sub hi c",
                   length, name.p + 7, calls[0], length, name.p + 7, calls[1], length, name.p + 7, calls[2]);
    const pto_value last = expand_formula(op, text, pto_value_type(pto_op_result(op, 0)), PTO_I32, n, given, 2, made);
    return PTO_SOME(last) ? legalize_join(op, made[0].value, made[1].value, t) : last;
}

/* ---- unsigned as signed ---- */

static int is_ordered(pto_op op)
{
    static const char *const names[] = {"tensor.lt",      "tensor.le",      "tensor.gt",         "tensor.ge",
                                        "tensor.maximum", "tensor.minimum", "tensor.reduce_max", "tensor.reduce_min"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (is_named(op, names[i])) return 1;
    return 0;
}

static int moves_bits(pto_op op)
{
    return PTO_IS(op, BROADCAST) || is_named(op, "tensor.where") || is_named(op, "tensor.eq") || PTO_IS(op, NE);
}

static pto_value as_signed(pto_op op, pto_dtype t, pto_dtype twin)
{
    const pto_run *run = op.run;
    const int flips = is_ordered(op), is_truth = dtype_of(pto_op_result(op, 0)) == PTO_BOOL;
    pto_spec s = pto_spec_make(run, pto_op_kind(op));
    for (uint32_t i = 0, end = pto_op_operand_count(op); i < end; i++) {
        pto_value x = pto_op_operand(op, i);
        if (dtype_of(x) == t) {
            x = legalize_reinterpret(op, x, twin, "_bits");
            if (flips) x = flipped(op, x);
        }
        pto_spec_operand(&s, x);
    }
    pto_spec_attrs_of(&s, op);
    pto_spec_result(&s, pto_type_with_dtype(run, pto_value_type(pto_op_result(op, 0)), is_truth ? PTO_BOOL : twin));
    pto_spec_name(&s, pto_name_after(op, pto_s(is_truth ? "" : "_signed")));
    const pto_value y = pto_spec_value(&s, pto_before(op));
    if (!PTO_SOME(y) || is_truth) return y;
    return legalize_reinterpret(op, flips ? flipped(op, y) : y, t, "");
}

/* ---- operands of other shapes ---- */

static int is_repeated(pto_op op, pto_dtype t, uint32_t i)
{
    const pto_value x = pto_op_operand(op, i);
    const pto_op from = pto_value_op(x);
    const pto_type result = pto_value_type(pto_op_result(op, 0));
    return dtype_of(x) == t && !(PTO_SOME(from) && PTO_IS(from, CONSTANT)) &&
           !pto_type_same(pto_type_with_dtype(op.run, pto_value_type(x), pto_type_dtype(result)), result);
}

int legalize_must_spread(pto_op op, pto_dtype t)
{
    if (t != PTO_U16 && t != PTO_U32) return 0;
    if (pto_kind_column(op.run, pto_op_kind(op), PTO_COLUMN_SPACE_RULE) != PTO_ITER_ELEMENTWISE) return 0;
    if (machine_takes(op.run, pto_kind_by_name(op.run, PTO_STR("tile.add")), t)) return 0;
    for (uint32_t i = 0, end = pto_op_operand_count(op); i < end; i++)
        if (is_repeated(op, t, i)) return 1;
    return 0;
}

pto_value legalize_spread(pto_op op, pto_dtype t)
{
    const pto_run *run = op.run;
    const pto_type result = pto_value_type(pto_op_result(op, 0));
    pto_spec s = pto_spec_make(run, pto_op_kind(op));
    for (uint32_t i = 0, end = pto_op_operand_count(op); i < end; i++) {
        pto_value x = pto_op_operand(op, i);
        if (is_repeated(op, t, i)) {
            const pto_value bits = legalize_reinterpret(op, x, signed_of(t), "_bits");
            const pto_value all = pto_make1(run, pto_before(op), pto_kind(run, KIND_BROADCAST),
                                            pto_type_with_dtype(run, result, signed_of(t)), bits);
            x = PTO_SOME(all) ? legalize_reinterpret(op, all, t, "_all") : all;
        }
        pto_spec_operand(&s, x);
    }
    pto_spec_attrs_of(&s, op);
    pto_spec_result(&s, result);
    pto_spec_name(&s, pto_name_after(op, PTO_STR("")));
    return pto_spec_value(&s, pto_before(op));
}

/* ---- quotients ---- */

static int divides(pto_op op)
{
    return is_named(op, "tensor.div") || is_named(op, "tensor.mod") || is_named(op, "tensor.fmod") ||
           is_named(op, "tensor.floordiv");
}

static pto_value formula_of(pto_op op, const char *text, pto_dtype numbers, pto_value a, pto_value b)
{
    const expand_operand given[] = {{"a", a}, {"b", b}};
    return expand_formula(op, text, pto_value_type(pto_op_result(op, 0)), numbers, PTO_SOME(b) ? 2 : 1, given, 0, NULL);
}

static pto_value divided(pto_op op, pto_dtype t)
{
    char text[96];
    const pto_value a = pto_op_operand(op, 0), b = pto_op_operand(op, 1);
    const int is_div = is_named(op, "tensor.div");
    if (legalize_bits(t) < 32) {
        const pto_str name = pto_op_name(op);
        (void)snprintf(text, sizeof text, "p = cast:i32 a; q = cast:i32 b; y = %.*s p q; cast:%s y", (int)name.n - 7,
                       name.p + 7, pto_dtype_name(t));
        return formula_of(op, text, PTO_I32, a, b);
    }
    for (size_t i = 0; t != PTO_U32 && i < sizeof quotients / sizeof *quotients; i++) {
        const char *const formula = t == PTO_I32   ? quotients[i].of_i32
                                    : t == PTO_I64 ? quotients[i].of_i64
                                                   : quotients[i].of_u64;
        if (is_named(op, quotients[i].name)) return formula_of(op, formula, t, a, b);
    }
    if (t != PTO_U32) return pto_value_none(op.run);
    if (is_named(op, "tensor.floordiv")) return formula_of(op, "div a b", t, a, b);
    if (!is_div)
        return formula_of(op, "q = div a b; p = mul q b; y = sub a p; e = eq b 0; where e 4294967295 y", t, a, b);
    const pto_value x = legalize_reinterpret(op, a, PTO_I32, "_bits"),
                    y = legalize_reinterpret(op, b, PTO_I32, "_bits");
    const pto_value q = formula_of(op, divide_u32, PTO_I32, x, y);
    return PTO_SOME(q) ? legalize_reinterpret(op, q, t, "") : q;
}

/* ---- */

/* ---- shifts ---- */

static int shifts(pto_op op) { return is_named(op, "tensor.shl") || is_named(op, "tensor.shr"); }

/* A number from 0 to the width less one, or what is left of the last bits of another one. */
static int is_below_width(pto_value b, pto_dtype t)
{
    const pto_op made = pto_value_op(b);
    int64_t number;
    if (is_number(b, &number)) return number >= 0 && number < legalize_bits(t);
    if (!PTO_SOME(made) || !is_named(made, "tensor.bitwise_and")) return 0;
    for (uint32_t i = 0; i < 2; i++)
        if (is_number(pto_op_operand(made, i), &number) && number >= 0 && number < legalize_bits(t)) return 1;
    return 0;
}

int legalize_must_limit(pto_op op, pto_dtype t)
{
    return shifts(op) && machine_takes(op.run, machine_tile_kind(op.run, pto_op_kind(op)), t) &&
           machine_below_width(op.run, machine_tile_kind(op.run, pto_op_kind(op))) &&
           !is_below_width(pto_op_operand(op, 1), t);
}

/* By the last bits of the amount, where these are all of it. */
static pto_value limited(pto_op op, pto_dtype t)
{
    char text[128];
    const int most = legalize_bits(t) - 1, is_left = is_named(op, "tensor.shl");
    if (is_left || legalize_is_unsigned(t))
        (void)snprintf(text, sizeof text, "c = bitwise_and b %d; y = %s a c; e = eq b c; where e y 0", most,
                       is_left ? "shl" : "shr");
    else
        (void)snprintf(text, sizeof text, "c = bitwise_and b %d; y = shr a c; z = shr a %d; e = eq b c; where e y z",
                       most, most);
    return formula_of(op, text, t, pto_op_operand(op, 0), pto_op_operand(op, 1));
}

/* Ops whose own formula serves. */
static int has_formula(pto_op op)
{
    static const char *const names[] = {"tensor.sign",        "tensor.clip",       "tensor.logical_not",
                                        "tensor.logical_and", "tensor.logical_or", "tensor.le",
                                        "tensor.gt",          "tensor.ge",         "tensor.ne"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (is_named(op, names[i])) return expand_has_steps(op);
    return 0;
}

int legalize_must_divide(pto_op op, pto_dtype t)
{
    if (pto_op_result_count(op) == 0) return 0;
    return is_named(op, "tensor.floordiv") && t == PTO_I32 &&
           !machine_takes(op.run, machine_tile_kind(op.run, pto_kind_by_name(op.run, PTO_STR("tensor.div"))), t);
}

/* Unsigned types of 16 and 32 bits: what only moves bits, wraps or is ordered, in the signed type. */
static pto_value as_signed_if_same(pto_op op, pto_dtype t)
{
    const int is_same = moves_bits(op) || pto_kind_has(op.run, pto_op_kind(op), PTO_TRAIT_WRAPS);
    if ((t != PTO_U16 && t != PTO_U32) || (!is_same && !is_ordered(op))) return pto_value_none(op.run);
    return as_signed(op, t, signed_of(t));
}

pto_value legalize_integer_op(pto_op op, pto_dtype t)
{
    const pto_value none = pto_value_none(op.run), a = pto_op_operand(op, 0);
    if (pto_dtype_is_byte_float(t)) return PTO_IS(op, BROADCAST) ? as_signed(op, t, PTO_U8) : none;
    if (!legalize_is_integer(t)) return none;
    if (divides(op)) return divided(op, t);
    if (legalize_must_limit(op, t)) return limited(op, t);
    if (has_formula(op) && (is_wide(t) || !is_ordered(op))) return expand_steps(op);
    if (is_named(op, "tensor.relu")) return legalize_is_unsigned(t) ? a : formula_of(op, "maximum a 0", t, a, none);
    if (PTO_IS(op, ABS)) return legalize_is_unsigned(t) ? a : formula_of(op, "n = neg a; maximum a n", t, a, none);
    if (is_wide(t) && pto_kind_column(op.run, pto_op_kind(op), PTO_COLUMN_SPACE_RULE) == PTO_ITER_INDEXED)
        return sums_at(op, t);
    if (is_wide(t)) return in_planes(op, t);
    return as_signed_if_same(op, t);
}

/* ---- casts ---- */

static pto_value cast_formula(pto_op op, const char *text, pto_dtype numbers, pto_value x)
{
    return formula_of(op, text, numbers, x, pto_value_none(op.run));
}

/* The cast, with its attributes, of a value that has other bits. */
static pto_value cast_of(pto_op op, pto_value x)
{
    char text[32];
    const pto_dtype to = dtype_of(pto_op_result(op, 0));
    if (!PTO_SOME(x) || dtype_of(x) == to) return x;
    (void)snprintf(text, sizeof text, "@cast:%s a", pto_dtype_name(to));
    return cast_formula(op, text, PTO_I32, x);
}

/* Twice the half, whose last bit says that bits are gone, where the highest bit is set. In f16 the half alone: it is
 * beyond all numbers already, and twice the largest one, which the cast may saturate to, would be infinity. */
static pto_value unsigned_to_float(pto_op op, pto_value x, pto_dtype to)
{
    char text[256];
    const pto_dtype from = dtype_of(x);
    const char *f = pto_dtype_name(to), *i = pto_dtype_name(signed_of(from));
    (void)snprintf(text, sizeof text,
                   "h = shr a 1; o = bitwise_and a 1; h = bitwise_or h o; h = bitcast:%s h; q = @cast:%s h; "
                   "%ss = bitcast:%s a; p = @cast:%s s",
                   i, f, to == PTO_F16 ? "" : "q = add q q; ", i, f);
    expand_operand given = {"a", x}, made[] = {{"q", x}, {"p", x}, {"s", x}};
    const pto_type all = pto_value_type(pto_op_result(op, 0));
    if (!PTO_SOME(expand_formula(op, text, all, from, 1, &given, 3, made))) return pto_value_none(op.run);
    const expand_operand parts[] = {{"two", made[0].value}, {"one", made[1].value}, {"s", made[2].value}};
    return expand_formula(op, "g = lt s 0; where g two one", all, signed_of(from), 3, parts, 0, NULL);
}

static pto_value cast_from_u32(pto_op op, pto_value x, pto_dtype to, int saturate)
{
    if (pto_dtype_is_float(to)) return unsigned_to_float(op, x, to);
    const pto_value bits = legalize_reinterpret(op, x, PTO_I32, "_bits");
    if (is_wide(to)) return legalize_join(op, bits, cast_formula(op, "sub a a", PTO_I32, bits), to);
    return cast_of(op, saturate ? cast_formula(op, "g = lt a 0; where g highest a", PTO_I32, bits) : bits);
}

static pto_value cast_from_i32(pto_op op, pto_value x, pto_dtype to, int saturate)
{
    if (to == PTO_U16) {
        const char *text = saturate ? "n = maximum a 0; n = minimum n 65535; cast:i16 n" : "cast:i16 a";
        return legalize_reinterpret(op, cast_formula(op, text, PTO_I32, x), to, "");
    }
    if (to != PTO_U32 && to != PTO_U64) return pto_value_none(op.run);
    const pto_value low = saturate ? cast_formula(op, "maximum a 0", PTO_I32, x) : x;
    return legalize_reinterpret(op, to == PTO_U32 ? low : cast_formula(op, "cast:i64 a", PTO_I32, low), to, "");
}

/* Of 64 bits, limited to a type of 32 bits at most. */
static pto_value clamped_half(pto_op op, pto_value x, pto_dtype to)
{
    char text[128];
    const int is_signed = legalize_is_signed(to);
    const int64_t highest = (INT64_C(1) << (legalize_bits(to) - is_signed)) - 1, lowest = is_signed ? -highest - 1 : 0;
    if (dtype_of(x) == PTO_U64)
        (void)snprintf(text, sizeof text, "y = minimum a %" PRId64, highest);
    else
        (void)snprintf(text, sizeof text, "n = maximum a %" PRId64 "; y = minimum n %" PRId64, lowest, highest);
    const pto_value within = cast_formula(op, text, dtype_of(x), x);
    if (!PTO_SOME(within)) return within;
    const pto_value half = legalize_half_of(op, within, 0);
    return to == PTO_U32 ? legalize_reinterpret(op, half, to, "") : cast_of(op, half);
}

static pto_value cast_from_wide(pto_op op, pto_value x, pto_dtype to, int saturate)
{
    const pto_dtype from = dtype_of(x);
    if (pto_dtype_is_float(to)) return from == PTO_U64 ? unsigned_to_float(op, x, to) : pto_value_none(op.run);
    if (saturate && !is_wide(to)) return clamped_half(op, x, to);
    if (saturate && from == PTO_I64)
        return legalize_reinterpret(op, cast_formula(op, "y = maximum a 0", from, x), to, "");
    if (saturate) {
        const pto_value bits = legalize_reinterpret(op, x, PTO_I64, "_bits");
        return cast_formula(op, "m = bitwise_not lowest; e = lt a 0; where e m a", PTO_I64, bits);
    }
    return is_wide(to) ? legalize_reinterpret(op, x, to, "") : cast_of(op, legalize_half_of(op, x, 0));
}

/* Limited to u32 or u64. From 2^63 on f32 has whole numbers alone. */
static pto_value clamped_whole(pto_op op, pto_value x, pto_dtype to)
{
    if (to == PTO_U32) return cast_formula(op, "n = @cast:i64 a; @cast:u32 n", PTO_I64, x);
    const expand_operand given = {"a", x};
    expand_operand parts[] = {{"n", x}, {"o", x}, {"g", x}};
    const pto_type all = pto_value_type(pto_op_result(op, 0));
    const pto_value last = expand_formula(op,
                                          "o = @cast:i64 a; n = sub a 9223372036854775808; n = @cast:i64 n; "
                                          "g = ge a 9223372036854775808",
                                          all, PTO_F32, 1, &given, 3, parts);
    if (!PTO_SOME(last)) return last;
    const pto_value y = expand_formula(op, "o = maximum o 0; n = bitwise_xor n lowest; y = where g n o", all, PTO_I64,
                                       3, parts, 0, NULL);
    return PTO_SOME(y) ? legalize_reinterpret(op, y, to, "") : y;
}

/* What is not finite has all bits. */
static pto_value cast_from_float(pto_op op, pto_value x, pto_dtype to, int saturate)
{
    if (dtype_of(x) != PTO_F32) return cast_of(op, cast_formula(op, "cast:f32 a", PTO_F32, x));
    if (saturate && to == PTO_U16) return cast_of(op, cast_formula(op, "@cast:i32 a", PTO_I32, x));
    if (saturate) return clamped_whole(op, x, to);
    const char *text = to == PTO_U64 ? "d = sub a a; g = ne d d; y = @cast:i64 a; where g -1 y"
                                     : "d = sub a a; g = ne d d; y = @cast:i32 a; where g -1 y";
    const pto_value whole = cast_formula(op, text, to == PTO_U64 ? PTO_I64 : PTO_I32, x);
    return PTO_SOME(whole) ? cast_of(op, whole) : whole;
}

pto_value legalize_integer_cast(pto_op op)
{
    const pto_value x = pto_op_operand(op, 0), none = pto_value_none(op.run);
    const pto_dtype from = dtype_of(x), to = dtype_of(pto_op_result(op, 0));
    const int saturate = pto_attr_bool_of(op, PTO_STR("saturate"), 0);
    const int is_16_or_more = to == PTO_U16 || to == PTO_U32 || to == PTO_U64;
    if (pto_type_rank(pto_value_type(x)) >= PTO_MAX_DIMS && (is_wide(from) || is_wide(to))) return none;
    if (from == PTO_U16) {
        const pto_value bits = legalize_reinterpret(op, x, PTO_I16, "_bits");
        return cast_of(op, cast_formula(op, "n = cast:i32 a; bitwise_and n 65535", PTO_I32, bits));
    }
    if (from == PTO_U32) return cast_from_u32(op, x, to, saturate);
    if (from == PTO_I32) return cast_from_i32(op, x, to, saturate);
    if (is_wide(from)) return cast_from_wide(op, x, to, saturate);
    if (pto_dtype_is_float(from) && !pto_dtype_is_byte_float(from))
        return is_16_or_more ? cast_from_float(op, x, to, saturate) : none;
    if ((from == PTO_BOOL || legalize_is_integer(from)) && to != PTO_I32)
        return cast_of(op, cast_formula(op, "cast:i32 a", PTO_I32, x));
    return none;
}
