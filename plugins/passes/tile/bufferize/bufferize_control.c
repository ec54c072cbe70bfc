/* Loops and branches that hand tensors on.
 *
 *     %r = for %i to $T carry(%a = %x) {           %r, .. = for %i to $T carry(%a = %x, %b = %p, %c = %q) {
 *       %y = forall .. out(%o = %e) { %a }    =>     forall .. { %a to %b }
 *       yield %y                                     yield %b, %c, %b
 *     }                                            }
 *
 * Each carried tensor has two buffers that change places: one is read while the other is written, so no iteration
 * overwrites what it reads, and without one the result is what the loop began with. With a known number of iterations
 * the first buffer is chosen so that the result is always in the same one, which may be an output of the function. Of
 * a `while` it is the same. The results of a branch are memory before it, which both sides write to. What a block hands
 * on that no nest of it wrote, such as a parameter, is copied there. A tensor that every iteration changes in place has
 * one buffer (bufferize_kept.c). */
#include "bufferize.h"

int bufferize_is_tensor(pto_value v) { return pto_type_kind_of(pto_value_type(v)) == PTO_TYPE_TENSOR; }

int bufferize_is_control(pto_op op)
{
    const pto_kind_id kind = pto_op_kind(op);
    return kind == pto_kind(op.run, KIND_FOR) || kind == pto_kind(op.run, KIND_IF) ||
           kind == pto_kind(op.run, KIND_WHILE);
}

/* ---- what a block hands on ---- */

static const char *copy_reason(const bufferizer *b, pto_value root, pto_block block)
{
    const pto_op def = pto_value_op(root);
    if (!PTO_SOME(def))
        return pto_op_same(pto_block_parent(pto_value_block(root)), b->function) ? "a parameter is handed on"
                                                                                 : "what a loop carries is handed on";
    if (PTO_IS(def, ARRAY)) return "a constant is handed on";
    if (!PTO_IS(def, EMPTY)) return "the result of a loop is handed on";
    return pto_block_same(pto_op_block(def), block) ? NULL : "memory of another block is handed on";
}

static const char *block_name(pto_op yield)
{
    const pto_op op = pto_op_parent(yield);
    const int is_first = pto_block_same(pto_op_block(yield), pto_op_block_at(op, 0));
    if (PTO_IS(op, IF)) return is_first ? "the first branch of `if`" : "the `else` branch of `if`";
    return PTO_IS(op, FOR) ? "the body of `for`" : "the body of `while`";
}

/* The `tile.empty` of the block that operand `i` of its yield is written to, made for it where it has none of its own.
 * `taken`: those of the operands before. */
static pto_value find_buffer(bufferizer *b, pto_op yield, uint32_t i, const pto_value *taken)
{
    pto_value nest, v = pto_op_operand(yield, i), root = bufferize_root(b->run, v, &nest);
    const char *why = copy_reason(b, root, pto_op_block(yield));
    if (PTO_IS(pto_value_op(root), EMPTY) && !bufferize_is_written(root)) {
        pto_error(yield, "pto.bufferize/unwritten", "%s hands on %%%.*s, which no nest writes to", block_name(yield),
                  PTO_FMT(pto_value_name(v)));
        return pto_value_none(b->run);
    }
    if (why == NULL) why = bufferize_view_reason(v, root);
    for (uint32_t k = 0; k < i && why == NULL; k++)
        if (pto_value_same(taken[k], root)) why = "its memory is handed on twice";
    if (why == NULL) return root;
    const pto_value copy = bufferize_copy(b, yield, v, why);
    if (!PTO_SOME(copy) || pto_op_set_operand(yield, i, copy) < 0) return pto_value_none(b->run);
    return bufferize_root(b->run, copy, &nest);
}

/* Lets what is written to the `tile.empty` be written to `memory`. */
static pto_status write_to(const bufferizer *b, pto_value empty, pto_value memory)
{
    const pto_op op = pto_value_op(empty);
    const pto_value view =
        bufferize_view(b->run, pto_before(op), memory, pto_value_type(empty), pto_value_name(memory));
    PTO_NEED(view);
    return pto_op_replace_by(op, view);
}

