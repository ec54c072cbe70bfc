/* Decoding of control flow into jumps, without recursion. */
#include "semantics/program_body.h"

/* An op whose blocks are being decoded. */
typedef struct nest {
    pto_op op;
    const program_site *site;
    enum { NEST_FUNCTION, NEST_FOR, NEST_IF, NEST_WHILE } kind;
    uint32_t block;                   /* which of its blocks */
    uint32_t enter;                   /* code to patch when the end is known */
    uint32_t leave;                   /* of an `if`: the jump behind the first block */
    uint32_t loop, body;              /* index in loops; first code of the loop */
    uint32_t test;                    /* of a `while`: the jump out */
    uint32_t count, carried, results; /* carried values: slots of the arguments, slots of the results */
} nest;

typedef struct nests {
    decoder *d;
    list stack;
} nests;

static pto_status refuse(decoder *d, const program_site *site, const char *why)
{
    return program_error(d->p, site, "unsupported", "'%.*s' cannot be executed here: %s", PTO_FMT(site->op_name), why);
}

static uint32_t here(const decoder *d) { return d->codes.count; }

static void patch(decoder *d, uint32_t place) { LIST_AT(d, codes, code, place)->b = here(d); }

/* `count` new slots in a row; the first. */
static uint32_t slots(decoder *d, uint32_t count)
{
    const uint32_t first = d->constants.count;
    for (uint32_t i = 0; i < count; i++) decode_slot(d);
    return first;
}

static pto_status slot_operand(decoder *d, const program_site *site, pto_value v, uint32_t *out)
{
    const thing t = decode_find(d, v);
    if (t.kind != THING_SLOT)
        return refuse(d, site, "it hands on a value that is no scalar; carried tiles share a buffer");
    *out = t.id;
    return PTO_OK;
}

/* Copies the operands of `op` to `count` slots from `to` on, all at once. */
static pto_status copy_operands(decoder *d, const program_site *site, pto_op op, uint32_t count, uint32_t to)
{
    if (pto_op_operand_count(op) != count) return refuse(d, site, "it hands on another number of values");
    const uint32_t between = slots(d, count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t from = 0;
        PTO_TRY(slot_operand(d, site, pto_op_operand(op, i), &from));
        decode_emit(d, CODE_COPY, between + i, from);
    }
    for (uint32_t i = 0; i < count; i++) decode_emit(d, CODE_COPY, to + i, between + i);
    return PTO_OK;
}

static void copy_slots(decoder *d, uint32_t count, uint32_t to, uint32_t from)
{
    for (uint32_t i = 0; i < count; i++) decode_emit(d, CODE_COPY, to + i, from + i);
}

static void define_arguments(decoder *d, pto_block block, uint32_t first, uint32_t count, uint32_t slot)
{
    for (uint32_t i = 0; i < count; i++) decode_define(d, pto_block_arg(block, first + i), THING_SLOT, slot + i);
}

static void define_results(decoder *d, nest *n)
{
    n->results = slots(d, pto_op_result_count(n->op));
    for (uint32_t i = 0; i < pto_op_result_count(n->op); i++)
        decode_define(d, pto_op_result(n->op, i), THING_SLOT, n->results + i);
}

/* ---- entering ---- */

static pto_status enter_for(decoder *d, nest *n)
{
    uint32_t got;
    loop_code l = {.site = n->site, .index = slots(d, 3)};
    l.bound = l.index + 1;
    l.step = l.index + 2;
    PTO_TRY(decode_exprs(d, n->site, n->op, "from", 1, &l.from, &got));
    PTO_TRY(decode_exprs(d, n->site, n->op, "to", 1, &l.to, &got));
    PTO_TRY(decode_exprs(d, n->site, n->op, "step", 1, &l.by, &got));
    n->count = pto_op_result_count(n->op);
    n->carried = slots(d, n->count);
    PTO_TRY(copy_operands(d, n->site, n->op, n->count, n->carried));
    decode_define(d, pto_block_arg(pto_body(n->op), 0), THING_SLOT, l.index);
    define_arguments(d, pto_body(n->op), 1, n->count, n->carried);
    n->loop = d->loops.count;
    *LIST_ADD(d, loops, loop_code) = l;
    n->enter = decode_emit(d, CODE_FOR, n->loop, 0);
    n->body = here(d);
    return PTO_OK;
}

static pto_status enter_if(decoder *d, nest *n)
{
    branch_code b = {.site = n->site,
                     .relation = pto_relation_by_name(pto_attr_str(pto_op_attr(n->op, PTO_STR("relation"))))};
    uint32_t got;
    if (b.relation == PTO_RELATION_NONE) return refuse(d, n->site, "no such relation");
    PTO_TRY(decode_exprs(d, n->site, n->op, "left", 1, &b.left, &got));
    PTO_TRY(decode_exprs(d, n->site, n->op, "right", 1, &b.right, &got));
    define_results(d, n);
    n->enter = decode_emit(d, CODE_BRANCH, d->branches.count, 0);
    *LIST_ADD(d, branches, branch_code) = b;
    return PTO_OK;
}

