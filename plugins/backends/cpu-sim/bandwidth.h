/* Global memory bandwidth, divided among the transfers that run: each gets an equal share, but no more than its path
 * can take; what is left over goes to the others. Shares change when a transfer begins or ends.
 *
 * Times are whole cycles: a transfer ends with the cycle in which its last byte moves. */
#ifndef PTO_CPU_SIM_BANDWIDTH_H
#define PTO_CPU_SIM_BANDWIDTH_H

#include <pto/call.h>

#include <stdbool.h>
#include <stdint.h>

enum { BANDWIDTH_CLASSES_MAX = 16 };

typedef struct transfer {
    double end; /* when the class has served so many bytes to each of its transfers */
    uint32_t actor;
} transfer;

/* Transfers over paths of equal speed; they always have equal shares. */
typedef struct bandwidth_class {
    double limit, rate; /* bytes per cycle of one transfer */
    double served;      /* bytes, to each transfer that is there since `served` was 0 */
    transfer *heap;
    uint32_t count;
} bandwidth_class;

typedef struct bandwidth {
    double total; /* bytes per cycle; 0: no limit */
    int64_t now;
    bandwidth_class classes[BANDWIDTH_CLASSES_MAX]; /* by limit, ascending */
    uint32_t class_count;
} bandwidth;

/* No transfers, no classes. `total`: bytes per cycle that all share; 0: no limit. */
void bandwidth_init(bandwidth *b, double total);
/* Before the first transfer. False: too many. */
bool bandwidth_add_class(const pto_run *run, bandwidth *b, double limit, uint32_t actors);
/* A transfer of `actor` over a path of that class begins now. */
void bandwidth_begin(bandwidth *b, int64_t now, double limit, double bytes, uint32_t actor);
/* When bandwidth_end will have something; -1: no transfer runs. */
int64_t bandwidth_next(const bandwidth *b);
/* Takes one transfer that has ended by now; false when there is none. */
bool bandwidth_end(bandwidth *b, int64_t now, uint32_t *out_actor);
/* Cycles that a transfer takes when nothing else uses the memory. */
int64_t bandwidth_alone(double limit, double bytes);

#endif
