/* pto.canonicalize: constants fold, equal ops merge, ops that do nothing or are not used vanish.
 *
 *     %z = tensor.constant {value = 1.0}
 *     %a = tensor.mul %x, %z               uses of %a read %x
 *     %b = tensor.exp %a            =>     %b = tensor.exp %x
 *     %c = tensor.exp %x                   uses of %c read %b
 *
 * Exact: every rewrite gives the same bits for every value, NaN and signed zeros included, but for the payload of a
 * NaN. That is why x + 0.0 stays (it makes +0 of -0) while x - 0.0 and x + -0.0 go. */
#include <pto/plugin.h>

#include <math.h>
#include <string.h>

#define KINDS(X)                     \
    X(CONSTANT, "tensor.constant")   \
    X(NEG, "tensor.neg")             \
    X(ADD, "tensor.add")             \
    X(SUB, "tensor.sub")             \
    X(MUL, "tensor.mul")             \
    X(DIV, "tensor.div")             \
    X(MAXIMUM, "tensor.maximum")     \
    X(MINIMUM, "tensor.minimum")     \
    X(CAST, "tensor.cast")           \
    X(RESHAPE, "tensor.reshape")     \
    X(TRANSPOSE, "tensor.transpose") \
    X(BROADCAST, "tensor.broadcast")
PTO_KINDS(KINDS);

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

enum { ROUNDS_MAX = 8 };

/* ---- simplify ---- */

/* True when every element of the tensor is the same number. */
static int match_splat(const pto_run *run, pto_value v, double *out)
{
    const pto_op def = pto_value_op(v);
    if (!pto_op_is(def, pto_kind(run, KIND_CONSTANT))) return 0;
    const pto_attr a = pto_op_attr(def, "value");
    const pto_attr_kind kind = pto_attr_kind_of(a);
    if (kind != PTO_ATTR_INT && kind != PTO_ATTR_FLOAT) return 0;
    *out = pto_attr_f64(a);
    return 1;
}

static int is_splat(const pto_run *run, pto_value v, double wanted)
{
    double number = 0;
    return match_splat(run, v, &number) && number == wanted && signbit(number) == signbit(wanted);
}

/* The operand that an arithmetic op with a neutral constant gives, or none. */
static pto_value match_neutral(const pto_run *run, pto_op op, pto_kind_id kind)
{
    const pto_value a = pto_operand(op, 0), b = pto_operand(op, 1);
    const int is_float = pto_dtype_is_float(pto_type_dtype(pto_value_type(a)));
    if (kind == pto_kind(run, KIND_MUL) || kind == pto_kind(run, KIND_DIV))
        return is_splat(run, b, 1.0) ? a : pto_value_none(run);
    if (kind == pto_kind(run, KIND_SUB)) return is_splat(run, b, 0.0) ? a : pto_value_none(run);
    if (kind == pto_kind(run, KIND_ADD)) return is_splat(run, b, is_float ? -0.0 : 0.0) ? a : pto_value_none(run);
    return pto_value_none(run);
}

static int widens_exactly(pto_dtype narrow, pto_dtype wide)
{
    return wide == PTO_F32 && (narrow == PTO_F16 || narrow == PTO_BF16);
}

/* x -> wide -> x again. Saturating would make a number of an infinity. */
static pto_value match_cast_back(const pto_run *run, pto_op op)
{
    const pto_op inner = pto_value_op(pto_operand(op, 0));
    if (!pto_op_is(inner, pto_kind(run, KIND_CAST)) || pto_attr_bool_of(op, "saturate", 0)) return pto_value_none(run);
    const pto_value x = pto_operand(inner, 0);
    const pto_dtype narrow = pto_type_dtype(pto_value_type(x)),
                    wide = pto_type_dtype(pto_value_type(pto_operand(op, 0)));
    return widens_exactly(narrow, wide) ? x : pto_value_none(run);
}

static int is_identity_permutation(pto_op transpose)
{
    const uint32_t rank = pto_expr_count_of(transpose, "perm");
    for (uint32_t i = 0; i < rank; i++) {
        if (pto_int_of(transpose, "perm", i, -1) != (int64_t)i) return 0;
    }
    return 1;
}

/* The value that the op gives without computing anything, or none. */
static pto_value match_simple(const pto_run *run, pto_op op)
{
    const pto_kind_id kind = pto_op_kind(op);
    const pto_value x = pto_operand(op, 0);
    if (!PTO_SOME(x)) return pto_value_none(run);
    if (kind == pto_kind(run, KIND_NEG))
        return pto_op_is(pto_value_op(x), kind) ? pto_operand(pto_value_op(x), 0) : pto_value_none(run);
    if (kind == pto_kind(run, KIND_MAXIMUM) || kind == pto_kind(run, KIND_MINIMUM))
        return pto_value_same(x, pto_operand(op, 1)) ? x : pto_value_none(run);
    if (kind == pto_kind(run, KIND_CAST) && !pto_type_same(pto_value_type(x), pto_value_type(pto_result(op, 0))))
        return match_cast_back(run, op);
    if (kind == pto_kind(run, KIND_TRANSPOSE)) return is_identity_permutation(op) ? x : pto_value_none(run);
    if (kind == pto_kind(run, KIND_CAST) || kind == pto_kind(run, KIND_RESHAPE) ||
        kind == pto_kind(run, KIND_BROADCAST))
        return x;
    return match_neutral(run, op, kind);
}

