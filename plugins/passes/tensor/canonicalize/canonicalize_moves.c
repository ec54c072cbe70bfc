/* Ops that move elements have one form each: squeeze and unsqueeze are a reshape, flip is a view, split is a view for
 * each part. Then a window of a window, of something assembled, of parts and of padding is one of what it comes from,
 * where all of it certainly is there: a window that leaves its tensor is still found. */
#include "canonicalize.h"

/* `extent` elements of each dim, from `start` on, `step` apart. */
typedef struct window {
    uint32_t rank;
    pto_expr start[PTO_MAX_DIMS], extent[PTO_MAX_DIMS];
    int64_t step[PTO_MAX_DIMS];
} window;

static window whole_of(const pto_run *run, pto_type type)
{
    window w = {.rank = pto_type_rank(type)};
    for (uint32_t d = 0; d < w.rank; d++) {
        w.start[d] = pto_expr_const(run, 0);
        w.extent[d] = pto_type_dim(type, d);
        w.step[d] = 1;
    }
    return w;
}

/* Of a view: what it takes; of an assemble: what it replaces; of a pad: where x is. */
static window window_of(const pto_run *run, pto_op op, pto_type type, const char *start)
{
    window w = whole_of(run, type);
    for (uint32_t d = 0; d < w.rank; d++) {
        w.start[d] = pto_expr_of(op, pto_s(start), d);
        w.step[d] = pto_int_of(op, PTO_STR("strides"), d, 1);
    }
    return w;
}

static int is_const(pto_expr e, int64_t n)
{
    int64_t v = 0;
    return pto_expr_is_const(e, &v) && v == n;
}

/* ---- what is certain ---- */

static int is_never_below(pto_expr a, pto_expr b, pto_op at)
{
    return pto_expr_range(pto_expr_sub(a, b), at, NULL).lo >= 0;
}

/* The least and the last index of a dim that has elements. */
static void ends_of(const window *w, uint32_t d, pto_expr out[2])
{
    const pto_expr one = pto_expr_const(w->start[d].run, 1);
    const pto_expr last = pto_expr_add(w->start[d], pto_expr_scale(pto_expr_sub(w->extent[d], one), w->step[d]));
    out[0] = w->step[d] < 0 ? last : w->start[d];
    out[1] = w->step[d] < 0 ? w->start[d] : last;
}

/* Whether the indices of `w` along the dim are all among the `extent` from `start` on. */
static int is_inside(const window *w, uint32_t d, pto_expr start, pto_expr extent, pto_op at)
{
    pto_expr ends[2];
    ends_of(w, d, ends);
    const pto_expr one = pto_expr_const(start.run, 1);
    return is_never_below(ends[0], start, at) &&
           is_never_below(pto_expr_sub(pto_expr_add(start, extent), one), ends[1], at);
}

static int is_all_inside(const window *w, const window *around, pto_op at)
{
    for (uint32_t d = 0; d < w->rank; d++)
        if (!is_inside(w, d, around->start[d], around->extent[d], at)) return 0;
    return 1;
}

/* Whether no index of both is the same. */
static int is_apart(const window *w, const window *other, pto_op at)
{
    for (uint32_t d = 0; d < w->rank; d++) {
        pto_expr ends[2];
        ends_of(w, d, ends);
        const pto_expr end = pto_expr_add(other->start[d], other->extent[d]);
        const pto_expr next = pto_expr_add(ends[1], pto_expr_const(end.run, 1));
        if (is_never_below(ends[0], end, at) || is_never_below(other->start[d], next, at)) return 1;
    }
    return 0;
}

static int is_same(const window *a, const window *b)
{
    for (uint32_t d = 0; d < a->rank; d++)
        if (a->step[d] != b->step[d] || !pto_expr_equal(a->start[d], b->start[d]) ||
            !pto_expr_equal(a->extent[d], b->extent[d]))
            return 0;
    return 1;
}

/* ---- making ---- */

/* Takes the place of a result of `at`, before it; steps of a dim with one element are 1, and none is written when all
 * are. */