static pto_status move_ops(pto_block from, pto_block to)
{
    PTO_EACH_OP(from, op) {
        if (!PTO_IS(op, YIELD)) PTO_TRY(pto_op_move(op, pto_at_end(to)));
    }
    return PTO_OK;
}

/* ---- loops ---- */

/* A loop and the one that takes its place, which carries two more values for each tensor: the buffer to write to next
 * and the other one. */
typedef struct loop {
    bufferizer *b;
    pto_op old, fresh;
    uint32_t count, tensors;
    pto_value *first, *second; /* of each carried tensor */
    pto_value *buffers;        /* of each carried tensor: what the body writes to */
    int has_home;              /* the result is in `first` or `second`, by the number of iterations */
    int is_even;               /* .. which is even */
} loop;

/* Iterations of a `for`, or -1 when they are not known. */
static int64_t trips_of(pto_op op)
{
    int64_t trips = -1;
    if (!PTO_IS(op, FOR)) return -1;
    const pto_expr from = pto_expr_of(op, PTO_STR("from"), 0), to = pto_expr_of(op, PTO_STR("to"), 0);
    const pto_expr n = pto_expr_ceildiv(pto_expr_sub(to, from), pto_expr_of(op, PTO_STR("step"), 0));
    return pto_expr_is_const(n, &trips) ? trips : -1;
}

static pto_block last_block(pto_op op) { return pto_op_block_at(op, pto_op_block_count(op) - 1); }

static pto_status make_buffers(loop *l)
{
    const pto_run *run = l->b->run;
    const int64_t trips = trips_of(l->old);
    l->has_home = trips > 0;
    l->is_even = trips % 2 == 0;
    for (uint32_t i = 0; i < l->count; i++) {
        const pto_value result = pto_op_result(l->old, i);
        if (!bufferize_is_tensor(result)) continue;
        const pto_str name = pto_value_name(result);
        const uint32_t k = l->tensors++;
        l->first[k] = bufferize_empty(run, pto_before(l->old), pto_value_type(result), name);
        PTO_NEED(l->first[k]);
        l->second[k] = l->first[k];
        if (trips == 1) continue;
        l->second[k] = bufferize_empty(run, pto_before(l->old), pto_value_type(result), name);
        PTO_NEED(l->second[k]);
    }
    return PTO_OK;
}

static pto_op build_loop(const loop *l)
{
    const pto_run *run = l->b->run;
    pto_spec s = pto_spec_make(run, pto_op_kind(l->old));
    pto_spec_attrs_of(&s, l->old);
    for (uint32_t i = 0; i < l->count; i++) {
        pto_spec_operand(&s, pto_op_operand(l->old, i));
        pto_spec_result(&s, pto_value_type(pto_op_result(l->old, i)));
    }
    for (uint32_t k = 0; k < l->tensors; k++) {
        const pto_value buffers[] = {l->first[k], l->second[k]};
        pto_spec_operands(&s, 2, buffers);
        pto_spec_result(&s, pto_value_type(l->first[k]));
        pto_spec_result(&s, pto_value_type(l->first[k]));
    }
    pto_spec_blocks(&s, pto_op_block_count(l->old));
    pto_spec_loc(&s, pto_op_loc(l->old));
    return pto_spec_build(&s, pto_before(l->old));
}

/* The arguments of a block and the ops that read them. The two buffers of tensor k are the arguments from `first` +
 * 2 * k on. */
