/* Moves every op in front of what it uses: values are used before they are defined. */
#include "liar.h"

static pto_status run(const pto_run *run, pto_op unit)
{
    (void)run;
    const pto_block body = pto_body(unit);
    pto_op last = pto_op_prev(pto_block_last(body));
    return PTO_SOME(last) ? pto_op_move(last, pto_before(pto_block_first(body))) : PTO_OK;
}

LIAR("test.liar-breaks-order");