static pto_value make_view(const pto_run *run, pto_op at, uint32_t result, pto_value x, window *w)
{
    int steps = 0;
    for (uint32_t d = 0; d < w->rank; d++) {
        if (is_const(w->extent[d], 1)) w->step[d] = 1;
        steps |= w->step[d] != 1;
    }
    pto_spec s = pto_spec_make(run, pto_kind(run, KIND_VIEW));
    pto_spec_operand(&s, x);
    pto_spec_exprs(&s, PTO_STR("offsets"), w->rank, w->start);
    if (steps) pto_spec_ints(&s, PTO_STR("strides"), w->rank, w->step);
    pto_spec_result(&s, pto_type_tensor(run, pto_type_dtype(pto_value_type(x)), w->rank, w->extent));
    pto_spec_loc(&s, pto_op_loc(at));
    pto_spec_name(&s, pto_value_name(pto_op_result(at, result)));
    return pto_spec_value(&s, pto_before(at));
}

static pto_status replace_by_view(const pto_run *run, pto_op *op, pto_value x, window *w)
{
    const pto_value view = make_view(run, *op, 0, x, w);
    PTO_NEED(view);
    PTO_TRY(pto_op_replace_by(*op, view));
    *op = pto_value_op(view);
    return PTO_OK;
}

static pto_status replace_by_value(const pto_run *run, pto_op *op, pto_value x)
{
    if (!pto_type_same(pto_value_type(x), pto_value_type(pto_op_result(*op, 0)))) return PTO_OK;
    PTO_TRY(pto_op_replace_by(*op, x));
    *op = pto_op_none(run);
    return PTO_OK;
}

/* ---- one form ---- */

static pto_status rewrite_reshape(const pto_run *run, pto_op *op)
{
    pto_spec s = pto_spec_make(run, pto_kind(run, KIND_RESHAPE));
    pto_spec_operand(&s, pto_op_operand(*op, 0));
    pto_spec_result(&s, pto_value_type(pto_op_result(*op, 0)));
    pto_spec_loc(&s, pto_op_loc(*op));
    pto_spec_name(&s, pto_value_name(pto_op_result(*op, 0)));
    const pto_value made = pto_spec_value(&s, pto_before(*op));
    PTO_NEED(made);
    PTO_TRY(pto_op_replace_by(*op, made));
    *op = pto_value_op(made);
    return PTO_OK;
}

static pto_status rewrite_flip(const pto_run *run, pto_op *op)
{
    const pto_value x = pto_op_operand(*op, 0);
    window w = whole_of(run, pto_value_type(x));
    const uint32_t axes = pto_axes_of(*op, w.rank);
    for (uint32_t d = 0; d < w.rank; d++) {
        if ((axes >> d & 1) == 0 || is_const(w.extent[d], 1)) continue;
        w.start[d] = pto_expr_sub(w.extent[d], pto_expr_const(run, 1));
        w.step[d] = -1;
    }
    return replace_by_view(run, op, x, &w);
}

static pto_status rewrite_split(const pto_run *run, pto_op *op)
{
    const pto_value x = pto_op_operand(*op, 0);
    const uint32_t count = pto_op_result_count(*op);
    const uint32_t axis = (uint32_t)__builtin_ctz(pto_axes_of(*op, pto_type_rank(pto_value_type(x))));
    pto_value *parts = PTO_SCRATCH(run, pto_value, count);
    pto_expr start = pto_expr_const(run, 0);
    for (uint32_t i = 0; i < count; i++) {
        window w = whole_of(run, pto_value_type(pto_op_result(*op, i)));
        w.start[axis] = start;
        start = pto_expr_add(start, w.extent[axis]);
        parts[i] = make_view(run, *op, i, x, &w);
        PTO_NEED(parts[i]);
    }
    PTO_TRY(pto_op_replace(*op, count, parts));
    for (uint32_t i = 0; i < count; i++) {
        pto_op part = pto_value_op(parts[i]);
        PTO_TRY(canonicalize_move(run, &part));
    }
    *op = pto_op_none(run);
    return PTO_OK;
}

