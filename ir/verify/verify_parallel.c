/* Loops that are stated to be `parallel`: no iteration reads or writes what another one writes.
 *
 *     %r = for %i parallel to 8 carry(%a = %x) {
 *       %p = tensor.view %k[4 * %i, 0] : tensor<4 x 8 x f32>
 *       %c = tensor.assemble %p, %a[4 * %i, 0] : tensor<32 x 8 x f32>
 *       yield %c
 *     } : tensor<32 x 8 x f32>
 *
 * Each carried tensor is followed from the argument on through windows put into it, branches and inner loops to the
 * yield. What takes elements of it is a window: all of it, unless the op says less. Each window that is written must be
 * apart from all windows of other iterations along some dim: there offsets move by the same distance in each iteration,
 * over at least what both reach. That is shown with the ranges of what is known, so a loop that is independent may be
 * refused; one that is not never passes. Once its ops are in groups or nests a loop is what passes made of it, or, as a
 * `forall`, a promise of the text. */
#include "ir/context/expr_expand.h"
#include "ir/verify/ranges.h"
#include "ir/verify/verifier_parts.h"

#include <stdlib.h>

typedef struct element_window {
    op_id op;
    bool is_written, is_whole;
} element_window;

typedef struct loop_follower {
    module *m;
    op_id loop;
    expr_id index, next; /* of this iteration and of the one after it */
    bool *is_seen;       /* by value id: has elements of the carried tensor */
    value_id *values;
    size_t count;
    element_window *windows; /* on the heap */
    size_t window_count, window_capacity;
} loop_follower;

/* First and last + 1 of a window along a dim, without indices of inner loops. */
typedef struct extent_of_window {
    expr_id from, to;
} extent_of_window;

bool op_is_parallel(const module *m, op_id o)
{
    return op_kind_of(m, o) == OP_FOR && op_attr_int(m, o, "parallel", 0) != 0;
}

static bool is_inside(const module *m, op_id o, op_id loop)
{
    while (o != 0 && o != loop) o = op_parent(m, o);
    return o == loop;
}

/* ---- what becomes of a carried tensor ---- */

static void add_value(loop_follower *f, value_id v)
{
    if (f->is_seen[v]) return;
    f->is_seen[v] = true;
    f->values[f->count++] = v;
}

static void add_window(loop_follower *f, op_id op, bool is_written, bool is_whole)
{
    f->windows = table_grow(f->windows, &f->window_capacity, f->window_count + 1, sizeof *f->windows);
    f->windows[f->window_count++] = (element_window){op, is_written, is_whole};
}

static void add_carried(loop_follower *f, op_id loop, uint32_t slot)
{
    add_value(f, block_arg(f->m, op_block_at(f->m, loop, 0), slot + 1));
    add_value(f, op_result(f->m, loop, slot));
}

static status follow_yield(loop_follower *f, op_id yield, uint32_t slot, uint32_t carried)
{
    const op_id parent = op_parent(f->m, yield);
    if (parent == f->loop) {
        if (slot == carried) return OK;
        return op_error(
            f->m, yield, &E0335,
            "hands a tensor that the `parallel` loop carries on in the place of another one; each keeps its "
            "place");
    }
    if (op_kind_of(f->m, parent) == OP_FOR)
        add_carried(f, parent, slot);
    else if (op_kind_of(f->m, parent) == OP_IF)
        add_value(f, op_result(f->m, parent, slot));
    else
        add_window(f, yield, true, true);
    return OK;
}

static status follow_use(loop_follower *f, op_id op, uint32_t slot, uint32_t carried)
{
    switch (op_kind_of(f->m, op)) {
    case OP_YIELD: return follow_yield(f, op, slot, carried);
    case OP_FOR:
        if (slot < op_result_count(f->m, op)) add_carried(f, op, slot);
        return OK;
    case OP_TENSOR_ASSEMBLE:
        add_window(f, op, slot == 1, slot == 0);
        if (slot == 1) add_value(f, op_result(f->m, op, 0));
        return OK;
    case OP_TENSOR_VIEW:
    case OP_SCALAR_OF: add_window(f, op, false, false); return OK;
    default: add_window(f, op, false, true); return OK;
    }
}

