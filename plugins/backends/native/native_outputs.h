/* Outputs that native code never writes: what an output holds before is told from what a call computes. */
#ifndef NATIVE_OUTPUTS_H
#define NATIVE_OUTPUTS_H

#include <pto/bind.h>

/* Before a call: fills the memory of its results and of the parameters that are `out` alone, unless other memory of the
 * call is in it, with bits that hardly anything computes. */
void native_outputs_fill(const pto_call *call, const pto_binding *bindings);
/* After it: fails where elements still hold them. Of floats and bool each one is found; an integer may have come to
 * such bits by itself, so of these only more than chance explains, which of n elements of b bits is n / 2^b. */
pto_status native_outputs_check(const pto_call *call, const pto_binding *bindings);

#endif
