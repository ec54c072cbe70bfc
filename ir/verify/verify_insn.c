/* PTO instructions and the tile ops that are their value forms, checked against the row of their rule
 * (ir/ops/rules.def).
 *
 * What depends on the machine (which dtypes, layouts and moves exist, alignment, capacities of spaces) is not here but
 * in the property checkers that read the machine file. */
#include "ir/verify/ranges.h"
#include "ir/verify/verifier_parts.h"

#include <inttypes.h>

enum { TARGET = 0, FIRST_SOURCE = 1 };

/* The operands of the instruction in the order of its rule, scratch left out, whichever form is looked at. */
typedef struct insn {
    module *m;
    op_id o;
    const op_info *info;
    const insn_rule_row *rule;
    const operand_spec *spec;
    bool value_form;
    uint32_t count;
    value_id value[INSN_OPERANDS_MAX];
    const type_node *type[INSN_OPERANDS_MAX];
} insn;

static value_id operand_of(const insn *i, uint32_t k)
{
    if (!i->value_form) return op_operand(i->m, i->o, k);
    if (k != TARGET) return op_operand(i->m, i->o, k - 1);
    return i->info->out_count != 0 ? op_result(i->m, i->o, 0) : op_operand(i->m, i->o, i->count - 1);
}

static insn insn_of(module *m, op_id o)
{
    const op_info *info = op_info_of(m, o);
    insn i = {.m = m,
              .o = o,
              .info = info,
              .rule = insn_rule_at((insn_rule)info->rule),
              .spec = insn_operands[info->rule],
              .value_form = info->home == HOME_TILE};
    while (i.spec[i.count].types != 0 && (i.spec[i.count].flags & OPERAND_SCRATCH) == 0) i.count++;
    BUG_IF(i.count == 0, "%s: its rule has no target", info->name);
    for (uint32_t k = 0; k < i.count; k++) {
        i.value[k] = operand_of(&i, k);
        i.type[k] = type_of_value(m, i.value[k]);
    }
    return i;
}

static bool has_flag(const insn *i, uint32_t k, uint32_t flag) { return (i->spec[k].flags & flag) != 0; }

static const char *words_of(const insn *i, uint32_t k) { return type_words(i->m, value_type(i->m, i->value[k])); }

/* ---- element types ---- */

/* The accumulator, operand k, leaves as it is, or rounded to a 16-bit float on its way; scaled as a narrower type. */
static bool may_round_on_the_way(const insn *i, uint32_t k, dtype from, dtype to)
{
    const type_node *source = i->type[k];
    bool acc =
        source->space == SPACE_NONE || space_role_of(module_context(i->m), source->space) == SPACE_ROLE_ACCUMULATOR;
    const uint32_t scaled = DT(F16) | DT(I8) | DT(U8) | (from == DTYPE_F32 ? DT(BF16) : 0);
    if (!i->rule->rounds || !acc) return false;
    const uint32_t bytes = DT(I8) | DT(U8), by_column = from == DTYPE_F32   ? (i->rule->by_column == 1 ? bytes : DT(I8))
                                                        : from == DTYPE_I32 ? bytes | DT(F16)
                                                                            : 0;
    if (i->rule->by_column) return (by_column >> to & 1) != 0;
    if (op_attr(i->m, i->o, "scale") != 0) return (from == DTYPE_F32 || from == DTYPE_I32) && (scaled >> to & 1) != 0;
    return from == DTYPE_F32 && (to == DTYPE_F16 || to == DTYPE_BF16);
}

static dtype sum_of(dtype d) { return d == DTYPE_I8 ? DTYPE_I32 : DTYPE_F32; }

/* Of an operand that has an element type of its own, whatever the others have. */
static status check_own_element(const insn *i, uint32_t k, dtype got)
{
    if (has_flag(i, k, OPERAND_FACTORS)) return OK; /* its row says which types it may have */
    const dtype only = has_flag(i, k, OPERAND_INDEX) ? DTYPE_I32 : DTYPE_REC64;
    if (got == only) return OK;
    return op_error(i->m, i->o, &E0211, "has `%s` of %s; legal: %s", i->spec[k].name, dtype_name(got),
                    dtype_name(only));
}

static bool is_rounded(const insn *i, uint32_t k, dtype to)
{
    space s = i->type[k]->space;
    return has_flag(i, k, OPERAND_ROUNDED) && i->type[k]->dtype == DTYPE_F32 && (to == DTYPE_F16 || to == DTYPE_BF16) &&
           (s == SPACE_NONE || space_role_of(module_context(i->m), s) == SPACE_ROLE_ACCUMULATOR);
}

