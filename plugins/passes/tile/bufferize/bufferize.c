/* pto.bufferize: tensors become memory; what a function returns it writes to `out` parameters.
 *
 *     func @f(%x: tensor<A>) -> tensor<A> {           func @f(%x: gm<A>, out %y: gm<A>) {
 *       %e = tile.empty : tensor<A>                     forall "n" (%i) to (8) {
 *       %y = forall "n" (%i) to (8) out(%o = %e) {        %t = tile.load %x[..] size(..)
 *         %t = tile.load %x[..] size(..)          =>      tile.store %t, %y[..]
 *         tile.store %t, %o[..]                         }
 *       } : tensor<A>                                   return
 *       return %y                                     }
 *     }
 *
 * A `tile.empty` that is not given back becomes workspace. A nest updates its `out` tensors in place when nothing reads
 * their old elements afterwards; else, and for what is given back twice or is a parameter, they are copied by a nest of
 * its own, which a remark tells. What aliases a parameter is made in its memory (bufferize_inplace.c), after what reads
 * that, where it can be (bufferize_early.c). Loops that carry tensors get two buffers for each; branches write to the
 * memory of their results (bufferize_control.c). Exact. Nests run in program order on memory from here on.
 *
 * Requires nests of tile ops on tensors, as pto.tile makes them, in the body of a function or of its loops and
 * branches. Leaves functions on memory, without values of tensor type (pto.bufferized). */
#include "bufferize.h"

#define OPTIONS(X)                                                                                  \
    X(COPY_BYTES, BYTES, "copy-bytes", .def = "16KiB", .min = "32", .max = "1MiB", .unit = "bytes", \
      .doc = "tile of a nest that copies, at most a quarter of `vec`", .example = "with: { copy-bytes: 8KiB }")
PTO_OPTIONS(OPTIONS);

#define STATS(X)                \
    X(OUTPUTS, "outputs")       \
    X(WORKSPACES, "workspaces") \
    X(COPIES, "copies")         \
    X(REMOVED, "removed")
PTO_STATS(STATS);

static pto_expr *dims_of(const pto_run *run, pto_type type)
{
    uint32_t rank = pto_type_rank(type);
    pto_expr *dims = PTO_SCRATCH(run, pto_expr, rank);
    for (uint32_t i = 0; i < rank; i++) dims[i] = pto_type_dim(type, i);
    return dims;
}

static pto_type gm_of(const pto_run *run, pto_type type)
{
    return pto_type_gm(run, pto_type_dtype(type), pto_type_rank(type), dims_of(run, type));
}

/* ---- what is supported ---- */

static int handles_tensors(pto_op op)
{
    for (uint32_t i = 0, end = pto_op_operand_count(op); i < end; i++)
        if (bufferize_is_tensor(pto_op_operand(op, i))) return 1;
    for (uint32_t i = 0, end = pto_op_result_count(op); i < end; i++)
        if (bufferize_is_tensor(pto_op_result(op, i))) return 1;
    return 0;
}

/* The innermost `forall` around the op; none: it is a part of the function's own control flow. */
static pto_op nest_around(pto_op op)
{
    for (op = pto_op_parent(op); PTO_SOME(op) && !PTO_IS(op, FORALL);) op = pto_op_parent(op);
    return op;
}

/* An op of a level or plugin that is not known here keeps its tensors, which pto.bufferized finds. */
static pto_status check_op(const pto_run *run, pto_op op)
{
    if (!handles_tensors(op)) return PTO_OK;
    if (PTO_IS(op, CALL) && !bufferize_is_call_of_memory(op))
        return pto_error(
            op, "pto.bufferize/call",
            "`call` takes or returns tensors: pto.inline, in a step before pto.tile, replaces calls of tensor "
            "functions; of others, those of nests are lowered whose parameters are gm and which return nothing");
    const int is_outside = PTO_IS(op, FORALL) || PTO_IS(op, EMPTY) || PTO_IS(op, CALL) || bufferize_is_control(op);
    const pto_op nest = is_outside ? nest_around(op) : pto_op_none(run);
    if (PTO_SOME(nest))
        return pto_error(op, "pto.bufferize/nested",
                         "`%.*s` with tensors is inside `%.*s`; it must be outside of every nest",
                         PTO_FMT(pto_op_name(op)), PTO_FMT(pto_op_name(nest)));
    if (bufferize_is_control(op) && PTO_SOME(pto_op_attr(op, PTO_STR("valid"))))
        return pto_error(op, "pto.bufferize/tiles-and-tensors",
                         "`%.*s` carries tiles and tensors; a loop of a function carries tensors and scalars",
                         PTO_FMT(pto_op_name(op)));
    return PTO_OK;
}

