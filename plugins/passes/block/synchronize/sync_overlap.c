/* Which pairs of instructions may touch the same bytes. */
#include "sync_model.h"

#include <pto/relation.h>

/* ---- on chip ---- */

sync_span sync_span_of(const sync_access *a, int64_t stage)
{
    const int64_t from = stage == SYNC_ANY_STAGE ? 0 : stage, to = stage == SYNC_ANY_STAGE ? a->stages - 1 : stage;
    return (sync_span){a->first + from * a->pitch, a->first + to * a->pitch + a->bytes, a->space, a->is_write};
}

int sync_bytes_meet(const sync_access *a, int64_t stage_a, const sync_access *b, int64_t stage_b)
{
    const sync_span x = sync_span_of(a, stage_a), y = sync_span_of(b, stage_b);
    return sync_spans_meet(&x, &y);
}

/* Both are `x mod n` of arguments that differ by a constant which n does not divide. */
static int is_other_stage(pto_expr a, pto_expr b)
{
    int64_t n = 0, other = 0;
    if (pto_expr_kind_of(a) != PTO_EXPR_MOD || pto_expr_kind_of(b) != PTO_EXPR_MOD) return 0;
    if (!pto_expr_is_const(pto_expr_arg(a, 1), &n) || !pto_expr_is_const(pto_expr_arg(b, 1), &other)) return 0;
    if (n != other || n < 2) return 0;
    const pto_expr distance = pto_expr_sub(pto_expr_arg(a, 0), pto_expr_arg(b, 0));
    const pto_range r = pto_expr_range(distance, pto_op_none(a.run), NULL);
    return r.lo == r.hi && r.lo % n != 0;
}

static int bytes_meet_at_once(const sync_access *a, const sync_access *b)
{
    if (!sync_bytes_meet(a, a->constant, b, b->constant)) return 0;
    const int is_one_buffer = pto_op_same(a->buffer, b->buffer);
    return !(is_one_buffer && a->is_steady && b->is_steady && is_other_stage(a->stage, b->stage));
}

/* ---- windows ---- */

/* Ranges of loop indices by where they come from, whatever op asks. */
static int32_t index_range(void *self, pto_value v, int64_t *lo, int64_t *hi)
{
    (void)self;
    const pto_op inside = pto_block_first(pto_value_block(v));
    if (!PTO_SOME(inside)) return 0;
    const pto_range r = pto_expr_range(pto_expr_value(v), inside, NULL);
    *lo = r.lo;
    *hi = r.hi;
    return 1;
}

/* Symbols made here: distance in iterations, and indices of the later instruction that nothing ties to the earlier. */
typedef struct free_index {
    char name[16];
    int64_t lo, hi;
} free_index;

typedef struct window_question {
    const sync_model *m;
    free_index free[SYNC_DEPTH_MAX + 2];
    uint32_t count;
} window_question;

static int32_t symbol_range(void *self, pto_str name, int64_t *lo, int64_t *hi)
{
    const window_question *q = (const window_question *)self;
    for (uint32_t i = 0; i < q->count; i++) {
        if (!pto_str_is(name, q->free[i].name)) continue;
        *lo = q->free[i].lo;
        *hi = q->free[i].hi;
        return 1;
    }
    return 0;
}

static pto_expr make_free(window_question *q, int64_t lo, int64_t hi)
{
    free_index *f = &q->free[q->count];
    snprintf(f->name, sizeof f->name, "sync__%u", q->count++);
    f->lo = lo;
    f->hi = hi;
    return pto_expr_symbol(q->m->run, pto_s(f->name));
}

/* The index of a loop around the later instruction, in terms of the earlier one's iteration: the same outside of the
 * carrying loop, later in it, anything inside. */
static pto_expr later_index(window_question *q, const sync_op *loop, pto_value index, int is_carrying)
{
    int64_t lo, hi;
    if (is_carrying) {
        int64_t step = 1;
        const pto_expr distance = make_free(q, 1, INT64_MAX);
        const int is_const = pto_expr_is_const(pto_expr_of(loop->at->op, PTO_STR("step"), 0), &step);
        return pto_expr_add(pto_expr_value(index), is_const ? pto_expr_scale(distance, step) : distance);
    }
    index_range(NULL, index, &lo, &hi);
    return make_free(q, lo, hi);
}

