/* Results made in the memory of the parameter that they alias, where nothing reads an old element after a new one is in
 * its place.
 *
 *     %e = tile.empty                                  forall (%i) to (4) {
 *     %y = forall (%i) to (4) out(%o = %e) {             %t = tile.load %w[8 * %i, 0] size(8, 64)
 *       %t = tile.load %w[8 * %i, 0] size(8, 64)   =>    %u = tile.neg %t
 *       %u = tile.neg %t                                 tile.store %u, %w[8 * %i, 0]
 *       tile.store %u, %o[8 * %i, 0]                   }
 *     }
 *     return %y, which aliases %w
 *
 * What reads the parameter runs before what writes there, or is in the same nest: then each instance and iteration
 * stores to a window of its own, and reads no more than that, before. */
#include "bufferize.h"

#include "windows.h"

/* A use of memory: an op of a nest that loads, or what writes to it, which for a nest is the nest. */
typedef struct use_list {
    const pto_run *run;
    pto_use *uses;
    uint32_t count, capacity;
} use_list;

static void add_use(use_list *list, pto_use use)
{
    PTO_GROW(list->run, list->uses, list->count, list->capacity);
    list->uses[list->count++] = use;
}

static void find_writers(use_list *list, pto_value v)
{
    PTO_EACH_USE(v, use) {
        if (PTO_IS(use.op, LOAD) || PTO_IS(use.op, RETURN)) continue;
        if (PTO_IS(use.op, VIEW)) {
            find_writers(list, pto_op_result(use.op, 0));
            continue;
        }
        add_use(list, use);
        if (PTO_IS(use.op, FORALL)) find_writers(list, pto_op_result(use.op, use.slot));
    }
}

static void find_readers(use_list *list, pto_value v)
{
    PTO_EACH_USE(v, use) {
        if (PTO_IS(use.op, VIEW))
            find_readers(list, pto_op_result(use.op, 0));
        else
            add_use(list, use);
    }
}

/* The op of the block that `op` is or is in; none: it is outside. */
static pto_op within(pto_op op, pto_block block)
{
    while (PTO_SOME(op) && !pto_block_same(pto_op_block(op), block)) op = pto_op_parent(op);
    return op;
}

/* The innermost block that both are in. */
static pto_block common_block(pto_op a, pto_op b)
{
    pto_block block = pto_op_block(b);
    while (!PTO_SOME(within(a, block))) block = pto_op_block(pto_block_parent(block));
    return block;
}

/* Whether `first` is done before `second` is begun, or they are in two branches, each time that the block runs. */
static int is_before_in(pto_block block, pto_op first, pto_op second)
{
    const pto_op a = within(first, block), b = within(second, block);
    return pto_op_same(a, b) ? PTO_IS(a, IF) : pto_op_is_before(a, b);
}

/* ---- in a nest ---- */

/* Of a nest several, of a loop one, of a branch none. */
static uint32_t index_count(pto_op around)
{
    return PTO_IS(around, FOR) ? 1 : PTO_IS(around, FORALL) ? pto_expr_count_of(around, PTO_STR("to")) : 0;
}

/* Whether the store goes on to another window with each index. */
static int moves_along(pto_op store, pto_op around)
{
    for (uint32_t i = 0; i < index_count(around); i++)
        if (window_dim_along(store, pto_block_arg(pto_body(around), i)) < 0) return 0;
    return 1;
}

/* Whether the load covers what the store does, along the dims in which that goes on with the indices. */
static int is_same_along(pto_op load, pto_op store, pto_op around)
{
    for (uint32_t i = 0; i < index_count(around); i++) {
        const int32_t d = window_dim_along(store, pto_block_arg(pto_body(around), i));
        if (d < 0 || !window_is_same_along(load, store, (uint32_t)d)) return 0;
    }
    return 1;
}

static int goes_on(pto_op store, pto_op nest)
{
    pto_op around = pto_op_parent(store);
    for (; PTO_IS(around, FOR) || PTO_IS(around, IF); around = pto_op_parent(around))
        if (!moves_along(store, around)) return 0;
    return pto_op_same(around, nest) && moves_along(store, nest);
}

static int is_in_time(pto_op load, pto_op store, pto_op nest)
{
    const pto_block common = common_block(load, store);
    if (!is_before_in(common, load, store)) return 0;
    for (pto_op around = pto_block_parent(common);; around = pto_op_parent(around)) {
        if (!is_same_along(load, store, around)) return 0;
        if (pto_op_same(around, nest)) return 1;
    }
}

/* Whether `load`, of the nest that writes, reads no element that is or may be new. */
static int match_nest(pto_op load, pto_use writer)
{
    const uint32_t indices = pto_expr_count_of(writer.op, PTO_STR("to"));
    const pto_value target = pto_block_arg(pto_body(writer.op), indices + writer.slot);
    if (!PTO_IS(load, LOAD) || !pto_type_same(pto_value_type(pto_op_operand(load, 0)), pto_value_type(target)))
        return 0;
    PTO_EACH_USE(target, use) {
        if (!PTO_IS(use.op, STORE) || use.slot != 1 || !goes_on(use.op, writer.op) ||
            !is_in_time(load, use.op, writer.op))
            return 0;
    }
    return 1;
}

/* ---- in the function ---- */

static int is_loop_around(const bufferizer *b, pto_block block)
{
    for (pto_op op = pto_block_parent(block); !pto_op_same(op, b->function); op = pto_op_parent(op))
        if (!PTO_IS(op, IF)) return 1;
    return 0;
}

static int match(const bufferizer *b, pto_use reader, pto_use writer)
{
    if (PTO_IS(reader.op, FORALL) || PTO_IS(reader.op, YIELD) || PTO_IS(reader.op, RETURN) || PTO_IS(reader.op, CALL) ||
        bufferize_is_control(reader.op))
        return 0; /* it may be seen later, under another name */
    const pto_block common = common_block(writer.op, reader.op);
    if (PTO_IS(writer.op, FORALL) && PTO_SOME(within(reader.op, pto_body(writer.op))))
        return match_nest(reader.op, writer) && !is_loop_around(b, pto_op_block(writer.op));
    return is_before_in(common, reader.op, writer.op) && !is_loop_around(b, common);
}

int bufferize_may_replace(const bufferizer *b, pto_value parameter, pto_value empty)
{
    use_list readers = {.run = b->run}, writers = {.run = b->run};
    find_readers(&readers, parameter);
    find_writers(&writers, empty);
    for (uint32_t i = 0; i < readers.count; i++)
        for (uint32_t k = 0; k < writers.count; k++)
            if (!match(b, readers.uses[i], writers.uses[k])) return 0;
    return 1;
}
