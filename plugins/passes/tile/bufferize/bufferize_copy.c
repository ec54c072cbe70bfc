/* Memory that bufferizing needs besides: views, new memory, nests that copy. */
#include "bufferize.h"

#include <stdio.h>

pto_value bufferize_view(const pto_run *run, pto_place at, pto_value v, pto_type type, pto_str name)
{
    if (pto_type_same(pto_value_type(v), type)) return v;
    pto_spec s = pto_spec_make(run, pto_kind(run, KIND_VIEW));
    pto_spec_operand(&s, v);
    pto_spec_result(&s, type);
    pto_spec_name(&s, name);
    return pto_spec_value(&s, at);
}

static int64_t copy_columns(const bufferizer *b, pto_dtype dtype, pto_expr count)
{
    const pto_run *run = b->run;
    int64_t bytes = b->copy_bytes, whole = 0;
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

pto_value bufferize_empty(const pto_run *run, pto_place at, pto_type type, pto_str name)
{
    pto_spec s = pto_spec_make(run, pto_kind(run, KIND_EMPTY));
    pto_spec_result(&s, type);
    pto_spec_name(&s, name);
    return pto_spec_value(&s, at);
}

pto_value bufferize_copy(bufferizer *b, pto_op at, pto_value from, const char *why)
{
    const pto_run *run = b->run;
    const pto_value none = pto_value_none(run);
    pto_type type = pto_value_type(from);
    pto_str name = pto_value_name(from);
    pto_expr count = pto_expr_const(run, 1);
    for (uint32_t i = 0; i < pto_type_rank(type); i++) count = pto_expr_mul(count, pto_type_dim(type, i));
    pto_type flat = pto_type_tensor(run, pto_type_dtype(type), 1, &count);
    pto_value source = bufferize_view(run, pto_before(at), from, flat, name);
    pto_value target = bufferize_empty(run, pto_before(at), flat, PTO_STR("e"));
    if (!PTO_SOME(source) || !PTO_SOME(target)) return none;
    int64_t columns = copy_columns(b, pto_type_dtype(type), count);
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
    PTO_GROW(run, b->copied, b->copies, b->copy_capacity);
    b->copied[b->copies++] = (copied_tensor){bufferize_origin(from), at, why};
    return bufferize_view(run, pto_before(at), pto_op_result(forall, 0), type, name);
}