/* Whether a dim keeps the windows apart: [first of one, its end) lies before the other. */
static int is_apart(window_question *q, pto_expr from, int64_t from_extent, pto_expr to, int64_t to_extent)
{
    const pto_expr_env env = {.struct_size = sizeof env, .self = q, .symbol = symbol_range, .value = index_range};
    const pto_expr distance = pto_expr_sub(to, from);
    if (!PTO_SOME(distance)) return 0;
    const pto_range r = pto_expr_range(distance, pto_op_none(q->m->run), &env);
    return (r.lo != INT64_MIN && r.lo >= from_extent) || (r.hi != INT64_MAX && r.hi != INT64_MIN && -r.hi >= to_extent);
}

/* ---- digits: a loop that counts tiles parts its index, as in [2 * (%t floordiv 4), 8 * (%t mod 4)] ---- */

/* The x where both windows begin at k * x + c along the dim, and are at most k long; none: they do not. */
static pto_expr digit_of(const sync_access *a, const sync_access *b, uint32_t d)
{
    pto_expr e = a->offsets[d];
    int64_t k = 1;
    if (!pto_expr_equal(e, b->offsets[d])) return pto_expr_none(e.run);
    if (pto_expr_kind_of(e) == PTO_EXPR_SUM && pto_expr_arg_count(e) == 1) {
        k = pto_expr_coef(e, 0);
        e = pto_expr_arg(e, 0);
    }
    return k >= a->extents[d] && k >= b->extents[d] ? e : pto_expr_none(e.run);
}

static pto_expr quotient(pto_expr x, pto_expr by)
{
    if (pto_expr_kind_of(x) != PTO_EXPR_FLOORDIV) return pto_expr_floordiv(x, by);
    return pto_expr_floordiv(pto_expr_arg(x, 0), pto_expr_mul(pto_expr_arg(x, 1), by));
}

/* Whether `x` is the same whenever all digits are: it is one of them, or both parts of it follow from them. */
static int follows(const pto_expr *digits, uint32_t count, pto_expr x, uint32_t depth)
{
    for (uint32_t i = 0; i < count; i++)
        if (pto_expr_equal(digits[i], x)) return 1;
    for (uint32_t i = 0; i < count && depth < PTO_MAX_DIMS; i++) {
        const pto_expr_kind kind = pto_expr_kind_of(digits[i]);
        if ((kind != PTO_EXPR_MOD && kind != PTO_EXPR_FLOORDIV) || !pto_expr_equal(pto_expr_arg(digits[i], 0), x))
            continue;
        const pto_expr by = pto_expr_arg(digits[i], 1);
        const pto_expr rest = kind == PTO_EXPR_MOD ? quotient(x, by) : pto_expr_mod(x, by);
        if (!pto_expr_has_value(by) && PTO_SOME(rest) && follows(digits, count, rest, depth + 1)) return 1;
    }
    return 0;
}

/* Whether each value of the index has windows of its own. */
static int is_told_by_digits(const sync_access *a, const sync_access *b, pto_value index)
{
    pto_expr digits[PTO_MAX_DIMS];
    uint32_t count = 0;
    for (uint32_t d = 0; d < a->rank; d++) {
        const pto_expr digit = digit_of(a, b, d);
        if (PTO_SOME(digit)) digits[count++] = digit;
    }
    return count > 1 && follows(digits, count, pto_expr_value(index), 0);
}

/* Whether window `b` may meet window `a` of an earlier iteration of the loop `carrying`, or, when that is SYNC_NONE, of
 * the same iteration. */
