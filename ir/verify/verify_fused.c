/* tile.fused: its ops go through rows and columns of one valid region. Whether an op does is what the shapes of its
 * rule say: each of its tiles has the rows and the columns of that region, or one. */
#include "ir/op_rules.h"
#include "ir/verify/ranges.h"
#include "ir/verify/verifier_parts.h"

/* The region so far, and an op that has each of its extents; 0: none has. */
typedef struct walked {
    expr_id extent[2];
    op_id op[2];
} walked;

static bool is_along(const char *shape)
{
    return (shape[0] == 'r' || shape[0] == '1') && (shape[1] == 'c' || shape[1] == '1');
}

static bool goes_through_rows(const module *m, op_id o)
{
    const op_info *info = op_info_of(m, o);
    if (info->rule == RULE_NONE || info->home != HOME_TILE || op_block_count(m, o) != 0) return false;
    for (const operand_spec *spec = insn_operands[info->rule]; spec->types != 0; spec++)
        if ((spec->types & TY_TILE) != 0 && (spec->flags & OPERAND_SCRATCH) == 0 && !is_along(spec->shape))
            return false;
    for (uint32_t i = 0; i < op_result_count(m, o); i++)
        if (type_of_value(m, op_result(m, o, i))->kind != TYPE_TILE) return false;
    return true;
}

/* The extents of a tile against those of the ops before; one column may be beside many. */
static status check_extents(module *m, op_id o, value_id tile, const char *shape, walked *w)
{
    static const char letters[] = "rc";
    static const char *const words[] = {"rows", "columns"};
    expr_id valid[2];
    int64_t n = 0;
    if (!tile_valid(m, tile, valid)) return OK;
    for (uint32_t d = 0; d < 2; d++) {
        if (shape[d] != letters[d] || (d == 1 && expr_is_const(module_context(m), valid[d], &n) && n == 1)) continue;
        if (w->op[d] != 0 && !op_expr_same(m, o, w->extent[d], valid[d])) {
            status s = op_error(m, o, &E0220, "goes through %s %s in a `tile.fused` of %s", expr_words(m, o, valid[d]),
                                words[d], expr_words(m, o, w->extent[d]));
            op_note(m, w->op[d], "which are those of this op; put ops of another region into another `tile.fused`");
            return s;
        }
        w->extent[d] = valid[d];
        w->op[d] = o;
    }
    return OK;
}

static status check_op(module *m, op_id o, walked *w)
{
    const insn_rule rule = (insn_rule)op_info_of(m, o)->rule;
    if (!goes_through_rows(m, o))
        return op_error(m, o, &E0318,
                        "is in a `tile.fused`, which goes through the rows of one region: it holds loads, stores and "
                        "ops that go element by element, reduce or expand");
    if (op_result_count(m, o) != 0) TRY(check_extents(m, o, op_result(m, o, 0), insn_operands[rule][0].shape, w));
    const operand_spec *specs = insn_value_operands[rule];
    for (uint32_t i = 0; i < op_value_operand_count(m, o) && specs[i].types != 0; i++)
        if (specs[i].types == TY_TILE) TRY(check_extents(m, o, op_operand(m, o, i), specs[i].shape, w));
    return OK;
}

status verify_fused(module *m, uint32_t op)
{
    walked w = {{0}, {0}};
    if (op_kind_of(m, op_function(m, op)) != OP_BLOCK_KERNEL)
        return op_error(m, op, &E0318, "is outside of a `block.kernel`, whose instances alone have rows to go through");
    BLOCK_EACH_OP(m, o, op_block_at(m, op, 0)) {
        if (op_kind_of(m, o) == OP_YIELD) continue;
        TRY(check_op(m, o, &w));
    }
    return OK;
}
