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
 * its own, which a remark tells. Exact. Nests run in program order on memory from here on.
 *
 * Requires nests of tile ops on tensors, as pto.tile makes them. Leaves functions on memory, without values of tensor
 * type (pto.bufferized). */
#include <pto/plugin.h>

#define KINDS(X)                   \
    X(VIEW, "view")                \
    X(ARRAY, "constant_array")     \
    X(FORALL, "forall")            \
    X(YIELD, "yield")              \
    X(RETURN, "return")            \
    X(EMPTY, "tile.empty")         \
    X(WORKSPACE, "tile.workspace") \
    X(LOAD, "tile.load")           \
    X(STORE, "tile.store")         \
    X(CALL, "call")
PTO_KINDS(KINDS);

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

static int is_tensor(pto_value v) { return pto_type_kind_of(pto_value_type(v)) == PTO_TYPE_TENSOR; }

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
    for (uint32_t i = 0; i < pto_op_operand_count(op); i++)
        if (is_tensor(pto_op_operand(op, i))) return 1;
    for (uint32_t i = 0; i < pto_op_result_count(op); i++)
        if (is_tensor(pto_op_result(op, i))) return 1;
    return 0;
}

static pto_status check_op(const pto_run *run, pto_op function, pto_op op)
{
    static const uint32_t legal[] = {KIND_VIEW,  KIND_ARRAY, KIND_FORALL, KIND_RETURN,
                                     KIND_EMPTY, KIND_LOAD,  KIND_STORE};
    int known = 0;
    if (!handles_tensors(op)) return PTO_OK;
    if (PTO_IS(op, CALL))
        return pto_error(
            op, "pto.bufferize/call",
            "`call` takes or returns tensors: pto.inline, in a step before pto.tile, replaces calls of tensor "
            "functions; one that writes to its parameters runs on pto.reference alone");
    for (size_t i = 0; i < sizeof legal / sizeof legal[0]; i++) known |= pto_op_is(op, pto_kind(run, legal[i]));
    if (!known)
        return pto_error(
            op, "pto.bufferize/unsupported-op",
            "`%.*s` takes or returns tensors; those that can become memory are view, constant_array, tile.empty, "
            "forall, tile.load, tile.store and return",
            PTO_FMT(pto_op_name(op)));
    int inside = !pto_op_same(pto_op_parent(op), function);
    if (inside && (PTO_IS(op, FORALL) || PTO_IS(op, EMPTY)))
        return pto_error(op, "pto.bufferize/nested",
                         "`%.*s` with tensors is inside `%.*s`; it must be in the "
                         "body of the function",
                         PTO_FMT(pto_op_name(op)), PTO_FMT(pto_op_name(pto_op_parent(op))));
    return PTO_OK;
}

/* ---- nests whose results nothing uses ---- */

static int writes_elsewhere(pto_op forall)
{
    PTO_WALK(forall, op)
    {
        if (!PTO_IS(op, STORE)) continue;
        pto_block owner = pto_value_block(pto_op_operand(op, 1));
        if (!PTO_SOME(owner) || !pto_op_same(pto_block_parent(owner), forall)) return 1;
    }
    return 0;
}

static int match_unused(pto_op op)
{
    int is_nest = PTO_IS(op, FORALL);
    if (!is_nest && !PTO_IS(op, VIEW) && !PTO_IS(op, EMPTY) && !PTO_IS(op, ARRAY)) return 0;
    for (uint32_t i = 0; i < pto_op_result_count(op); i++)
        if (pto_value_use_count(pto_op_result(op, i)) != 0) return 0;
    return pto_op_result_count(op) != 0 && !(is_nest && writes_elsewhere(op));
}

static pto_status remove_unused(const pto_run *run, pto_op function)
{
    for (pto_op op = pto_block_last(pto_body(function)); PTO_SOME(op);) {
        pto_op before = pto_op_prev(op);
        if (match_unused(op)) {
            PTO_TRY(pto_op_erase(op));
            pto_stat_add(run, STAT_REMOVED, 1);
        }
        op = before;
    }
    return PTO_OK;
}

/* ---- copies ---- */

