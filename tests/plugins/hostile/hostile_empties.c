/* Erases all that the module has, and builds a function where nothing says where it comes from. */
#include "hostile.h"

HOSTILE_WAY(and_builds)
{
    const pto_block top = pto_module_top(run);
    while (PTO_SOME(pto_block_first(top))) PTO_TRY(pto_op_erase(pto_block_first(top)));
    pto_spec s = pto_spec_make(run, pto_kind_by_name(run, PTO_STR("func")));
    pto_spec_str(&s, PTO_STR("name"), PTO_STR("fresh"));
    const pto_expr four = pto_expr_const(run, 4);
    const pto_type type = pto_type_tensor(run, PTO_F32, 1, &four);
    const pto_attr result = pto_attr_make_type(run, type);
    pto_spec_attr(&s, PTO_STR("results"), pto_attr_make_list(run, 1, &result));
    s.op.block_count = 1;
    const pto_op function = pto_spec_build(&s, pto_at_end(top));
    PTO_NEED(function);
    pto_spec end = pto_spec_make(run, pto_kind_by_name(run, PTO_STR("return")));
    pto_spec_operand(&end, pto_block_add_arg(pto_body(function), type, PTO_STR("x")));
    return PTO_SOME(pto_spec_build(&end, pto_at_end(pto_body(function)))) ? PTO_OK : PTO_FAILED;
}

#define WAYS(X) X(and_builds)
HOSTILE_AT("test.hostile-empties", WAYS, "module", "tensor/1", "tensor/1");
