/* What reads an `inout` parameter that a result replaces runs before that, where it needs nothing of what is made from
 * there on.
 *
 *     %c = forall .. out(%o = %cache)                     %s = forall .. reads %cache
 *     %s = forall .. reads %cache                 =>      %c = forall .. out(%o = %cache)
 *     return %c, which aliases %cache, and %s             return %c, %s
 *
 * Values are the same in any order that has each before its uses; the memory of the parameter changes once. */
#include "bufferize.h"

/* Ops of the function's body from the first one that changes the parameter on, without the `return`. */
typedef struct op_run {
    const bufferizer *b;
    pto_op *ops;
    uint8_t *is_free, *is_wanted; /* for each: whether it may come before the first one, and whether it should */
    uint32_t count, capacity;
} op_run;

static pto_op in_body(const bufferizer *b, pto_op op)
{
    while (PTO_SOME(op) && !pto_op_same(pto_op_parent(op), b->function)) op = pto_op_parent(op);
    return op;
}

/* The first nest of those that make a returned value, from the parameter or from nothing; none: another op is among
 * them.
 */
static pto_op first_change(const bufferizer *b, pto_value v)
{
    const pto_op none = pto_op_none(b->run);
    pto_op first = none;
    for (;;) {
        v = bufferize_origin(v);
        const pto_op def = pto_value_op(v);
        if (!PTO_SOME(def) || PTO_IS(def, EMPTY)) return first;
        if (!PTO_IS(def, FORALL) || !pto_op_same(pto_op_parent(def), b->function)) return none;
        first = def;
        v = pto_op_operand(def, pto_value_index(v));
    }
}

/* The number of an op in the list; `count`: it is not in it. They are in the order of the text. */
static uint32_t place_of(const op_run *r, pto_op op)
{
    uint32_t low = 0, high = r->count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (pto_op_same(r->ops[middle], op)) return middle;
        if (pto_op_is_before(r->ops[middle], op))
            low = middle + 1;
        else
            high = middle;
    }
    return r->count;
}

/* Nests that write to memory of their own, and what makes or names memory. */
static int may_move(pto_op op)
{
    if (PTO_IS(op, VIEW) || PTO_IS(op, EMPTY) || PTO_IS(op, ARRAY)) return 1;
    if (!PTO_IS(op, FORALL)) return pto_kind_has(op.run, pto_op_kind(op), PTO_TRAIT_PURE);
    for (uint32_t i = 0; i < pto_op_operand_count(op); i++)
        if (!PTO_IS(pto_value_op(bufferize_origin(pto_op_operand(op, i))), EMPTY)) return 0;
    return pto_op_operand_count(op) != 0 && !bufferize_writes_elsewhere(op);
}

/* Whether `see` holds for the number of each other op of the list of which `op`, or an op in it, has an operand. */
static int all_needed(const op_run *r, uint32_t of, pto_op op, int (*see)(const op_run *r, uint32_t needed))
{
    for (uint32_t i = 0; i < pto_op_operand_count(op); i++) {
        const pto_op def = in_body(r->b, pto_value_op(pto_op_operand(op, i)));
        const uint32_t needed = PTO_SOME(def) ? place_of(r, def) : r->count;
        if (needed != of && needed < r->count && !see(r, needed)) return 0;
    }
    return 1;
}
static int all_needed_within(const op_run *r, uint32_t of, int (*see)(const op_run *r, uint32_t needed))
{
    int holds = all_needed(r, of, r->ops[of], see);
    PTO_WALK(r->ops[of], inner) holds = holds && all_needed(r, of, inner, see);
    return holds;
}

static int see_free(const op_run *r, uint32_t needed) { return r->is_free[needed]; }
static int see_wanted(const op_run *r, uint32_t needed)
{
    r->is_wanted[needed] = 1;
    return 1;
}

static void want_readers(const op_run *r, pto_value memory)
{
    PTO_EACH_USE(memory, use) {
        const uint32_t at = place_of(r, in_body(r->b, use.op));
        if (at < r->count && r->is_free[at]) r->is_wanted[at] = 1;
        if (PTO_IS(use.op, VIEW)) want_readers(r, pto_op_result(use.op, 0));
    }
}

static int is_used_after(const bufferizer *b, pto_value memory, pto_op first)
{
    PTO_EACH_USE(memory, use) {
        const pto_op at = in_body(b, use.op);
        if (PTO_IS(use.op, VIEW) && is_used_after(b, pto_op_result(use.op, 0), first)) return 1;
        if (!PTO_IS(at, RETURN) && pto_op_is_before(first, at)) return 1;
    }
    return 0;
}

static pto_status read_before(const bufferizer *b, pto_value parameter, pto_op first)
{
    op_run r = {.b = b};
    if (!is_used_after(b, parameter, first)) return PTO_OK;
    PTO_EACH_OP(pto_body(b->function), op) {
        if (pto_op_is_before(op, first) || PTO_IS(op, RETURN)) continue;
        PTO_GROW(b->run, r.ops, r.count, r.capacity);
        r.ops[r.count++] = op;
    }
    r.is_free = PTO_SCRATCH(b->run, uint8_t, r.count);
    r.is_wanted = PTO_SCRATCH(b->run, uint8_t, r.count);
    for (uint32_t i = 1; i < r.count; i++) r.is_free[i] = may_move(r.ops[i]) && all_needed_within(&r, i, see_free);
    want_readers(&r, parameter);
    for (uint32_t i = r.count; i-- > 1;)
        if (r.is_wanted[i]) (void)all_needed_within(&r, i, see_wanted);
    for (uint32_t i = 1; i < r.count; i++)
        if (r.is_wanted[i]) PTO_TRY(pto_op_move(r.ops[i], pto_before(first)));
    return PTO_OK;
}

pto_status bufferize_read_early(const bufferizer *b)
{
    const pto_op ret = pto_block_terminator(pto_body(b->function));
    for (uint32_t i = 0; i < pto_op_operand_count(ret); i++) {
        const int64_t alias = bufferize_alias_of(b, i);
        const pto_op first = alias >= 0 ? first_change(b, pto_op_operand(ret, i)) : pto_op_none(b->run);
        if (PTO_SOME(first)) PTO_TRY(read_before(b, pto_block_arg(pto_body(b->function), (uint32_t)alias), first));
    }
    return PTO_OK;
}
