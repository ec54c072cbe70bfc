#include "native_pool.h"

#include "native_clock.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Where a thread of the pool is. The launching thread opens and withdraws, the thread itself does the rest:
 *
 *   IDLE -> OPEN -> RUNNING -> IDLE       IDLE -> SLEEPING -> OPEN       OPEN -> IDLE (withdrawn)
 *   RUNNING -> AWAITED -> IDLE            (the launch sleeps until it is done) */
enum { IDLE, OPEN, RUNNING, AWAITED, SLEEPING, ENDING };

/* Pieces that a thread's part begins with: an uneven instance costs at most about one of them. */
enum { PIECES_PER_THREAD = 16 };

/* Two adjacent lines: prefetchers fetch pairs. */
enum { LINES_BYTES = 128 };

/* What a launch hands to a thread, on one line of the cache: one transfer there, one back. */
typedef struct pool_slot {
    alignas(LINES_BYTES) _Atomic uint32_t state;
    uint32_t number;
    /* Pieces that are left of its part: the first in the upper half, the end in the lower one. */
    _Atomic uint64_t part;
    native_work work;
    void *frame;
    int64_t instances;
    uint32_t pieces;
    uint32_t slots; /* that take part in the launch */
    struct native_pool *pool;
    pthread_t thread;
    int32_t cpu; /* on which it stays; -1: any */
} pool_slot;

struct native_pool {
    uint32_t threads;
    int32_t free_cpu; /* none of the pool is there: for the one that launches */
    uint64_t spin_ns;
    size_t bytes;      /* of this memory */
    pool_slot slots[]; /* [0]: the one that launches */
};

/* ---- waiting ---- */

static inline void pause_briefly(void)
{
#if defined __x86_64__
    __builtin_ia32_pause();
#elif defined __aarch64__
    __asm__ volatile("yield" ::: "memory");
#else
    atomic_signal_fence(memory_order_seq_cst);
#endif
}