static pto_value make_view(const pto_run *run, pto_place at, pto_value v, pto_type type, pto_str name)
{
    if (pto_type_same(pto_value_type(v), type)) return v;
    pto_spec s = pto_spec_make(run, pto_kind(run, KIND_VIEW));
    pto_spec_operand(&s, v);
    pto_spec_result(&s, type);
    pto_spec_name(&s, name);
    return pto_spec_value(&s, at);
}

static int64_t copy_columns(const pto_run *run, pto_dtype dtype, pto_expr count)
{
    int64_t bytes = pto_opt_i64(run, OPT_COPY_BYTES), whole = 0;
    int64_t most = pto_space_usable_bytes(run, pto_space_of_role(run, PTO_ROLE_SCRATCHPAD), INT64_MAX) / 4;
    int64_t size = pto_dtype_bytes(dtype), columns = size > 0 ? (most < bytes ? most : bytes) / size : 1;
    if (columns < 1) columns = 1;
    if (pto_expr_is_const(count, &whole) && whole > 0 && whole < columns) columns = whole;
    return columns;
}

/* Body of a copying nest: one row of `columns` elements for each instance. */
static pto_status fill_copy(const pto_run *run, pto_op forall, pto_value from, pto_expr count, int64_t columns)
{
    pto_type type = pto_value_type(from);
    pto_block body = pto_body(forall);
    pto_value index = pto_block_add_arg(body, pto_type_scalar(run, PTO_INDEX), PTO_STR("i"));
    pto_value to = pto_block_add_arg(body, type, PTO_STR("o"));
    pto_expr start = pto_expr_scale(pto_expr_value(index), columns);
    const pto_expr size[2] = {pto_expr_const(run, 1),
                              pto_expr_min(pto_expr_const(run, columns), pto_expr_sub(count, start))};
    pto_spec load = pto_spec_make(run, pto_kind(run, KIND_LOAD));
    pto_spec_operand(&load, from);
    pto_spec_exprs(&load, PTO_STR("offsets"), 1, &start);
    pto_spec_exprs(&load, PTO_STR("sizes"), 2, size);
    pto_spec_result(&load, pto_type_tile(run, pto_type_dtype(type), 1, columns, PTO_SPACE_NONE, PTO_LAYOUT_NONE));
    pto_spec_name(&load, PTO_STR("t"));
    pto_value tile = pto_spec_value(&load, pto_at_end(body));
    PTO_NEED(tile);
    pto_spec store = pto_spec_make(run, pto_kind(run, KIND_STORE));
    pto_spec_operand(&store, tile);
    pto_spec_operand(&store, to);
    pto_spec_exprs(&store, PTO_STR("offsets"), 1, &start);
    PTO_NEED(pto_spec_build(&store, pto_at_end(body)));
    pto_spec yield = pto_spec_make(run, pto_kind(run, KIND_YIELD));
    PTO_NEED(pto_spec_build(&yield, pto_at_end(body)));
    return PTO_OK;
}

static pto_value make_empty(const pto_run *run, pto_place at, pto_type type)
{
    pto_spec s = pto_spec_make(run, pto_kind(run, KIND_EMPTY));
    pto_spec_result(&s, type);
    pto_spec_name(&s, PTO_STR("e"));
    return pto_spec_value(&s, at);
}

