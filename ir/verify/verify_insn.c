/* PTO instructions and the tile ops that are their value forms: one table of roles, then one check per rule.
 *
 * What depends on the machine (which dtypes, layouts and moves exist, alignment, capacities of spaces) is not here but
 * in the property checkers that read the machine file. */
#include "ir/verify/ranges.h"
#include "ir/verify/verifier_parts.h"

#include <inttypes.h>

typedef enum role { ROLE_NONE, ROLE_DST, ROLE_A, ROLE_B, ROLE_ACC, ROLE_MEMORY, ROLE_SCALAR, ROLE_COUNT } role;

/* Operands of the instruction in order. The value form is without ROLE_DST, and its store names the tile first. */
static const uint8_t roles[][4] = {
    [RULE_LOAD] = {ROLE_DST, ROLE_MEMORY},
    [RULE_STORE] = {ROLE_MEMORY, ROLE_A},
    [RULE_FILL] = {ROLE_DST, ROLE_SCALAR},
    [RULE_MOVE] = {ROLE_DST, ROLE_A},
    [RULE_UNARY] = {ROLE_DST, ROLE_A},
    [RULE_BINARY] = {ROLE_DST, ROLE_A, ROLE_B},
    [RULE_SCALAR] = {ROLE_DST, ROLE_A, ROLE_SCALAR},
    [RULE_CONVERT] = {ROLE_DST, ROLE_A},
    [RULE_ROW_REDUCE] = {ROLE_DST, ROLE_A},
    [RULE_COL_REDUCE] = {ROLE_DST, ROLE_A},
    [RULE_ROW_EXPAND] = {ROLE_DST, ROLE_A},
    [RULE_COL_EXPAND] = {ROLE_DST, ROLE_A},
    [RULE_ROW_BINARY] = {ROLE_DST, ROLE_A, ROLE_B},
    [RULE_COL_BINARY] = {ROLE_DST, ROLE_A, ROLE_B},
    [RULE_MATMUL] = {ROLE_DST, ROLE_A, ROLE_B},
    [RULE_MATMUL_ACC] = {ROLE_DST, ROLE_ACC, ROLE_A, ROLE_B},
    [RULE_FILLPAD] = {ROLE_DST, ROLE_A},
    [RULE_TRANSPOSE] = {ROLE_DST, ROLE_A},
};

typedef struct insn {
    module *m;
    op_id o;
    const op_info *info;
    bool value_form;
    value_id value[ROLE_COUNT];
    const type_node *type[ROLE_COUNT];
} insn;

static void put_role(insn *i, uint32_t r, value_id v)
{
    i->value[r] = v;
    i->type[r] = type_of_value(i->m, v);
}

static insn insn_of(module *m, op_id o)
{
    insn i = {.m = m, .o = o, .info = op_info_of(m, o)};
    i.value_form = i.info->home == HOME_TILE;
    const uint8_t *row = roles[i.info->rule];
    if (i.value_form && i.info->rule == RULE_STORE) {
        put_role(&i, ROLE_A, op_operand(m, o, 0));
        put_role(&i, ROLE_MEMORY, op_operand(m, o, 1));
        return i;
    }
    if (i.value_form) put_role(&i, ROLE_DST, op_result(m, o, 0));
    for (uint32_t k = 0, next = 0; k < 4 && row[k] != ROLE_NONE; k++)
        if (!i.value_form || row[k] != ROLE_DST) put_role(&i, row[k], op_operand(m, o, next++));
    return i;
}

/* The type in a role that the row's rule has. */
static const type_node *type_in(const insn *i, role r)
{
    BUG_IF(i->type[r] == NULL, "`%s` has nothing in role %d", i->info->name, (int)r);
    return i->type[r];
}

static const char *words_of(const insn *i, role r) { return type_words(i->m, value_type(i->m, i->value[r])); }

/* ---- element types ---- */

static status same_element(const insn *i, role a, role b)
{
    dtype x = type_in(i, a)->dtype, y = type_in(i, b)->dtype;
    if (x == y) return OK;
    return op_error(i->m, i->o, &E0212, "takes one element type, got %s and %s", dtype_name(x), dtype_name(y));
}