/* Dim i of the outer result is dim outer[i] of the inner one, so dim inner[outer[i]] of what that reads. */
static pto_attr composed_permutation(const pto_run *run, pto_op outer, pto_op inner)
{
    int64_t perm[PTO_MAX_DIMS];
    const uint32_t rank = pto_expr_count_of(outer, "perm");
    for (uint32_t i = 0; i < rank; i++)
        perm[i] = pto_int_of(inner, "perm", (uint32_t)pto_int_of(outer, "perm", i, 0), 0);
    return pto_attr_make_ints(run, rank, perm);
}

/* A reshape of a reshape, or a transpose of a transpose, reads the first one's operand; true when the op was changed.
 */
static int shorten_chain(const pto_run *run, pto_op op)
{
    const int is_transpose = pto_op_is(op, pto_kind(run, KIND_TRANSPOSE));
    if (!is_transpose && !pto_op_is(op, pto_kind(run, KIND_RESHAPE))) return 0;
    const pto_op inner = pto_value_op(pto_operand(op, 0));
    if (!pto_op_is(inner, pto_op_kind(op))) return 0;
    if (is_transpose && pto_op_set_attr(op, "perm", composed_permutation(run, op, inner)) != PTO_OK) return 0;
    return pto_set_operand(op, 0, pto_operand(inner, 0)) == PTO_OK;
}

/* Constants stand on the right of commutative ops. */
static int turn_constant_right(const pto_run *run, pto_op op)
{
    if (!pto_kind_has(run, pto_op_kind(op), PTO_TRAIT_COMMUTATIVE)) return 0;
    const pto_value a = pto_operand(op, 0), b = pto_operand(op, 1);
    const pto_kind_id constant = pto_kind(run, KIND_CONSTANT);
    if (!pto_op_is(pto_value_op(a), constant) || pto_op_is(pto_value_op(b), constant)) return 0;
    return pto_set_operand(op, 0, b) == PTO_OK && pto_set_operand(op, 1, a) == PTO_OK;
}

/* ---- fold ---- */

static pto_status rewrite_folded(const pto_run *run, pto_op op, pto_attr value)
{
    pto_spec s = pto_spec_make(run, pto_kind(run, KIND_CONSTANT));
    pto_spec_attr(&s, "value", value);
    pto_spec_result(&s, pto_value_type(pto_result(op, 0)));
    pto_spec_name(&s, pto_value_name(pto_result(op, 0)));
    const pto_value constant = pto_spec_value(&s, pto_before(op));
    PTO_NEED(constant);
    return pto_replace(op, constant);
}

/* ---- merge ---- */

/* An open-addressing table of the ops seen, by content. Entries may be stale only in that they do not dominate. */
typedef struct seen_table {
    pto_op *ops;
    uint32_t capacity; /* a power of two */
} seen_table;

static uint32_t mix(uint32_t h, uint32_t v) { return (h ^ v) * 0x9e3779b1u; }

static uint32_t hash_op(pto_op op)
{
    uint32_t h = mix(17, pto_op_kind(op));
    for (uint32_t i = 0; i < pto_operand_count(op); i++) h = mix(h, pto_operand(op, i).index);
    for (uint32_t i = 0; i < pto_op_attr_count(op); i++) h = mix(h, pto_op_attr_at(op, i, NULL).index);
    for (uint32_t i = 0; i < pto_result_count(op); i++) h = mix(h, pto_value_type(pto_result(op, i)).index);
    return h ^ (h >> 15);
}

static int same_content(pto_op a, pto_op b)
{
    if (pto_op_kind(a) != pto_op_kind(b) || pto_operand_count(a) != pto_operand_count(b) ||
        pto_result_count(a) != pto_result_count(b) || pto_op_attr_count(a) != pto_op_attr_count(b))
        return 0;
    for (uint32_t i = 0; i < pto_operand_count(a); i++) {
        if (!pto_value_same(pto_operand(a, i), pto_operand(b, i))) return 0;
    }
    for (uint32_t i = 0; i < pto_result_count(a); i++) {
        if (!pto_type_same(pto_value_type(pto_result(a, i)), pto_value_type(pto_result(b, i)))) return 0;
    }
    for (uint32_t i = 0; i < pto_op_attr_count(a); i++) {
        pto_str name_a = pto_no_str(), name_b = pto_no_str();
        if (!pto_attr_same(pto_op_attr_at(a, i, &name_a), pto_op_attr_at(b, i, &name_b)) ||
            !pto_str_same(name_a, name_b))
            return 0;
    }
    return 1;
}

