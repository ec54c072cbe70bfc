/* pto.canonicalize: constants fold, equal ops merge, ops that do nothing or are not used vanish.
 *
 *     %z = tensor.constant {value = 1.0}
 *     %a = tensor.mul %x, %z               uses of %a read %x
 *     %b = tensor.exp %a            =>     %b = tensor.exp %x
 *     %c = tensor.exp %x                   uses of %c read %b, which has both origins
 *
 * Ops that move elements get one form each, and windows of windows become one: canonicalize_moves.c.
 *
 * Exact: every rewrite computes the same bits for every value, NaN and signed zeros included, except for the payload of
 * a NaN. That is why x + 0.0 stays (it makes +0 of -0) while x - 0.0 and x + -0.0 go.
 *
 * Requires tensor ops, of any form. Leaves tensor ops, and every property as it was. */
#include "canonicalize.h"

#include <math.h>
#include <stdlib.h>

#define OPTIONS(X)                                                                                                  \
    X(FOLD, BOOL, "fold", .def = "true", .doc = "compute ops on constants now", .example = "with: { fold: false }") \
    X(MERGE, BOOL, "merge", .def = "true", .doc = "merge equal ops (CSE)", .example = "with: { merge: false }")     \
    X(REMOVE, BOOL, "remove", .def = "true", .doc = "remove unused ops (DCE)", .example = "with: { remove: false }")
PTO_OPTIONS(OPTIONS);

#define STATS(X)                \
    X(FOLDED, "folded")         \
    X(SIMPLIFIED, "simplified") \
    X(MERGED, "merged")         \
    X(REMOVED, "removed")
PTO_STATS(STATS);

enum { SEEN_FIRST = 64 };

/* An op, and what makes its first two operands. */
typedef struct subject {
    pto_op op;
    pto_kind_id kind;
    pto_value operand[2]; /* none: it has fewer */
    pto_op def[2];        /* none: a block argument */
    pto_kind_id def_kind[2];
} subject;

static subject look_at(pto_op op, pto_kind_id kind)
{
    subject s = {.op = op, .kind = kind};
    for (uint32_t i = 0; i < 2; i++) {
        s.operand[i] = pto_op_operand(op, i);
        if (!PTO_SOME(s.operand[i])) break;
        s.def[i] = pto_value_op(s.operand[i]);
        s.def_kind[i] = PTO_SOME(s.def[i]) ? pto_op_kind(s.def[i]) : 0;
    }
    return s;
}

static int is_constant(const pto_run *run, const subject *s, uint32_t operand)
{
    return s->def_kind[operand] == pto_kind(run, KIND_CONSTANT);
}

/* ---- simplify ---- */

/* True when every element of the constant is this number. */
static int is_splat(pto_op constant, double wanted)
{
    const pto_attr a = pto_op_attr(constant, PTO_STR("value"));
    const pto_attr_kind kind = pto_attr_kind_of(a);
    if (kind != PTO_ATTR_INT && kind != PTO_ATTR_FLOAT) return 0;
    const double number = pto_attr_f64(a);
    return number == wanted && signbit(number) == signbit(wanted);
}

/* Whether the result of an arithmetic op is its first operand, since the second one is neutral. */
static int match_neutral(const pto_run *run, const subject *s)
{
    if (!is_constant(run, s, 1)) return 0;
    if (s->kind == pto_kind(run, KIND_MUL) || s->kind == pto_kind(run, KIND_DIV)) return is_splat(s->def[1], 1.0);
    if (s->kind == pto_kind(run, KIND_SUB)) return is_splat(s->def[1], 0.0);
    if (s->kind != pto_kind(run, KIND_ADD)) return 0;
    const int is_float = pto_dtype_is_float(pto_type_dtype(pto_value_type(s->operand[0])));
    return is_splat(s->def[1], is_float ? -0.0 : 0.0);
}

static int widens_exactly(pto_dtype narrow, pto_dtype wide)
{
    return wide == PTO_F32 && pto_dtype_is_float(narrow) && !pto_dtype_is_byte_float(narrow);
}

/* x -> wide -> x again. Saturating would make a number of an infinity. */
static pto_value match_cast_back(const pto_run *run, const subject *s)
{
    if (s->def_kind[0] != s->kind || pto_attr_bool_of(s->op, PTO_STR("saturate"), 0)) return pto_value_none(run);
    const pto_value x = pto_op_operand(s->def[0], 0);
    const pto_dtype narrow = pto_type_dtype(pto_value_type(x)), wide = pto_type_dtype(pto_value_type(s->operand[0]));
    return widens_exactly(narrow, wide) ? x : pto_value_none(run);
}

