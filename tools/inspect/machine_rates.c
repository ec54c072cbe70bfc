#include "tools/inspect/machine_rates.h"

#include <native_flags.h>
#include <native_peak.h>

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { RUNS = 12 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Zeros, from the system: arenas would keep them. NULL when there are none. */
static void *take_pages(size_t n)
{
    void *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return p != MAP_FAILED ? p : NULL;
}

static void give_pages(void *p, size_t n)
{
    if (p != NULL) munmap(p, n);
}

#if defined(__x86_64__)

/* Eight products that wait for each other, three cycles each: of additions some processors do several in a cycle. */
enum { CYCLES_OF_ROUND = 8 * 3 };
static void count_cycles(uint64_t rounds)
{
    uint32_t x = 3;
    for (uint64_t i = 0; i < rounds; i++)
        __asm__ volatile("imul %0, %0\n imul %0, %0\n imul %0, %0\n imul %0, %0\n"
                         "imul %0, %0\n imul %0, %0\n imul %0, %0\n imul %0, %0\n"
                         : "+r"(x));
}

#define READ_LOOP(move, r, step, bytes, end)                                                                       \
    __asm__ volatile("1:\n" move " (%0), %%" r "0\n" move " " step "(%0), %%" r "1\n" move " 2*" step "(%0), %%" r \
                     "2\n" move " 3*" step "(%0), %%" r "3\n add $" bytes ", %0\n cmp %1, %0\n jb 1b\n" end        \
                     : "+r"(p)                                                                                     \
                     : "r"(last)                                                                                   \
                     : "xmm0", "xmm1", "xmm2", "xmm3", "cc", "memory")

/* Reads n bytes, a multiple of 256, by vectors. */
static void read_all(int vector_bytes, const char *p, size_t n)
{
    const char *last = p + n;
    if (vector_bytes == 64)
        READ_LOOP("vmovups", "zmm", "64", "256", "vzeroupper\n");
    else if (vector_bytes == 32)
        READ_LOOP("vmovups", "ymm", "32", "128", "vzeroupper\n");
    else
        READ_LOOP("movups", "xmm", "16", "64", "");
}

#else

typedef float quad __attribute__((vector_size(16)));

/* Eight additions that wait for each other, a cycle each. */
enum { CYCLES_OF_ROUND = 8 };
static void count_cycles(uint64_t rounds)
{
    uint64_t x = 0;
    for (uint64_t i = 0; i < CYCLES_OF_ROUND * rounds; i++) {
        x += 1;
        __asm__ volatile("" : "+r"(x));
    }
}

static void read_all(int vector_bytes, const char *p, size_t n)
{
    (void)vector_bytes;
    quad sum = {0};
    for (size_t i = 0; i < n; i += sizeof sum) sum += *(const quad *)(const void *)(p + i);
    __asm__ volatile("" ::"r"(&sum) : "memory");
}

#endif

/* Cycles a second. */
static double measure_clock(void)
{
    enum { ROUNDS = 1 << 19 };
    double best = 0;
    for (int run = 0; run < RUNS; run++) {
        const double begin = now();
        count_cycles(ROUNDS);
        const double hz = (double)CYCLES_OF_ROUND * (double)ROUNDS / (now() - begin);
        if (hz > best) best = hz;
    }
    return best;
}

/* Products a second; 0: the type has no instruction. */
static double measure_products(const char *type)
{
    enum { CALLS = 4 };
    native_peak peak;
    double best = 0;
    if (!native_peak_of(type, &peak)) return 0;
    for (int run = 0; run < RUNS; run++) {
        const double begin = now();
        for (int i = 0; i < CALLS; i++) peak.run();
        const double rate = (double)CALLS * peak.products / (now() - begin);
        if (rate > best) best = rate;
    }
    return best;
}

/* Bytes a second that one core reads of `n` bytes, again and again. */
static double measure_reads(int vector_bytes, size_t n)
{
    enum { TOTAL = 64 << 20 };
    char *buffer = take_pages(n);
    const size_t part = n & ~(size_t)255, times = part > 0 ? TOTAL / part + 1 : 0;
    double best = 0;
    if (buffer == NULL) return 0;
    memset(buffer, 0, n);
    for (int run = 0; run < RUNS && times > 0; run++) {
        const double begin = now();
        for (size_t i = 0; i < times; i++) read_all(vector_bytes, buffer, part);
        const double rate = (double)part * (double)times / (now() - begin);
        if (rate > best) best = rate;
    }
    give_pages(buffer, n);
    return best;
}

enum { COPY_BYTES = 64 << 20 };
static const double copy_seconds = 0.08;

typedef struct copier {
    pthread_t thread;
    size_t bytes;
    char *from, *to; /* of the first trial, whose thread touches them first */
    double rate;     /* bytes a second copied; 0 without memory */
} copier;

static void drop_pages(copier *c)
{
    give_pages(c->from, c->bytes);
    give_pages(c->to, c->bytes);
    c->from = c->to = NULL;
}

/* To make pages takes longer than to copy them: they are kept for all trials. */
static bool has_pages(copier *c)
{
    if (c->from != NULL && c->to != NULL) return true;
    c->from = take_pages(c->bytes);
    c->to = take_pages(c->bytes);
    if (c->from == NULL || c->to == NULL) {
        drop_pages(c);
        return false;
    }
    memset(c->from, 1, c->bytes);
    memset(c->to, 2, c->bytes);
    return true;
}

static void *copy_bytes(void *argument)
{
    copier *c = argument;
    c->rate = 0;
    if (!has_pages(c)) return NULL;
    const double begin = now();
    double copied = 0, seconds;
    do {
        memcpy(c->to, c->from, c->bytes);
        __asm__ volatile("" ::"r"(c->to) : "memory");
        copied += (double)c->bytes;
        seconds = now() - begin;
    } while (seconds < copy_seconds);
    c->rate = copied / seconds;
    return NULL;
}

/* Of all threads at once: the sum of their rates. 0 when a thread cannot be started. */
static double measure_copies(copier *copiers, int threads)
{
    int started = 1;
    double sum = 0;
    while (started < threads && pthread_create(&copiers[started].thread, NULL, copy_bytes, &copiers[started]) == 0)
        started++;
    copy_bytes(&copiers[0]);
    for (int i = 1; i < started; i++) pthread_join(copiers[i].thread, NULL);
    for (int i = 0; i < started; i++) sum += copiers[i].rate;
    return started == threads ? sum : 0;
}

/* The best of a few. */
static double measure_best_copies(int threads)
{
    enum { TRIALS = 4 };
    copier *copiers = take_pages((size_t)threads * sizeof *copiers);
    if (copiers == NULL) return 0;
    /* 1 GiB at most for all of them. */
    const size_t most = ((size_t)1 << 29) / (size_t)threads, bytes = most < COPY_BYTES ? most : COPY_BYTES;
    double best = 0;
    for (int i = 0; i < threads; i++) copiers[i].bytes = bytes;
    for (int i = 0; i < TRIALS; i++) {
        const double rate = measure_copies(copiers, threads);
        if (rate > best) best = rate;
    }
    for (int i = 0; i < threads; i++) drop_pages(&copiers[i]);
    give_pages(copiers, (size_t)threads * sizeof *copiers);
    return best;
}

void machine_measure(int64_t l1_bytes, int64_t l2_bytes, int threads, machine_rates *out)
{
    const int vector_bytes = (int)native_host_vector_bytes();
    const double hz = measure_clock();
    out->hz = hz;
    out->f32_products = measure_products("f32") / hz;
    out->bf16_products = measure_products("bf16") / hz;
    out->i8_products = measure_products("i8") / hz;
    out->l1_bytes = measure_reads(vector_bytes, (size_t)l1_bytes / 2) / hz;
    out->l2_bytes = measure_reads(vector_bytes, (size_t)l2_bytes / 2) / hz;
    out->copy_bytes = measure_best_copies(1) / hz;
    out->all_copy_bytes = threads > 1 ? measure_best_copies(threads) / hz : out->copy_bytes;
}