/* The accumulator leaves as f32, or rounded to a 16-bit float on its way to memory or to `mat`. */
static bool may_round_on_the_way(const type_node *from, dtype to)
{
    bool acc = from->space == SPACE_ACC || from->space == SPACE_NONE;
    return acc && from->dtype == DTYPE_F32 && (to == DTYPE_F16 || to == DTYPE_BF16);
}

static status matmul_elements(const insn *i)
{
    TRY(same_element(i, ROLE_A, ROLE_B));
    dtype from = type_in(i, ROLE_A)->dtype, want = from == DTYPE_I8 ? DTYPE_I32 : DTYPE_F32;
    dtype got = type_in(i, ROLE_DST)->dtype;
    if (got != want)
        return op_error(i->m, i->o, &E0212, "accumulates %s in %s, got %s", dtype_name(from), dtype_name(want),
                        dtype_name(got));
    if (i->type[ROLE_ACC] != NULL) return same_element(i, ROLE_DST, ROLE_ACC);
    return OK;
}

static status check_elements(const insn *i)
{
    switch ((insn_rule)i->info->rule) {
    case RULE_CONVERT:
        if ((i->info->dtypes & (1u << type_in(i, ROLE_DST)->dtype)) == 0)
            return op_error(i->m, i->o, &E0211, "cannot convert to %s", dtype_name(type_in(i, ROLE_DST)->dtype));
        return OK;
    case RULE_MATMUL:
    case RULE_MATMUL_ACC: return matmul_elements(i);
    case RULE_LOAD: return same_element(i, ROLE_DST, ROLE_MEMORY);
    case RULE_STORE:
        if (may_round_on_the_way(type_in(i, ROLE_A), type_in(i, ROLE_MEMORY)->dtype)) return OK;
        return same_element(i, ROLE_A, ROLE_MEMORY);
    case RULE_FILL: return same_element(i, ROLE_DST, ROLE_SCALAR);
    case RULE_MOVE:
        if (may_round_on_the_way(type_in(i, ROLE_A), type_in(i, ROLE_DST)->dtype)) return OK;
        return same_element(i, ROLE_DST, ROLE_A);
    case RULE_SCALAR: TRY(same_element(i, ROLE_A, ROLE_SCALAR)); return same_element(i, ROLE_DST, ROLE_A);
    default: break;
    }
    if (i->type[ROLE_B] != NULL) TRY(same_element(i, ROLE_A, ROLE_B));
    return same_element(i, ROLE_DST, ROLE_A);
}

/* ---- spaces and layouts ---- */

static status want_space(const insn *i, role r, uint32_t legal, const char *words)
{
    if (i->type[r] == NULL || i->type[r]->kind != TYPE_TILE) return OK;
    space s = i->type[r]->space;
    if (s == SPACE_NONE && i->value_form) return OK;
    if (s != SPACE_NONE && (legal & (1u << s)) != 0) return OK;
    return op_error(i->m, i->o, &E0221, "has %s in space `%s`; legal: %s", words_of(i, r), space_name(s), words);
}

static status check_spaces(const insn *i)
{
    enum {
        VEC = 1 << SPACE_VEC,
        MAT = 1 << SPACE_MAT,
        LEFT = 1 << SPACE_LEFT,
        RIGHT = 1 << SPACE_RIGHT,
        ACC = 1 << SPACE_ACC
    };
    switch ((insn_rule)i->info->rule) {
    case RULE_LOAD: return want_space(i, ROLE_DST, VEC | MAT, "vec, mat");
    case RULE_STORE: return want_space(i, ROLE_A, VEC | MAT | ACC, "vec, mat, acc");
    case RULE_MOVE:
        TRY(want_space(i, ROLE_A, ~(1u << SPACE_GM), "any on-chip space"));
        return want_space(i, ROLE_DST, ~(1u << SPACE_GM), "any on-chip space");
    case RULE_MATMUL:
    case RULE_MATMUL_ACC:
        TRY(want_space(i, ROLE_A, LEFT, "left"));
        TRY(want_space(i, ROLE_B, RIGHT, "right"));
        TRY(want_space(i, ROLE_ACC, ACC, "acc"));
        return want_space(i, ROLE_DST, ACC, "acc");
    case RULE_FILL: return want_space(i, ROLE_DST, VEC | MAT, "vec, mat");
    case RULE_FILLPAD:
        TRY(want_space(i, ROLE_A, VEC | MAT, "vec, mat"));
        return want_space(i, ROLE_DST, VEC | MAT, "vec, mat");
    default: break;
    }
    TRY(want_space(i, ROLE_A, VEC, "vec"));
    TRY(want_space(i, ROLE_B, VEC, "vec"));
    return want_space(i, ROLE_DST, VEC, "vec");
}

