/* Reads an option that it does not declare. */
#include "liar.h"

static pto_status run(const pto_run *run, pto_op unit)
{
    (void)unit;
    return pto_opt_i64(run, 3) == 0 ? PTO_OK : PTO_FAILED;
}

LIAR("test.liar-reads-option");
