/* pto.decompose-sort: rows for the instructions that sort; or each element finds its place in the order, as the number
 * of elements that stand before it.
 *
 *     %y, %i = tensor.topk %x {axis = 0}     =>    the same of rows of f32, with places in i32
 *
 * where the machine has `tile.sort32`, f32 has all elements of the type, and a row, or of topk a part of it, fits on
 * chip: pto.tile makes sorting instructions of these; or in their own type, where it lists that for `tile.order`, which
 * puts whole rows in order. Else:
 *
 *                                                  %b = tensor.lt %x[.., 1, j], %x[.., i, 1]    or equal and j before i
 *     %y = tensor.sort %x {axis = 1}         =>    %n = tensor.where %b, 1, 0 : tensor<4 x $N x $N x i32>
 *                                                  %r = tensor.reduce_sum %n {axis = 2}
 *                                                  %y = tensor.scatter %x, %r, %x {axis = 1}
 *
 *     %y = tensor.argsort %x {axis = 1}      =>    the same with indices of tensor.iota in the place of the elements;
 *                                                  so does a sort of elements of 8 and 16 bits, and gathers them
 *
 *                                                  %h = tensor.eq %r[.., 1, i], %k[.., s, 1]    slots s of the result
 *     %y, %i = tensor.topk %x {axis = 1}     =>    %i = tensor.reduce_max of i where %h, else -1
 *                                                  %y = tensor.gather %x, %i {axis = 1}
 *
 * Exact, for all types in which the machine compares. NaN counts as infinity, and equal elements stand in the order of
 * a second key: the index, to which the extent is added where x is NaN, or from which it is taken when the largest come
 * first. An axis of N elements takes N * N comparisons, in tiles: no memory for them. Another axis than the last is
 * transposed to be it. That an axis has elements for all slots of topk becomes a fact of the function, where its extent
 * follows from parameters and the op always runs: callers are told then, also where there is no row that lacks them.
 *
 * Requires tensor ops, of any form. Leaves no `tensor.sort`, `argsort` and `topk` but of such rows. */
#include "composite.h"
#include "machine_types.h"

#include <pto/relation.h>

#include <math.h>

#define KINDS(X)                       \
    X(CALL, "call")                    \
    X(SORT, "tensor.sort")             \
    X(ARGSORT, "tensor.argsort")       \
    X(TOPK, "tensor.topk")             \
    X(RESHAPE, "tensor.reshape")       \
    X(TRANSPOSE, "tensor.transpose")   \
    X(BROADCAST, "tensor.broadcast")   \
    X(IOTA, "tensor.iota")             \
    X(INDEX_CAST, "tensor.index_cast") \
    X(CONSTANT, "tensor.constant")     \
    X(ADD, "tensor.add")               \
    X(SUB, "tensor.sub")               \
    X(EQ, "tensor.eq")                 \
    X(NE, "tensor.ne")                 \
    X(LT, "tensor.lt")                 \
    X(LE, "tensor.le")                 \
    X(GT, "tensor.gt")                 \
    X(GE, "tensor.ge")                 \
    X(AND, "tensor.logical_and")       \
    X(OR, "tensor.logical_or")         \
    X(WHERE, "tensor.where")           \
    X(REDUCE_SUM, "tensor.reduce_sum") \
    X(REDUCE_MAX, "tensor.reduce_max") \
    X(TAKE, "tensor.take")             \
    X(SCATTER, "tensor.scatter")       \
    X(GATHER, "tensor.gather")         \
    X(CAST, "tensor.cast")             \
    X(SORT32, "tile.sort32")           \
    X(ORDER, "tile.order")
PTO_KINDS(KINDS);

#define OPTIONS(X)                                                                                              \
    X(MAX_EXTENT, I64, "max-extent", .def = "32768", .min = "1", .max = "1073741823", .unit = "elements",       \
      .doc = "Largest axis that is sorted, where its extent is known: it takes as many comparisons, squared.",  \
      .example = "{ pass: pto.decompose-sort, with: { max-extent: 100000 } }")                                  \
    X(INSTRUCTIONS, BOOL, "instructions", .def = "true",                                                        \
      .doc = "Use the instructions that sort, where the machine has them and rows fit on chip.",                \
      .example = "{ pass: pto.decompose-sort, with: { instructions: false } }")                                 \
    X(ORDERED, BOOL, "order", .def = "true",                                                                    \
      .doc = "Use the instruction that puts whole rows in order, where the machine lists element types of it.", \
      .example = "{ pass: pto.decompose-sort, with: { order: false } }")