/* ---- nests whose results nothing uses ---- */

int bufferize_writes_elsewhere(pto_op forall)
{
    PTO_WALK(forall, op)
    {
        if (pto_op_transfer(op) != PTO_TRANSFER_STORE) continue;
        pto_block owner = pto_value_block(pto_op_operand(op, pto_op_operand_count(op) - 1));
        if (!PTO_SOME(owner) || !pto_op_same(pto_block_parent(owner), forall)) return 1;
    }
    return 0;
}

static int may_be_unused(pto_op op)
{
    const pto_kind_id kind = pto_op_kind(op);
    return kind == pto_kind(op.run, KIND_FORALL) || kind == pto_kind(op.run, KIND_VIEW) ||
           kind == pto_kind(op.run, KIND_EMPTY) || kind == pto_kind(op.run, KIND_ARRAY);
}

static int match_unused(pto_op op)
{
    const int is_nest = PTO_IS(op, FORALL);
    for (uint32_t i = 0, end = pto_op_result_count(op); i < end; i++)
        if (pto_value_use_count(pto_op_result(op, i)) != 0) return 0;
    return pto_op_result_count(op) != 0 && !(is_nest && bufferize_writes_elsewhere(op));
}

static pto_status remove_unused(const pto_run *run, pto_op function)
{
    uint32_t count = 0, capacity = 0;
    pto_op *ops = NULL;
    PTO_WALK(function, op)
    {
        if (!may_be_unused(op)) continue;
        PTO_GROW(run, ops, count, capacity);
        ops[count++] = op;
    }
    while (count-- > 0) {
        if (!match_unused(ops[count])) continue;
        PTO_TRY(pto_op_erase(ops[count]));
        pto_stat_add(run, STAT_REMOVED, 1);
    }
    return PTO_OK;
}

/* ---- outputs ---- */

int64_t bufferize_alias_of(const bufferizer *b, uint32_t i)
{
    const pto_attr aliases = pto_op_attr(b->function, PTO_STR("aliases"));
    return PTO_SOME(aliases) && i < pto_attr_count(aliases) ? pto_attr_i64(pto_attr_item(aliases, i, NULL)) : -1;
}

/* The parameter, when what it was at first has become the returned value in place, or the `tile.empty` that may be made
 * in its memory. */
static pto_value find_alias(const bufferizer *b, pto_op ret, uint32_t i, uint32_t parameter, const pto_value *taken)
{
    pto_value nest;
    const pto_value v = pto_op_operand(ret, i), param = pto_block_arg(pto_body(b->function), parameter);
    const pto_value root = bufferize_root(b->run, v, &nest);
    int is_free =
        PTO_IS(pto_value_op(root), EMPTY) && bufferize_is_written(root) && bufferize_view_reason(v, root) == NULL;
    for (uint32_t k = 0; k < i; k++) is_free &= !pto_value_same(taken[k], root) && !pto_value_same(taken[k], param);
    if (pto_value_same(root, param) || (is_free && bufferize_may_replace(b, param, root))) return root;
    pto_error(ret, "pto.bufferize/alias",
              "`return` returns %%%.*s, which aliases %%%.*s but is not made in its memory: replace parts of it "
              "with tensor.assemble or the like, or each element or row by what is computed of itself, and read it "
              "before or after that, not both as it was and as it is",
              PTO_FMT(pto_value_name(v)), PTO_FMT(pto_value_name(param)));
    for (uint32_t k = 0; k < b->copies; k++)
        if (pto_value_same(b->copied[k].from, param))
            pto_note(b->copied[k].at, "%%%.*s is copied here, since %s", PTO_FMT(pto_value_name(param)),
                     b->copied[k].why);
    return pto_value_none(b->run);
}

