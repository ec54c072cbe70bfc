/* A loop over nests whose state stays in memory: what it is made of, and whether it can be one nest.
 *
 * Each tensor that a nest of the body writes to is a memory: one that the loop carries, or one that an iteration makes.
 * In the new nest both are its outputs, which an instance reads and writes in the order of the text. */
#include "sink_loops.h"

static void refuse(sink_body *b, const char *why)
{
    if (b->why == NULL) b->why = why;
}

const sink_name *sink_body_find(const sink_body *b, pto_value v)
{
    for (uint32_t i = 0; i < b->name_count; i++)
        if (pto_value_same(b->names[i].value, v)) return &b->names[i];
    return NULL;
}

static void add_name(sink_body *b, pto_value v, uint32_t memory)
{
    const int is_view = !pto_type_same(pto_value_type(v), b->memories[memory].type);
    PTO_GROW(b->run, b->names, b->name_count, b->name_capacity);
    b->names[b->name_count++] = (sink_name){.value = v, .memory = memory, .is_view = is_view};
}

static uint32_t add_memory(sink_body *b, pto_value like, pto_value begin)
{
    PTO_GROW(b->run, b->memories, b->memory_count, b->memory_capacity);
    b->memories[b->memory_count] = (sink_memory){
        .begin = begin, .type = pto_value_type(like), .name = pto_value_name(like), .dim = -1, .home = -1};
    return b->memory_count++;
}

/* ---- what the loop is made of ---- */

/* The op of the block that `op` is in, or is. */
static pto_op op_within(pto_op op, pto_block block)
{
    while (!pto_block_same(pto_op_block(op), block)) op = pto_op_parent(op);
    return op;
}

/* Whether the memory is read, under any name that it has so far, in the nest or after it. */
static int is_read_later(const sink_body *b, uint32_t memory, pto_op nest, uint32_t slot)
{
    for (uint32_t i = 0; i < b->name_count; i++) {
        if (b->names[i].memory != memory) continue;
        PTO_EACH_USE(b->names[i].value, use) {
            if (pto_op_same(use.op, nest) && use.slot == slot) continue;
            if (!pto_op_is_before(op_within(use.op, pto_op_block(nest)), nest)) return 1;
        }
    }
    return 0;
}

static int writes_matrix(pto_op nest)
{
    PTO_WALK(nest, op) if (PTO_IS(op, MATMUL) || PTO_IS(op, MATMUL_ACC)) return 1;
    return 0;
}

static void match_nest(sink_body *b, pto_op op)
{
    const uint32_t dims = pto_expr_count_of(op, PTO_STR("to"));
    for (uint32_t i = 0; i < pto_op_operand_count(op); i++) {
        const pto_value from = pto_op_operand(op, i), result = pto_op_result(op, i);
        const sink_name *old = sink_body_find(b, from);
        const int is_fresh = PTO_IS(pto_value_op(from), EMPTY);
        if (!is_fresh && old == NULL) {
            refuse(b, "a nest changes a tensor of outside in place");
            return;
        }
        if (!is_fresh && !pto_type_same(pto_value_type(from), b->memories[old->memory].type)) {
            refuse(b, "a nest changes a tensor in place that is seen as another one");
            return;
        }
        if (!is_fresh && is_read_later(b, old->memory, op, i)) {
            refuse(b, "a nest changes in place what is read later");
            return;
        }
        const uint32_t memory = is_fresh ? add_memory(b, result, pto_value_none(b->run)) : old->memory;
        add_name(b, result, memory);
        add_name(b, pto_block_arg(pto_body(op), dims + i), memory);
    }
    PTO_WALK(op, inner)
    {
        const int is_move = PTO_IS(inner, LOAD) || PTO_IS(inner, STORE);
        if (PTO_IS(inner, FORALL)) refuse(b, "a nest holds nests");
        if (!is_move && !PTO_IS(inner, YIELD) && !PTO_IS(inner, FOR) && pto_op_block_count(inner) == 0 &&
            !pto_kind_has(b->run, pto_op_kind(inner), PTO_TRAIT_PURE))
            refuse(b, "a nest holds an op with an effect");
    }
    PTO_GROW(b->run, b->nests, b->nest_count, b->nest_capacity);
    b->nests[b->nest_count++] = (sink_nest){.op = op, .index = -1, .is_matrix = writes_matrix(op)};
}