PTO_OPTIONS(OPTIONS);

#define STATS(X) X(DECOMPOSED, "decomposed")
PTO_STATS(STATS);

/* The lines that are sorted, as rows of a matrix [rows, length]. */
typedef struct lines {
    const pto_run *run;
    pto_op op;
    uint32_t rank, axis;
    int moves;      /* the axis is transposed to be the last one */
    int descending; /* the largest first */
    int is_filled;  /* of topk: the axis has elements for all slots */
    pto_expr rows, length;
    pto_value x, place; /* [rows, length]; the index along the length in i32, [1, length] */
} lines;

static pto_type matrix(const lines *l, pto_dtype dtype, pto_expr rows, pto_expr columns)
{
    const pto_expr dims[2] = {rows, columns};
    return pto_type_tensor(l->run, dtype, 2, dims);
}

/* Of each row i, j: the comparison of two elements of it, or of an element with a slot. */
static pto_type pairs(const lines *l, pto_dtype dtype, pto_expr rows, pto_expr first, pto_expr second)
{
    const pto_expr dims[3] = {rows, first, second};
    return pto_type_tensor(l->run, dtype, 3, dims);
}

static pto_value reshaped(const lines *l, pto_type type, const char *suffix, pto_value a)
{
    if (PTO_SOME(a) && pto_type_same(pto_value_type(a), type)) return a;
    return composite_unary(l->op, pto_kind(l->run, KIND_RESHAPE), type, suffix, a);
}

static pto_value transposed(const lines *l, pto_type type, const int64_t *perm, const char *suffix, pto_value a)
{
    pto_spec s = composite_spec(l->op, pto_kind(l->run, KIND_TRANSPOSE), type, suffix);
    pto_spec_operand(&s, a);
    pto_spec_ints(&s, PTO_STR("perm"), l->rank, perm);
    return pto_spec_value(&s, pto_before(l->op));
}

/* ---- to rows and back ---- */

static void read_lines(lines *l)
{
    const pto_type type = pto_value_type(pto_op_operand(l->op, 0));
    const int64_t named = pto_attr_i64(pto_op_attr(l->op, PTO_STR("axis")));
    l->rank = pto_type_rank(type);
    l->axis = (uint32_t)(named < 0 ? named + l->rank : named);
    l->descending = PTO_IS(l->op, TOPK) ? pto_attr_bool_of(l->op, PTO_STR("largest"), 1)
                                        : pto_attr_bool_of(l->op, PTO_STR("descending"), 0);
    l->length = pto_type_dim(type, l->axis);
    l->rows = pto_expr_const(l->run, 1);
    for (uint32_t d = 0; d < l->rank; d++) {
        int64_t extent = 0;
        if (d != l->axis) l->rows = pto_expr_mul(l->rows, pto_type_dim(type, d));
        if (d > l->axis && (!pto_dim_is_const(type, d, &extent) || extent != 1)) l->moves = 1;
    }
}

static pto_status check_extent(const lines *l)
{
    const int64_t most = pto_opt_i64(l->run, OPT_MAX_EXTENT);
    int64_t extent = 0;
    if (!pto_expr_is_const(l->length, &extent) || extent <= most) return PTO_OK;
    return pto_error(l->op, "pto.decompose-sort/long",
                     "`%.*s` sorts %lld elements, which takes as many comparisons squared; the limit is %lld: sort "
                     "shorter parts of the axis, or raise `max-extent`",
                     PTO_FMT(pto_op_name(l->op)), (long long)extent, (long long)most);
}

/* ---- elements for all slots ---- */

static int is_called(pto_op function)
{
    PTO_WALK(pto_op_none(function.run), op)
    if (PTO_IS(op, CALL) && pto_str_same(pto_attr_str_of(op, PTO_STR("callee")), pto_function_name(function))) return 1;
    return 0;
}