static int is_identity_permutation(pto_op transpose)
{
    const uint32_t rank = pto_expr_count_of(transpose, PTO_STR("perm"));
    for (uint32_t i = 0; i < rank; i++) {
        if (pto_int_of(transpose, PTO_STR("perm"), i, -1) != (int64_t)i) return 0;
    }
    return 1;
}

/* The value that the op has as result without computing anything, or none. */
static pto_value match_simple(const pto_run *run, const subject *s)
{
    const pto_kind_id kind = s->kind;
    const pto_value x = s->operand[0], none = pto_value_none(run);
    if (!PTO_SOME(x)) return none;
    if (kind == pto_kind(run, KIND_NEG)) return s->def_kind[0] == kind ? pto_op_operand(s->def[0], 0) : none;
    if (kind == pto_kind(run, KIND_MAXIMUM) || kind == pto_kind(run, KIND_MINIMUM))
        return pto_value_same(x, s->operand[1]) ? x : none;
    if (kind == pto_kind(run, KIND_CAST) && !pto_type_same(pto_value_type(x), pto_value_type(pto_op_result(s->op, 0))))
        return match_cast_back(run, s);
    if (kind == pto_kind(run, KIND_TRANSPOSE)) return is_identity_permutation(s->op) ? x : none;
    if (kind == pto_kind(run, KIND_CAST) || kind == pto_kind(run, KIND_RESHAPE) ||
        kind == pto_kind(run, KIND_BROADCAST))
        return x;
    return match_neutral(run, s) ? x : none;
}

/* Dim i of the outer result is dim outer[i] of the inner one, so dim inner[outer[i]] of what that reads. */
static pto_attr composed_permutation(const pto_run *run, pto_op outer, pto_op inner)
{
    int64_t perm[PTO_MAX_DIMS];
    const uint32_t rank = pto_expr_count_of(outer, PTO_STR("perm"));
    for (uint32_t i = 0; i < rank; i++)
        perm[i] = pto_int_of(inner, PTO_STR("perm"), (uint32_t)pto_int_of(outer, PTO_STR("perm"), i, 0), 0);
    return pto_attr_make_ints(run, rank, perm);
}

/* A reshape of a reshape, or a transpose of a transpose, reads the first one's operand. */
static pto_status shorten_chain(const pto_run *run, subject *s)
{
    const int is_transpose = s->kind == pto_kind(run, KIND_TRANSPOSE);
    if (!is_transpose && s->kind != pto_kind(run, KIND_RESHAPE)) return PTO_OK;
    if (s->def_kind[0] != s->kind) return PTO_OK;
    if (is_transpose) PTO_TRY(pto_op_set_attr(s->op, PTO_STR("perm"), composed_permutation(run, s->op, s->def[0])));
    PTO_TRY(pto_op_set_operand(s->op, 0, pto_op_operand(s->def[0], 0)));
    *s = look_at(s->op, s->kind);
    return PTO_OK;
}

/* Constants are on the right of commutative ops. */
static pto_status turn_constant_right(const pto_run *run, subject *s)
{
    if (!is_constant(run, s, 0) || !PTO_SOME(s->operand[1]) || is_constant(run, s, 1)) return PTO_OK;
    if (!pto_kind_has(run, s->kind, PTO_TRAIT_COMMUTATIVE)) return PTO_OK;
    const pto_value a = s->operand[0], b = s->operand[1];
    PTO_TRY(pto_op_set_operand(s->op, 0, b));
    PTO_TRY(pto_op_set_operand(s->op, 1, a));
    *s = look_at(s->op, s->kind);
    return PTO_OK;
}

/* ---- merge ---- */

/* An open-addressing table of the ops seen, by content. An op in it stays as it is until the walk ends. */
typedef struct seen_op {
    pto_op op;
    uint32_t hash;
} seen_op;
/* An op that stands for another, and where that came from. */
typedef struct merged_op {
    pto_op twin;
    pto_loc loc;
    uint32_t order;
} merged_op;
typedef struct seen_table {
    seen_op *slots;
    uint32_t capacity; /* a power of two; 0: nothing is merged */
    uint32_t count;
    merged_op *merged;
    uint32_t merged_count, merged_capacity;
} seen_table;

static seen_op *seen_place(const seen_table *t, uint32_t hash)
{
    uint32_t i = hash & (t->capacity - 1);
    while (PTO_SOME(t->slots[i].op)) i = (i + 1) & (t->capacity - 1);
    return &t->slots[i];
}

