#include "control_code.h"

#include <pto/call.h>

/* An op whose blocks are being decoded. */
typedef struct nest {
    pto_op op;
    void *site;
    enum { NEST_FUNCTION, NEST_FOR, NEST_IF, NEST_WHILE, NEST_OTHER } kind;
    uint32_t block;            /* which of its blocks */
    uint32_t enter;            /* code to patch when the end is known */
    uint32_t leave;            /* of an `if`: the jump after the first block */
    uint32_t loop, body;       /* number of the loop; its first code */
    uint32_t test;             /* of a `while`: the jump out */
    uint32_t count;            /* of carried values */
    uint32_t *carried, *gives; /* their slots inside; those of results */
} nest;

static void *add_item(const pto_run *run, control_list *l, size_t size)
{
    l->items = pto_grow(run, l->items, l->count, &l->capacity, size);
    return (char *)l->items + (size_t)l->count++ * size;
}

uint32_t control_emit(control_builder *b, uint32_t what, uint32_t a, uint32_t target)
{
    control_code *c = (control_code *)add_item(b->run, &b->codes, sizeof *c);
    *c = (control_code){what, a, target};
    return b->codes.count - 1;
}

uint32_t control_here(const control_builder *b) { return b->codes.count; }

void control_patch(control_builder *b, uint32_t place) { ((control_code *)b->codes.items)[place].b = control_here(b); }

/* ---- slots ---- */

pto_status control_hand_over(control_builder *b, void *site, pto_op from, uint32_t count, const uint32_t *to)
{
    uint32_t *between = PTO_SCRATCH(b->run, uint32_t, count);
    if (pto_op_operand_count(from) < count)
        return b->client->refuse(b->self, site, "it hands on another number of values");
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t slot = b->client->use(b->self, site, pto_op_operand(from, i));
        if (slot == CONTROL_NONE) return PTO_FAILED;
        /* One value has nothing beside it that it could overwrite. */
        between[i] = count > 1 ? b->client->spare(b->self) : slot;
        if (count > 1) control_emit(b, CONTROL_COPY, between[i], slot);
    }
    for (uint32_t i = 0; i < count; i++) control_emit(b, count > 1 ? CONTROL_MOVE : CONTROL_COPY, to[i], between[i]);
    return PTO_OK;
}

/* The arguments of a block from the i-th on get slots of their own, or those of the block before. */
static void define_arguments(control_builder *b, nest *n, uint32_t block, uint32_t first)
{
    const pto_block at = pto_op_block_at(n->op, block);
    if (n->carried == NULL) n->carried = PTO_SCRATCH(b->run, uint32_t, n->count);
    for (uint32_t i = 0; i < n->count; i++) {
        const pto_value v = pto_block_arg(at, first + i);
        if (block == 0)
            n->carried[i] = b->client->define(b->self, v);
        else
            b->client->alias(b->self, v, n->carried[i]);
    }
}

static void define_results(control_builder *b, nest *n)
{
    const uint32_t count = pto_op_result_count(n->op);
    n->gives = PTO_SCRATCH(b->run, uint32_t, count);
    for (uint32_t i = 0; i < count; i++) n->gives[i] = b->client->define(b->self, pto_op_result(n->op, i));
}

/* The loop is over: what it carries is its results. */
static void give_carried(control_builder *b, nest *n)
{
    define_results(b, n);
    for (uint32_t i = 0; i < n->count; i++) control_emit(b, CONTROL_MOVE, n->gives[i], n->carried[i]);
}

static pto_status hand_to_loop(control_builder *b, const nest *n, pto_op from)
{
    if (b->client->hand != NULL) PTO_TRY(b->client->hand(b->self, n->op, n->site, from));
    return control_hand_over(b, n->site, from, n->count, n->carried);
}

/* ---- entering ---- */

