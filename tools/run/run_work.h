/* How much a call has to do: bytes of global memory and operations on elements, of each kernel and of all.
 *
 * Counted from the module by walking the launches of the function and the loops of their kernels, with what the call
 * binds: no backend is asked. Bytes are those that tiles load and store, of each array at most all of it once in a
 * launch, since caches keep what is read again. An operation is one result of arithmetic on an element, whatever it
 * takes; a product and its sum are two; copies, casts, transposes and sorts are none. */
#ifndef TOOLS_RUN_RUN_WORK_H
#define TOOLS_RUN_RUN_WORK_H

#include "tools/run/call_binding.h"

typedef struct kernel_work {
    op_id kernel;
    uint64_t launches;
    double bytes_read, bytes_written; /* over all launches */
    double ops, products;             /* products: the part of `ops` that matrix products make */
    dtype product_type;               /* of the operands of most of them */
} kernel_work;

typedef struct run_work {
    bool is_known;   /* false: what runs depends on data, or there is too much to count; the rest is empty */
    kernel_work all; /* kernel 0 */
    kernel_work *kernels;
    uint32_t kernel_count;
} run_work;

/* Memory comes from `a`. */
void run_work_count(arena *a, const module *m, const bound_call *call, run_work *out);

#endif