/* An earlier op with the same content whose results are visible at `op`; otherwise `op` is noted. */
static pto_op match_seen(const pto_run *run, seen_table *t, pto_op op)
{
    for (uint32_t i = hash_op(op);; i++) {
        pto_op *slot = &t->ops[i & (t->capacity - 1)];
        if (!PTO_SOME(*slot)) {
            *slot = op;
            return pto_op_none(run);
        }
        if (!pto_op_is_live(*slot)) {
            *slot = op;
            return pto_op_none(run);
        }
        if (!same_content(*slot, op)) continue;
        if (pto_op_dominates(*slot, op)) return *slot;
    }
}

static pto_status rewrite_merged(pto_op op, pto_op by)
{
    const uint32_t n = pto_result_count(op);
    pto_value *values = PTO_SCRATCH(op.run, pto_value, n);
    for (uint32_t i = 0; i < n; i++) values[i] = pto_result(by, i);
    return pto_replace_all(op, n, values);
}

/* ---- the walk ---- */

static uint32_t count_ops(pto_op function)
{
    uint32_t n = 0;
    PTO_WALK(function, op) n++;
    return n;
}

static pto_status visit(const pto_run *run, pto_op op, seen_table *seen, int *changed)
{
    if (!pto_kind_has(run, pto_op_kind(op), PTO_TRAIT_PURE) || pto_op_block_count(op) != 0) return PTO_OK;
    /* Users come later in the walk, so that a turned op asks for no other round. */
    if (!turn_constant_right(run, op)) *changed |= shorten_chain(run, op);
    const pto_attr folded = pto_opt_bool(run, OPT_FOLD) ? pto_op_fold(op) : pto_attr_none(run);
    if (PTO_SOME(folded)) {
        *changed = 1;
        pto_count(run, STAT_FOLDED);
        return rewrite_folded(run, op, folded);
    }
    const pto_value simple = match_simple(run, op);
    if (PTO_SOME(simple) && pto_type_same(pto_value_type(simple), pto_value_type(pto_result(op, 0)))) {
        *changed = 1;
        pto_count(run, STAT_SIMPLIFIED);
        return pto_replace(op, simple);
    }
    const pto_op twin = pto_opt_bool(run, OPT_MERGE) ? match_seen(run, seen, op) : pto_op_none(run);
    if (!PTO_SOME(twin)) return PTO_OK;
    pto_count(run, STAT_MERGED);
    return rewrite_merged(op, twin);
}

/* From the last op to the first, so that one pass finds whole chains. */
static pto_status remove_unused(const pto_run *run, pto_op function)
{
    const uint32_t n = count_ops(function);
    pto_op *ops = PTO_SCRATCH(run, pto_op, n);
    uint32_t k = 0;
    PTO_WALK(function, op) ops[k++] = op;
    while (k-- > 0) {
        if (!pto_op_is_live(ops[k]) || !pto_kind_has(run, pto_op_kind(ops[k]), PTO_TRAIT_PURE)) continue;
        int used = 0;
        for (uint32_t i = 0; i < pto_result_count(ops[k]); i++) used |= pto_value_use_count(pto_result(ops[k], i)) != 0;
        if (used) continue;
        PTO_TRY(pto_erase(ops[k]));
        pto_count(run, STAT_REMOVED);
    }
    return PTO_OK;
}

static pto_status run_pass(const pto_run *run, pto_op function)
{
    int changed = 1;
    for (int round = 0; changed && round < ROUNDS_MAX; round++) {
        changed = 0;
        seen_table seen = {.capacity = 64};
        const uint32_t n = count_ops(function);
        while (seen.capacity < 2 * n) seen.capacity *= 2;
        seen.ops = PTO_SCRATCH(run, pto_op, seen.capacity);
        PTO_WALK(function, op) PTO_TRY(visit(run, op, &seen, &changed));
    }
    return pto_opt_bool(run, OPT_REMOVE) ? remove_unused(run, function) : PTO_OK;
}

static const pto_pass pass = {
    .struct_size = sizeof pass,
    .id = "pto.canonicalize",
    .summary = "Fold constants, merge equal ops, drop what does nothing or is not used",
    .scope = "function",
    .consumes = "tensor/1",
    .produces = "tensor/1",
    .kinds = pass_kinds,
    .options = pass_options,
    .stats = pass_stats,
    .run = run_pass,
};
PTO_PLUGIN("pto.canonicalize", "pass:pto.canonicalize", "", .version = "0.1.0", .license = "Apache-2.0",
           .passes = PTO_LIST(pto_pass, &pass));
