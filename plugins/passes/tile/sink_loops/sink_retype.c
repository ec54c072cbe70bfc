/* A loop whose body makes what it carries as a tensor of other dims, such as a column that is made as a row, carries it
 * so: what it begins with and its result are seen as the other type outside of it.
 *
 *     %r = for %i to 10 carry(%a = %x) {                %v = view %x : tensor<1 x 64 x f32>
 *       %b = view %a : tensor<1 x 64 x f32>             %s = for %i to 10 carry(%b = %v) {
 *       %p = forall .. { .. %b .. }                 =>    %p = forall .. { .. %b .. }
 *       %y = view %p : tensor<64 x 1 x f32>               yield %p
 *       yield %y                                        } : tensor<1 x 64 x f32>
 *     } : tensor<64 x 1 x f32>                          %r = view %s : tensor<64 x 1 x f32>
 */
#include "sink_loops.h"

static pto_value view_of(pto_value v, pto_type type, pto_str name, pto_place place)
{
    pto_spec spec = pto_spec_make(v.run, pto_kind(v.run, KIND_VIEW));
    pto_spec_operand(&spec, v);
    pto_spec_result(&spec, type);
    pto_spec_name(&spec, name);
    return pto_spec_value(&spec, place);
}

/* What the nest of the body makes; none: it is made as it is carried, or by writing to what is there. */
static pto_value made_as(pto_op loop, pto_value yielded)
{
    pto_value v = yielded;
    while (PTO_IS(pto_value_op(v), VIEW)) v = pto_op_operand(pto_value_op(v), 0);
    const pto_op nest = pto_value_op(v);
    const int is_made = PTO_IS(nest, FORALL) && pto_block_same(pto_op_block(nest), pto_body(loop)) &&
                        PTO_IS(pto_value_op(pto_op_operand(nest, pto_value_index(v))), EMPTY);
    return is_made && !pto_type_same(pto_value_type(v), pto_value_type(yielded)) &&
                   pto_type_dtype(pto_value_type(v)) == pto_type_dtype(pto_value_type(yielded))
               ? v
               : pto_value_none(loop.run);
}

/* Reads of a value, whose type has become another one, read a view of its old type, at `place`. */
static pto_status keep_reads(pto_value v, pto_type old, pto_place place)
{
    const pto_value view = view_of(v, old, pto_value_name(v), place);
    PTO_NEED(view);
    uint32_t i = 0;
    for (pto_use use = pto_use_at(v, i); PTO_SOME(use.op); use = pto_use_at(v, i)) {
        if (pto_op_same(use.op, pto_value_op(view)))
            i++;
        else
            PTO_TRY(pto_op_set_operand(use.op, use.slot, view));
    }
    i = 0;
    for (pto_use use = pto_use_at(view, i); PTO_SOME(use.op); use = pto_use_at(view, i)) {
        if (!PTO_IS(use.op, VIEW) || !pto_type_same(pto_value_type(pto_op_result(use.op, 0)), pto_value_type(v))) {
            i++;
            continue;
        }
        PTO_TRY(pto_value_replace(pto_op_result(use.op, 0), v));
        PTO_TRY(pto_op_erase(use.op));
    }
    return pto_value_use_count(view) == 0 ? pto_op_erase(pto_value_op(view)) : PTO_OK;
}

static pto_status retype(pto_op loop, uint32_t i, pto_value made)
{
    const pto_op yield = pto_block_terminator(pto_body(loop));
    const pto_value begin = pto_op_operand(loop, i), arg = pto_block_arg(pto_body(loop), i + 1);
    const pto_value result = pto_op_result(loop, i);
    const pto_type old = pto_value_type(begin), type = pto_value_type(made);
    const pto_value seen = view_of(begin, type, pto_value_name(begin), pto_before(loop));
    PTO_NEED(seen);
    PTO_TRY(pto_op_set_operand(loop, i, seen));
    PTO_TRY(pto_op_set_operand(yield, i, made));
    PTO_TRY(pto_value_set_type(arg, type));
    PTO_TRY(pto_value_set_type(result, type));
    PTO_TRY(keep_reads(arg, old, pto_before(pto_block_first(pto_body(loop)))));
    return keep_reads(result, old, pto_after(loop));
}

/* Views that nothing reads go, and those of tensors of outside are made there. */
static pto_status settle_views(pto_op loop)
{
    int has_bind = 0;
    PTO_EACH_OP(pto_body(loop), op) has_bind |= PTO_IS(op, BIND); /* an extent of a view may be one of an iteration */
    PTO_EACH_OP(pto_body(loop), view) {
        if (!PTO_IS(view, VIEW)) continue;
        const pto_value of = pto_op_operand(view, 0);
        const pto_op def = pto_value_op(of), owner = PTO_SOME(def) ? def : pto_block_parent(pto_value_block(of));
        if (pto_value_use_count(pto_op_result(view, 0)) == 0)
            PTO_TRY(pto_op_erase(view));
        else if (!has_bind && !sink_is_inside(owner, loop))
            PTO_TRY(pto_op_move(view, pto_before(loop)));
    }
    return PTO_OK;
}

pto_status sink_retype(pto_op loop)
{
    const pto_op yield = pto_block_terminator(pto_body(loop));
    for (uint32_t i = 0; i < pto_op_result_count(loop); i++) {
        const pto_value yielded = pto_op_operand(yield, i);
        if (pto_type_kind_of(pto_value_type(yielded)) != PTO_TYPE_TENSOR) continue;
        const pto_value made = made_as(loop, yielded);
        if (PTO_SOME(made)) PTO_TRY(retype(loop, i, made));
    }
    return settle_views(loop);
}
