#include "fused_run.h"

/* ---- memory ---- */

/* Whether both store to the same rows of one memory, each to columns of its own. */
static int are_beside(const fused_member *a, const fused_member *b)
{
    const pto_value memory = fused_memory_of(a->op, a->kind);
    pto_expr valid[2];
    int64_t apart = 0;
    if (a->kind != FUSED_STORE || b->kind != FUSED_STORE || memory.index != fused_memory_of(b->op, b->kind).index)
        return 0;
    const uint32_t rank = pto_type_rank(pto_value_type(memory));
    for (uint32_t d = 0; d + 1 < rank; d++)
        if (!pto_expr_equal(pto_expr_of(a->op, PTO_STR("offsets"), d), pto_expr_of(b->op, PTO_STR("offsets"), d)))
            return 0;
    const pto_expr first = pto_expr_of(a->op, PTO_STR("offsets"), rank - 1),
                   second = pto_expr_of(b->op, PTO_STR("offsets"), rank - 1);
    if (!pto_expr_is_const(pto_expr_sub(second, first), &apart)) return 0;
    if (pto_value_valid(pto_op_operand(apart > 0 ? a->op : b->op, 0), valid) != PTO_OK) return 0;
    return pto_expr_range(valid[1], a->op, NULL).hi <= (apart > 0 ? apart : -apart);
}

/* A load and a store, or two stores, of what may be the same memory do not share a walk. */
static int clashes(const fused_model *m, const fused_run *r, const fused_member *f)
{
    const pto_value memory = fused_memory_of(f->op, f->kind);
    for (uint32_t i = 0; PTO_SOME(memory) && i < r->count; i++) {
        const fused_member *other = &r->members[i];
        const pto_value others = fused_memory_of(other->op, other->kind);
        if (PTO_SOME(others) && (fused_is_store(f->kind) || fused_is_store(other->kind)) &&
            fused_may_overlap(m, memory, others) && !are_beside(other, f))
            return 1;
    }
    return 0;
}

/* ---- values ---- */

static int is_made_inside(const fused_run *r, pto_value v)
{
    const pto_op def = pto_value_op(v);
    for (uint32_t i = 0; PTO_SOME(def) && i < r->count; i++)
        if (pto_op_same(r->members[i].op, def)) return 1;
    return 0;
}

static int reads_inside(const fused_run *r, pto_op op)
{
    for (uint32_t i = 0; i < pto_op_operand_count(op); i++)
        if (is_made_inside(r, pto_op_operand(op, i))) return 1;
    return 0;
}

/* Row by row, a tile of one row that is spread down the columns is complete before the first row only when it is made
 * elsewhere. */
static int spreads_inside(const fused_run *r, pto_op op)
{
    int64_t n = 0;
    if (pto_expr_is_const(r->rows, &n) && n == 1) return 0;
    for (uint32_t i = 0; i < pto_op_operand_count(op); i++)
        if (fused_repeats_row(op, i) && is_made_inside(r, pto_op_operand(op, i))) return 1;
    return 0;
}

/* ---- joining ---- */

const char *fused_run_refuses(const fused_model *m, const fused_run *r, const fused_member *f, const pto_expr region[2])
{
    if (r->count == 0) return NULL;
    if (clashes(m, r, f)) return "it and one of them share memory, and one of both writes";
    if (!pto_expr_equal(r->rows, region[0])) return "it goes through other rows";
    if (spreads_inside(r, f->op)) return "it needs all rows of what one of them makes";
    if (fused_is_of_row(f->kind) || !r->has_columns || pto_expr_equal(r->columns, region[1])) return NULL;
    return "it goes through other columns";
}

void fused_run_join(const fused_model *m, fused_run *r, const fused_member *f, const pto_expr region[2])
{
    if (r->count == 0) {
        r->rows = region[0];
        r->has_columns = 0;
    }
    if (!fused_is_of_row(f->kind) && !r->has_columns) {
        r->columns = region[1];
        r->has_columns = 1;
    }
    PTO_GROW(m->run, r->members, r->count, r->capacity);
    r->members[r->count++] = *f;
}

int fused_run_lets_pass(const fused_model *m, const fused_run *r, const fused_member *f)
{
    return !fused_is_store(f->kind) && !reads_inside(r, f->op) && !clashes(m, r, f) &&
           !fused_shares_storage(m, pto_op_result(f->op, 0));
}

const char *fused_run_read(const fused_model *m, pto_op fused, fused_run *r, pto_op *bad)
{
    const pto_block body = pto_body(fused);
    const pto_op yield = pto_block_terminator(body);
    r->count = 0;
    PTO_EACH_OP(body, op) {
        pto_expr region[2];
        const char *why = NULL;
        if (pto_op_same(op, yield)) break;
        const fused_member f = {op, fused_kind_of(m, op, region, &why)};
        if (f.kind != FUSED_NONE) why = fused_run_refuses(m, r, &f, region);
        if (why != NULL) {
            *bad = op;
            return why;
        }
        fused_run_join(m, r, &f, region);
    }
    return NULL;
}