/* The `tile.empty` that a returned value lives in, made for it where it has none of its own. */
static pto_value find_home(bufferizer *b, pto_op ret, uint32_t i, const pto_value *taken)
{
    const pto_run *run = b->run;
    pto_value nest, v = pto_op_operand(ret, i), root = bufferize_root(run, v, &nest);
    const char *why = NULL;
    const int64_t alias = bufferize_alias_of(b, i);
    if (alias >= 0) return find_alias(b, ret, i, (uint32_t)alias, taken);
    if (!PTO_IS(pto_value_op(root), EMPTY)) {
        why = PTO_IS(pto_value_op(root), ARRAY) ? "a constant is given back"
              : PTO_SOME(pto_value_op(root))    ? "what a loop hands on may be in several places"
                                                : "a parameter is given back";
    } else if (!bufferize_is_written(root)) {
        pto_error(ret, "pto.bufferize/unwritten", "`return` returns %%%.*s, which no nest writes to",
                  PTO_FMT(pto_value_name(v)));
        return pto_value_none(run);
    } else {
        why = bufferize_view_reason(v, root);
    }
    for (uint32_t k = 0; k < i; k++)
        if (pto_value_same(taken[k], root)) why = "its memory is given back twice";
    if (why == NULL) return root;
    const pto_value copy = bufferize_copy(b, ret, v, why);
    if (!PTO_SOME(copy) || pto_op_set_operand(ret, i, copy) != PTO_OK) return pto_value_none(run);
    return bufferize_root(run, copy, &nest);
}

/* The name of what is written to memory goes to that memory. */
static pto_str written_name(pto_value empty)
{
    pto_value v = empty;
    for (;;) {
        pto_use use = pto_use_at(v, 0);
        if (PTO_IS(use.op, VIEW)) {
            v = pto_op_result(use.op, 0);
            continue;
        }
        int is_nest = PTO_IS(use.op, FORALL);
        return pto_value_name(is_nest ? pto_op_result(use.op, use.slot) : empty);
    }
}

static int mentions(pto_expr e, pto_str symbol)
{
    if (pto_expr_kind_of(e) == PTO_EXPR_SYMBOL) return pto_str_same(pto_expr_symbol_name(e), symbol);
    for (uint32_t i = 0; i < pto_expr_arg_count(e); i++)
        if (mentions(pto_expr_arg(e, i), symbol)) return 1;
    return 0;
}

static int binds_an_extent(pto_op bind, pto_type type)
{
    const pto_str symbol = pto_attr_str_of(bind, PTO_STR("symbol"));
    for (uint32_t d = 0; d < pto_type_rank(type); d++)
        if (mentions(pto_type_dim(type, d), symbol)) return 1;
    return 0;
}

/* The op before which its workspace is made: outside of all loops and branches that do not bind an extent of it, so
 * that no iteration makes another one. */
static pto_op workspace_place(const bufferizer *b, pto_op empty)
{
    const pto_type type = pto_value_type(pto_op_result(empty, 0));
    pto_op at = empty;
    for (; !pto_op_same(pto_op_parent(at), b->function); at = pto_op_parent(at))
        for (uint32_t i = 0; i < b->bind_count; i++)
            if (pto_block_same(pto_op_block(b->binds[i]), pto_op_block(at)) && binds_an_extent(b->binds[i], type))
                return at;
    return at;
}

static pto_status place_empty(const bufferizer *b, pto_op empty, pto_value output)
{
    const pto_run *run = b->run;
    pto_value v = pto_op_result(empty, 0), memory;
    pto_type type = gm_of(run, pto_value_type(v));
    pto_str name = written_name(v);
    if (PTO_SOME(output)) {
        memory = bufferize_view(run, pto_before(empty), output, type, name);
    } else {
        pto_spec s = pto_spec_make(run, pto_kind(run, KIND_WORKSPACE));
        pto_spec_result(&s, type);
        pto_spec_name(&s, name);
        memory = pto_spec_value(&s, pto_before(workspace_place(b, empty)));
        pto_stat_add(run, STAT_WORKSPACES, 1);
    }
    PTO_NEED(memory);
    return pto_op_replace_by(empty, memory);
}

