/* Accumulators. No instruction makes zeros in `acc`: the first product of a chain overwrites what is there.
 *
 *     %z = tile.zero_acc                      if to <= from { pto.tmatmul %acc, (M x 0), (0 x N) }
 *     for %i carry(%s = %z) {          =>     for %i {
 *       .. tile.matmul_acc %s, %l, %r           if %i - from == 0 { pto.tmatmul %acc, .. } else { pto.tmatmul_acc %acc,
 * %acc, .. } }                                       }
 *
 * The guard is only before loops that may run no iteration: a product over no k is zero. A machine that has none of
 * those (`matrix.dim-min`) multiplies zeros, which it fills where the loop loads its operands. */
#include "select_plan.h"

static select_value *value_at(select_plan *p, pto_value v)
{
    uint32_t i = storage_find_value(&p->source, v);
    return i == STORAGE_NONE ? NULL : &p->values[i];
}

static int is_begun(select_plan *p, pto_value v)
{
    const select_value *x = value_at(p, v);
    return x == NULL || x->zero == ZERO_NEVER;
}

/* An `if left rel right` before `at`, with one or two empty blocks. */
static pto_op make_if(const pto_run *run, pto_expr left, const char *relation, pto_expr right, uint32_t blocks,
                      pto_op at)
{
    pto_spec s = pto_spec_make(run, pto_kind(run, KIND_IF));
    pto_spec_exprs(&s, PTO_STR("left"), 1, &left);
    pto_spec_str(&s, PTO_STR("relation"), pto_s(relation));
    pto_spec_exprs(&s, PTO_STR("right"), 1, &right);
    pto_spec_blocks(&s, blocks);
    pto_spec_loc(&s, pto_op_loc(at));
    pto_op made = pto_spec_build(&s, pto_before(at));
    for (uint32_t b = 0; PTO_SOME(made) && b < blocks; b++) {
        pto_spec end = pto_spec_make(run, pto_kind(run, KIND_YIELD));
        pto_spec_loc(&end, pto_op_loc(at));
        if (!PTO_SOME(pto_spec_build(&end, pto_at_end(pto_op_block_at(made, b))))) return pto_op_none(run);
    }
    return made;
}

static pto_status emit_insn(select_plan *p, pto_kind_id kind, uint32_t count, const pto_value *operands, pto_op op,
                            pto_op before)
{
    pto_spec s = pto_spec_make(p->run, kind);
    pto_spec_operands(&s, count, operands);
    pto_spec_loc(&s, pto_op_loc(op));
    pto_stat_add(p->run, STAT_INSTRUCTIONS, 1);
    return PTO_SOME(pto_spec_build(&s, pto_before(before))) ? PTO_OK : PTO_FAILED;
}

/* ---- loops that may run no iteration ---- */

static pto_op find_product(const select_plan *p, pto_op loop, pto_value carried)
{
    uint32_t group = storage_group_of(&p->storage, storage_find_value(&p->source, carried));
    PTO_WALK(loop, op)
    {
        if (!PTO_IS(op, MATMUL_ACC)) continue;
        uint32_t i = storage_find_value(&p->source, pto_op_operand(op, 0));
        if (i != STORAGE_NONE && storage_group_of(&p->storage, i) == group) return op;
    }
    return pto_op_none(p->run);
}

static pto_value first_stage(select_plan *p, pto_value v, const pto_expr valid[2], pto_op at)
{
    const select_storage *s = select_storage_of(p, v);
    if (s == NULL) return pto_value_none(p->run);
    return select_descriptor(p, s->buffer, pto_expr_const(p->run, 0), valid, pto_value_type(v), pto_value_name(v), at);
}

static pto_value make_zero(pto_dtype dtype, pto_op at)
{
    pto_spec s = pto_spec_make(at.run, pto_kind(at.run, KIND_CONSTANT));
    if (pto_dtype_is_float(dtype))
        pto_spec_float(&s, PTO_STR("value"), 0.0);
    else
        pto_spec_int(&s, PTO_STR("value"), 0);
    pto_spec_result(&s, pto_type_scalar(at.run, dtype));
    pto_spec_loc(&s, pto_op_loc(at));
    return pto_spec_value(&s, pto_before(at));
}

