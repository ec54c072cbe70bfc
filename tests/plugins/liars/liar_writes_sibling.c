/* Removes an op of every function but the one it was given. */
#include "liar.h"

static pto_status run(const pto_run *run, pto_op unit)
{
    PTO_EACH_OP(pto_module_top(run), other) {
        if (pto_op_same(other, unit)) continue;
        pto_op first = pto_block_first(pto_body(other));
        PTO_TRY(pto_op_replace_by(first, pto_op_operand(first, 0)));
    }
    return PTO_OK;
}

LIAR("test.liar-writes-sibling");