/* Every tensor parameter becomes memory, and every returned value gets an `out` one after them. */
static pto_status rewrite_parameters(const bufferizer *b, pto_op ret, const pto_value *homes)
{
    const pto_run *run = b->run;
    const pto_op function = b->function;
    pto_block body = pto_body(function);
    uint32_t params = pto_block_arg_count(body), outs = 0;
    const uint32_t results = pto_op_operand_count(ret);
    pto_attr old = pto_op_attr(function, PTO_STR("params"));
    pto_attr *modes = PTO_SCRATCH(run, pto_attr, params + results);
    uint32_t *numbers = PTO_SCRATCH(run, uint32_t, results);
    for (uint32_t i = 0; i < params; i++) {
        pto_value v = pto_block_arg(body, i);
        modes[i] = PTO_SOME(old) && i < pto_attr_count(old) ? pto_attr_item(old, i, NULL)
                                                            : pto_attr_make_str(run, PTO_STR("in"));
        if (bufferize_is_tensor(v)) PTO_TRY(pto_value_set_type(v, gm_of(run, pto_value_type(v))));
    }
    for (uint32_t i = 0; i < results; i++) {
        pto_value v = pto_op_operand(ret, i);
        const int64_t alias = bufferize_alias_of(b, i);
        if (alias >= 0) {
            if (PTO_IS(pto_value_op(homes[i]), EMPTY))
                PTO_TRY(place_empty(b, pto_value_op(homes[i]), pto_block_arg(body, (uint32_t)alias)));
            continue;
        }
        pto_value out = pto_block_add_arg(body, gm_of(run, pto_value_type(v)), pto_value_name(v));
        PTO_NEED(out);
        numbers[i] = params + outs;
        modes[params + outs++] = pto_attr_make_str(run, PTO_STR("out"));
        PTO_TRY(place_empty(b, pto_value_op(homes[i]), out));
        pto_stat_add(run, STAT_OUTPUTS, 1);
    }
    PTO_TRY(bufferize_number_pairs(b, numbers));
    return outs == 0 ? PTO_OK
                     : pto_op_set_attr(function, PTO_STR("params"), pto_attr_make_list(run, params + outs, modes));
}

/* ---- nests without results ---- */

static pto_status rewrite_forall(const pto_run *run, pto_op op)
{
    uint32_t outs = pto_op_operand_count(op);
    pto_block old = pto_body(op);
    uint32_t indices = pto_block_arg_count(old) - outs;
    pto_spec s = pto_spec_make(run, pto_kind(run, KIND_FORALL));
    pto_spec_attrs_of(&s, op);
    pto_spec_blocks(&s, 1);
    pto_spec_loc(&s, pto_op_loc(op));
    pto_op fresh = pto_spec_build(&s, pto_before(op));
    PTO_NEED(fresh);
    pto_block body = pto_body(fresh);
    for (uint32_t i = 0; i < indices; i++) {
        pto_value from = pto_block_arg(old, i);
        pto_value to = pto_block_add_arg(body, pto_value_type(from), pto_value_name(from));
        PTO_NEED(to);
        PTO_TRY(pto_value_replace(from, to));
    }
    for (uint32_t i = 0; i < outs; i++) {
        PTO_TRY(pto_value_replace(pto_block_arg(old, indices + i), pto_op_operand(op, i)));
        PTO_TRY(pto_value_replace(pto_op_result(op, i), pto_op_operand(op, i)));
    }
    PTO_EACH_OP(old, inner) PTO_TRY(pto_op_move(inner, pto_at_end(body)));
    return pto_op_erase(op);
}

static pto_status become_memory(const pto_run *run, pto_value v)
{
    return bufferize_is_tensor(v) ? pto_value_set_type(v, gm_of(run, pto_value_type(v))) : PTO_OK;
}

static pto_status rewrite_types(const pto_run *run, pto_op op)
{
    const int is_control = bufferize_is_control(op);
    if (!is_control && !PTO_IS(op, VIEW) && !PTO_IS(op, ARRAY)) return PTO_OK;
    for (uint32_t i = 0, end = pto_op_result_count(op); i < end; i++) PTO_TRY(become_memory(run, pto_op_result(op, i)));
    for (uint32_t k = 0, blocks = pto_op_block_count(op); k < blocks; k++) {
        const pto_block block = pto_op_block_at(op, k);
        for (uint32_t i = 0, end = pto_block_arg_count(block); i < end; i++)
            PTO_TRY(become_memory(run, pto_block_arg(block, i)));
    }
    return PTO_OK;
}

static pto_status rewrite_body(const bufferizer *b)
{
    PTO_WALK(b->function, op) PTO_TRY(rewrite_types(b->run, op));
    PTO_WALK(b->function, empty)
    {
        if (PTO_IS(empty, EMPTY)) PTO_TRY(place_empty(b, empty, pto_value_none(b->run)));
    }
    PTO_WALK(b->function, nest)
    {
        if (PTO_IS(nest, FORALL) && pto_op_operand_count(nest) != 0) PTO_TRY(rewrite_forall(b->run, nest));
    }
    return PTO_OK;
}

static void find_binds(bufferizer *b)
{
    uint32_t capacity = 0;
    PTO_WALK(b->function, op)
    {
        if (!PTO_IS(op, BIND) || pto_op_same(pto_op_parent(op), b->function)) continue;
        PTO_GROW(b->run, b->binds, b->bind_count, capacity);
        b->binds[b->bind_count++] = op;
    }
}