static status follow(loop_follower *f, uint32_t carried)
{
    for (size_t i = 0; i < f->count; i++) f->is_seen[f->values[i]] = false;
    f->count = f->window_count = 0;
    add_value(f, block_arg(f->m, op_block_at(f->m, f->loop, 0), carried + 1));
    for (size_t i = 0; i < f->count; i++) {
        VALUE_EACH_USE(f->m, u, f->values[i]) TRY(follow_use(f, use_op(f->m, u), use_slot(f->m, u), carried));
    }
    const op_id yield = block_last(f->m, op_block_at(f->m, f->loop, 0));
    if (f->is_seen[op_operand(f->m, yield, carried)]) return OK;
    return op_error(f->m, yield, &E0335,
                    "hands on %s, which is not made of %s by windows put into it: the next iteration of the `parallel` "
                    "loop depends on it",
                    value_words(f->m, op_operand(f->m, yield, carried)),
                    value_words(f->m, block_arg(f->m, op_block_at(f->m, f->loop, 0), carried + 1)));
}

/* ---- where windows are ---- */

typedef struct one_value {
    uint32_t value;
    expr_id by;
} one_value;

static expr_id put_value(void *self, uint32_t value)
{
    const one_value *p = self;
    return value == p->value ? p->by : 0;
}

static expr_id substitute_value(const loop_follower *f, expr_id e, value_id v, expr_id by)
{
    one_value put = {v, by};
    const expr_substitution s = {.value = put_value, .self = &put};
    return e == 0 || by == 0 ? 0 : expr_substitute(module_context(f->m), e, &s);
}

typedef struct inner_names {
    const loop_follower *f;
    value_id value; /* of inside the loop; 0: none */
    bool has_symbol;
} inner_names;

static void find_inner_value(void *self, uint32_t v)
{
    inner_names *n = self;
    const module *m = n->f->m;
    const op_id owner = value_op(m, v) != 0 ? op_parent(m, value_op(m, v)) : block_parent(m, value_block(m, v));
    const bool is_index = expr_at(module_context(m), n->f->index)->value == (int64_t)v;
    if (!is_index && is_inside(m, owner, n->f->loop)) n->value = v;
}

static void find_inner_symbol(void *self, str_id name)
{
    inner_names *n = self;
    IR_WALK(n->f->m, o, n->f->loop)
    {
        if (op_kind_of(n->f->m, o) != OP_BIND) continue;
        const str bound = op_attr_str(n->f->m, o, "symbol"), own = string_of(module_context(n->f->m), name);
        n->has_symbol = n->has_symbol || str_eq(bound, own);
    }
}

/* What the expression names that may be another number in each iteration, beside the index. */
static inner_names inner_names_of(const loop_follower *f, expr_id e)
{
    inner_names n = {.f = f};
    expr_visit_values(module_context(f->m), e, find_inner_value, &n);
    expr_visit_symbols(module_context(f->m), e, find_inner_symbol, &n);
    return n;
}

/* a - b, with products of sums multiplied out. */
static expr_id difference_of(const loop_follower *f, expr_id a, expr_id b)
{
    ir_context *c = module_context(f->m);
    const expr_id e = a == 0 || b == 0 ? 0 : expr_sub(c, a, b);
    return e != 0 && expr_has_product(c, e) ? expr_expand(c, e) : e;
}

/* The bound of an expression over all indices of inner loops, none when it cannot be told. */
static expr_id bound_over_inner(const loop_follower *f, op_id at, expr_id e, bool is_upper)
{
    enum { INNER_LOOPS_MAX = 8 };
    ir_context *c = module_context(f->m);
    for (uint32_t i = 0; e != 0 && i < INNER_LOOPS_MAX; i++) {
        const inner_names n = inner_names_of(f, e);
        if (n.has_symbol) return 0;
        if (n.value == 0) return e;
        const op_id inner = value_op(f->m, n.value) != 0 ? 0 : block_parent(f->m, value_block(f->m, n.value));
        if (inner == 0 || op_kind_of(f->m, inner) != OP_FOR || value_index(f->m, n.value) != 0) return 0;
        const expr_id one = expr_const(c, 1), up = expr_add(c, expr_value(c, n.value), one);
        const expr_id grows = difference_of(f, substitute_value(f, e, n.value, up), e);
        if (grows == 0 || inner_names_of(f, grows).value == n.value) return 0;
        const expr_range r = op_expr_range(f->m, at, grows);
        if (r.lo < 0 && r.hi > 0) return 0;
        const bool takes_last = (r.lo >= 0) == is_upper;
        e = substitute_value(f, e, n.value,
                             takes_last ? expr_sub(c, op_index_expr(f->m, inner, "to", 0), one)
                                        : op_index_expr(f->m, inner, "from", 0));
    }
    return 0;
}