static status same_layout(const insn *i, role a, role b)
{
    layout x = i->type[a]->layout, y = i->type[b]->layout;
    if (x == LAYOUT_NONE || y == LAYOUT_NONE || x == y) return OK;
    return op_error(i->m, i->o, &E0222, "needs one layout, got %s and %s", layout_name(x), layout_name(y));
}

static status check_layouts(const insn *i)
{
    switch ((insn_rule)i->info->rule) {
    case RULE_UNARY:
    case RULE_SCALAR:
    case RULE_CONVERT:
    case RULE_FILLPAD:
    case RULE_ROW_BINARY:
    case RULE_COL_BINARY: return same_layout(i, ROLE_DST, ROLE_A);
    case RULE_BINARY: TRY(same_layout(i, ROLE_DST, ROLE_A)); return same_layout(i, ROLE_A, ROLE_B);
    case RULE_MATMUL_ACC: return same_layout(i, ROLE_DST, ROLE_ACC);
    default: return OK;
    }
}

/* ---- capacities ---- */

/* While no layout is fixed capacities follow from the rule; layouts round them up, each in its own way. */
static status same_extent(const insn *i, role a, uint32_t a_dim, role b, uint32_t b_dim)
{
    const type_node *x = i->type[a], *y = i->type[b];
    if (x->layout != LAYOUT_NONE || y->layout != LAYOUT_NONE || x->dims[a_dim] == y->dims[b_dim]) return OK;
    static const char *const what[] = {"rows", "columns"};
    return op_error(i->m, i->o, &E0220, "needs as many %s in %s as %s in %s", what[a_dim], words_of(i, a), what[b_dim],
                    words_of(i, b));
}

static status want_one(const insn *i, role r, uint32_t dim)
{
    int64_t n;
    if (i->type[r]->layout != LAYOUT_NONE || (expr_is_const(module_context(i->m), i->type[r]->dims[dim], &n) && n == 1))
        return OK;
    return op_error(i->m, i->o, &E0220, "needs one %s in %s", dim == 0 ? "row" : "column", words_of(i, r));
}

static status same_extents(const insn *i, role a, role b)
{
    TRY(same_extent(i, a, 0, b, 0));
    return same_extent(i, a, 1, b, 1);
}

static status check_matmul_extents(const insn *i)
{
    TRY(same_extent(i, ROLE_A, 1, ROLE_B, 0));
    TRY(same_extent(i, ROLE_DST, 0, ROLE_A, 0));
    TRY(same_extent(i, ROLE_DST, 1, ROLE_B, 1));
    return i->type[ROLE_ACC] == NULL ? OK : same_extents(i, ROLE_DST, ROLE_ACC);
}

static status check_extents(const insn *i)
{
    switch ((insn_rule)i->info->rule) {
    case RULE_UNARY:
    case RULE_SCALAR:
    case RULE_CONVERT: return same_extents(i, ROLE_DST, ROLE_A);
    case RULE_BINARY: TRY(same_extents(i, ROLE_A, ROLE_B)); return same_extents(i, ROLE_DST, ROLE_A);
    case RULE_ROW_REDUCE: TRY(want_one(i, ROLE_DST, 1)); return same_extent(i, ROLE_DST, 0, ROLE_A, 0);
    case RULE_COL_REDUCE: TRY(want_one(i, ROLE_DST, 0)); return same_extent(i, ROLE_DST, 1, ROLE_A, 1);
    case RULE_ROW_EXPAND: TRY(want_one(i, ROLE_A, 1)); return same_extent(i, ROLE_DST, 0, ROLE_A, 0);
    case RULE_COL_EXPAND: TRY(want_one(i, ROLE_A, 0)); return same_extent(i, ROLE_DST, 1, ROLE_A, 1);
    case RULE_ROW_BINARY:
        TRY(want_one(i, ROLE_B, 1));
        TRY(same_extent(i, ROLE_A, 0, ROLE_B, 0));
        return same_extents(i, ROLE_DST, ROLE_A);
    case RULE_COL_BINARY:
        TRY(want_one(i, ROLE_B, 0));
        TRY(same_extent(i, ROLE_A, 1, ROLE_B, 1));
        return same_extents(i, ROLE_DST, ROLE_A);
    case RULE_MATMUL:
    case RULE_MATMUL_ACC: return check_matmul_extents(i);
    case RULE_TRANSPOSE: TRY(same_extent(i, ROLE_DST, 0, ROLE_A, 1)); return same_extent(i, ROLE_DST, 1, ROLE_A, 0);
    default: return OK;
    }
}