/* Ops beside nests: views of tensors, and scalars that read none. */
static void match_other(sink_body *b, pto_op op)
{
    if (pto_op_block_count(op) != 0 || !pto_kind_has(b->run, pto_op_kind(op), PTO_TRAIT_PURE) || PTO_IS(op, BIND)) {
        refuse(b, "its body has more than nests");
        return;
    }
    if (PTO_IS(op, VIEW)) {
        const sink_name *of = sink_body_find(b, pto_op_operand(op, 0));
        if (of != NULL) add_name(b, pto_op_result(op, 0), of->memory);
        return;
    }
    for (uint32_t i = 0; i < pto_op_operand_count(op); i++)
        if (pto_type_kind_of(pto_value_type(pto_op_operand(op, i))) != PTO_TYPE_SCALAR)
            refuse(b, "its body has more than nests");
    for (uint32_t i = 0; i < pto_op_result_count(op); i++)
        if (pto_type_kind_of(pto_value_type(pto_op_result(op, i))) != PTO_TYPE_SCALAR)
            refuse(b, "its body has more than nests");
}

/* What each carried tensor becomes. */
static void match_yield(sink_body *b, pto_op yield)
{
    for (uint32_t i = 0; i < pto_op_operand_count(yield) && b->why == NULL; i++) {
        const pto_value v = pto_op_operand(yield, i);
        const sink_name *made = sink_body_find(b, v);
        if (made == NULL) {
            refuse(b, "what is carried is not made by a nest of its body");
            return;
        }
        if (made->memory == i && made->is_view) refuse(b, "what is carried is seen as another tensor");
        if (made->memory == i) continue;
        sink_memory *m = &b->memories[made->memory];
        if (PTO_SOME(m->begin)) refuse(b, "what it carries changes places");
        if (m->home >= 0) refuse(b, "it hands on a tensor twice");
        m->home = (int32_t)i;
    }
}

/* Nests of one loop run on cores of one kind. */
static void match_cores(sink_body *b)
{
    const pto_space_facts sums = pto_space_facts_of(b->run, PTO_ROLE_ACCUMULATOR),
                          vectors = pto_space_facts_of(b->run, PTO_ROLE_SCRATCHPAD);
    if (sums == NULL || vectors == NULL || pto_str_same(sums->core, vectors->core)) return;
    for (uint32_t i = 0; i < b->nest_count; i++) {
        if (b->nests[i].is_matrix != b->nests[0].is_matrix)
            refuse(b, "its nests are for cores of several kinds, which share no memory but that of all");
    }
    for (uint32_t i = 0; i < b->memory_count; i++)
        if (b->nests[0].is_matrix && b->memories[i].home >= 0 && !b->memories[i].is_in_place)
            refuse(b, "cores that multiply have no copy of what is carried");
}

void sink_body_match(sink_body *b)
{
    const pto_block body = pto_body(b->loop);
    for (uint32_t i = 0; i < pto_op_result_count(b->loop); i++) {
        const pto_value arg = pto_block_arg(body, i + 1);
        if (pto_type_kind_of(pto_value_type(arg)) != PTO_TYPE_TENSOR) {
            refuse(b, "the loop carries a scalar");
            return;
        }
        add_name(b, arg, add_memory(b, arg, pto_op_operand(b->loop, i)));
    }
    PTO_EACH_OP(body, op) {
        if (b->why != NULL) return;
        if (PTO_IS(op, FORALL))
            match_nest(b, op);
        else if (PTO_IS(op, YIELD))
            match_yield(b, op);
        else if (!PTO_IS(op, EMPTY))
            match_other(b, op);
    }
    if (b->nest_count == 0) refuse(b, "its body has no nest");
    if (b->why != NULL) return;
    sink_body_split(b);
    sink_body_place(b);
    match_cores(b);
}
