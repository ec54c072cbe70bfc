/* Which tensor of an iteration may be made in the memory that the loop carries it in: nothing reads an element as it
 * was before after it is written. The others are copied there when the iteration ends. */
#include "sink_loops.h"

/* The op of the nest's body that `op` is in, or is. */
static pto_op part_of(pto_op op, pto_op nest)
{
    while (!pto_op_same(pto_op_parent(op), nest)) op = pto_op_parent(op);
    return op;
}

/* Whether the store goes to another place in each iteration of the loops around it in its nest. */
static int moves_on(pto_op store, pto_op nest)
{
    for (pto_op loop = pto_op_parent(store); !pto_op_same(loop, nest); loop = pto_op_parent(loop))
        if (!PTO_IS(loop, FOR) || window_dim_along(store, pto_block_arg(pto_body(loop), 0)) < 0) return 0;
    return 1;
}

static pto_value target_of(pto_op store) { return pto_op_operand(store, pto_op_operand_count(store) - 1); }

/* Whether what the load reads is not yet written over by the store, of the same nest. */
static int is_read_before(const sink_nest *n, pto_op load, pto_op store)
{
    if (pto_block_same(pto_op_block(load), pto_op_block(store)) && pto_op_is_before(load, store) &&
        pto_type_same(pto_value_type(pto_op_operand(load, 0)), pto_value_type(target_of(store))) &&
        window_is_same(load, store) && moves_on(store, n->op))
        return 1;
    const pto_op first = part_of(load, n->op), second = part_of(store, n->op);
    return sink_body_is_single(n) && !pto_op_same(first, second) && pto_op_is_before(first, second);
}

/* Whether the nest reads elements of `old` no later than it writes them to `made`. */
static int is_read_in_time(const sink_body *b, const sink_nest *n, uint32_t old, uint32_t made)
{
    PTO_WALK(n->op, load)
    {
        for (uint32_t k = 0; k < pto_op_operand_count(load); k++) {
            const sink_name *read = sink_body_find(b, pto_op_operand(load, k));
            if (read == NULL || read->memory != old) continue;
            if (!PTO_IS(load, LOAD)) return 0;
            PTO_WALK(n->op, store)
            {
                const sink_name *written = PTO_IS(store, STORE) ? sink_body_find(b, target_of(store)) : NULL;
                if (written != NULL && written->memory == made && !is_read_before(n, load, store)) return 0;
            }
        }
    }
    return 1;
}

static int names_memory(const sink_body *b, pto_op nest, uint32_t memory)
{
    for (uint32_t i = 0; i < pto_op_operand_count(nest); i++) {
        const sink_name *name = sink_body_find(b, pto_op_result(nest, i));
        if (name != NULL && name->memory == memory) return 1;
    }
    return 0;
}

static int reads_memory(const sink_body *b, pto_op nest, uint32_t memory)
{
    PTO_WALK(nest, op)
    for (uint32_t k = 0; k < pto_op_operand_count(op); k++) {
        const sink_name *name = sink_body_find(b, pto_op_operand(op, k));
        if (name != NULL && name->memory == memory) return 1;
    }
    return 0;
}

static int is_in_place(const sink_body *b, uint32_t made)
{
    const uint32_t old = (uint32_t)b->memories[made].home;
    uint32_t i = 0;
    if (!pto_type_same(b->memories[made].type, b->memories[old].type)) return 0; /* stores see no views */
    while (i < b->nest_count && !names_memory(b, b->nests[i].op, made)) i++;
    if (i == b->nest_count || !is_read_in_time(b, &b->nests[i], old, made)) return 0;
    for (i++; i < b->nest_count; i++)
        if (reads_memory(b, b->nests[i].op, old)) return 0;
    return 1;
}

void sink_body_place(sink_body *b)
{
    for (uint32_t i = 0; i < b->memory_count && b->why == NULL; i++)
        if (b->memories[i].home >= 0) b->memories[i].is_in_place = is_in_place(b, i);
    for (uint32_t i = 0; i < b->memory_count && b->why == NULL; i++)
        if (b->memories[i].home >= 0 && !b->memories[i].is_in_place && pto_type_rank(b->memories[i].type) == 0)
            b->why = "what it carries is one element, which has no place that others do not read";
}
