/* Windows of global memory that instances of one launch touch. Instances are independent, so two of them may not touch
 * a byte that one of them writes.
 *
 * Windows are found by the pages of 4 KiB that they have a byte in. */
#ifndef PTO_CPU_SIM_CLAIMS_H
#define PTO_CPU_SIM_CLAIMS_H

#include "cpu-sim/happens_before.h"

enum { CLAIM_PAGES_MAX = 1 << 22 };

typedef struct claim {
    window_access window;
    int64_t instance;
    const program_site *site;
    uint32_t pipe, compared; /* compared: number of the last window it was compared with */
} claim;

typedef struct claim_page {
    int64_t page;
    uint32_t root, claim, next; /* next: index + 1; 0: end */
} claim_page;

typedef struct claim_table {
    const pto_run *run;
    claim *claims;
    uint32_t claim_count, claim_capacity;
    claim_page *pages;
    uint32_t page_count, page_capacity;
    uint32_t *heads; /* index + 1 in pages */
    uint32_t head_count;
    uint64_t left_out; /* windows that found no more space */
} claim_table;

/* An empty table, whose memory is scratch of the run. */
void claims_init(const pto_run *run, claim_table *t);
/* Forgets all windows; keeps the memory. */
void claims_clear(claim_table *t);
/* Enters a window. False: another instance has a conflicting one. */
bool claims_add(claim_table *t, const claim *c, race *out, int64_t *out_other_instance);

#endif
