/* Keeps a handle from one run to the next. */
#include "liar.h"

static pto_op kept;

static pto_status run(const pto_run *run, pto_op unit)
{
    (void)run;
    if (PTO_SOME(kept) && pto_op_kind(kept) == 0) return PTO_OK;
    kept = unit;
    return PTO_OK;
}

LIAR("test.liar-keeps-handle");
