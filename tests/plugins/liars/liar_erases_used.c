/* Erases an op whose result is used. */
#include "liar.h"

static pto_status run(const pto_run *run, pto_op unit)
{
    (void)run;
    return pto_op_erase(pto_block_first(pto_body(unit)));
}

LIAR("test.liar-erases-used");