/* ---- valid regions ---- */

static status valid_of(const insn *i, role r, expr_id out[2])
{
    if (tile_valid(i->m, i->value[r], out)) return OK;
    return op_error(i->m, i->o, &E0223, "uses %s, whose valid region is not known", value_words(i->m, i->value[r]));
}

static status same_valid(const insn *i, role a, uint32_t a_dim, role b, uint32_t b_dim)
{
    static const char *const what[] = {"rows", "columns"};
    expr_id x[2], y[2];
    TRY(valid_of(i, a, x));
    TRY(valid_of(i, b, y));
    if (op_expr_same(i->m, i->o, x[a_dim], y[b_dim])) return OK;
    return op_error(i->m, i->o, &E0223, "needs as many valid %s in %s as valid %s in %s, got %s and %s", what[a_dim],
                    value_words(i->m, i->value[a]), what[b_dim], value_words(i->m, i->value[b]),
                    expr_words(i->m, i->o, x[a_dim]), expr_words(i->m, i->o, y[b_dim]));
}

static status one_valid(const insn *i, role r, uint32_t dim)
{
    expr_id v[2];
    int64_t n;
    TRY(valid_of(i, r, v));
    if (expr_is_const(module_context(i->m), v[dim], &n) && n == 1) return OK;
    return op_error(i->m, i->o, &E0223, "needs one valid %s in %s, got %s", dim == 0 ? "row" : "column",
                    value_words(i->m, i->value[r]), expr_words(i->m, i->o, v[dim]));
}

static status same_valids(const insn *i, role a, role b)
{
    if (i->value[a] == i->value[b]) return OK;
    TRY(same_valid(i, a, 0, b, 0));
    return same_valid(i, a, 1, b, 1);
}

/* Sources among themselves. */
static status check_source_valid(const insn *i)
{
    switch ((insn_rule)i->info->rule) {
    case RULE_BINARY: return same_valids(i, ROLE_A, ROLE_B);
    case RULE_ROW_EXPAND: return one_valid(i, ROLE_A, 1);
    case RULE_COL_EXPAND: return one_valid(i, ROLE_A, 0);
    case RULE_ROW_BINARY: TRY(one_valid(i, ROLE_B, 1)); return same_valid(i, ROLE_A, 0, ROLE_B, 0);
    case RULE_COL_BINARY: TRY(one_valid(i, ROLE_B, 0)); return same_valid(i, ROLE_A, 1, ROLE_B, 1);
    case RULE_MATMUL: return same_valid(i, ROLE_A, 1, ROLE_B, 0);
    case RULE_MATMUL_ACC:
        TRY(same_valid(i, ROLE_A, 1, ROLE_B, 0));
        TRY(same_valid(i, ROLE_ACC, 0, ROLE_A, 0));
        return same_valid(i, ROLE_ACC, 1, ROLE_B, 1);
    default: return OK;
    }
}

/* The destination of an instruction is a descriptor with a valid region of its own; that of a value form follows from
 * the sources by definition. */