/* ---- shorter ways ---- */

/* Where the elements of a window of what `from` makes come from; none: of `from` itself. `w` becomes the window there.
 */
static pto_value look_through_concat(pto_op from, window *w, pto_op at)
{
    const pto_run *run = at.run;
    const uint32_t axis = (uint32_t)__builtin_ctz(pto_axes_of(from, w->rank));
    pto_expr start = pto_expr_const(run, 0);
    for (uint32_t i = 0; i < pto_op_operand_count(from); i++) {
        const pto_value part = pto_op_operand(from, i);
        const pto_expr extent = pto_type_dim(pto_value_type(part), axis);
        if (is_inside(w, axis, start, extent, at)) {
            w->start[axis] = pto_expr_sub(w->start[axis], start);
            return part;
        }
        start = pto_expr_add(start, extent);
    }
    return pto_value_none(run);
}

static pto_value look_through(pto_op from, window *w, pto_op at)
{
    const pto_run *run = at.run;
    const pto_value none = pto_value_none(run), x = PTO_SOME(from) ? pto_op_operand(from, 0) : none;
    if (PTO_IS(from, CONCAT)) return look_through_concat(from, w, at);
    if (PTO_IS(from, VIEW)) {
        const pto_type type = pto_value_type(pto_op_result(from, 0));
        const window inner = window_of(run, from, type, "offsets"), whole = whole_of(run, type);
        if (!is_all_inside(w, &whole, at)) return none;
        for (uint32_t d = 0; d < w->rank; d++) {
            w->start[d] = pto_expr_add(inner.start[d], pto_expr_scale(w->start[d], inner.step[d]));
            w->step[d] *= inner.step[d];
        }
        return x;
    }
    if (!PTO_IS(from, ASSEMBLE) && !PTO_IS(from, PAD)) return none;
    const window part = window_of(run, from, pto_value_type(x), PTO_IS(from, PAD) ? "low" : "offsets");
    const window whole = whole_of(run, pto_value_type(pto_op_result(from, 0)));
    if (!is_all_inside(w, &whole, at)) return none;
    if (is_all_inside(w, &part, at)) {
        for (uint32_t d = 0; d < w->rank; d++) w->start[d] = pto_expr_sub(w->start[d], part.start[d]);
        return x;
    }
    return PTO_IS(from, ASSEMBLE) && is_apart(w, &part, at) ? pto_op_operand(from, 1) : none;
}

/* Steps are small numbers: their product stays one. */
static int has_large_steps(const window *w)
{
    for (uint32_t d = 0; d < w->rank; d++)
        if (w->step[d] > INT32_MAX || w->step[d] < -INT32_MAX) return 1;
    return 0;
}

static pto_status shorten_view(const pto_run *run, pto_op *op)
{
    const pto_type type = pto_value_type(pto_op_result(*op, 0));
    window w = window_of(run, *op, type, "offsets");
    pto_value x = pto_op_operand(*op, 0);
    int is_shorter = 0;
    while (!has_large_steps(&w)) {
        const pto_value source = look_through(pto_value_op(x), &w, *op);
        if (!PTO_SOME(source)) break;
        x = source;
        is_shorter = 1;
    }
    const window whole = whole_of(run, pto_value_type(x));
    if (is_same(&w, &whole)) return replace_by_value(run, op, x);
    const pto_attr steps = pto_op_attr(*op, PTO_STR("strides"));
    int idle = PTO_SOME(steps);
    for (uint32_t d = 0; d < w.rank; d++) idle &= w.step[d] == 1 || is_const(w.extent[d], 1);
    return is_shorter || idle ? replace_by_view(run, op, x, &w) : PTO_OK;
}

/* What is added to a window is the window and the sum, which takes its place.
 *
 *                                                               %w = tensor.view %b[1, 2]
 *     %y = tensor.assemble %x, %b[1, 2] {atomic = "add"}   =>   %s = tensor.add %w, %x
 *                                                               %y = tensor.assemble %s, %b[1, 2] */