static int64_t stride_of(const module *m, op_id op, uint32_t d)
{
    const ir_context *c = module_context(m);
    const attr_id strides = op_kind_of(m, op) == OP_TENSOR_VIEW ? op_attr(m, op, "strides") : 0;
    return strides == 0 ? 1 : attr_at(c, attr_at(c, strides)->items[d])->i;
}

/* How many elements the window has along a dim; at most, where that differs between iterations. */
static expr_id count_of_window(const loop_follower *f, op_id op, uint32_t d)
{
    ir_context *c = module_context(f->m);
    if (op_kind_of(f->m, op) == OP_SCALAR_OF) return expr_const(c, 1);
    const value_id window =
        op_kind_of(f->m, op) == OP_TENSOR_ASSEMBLE ? op_operand(f->m, op, 0) : op_result(f->m, op, 0);
    const expr_id count = type_at(c, value_type(f->m, window))->dims[d];
    if (!inner_names_of(f, count).has_symbol) return count;
    const int64_t most = op_expr_range(f->m, op, count).hi;
    return most == INT64_MAX ? 0 : expr_const(c, most);
}

static extent_of_window find_extent(const loop_follower *f, op_id op, uint32_t d)
{
    ir_context *c = module_context(f->m);
    const int64_t stride = stride_of(f->m, op, d);
    const expr_id one = expr_const(c, 1), offset = op_index_expr(f->m, op, "offsets", d);
    const expr_id last = expr_mul(c, expr_sub(c, count_of_window(f, op, d), one), expr_const(c, stride));
    const expr_id end = expr_add(c, offset, last);
    return (extent_of_window){bound_over_inner(f, op, stride < 0 ? end : offset, false),
                              bound_over_inner(f, op, expr_add(c, stride < 0 ? offset : end, one), true)};
}

/* How far an expression moves in an iteration; none where that is not the same in each. */
static expr_id find_distance(const loop_follower *f, expr_id e)
{
    ir_context *c = module_context(f->m);
    const value_id index = (value_id)expr_at(c, f->index)->value;
    const expr_id moved = substitute_value(f, e, index, f->next);
    const expr_id distance = difference_of(f, moved, e);
    if (distance == 0 || substitute_value(f, distance, index, f->next) != distance) return 0;
    return distance;
}

/* Whether b <= a. */
static bool is_at_least(const loop_follower *f, op_id at, expr_id a, expr_id b)
{
    const expr_id e = difference_of(f, a, b);
    return e != 0 && op_expr_range(f->m, at, e).lo >= 0;
}

/* Whether windows that move on by `distance` >= 0 leave each other alone: the end of one iteration's is not beyond the
 * start of the next one's, whichever is which. */
static bool are_never_met(const loop_follower *f, op_id at, expr_id distance, extent_of_window a, extent_of_window b)
{
    ir_context *c = module_context(f->m);
    return is_at_least(f, at, distance, expr_const(c, 0)) && is_at_least(f, at, expr_add(c, distance, b.from), a.to) &&
           is_at_least(f, at, expr_add(c, distance, a.from), b.to);
}

static bool are_apart_along(const loop_follower *f, op_id a, op_id b, uint32_t d)
{
    ir_context *c = module_context(f->m);
    const extent_of_window x = find_extent(f, a, d), y = find_extent(f, b, d);
    if (x.from == 0 || x.to == 0 || y.from == 0 || y.to == 0) return false;
    const expr_id starts[] = {x.from, x.to, y.from, y.to}, distance = find_distance(f, x.from);
    for (uint32_t i = 0; i < 4; i++)
        if (distance == 0 || !expr_same(c, find_distance(f, starts[i]), distance)) return false;
    const expr_id back = expr_mul(c, distance, expr_const(c, -1));
    return are_never_met(f, b, distance, x, y) || are_never_met(f, b, back, x, y);
}

