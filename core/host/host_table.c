/* The host table: its rooms put together, and the equalities between <pto/insn.h> and ir/op_info.h. */
#include "core/host/host_handle.h"

#define SAME(a, b) _Static_assert((int)(a) == (int)(b), #a)
SAME(PTO_ITER_ELEMENTWISE, ITER_ELEMENTWISE);
SAME(PTO_ITER_REDUCE, ITER_REDUCE);
SAME(PTO_ITER_MATMUL, ITER_MATMUL);
SAME(PTO_ITER_TRANSPOSE, ITER_TRANSPOSE);
SAME(PTO_ITER_BROADCAST, ITER_BROADCAST);
SAME(PTO_ITER_RESHAPE, ITER_RESHAPE);
SAME(PTO_ITER_FILL, ITER_FILL);
SAME(PTO_TRAIT_PURE, TRAIT_PURE);
SAME(PTO_TRAIT_COMMUTATIVE, TRAIT_COMMUTATIVE);
SAME(PTO_TRAIT_TERMINATOR, TRAIT_TERMINATOR);
SAME(PTO_TRAIT_FUNCTION, TRAIT_FUNCTION);
SAME(PTO_TRAIT_LOOP, TRAIT_LOOP);
SAME(PTO_TRAIT_CONSTANT, TRAIT_CONSTANT);
SAME(PTO_TRAIT_DESCRIPTOR, TRAIT_DESCRIPTOR);
SAME(PTO_TRAIT_SYNC, TRAIT_SYNC);

void host_table_fill(pto_host *h, uint32_t abi_minor)
{
    *h = (pto_host){.struct_size = sizeof *h, .abi_minor = abi_minor};
    host_services_fill(h);
    host_ops_fill(h);
    host_changes_fill(h);
    host_values_fill(h);
    host_types_fill(h);
    host_attrs_fill(h);
    host_exprs_fill(h);
    h->greedy = host_greedy;
    h->tiling_choose = host_tiling_choose;
    h->decision_pinned = host_decision_pinned;
    h->decision_made = host_decision_made;

    /* Every slot is filled: plugins do not test them. */
    void (*slot)(void);
    for (size_t at = offsetof(pto_host, scratch); at < sizeof *h; at += sizeof slot) {
        __builtin_memcpy(&slot, (const char *)h + at, sizeof slot);
        BUG_IF(slot == NULL, "slot at byte %zu of the host table is empty", at);
    }
}
