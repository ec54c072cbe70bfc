/* Outputs that native code never writes: what an output holds before is told from what a call computes. */
#ifndef NATIVE_OUTPUTS_H
#define NATIVE_OUTPUTS_H

#include <pto/bind.h>

/* A call, and what executes it once more, with the same tensors: no report, counter or debug op shows it. */
typedef struct native_outputs {
    const pto_call *call;
    const pto_binding *bindings;
    int32_t (*again)(void *self); /* returns a fault, or 0 */
    void *self;
    uint64_t copies_bytes_max; /* of tensors, while it is executed again */
} native_outputs;

/* Before a call: fills the memory of its results and of the parameters that are `out` alone, unless other memory of the
 * call is in it, with bits that hardly anything computes. */
void native_outputs_fill(const native_outputs *o);
/* After it: fails where elements were never written. Of floats and bool each one is found; an integer may have come to
 * the bits before by itself, so of these only more than chance explains, which of n elements of b bits is n / 2^b. */
pto_status native_outputs_check(const native_outputs *o);

#endif