/* A nest before `at` that copies a tensor; the copy, or none after a diagnostic. `why` ends the remark. */
static pto_value make_copy(const pto_run *run, pto_op at, pto_value from, const char *why)
{
    const pto_value none = pto_value_none(run);
    pto_type type = pto_value_type(from);
    pto_str name = pto_value_name(from);
    pto_expr count = pto_expr_const(run, 1);
    for (uint32_t i = 0; i < pto_type_rank(type); i++) count = pto_expr_mul(count, pto_type_dim(type, i));
    pto_type flat = pto_type_tensor(run, pto_type_dtype(type), 1, &count);
    pto_value source = make_view(run, pto_before(at), from, flat, name);
    pto_value target = make_empty(run, pto_before(at), flat);
    if (!PTO_SOME(source) || !PTO_SOME(target)) return none;
    int64_t columns = copy_columns(run, pto_type_dtype(type), count);
    pto_expr trips = pto_expr_ceildiv(count, pto_expr_const(run, columns));

    char label[96];
    (void)snprintf(label, sizeof label, "copy_%.*s", (int)(name.n < 80 ? name.n : 80), name.n != 0 ? name.p : "");
    pto_spec s = pto_spec_make(run, pto_kind(run, KIND_FORALL));
    pto_spec_str(&s, PTO_STR("label"), pto_s(label));
    pto_spec_exprs(&s, PTO_STR("to"), 1, &trips);
    pto_spec_operand(&s, target);
    pto_spec_result(&s, flat);
    pto_spec_blocks(&s, 1);
    pto_spec_name(&s, name);
    pto_op forall = pto_spec_build(&s, pto_before(at));
    if (!PTO_SOME(forall) || fill_copy(run, forall, source, count, columns) != PTO_OK) return none;
    pto_remark(at, "pto.bufferize/copy", "%%%.*s is copied, since %s", PTO_FMT(name), why);
    pto_stat_add(run, STAT_COPIES, 1);
    return make_view(run, pto_before(at), pto_op_result(forall, 0), type, name);
}

/* ---- which memory a tensor is ---- */

/* Through views to a parameter, a `tile.empty` or a result of a nest. */
static pto_value origin_of(pto_value v)
{
    while (PTO_IS(pto_value_op(v), VIEW)) v = pto_op_operand(pto_value_op(v), 0);
    return v;
}

/* Through views and nests to a parameter or a `tile.empty`. `last_nest`: the result of a nest met first, or none. */
static pto_value root_of(const pto_run *run, pto_value v, pto_value *last_nest)
{
    *last_nest = pto_value_none(run);
    for (;;) {
        v = origin_of(v);
        pto_op def = pto_value_op(v);
        if (!PTO_IS(def, FORALL)) return v;
        if (!PTO_SOME(*last_nest)) *last_nest = v;
        v = pto_op_operand(def, pto_value_index(v));
    }
}

/* The op of the function's body that `op` is or is in. */
static pto_op top_op(pto_op op, pto_op function)
{
    while (!pto_op_same(pto_op_parent(op), function)) op = pto_op_parent(op);
    return op;
}

/* Whether elements of `value`, seen directly or through views, are used in or after `nest` by anything but its
 * operand `slot`. `todo` has space for every view of the function. */
static int match_later_use(pto_op function, pto_value value, pto_op nest, uint32_t slot, pto_value *todo)
{
    uint32_t count = 0;
    todo[count++] = value;
    while (count != 0) {
        pto_value v = todo[--count];
        PTO_EACH_USE(v, use) {
            pto_op top = top_op(use.op, function);
            if (PTO_IS(use.op, VIEW) && pto_op_same(top, use.op)) {
                todo[count++] = pto_op_result(use.op, 0);
                continue;
            }
            if (pto_op_same(use.op, nest) && use.slot == slot) continue;
            if (!pto_op_is_before(top, nest)) return 1;
        }
    }
    return 0;
}

static int is_inout(pto_value param)
{
    pto_op function = pto_block_parent(pto_value_block(param));
    pto_attr modes = pto_op_attr(function, PTO_STR("params"));
    uint32_t i = pto_value_index(param);
    return PTO_SOME(modes) && i < pto_attr_count(modes) &&
           pto_str_is(pto_attr_str(pto_attr_item(modes, i, NULL)), "inout");
}

/* Why a nest cannot write over what its `out` number `i` starts from; NULL: it can. */
static const char *match_copy_reason(pto_op function, pto_op nest, uint32_t i, pto_value *todo)
{
    pto_value origin = origin_of(pto_op_operand(nest, i));
    if (PTO_IS(pto_value_op(origin), EMPTY)) return NULL;
    if (PTO_IS(pto_value_op(origin), ARRAY)) return "it is a constant";
    if (PTO_SOME(pto_value_block(origin)) && !is_inout(origin)) return "it is a parameter that may not be written to";
    if (match_later_use(function, origin, nest, i, todo)) return "its old elements are used after they are overwritten";
    return NULL;
}