static pto_status rewrite_addition(const pto_run *run, pto_op op)
{
    const pto_value x = pto_op_operand(op, 0);
    pto_spec v = pto_spec_make(run, pto_kind(run, KIND_VIEW)), s = pto_spec_make(run, pto_kind(run, KIND_ADD));
    pto_spec_operand(&v, pto_op_operand(op, 1));
    pto_spec_attr(&v, PTO_STR("offsets"), pto_op_attr(op, PTO_STR("offsets")));
    pto_spec_result(&v, pto_value_type(x));
    pto_spec_name(&v, pto_name_after(op, PTO_STR("_old")));
    const pto_value old = pto_spec_value(&v, pto_before(op));
    PTO_NEED(old);
    pto_spec_operand(&s, old);
    pto_spec_operand(&s, x);
    pto_spec_result(&s, pto_value_type(x));
    pto_spec_name(&s, pto_name_after(op, PTO_STR("_sum")));
    const pto_value sum = pto_spec_value(&s, pto_before(op));
    PTO_NEED(sum);
    pto_op moved = pto_value_op(old);
    PTO_TRY(canonicalize_move(run, &moved));
    PTO_TRY(pto_op_set_attr(op, PTO_STR("atomic"), pto_attr_none(run)));
    return pto_op_set_operand(op, 0, sum);
}

static pto_status shorten_assemble(const pto_run *run, pto_op *op)
{
    if (pto_str_is(pto_attr_str_of(*op, PTO_STR("atomic")), "add")) PTO_TRY(rewrite_addition(run, *op));
    const pto_value x = pto_op_operand(*op, 0), base = pto_op_operand(*op, 1);
    const window w = window_of(run, *op, pto_value_type(x), "offsets"), whole = whole_of(run, pto_value_type(base));
    if (is_same(&w, &whole)) return replace_by_value(run, op, x);
    const pto_op from = pto_value_op(base), taken = pto_value_op(x);
    if (PTO_IS(taken, VIEW) && pto_value_same(pto_op_operand(taken, 0), base)) {
        const window back = window_of(run, taken, pto_value_type(x), "offsets");
        if (is_same(&w, &back)) return replace_by_value(run, op, base);
    }
    if (!PTO_IS(from, ASSEMBLE)) return PTO_OK;
    const window before = window_of(run, from, pto_value_type(pto_op_operand(from, 0)), "offsets");
    return is_same(&w, &before) ? pto_op_set_operand(*op, 1, pto_op_operand(from, 1)) : PTO_OK;
}

static pto_status shorten_parts(const pto_run *run, pto_op *op)
{
    const pto_value x = pto_op_operand(*op, 0);
    const pto_type type = pto_value_type(pto_op_result(*op, 0));
    if (!pto_type_same(pto_value_type(x), type)) return PTO_OK;
    if (PTO_IS(*op, CONCAT)) return pto_op_operand_count(*op) == 1 ? replace_by_value(run, op, x) : PTO_OK;
    const window w = window_of(run, *op, type, "low"), whole = whole_of(run, type);
    return is_same(&w, &whole) ? replace_by_value(run, op, x) : PTO_OK;
}

pto_status canonicalize_move(const pto_run *run, pto_op *op)
{
    const pto_kind_id kind = pto_op_kind(*op);
    if (kind == pto_kind(run, KIND_SQUEEZE) || kind == pto_kind(run, KIND_UNSQUEEZE)) return rewrite_reshape(run, op);
    if (kind == pto_kind(run, KIND_SPLIT)) return rewrite_split(run, op);
    if (kind == pto_kind(run, KIND_ASSEMBLE)) return shorten_assemble(run, op);
    if (kind == pto_kind(run, KIND_CONCAT) || kind == pto_kind(run, KIND_PAD)) return shorten_parts(run, op);
    if (kind == pto_kind(run, KIND_FLIP)) {
        PTO_TRY(rewrite_flip(run, op));
        return shorten_view(run, op);
    }
    return kind == pto_kind(run, KIND_VIEW) ? shorten_view(run, op) : PTO_OK;
}
