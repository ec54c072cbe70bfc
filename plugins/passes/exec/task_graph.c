/* pto.task-graph: launches become tasks of an orchestrator, and workspaces live from their first to their last task.
 *
 *     %w = block.workspace : gm<..>              %w = exec.alloc : gm<..>
 *     block.launch @a args(%x, %w)         =>    exec.launch @a args(%x, %w)
 *     block.launch @b args(%w, %y)               exec.launch @b args(%w, %y)
 *                                                exec.free %w
 *
 * Dependences are not written down: they follow from the regions that kernels read and write, in loops and branches as
 * they are run. A workspace of a loop's body lives for one iteration. Exact.
 *
 * Requires kernels of instructions (pto.selected). Leaves orchestrators at exec level (pto.scheduled); kernels stay as
 * they are. */
#include <pto/plugin.h>

#define KINDS(X)                    \
    X(FUNC, "func")                 \
    X(VIEW, "view")                 \
    X(FOR, "for")                   \
    X(WHILE, "while")               \
    X(YIELD, "yield")               \
    X(LAUNCH, "block.launch")       \
    X(WORKSPACE, "block.workspace") \
    X(EXEC_LAUNCH, "exec.launch")   \
    X(EXEC_ALLOC, "exec.alloc")     \
    X(EXEC_FREE, "exec.free")
PTO_KINDS(KINDS);

#define STATS(X) X(TASKS, "launches") X(WORKSPACES, "workspaces")
PTO_STATS(STATS);

/* The op of `body` that holds `op`. */
static pto_op top_op(pto_op op, pto_block body)
{
    while (PTO_SOME(pto_op_parent(op)) && !pto_block_same(pto_op_block(op), body)) op = pto_op_parent(op);
    return op;
}

/* Following memory through functions; one for the module, whose ops are as many as the indices reach. */
typedef struct follower {
    const pto_run *run;
    uint32_t *seen, seen_count; /* by index of an op: for which memory its results were followed */
    uint32_t serial;            /* of the memory that is being followed */
    pto_value *todo;
    uint32_t count, capacity;
} follower;

/* Makes space for the function's ops. What was noted of earlier memory counts no more, whatever it is. */
static void enter_function(follower *f, pto_op function)
{
    uint32_t last = 0;
    PTO_WALK(function, op)
    {
        if (op.index > last) last = op.index;
    }
    if (last < f->seen_count) return;
    f->seen_count = 2 * last + 1;
    f->seen = PTO_SCRATCH(f->run, uint32_t, f->seen_count);
}

static void push(follower *f, pto_value v)
{
    PTO_GROW(f->run, f->todo, f->count, f->capacity);
    f->todo[f->count++] = v;
}

/* Those of the op's results that are memory may be what was handed to it. */
static void push_results(follower *f, pto_op op)
{
    if (op.index >= f->seen_count || f->seen[op.index] == f->serial) return;
    f->seen[op.index] = f->serial;
    for (uint32_t i = 0; i < pto_op_result_count(op); i++)
        if (pto_type_kind_of(pto_value_type(pto_op_result(op, i))) == PTO_TYPE_GM) push(f, pto_op_result(op, i));
}

/* The last op of `body`, the block of the memory's op, that uses it: through views, loops and branches too. */
static pto_op last_use(follower *f, pto_value memory, pto_block body)
{
    pto_op last = pto_value_op(memory);
    f->serial++;
    f->count = 0;
    push(f, memory);
    while (f->count != 0) {
        const pto_value v = f->todo[--f->count];
        PTO_EACH_USE(v, use) {
            const pto_op user = top_op(use.op, body);
            if (pto_op_is_before(last, user)) last = user;
            if (PTO_IS(use.op, VIEW) || PTO_IS(use.op, FOR) || PTO_IS(use.op, WHILE)) push_results(f, use.op);
            if (PTO_IS(use.op, YIELD) && !pto_block_same(pto_op_block(use.op), body))
                push_results(f, pto_op_parent(use.op));
        }
    }
    return last;
}

