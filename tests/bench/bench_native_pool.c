/* What a launch of plugins/shared/native/native_pool.h costs while its threads look for work. `empty`: instances that
 * do nothing, which the thread that launches runs alone when others are slower. `all threads`: one instance each that
 * ends when all have begun, so that every thread takes part. Threads that share their CPUs with other programs measure
 * those: what counts is the lower end. */
#include <native_pool.h>

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { LAUNCHES = 100000 };

typedef struct meeting {
    uint32_t threads;
    _Atomic uint32_t begun;
} meeting;

static void do_nothing(void *frame, int64_t from, int64_t to, uint32_t thread)
{
    (void)frame;
    (void)from;
    (void)to;
    (void)thread;
}

static void meet(void *frame, int64_t from, int64_t to, uint32_t thread)
{
    (void)from;
    (void)to;
    (void)thread;
    meeting *m = frame;
    atomic_fetch_add(&m->begun, 1);
    while (atomic_load_explicit(&m->begun, memory_order_acquire) < m->threads) continue;
}

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void measure(native_pool *pool, const char *what, int64_t instances, native_work work)
{
    static double times[LAUNCHES];
    uint32_t threads = native_pool_threads(pool);
    for (int i = 0; i < LAUNCHES; i++) {
        meeting m = {.threads = threads};
        const double began = now_ns();
        native_pool_run(pool, instances, work, &m);
        times[i] = now_ns() - began;
    }
    qsort(times, LAUNCHES, sizeof times[0], by_value);
    printf("%-11s %2u threads %4lld instances: least %5.0f ns, tenth %5.0f ns, quarter %5.0f ns, median %5.0f ns\n",
           what, threads, (long long)instances, times[LAUNCHES / 1000], times[LAUNCHES / 10], times[LAUNCHES / 4],
           times[LAUNCHES / 2]);
}

int main(int argc, char **argv)
{
    native_thread_plan plan;
    native_pool *pool = NULL;
    native_error e;
    const uint32_t threads = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 0;
    if (native_threads_plan(threads, &plan, &e) != NATIVE_OK ||
        native_pool_begin(&plan, NATIVE_POOL_SPIN_NS, &pool, &e) != NATIVE_OK) {
        fprintf(stderr, "%s\n", e.text);
        return 1;
    }
    printf("%u threads: %s\n", plan.threads, plan.reason);
    measure(pool, "empty", 1, do_nothing);
    measure(pool, "empty", 2, do_nothing);
    measure(pool, "empty", 256, do_nothing);
    if (plan.threads <= plan.cpu_count) measure(pool, "all threads", plan.threads, meet);
    native_pool_end(pool);
    return 0;
}
