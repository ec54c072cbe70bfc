/* One inline function for each row of <pto/host.def>, so that the code of plugins reads like an ordinary C API, and
 * short forms of what they do often. */
#ifndef PTO_CALL_H
#define PTO_CALL_H

#include <pto/abi.h>

#include <stdio.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- text ---- */
/* A view of `n` bytes at `p`, and the empty text. Nothing is copied. */
static inline pto_str pto_str_make(const char *p, size_t n)
{
    pto_str s;
    s.p = p;
    s.n = n;
    return s;
}
static inline pto_str pto_no_str(void) { return pto_str_make("", 0); }
/* Of a literal: PTO_STR("axis"). */
#define PTO_STR(literal) pto_str_make("" literal, sizeof("" literal) - 1)
/* Of a NUL-ended text, which it borrows; NULL is the empty one. */
static inline pto_str pto_s(const char *text) { return pto_str_make(text, text != NULL ? strlen(text) : 0); }
static inline int pto_str_same(pto_str a, pto_str b) { return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0); }
static inline int pto_str_is(pto_str s, const char *text) { return pto_str_same(s, pto_s(text)); }
/* For printf: "%.*s". */
#define PTO_FMT(s) (int)(s).n, (s).p

/* ---- handles ---- */
#define PTO_HANDLE(type)                               \
    static inline type type##_none(const pto_run *run) \
    {                                                  \
        type h;                                        \
        h.run = run;                                   \
        h.index = 0;                                   \
        h.generation = 0;                              \
        return h;                                      \
    }                                                  \
    static inline int type##_same(type a, type b) { return a.index == b.index; }
PTO_HANDLE(pto_op)
PTO_HANDLE(pto_value)
PTO_HANDLE(pto_block)
PTO_HANDLE(pto_type)
PTO_HANDLE(pto_attr)
PTO_HANDLE(pto_expr)
PTO_HANDLE(pto_loc)
#undef PTO_HANDLE
/* True for any handle that is not none. */
#define PTO_SOME(handle) ((handle).index != 0)
/* Leaves the function with PTO_FAILED, for calls that have reported why. */
#define PTO_TRY(call)                      \
    do {                                   \
        if ((call) < 0) return PTO_FAILED; \
    } while (0)
#define PTO_NEED(handle)                          \
    do {                                          \
        if (!PTO_SOME(handle)) return PTO_FAILED; \
    } while (0)

/* ---- the host: pto_<name> for each row of <pto/host.def>, which says what it means ---- */

/* The run that the first argument leads to: it has the name of its type. */
#define PTO_RUN_OF_run run
#define PTO_RUN_OF_op op.run
#define PTO_RUN_OF_block block.run
#define PTO_RUN_OF_value value.run
#define PTO_RUN_OF_type type.run
#define PTO_RUN_OF_attr attr.run
#define PTO_RUN_OF_expr expr.run
#define PTO_RUN_OF_loc loc.run
#define PTO_RUN_OF_FIRST(first, ...) PTO_RUN_OF_##first
#define PTO_RUN_OF(...) PTO_RUN_OF_FIRST(__VA_ARGS__, )

/* What a call returns that cannot be made, since a handle has no run or the host lacks the table. */
static inline pto_range pto_range_all(void)
{
    pto_range r;
    r.lo = INT64_MIN;
    r.hi = INT64_MAX;
    return r;
}
#define PTO_CALL_void(is_possible, call) \
    if (is_possible) call
/* Of the run itself, which is always there. */
#define PTO_CALL_pto_memory(is_possible, call)   \
    if (!(is_possible)) __builtin_unreachable(); \
    return call