static void enlarge(const pto_run *run, seen_table *t)
{
    seen_table more = *t;
    more.capacity = 2 * t->capacity;
    more.slots = PTO_SCRATCH(run, seen_op, more.capacity);
    for (uint32_t i = 0; i < t->capacity; i++) {
        if (PTO_SOME(t->slots[i].op)) *seen_place(&more, t->slots[i].hash) = t->slots[i];
    }
    *t = more;
}

/* An earlier op with the same content whose results are visible at `op`; otherwise `op` is noted. */
static pto_op match_seen(const pto_run *run, seen_table *t, pto_op op)
{
    const uint32_t hash = t->capacity != 0 ? pto_op_hash(op) : 0;
    if (hash == 0) return pto_op_none(run);
    for (uint32_t i = hash & (t->capacity - 1); PTO_SOME(t->slots[i].op); i = (i + 1) & (t->capacity - 1)) {
        const seen_op *s = &t->slots[i];
        if (s->hash == hash && pto_op_equal(s->op, op) && pto_op_dominates(s->op, op)) return s->op;
    }
    if (2 * ++t->count > t->capacity) enlarge(run, t);
    *seen_place(t, hash) = (seen_op){op, hash};
    return pto_op_none(run);
}

static void note_merged(const pto_run *run, seen_table *t, pto_op twin, pto_loc loc)
{
    PTO_GROW(run, t->merged, t->merged_count, t->merged_capacity);
    t->merged[t->merged_count] = (merged_op){twin, loc, t->merged_count};
    t->merged_count++;
}