static pto_status take_block(const loop *l, uint32_t block, uint32_t *first)
{
    const pto_block from = pto_op_block_at(l->old, block), to = pto_op_block_at(l->fresh, block);
    *first = pto_block_arg_count(from);
    for (uint32_t i = 0; i < *first; i++) {
        const pto_value old = pto_block_arg(from, i);
        const pto_value arg = pto_block_add_arg(to, pto_value_type(old), pto_value_name(old));
        PTO_NEED(arg);
        PTO_TRY(pto_value_replace(old, arg));
    }
    for (uint32_t i = *first - l->count, end = *first; i < end; i++) {
        const pto_value arg = pto_block_arg(to, i);
        if (!bufferize_is_tensor(arg)) continue;
        const pto_str name = pto_value_name(arg);
        PTO_NEED(pto_block_add_arg(to, pto_value_type(arg), pto_str_join(l->b->run, name, PTO_STR("_next"))));
        PTO_NEED(pto_block_add_arg(to, pto_value_type(arg), pto_str_join(l->b->run, name, PTO_STR("_other"))));
    }
    return move_ops(from, to);
}

static pto_status end_body(const loop *l, pto_op yield, uint32_t first)
{
    const pto_block body = last_block(l->fresh);
    pto_spec s = pto_spec_make(l->b->run, pto_kind(l->b->run, KIND_YIELD));
    for (uint32_t k = 0; k < l->tensors; k++)
        PTO_TRY(write_to(l->b, l->buffers[k], pto_block_arg(body, first + 2 * k)));
    for (uint32_t i = 0; i < l->count; i++) pto_spec_operand(&s, pto_op_operand(yield, i));
    for (uint32_t k = 0; k < l->tensors; k++) {
        pto_spec_operand(&s, pto_block_arg(body, first + 2 * k + 1));
        pto_spec_operand(&s, pto_block_arg(body, first + 2 * k));
    }
    pto_spec_loc(&s, pto_op_loc(yield));
    return PTO_SOME(pto_spec_build(&s, pto_at_end(body))) ? PTO_OK : PTO_FAILED;
}

static pto_status end_condition(const loop *l)
{
    const pto_op yield = pto_block_terminator(pto_op_block_at(l->old, 0));
    return pto_op_move(yield, pto_at_end(pto_op_block_at(l->fresh, 0)));
}

static pto_status replace_results(const loop *l)
{
    for (uint32_t i = 0, k = 0; i < l->count; i++) {
        const pto_value old = pto_op_result(l->old, i);
        pto_value result = pto_op_result(l->fresh, i);
        const pto_str name = pto_value_name(old);
        PTO_TRY(pto_value_set_name(result, name));
        if (bufferize_is_tensor(old)) {
            const pto_value next = pto_op_result(l->fresh, l->count + 2 * k),
                            other = pto_op_result(l->fresh, l->count + 2 * k + 1);
            PTO_TRY(pto_value_set_name(next, pto_str_join(l->b->run, name, PTO_STR("_next"))));
            PTO_TRY(pto_value_set_name(other, pto_str_join(l->b->run, name, PTO_STR("_other"))));
            if (l->has_home) result = l->is_even ? l->second[k] : l->first[k];
            k++;
        }
        PTO_TRY(pto_value_replace(old, result));
    }
    return pto_op_erase(l->old);
}

static pto_status rewrite_loop(bufferizer *b, pto_op op)
{
    PTO_TRY(bufferize_drop_kept(b, &op));
    const uint32_t count = pto_op_result_count(op);
    loop l = {.b = b,
              .old = op,
              .count = count,
              .first = PTO_SCRATCH(b->run, pto_value, count),
              .second = PTO_SCRATCH(b->run, pto_value, count),
              .buffers = PTO_SCRATCH(b->run, pto_value, count)};
    const pto_op yield = pto_block_terminator(last_block(op));
    uint32_t tensors = 0, first = 0;
    pto_value *taken = PTO_SCRATCH(b->run, pto_value, count);
    for (uint32_t i = 0; i < count; i++) {
        if (!bufferize_is_tensor(pto_op_result(op, i))) continue;
        taken[i] = l.buffers[tensors++] = find_buffer(b, yield, i, taken);
        PTO_NEED(taken[i]);
    }
    if (tensors == 0) return PTO_OK;
    PTO_TRY(make_buffers(&l));
    l.fresh = build_loop(&l);
    PTO_NEED(l.fresh);
    for (uint32_t block = 0; block < pto_op_block_count(op); block++) PTO_TRY(take_block(&l, block, &first));
    if (pto_op_block_count(op) > 1) PTO_TRY(end_condition(&l));
    PTO_TRY(end_body(&l, yield, first));
    return replace_results(&l);
}

