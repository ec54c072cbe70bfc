/* Threads that wait for work, for the time of many calls.
 *
 * A launch runs `instances` calls of one function in pieces, each exactly once, on the thread that launches and those
 * of the pool: results may depend on the instance, never on the thread. Each thread begins with a part of its own,
 * takes one piece after the other from its front, and then takes half of what is left of others from their back. A
 * launch waits for no thread that has not begun: one that sleeps, or that other programs keep from running, costs
 * nothing but its help.
 *
 * The threads take no signal, open nothing and belong to the pool: they have ended when native_pool_end returns. */
#ifndef PTO_NATIVE_POOL_H
#define PTO_NATIVE_POOL_H

#include "native_error.h"
#include "native_threads.h"

#include <stdint.h>

/* Runs the instances from `from` up to but not `to`. `thread` is less than native_pool_threads and no other thread has
 * that number during the launch: it selects memory of the thread. */
typedef void (*native_work)(void *frame, int64_t from, int64_t to, uint32_t thread);

typedef struct native_pool native_pool;

enum { NATIVE_POOL_SPIN_NS = 50000, NATIVE_POOL_STACK_BYTES = 1024 * 1024 };

/* Starts plan->threads - 1 threads into `*pool`. When there are at most as many as CPUs, each stays on one of these,
 * and not on the one that launches; more of them share all. One without work looks for it for `spin_ns` and then
 * sleeps; where threads share CPUs, it sleeps at once. NATIVE_NO_THREAD: the system starts no more; none is left.
 * NATIVE_NO_MEMORY. The pool is of the thread that made it. */
native_status native_pool_begin(const native_thread_plan *plan, uint64_t spin_ns, native_pool **pool, native_error *e);
/* Ends the threads; NULL is none. */
void native_pool_end(native_pool *pool);
/* Of one that launches, too. */
uint32_t native_pool_threads(const native_pool *pool);

/* Runs all instances and returns when they are done; what they wrote is seen then. On the thread that made the pool,
 * and not inside of a work function. `frame` is theirs. It cannot fail; instances that do leave it in their frame. */
void native_pool_run(native_pool *pool, int64_t instances, native_work work, void *frame);

#endif