static void sleep_while(_Atomic uint32_t *state, uint32_t value)
{
    syscall(SYS_futex, state, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

static void wake(_Atomic uint32_t *state) { syscall(SYS_futex, state, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0); }

/* Whether `state` became another value than `value` before the time was up. The clock is asked now and then. */
static bool spin_while(_Atomic uint32_t *state, uint32_t value, uint64_t spin_ns)
{
    enum { LOOKS = 64 };
    for (uint64_t end = 0;;) {
        for (int i = 0; i < LOOKS; i++) {
            if (atomic_load_explicit(state, memory_order_acquire) != value) return true;
            pause_briefly();
        }
        const uint64_t now = native_now_ns();
        if (end == 0) end = now + spin_ns;
        if (now >= end) return false;
    }
}

/* ---- pieces ---- */

static uint64_t part_of(uint32_t first, uint32_t end) { return (uint64_t)first << 32 | end; }
static uint32_t first_of(uint64_t part) { return (uint32_t)(part >> 32); }
static uint32_t end_of(uint64_t part) { return (uint32_t)part; }

/* A part stands for the pieces that are still in it, and a piece that was taken comes back into none: an exchange that
 * finds the value it expects is right, whatever happened in between. */
static bool take_first(pool_slot *s, uint32_t *piece)
{
    uint64_t part = atomic_load_explicit(&s->part, memory_order_relaxed);
    while (first_of(part) < end_of(part)) {
        const uint64_t rest = part_of(first_of(part) + 1, end_of(part));
        if (!atomic_compare_exchange_weak_explicit(&s->part, &part, rest, memory_order_relaxed, memory_order_relaxed))
            continue;
        *piece = first_of(part);
        return true;
    }
    return false;
}

/* Moves half of what another has, rounded up, into `s`, which has nothing. */
static bool steal(pool_slot *s, pool_slot *from)
{
    uint64_t part = atomic_load_explicit(&from->part, memory_order_relaxed);
    while (first_of(part) < end_of(part)) {
        const uint32_t middle = first_of(part) + (end_of(part) - first_of(part)) / 2;
        const uint64_t rest = part_of(first_of(part), middle);
        if (!atomic_compare_exchange_weak_explicit(&from->part, &part, rest, memory_order_relaxed,
                                                   memory_order_relaxed))
            continue;
        atomic_store_explicit(&s->part, part_of(middle, end_of(part)), memory_order_relaxed);
        return true;
    }
    return false;
}

/* instances * piece / pieces, without overflow. */
static int64_t begin_of(const pool_slot *s, uint32_t piece)
{
    const int64_t each = s->instances / s->pieces, rest = s->instances % s->pieces;
    return each * piece + (rest < piece ? rest : piece);
}

/* All that is left anywhere: its own part, then what others have. With a piece for each, only the thread that launches
 * looks at others, of which some may not begin: looking moves lines between CPUs, which is all that a launch costs. */
static void work_off(pool_slot *s)
{
    pool_slot *slots = s->pool->slots;
    const native_work work = s->work;
    const uint32_t count = s->pieces > s->slots || s->number == 0 ? s->slots : 1;
    for (;;) {
        uint32_t piece = 0;
        while (take_first(s, &piece)) work(s->frame, begin_of(s, piece), begin_of(s, piece + 1), s->number);
        bool found = false;
        for (uint32_t i = 1; i < count && !found; i++) {
            const uint32_t other = s->number + i;
            found = steal(s, &slots[other < count ? other : other - count]);
        }
        if (!found) return;
    }
}

/* ---- a thread of the pool ---- */

static void serve(pool_slot *s)
{
    work_off(s);
    /* Releases what the work wrote to the launch. */
    if (atomic_exchange_explicit(&s->state, IDLE, memory_order_acq_rel) == AWAITED) wake(&s->state);
}

static void *thread_main(void *self)
{
    pool_slot *s = self;
    for (;;) {
        uint32_t state = atomic_load_explicit(&s->state, memory_order_acquire);
        if (state == OPEN) {
            if (atomic_compare_exchange_strong_explicit(&s->state, &state, RUNNING, memory_order_acquire,
                                                        memory_order_relaxed))
                serve(s);
        } else if (state == ENDING) {
            return NULL;
        } else if (state == SLEEPING) {
            sleep_while(&s->state, SLEEPING);
        } else if (!spin_while(&s->state, IDLE, s->pool->spin_ns)) {
            state = IDLE;
            atomic_compare_exchange_strong_explicit(&s->state, &state, SLEEPING, memory_order_relaxed,
                                                    memory_order_relaxed);
        }
    }
}

/* ---- a launch ---- */

/* The thread that launches moves as the system likes. Where it runs on the CPU of one of ours, both would have half of
 * it while another is free: ours goes there. */
static void make_way(native_pool *pool)
{
    const int cpu = sched_getcpu();
    if (cpu < 0 || cpu == pool->free_cpu || pool->free_cpu < 0) return;
    for (uint32_t i = 1; i < pool->threads; i++) {
        pool_slot *s = &pool->slots[i];
        if (s->cpu != cpu) continue;
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET((size_t)pool->free_cpu, &set);
        if (pthread_setaffinity_np(s->thread, sizeof set, &set) == 0) s->cpu = pool->free_cpu;
        break;
    }
    pool->free_cpu = cpu;
}

static void fill(pool_slot *s, const pool_slot *job, uint32_t first, uint32_t end)
{
    s->work = job->work;
    s->frame = job->frame;
    s->instances = job->instances;
    s->pieces = job->pieces;
    s->slots = job->slots;
    atomic_store_explicit(&s->part, part_of(first, end), memory_order_relaxed);
}

/* Opens a slot, whose thread neither runs nor is open. */
static void open_slot(pool_slot *s)
{
    if (atomic_exchange_explicit(&s->state, OPEN, memory_order_acq_rel) == SLEEPING) wake(&s->state);
}

/* Withdraws the work from a thread that has not begun, or waits until it is done. */
static void close_slot(pool_slot *s, uint64_t spin_ns)
{
    uint32_t state = atomic_load_explicit(&s->state, memory_order_acquire);
    if (state == OPEN &&
        atomic_compare_exchange_strong_explicit(&s->state, &state, IDLE, memory_order_acquire, memory_order_acquire))
        return;
    if (state == RUNNING && !spin_while(&s->state, RUNNING, spin_ns)) {
        state = RUNNING;
        if (atomic_compare_exchange_strong_explicit(&s->state, &state, AWAITED, memory_order_relaxed,
                                                    memory_order_relaxed)) {
            while (atomic_load_explicit(&s->state, memory_order_acquire) == AWAITED) sleep_while(&s->state, AWAITED);
        }
    }
    /* Pairs with the exchange that ended its work. */
    (void)atomic_load_explicit(&s->state, memory_order_acquire);
}

void native_pool_run(native_pool *pool, int64_t instances, native_work work, void *frame)
{
    if (instances <= 0) return;
    const uint32_t slots = instances < pool->threads ? (uint32_t)instances : pool->threads;
    if (slots == 1) {
        work(frame, 0, instances, 0);
        return;
    }
    make_way(pool);
    const int64_t pieces_max = (int64_t)slots * PIECES_PER_THREAD;
    const uint32_t pieces = instances < pieces_max ? (uint32_t)instances : (uint32_t)pieces_max;
    const pool_slot job = {.work = work, .frame = frame, .instances = instances, .pieces = pieces, .slots = slots};
    /* All parts stand before a thread runs that looks for one to take from. */
    for (uint32_t i = 0; i < slots; i++) fill(&pool->slots[i], &job, pieces * i / slots, pieces * (i + 1) / slots);
    for (uint32_t i = 1; i < slots; i++) open_slot(&pool->slots[i]);
    work_off(&pool->slots[0]);
    for (uint32_t i = 1; i < slots; i++) close_slot(&pool->slots[i], pool->spin_ns);
}

/* ---- its life ---- */

static int start_thread(pool_slot *s)
{
    pthread_attr_t attributes;
    int failed = pthread_attr_init(&attributes);
    if (failed != 0) return failed;
    failed = pthread_attr_setstacksize(&attributes, NATIVE_POOL_STACK_BYTES);
    if (failed == 0 && s->cpu >= 0) {
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET((size_t)s->cpu, &set);
        failed = pthread_attr_setaffinity_np(&attributes, sizeof set, &set);
    }
    /* It takes no signals: a thread begins with the mask of the one that starts it. The attribute for it is heeded by
     * the C library, and not by sanitizers, which start threads in its place. */
    sigset_t all, before;
    sigfillset(&all);
    if (failed == 0) failed = pthread_sigmask(SIG_SETMASK, &all, &before);
    if (failed == 0) {
        failed = pthread_create(&s->thread, &attributes, thread_main, s);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    pthread_attr_destroy(&attributes);
    return failed;
}

/* One CPU each, and one that is free for the thread that launches: where that is now, if it can be. */
static void place_threads(native_pool *pool, const native_thread_plan *plan)
{
    const bool are_placed = plan->threads <= plan->cpu_count;
    const int here = sched_getcpu();
    uint32_t free_index = 0;
    for (uint32_t i = 0; i < plan->cpu_count; i++)
        if (plan->cpus[i] == here) free_index = i;
    for (uint32_t i = 0; i < plan->threads; i++)
        pool->slots[i].cpu = are_placed ? plan->cpus[(free_index + i) % plan->cpu_count] : -1;
    pool->free_cpu = pool->slots[0].cpu;
}

native_status native_pool_begin(const native_thread_plan *plan, uint64_t spin_ns, native_pool **pool, native_error *e)
{
    const size_t bytes = sizeof(native_pool) + plan->threads * sizeof(pool_slot);
    native_pool *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return native_fail(e, NATIVE_NO_MEMORY, "a pool of threads cannot be had: %s", native_errno_text(errno));
    p->bytes = bytes;
    p->spin_ns = plan->threads <= plan->cpu_count ? spin_ns : 0;
    place_threads(p, plan);
    for (p->threads = 0; p->threads < plan->threads; p->threads++) {
        pool_slot *s = &p->slots[p->threads];
        s->number = p->threads;
        s->pool = p;
        const int failed = s->number > 0 ? start_thread(s) : 0;
        if (failed == 0) continue;
        const uint32_t number = s->number + 1;
        native_pool_end(p);
        return native_fail(e, NATIVE_NO_THREAD, "thread %" PRIu32 " of %" PRIu32 " cannot be started: %s", number,
                           plan->threads, native_errno_text(failed));
    }
    *pool = p;
    return NATIVE_OK;
}

void native_pool_end(native_pool *pool)
{
    if (pool == NULL) return;
    for (uint32_t i = 1; i < pool->threads; i++) {
        pool_slot *s = &pool->slots[i];
        if (atomic_exchange_explicit(&s->state, ENDING, memory_order_release) == SLEEPING) wake(&s->state);
    }
    for (uint32_t i = 1; i < pool->threads; i++) pthread_join(pool->slots[i].thread, NULL);
    munmap(pool, pool->bytes);
}

uint32_t native_pool_threads(const native_pool *pool) { return pool->threads; }