static int mentions(pto_expr e, pto_str symbol)
{
    if (pto_expr_kind_of(e) == PTO_EXPR_SYMBOL) return pto_str_same(pto_expr_symbol_name(e), symbol);
    for (uint32_t i = 0; i < pto_expr_arg_count(e); i++)
        if (mentions(pto_expr_arg(e, i), symbol)) return 1;
    return 0;
}

/* Whether parameters mention all symbols of the expression. */
static int is_of_signature(pto_op function, pto_expr e)
{
    const pto_block body = pto_body(function);
    if (pto_expr_kind_of(e) == PTO_EXPR_SYMBOL) {
        for (uint32_t i = 0; i < pto_block_arg_count(body); i++) {
            const pto_type type = pto_value_type(pto_block_arg(body, i));
            for (uint32_t d = 0; d < pto_type_rank(type); d++)
                if (mentions(pto_type_dim(type, d), pto_expr_symbol_name(e))) return 1;
        }
        return 0;
    }
    for (uint32_t i = 0; i < pto_expr_arg_count(e); i++)
        if (!is_of_signature(function, pto_expr_arg(e, i))) return 0;
    return 1;
}

static pto_status add_fact(pto_op function, pto_relation relation, pto_expr left, pto_expr right)
{
    const pto_run *run = function.run;
    const pto_attr facts = pto_op_attr(function, PTO_STR("facts"));
    const pto_attr fact[] = {pto_attr_make_str(run, pto_s(pto_relation_word(relation))), pto_attr_make_expr(run, left),
                             pto_attr_make_expr(run, right)};
    const uint32_t count = PTO_SOME(facts) ? pto_attr_count(facts) : 0;
    pto_attr *all = PTO_SCRATCH(run, pto_attr, count + 1);
    for (uint32_t i = 0; i < count; i++) all[i] = pto_attr_item(facts, i, NULL);
    all[count] = pto_attr_make_list(run, sizeof fact / sizeof *fact, fact);
    return pto_op_set_attr(function, PTO_STR("facts"), pto_attr_make_list(run, count + 1, all));
}

static pto_status fill_slots(lines *l)
{
    const pto_op function = pto_op_function(l->op);
    const pto_expr k = pto_expr_const(l->run, pto_attr_int_of(l->op, PTO_STR("k"), 0));
    l->is_filled = pto_expr_range(pto_expr_sub(l->length, k), l->op, NULL).lo >= 0;
    if (l->is_filled || !pto_op_same(pto_op_parent(l->op), function) || !is_of_signature(function, l->length) ||
        is_called(function))
        return PTO_OK;
    l->is_filled = 1;
    return add_fact(function, PTO_RELATION_GE, l->length, k);
}

/* All dims but the axis, and then that. */
static pto_value to_rows(const lines *l, pto_value x)
{
    const pto_type type = pto_value_type(x);
    int64_t perm[PTO_MAX_DIMS];
    pto_expr dims[PTO_MAX_DIMS];
    if (l->moves) {
        for (uint32_t d = 0; d < l->rank; d++) {
            const uint32_t from = d + 1 == l->rank ? l->axis : d < l->axis ? d : d + 1;
            perm[d] = from;
            dims[d] = pto_type_dim(type, from);
        }
        x = transposed(l, pto_type_tensor(l->run, pto_type_dtype(type), l->rank, dims), perm, "_last", x);
    }
    return reshaped(l, matrix(l, pto_type_dtype(type), l->rows, l->length), "_rows", x);
}

