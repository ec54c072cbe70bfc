/* Fails without a diagnostic. */
#include "liar.h"

static pto_status run(const pto_run *run, pto_op unit)
{
    (void)run;
    (void)unit;
    return PTO_FAILED;
}

LIAR("test.liar-silent");