/* Operand k against a source of the one element type that the instruction has. */
static status check_element(const insn *i, uint32_t source, uint32_t k)
{
    dtype from = i->type[source]->dtype, got = i->type[k]->dtype;
    if (has_flag(i, k, OPERAND_SUMS)) {
        if (got == sum_of(from)) return OK;
        return op_error(i->m, i->o, &E0212, "accumulates %s in %s, got %s", dtype_name(from), dtype_name(sum_of(from)),
                        dtype_name(got));
    }
    if (has_flag(i, k, OPERAND_MASK)) {
        if (got == DTYPE_MASK) return OK;
        return op_error(i->m, i->o, &E0212, "has one bit for each element in %s, which is not a tile of `mask`",
                        words_of(i, k));
    }
    if (has_flag(i, k, OPERAND_FACTORS | OPERAND_INDEX | OPERAND_RECORD)) return check_own_element(i, k, got);
    if (has_flag(i, k, OPERAND_CONVERTED)) {
        if ((op_info_target_dtypes(i->info) & (1u << got)) != 0) return OK;
        return op_error(i->m, i->o, &E0211, "cannot convert to %s", dtype_name(got));
    }
    const bool is_target = k == TARGET || has_flag(i, k, OPERAND_CONTINUED);
    if (is_target && may_round_on_the_way(i, source, from, got)) return OK;
    if (is_target && i->rule->by_column)
        return op_error(i->m, i->o, &E0212, "%s and i32 as f16, i8 or u8; got %s as %s",
                        i->rule->by_column == 1 ? "stores f32 as i8 or u8" : "makes f32 i8", dtype_name(from),
                        dtype_name(got));
    if (k == TARGET && op_attr(i->m, i->o, "scale") != 0)
        return op_error(i->m, i->o, &E0212,
                        "has `scale`, so it stores an accumulator as f16, i8 or u8, of f32 also as "
                        "bf16; got %s as %s",
                        dtype_name(from), dtype_name(got));
    if (got == from || is_rounded(i, k, from)) return OK;
    return op_error(i->m, i->o, &E0212, "takes one element type, got %s and %s", dtype_name(k == TARGET ? got : from),
                    dtype_name(k == TARGET ? from : got));
}

/* Operands whose element type says nothing of that of the others. */
enum { OWN_TYPE = OPERAND_SUMS | OPERAND_MASK | OPERAND_INDEX | OPERAND_RECORD | OPERAND_FACTORS };

static status check_elements(const insn *i)
{
    uint32_t source = FIRST_SOURCE;
    if (i->count == FIRST_SOURCE) return OK; /* of nothing: its row says which types it may have */
    if (i->rule->by_column) source = i->count - 2;
    while (source + 1 < i->count && has_flag(i, source, OWN_TYPE)) source++;
    for (uint32_t k = FIRST_SOURCE; k < i->count; k++)
        if (k != source) TRY(check_element(i, source, k));
    return check_element(i, source, TARGET);
}

/* ---- spaces and layouts ---- */

static status wrong_space(const insn *i, uint32_t k)
{
    text_buffer legal;
    text_init(&legal);
    const char *separator = "";
    const ir_context *c = module_context(i->m);
    for (space s = SPACE_NONE + 1; s < role_names_count(context_names(c), NAME_SPACE); s++) {
        if ((i->spec[k].spaces >> space_role_of(c, s) & 1) == 0) continue;
        text_printf(&legal, "%s%s", separator, space_name(c, s));
        separator = ", ";
    }
    status s = op_error(i->m, i->o, &E0221, "has %s in space `%s`; legal: %s", words_of(i, k),
                        space_name(c, i->type[k]->space), legal.n == 0 ? "" : legal.p);
    text_fini(&legal);
    return s;
}

static status check_spaces(const insn *i)
{
    for (uint32_t k = 0; k < i->count; k++) {
        if (i->type[k]->kind != TYPE_TILE) continue;
        space s = i->type[k]->space;
        space_role role = space_role_of(module_context(i->m), s);
        bool legal = s == SPACE_NONE ? i->value_form : (i->spec[k].spaces >> role & 1) != 0;
        if (!legal) return wrong_space(i, k);
    }
    return OK;
}

static status check_layouts(const insn *i)
{
    const ir_context *c = module_context(i->m);
    layout target = i->type[TARGET]->layout;
    for (uint32_t k = FIRST_SOURCE; k < i->count; k++) {
        layout l = i->type[k]->layout;
        if (!has_flag(i, k, OPERAND_SAME_LAYOUT) || l == LAYOUT_NONE || target == LAYOUT_NONE || l == target) continue;
        return op_error(i->m, i->o, &E0222, "needs one layout, got %s and %s", layout_name(c, target),
                        layout_name(c, l));
    }
    return OK;
}

/* ---- shapes: capacities and valid regions ---- */

static const char *const dim_words[] = {"row", "column"};