static pto_status rewrite_workspace(follower *f, pto_op op)
{
    const pto_run *run = f->run;
    const pto_block body = pto_op_block(op);
    pto_spec alloc = pto_spec_make(run, pto_kind(run, KIND_EXEC_ALLOC));
    pto_spec_result(&alloc, pto_value_type(pto_op_result(op, 0)));
    pto_spec_name(&alloc, pto_value_name(pto_op_result(op, 0)));
    const pto_value memory = pto_spec_value(&alloc, pto_before(op));
    PTO_NEED(memory);
    PTO_TRY(pto_op_replace_by(op, memory));
    pto_spec release = pto_spec_make(run, pto_kind(run, KIND_EXEC_FREE));
    pto_spec_operand(&release, memory);
    pto_stat_add(run, STAT_WORKSPACES, 1);
    return PTO_SOME(pto_spec_build(&release, pto_after(last_use(f, memory, body)))) ? PTO_OK : PTO_FAILED;
}

static pto_status rewrite_launch(const pto_run *run, pto_op op)
{
    pto_spec s = pto_spec_make(run, pto_kind(run, KIND_EXEC_LAUNCH));
    for (uint32_t i = 0; i < pto_op_operand_count(op); i++) pto_spec_operand(&s, pto_op_operand(op, i));
    pto_spec_attrs_of(&s, op);
    PTO_NEED(pto_spec_build(&s, pto_before(op)));
    pto_stat_add(run, STAT_TASKS, 1);
    return pto_op_erase(op);
}

static pto_status rewrite_function(follower *f, pto_op function)
{
    const pto_run *run = f->run;
    PTO_WALK(function, op)
    {
        if (PTO_IS(op, LAUNCH)) PTO_TRY(rewrite_launch(run, op));
    }
    enter_function(f, function);
    PTO_WALK(function, op)
    {
        if (PTO_IS(op, WORKSPACE)) PTO_TRY(rewrite_workspace(f, op));
    }
    return PTO_OK;
}

static pto_status run_pass(const pto_run *run, pto_op unit)
{
    follower f = {.run = run};
    (void)unit;
    PTO_EACH_OP(pto_module_top(run), op) {
        if (PTO_IS(op, FUNC)) PTO_TRY(rewrite_function(&f, op));
    }
    return PTO_OK;
}

/* pto.scheduled: every workspace is freed once. That nothing of the block level is left follows from the function's
 * level. */
static pto_status check_scheduled(const pto_run *run, pto_op function)
{
    (void)run;
    PTO_WALK(function, op)
    {
        if (!PTO_IS(op, EXEC_ALLOC)) continue;
        uint32_t freed = 0;
        PTO_EACH_USE(pto_op_result(op, 0), use) freed += PTO_IS(use.op, EXEC_FREE) ? 1u : 0u;
        if (freed != 1)
            return pto_error(op, "pto.task-graph/not-freed", "the workspace is freed %u times; it must be freed once",
                             freed);
    }
    return PTO_OK;
}

static const pto_pass pass = {
    .struct_size = sizeof pass,
    .flags = PTO_PASS_KEEPS_LEVEL,
    .id = "pto.task-graph",
    .summary = "Make tasks of launches and give workspaces their lifetimes",
    .scope = "module",
    .consumes = "block/1",
    .produces = "exec/1",
    .requires_props = PTO_STRS("pto.selected"),
    .establishes = PTO_STRS("pto.scheduled"),
    .kinds = pass_kinds,
    .stats = pass_stats,
    .run = run_pass,
};
static const pto_property scheduled = {
    .struct_size = sizeof scheduled,
    .id = "pto.scheduled",
    .doc = "An orchestrator launches kernels and frees every workspace once",
    .level = "exec/1",
    .kinds = pass_kinds,
    .check = check_scheduled,
};
PTO_PLUGIN("pto.task-graph", "pass:pto.task-graph property:pto.scheduled", "pto.scheduled", .version = "0.1.0",
           .license = "Apache-2.0", .passes = PTO_LIST(pto_pass, &pass),
           .properties = PTO_LIST(pto_property, &scheduled));