#define PTO_CALL_int32_t(is_possible, call) return (is_possible) ? call : 0
#define PTO_CALL_uint32_t(is_possible, call) return (is_possible) ? call : 0
#define PTO_CALL_int64_t(is_possible, call) return (is_possible) ? call : 0
#define PTO_CALL_double(is_possible, call) return (is_possible) ? call : 0.0
#define PTO_CALL_pto_status(is_possible, call) return (is_possible) ? call : PTO_FAILED
#define PTO_CALL_pto_kind_id(is_possible, call) return (is_possible) ? call : 0
#define PTO_CALL_pto_type_kind(is_possible, call) return (is_possible) ? call : 0
#define PTO_CALL_pto_attr_kind(is_possible, call) return (is_possible) ? call : 0
#define PTO_CALL_pto_expr_kind(is_possible, call) return (is_possible) ? call : 0
#define PTO_CALL_pto_dtype(is_possible, call) return (is_possible) ? call : 0
#define PTO_CALL_pto_space(is_possible, call) return (is_possible) ? call : 0
#define PTO_CALL_pto_layout(is_possible, call) return (is_possible) ? call : 0
#define PTO_CALL_pto_pipe(is_possible, call) return (is_possible) ? call : 0
#define PTO_CALL_pto_space_facts(is_possible, call) return (is_possible) ? call : NULL
#define PTO_CALL_pto_path_facts(is_possible, call) return (is_possible) ? call : NULL
#define PTO_CALL_pto_str(is_possible, call) return (is_possible) ? call : pto_no_str()
#define PTO_CALL_pto_range(is_possible, call) return (is_possible) ? call : pto_range_all()
#define PTO_CALL_pto_op(is_possible, call) return (is_possible) ? call : pto_op_none(NULL)
#define PTO_CALL_pto_value(is_possible, call) return (is_possible) ? call : pto_value_none(NULL)
#define PTO_CALL_pto_block(is_possible, call) return (is_possible) ? call : pto_block_none(NULL)
#define PTO_CALL_pto_type(is_possible, call) return (is_possible) ? call : pto_type_none(NULL)
#define PTO_CALL_pto_attr(is_possible, call) return (is_possible) ? call : pto_attr_none(NULL)
#define PTO_CALL_pto_expr(is_possible, call) return (is_possible) ? call : pto_expr_none(NULL)
#define PTO_CALL_pto_loc(is_possible, call) return (is_possible) ? call : pto_loc_none(NULL)

#define HOST(returns, name, parameters, arguments, doc)                                                   \
    static inline returns pto_##name parameters                                                           \
    {                                                                                                     \
        PTO_CALL_##returns((PTO_RUN_OF arguments) != NULL, (PTO_RUN_OF arguments)->host->name arguments); \
    }
#include <pto/host.def>