/* While no layout is fixed capacities follow from the rule; layouts round them up, each in its own way. */
static status one_extent(const insn *i, uint32_t k, uint32_t dim)
{
    int64_t n;
    if (i->type[k]->layout != LAYOUT_NONE || (expr_is_const(module_context(i->m), i->type[k]->dims[dim], &n) && n == 1))
        return OK;
    return op_error(i->m, i->o, &E0220, "needs one %s in %s", dim_words[dim], words_of(i, k));
}

static status same_extent(const insn *i, uint32_t a, uint32_t a_dim, uint32_t b, uint32_t b_dim)
{
    const type_node *x = i->type[a], *y = i->type[b];
    if (x->layout != LAYOUT_NONE || y->layout != LAYOUT_NONE || x->dims[a_dim] == y->dims[b_dim]) return OK;
    return op_error(i->m, i->o, &E0220, "needs as many %ss in %s as %ss in %s", dim_words[a_dim], words_of(i, a),
                    dim_words[b_dim], words_of(i, b));
}

static status valid_of(const insn *i, uint32_t k, expr_id out[2])
{
    if (tile_valid(i->m, i->value[k], out)) return OK;
    return op_error(i->m, i->o, &E0223, "uses %s, whose valid region is not known", value_words(i->m, i->value[k]));
}

static status one_valid(const insn *i, uint32_t k, uint32_t dim)
{
    expr_id v[2];
    int64_t n;
    TRY(valid_of(i, k, v));
    if (expr_is_const(module_context(i->m), v[dim], &n) && n == 1) return OK;
    return op_error(i->m, i->o, &E0223, "needs one valid %s in %s, got %s", dim_words[dim],
                    value_words(i->m, i->value[k]), expr_words(i->m, i->o, v[dim]));
}

static status same_valid(const insn *i, uint32_t a, uint32_t a_dim, uint32_t b, uint32_t b_dim)
{
    expr_id x[2], y[2];
    if (i->value[a] == i->value[b] && a_dim == b_dim) return OK;
    TRY(valid_of(i, a, x));
    TRY(valid_of(i, b, y));
    if (op_expr_same(i->m, i->o, x[a_dim], y[b_dim])) return OK;
    return op_error(i->m, i->o, &E0223, "needs as many valid %ss in %s as valid %ss in %s, got %s and %s",
                    dim_words[a_dim], value_words(i->m, i->value[a]), dim_words[b_dim], value_words(i->m, i->value[b]),
                    expr_words(i->m, i->o, x[a_dim]), expr_words(i->m, i->o, y[b_dim]));
}

static bool same_type(const insn *i, uint32_t a, uint32_t b) { return i->type[a] == i->type[b]; }
static bool same_value(const insn *i, uint32_t a, uint32_t b) { return i->value[a] == i->value[b]; }

typedef struct shape_checks {
    bool (*are_equal)(const insn *, uint32_t, uint32_t); /* then what one letter names is the same */
    status (*is_one)(const insn *, uint32_t, uint32_t);
    status (*are_same)(const insn *, uint32_t, uint32_t, uint32_t, uint32_t);
} shape_checks;

/* An extent of operand k against the first source before `end` that has one of its letter. */
static status check_letter(const insn *i, const shape_checks *c, uint32_t k, uint32_t dim, uint32_t end)
{
    char letter = i->spec[k].shape[dim];
    if (letter == '1') return c->is_one(i, k, dim);
    for (uint32_t other = FIRST_SOURCE; letter != 0 && other < end; other++)
        for (uint32_t d = 0; d < 2; d++)
            if (i->spec[other].shape[d] == letter)
                return k == TARGET ? c->are_same(i, k, dim, other, d) : c->are_same(i, other, d, k, dim);
    return OK;
}

/* Most operands have the letters of the first source, and its type or value: nothing is left to compare. */
static bool is_like_first(const insn *i, const shape_checks *c, uint32_t k)
{
    if (i->count == FIRST_SOURCE) return false;
    const char *a = i->spec[k].shape, *b = i->spec[FIRST_SOURCE].shape;
    return a[0] == b[0] && a[1] == b[1] && a[0] != '1' && a[1] != '1' && c->are_equal(i, k, FIRST_SOURCE);
}

static status check_sources(const insn *i, const shape_checks *c)
{
    for (uint32_t k = FIRST_SOURCE; k < i->count; k++)
        for (uint32_t dim = 0; dim < 2 && !is_like_first(i, c, k); dim++) TRY(check_letter(i, c, k, dim, k));
    return OK;
}

static status check_target(const insn *i, const shape_checks *c)
{
    for (uint32_t dim = 0; dim < 2 && !is_like_first(i, c, TARGET); dim++)
        TRY(check_letter(i, c, TARGET, dim, i->count));
    return OK;
}