/* The way back to the type of a result; its element type comes last, for indices in i32 are easier to transpose. */
static pto_value from_rows(const lines *l, pto_type type, pto_value rows)
{
    int64_t perm[PTO_MAX_DIMS];
    pto_expr dims[PTO_MAX_DIMS];
    if (!PTO_SOME(rows)) return rows;
    const pto_dtype dtype = pto_type_dtype(pto_value_type(rows));
    const pto_type made = pto_type_with_dtype(l->run, type, dtype);
    if (!l->moves) {
        rows = reshaped(l, made, "", rows);
    } else {
        for (uint32_t d = 0; d < l->rank; d++) {
            const uint32_t to = d == l->axis ? l->rank - 1 : d < l->axis ? d : d - 1;
            perm[d] = to;
            dims[to] = pto_type_dim(type, d);
        }
        rows = reshaped(l, pto_type_tensor(l->run, dtype, l->rank, dims), "_last", rows);
        rows = transposed(l, made, perm, "", rows);
    }
    return PTO_SOME(rows) ? composite_cast(l->op, pto_kind(l->run, KIND_CAST), pto_type_dtype(type), "", rows) : rows;
}

/* ---- the order ---- */

static pto_value infinity(const lines *l, pto_dtype dtype)
{
    pto_spec s =
        composite_spec(l->op, pto_kind(l->run, KIND_CONSTANT), pto_type_tensor(l->run, dtype, 0, NULL), "_inf");
    pto_spec_float(&s, PTO_STR("value"), (double)INFINITY);
    return pto_spec_value(&s, pto_before(l->op));
}

/* A value [rows, length] of elements j, and of elements i. */
static pto_value as_first(const lines *l, pto_value a)
{
    const pto_type type = pto_value_type(a);
    return reshaped(l, pairs(l, pto_type_dtype(type), pto_type_dim(type, 0), pto_expr_const(l->run, 1), l->length),
                    "_j", a);
}
static pto_value as_second(const lines *l, pto_value a)
{
    const pto_type type = pto_value_type(a);
    return reshaped(l, pairs(l, pto_type_dtype(type), pto_type_dim(type, 0), l->length, pto_expr_const(l->run, 1)),
                    "_i", a);
}

/* Makes NaN of `*key` infinite, and the key that puts it after, or before, what is. */
static pto_value second_key(const lines *l, pto_value *key)
{
    const pto_run *run = l->run;
    const pto_type type = matrix(l, pto_type_dtype(pto_value_type(*key)), l->rows, l->length);
    const pto_type indices = pto_type_with_dtype(run, type, PTO_I32);
    if (!pto_dtype_is_float(pto_type_dtype(type))) return l->place;
    const pto_value nan =
        composite_binary(l->op, pto_kind(run, KIND_NE), pto_type_with_dtype(run, type, PTO_BOOL), "_nan", *key, *key);
    *key =
        composite_where(l->op, pto_kind(run, KIND_WHERE), type, "_key", nan, infinity(l, pto_type_dtype(type)), *key);
    pto_spec s =
        composite_spec(l->op, pto_kind(run, KIND_INDEX_CAST), pto_type_tensor(run, PTO_I32, 0, NULL), "_length");
    pto_spec_exprs(&s, PTO_STR("from"), 1, &l->length);
    const pto_value length = pto_spec_value(&s, pto_before(l->op));
    const pto_value beyond =
        composite_binary(l->op, pto_kind(run, l->descending ? KIND_SUB : KIND_ADD),
                         matrix(l, PTO_I32, pto_expr_const(run, 1), l->length), "_beyond", l->place, length);
    return composite_where(l->op, pto_kind(run, KIND_WHERE), indices, "_second", nan, beyond, l->place);
}

/* The sum, or the largest, along the last dim of `what` where it is hit, else `other`. */
static pto_value along(const lines *l, uint32_t reduce, pto_type truth, const char *suffix, pto_value hit,
                       pto_value what, int64_t other)
{
    const pto_type type = pto_type_with_dtype(l->run, truth, PTO_I32);
    const pto_value none = composite_number(l->op, pto_kind(l->run, KIND_CONSTANT), PTO_I32, "_c", (double)other);
    const pto_value n = composite_where(l->op, pto_kind(l->run, KIND_WHERE), type, suffix, hit, what, none);
    return PTO_SOME(n) ? composite_reduce(l->op, pto_kind(l->run, reduce), 2, NULL, suffix, n) : n;
}