/* A table of the host, with the function `name` at byte `at`; NULL after a diagnostic. */
static inline const void *pto_host_table(const pto_run *run, pto_str id, pto_str name, size_t at)
{
    const void *table = NULL;
    char text[128];
    if (run == NULL) return NULL;
    if (pto_extension(run, id, &table) == PTO_OK && *(const uint32_t *)table > at) return table;
    (void)snprintf(text, sizeof text, "this host does not have `%.*s` of the table `%.*s`", PTO_FMT(name), PTO_FMT(id));
    pto_diag(run, PTO_ERROR, pto_loc_none(run), PTO_STR("pto.sdk/host-lacks-function"), pto_s(text));
    return NULL;
}
#define PTO_HOST_TABLE_ROW(table, id, returns, name, parameters, arguments)                                          \
    static inline returns pto_##name parameters                                                                      \
    {                                                                                                                \
        const table *const pto_t =                                                                                   \
            (const table *)pto_host_table(PTO_RUN_OF arguments, PTO_STR(id), PTO_STR(#name), offsetof(table, name)); \
        PTO_CALL_##returns(pto_t != NULL, pto_t->name arguments);                                                    \
    }
#define HOST_TILING(returns, name, parameters, arguments, doc) \
    PTO_HOST_TABLE_ROW(pto_tiling_host, PTO_TILING_HOST, returns, name, parameters, arguments)
#define HOST_SCHEDULE(returns, name, parameters, arguments, doc) \
    PTO_HOST_TABLE_ROW(pto_schedule_host, PTO_SCHEDULE_HOST, returns, name, parameters, arguments)
#include <pto/host.def>
#undef PTO_HOST_TABLE_ROW

/* ---- short forms of them ---- */

/* Zeroed memory for `count` things of `size` bytes, until the call returns. */
static inline void *pto_scratch_array(const pto_run *run, size_t count, size_t size)
{
    return pto_scratch(run, size != 0 && count > SIZE_MAX / size ? SIZE_MAX : count * size);
}
#define PTO_SCRATCH(run, type, count) ((type *)pto_scratch_array((run), (count), sizeof(type)))
/* An array with a place for one more item of `size` bytes after the first `count`, in scratch memory: `items` itself,
 * or a copy of twice the size. `items` may be NULL when the capacity is 0. */
static inline void *pto_grow(const pto_run *run, void *items, uint32_t count, uint32_t *capacity, size_t size)
{
    if (count < *capacity) return items;
    const uint32_t more = *capacity < 8 ? 16 : *capacity * 2;
    void *bigger = pto_scratch_array(run, more, size);
    if (items != NULL && count != 0) memcpy(bigger, items, count * size);
    *capacity = more;
    return bigger;
}
#ifndef __cplusplus
/* PTO_GROW(run, list->items, list->count, list->capacity); list->items[list->count++] = item; */
#define PTO_GROW(run, items, count, capacity) \
    ((items) = pto_grow((run), (void *)(items), (count), &(capacity), sizeof *(items)))
#endif
/* `PTO_TRY(pto_go_on(run));` at the head of a loop that may be long: fails when the time is up, which the host reports
 * with the step. */
static inline pto_status pto_go_on(const pto_run *run) { return pto_should_stop(run) ? PTO_FAILED : PTO_OK; }
static inline int pto_opt_bool(const pto_run *run, uint32_t option) { return pto_opt_i64(run, option) != 0; }
/* The op kind at a position of the descriptor's `kinds`: pto_kind(run, KIND_NEG). */
static inline pto_kind_id pto_kind(const pto_run *run, uint32_t index)
{
    return index < run->kind_count ? run->kinds[index] : pto_kind_at(run, index);
}
static inline pto_str pto_kind_cost(const pto_run *run, pto_kind_id kind)
{
    return pto_kind_text(run, kind, PTO_TEXT_COST);
}
static inline int pto_kind_has(const pto_run *run, pto_kind_id kind, int64_t traits)
{
    return (pto_kind_column(run, kind, PTO_COLUMN_TRAITS) & traits) != 0;
}
static inline int pto_op_is(pto_op op, pto_kind_id kind) { return PTO_SOME(op) && pto_op_kind(op) == kind; }
/* Whether an op, which may be none, is of a kind of the descriptor's `kinds`: PTO_IS(op, NEG). */
static inline int pto_op_is_listed(pto_op op, uint32_t index)
{
    return op.run != NULL && PTO_SOME(op) && pto_op_kind(op) == pto_kind(op.run, index);
}
#define PTO_IS(op, NAME) pto_op_is_listed((op), KIND_##NAME)
static inline pto_str pto_op_name(pto_op op)
{
    return op.run != NULL ? pto_kind_name(op.run, pto_op_kind(op)) : pto_no_str();
}
/* The first block: the body of a function, kernel or loop. */
static inline pto_block pto_body(pto_op op) { return pto_op_block_at(op, 0); }
/* The last op of a block when it is a terminator, else none. */
static inline pto_op pto_block_terminator(pto_block block)
{
    pto_op last = pto_block_last(block);
    if (PTO_SOME(last) && !pto_kind_has(last.run, pto_op_kind(last), PTO_TRAIT_TERMINATOR))
        last = pto_op_none(last.run);
    return last;
}
/* For an op with one result. */
static inline pto_status pto_op_replace_by(pto_op op, pto_value by) { return pto_op_replace(op, 1, &by); }

/* Places to build at or move to. */
static inline pto_place pto_before(pto_op op)
{
    pto_place p;
    p.block = pto_op_block(op);
    p.before = op;
    return p;
}
static inline pto_place pto_after(pto_op op)
{
    pto_place p;
    p.block = pto_op_block(op);
    p.before = pto_op_next(op);
    return p;
}
static inline pto_place pto_at_end(pto_block block)
{
    pto_place p;
    p.block = block;
    p.before = pto_op_none(block.run);
    return p;
}
static inline pto_place pto_at_start(pto_block block)
{
    pto_place p;
    p.block = block;
    p.before = pto_block_first(block);
    return p;
}

/* Expressions of two others of the same run, simplified by the host; none when one is none. ceildiv(a, b) is a / b
 * rounded up; floordiv and mod round down; scale multiplies and offset adds a constant. */
static inline pto_expr pto_expr_add(pto_expr a, pto_expr b) { return pto_expr_make(a, PTO_EXPR_SUM, b); }
static inline pto_expr pto_expr_mul(pto_expr a, pto_expr b) { return pto_expr_make(a, PTO_EXPR_PRODUCT, b); }
static inline pto_expr pto_expr_floordiv(pto_expr a, pto_expr b) { return pto_expr_make(a, PTO_EXPR_FLOORDIV, b); }
static inline pto_expr pto_expr_ceildiv(pto_expr a, pto_expr b) { return pto_expr_make(a, PTO_EXPR_CEILDIV, b); }
static inline pto_expr pto_expr_mod(pto_expr a, pto_expr b) { return pto_expr_make(a, PTO_EXPR_MOD, b); }
static inline pto_expr pto_expr_min(pto_expr a, pto_expr b) { return pto_expr_make(a, PTO_EXPR_MIN, b); }
static inline pto_expr pto_expr_max(pto_expr a, pto_expr b) { return pto_expr_make(a, PTO_EXPR_MAX, b); }
static inline pto_expr pto_expr_scale(pto_expr a, int64_t by) { return pto_expr_mul(a, pto_expr_const(a.run, by)); }
static inline pto_expr pto_expr_sub(pto_expr a, pto_expr b) { return pto_expr_add(a, pto_expr_scale(b, -1)); }
static inline pto_expr pto_expr_offset(pto_expr a, int64_t by) { return pto_expr_add(a, pto_expr_const(a.run, by)); }
/* 1 and the number when the expression is a constant. */
static inline int pto_expr_is_const(pto_expr expr, int64_t *out)
{
    if (pto_expr_kind_of(expr) != PTO_EXPR_CONST) return 0;
    *out = pto_expr_number(expr);
    return 1;
}

/* ---- walking. The body may erase, replace or move `op` itself, and change what is inside it. ---- */
/* Next op of the walk when the insides of `op` are left out. */
static inline pto_op pto_walk_skip(pto_op op, pto_op root)
{
    pto_op after = pto_op_none(root.run);
    if (PTO_SOME(op)) (void)pto_op_walk_on(op, root, &after);
    return after;
}
/* Where the walk goes on after `op`: `next`, and `after` when the body has erased the insides of `op`. */
static inline pto_op pto_walk_look(pto_op op, pto_op root, pto_op *after)
{
    *after = pto_op_none(root.run);
    return PTO_SOME(op) ? pto_op_walk_on(op, root, after) : *after;
}
static inline pto_op pto_walk_pick(pto_op next, pto_op after)
{
    if (pto_op_same(next, after) || pto_op_is_live(next)) return next;
    return !PTO_SOME(after) || pto_op_is_live(after) ? after : next;
}
/* Every op directly in `block`, in order; ops inserted after `op` are not visited. */
#define PTO_EACH_OP(block, op)                                                          \
    for (pto_op op = pto_block_first(block), op##_next = pto_op_next(op); PTO_SOME(op); \
         op = op##_next, op##_next = pto_op_next(op))
/* Every op inside `root`, in print order, root left out. */
#define PTO_WALK(root, op)                                                                                             \
    for (pto_op op##_after, op = pto_op_walk_next((root), (root)), op##_next = pto_walk_look(op, (root), &op##_after); \
         PTO_SOME(op); op = pto_walk_pick(op##_next, op##_after), op##_next = pto_walk_look(op, (root), &op##_after))
/* Every use of a value, while the body does not change its uses: `use.op` and `use.slot`. */
typedef struct pto_use {
    pto_value value;
    pto_op op;
    uint32_t index, slot;
} pto_use;
static inline pto_use pto_use_at(pto_value value, uint32_t index)
{
    pto_use use;
    use.value = value;
    use.index = index;
    use.slot = 0;
    use.op = pto_value_use(value, index, &use.slot);
    return use;
}
#define PTO_EACH_USE(value_, use) \
    for (pto_use use = pto_use_at((value_), 0); PTO_SOME(use.op); use = pto_use_at(use.value, use.index + 1))

#ifdef __cplusplus
}
#endif
#endif
