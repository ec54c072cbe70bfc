/* Parts of tensors along one dim, and loops over them. */
#include "legalize_parts.h"

pto_type parts_type(const in_parts *p, pto_value x, pto_expr extent)
{
    pto_expr dims[PTO_MAX_DIMS];
    for (uint32_t d = 0; d < p->rank; d++) dims[d] = d == p->axis ? extent : pto_type_dim(pto_value_type(x), d);
    return pto_type_tensor(p->op.run, parts_dtype(x), p->rank, dims);
}

pto_value parts_make(const in_parts *p, pto_spec *s, pto_type type, const char *suffix)
{
    pto_spec_result(s, type);
    pto_spec_name(s, pto_name_after(p->op, pto_s(suffix)));
    return pto_spec_value(s, p->at);
}

pto_value parts_view(const in_parts *p, pto_value x, pto_expr first, pto_expr extent)
{
    pto_expr offsets[PTO_MAX_DIMS];
    for (uint32_t d = 0; d < p->rank; d++) offsets[d] = d == p->axis ? first : parts_number(p, 0);
    pto_spec s = pto_spec_make(p->op.run, pto_kind(p->op.run, KIND_VIEW));
    pto_spec_operand(&s, x);
    pto_spec_exprs(&s, PTO_STR("offsets"), p->rank, offsets);
    return parts_make(p, &s, parts_type(p, x, extent), "_part");
}

pto_op parts_begin_loop(in_parts *p, pto_expr trips, uint32_t count, const pto_value *carried)
{
    const pto_run *run = p->op.run;
    const pto_expr zero = parts_number(p, 0), one = parts_number(p, 1);
    pto_spec s = pto_spec_make(run, pto_kind(run, KIND_FOR));
    for (uint32_t i = 0; i < count; i++) {
        pto_spec_operand(&s, carried[i]);
        pto_spec_result(&s, pto_value_type(carried[i]));
    }
    pto_spec_exprs(&s, PTO_STR("from"), 1, &zero);
    pto_spec_exprs(&s, PTO_STR("to"), 1, &trips);
    pto_spec_exprs(&s, PTO_STR("step"), 1, &one);
    pto_spec_blocks(&s, 1);
    pto_spec_name(&s, pto_name_after(p->op, PTO_STR("_loop")));
    const pto_op loop = pto_spec_build(&s, p->at);
    if (!PTO_SOME(loop)) return loop;
    (void)pto_block_add_arg(pto_body(loop), pto_type_scalar(run, PTO_INDEX), PTO_STR("i"));
    for (uint32_t i = 0; i < count; i++)
        (void)pto_block_add_arg(pto_body(loop), pto_value_type(carried[i]), PTO_STR("so_far"));
    p->at = pto_at_end(pto_body(loop));
    return loop;
}

int parts_end_loop(in_parts *p, pto_op loop, uint32_t count, pto_value *next)
{
    pto_spec s = pto_spec_make(p->op.run, pto_kind(p->op.run, KIND_YIELD));
    for (uint32_t i = 0; i < count; i++) pto_spec_operand(&s, next[i]);
    const int is_made = PTO_SOME(pto_spec_build(&s, p->at));
    for (uint32_t i = 0; i < count; i++) next[i] = pto_op_result(loop, i);
    p->at = pto_before(p->op);
    return is_made;
}