/* Of each element i, how many j are before it: [rows, length, 1] in i32. */
static pto_value ranks(const lines *l)
{
    const pto_run *run = l->run;
    pto_value key = l->x;
    const pto_value second = second_key(l, &key);
    if (!PTO_SOME(key) || !PTO_SOME(second)) return pto_value_none(run);
    const pto_type truth = pairs(l, PTO_BOOL, l->rows, l->length, l->length);
    const pto_type ties = pairs(l, PTO_BOOL, pto_type_dim(pto_value_type(second), 0), l->length, l->length);
    const pto_value j = as_first(l, key), i = as_second(l, key);
    const pto_value less =
        composite_binary(l->op, pto_kind(run, l->descending ? KIND_GT : KIND_LT), truth, "_less", j, i);
    const pto_value most =
        composite_binary(l->op, pto_kind(run, l->descending ? KIND_GE : KIND_LE), truth, "_most", j, i);
    const pto_value second_j = as_first(l, second), second_i = as_second(l, second);
    const pto_value earlier = composite_binary(l->op, pto_kind(run, KIND_LT), ties, "_earlier", second_j, second_i);
    const pto_value either = composite_binary(l->op, pto_kind(run, KIND_OR), truth, "_either", less, earlier);
    const pto_value before = composite_binary(l->op, pto_kind(run, KIND_AND), truth, "_before", most, either);
    return along(l, KIND_REDUCE_SUM, truth, "_rank", before,
                 composite_number(l->op, pto_kind(run, KIND_CONSTANT), PTO_I32, "_c", 1), 0);
}

/* ---- the results ---- */

/* `what`, each element at its rank. */
static pto_value scattered(const lines *l, pto_value what)
{
    const pto_value rank = ranks(l);
    if (!PTO_SOME(rank)) return rank;
    pto_spec s = composite_spec(l->op, pto_kind(l->run, KIND_SCATTER), pto_value_type(what), "_sorted");
    pto_spec_operand(&s, what);
    pto_spec_operand(&s, reshaped(l, matrix(l, PTO_I32, l->rows, l->length), "_rank", rank));
    pto_spec_operand(&s, what);
    pto_spec_int(&s, PTO_STR("axis"), 1);
    return pto_spec_value(&s, pto_before(l->op));
}

static pto_value gathered(const lines *l, pto_expr count, pto_value places)
{
    const pto_dtype dtype = pto_type_dtype(pto_value_type(l->x));
    pto_spec s = composite_spec(l->op, pto_kind(l->run, KIND_GATHER), matrix(l, dtype, l->rows, count), "_values");
    pto_spec_operand(&s, l->x);
    pto_spec_operand(&s, places);
    pto_spec_int(&s, PTO_STR("axis"), 1);
    return pto_spec_value(&s, pto_before(l->op));
}

/* Machines scatter elements that are as wide as an index; others are gathered, by scattered indices. */
static pto_value expand_sort(const lines *l)
{
    const int sorts = PTO_IS(l->op, SORT);
    if (sorts && pto_dtype_bytes(pto_type_dtype(pto_value_type(l->x))) == (int64_t)sizeof(int32_t))
        return scattered(l, l->x);
    const pto_value all = composite_unary(l->op, pto_kind(l->run, KIND_BROADCAST),
                                          matrix(l, PTO_I32, l->rows, l->length), "_place", l->place);
    const pto_value places = PTO_SOME(all) ? scattered(l, all) : all;
    return PTO_SOME(places) && sorts ? gathered(l, l->length, places) : places;
}

/* The same indices, of which one below 0 is a fault: an axis may lack elements for slots. */
static pto_value checked(const lines *l, pto_value places)
{
    if (l->is_filled) return places;
    const pto_value list = composite_unary(l->op, pto_kind(l->run, KIND_RESHAPE),
                                           pto_type_tensor(l->run, PTO_I32, 1, &l->length), "_list", l->place);
    pto_spec s = composite_spec(l->op, pto_kind(l->run, KIND_TAKE), pto_value_type(places), "_places");
    pto_spec_operand(&s, list);
    pto_spec_operand(&s, places);
    pto_spec_int(&s, PTO_STR("axis"), 0);
    return pto_spec_value(&s, pto_before(l->op));
}