/* An empty tensor has no elements to keep, so each nest that starts from it gets one of its own. */
static pto_status own_empty(const pto_run *run, pto_op nest, uint32_t i)
{
    pto_value v = pto_op_operand(nest, i);
    int shared = 0;
    for (pto_value at = v;; at = pto_op_operand(pto_value_op(at), 0)) {
        shared |= pto_value_use_count(at) > 1;
        if (!PTO_IS(pto_value_op(at), VIEW)) break;
    }
    if (!shared || !PTO_IS(pto_value_op(origin_of(v)), EMPTY)) return PTO_OK;
    pto_value fresh = make_empty(run, pto_before(nest), pto_value_type(v));
    PTO_NEED(fresh);
    return pto_op_set_operand(nest, i, fresh);
}

static pto_status separate(const pto_run *run, pto_op function)
{
    uint32_t capacity = 1;
    PTO_EACH_OP(pto_body(function), counted)
        capacity += 1 + 4 * pto_op_operand_count(counted); /* a copy makes three views at most */
    pto_value *todo = PTO_SCRATCH(run, pto_value, capacity);
    PTO_EACH_OP(pto_body(function), op) {
        if (!PTO_IS(op, FORALL)) continue;
        for (uint32_t i = 0; i < pto_op_operand_count(op); i++) {
            PTO_TRY(own_empty(run, op, i));
            const char *why = match_copy_reason(function, op, i, todo);
            if (why == NULL) continue;
            pto_value copy = make_copy(run, op, pto_op_operand(op, i), why);
            PTO_NEED(copy);
            PTO_TRY(pto_op_set_operand(op, i, copy));
        }
    }
    return PTO_OK;
}

/* ---- outputs ---- */

/* The `tile.empty` that a returned value lives in, made for it where it has none of its own. */
static pto_value find_home(const pto_run *run, pto_op ret, uint32_t i, const pto_value *taken)
{
    pto_value nest, v = pto_op_operand(ret, i), root = root_of(run, v, &nest);
    const char *why = NULL;
    if (!PTO_IS(pto_value_op(root), EMPTY)) {
        why = PTO_IS(pto_value_op(root), ARRAY) ? "a constant is given back" : "a parameter is given back";
    } else if (!PTO_SOME(nest)) {
        pto_error(ret, "pto.bufferize/unwritten", "`return` returns %%%.*s, which no nest writes to",
                  PTO_FMT(pto_value_name(v)));
        return pto_value_none(run);
    }
    for (uint32_t k = 0; k < i; k++)
        if (pto_value_same(taken[k], root)) why = "its memory is given back twice";
    if (why == NULL) return root;
    pto_value copy = make_copy(run, ret, v, why);
    if (!PTO_SOME(copy) || pto_op_set_operand(ret, i, copy) != PTO_OK) return pto_value_none(run);
    return root_of(run, copy, &nest);
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
        return pto_value_name(is_nest ? pto_op_result(use.op, use.slot) : v);
    }
}

static pto_status place_empty(const pto_run *run, pto_op empty, pto_value output)
{
    pto_value v = pto_op_result(empty, 0), memory;
    pto_type type = gm_of(run, pto_value_type(v));
    pto_str name = written_name(v);
    if (PTO_SOME(output)) {
        memory = make_view(run, pto_before(empty), output, type, name);
    } else {
        pto_spec s = pto_spec_make(run, pto_kind(run, KIND_WORKSPACE));
        pto_spec_result(&s, type);
        pto_spec_name(&s, name);
        memory = pto_spec_value(&s, pto_before(empty));
        pto_stat_add(run, STAT_WORKSPACES, 1);
    }
    PTO_NEED(memory);
    return pto_op_replace_by(empty, memory);
}