static int compare_merged(const void *a, const void *b)
{
    const merged_op *x = a, *y = b;
    if (x->twin.index != y->twin.index) return x->twin.index < y->twin.index ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* Once for each op that stands for others, at the end: a list of origins that grew by one each time would cost the
 * square of its length. */
static pto_status fuse_origins(const pto_run *run, seen_table *t)
{
    if (t->merged_count == 0) return PTO_OK;
    qsort(t->merged, t->merged_count, sizeof *t->merged, compare_merged);
    pto_loc *locs = PTO_SCRATCH(run, pto_loc, t->merged_count + 1);
    for (uint32_t i = 0, n; i < t->merged_count; i += n) {
        const pto_op twin = t->merged[i].twin;
        locs[0] = pto_op_loc(twin);
        for (n = 0; i + n < t->merged_count && pto_op_same(t->merged[i + n].twin, twin); n++)
            locs[n + 1] = t->merged[i + n].loc;
        PTO_TRY(pto_op_set_loc(twin, pto_loc_fuse(run, n + 1, locs)));
    }
    return PTO_OK;
}

static pto_status merge(const pto_run *run, seen_table *t, pto_op op)
{
    const pto_op twin = match_seen(run, t, op);
    if (!PTO_SOME(twin)) return PTO_OK;
    pto_stat_add(run, STAT_MERGED, 1);
    note_merged(run, t, twin, pto_op_loc(op));
    const uint32_t n = pto_op_result_count(op);
    if (n == 1) return pto_op_replace_by(op, pto_op_result(twin, 0));
    pto_value *values = PTO_SCRATCH(run, pto_value, n);
    for (uint32_t i = 0; i < n; i++) values[i] = pto_op_result(twin, i);
    return pto_op_replace(op, n, values);
}

/* ---- fold ---- */

/* The new constant merges with equal ones at once, so that ops which read it are found equal in the same walk. */
static pto_status rewrite_folded(const pto_run *run, pto_op op, pto_attr value, seen_table *seen)
{
    pto_spec s = pto_spec_make(run, pto_kind(run, KIND_CONSTANT));
    pto_spec_attr(&s, PTO_STR("value"), value);
    pto_spec_result(&s, pto_value_type(pto_op_result(op, 0)));
    pto_spec_name(&s, pto_value_name(pto_op_result(op, 0)));
    const pto_value constant = pto_spec_value(&s, pto_before(op));
    PTO_NEED(constant);
    PTO_TRY(pto_op_replace_by(op, constant));
    pto_stat_add(run, STAT_FOLDED, 1);
    return merge(run, seen, pto_value_op(constant));
}

/* ---- extents ---- */

/* An extent is an expression of the type: `dim %x {axis = 0}` is `index_cast from($B)`. */
static pto_status rewrite_dim(const pto_run *run, pto_op op, seen_table *seen)
{
    const pto_type type = pto_value_type(pto_op_operand(op, 0));
    const pto_expr extent = pto_type_dim(type, (uint32_t)__builtin_ctz(pto_axes_of(op, pto_type_rank(type))));
    pto_spec s = pto_spec_make(run, pto_kind(run, KIND_INDEX_CAST));
    pto_spec_exprs(&s, PTO_STR("from"), 1, &extent);
    pto_spec_result(&s, pto_value_type(pto_op_result(op, 0)));
    pto_spec_name(&s, pto_value_name(pto_op_result(op, 0)));
    const pto_value number = pto_spec_value(&s, pto_before(op));
    PTO_NEED(number);
    PTO_TRY(pto_op_replace_by(op, number));
    pto_stat_add(run, STAT_SIMPLIFIED, 1);
    return merge(run, seen, pto_value_op(number));
}

/* ---- the walks ---- */

/* One walk is enough: what an op becomes depends on ops before it alone, and those are done. */
static pto_status visit(const pto_run *run, pto_op op, seen_table *seen)
{
    if (!pto_kind_has(run, pto_op_kind(op), PTO_TRAIT_PURE)) return PTO_OK;
    if (PTO_IS(op, DIM)) return rewrite_dim(run, op, seen);
    const pto_op before = op;
    PTO_TRY(canonicalize_move(run, &op));
    pto_stat_add(run, STAT_SIMPLIFIED, !pto_op_same(before, op));
    if (!PTO_SOME(op)) return PTO_OK;
    subject s = look_at(op, pto_op_kind(op));
    PTO_TRY(turn_constant_right(run, &s));
    PTO_TRY(shorten_chain(run, &s));
    if (is_constant(run, &s, 0) && pto_opt_bool(run, OPT_FOLD)) {
        const pto_attr folded = pto_op_fold(op);
        if (PTO_SOME(folded)) return rewrite_folded(run, op, folded, seen);
    }
    const pto_value simple = match_simple(run, &s);
    if (PTO_SOME(simple) && pto_type_same(pto_value_type(simple), pto_value_type(pto_op_result(op, 0)))) {
        pto_stat_add(run, STAT_SIMPLIFIED, 1);
        return pto_op_replace_by(op, simple);
    }
    return merge(run, seen, op);
}

/* A loop with a step that is known to be one, or a branch. */
static int is_control(pto_op op)
{
    int64_t step;
    return PTO_IS(op, IF) || (PTO_IS(op, FOR) && pto_expr_is_const(pto_expr_of(op, PTO_STR("step"), 0), &step));
}

/* Whether nothing is left of the op when nobody reads its results: what has an effect or may fail is not pure. */
static int match_effect_free(pto_op op)
{
    if (!is_control(op)) return pto_kind_has(op.run, pto_op_kind(op), PTO_TRAIT_PURE);
    PTO_WALK(op, inner)
    {
        if (!is_control(inner) && !PTO_IS(inner, YIELD) && !pto_kind_has(op.run, pto_op_kind(inner), PTO_TRAIT_PURE))
            return 0;
    }
    return 1;
}

/* From the last op to the first, so that one pass finds whole chains. */
static pto_status remove_unused(const pto_run *run, pto_op function)
{
    uint32_t n = 0, capacity = 0;
    pto_op *ops = NULL;
    PTO_WALK(function, op)
    {
        if (!is_control(op) && !pto_kind_has(run, pto_op_kind(op), PTO_TRAIT_PURE)) continue;
        PTO_GROW(run, ops, n, capacity);
        ops[n++] = op;
    }
    while (n-- > 0) {
        if (pto_op_is_used(ops[n]) || !match_effect_free(ops[n])) continue;
        PTO_TRY(pto_op_erase(ops[n]));
        pto_stat_add(run, STAT_REMOVED, 1);
    }
    return PTO_OK;
}

static pto_status run_pass(const pto_run *run, pto_op function)
{
    seen_table seen = {0};
    if (pto_opt_bool(run, OPT_MERGE)) {
        seen.capacity = SEEN_FIRST;
        seen.slots = PTO_SCRATCH(run, seen_op, seen.capacity);
    }
    PTO_WALK(function, op) PTO_TRY(visit(run, op, &seen));
    PTO_TRY(fuse_origins(run, &seen));
    return pto_opt_bool(run, OPT_REMOVE) ? remove_unused(run, function) : PTO_OK;
}

static const pto_pass pass = {
    .struct_size = sizeof pass,
    .id = "pto.canonicalize",
    .summary = "Fold constants, merge equal ops, drop what does nothing or is not used",
    .scope = "function",
    .consumes = "tensor/1",
    .produces = "tensor/1",
    .kinds = canonicalize_kinds,
    .options = pass_options,
    .stats = pass_stats,
    .run = run_pass,
};
PTO_PLUGIN("pto.canonicalize", "pass:pto.canonicalize", "", .version = "0.1.0", .license = "Apache-2.0",
           .passes = PTO_LIST(pto_pass, &pass));