/* The indices of the elements whose rank is that of a slot, and these elements. */
static pto_status expand_topk(const lines *l, pto_value out[2])
{
    const pto_run *run = l->run;
    const pto_expr one = pto_expr_const(run, 1), k = pto_expr_const(run, pto_attr_int_of(l->op, PTO_STR("k"), 0));
    const pto_value rank = ranks(l);
    PTO_NEED(rank);
    const pto_type slots = pairs(l, PTO_BOOL, l->rows, k, l->length);
    const pto_value slot = composite_count(l->op, pto_kind(run, KIND_IOTA), slots, 1, "_slot");
    const pto_value first =
        composite_unary(l->op, pto_kind(run, KIND_RESHAPE), pairs(l, PTO_I32, l->rows, one, l->length), "_rank", rank);
    const pto_value hit = composite_binary(l->op, pto_kind(run, KIND_EQ), slots, "_hit", first, slot);
    const pto_value place = as_first(l, l->place);
    const pto_value found = along(l, KIND_REDUCE_MAX, slots, "_found", hit, place, -1);
    PTO_NEED(found);
    const pto_value places = reshaped(l, matrix(l, PTO_I32, l->rows, k), "_places", found);
    PTO_NEED(places);
    out[1] = checked(l, places);
    out[0] = gathered(l, k, places);
    return PTO_OK;
}

static pto_status expand_ranks(lines *l, pto_value out[2])
{
    l->place = composite_count(l->op, pto_kind(l->run, KIND_IOTA), matrix(l, PTO_I32, l->rows, l->length), 1, "_index");
    PTO_NEED(l->place);
    if (PTO_IS(l->op, TOPK)) return expand_topk(l, out);
    out[0] = expand_sort(l);
    return PTO_OK;
}

/* ---- instructions that sort ---- */

enum {
    WHOLE_ROW_MAX = 2048,  /* longer ones of topk are taken in chunks */
    BLOCK = 64,            /* rows are sorted in multiples of it */
    BYTES_OF_ELEMENT = 40, /* on chip, of what is sorted at once */
    SLACK = 1024           /* for tiles that are rounded up to whole blocks */
};

static int has_exact_f32(pto_dtype t)
{
    return pto_dtype_is_float(t) ? pto_dtype_bytes(t) > 1 : pto_dtype_bytes(t) <= 2;
}

/* Whether the tile level can sort these rows: it is faster then, even where they have two elements. */
static int by_instructions(const lines *l)
{
    const pto_run *run = l->run;
    const int64_t usable = pto_space_usable_bytes(run, pto_space_of_role(run, PTO_ROLE_SCRATCHPAD), 0);
    const int64_t at_once = usable / (BYTES_OF_ELEMENT * BLOCK) * BLOCK, k = pto_attr_int_of(l->op, PTO_STR("k"), 0);
    int64_t extent = -1;
    if (!pto_opt_bool(run, OPT_INSTRUCTIONS) || !machine_takes(run, pto_kind(run, KIND_SORT32), PTO_F32)) return 0;
    if (!has_exact_f32(pto_type_dtype(pto_value_type(pto_op_operand(l->op, 0))))) return 0;
    const int is_known = pto_expr_is_const(l->length, &extent);
    if (is_known && extent == 0) return 0;
    if (!PTO_IS(l->op, TOPK)) return is_known && extent <= at_once;
    return k > 0 && ((is_known && extent <= WHOLE_ROW_MAX && extent <= at_once) || k <= at_once / 2);
}

/* Whether it can put these rows in order: all of a row and of what is made of it is on chip. */
static int by_order(const lines *l)
{
    const pto_run *run = l->run;
    const pto_dtype t = pto_type_dtype(pto_value_type(pto_op_operand(l->op, 0)));
    const int64_t usable = pto_space_usable_bytes(run, pto_space_of_role(run, PTO_ROLE_SCRATCHPAD), 0);
    const int64_t values = pto_dtype_bytes(t), places = pto_dtype_bytes(PTO_I32);
    int64_t extent = 0;
    if (!pto_opt_bool(run, OPT_ORDERED) || !machine_states(run, pto_kind(run, KIND_ORDER), t)) return 0;
    if (!pto_expr_is_const(l->length, &extent) || extent <= 0 || extent > usable) return 0;
    const int64_t kept = PTO_IS(l->op, TOPK) ? pto_attr_int_of(l->op, PTO_STR("k"), 0) : extent;
    const int64_t made = places + (PTO_IS(l->op, ARGSORT) ? 0 : values);
    return kept > 0 && extent * values + kept * made + SLACK <= usable;
}

