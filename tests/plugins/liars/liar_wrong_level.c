/* Says tensor/1 and makes an op of tile/1. */
#include "liar.h"

static pto_status run(const pto_run *run, pto_op unit)
{
    pto_spec s = pto_spec_make(run, pto_kind_by_name(run, PTO_STR("tile.load")));
    pto_spec_operand(&s, pto_block_arg(pto_body(unit), 0));
    pto_spec_result(&s,
                    pto_type_tile(run, PTO_F32, 8, 8, pto_space_of_role(run, PTO_ROLE_SCRATCHPAD), PTO_LAYOUT_NONE));
    PTO_NEED(pto_spec_build(&s, pto_at_start(pto_body(unit))));
    return PTO_OK;
}

LIAR("test.liar-wrong-level");
