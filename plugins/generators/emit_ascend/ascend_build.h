/* How the model of kernels is made, one after the other, op by op. */
#ifndef ASCEND_BUILD_H
#define ASCEND_BUILD_H

#include "ascend_model.h"

typedef struct ascend_builder {
    const ascend_module *m;
    ascend_kernel *kernel;
    ascend_node **end;   /* where the next node goes */
    ascend_tile **tiles; /* of all kernels so far, by the index of the value's handle */
    uint32_t tile_capacity;
} ascend_builder;

/* A node at the end of the block that is made. */
ascend_node *ascend_node_add(ascend_builder *b, uint32_t kind, pto_op op);
/* What an op inside of a kernel becomes. PTO_FAILED after a diagnostic. */
pto_status ascend_add_op(ascend_builder *b, pto_op op);
pto_status ascend_add_tile(ascend_builder *b, pto_op op);
pto_status ascend_add_insn(ascend_builder *b, pto_op op);

#endif