static int windows_meet(const sync_model *m, const sync_access *a, const sync_access *b, uint32_t carrying)
{
    if (!pto_value_same(a->root, b->root)) return 0;
    if (!pto_value_same(a->memory, b->memory) || a->rank != b->rank || !a->is_steady || !b->is_steady) return 1;
    window_question q = {.m = m};
    pto_value from[SYNC_DEPTH_MAX];
    pto_expr to[SYNC_DEPTH_MAX];
    uint32_t n = 0;
    for (uint32_t p = m->ops[b->op].at->parent; carrying != SYNC_NONE && p != 0; p = m->ops[p].at->parent) {
        if (m->ops[p].role == SYNC_FOR) {
            from[n] = pto_block_arg(pto_body(m->ops[p].at->op), 0);
            to[n] = later_index(&q, &m->ops[p], from[n], p == carrying);
            n++;
        }
        if (p == carrying) break;
    }
    for (uint32_t d = 0; d < a->rank; d++) {
        const pto_expr later = n != 0 ? pto_expr_substitute(b->offsets[d], n, from, to) : b->offsets[d];
        if (PTO_SOME(later) && is_apart(&q, a->offsets[d], a->extents[d], later, b->extents[d])) return 0;
    }
    return carrying == SYNC_NONE || m->ops[carrying].role != SYNC_FOR ||
           !is_told_by_digits(a, b, pto_block_arg(pto_body(m->ops[carrying].at->op), 0));
}

/* ---- pairs ---- */

/* Whether an instruction runs only when `bound`, which no loop changes, is at most 0: its loop would have no trip. */
static int runs_only_above_0(const sync_model *m, uint32_t place, pto_expr bound)
{
    for (uint32_t p = m->ops[place].at->parent; p != 0; p = m->ops[p].at->parent) {
        if (m->ops[p].role != SYNC_FOR) continue;
        const pto_expr span = pto_expr_sub(pto_expr_of(m->ops[p].at->op, PTO_STR("to"), 0),
                                           pto_expr_of(m->ops[p].at->op, PTO_STR("from"), 0));
        if (PTO_SOME(span) && pto_expr_equal(span, bound)) return 1;
    }
    return 0;
}

/* The expression of symbols that is at most 0 when the first block of an `if` is taken; none otherwise. */
static pto_expr not_positive(const sync_model *m, uint32_t place)
{
    const pto_op op = m->ops[place].at->op;
    const pto_relation relation = pto_relation_by_name(pto_attr_str_of(op, PTO_STR("relation")));
    const pto_expr left = pto_expr_of(op, PTO_STR("left"), 0), right = pto_expr_of(op, PTO_STR("right"), 0);
    switch (relation) {
    case PTO_RELATION_EQ:
    case PTO_RELATION_LT:
    case PTO_RELATION_LE: return pto_expr_sub(left, right);
    case PTO_RELATION_GT:
    case PTO_RELATION_GE: return pto_expr_sub(right, left);
    default: return pto_expr_none(m->run);
    }
}

/* Whether `a` runs only when `b` does not: what is done instead of a loop without trips. */
static int replaces(const sync_model *m, uint32_t a, uint32_t b)
{
    for (uint32_t inside = a, p = m->ops[a].at->parent; p != 0; inside = p, p = m->ops[p].at->parent) {
        if (m->ops[p].role != SYNC_IF || m->ops[inside].at->block != 0) continue;
        const pto_expr bound = not_positive(m, p);
        if (PTO_SOME(bound) && sync_is_visible(m, bound, 1) && runs_only_above_0(m, b, bound)) return 1;
    }
    return 0;
}

int sync_meets_at_once(const sync_access *a, const sync_access *b)
{
    return (a->is_write || b->is_write) && a->space == b->space && a->space != PTO_SPACE_NONE &&
           bytes_meet_at_once(a, b);
}

static void compare_windows(const sync_model *m, const sync_access *a, const sync_access *b, sync_pair *p)
{
    if (a->op < b->op && windows_meet(m, a, b, SYNC_NONE)) p->in_gm = 1;
    for (uint32_t c = region_common(&m->regions, a->op, b->op); c != SYNC_NONE; c = m->ops[c].at->parent) {
        if (m->ops[c].role == SYNC_FOR && windows_meet(m, a, b, c)) p->gm_by |= 1u << m->ops[c].at->depth;
        if (m->ops[c].role == SYNC_WHILE && pto_value_same(a->root, b->root)) p->gm_by |= 1u << m->ops[c].at->depth;
    }
}