/* An operand of a product of zeros: filled where the loop loads it, then moved as the loop does. */
static pto_value zero_operand(select_plan *p, pto_value v, const pto_expr valid[2], pto_op at)
{
    const pto_run *run = p->run;
    const pto_op move = pto_value_op(v);
    if (!PTO_SOME(move) || !PTO_IS(move, MOVE)) {
        const pto_str name = pto_value_name(v);
        (void)pto_error(at, "pto.select/empty-product",
                        "the loop may run no iteration, and the machine has no product of nothing (`matrix.dim-min`); "
                        "`%%%.*s` is not moved from where zeros could be filled: let the loop have an iteration",
                        PTO_FMT(name));
        return pto_value_none(run);
    }
    const pto_value from = first_stage(p, pto_op_operand(move, 0), valid, at), to = first_stage(p, v, valid, at);
    const pto_value filled[2] = {from, make_zero(pto_type_dtype(pto_value_type(v)), at)}, moved[2] = {to, from};
    if (!PTO_SOME(to) || emit_insn(p, pto_kind(run, KIND_TEXPANDS), 2, filled, move, at) != PTO_OK ||
        emit_insn(p, pto_kind(run, KIND_TMOV), 2, moved, move, at) != PTO_OK)
        return pto_value_none(run);
    return to;
}

/* The least k of a product of zeros: what fills a row of a box, where the machine takes no product of nothing. */
static pto_expr least_k(const select_plan *p, pto_value left)
{
    const int64_t row = pto_machine_i64_or(p->run, 32, "matrix.box-row-bytes"),
                  bytes = pto_dtype_bytes(pto_type_dtype(pto_value_type(left)));
    return pto_expr_const(p->run, p->dim_min == 0 ? 0 : bytes > 0 && row > bytes ? row / bytes : 1);
}

static pto_status emit_zeroing(select_plan *p, pto_op loop, pto_value carried, const select_value *start)
{
    const pto_run *run = p->run;
    pto_expr valid[2], zero = pto_expr_const(run, 0);
    pto_op product = find_product(p, loop, carried), at = loop;
    if (!PTO_SOME(product)) return PTO_OK; /* the yield says what is wrong */
    PTO_TRY(pto_value_valid(carried, valid));
    pto_value acc = select_describe(p, carried, loop, NULL);
    if (start->zero == ZERO_FIRST) {
        pto_op first = make_if(run, start->begun, "eq", zero, 1, at);
        PTO_NEED(first);
        at = pto_block_last(pto_body(first));
    }
    pto_op guard =
        make_if(run, pto_expr_of(loop, PTO_STR("to"), 0), "le", pto_expr_of(loop, PTO_STR("from"), 0), 1, at);
    PTO_NEED(guard);
    at = pto_block_last(pto_body(guard));
    const pto_value left = pto_op_operand(product, 1), right = pto_op_operand(product, 2);
    const pto_expr k = least_k(p, left), of_left[2] = {valid[0], k}, of_right[2] = {k, valid[1]};
    const pto_value operands[3] = {
        acc, p->dim_min == 0 ? first_stage(p, left, of_left, at) : zero_operand(p, left, of_left, at),
        p->dim_min == 0 ? first_stage(p, right, of_right, at) : zero_operand(p, right, of_right, at)};
    for (uint32_t i = 0; i < 3; i++) PTO_NEED(operands[i]);
    pto_stat_add(run, STAT_ZEROINGS, 1);
    return emit_insn(p, pto_kind(run, KIND_TMATMUL), 3, operands, product, at);
}

static pto_status not_begun(pto_op op, pto_value v)
{
    pto_str name = pto_value_name(v), user = pto_op_name(op);
    return pto_error(op, "pto.select/zero-accumulator",
                     "`%.*s` needs the zeros of `%%%.*s`, to which no product was added; only `tile.matmul_acc` may "
                     "take them, as the "
                     "first of its chain in every iteration",
                     PTO_FMT(user), PTO_FMT(name));
}

/* A `while` has no index that says which iteration is the first. */
static pto_status refuse_zeros(select_plan *p, pto_op loop)
{
    for (uint32_t i = 0, end = pto_op_result_count(loop); i < end; i++) {
        if (!is_begun(p, pto_op_operand(loop, i))) return not_begun(loop, pto_op_operand(loop, i));
    }
    return PTO_OK;
}

