/* plugins/shared/native/native_pool.h: every instance once, whatever the threads do. */
#include "tests/unit/plugins/native_fixture.h"

#include <native_pool.h>

#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <time.h>

/* Sanitizers need addresses themselves. */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
enum { IS_SANITIZED = 1 };
#elif !defined __has_feature
enum { IS_SANITIZED = 0 };
#elif __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
enum { IS_SANITIZED = 1 };
#else
enum { IS_SANITIZED = 0 };
#endif

enum { INSTANCES_MAX = 5000 };

typedef struct frame {
    int64_t instances;
    uint32_t threads;
    _Atomic uint32_t bad;
    _Atomic uint32_t busy[NATIVE_THREADS_MAX]; /* by thread */
    uint32_t runs[INSTANCES_MAX];              /* plain: each is written by one thread, and read after the launch */
} frame;

static void count(void *self, int64_t from, int64_t to, uint32_t thread)
{
    frame *f = self;
    if (thread >= f->threads || from < 0 || from >= to || to > f->instances) {
        f->bad++;
        return;
    }
    if (atomic_fetch_add(&f->busy[thread], 1) != 0) f->bad++;
    for (int64_t i = from; i < to; i++) f->runs[i]++;
    atomic_fetch_sub(&f->busy[thread], 1);
}

static native_pool *pool_of(uint32_t threads, uint64_t spin_ns)
{
    native_thread_plan plan;
    native_pool *pool = NULL;
    native_error e;
    assert_int_equal(native_threads_plan(threads, &plan, &e), NATIVE_OK);
    assert_int_equal(native_pool_begin(&plan, spin_ns, &pool, &e), NATIVE_OK);
    assert_non_null(pool);
    assert_int_equal(native_pool_threads(pool), threads);
    return pool;
}

static void assert_all_once(native_pool *pool, int64_t instances)
{
    static frame f;
    memset(&f, 0, sizeof f);
    f.instances = instances;
    f.threads = native_pool_threads(pool);
    native_pool_run(pool, instances, count, &f);
    assert_int_equal(f.bad, 0);
    for (int64_t i = 0; i < INSTANCES_MAX; i++) assert_int_equal(f.runs[i], i < instances);
}

TEST(every_instance_runs_once)
{
    static const uint32_t threads[] = {1, 2, 3, 7};
    static const int64_t instances[] = {0, 1, 2, 3, 6, 7, 8, 31, 33, 100, 1023, 4999};
    for (size_t t = 0; t < sizeof threads / sizeof threads[0]; t++) {
        for (uint64_t spin_ns = 0; spin_ns <= NATIVE_POOL_SPIN_NS; spin_ns += NATIVE_POOL_SPIN_NS) {
            native_pool *pool = pool_of(threads[t], spin_ns);
            for (size_t i = 0; i < sizeof instances / sizeof instances[0]; i++) assert_all_once(pool, instances[i]);
            native_pool_end(pool);
        }
    }
}

TEST(thousands_of_launches_with_threads_that_sleep_in_between)
{
    static const uint64_t spins_ns[] = {0, 1000, 20000};
    for (size_t s = 0; s < sizeof spins_ns / sizeof spins_ns[0]; s++) {
        native_pool *pool = pool_of(3, spins_ns[s]);
        static frame f;
        memset(&f, 0, sizeof f);
        f.threads = 3;
        for (uint32_t i = 0; i < 4000; i++) {
            f.instances = 1 + i % 40;
            native_pool_run(pool, f.instances, count, &f);
            const struct timespec moment = {.tv_nsec = i % 7 * 3000};
            if (i % 50 == 0) nanosleep(&moment, NULL);
        }
        assert_int_equal(f.bad, 0);
        assert_int_equal(f.runs[0], 4000);
        assert_int_equal(f.runs[39], 100);
        native_pool_end(pool);
    }
}

typedef struct uneven {
    _Atomic int64_t done;
    _Atomic uint32_t threads_seen;
} uneven;