/* The op itself, of rows of a type. */
static pto_status expand_rows(const lines *l, pto_dtype dtype, pto_value out[2])
{
    const pto_run *run = l->run;
    const int is_topk = PTO_IS(l->op, TOPK);
    const pto_expr kept = is_topk ? pto_expr_const(run, pto_attr_int_of(l->op, PTO_STR("k"), 0)) : l->length;
    const pto_value x = composite_cast(l->op, pto_kind(run, KIND_CAST), dtype, "_f32", l->x);
    PTO_NEED(x);
    const pto_type values = matrix(l, dtype, l->rows, kept), places = matrix(l, PTO_I32, l->rows, kept);
    pto_spec s = composite_spec(l->op, pto_op_kind(l->op), PTO_IS(l->op, ARGSORT) ? places : values, "_sorted");
    if (is_topk) pto_spec_result(&s, places);
    pto_spec_operand(&s, x);
    pto_spec_int(&s, PTO_STR("axis"), 1);
    if (is_topk) pto_spec_attr(&s, PTO_STR("k"), pto_op_attr(l->op, PTO_STR("k")));
    pto_spec_bool(&s, is_topk ? PTO_STR("largest") : PTO_STR("descending"), l->descending);
    const pto_op made = pto_spec_build(&s, pto_before(l->op));
    PTO_NEED(made);
    for (uint32_t i = 0; i < pto_op_result_count(made); i++) out[i] = pto_op_result(made, i);
    return PTO_OK;
}

static pto_status expand(const pto_run *run, pto_op op)
{
    lines l = {.run = run, .op = op};
    pto_value y[2] = {pto_value_none(run), pto_value_none(run)};
    const uint32_t results = pto_op_result_count(op);
    read_lines(&l);
    if (PTO_IS(op, TOPK)) PTO_TRY(fill_slots(&l));
    const int is_ordered = by_order(&l), is_quick = is_ordered || by_instructions(&l);
    if (!is_quick) PTO_TRY(check_extent(&l));
    l.x = to_rows(&l, pto_op_operand(op, 0));
    PTO_NEED(l.x);
    if (is_quick)
        PTO_TRY(expand_rows(&l, is_ordered ? pto_type_dtype(pto_value_type(l.x)) : PTO_F32, y));
    else
        PTO_TRY(expand_ranks(&l, y));
    for (uint32_t i = 0; i < results; i++) {
        y[i] = from_rows(&l, pto_value_type(pto_op_result(op, i)), y[i]);
        PTO_NEED(y[i]);
        const pto_str name = pto_value_name(pto_op_result(op, i));
        if (name.n != 0) PTO_TRY(pto_value_set_name(y[i], name));
    }
    return pto_op_replace(op, results, y);
}

static pto_status run_pass(const pto_run *run, pto_op function)
{
    PTO_WALK(function, op)
    {
        if (!PTO_IS(op, SORT) && !PTO_IS(op, ARGSORT) && !PTO_IS(op, TOPK)) continue;
        pto_stat_add(run, STAT_DECOMPOSED, 1);
        PTO_TRY(expand(run, op));
    }
    return PTO_OK;
}

static const pto_pass pass = {
    .struct_size = sizeof pass,
    .flags = PTO_PASS_NEEDED,
    .id = "pto.decompose-sort",
    .summary = "Count which elements are before each one, to sort them",
    .scope = "function",
    .consumes = "tensor/1",
    .produces = "tensor/1",
    .kinds = pass_kinds,
    .options = pass_options,
    .stats = pass_stats,
    .run = run_pass,
};
PTO_PLUGIN("pto.decompose-sort",
           "pass:pto.decompose-sort rewrites:tensor.sort rewrites:tensor.argsort rewrites:tensor.topk", "",
           .version = "0.1.0", .license = "Apache-2.0", .passes = PTO_LIST(pto_pass, &pass));