pto_status select_zero_enter(select_plan *p, uint32_t place)
{
    const pto_op loop = p->source.regions.ops[place].op;
    if (p->source.regions.ops[place].kind == REGION_WHILE) return refuse_zeros(p, loop);
    pto_expr from = pto_expr_of(loop, PTO_STR("from"), 0);
    const pto_range trip_count = pto_expr_range(pto_expr_sub(pto_expr_of(loop, PTO_STR("to"), 0), from), loop, NULL);
    for (uint32_t i = 0, end = pto_op_result_count(loop); i < end; i++) {
        pto_value carried = pto_block_arg(pto_body(loop), i + 1);
        select_value *arg = value_at(p, carried), *start = value_at(p, pto_op_operand(loop, i));
        if (arg == NULL || start == NULL || start->zero == ZERO_NEVER) continue;
        pto_expr trips = pto_expr_sub(pto_expr_value(pto_block_arg(pto_body(loop), 0)), from);
        arg->zero = ZERO_FIRST;
        arg->begun = start->zero == ZERO_FIRST ? pto_expr_add(start->begun, trips) : trips;
        if (trip_count.lo < 1) PTO_TRY(emit_zeroing(p, loop, carried, start));
    }
    return PTO_OK;
}

/* ---- ends of blocks ---- */

static pto_status leave_branch(select_plan *p, pto_op branch, pto_op yield)
{
    int is_first = pto_block_same(pto_op_block(yield), pto_body(branch));
    for (uint32_t i = 0, end = pto_op_operand_count(yield); i < end; i++) {
        const select_value *from = value_at(p, pto_op_operand(yield, i));
        select_value *to = value_at(p, pto_op_result(branch, i));
        if (from == NULL || to == NULL) continue;
        if (is_first) {
            to->zero = from->zero;
            to->begun = from->begun;
            continue;
        }
        int same = to->zero == from->zero && (to->zero != ZERO_FIRST || pto_expr_equal(to->begun, from->begun));
        if (!same)
            return not_begun(yield, is_begun(p, pto_op_operand(yield, i)) ? pto_op_result(branch, i)
                                                                          : pto_op_operand(yield, i));
    }
    return PTO_OK;
}

pto_status select_zero_leave(select_plan *p, pto_op yield)
{
    pto_op owner = pto_op_parent(yield);
    if (PTO_IS(owner, IF)) return leave_branch(p, owner, yield);
    for (uint32_t i = 0, end = pto_op_operand_count(yield); i < end; i++) {
        if (!is_begun(p, pto_op_operand(yield, i))) return not_begun(yield, pto_op_operand(yield, i));
    }
    return PTO_OK;
}

pto_status select_zero_use(select_plan *p, pto_op op, pto_value v)
{
    return is_begun(p, v) ? PTO_OK : not_begun(op, v);
}

/* ---- products ---- */

pto_status select_emit_matmul_acc(select_plan *p, pto_op op)
{
    const pto_run *run = p->run;
    const select_value *acc = value_at(p, pto_op_operand(op, 0));
    const pto_kind_id begins = pto_kind(run, KIND_TMATMUL);
    const pto_kind_id goes_on = (pto_kind_id)pto_kind_column(run, pto_op_kind(op), PTO_COLUMN_PARTNER);
    pto_value left = select_describe(p, pto_op_operand(op, 1), op, NULL),
              right = select_describe(p, pto_op_operand(op, 2), op, NULL);
    pto_value out = select_describe(p, pto_op_result(op, 0), op, NULL);
    const pto_value first[3] = {out, left, right};
    if (acc == NULL) return PTO_FAILED;
    if (acc->zero == ZERO_ALWAYS) return emit_insn(p, begins, 3, first, op, op);
    const pto_value next[4] = {out, select_describe(p, pto_op_operand(op, 0), op, NULL), left, right};
    if (acc->zero == ZERO_NEVER) return emit_insn(p, goes_on, 4, next, op, op);
    pto_op branch = make_if(run, acc->begun, "eq", pto_expr_const(run, 0), 2, op);
    PTO_NEED(branch);
    PTO_TRY(emit_insn(p, begins, 3, first, op, pto_block_last(pto_body(branch))));
    return emit_insn(p, goes_on, 4, next, op, pto_block_last(pto_op_block_at(branch, 1)));
}