static void wait_in_the_first(void *self, int64_t from, int64_t to, uint32_t thread)
{
    uneven *u = self;
    u->threads_seen |= 1u << thread;
    const struct timespec moment = {.tv_nsec = 1000000};
    /* The first ends when all others have: only others can run what is left of its thread's part. */
    for (int i = 0; from == 0 && u->done < 64 - to && i < 20000; i++) nanosleep(&moment, NULL);
    u->done += to - from;
}

TEST(what_is_left_of_a_slow_thread_is_taken_by_others)
{
    native_pool *pool = pool_of(2, NATIVE_POOL_SPIN_NS);
    uneven u = {.done = 0};
    native_pool_run(pool, 64, wait_in_the_first, &u);
    assert_int_equal(u.done, 64);
    assert_int_equal(u.threads_seen, 3);
    native_pool_end(pool);
}

static void mask_of_thread(void *self, int64_t from, int64_t to, uint32_t thread)
{
    (void)from;
    (void)to;
    sigset_t *masks = self;
    pthread_sigmask(SIG_SETMASK, NULL, &masks[thread]);
    const struct timespec moment = {.tv_nsec = 2000000};
    nanosleep(&moment, NULL); /* so that the other thread comes to its own */
}

TEST(threads_take_no_signals_and_the_mask_of_the_caller_stays)
{
    sigset_t before, after, masks[2];
    pthread_sigmask(SIG_SETMASK, NULL, &before);
    sigemptyset(&masks[1]);
    native_pool *pool = pool_of(2, NATIVE_POOL_SPIN_NS);
    for (int i = 0; i < 100 && sigismember(&masks[1], SIGTERM) == 0; i++)
        native_pool_run(pool, 2, mask_of_thread, masks);
    native_pool_end(pool);
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    assert_int_equal(sigismember(&masks[1], SIGTERM), 1);
    assert_int_equal(sigismember(&masks[1], SIGINT), 1);
    for (int i = 1; i < NSIG; i++) assert_int_equal(sigismember(&before, i), sigismember(&after, i));
}

/* The system counts a thread for a moment longer than it runs. */
static void assert_threads(int count)
{
    const struct timespec moment = {.tv_nsec = 1000000};
    for (int i = 0; i < 2000 && entry_count("/proc/self/task") != count; i++) nanosleep(&moment, NULL);
    assert_int_equal(entry_count("/proc/self/task"), count);
}

TEST(no_thread_is_left)
{
    const int before = entry_count("/proc/self/task");
    for (int i = 0; i < 20; i++) native_pool_end(pool_of(4, NATIVE_POOL_SPIN_NS));
    native_pool_end(NULL);
    assert_threads(before);
}

static rlim_t addresses_in_use(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    char text[64];
    assert_non_null(fgets(text, sizeof text, file));
    pages = strtoul(text, NULL, 10);
    fclose(file);
    return (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

TEST(a_thread_that_cannot_be_started)
{
    if (IS_SANITIZED) skip(); /* they reserve more addresses than any limit leaves */
    /* More than the C library has of stacks of earlier threads, and than the limit leaves. */
    enum { THREADS = 200, LEFT_BYTES = 16 * NATIVE_POOL_STACK_BYTES };
    native_thread_plan plan;
    native_fixture f = {.folder = ""};
    native_pool *pool = NULL;
    struct rlimit before;
    assert_int_equal(native_threads_plan(THREADS, &plan, &f.e), NATIVE_OK);
    assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
    const struct rlimit small = {addresses_in_use() + LEFT_BYTES, before.rlim_max};
    const struct rlimit none = {1, before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_AS, &small), 0);
    const native_status status = native_pool_begin(&plan, 0, &pool, &f.e);
    assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
    assert_int_equal(status, NATIVE_NO_THREAD);
    assert_null(pool);
    assert_says(&f, "thread ");
    assert_says(&f, " of 200 cannot be started: ");
    assert_threads(1);
    assert_int_equal(setrlimit(RLIMIT_AS, &none), 0);
    const native_status of_nothing = native_pool_begin(&plan, 0, &pool, &f.e);
    assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
    assert_int_equal(of_nothing, NATIVE_NO_MEMORY);
    assert_string_equal(f.e.text, "a pool of threads cannot be had: Cannot allocate memory");
    assert_null(pool);
}