static bool are_apart(const loop_follower *f, const element_window *a, const element_window *b)
{
    if (a->is_whole || b->is_whole) return false;
    for (uint32_t d = 0; d < op_index_count(f->m, a->op, "offsets"); d++)
        if (are_apart_along(f, a->op, b->op, d)) return true;
    return false;
}

/* ---- the loop ---- */

static status report(const loop_follower *f, const element_window *write, const element_window *other, uint32_t carried)
{
    const char *a = value_words(f->m, block_arg(f->m, op_block_at(f->m, f->loop, 0), carried + 1));
    const char *how = other->is_written ? "writes to" : "reads";
    status s;
    if (other->is_whole)
        s = op_error(f->m, other->op, &E0335,
                     "%s all of %s in each iteration of a `parallel` loop, and other iterations write to it", how, a);
    else
        s = op_error(f->m, other->op, &E0335,
                     "%s a part of %s that other iterations of the `parallel` loop write to, or may for all that is "
                     "known of its offsets",
                     how, a);
    if (write->op != other->op) op_note(f->m, write->op, "what other iterations write");
    op_note(f->m, f->loop, "without `parallel` iterations run in order and may depend on those before");
    return s;
}

static status check_windows(const loop_follower *f, uint32_t carried)
{
    for (size_t i = 0; i < f->window_count; i++) {
        for (size_t k = 0; f->windows[i].is_written && k < f->window_count; k++) {
            if (k < i && f->windows[k].is_written) continue;
            if (!are_apart(f, &f->windows[i], &f->windows[k]))
                return report(f, &f->windows[i], &f->windows[k], carried);
        }
    }
    return OK;
}

static bool has_one_iteration(const loop_follower *f)
{
    ir_context *c = module_context(f->m);
    const expr_id rest = expr_sub(c, op_index_expr(f->m, f->loop, "to", 0), f->next);
    const expr_id first =
        substitute_value(f, rest, (value_id)expr_at(c, f->index)->value, op_index_expr(f->m, f->loop, "from", 0));
    return first != 0 && op_expr_range(f->m, f->loop, first).hi <= 0;
}

static status check_tensors(loop_follower *f)
{
    for (uint32_t i = 0; i < op_result_count(f->m, f->loop); i++) {
        TRY(follow(f, i));
        TRY(check_windows(f, i));
    }
    return OK;
}

/* Whether passes have taken the ops of the loop into groups or nests. */
static bool is_lowered(const module *m, op_id loop)
{
    IR_WALK(m, o, loop)
    {
        if (op_kind_of(m, o) == OP_TENSOR_GROUP || op_kind_of(m, o) == OP_FORALL) return true;
    }
    return false;
}

static status check_loop(module *m, op_id loop)
{
    ir_context *c = module_context(m);
    for (op_id o = op_parent(m, loop); o != 0; o = op_parent(m, o))
        if (op_kind_of(m, o) == OP_FORALL || op_kind_of(m, o) == OP_BLOCK_KERNEL)
            return op_error(m, loop, &E0318, "is `parallel` inside of a `%s`, whose instances run iterations in order",
                            op_info_of(m, o)->name);
    if (is_lowered(m, loop)) return OK;
    for (uint32_t i = 0; i < op_result_count(m, loop); i++)
        if (type_of_value(m, op_result(m, loop, i))->kind != TYPE_TENSOR)
            return op_error(m, loop, &E0335,
                            "is `parallel` and carries %s, a %s, from one iteration to the next; it can carry tensors",
                            value_words(m, op_operand(m, loop, i)),
                            type_words(m, value_type(m, op_result(m, loop, i))));
    const expr_id index = expr_value(c, block_arg(m, op_block_at(m, loop, 0), 0));
    arena *scratch = arena_create("parallel loop");
    loop_follower f = {.m = m,
                       .loop = loop,
                       .index = index,
                       .next = expr_add(c, index, op_index_expr(m, loop, "step", 0)),
                       .is_seen = arena_array(scratch, m->values.count, sizeof(bool)),
                       .values = arena_array(scratch, m->values.count, sizeof(value_id))};
    const status s = has_one_iteration(&f) ? OK : check_tensors(&f);
    table_free(f.windows);
    arena_destroy(scratch);
    return s;
}

status verify_parallel(module *m, op_id function)
{
    status s = OK;
    IR_WALK(m, o, function)
    {
        if (op_is_parallel(m, o) && check_loop(m, o) != OK) s = FAILED;
    }
    return s;
}