static pto_status enter_for(control_builder *b, nest *n)
{
    const control_client *c = b->client;
    control_loop l = {.site = n->site, .index = c->define(b->self, pto_block_arg(pto_body(n->op), 0))};
    l.bound = c->spare(b->self);
    l.step = c->spare(b->self);
    PTO_TRY(c->expr(b->self, n->site, n->op, "from", &l.from));
    PTO_TRY(c->expr(b->self, n->site, n->op, "to", &l.to));
    PTO_TRY(c->expr(b->self, n->site, n->op, "step", &l.by));
    define_arguments(b, n, 0, 1);
    PTO_TRY(hand_to_loop(b, n, n->op));
    n->loop = b->loops.count;
    *(control_loop *)add_item(b->run, &b->loops, sizeof l) = l;
    n->enter = control_emit(b, CONTROL_FOR, n->loop, 0);
    n->body = control_here(b);
    return PTO_OK;
}

static pto_status enter_if(control_builder *b, nest *n)
{
    const control_client *c = b->client;
    control_branch x = {.site = n->site,
                        .relation = pto_relation_by_name(pto_attr_str(pto_op_attr(n->op, PTO_STR("relation"))))};
    if (x.relation == PTO_RELATION_NONE) return c->refuse(b->self, n->site, "no such relation");
    PTO_TRY(c->expr(b->self, n->site, n->op, "left", &x.left));
    PTO_TRY(c->expr(b->self, n->site, n->op, "right", &x.right));
    define_results(b, n);
    n->enter = control_emit(b, CONTROL_BRANCH, b->branches.count, 0);
    *(control_branch *)add_item(b->run, &b->branches, sizeof x) = x;
    return PTO_OK;
}

static pto_status enter_while(control_builder *b, nest *n)
{
    define_arguments(b, n, 0, 0);
    define_arguments(b, n, 1, 0);
    PTO_TRY(hand_to_loop(b, n, n->op));
    n->body = control_here(b);
    return PTO_OK;
}

static pto_status enter(control_builder *b, pto_op op)
{
    const pto_str name = pto_op_name(op);
    nest n = {.op = op, .site = b->client->site(b->self, op), .kind = NEST_OTHER, .count = pto_op_result_count(op)};
    if (n.site == NULL) return PTO_FAILED;
    if (pto_str_is(name, "for")) {
        n.kind = NEST_FOR;
        PTO_TRY(enter_for(b, &n));
    } else if (pto_str_is(name, "if")) {
        n.kind = NEST_IF;
        PTO_TRY(enter_if(b, &n));
    } else if (pto_str_is(name, "while") && pto_op_block_count(op) == 2) {
        n.kind = NEST_WHILE;
        PTO_TRY(enter_while(b, &n));
    } else {
        PTO_TRY(b->client->enter(b->self, op, n.site));
    }
    *(nest *)add_item(b->run, &b->nests, sizeof n) = n;
    return PTO_OK;
}

/* ---- leaving: `yield` is the terminator of the block ---- */

static pto_status leave_for(control_builder *b, nest *n, pto_op yield)
{
    PTO_TRY(hand_to_loop(b, n, yield));
    control_emit(b, CONTROL_NEXT, n->loop, n->body);
    control_patch(b, n->enter);
    give_carried(b, n);
    return PTO_OK;
}

static pto_status leave_if(control_builder *b, nest *n, pto_op yield, int *out_more)
{
    PTO_TRY(control_hand_over(b, n->site, yield, n->count, n->gives));
    *out_more = n->block == 0 && pto_op_block_count(n->op) > 1;
    if (*out_more) n->leave = control_emit(b, CONTROL_JUMP, 0, 0);
    control_patch(b, n->block == 0 ? n->enter : n->leave);
    return PTO_OK;
}

static pto_status leave_while(control_builder *b, nest *n, pto_op yield, int *out_more)
{
    *out_more = n->block == 0;
    if (n->block == 0) {
        const uint32_t condition = b->client->use(b->self, n->site, pto_op_operand(yield, 0));
        if (condition == CONTROL_NONE) return PTO_FAILED;
        n->test = control_emit(b, CONTROL_UNLESS, condition, 0);
        return PTO_OK;
    }
    PTO_TRY(hand_to_loop(b, n, yield));
    control_emit(b, CONTROL_JUMP, 0, n->body);
    control_patch(b, n->test);
    give_carried(b, n);
    return PTO_OK;
}