static pto_status enter_while(decoder *d, nest *n)
{
    n->count = pto_op_result_count(n->op);
    n->carried = slots(d, n->count);
    PTO_TRY(copy_operands(d, n->site, n->op, n->count, n->carried));
    define_arguments(d, pto_op_block_at(n->op, 0), 0, n->count, n->carried);
    define_arguments(d, pto_op_block_at(n->op, 1), 0, n->count, n->carried);
    n->body = here(d);
    return PTO_OK;
}

static pto_status enter(nests *s, pto_op op)
{
    decoder *d = s->d;
    nest n = {.op = op, .site = decode_site(d, op)};
    const pto_str name = pto_op_name(op);
    if (pto_str_is(name, "for")) {
        n.kind = NEST_FOR;
        PTO_TRY(enter_for(d, &n));
    } else if (pto_str_is(name, "if")) {
        n.kind = NEST_IF;
        PTO_TRY(enter_if(d, &n));
    } else if (pto_str_is(name, "while") && pto_op_block_count(op) == 2) {
        n.kind = NEST_WHILE;
        PTO_TRY(enter_while(d, &n));
    } else {
        return refuse(d, n.site, "no such control flow at this level");
    }
    *(nest *)list_add(d->run, &s->stack, sizeof n) = n;
    return PTO_OK;
}

/* ---- leaving: `yield` is the terminator of the block ---- */

static pto_status leave_for(decoder *d, nest *n, pto_op yield)
{
    PTO_TRY(copy_operands(d, n->site, yield, n->count, n->carried));
    decode_emit(d, CODE_NEXT, n->loop, n->body);
    patch(d, n->enter);
    define_results(d, n);
    copy_slots(d, n->count, n->results, n->carried);
    return PTO_OK;
}

static pto_status leave_if(decoder *d, nest *n, pto_op yield, bool *out_more)
{
    const uint32_t results = pto_op_result_count(n->op);
    PTO_TRY(copy_operands(d, n->site, yield, results, n->results));
    *out_more = n->block == 0 && pto_op_block_count(n->op) > 1;
    if (*out_more) n->leave = decode_emit(d, CODE_JUMP, 0, 0);
    patch(d, n->block == 0 ? n->enter : n->leave);
    return PTO_OK;
}

static pto_status leave_while(decoder *d, nest *n, pto_op yield, bool *out_more)
{
    *out_more = n->block == 0;
    if (n->block == 0) {
        uint32_t condition = 0;
        PTO_TRY(slot_operand(d, n->site, pto_op_operand(yield, 0), &condition));
        n->test = decode_emit(d, CODE_UNLESS, condition, 0);
        return PTO_OK;
    }
    PTO_TRY(copy_operands(d, n->site, yield, n->count, n->carried));
    decode_emit(d, CODE_JUMP, 0, n->body);
    patch(d, n->test);
    define_results(d, n);
    copy_slots(d, n->count, n->results, n->carried);
    return PTO_OK;
}

/* Ends the block of the innermost nest; the op to go on with. */
static pto_status leave(nests *s, pto_op yield, pto_op *out_next)
{
    nest *n = &((nest *)s->stack.items)[s->stack.count - 1];
    bool more = false;
    switch (n->kind) {
    case NEST_FUNCTION: *out_next = pto_op_none(s->d->run); return PTO_OK;
    case NEST_FOR: PTO_TRY(leave_for(s->d, n, yield)); break;
    case NEST_IF: PTO_TRY(leave_if(s->d, n, yield, &more)); break;
    case NEST_WHILE: PTO_TRY(leave_while(s->d, n, yield, &more)); break;
    }
    if (more) {
        *out_next = pto_block_first(pto_op_block_at(n->op, ++n->block));
        return PTO_OK;
    }
    *out_next = pto_op_next(n->op);
    s->stack.count--;
    return PTO_OK;
}

pto_status decode_body(decoder *d, pto_block block)
{
    nests s = {.d = d};
    *(nest *)list_add(d->run, &s.stack, sizeof(nest)) = (nest){.kind = NEST_FUNCTION, .site = d->p->self};
    for (pto_op op = pto_block_first(block); PTO_SOME(op);) {
        if (pto_op_block_count(op) != 0) {
            PTO_TRY(enter(&s, op));
            op = pto_block_first(pto_body(op));
        } else if (pto_kind_has(d->run, pto_op_kind(op), PTO_TRAIT_TERMINATOR)) {
            const bool is_outermost = s.stack.count == 1;
            if (is_outermost && pto_op_operand_count(op) != 0)
                return refuse(d, decode_site(d, op), "results of functions are memory parameters at this level");
            PTO_TRY(leave(&s, op, &op));
        } else {
            PTO_TRY(decode_op(d, op));
            op = pto_op_next(op);
        }
    }
    return PTO_OK;
}
