/* Reads an op after erasing it. */
#include "liar.h"

static pto_status run(const pto_run *run, pto_op unit)
{
    (void)run;
    pto_op first = pto_block_first(pto_body(unit));
    PTO_TRY(pto_op_replace_by(first, pto_op_operand(first, 0)));
    return PTO_SOME(pto_op_next(first)) ? PTO_FAILED : PTO_OK;
}

LIAR("test.liar-uses-erased");