/* Ends the block of the innermost nest; the op to go on with. */
static pto_status leave(control_builder *b, pto_op yield, pto_op *out_next)
{
    nest *n = &((nest *)b->nests.items)[b->nests.count - 1];
    int more = 0;
    switch (n->kind) {
    case NEST_FUNCTION: *out_next = pto_op_none(b->run); return b->client->op(b->self, yield);
    case NEST_FOR: PTO_TRY(leave_for(b, n, yield)); break;
    case NEST_IF: PTO_TRY(leave_if(b, n, yield, &more)); break;
    case NEST_WHILE: PTO_TRY(leave_while(b, n, yield, &more)); break;
    case NEST_OTHER: PTO_TRY(b->client->leave(b->self, n->op, n->site, yield)); break;
    }
    if (more) {
        *out_next = pto_block_first(pto_op_block_at(n->op, ++n->block));
        return PTO_OK;
    }
    if (b->client->ended != NULL) b->client->ended(b->self, n->op, n->site);
    *out_next = pto_op_next(n->op);
    b->nests.count--;
    return PTO_OK;
}

pto_status control_decode(control_builder *b, pto_block body, control_flow *out)
{
    nest *function = (nest *)add_item(b->run, &b->nests, sizeof *function);
    *function = (nest){.kind = NEST_FUNCTION};
    for (pto_op op = pto_block_first(body); PTO_SOME(op);) {
        if (pto_op_block_count(op) != 0) {
            PTO_TRY(enter(b, op));
            op = pto_block_first(pto_body(op));
        } else if (pto_kind_has(b->run, pto_op_kind(op), PTO_TRAIT_TERMINATOR)) {
            PTO_TRY(leave(b, op, &op));
        } else {
            PTO_TRY(b->client->op(b->self, op));
            op = pto_op_next(op);
        }
    }
    control_emit(b, CONTROL_END, 0, 0);
    *out = (control_flow){.codes = (const control_code *)b->codes.items,
                          .count = b->codes.count,
                          .loops = (const control_loop *)b->loops.items,
                          .branches = (const control_branch *)b->branches.items};
    return PTO_OK;
}

/* ---- following ---- */

static pto_status enter_loop(const control_loop *l, uint32_t exit, const control_actions *act, void *self,
                             int64_t *slots, uint32_t *at)
{
    int64_t from;
    PTO_TRY(act->eval(self, l->site, &l->from, "start", &from));
    PTO_TRY(act->eval(self, l->site, &l->to, "bound", &slots[l->bound]));
    PTO_TRY(act->eval(self, l->site, &l->by, "step", &slots[l->step]));
    if (slots[l->step] < 1) return act->bad_step(self, l->site, slots[l->step]);
    if (from < slots[l->bound])
        act->set_index(self, l->index, from);
    else
        *at = exit;
    return PTO_OK;
}

static void next_trip(const control_loop *l, uint32_t body, const control_actions *act, void *self,
                      const int64_t *slots, uint32_t *at)
{
    int64_t next;
    if (__builtin_add_overflow(slots[l->index], slots[l->step], &next) || next >= slots[l->bound]) return;
    act->set_index(self, l->index, next);
    *at = body;
}

static pto_status branch(const control_branch *b, uint32_t otherwise, const control_actions *act, void *self,
                         uint32_t *at)
{
    int64_t left, right;
    PTO_TRY(act->eval(self, b->site, &b->left, "left side", &left));
    PTO_TRY(act->eval(self, b->site, &b->right, "right side", &right));
    if (!pto_relation_holds(b->relation, left, right)) *at = otherwise;
    return PTO_OK;
}

pto_status control_step(const control_flow *flow, const control_code *c, const control_actions *act, void *self,
                        int64_t *slots, uint32_t *at)
{
    switch (c->what) {
    case CONTROL_END: --*at; return PTO_OK;
    case CONTROL_COPY:
    case CONTROL_MOVE: act->copy(self, c->a, c->b, c->what == CONTROL_MOVE); return PTO_OK;
    case CONTROL_FOR: return enter_loop(&flow->loops[c->a], c->b, act, self, slots, at);
    case CONTROL_NEXT: next_trip(&flow->loops[c->a], c->b, act, self, slots, at); return PTO_OK;
    case CONTROL_BRANCH: return branch(&flow->branches[c->a], c->b, act, self, at);
    case CONTROL_UNLESS:
        if (slots[c->a] == 0) *at = c->b;
        return PTO_OK;
    default: *at = c->b; return PTO_OK; /* CONTROL_JUMP */
    }
}