static pto_status run_pass(const pto_run *run, pto_op function)
{
    bufferizer b = {.run = run, .function = function, .copy_bytes = pto_opt_i64(run, OPT_COPY_BYTES)};
    PTO_WALK(function, op) PTO_TRY(check_op(run, op));
    PTO_TRY(bufferize_check_written(&b));
    PTO_TRY(bufferize_wrap_calls(&b));
    PTO_TRY(remove_unused(run, function));
    PTO_TRY(bufferize_read_early(&b));
    PTO_TRY(bufferize_copy_overlapped(&b));
    PTO_TRY(bufferize_find_kept(&b));
    PTO_TRY(bufferize_separate(&b));
    PTO_TRY(remove_unused(run, function));
    PTO_TRY(bufferize_control(&b));
    find_binds(&b);
    pto_op ret = pto_block_terminator(pto_body(function));
    uint32_t outs = pto_op_operand_count(ret);
    pto_value *homes = PTO_SCRATCH(run, pto_value, outs);
    for (uint32_t i = 0; i < outs; i++) {
        if (!bufferize_is_tensor(pto_op_operand(ret, i)))
            return pto_error(ret, "pto.bufferize/scalar-result",
                             "`return` returns %%%.*s, which is not a tensor; a "
                             "function on tiles can only return tensors",
                             PTO_FMT(pto_value_name(pto_op_operand(ret, i))));
        homes[i] = find_home(&b, ret, i, homes);
        PTO_NEED(homes[i]);
    }
    PTO_TRY(bufferize_copy_overlapping(&b, ret, homes));
    PTO_TRY(rewrite_parameters(&b, ret, homes));
    if (outs != 0) {
        PTO_TRY(pto_op_set_attr(function, PTO_STR("results"), pto_attr_none(run)));
        PTO_TRY(pto_op_set_attr(function, PTO_STR("aliases"), pto_attr_none(run)));
        pto_spec s = pto_spec_make(run, pto_kind(run, KIND_RETURN));
        pto_spec_loc(&s, pto_op_loc(ret));
        PTO_NEED(pto_spec_build(&s, pto_before(ret)));
        PTO_TRY(pto_op_erase(ret));
    }
    PTO_TRY(rewrite_body(&b));
    PTO_TRY(bufferize_unwrap_calls(&b));
    pto_stat_add(run, STAT_COPIES, b.copies);
    return remove_unused(run, function);
}

static pto_status check_bufferized(const pto_run *run, pto_op function)
{
    (void)run;
    PTO_WALK(function, op)
    if (handles_tensors(op) || PTO_IS(op, EMPTY))
        return pto_error(op, "pto.bufferized/tensor",
                         "`%.*s` takes or returns a tensor; after pto.bufferize all is "
                         "memory",
                         PTO_FMT(pto_op_name(op)));
    for (uint32_t i = 0, end = pto_block_arg_count(pto_body(function)); i < end; i++)
        if (bufferize_is_tensor(pto_block_arg(pto_body(function), i)))
            return pto_error(function, "pto.bufferized/tensor",
                             "parameter %%%.*s is a tensor; after pto.bufferize all "
                             "is memory",
                             PTO_FMT(pto_value_name(pto_block_arg(pto_body(function), i))));
    return PTO_OK;
}

static const pto_property bufferized = {
    .struct_size = sizeof bufferized,
    .id = "pto.bufferized",
    .doc = "no tensors: parameters, intermediates and outputs are global memory",
    .level = "tile/1",
    .kinds = bufferize_kinds,
    .check = check_bufferized,
};

static const pto_pass pass = {
    .struct_size = sizeof pass,
    .id = "pto.bufferize",
    .summary = "Turn tensors into global memory, results into out parameters",
    .scope = "function",
    .consumes = "tile/1",
    .produces = "tile/1",
    .establishes = PTO_STRS("pto.bufferized"),
    .kinds = bufferize_kinds,
    .options = pass_options,
    .stats = pass_stats,
    .run = run_pass,
};
PTO_PLUGIN("pto.bufferize", "pass:pto.bufferize property:pto.bufferized", "pto.bufferized", .version = "0.1.0",
           .license = "Apache-2.0", .passes = PTO_LIST(pto_pass, &pass),
           .properties = PTO_LIST(pto_property, &bufferized));