/* ---- branches ---- */

static pto_status rewrite_side(bufferizer *b, pto_op old, pto_op fresh, uint32_t block, const pto_value *results)
{
    const uint32_t count = pto_op_result_count(old);
    const pto_block from = pto_op_block_at(old, block), to = pto_op_block_at(fresh, block);
    const pto_op yield = pto_block_terminator(from);
    pto_value *taken = PTO_SCRATCH(b->run, pto_value, count);
    for (uint32_t i = 0; i < count; i++) {
        if (!bufferize_is_tensor(pto_op_result(old, i))) continue;
        taken[i] = find_buffer(b, yield, i, taken);
        PTO_NEED(taken[i]);
    }
    for (uint32_t i = 0; i < count; i++)
        if (bufferize_is_tensor(pto_op_result(old, i))) PTO_TRY(write_to(b, taken[i], results[i]));
    PTO_TRY(move_ops(from, to));
    pto_spec s = pto_spec_make(b->run, pto_kind(b->run, KIND_YIELD));
    for (uint32_t i = 0; i < count; i++)
        if (!bufferize_is_tensor(pto_op_result(old, i))) pto_spec_operand(&s, pto_op_operand(yield, i));
    pto_spec_loc(&s, pto_op_loc(yield));
    return PTO_SOME(pto_spec_build(&s, pto_at_end(to))) ? PTO_OK : PTO_FAILED;
}

static pto_status rewrite_if(bufferizer *b, pto_op op)
{
    const uint32_t count = pto_op_result_count(op);
    pto_value *results = PTO_SCRATCH(b->run, pto_value, count);
    uint32_t tensors = 0, scalars = 0;
    pto_spec s = pto_spec_make(b->run, pto_kind(b->run, KIND_IF));
    pto_spec_attrs_of(&s, op);
    for (uint32_t i = 0; i < count; i++) {
        const pto_value result = pto_op_result(op, i);
        if (!bufferize_is_tensor(result)) {
            pto_spec_result(&s, pto_value_type(result));
            continue;
        }
        tensors++;
        results[i] = bufferize_empty(b->run, pto_before(op), pto_value_type(result), pto_value_name(result));
        PTO_NEED(results[i]);
    }
    if (tensors == 0) return PTO_OK;
    pto_spec_blocks(&s, pto_op_block_count(op));
    pto_spec_loc(&s, pto_op_loc(op));
    const pto_op fresh = pto_spec_build(&s, pto_before(op));
    PTO_NEED(fresh);
    for (uint32_t block = 0; block < pto_op_block_count(op); block++)
        PTO_TRY(rewrite_side(b, op, fresh, block, results));
    for (uint32_t i = 0; i < count; i++) {
        const pto_value old = pto_op_result(op, i);
        if (!bufferize_is_tensor(old)) {
            results[i] = pto_op_result(fresh, scalars++);
            PTO_TRY(pto_value_set_name(results[i], pto_value_name(old)));
        }
        PTO_TRY(pto_value_replace(old, results[i]));
    }
    return pto_op_erase(op);
}

/* Inner ones first: what they make is then there for those around them. */
pto_status bufferize_control(bufferizer *b)
{
    uint32_t count = 0, capacity = 0;
    pto_op *ops = NULL;
    PTO_WALK(b->function, op)
    {
        if (!bufferize_is_control(op)) continue;
        PTO_GROW(b->run, ops, count, capacity);
        ops[count++] = op;
    }
    while (count-- > 0) {
        PTO_TRY(pto_go_on(b->run));
        PTO_TRY(PTO_IS(ops[count], IF) ? rewrite_if(b, ops[count]) : rewrite_loop(b, ops[count]));
    }
    return PTO_OK;
}