static status check_shapes(const insn *i)
{
    static const shape_checks capacities = {same_type, one_extent, same_extent},
                              regions = {same_value, one_valid, same_valid};
    if (!i->rule->own_capacities) {
        TRY(check_sources(i, &capacities));
        TRY(check_target(i, &capacities));
    }
    TRY(check_sources(i, &regions));
    /* The target of an instruction is a descriptor with a valid region of its own; that of a value form follows from
     * the sources. */
    return i->value_form ? OK : check_target(i, &regions);
}

/* ---- what touches memory, what states its valid region ---- */

/* Two words for each column of the operand before. */
static status check_factors(const insn *i)
{
    const uint32_t last = i->count - 1;
    expr_id words[2], stored[2];
    TRY(valid_of(i, last - 1, stored));
    TRY(valid_of(i, last, words));
    ir_context *c = module_context(i->m);
    const expr_id needed = expr_mul(c, stored[1], expr_const(c, 2));
    if (needed != 0 && op_expr_same(i->m, i->o, words[1], needed)) return OK;
    return op_error(i->m, i->o, &E0223, "needs two words in %s for each column that it stores, got %s for %s",
                    value_words(i->m, i->value[last]), expr_words(i->m, i->o, words[1]),
                    expr_words(i->m, i->o, stored[1]));
}

static status check_load(const insn *i, uint32_t memory)
{
    expr_id extent[2];
    bool transpose = op_attr_int(i->m, i->o, "transpose", 0) != 0;
    if (i->value_form) {
        extent[0] = op_index_expr(i->m, i->o, i->rule->valid, 0);
        extent[1] = op_index_expr(i->m, i->o, i->rule->valid, 1);
    } else {
        TRY(valid_of(i, TARGET, extent));
    }
    TRY(verify_window(i->m, i->o, i->type[memory], transpose, extent));
    return verify_access(i->m, i->o, i->value[memory], false, transpose, extent);
}

static status check_store(const insn *i)
{
    expr_id extent[2];
    value_id target = i->value[TARGET];
    if (i->type[TARGET]->kind == TYPE_TENSOR) {
        op_id owner = value_op(i->m, target) == 0 ? block_parent(i->m, value_block(i->m, target)) : 0;
        if (owner == 0 || op_kind_of(i->m, owner) != OP_FORALL)
            return op_error(i->m, i->o, &E0331, "stores to the tensor %s, which is not an `out` of a `forall`",
                            value_words(i->m, target));
    }
    TRY(valid_of(i, FIRST_SOURCE, extent));
    TRY(verify_window(i->m, i->o, i->type[TARGET], false, extent));
    return verify_access(i->m, i->o, target, true, false, extent);
}

static status check_stated_region(const insn *i)
{
    const char *name = i->rule->valid;
    if (!i->value_form || name == NULL) return OK;
    TRY(check_index_count(i->m, i->o, name, 2));
    return check_valid_fits(i->m, i->o, value_type(i->m, i->value[TARGET]), op_index_expr(i->m, i->o, name, 0),
                            op_index_expr(i->m, i->o, name, 1));
}

/* A rule that writes no operand: both forms have the tile as their operand, and its scalar as their result or none. */
static status check_read(module *m, op_id o)
{
    const op_info *info = op_info_of(m, o);
    insn i = {.m = m,
              .o = o,
              .info = info,
              .spec = insn_operands[info->rule],
              .value_form = info->home == HOME_TILE,
              .count = 1,
              .value = {op_operand(m, o, 0)}};
    i.type[0] = type_of_value(m, i.value[0]);
    TRY(check_spaces(&i));
    if (info->out_count == 0) return OK;
    dtype to = type_of_value(m, op_result(m, o, 0))->dtype;
    if (i.type[0]->dtype != to)
        return op_error(m, o, &E0212, "takes one element type, got %s and %s", dtype_name(i.type[0]->dtype),
                        dtype_name(to));
    return check_index_count(m, o, "offsets", 2);
}

status verify_insn(module *m, op_id o)
{
    if ((insn_operands[op_info_of(m, o)->rule][TARGET].flags & OPERAND_WRITTEN) == 0) return check_read(m, o);
    insn i = insn_of(m, o);
    TRY(check_elements(&i));
    TRY(check_spaces(&i));
    TRY(check_layouts(&i));
    TRY(check_shapes(&i));
    TRY(check_stated_region(&i));
    if (i.rule->by_column) TRY(check_factors(&i));
    if (i.spec[TARGET].types == TY_GM) return check_store(&i);
    for (uint32_t k = FIRST_SOURCE; k < i.count; k++)
        if (i.spec[k].types == TY_GM) return check_load(&i, k);
    return op_attr(m, o, "offsets") != 0 ? check_index_count(m, o, "offsets", 2) : OK;
}