/* Whether two instructions may touch the same bytes on chip, one writing; the same with both exchanged. */
static int meet_on_chip(const sync_model *m, const sync_op *x, const sync_op *y)
{
    for (uint32_t i = 0; i < x->access_count; i++) {
        const sync_span *a = &m->spans[x->access + i];
        for (uint32_t k = 0; k < y->access_count && a->space != PTO_SPACE_NONE; k++) {
            const sync_span *b = &m->spans[y->access + k];
            if ((a->is_write || b->is_write) && sync_spans_meet(a, b)) return 1;
        }
    }
    return 0;
}

static sync_pair compare_ops(const sync_model *m, uint32_t first, uint32_t second, int on_chip)
{
    sync_pair p = {.first = first, .second = second, .on_chip = on_chip};
    const sync_op *x = &m->ops[first], *y = &m->ops[second];
    if (!x->has_window || !y->has_window) return p;
    for (uint32_t i = 0; i < x->access_count; i++) {
        for (uint32_t k = 0; k < y->access_count; k++) {
            const sync_access *a = &m->accesses[x->access + i], *b = &m->accesses[y->access + k];
            if ((a->is_write || b->is_write) && a->space == PTO_SPACE_NONE && b->space == PTO_SPACE_NONE)
                compare_windows(m, a, b, &p);
        }
    }
    return p;
}

static int is_empty(const sync_pair *p) { return !p->on_chip && !p->in_gm && p->gm_by == 0; }

/* Whether nothing orders the two, given the pair: on chip it would say the same with the ops exchanged. */
static int is_apart_both_ways(const sync_model *m, const sync_pair *p)
{
    if (!is_empty(p)) return 0;
    if (!m->ops[p->first].has_window || !m->ops[p->second].has_window) return 1;
    const sync_pair back = compare_ops(m, p->second, p->first, 0);
    return is_empty(&back);
}

static pto_status too_large(const sync_model *m, uint32_t instructions)
{
    if (instructions > SYNC_INSTRUCTIONS_MAX)
        return pto_error(m->ops[0].at->op, "pto.synchronize/too-large",
                         "the kernel has %u instructions, the most that are looked at are %d; loops keep it short",
                         instructions, SYNC_INSTRUCTIONS_MAX);
    return pto_error(m->ops[0].at->op, "pto.synchronize/too-large",
                     "more than %d pairs of the %u instructions of the kernel touch the same bytes, the most that are "
                     "looked at; loops keep it short",
                     SYNC_PAIRS_MAX, instructions);
}

pto_status sync_find_pairs(sync_model *m)
{
    uint32_t capacity = 0, count = 0;
    uint32_t *places = PTO_SCRATCH(m->run, uint32_t, m->count);
    m->spans = PTO_SCRATCH(m->run, sync_span, m->access_count);
    for (uint32_t i = 0; i < m->access_count; i++) m->spans[i] = sync_span_of(&m->accesses[i], m->accesses[i].constant);
    for (uint32_t i = 1; i < m->count; i++)
        if (m->ops[i].role == SYNC_INSN) places[count++] = i;
    if (count > SYNC_INSTRUCTIONS_MAX) return too_large(m, count);
    uint8_t *meet = PTO_SCRATCH(m->run, uint8_t, (size_t)count *count); /* [i * count + k], i <= k */
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t second = places[i];
        sync_op *y = &m->ops[second];
        PTO_TRY(pto_go_on(m->run));
        y->pair = m->pair_count;
        for (uint32_t k = 0; k < count; k++) {
            const uint32_t first = places[k];
            uint8_t *on_chip = &meet[k < i ? (size_t)k * count + i : (size_t)i * count + k];
            if (m->ops[first].pipe == y->pipe && !m->overlaps[y->pipe]) continue;
            if (k >= i) *on_chip = meet_on_chip(m, &m->ops[first], y) != 0;
            const sync_pair p = compare_ops(m, first, second, *on_chip);
            if (is_apart_both_ways(m, &p) || replaces(m, first, second) || replaces(m, second, first)) continue;
            if (m->pair_count == SYNC_PAIRS_MAX) return too_large(m, count);
            PTO_GROW(m->run, m->pairs, m->pair_count, capacity);
            m->pairs[m->pair_count++] = p;
        }
        y->pair_count = m->pair_count - y->pair;
    }
    return PTO_OK;
}