static status check_target_valid(const insn *i)
{
    switch ((insn_rule)i->info->rule) {
    case RULE_MOVE:
    case RULE_UNARY:
    case RULE_SCALAR:
    case RULE_CONVERT:
    case RULE_BINARY:
    case RULE_ROW_BINARY:
    case RULE_COL_BINARY: return same_valids(i, ROLE_DST, ROLE_A);
    case RULE_ROW_REDUCE: TRY(one_valid(i, ROLE_DST, 1)); return same_valid(i, ROLE_DST, 0, ROLE_A, 0);
    case RULE_COL_REDUCE: TRY(one_valid(i, ROLE_DST, 0)); return same_valid(i, ROLE_DST, 1, ROLE_A, 1);
    case RULE_ROW_EXPAND: return same_valid(i, ROLE_DST, 0, ROLE_A, 0);
    case RULE_COL_EXPAND: return same_valid(i, ROLE_DST, 1, ROLE_A, 1);
    case RULE_MATMUL: TRY(same_valid(i, ROLE_DST, 0, ROLE_A, 0)); return same_valid(i, ROLE_DST, 1, ROLE_B, 1);
    case RULE_MATMUL_ACC: return same_valids(i, ROLE_DST, ROLE_ACC);
    case RULE_TRANSPOSE: TRY(same_valid(i, ROLE_DST, 0, ROLE_A, 1)); return same_valid(i, ROLE_DST, 1, ROLE_A, 0);
    default: return OK;
    }
}

/* ---- loads, stores, fills ---- */

static status check_load(const insn *i)
{
    expr_id extent[2];
    bool transpose = op_attr_int(i->m, i->o, "transpose", 0) != 0;
    if (i->value_form) {
        uint32_t have = op_index_count(i->m, i->o, "sizes");
        if (have != 2) return op_error(i->m, i->o, &E0226, "has %" PRIu32 " sizes and needs 2, rows and columns", have);
        extent[0] = op_index_expr(i->m, i->o, "sizes", 0);
        extent[1] = op_index_expr(i->m, i->o, "sizes", 1);
        TRY(check_valid_fits(i->m, i->o, value_type(i->m, i->value[ROLE_DST]), extent[0], extent[1]));
        TRY(verify_window(i->m, i->o, i->type[ROLE_MEMORY], transpose, extent));
        return verify_access(i->m, i->o, i->value[ROLE_MEMORY], false, transpose, extent);
    }
    TRY(valid_of(i, ROLE_DST, extent));
    TRY(verify_window(i->m, i->o, i->type[ROLE_MEMORY], transpose, extent));
    return verify_access(i->m, i->o, i->value[ROLE_MEMORY], false, transpose, extent);
}

static status check_store(const insn *i)
{
    expr_id extent[2];
    value_id target = i->value[ROLE_MEMORY];
    if (type_in(i, ROLE_MEMORY)->kind == TYPE_TENSOR) {
        op_id owner = value_op(i->m, target) == 0 ? block_parent(i->m, value_block(i->m, target)) : 0;
        if (owner == 0 || op_kind_of(i->m, owner) != OP_FORALL)
            return op_error(i->m, i->o, &E0331, "stores to the tensor %s, which is not an `out` of a `forall`",
                            value_words(i->m, target));
    }
    TRY(valid_of(i, ROLE_A, extent));
    TRY(verify_window(i->m, i->o, i->type[ROLE_MEMORY], false, extent));
    return verify_access(i->m, i->o, target, true, false, extent);
}

static status check_fill(const insn *i)
{
    if (!i->value_form) return OK;
    TRY(check_index_count(i->m, i->o, "valid", 2));
    return check_valid_fits(i->m, i->o, value_type(i->m, i->value[ROLE_DST]), op_index_expr(i->m, i->o, "valid", 0),
                            op_index_expr(i->m, i->o, "valid", 1));
}

status verify_insn(module *m, op_id o)
{
    insn i = insn_of(m, o);
    TRY(check_elements(&i));
    TRY(check_spaces(&i));
    TRY(check_layouts(&i));
    TRY(check_extents(&i));
    TRY(check_source_valid(&i));
    if (!i.value_form) TRY(check_target_valid(&i));
    switch ((insn_rule)i.info->rule) {
    case RULE_LOAD: return check_load(&i);
    case RULE_STORE: return check_store(&i);
    case RULE_FILL: return check_fill(&i);
    default: return OK;
    }
}