/* Every tensor parameter becomes memory, and every returned value gets an `out` one after them. */
static pto_status rewrite_parameters(const pto_run *run, pto_op function, pto_op ret, const pto_value *homes)
{
    pto_block body = pto_body(function);
    uint32_t params = pto_block_arg_count(body), outs = pto_op_operand_count(ret);
    pto_attr old = pto_op_attr(function, PTO_STR("params"));
    pto_attr *modes = PTO_SCRATCH(run, pto_attr, params + outs);
    for (uint32_t i = 0; i < params; i++) {
        pto_value v = pto_block_arg(body, i);
        modes[i] = PTO_SOME(old) && i < pto_attr_count(old) ? pto_attr_item(old, i, NULL)
                                                            : pto_attr_make_str(run, PTO_STR("in"));
        if (is_tensor(v)) PTO_TRY(pto_value_set_type(v, gm_of(run, pto_value_type(v))));
    }
    for (uint32_t i = 0; i < outs; i++) {
        pto_value v = pto_op_operand(ret, i);
        pto_value out = pto_block_add_arg(body, gm_of(run, pto_value_type(v)), pto_value_name(v));
        PTO_NEED(out);
        modes[params + i] = pto_attr_make_str(run, PTO_STR("out"));
        PTO_TRY(place_empty(run, pto_value_op(homes[i]), out));
        pto_stat_add(run, STAT_OUTPUTS, 1);
    }
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

static pto_status rewrite_body(const pto_run *run, pto_op function)
{
    PTO_WALK(function, view)
    {
        if (!PTO_IS(view, VIEW) && !PTO_IS(view, ARRAY)) continue;
        pto_type type = pto_value_type(pto_op_result(view, 0));
        if (pto_type_kind_of(type) == PTO_TYPE_TENSOR)
            PTO_TRY(pto_value_set_type(pto_op_result(view, 0), gm_of(run, type)));
    }
    PTO_EACH_OP(pto_body(function), op)
        if (PTO_IS(op, EMPTY)) PTO_TRY(place_empty(run, op, pto_value_none(run)));
    PTO_EACH_OP(pto_body(function), nest)
        if (PTO_IS(nest, FORALL) && pto_op_operand_count(nest) != 0) PTO_TRY(rewrite_forall(run, nest));
    return PTO_OK;
}

static pto_status run_pass(const pto_run *run, pto_op function)
{
    PTO_WALK(function, op) PTO_TRY(check_op(run, function, op));
    PTO_TRY(remove_unused(run, function));
    PTO_TRY(separate(run, function));
    PTO_TRY(remove_unused(run, function));
    pto_op ret = pto_block_terminator(pto_body(function));
    uint32_t outs = pto_op_operand_count(ret);
    pto_value *homes = PTO_SCRATCH(run, pto_value, outs);
    for (uint32_t i = 0; i < outs; i++) {
        if (!is_tensor(pto_op_operand(ret, i)))
            return pto_error(ret, "pto.bufferize/scalar-result",
                             "`return` returns %%%.*s, which is not a tensor; a "
                             "function on tiles can only return tensors",
                             PTO_FMT(pto_value_name(pto_op_operand(ret, i))));
        homes[i] = find_home(run, ret, i, homes);
        PTO_NEED(homes[i]);
    }
    PTO_TRY(rewrite_parameters(run, function, ret, homes));
    if (outs != 0) {
        PTO_TRY(pto_op_set_attr(function, PTO_STR("results"), pto_attr_none(run)));
        pto_spec s = pto_spec_make(run, pto_kind(run, KIND_RETURN));
        pto_spec_loc(&s, pto_op_loc(ret));
        PTO_NEED(pto_spec_build(&s, pto_before(ret)));
        PTO_TRY(pto_op_erase(ret));
    }
    PTO_TRY(rewrite_body(run, function));
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
    for (uint32_t i = 0; i < pto_block_arg_count(pto_body(function)); i++)
        if (is_tensor(pto_block_arg(pto_body(function), i)))
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
    .kinds = pass_kinds,
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
    .kinds = pass_kinds,
    .options = pass_options,
    .stats = pass_stats,
    .run = run_pass,
};
PTO_PLUGIN("pto.bufferize", "pass:pto.bufferize property:pto.bufferized", "pto.bufferized", .version = "0.1.0",
           .license = "Apache-2.0", .passes = PTO_LIST(pto_pass, &pass),
           .properties = PTO_LIST(pto_property, &bufferized));
