/* What this host can do at most, measured between the rows of `./dev bench native`: moving bytes, and multiplying and
 * adding in registers.
 *
 *     native_limits THREADS
 *
 * Prints `ready` and obeys lines of standard input. `stream READ WRITE`: the next calls read so many bytes of memory
 * and write so many, as a kernel must that reads and writes each of its elements once. `flops TYPE COUNT`: they do so
 * many operations on f32, bf16 or i8. Both answer `ready`. `time SECONDS` calls until so many have passed, and prints
 * nanoseconds of each call in one line. */
#include <native_peak.h>

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum { THREADS_MAX = 64, CALLS_MAX = 1 << 16, STREAMS_MAX = 4, LINE_BYTES = 64 };

typedef int64_t work(void *self, uint32_t thread); /* what it returns is not used, but must be computed */

typedef struct team {
    uint32_t threads;
    _Atomic uint32_t round, done;
    work *what;
    void *self;
    volatile int64_t sums[THREADS_MAX][8];
} team;

static team all;

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

/* ---- threads that wait in a loop while something is timed ---- */

static void stay_on(uint32_t number)
{
    cpu_set_t allowed, one;
    CPU_ZERO(&one);
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
    for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, &allowed) || number-- > 0) continue;
        CPU_SET(cpu, &one);
        sched_setaffinity(0, sizeof one, &one);
        return;
    }
}

static void *follow(void *number)
{
    const uint32_t thread = (uint32_t)(uintptr_t)number;
    stay_on(thread);
    for (uint32_t seen = 0;; seen++) {
        for (uint32_t spins = 0; atomic_load_explicit(&all.round, memory_order_acquire) == seen; spins++) {
            if (spins > 2000000) sched_yield();
            if (spins > 3000000) nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
        }
        all.sums[thread][0] = all.what(all.self, thread);
        atomic_fetch_add_explicit(&all.done, 1, memory_order_release);
    }
    return NULL;
}

static uint64_t lead(void)
{
    const uint64_t begin = now_ns();
    atomic_store(&all.done, 0);
    atomic_fetch_add_explicit(&all.round, 1, memory_order_release);
    all.sums[0][0] = all.what(all.self, 0);
    while (atomic_load_explicit(&all.done, memory_order_acquire) < all.threads - 1) continue;
    return now_ns() - begin;
}

/* ---- bytes ---- */

typedef struct stream {
    const char *from;
    char *to;
    size_t length; /* of one stream, in bytes */
    int streams;   /* that are read; 0: only written */
    bool writes, passes_caches;
    size_t ahead; /* bytes from what is read to what is asked for */
} stream;

/* All streams of a line of memory, joined so that nothing of it can be left out. */
#if defined(__x86_64__)
#define MOVES_WIDE __attribute__((target("avx2")))
static inline __attribute__((always_inline)) MOVES_WIDE int64_t move(const stream *s, size_t begin, size_t end,
                                                                     int streams)
{
    __m256i sum = _mm256_setzero_si256();
    for (size_t at = begin; at < end; at += LINE_BYTES) {
        __m256i low = _mm256_setzero_si256(), high = low;
        for (int i = 0; i < streams; i++) {
            const void *from_line = s->from + (size_t)i * s->length + at;
            const __m256i *p = from_line;
            __builtin_prefetch((const char *)from_line + s->ahead);
            low = _mm256_xor_si256(low, _mm256_load_si256(p));
            high = _mm256_xor_si256(high, _mm256_load_si256(p + 1));
        }
        void *to = s->to + at;
        __m256i *to_line = to;
        if (!s->writes) {
            sum = _mm256_xor_si256(sum, _mm256_xor_si256(low, high));
        } else if (s->passes_caches) {
            _mm256_stream_si256(to_line, low);
            _mm256_stream_si256(to_line + 1, high);
        } else {
            _mm256_store_si256(to_line, low);
            _mm256_store_si256(to_line + 1, high);
        }
    }
    return _mm256_extract_epi64(sum, 0) + _mm256_extract_epi64(sum, 3);
}
#else
#define MOVES_WIDE
static inline int64_t move(const stream *s, size_t from, size_t to, int streams)
{
    int64_t sum = 0;
    for (size_t at = from; at < to; at += sizeof sum) {
        int64_t v = 0;
        for (int i = 0; i < streams; i++) v ^= *(const int64_t *)(const void *)(s->from + (size_t)i * s->length + at);
        if (s->writes)
            *(int64_t *)(void *)(s->to + at) = v;
        else
            sum ^= v;
    }
    return sum;
}
#endif

static bool has_moves(void)
{
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx2");
#else
    return true;
#endif
}

static MOVES_WIDE int64_t move_part(void *self, uint32_t thread)
{
    const stream *s = self;
    const size_t lines = s->length / LINE_BYTES, from = lines * thread / all.threads * LINE_BYTES,
                 to = lines * (thread + 1) / all.threads * LINE_BYTES;
    switch (s->streams) {
    case 0: return move(s, from, to, 0);
    case 1: return move(s, from, to, 1);
    case 2: return move(s, from, to, 2);
    case 3: return move(s, from, to, 3);
    default: return move(s, from, to, STREAMS_MAX);
    }
}

static char *memory_of(size_t bytes)
{
    enum { HUGE_BYTES = 2 << 20 };
    const size_t all_bytes = (bytes / HUGE_BYTES + 2) * HUGE_BYTES;
    char *p = mmap(NULL, all_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) {
        fprintf(stderr, "native_limits: there is no memory for %zu bytes\n", bytes);
        exit(1);
    }
    madvise(p, all_bytes, MADV_HUGEPAGE);
    memset(p, 1, all_bytes);
    return p + (HUGE_BYTES - (uintptr_t)p % HUGE_BYTES);
}

static void begin_stream(stream *s, size_t read, size_t written)
{
    if (s->from != NULL) munmap((void *)(uintptr_t)s->from, s->length * (size_t)(s->streams + 1));
    *s = (stream){.length = written, .writes = true};
    s->streams = written > 0 ? (int)((read + written / 2) / written) : 1;
    if (s->streams > STREAMS_MAX) *s = (stream){.length = read + written, .streams = 1};
    if (written == 0) *s = (stream){.length = read, .streams = 1};
    s->from = memory_of(s->length * (size_t)(s->streams + 1));
    s->to = (char *)(uintptr_t)s->from + (size_t)s->streams * s->length;
    all.what = move_part;
    all.self = s;
}

/* ---- operations ---- */

static int64_t multiply(void *self, uint32_t thread)
{
    const native_peak *peak = self;
    (void)thread;
    peak->run();
    return 0;
}

/* What the host's widest instruction for exact sums of the type does; elements of 16 bits may be widened. false: this
 * program does not know one. */
static bool best_flops(const char *type, native_peak *out)
{
    return native_peak_of(type, out) || (strcmp(type, "i8") != 0 && native_peak_of("f32", out));
}

/* ---- lines ---- */

/* A call that does more or fewer operations than wanted counts in proportion. */
static uint32_t time_until(uint64_t end, double share, uint64_t *ns, uint32_t room)
{
    uint32_t count = 0;
    lead();
    do {
        ns[count++] = (uint64_t)(share * (double)lead());
    } while (count < room && now_ns() < end);
    return count;
}

/* Which kind of stores is faster depends on the size, and on what the calls before left in caches: both are tried, each
 * in half of the time. Where nothing is stored, memory is asked for early and earlier. */
static void time_calls(double seconds, stream *s, double share)
{
    static uint64_t ns[CALLS_MAX];
    enum { AHEAD_BYTES = 1024, FAR_AHEAD_BYTES = 8192 };
    uint32_t count = 0;
    const uint64_t begin = now_ns(), length = (uint64_t)(1e9 * seconds);
    for (uint64_t half = 1; half <= 2; half++) {
        s->passes_caches = half == 1;
        s->ahead = s->writes || half == 1 ? AHEAD_BYTES : FAR_AHEAD_BYTES;
        count += time_until(begin + half * length / 2, share, &ns[count], (CALLS_MAX - count) / (uint32_t)(3 - half));
    }
    for (uint32_t i = 0; i < count; i++) printf("%s%llu", i > 0 ? " " : "", (unsigned long long)ns[i]);
    printf("\n");
}

static void obey(void)
{
    enum { TYPE_BYTES = 16 };
    char text[256];
    stream s = {.from = NULL};
    native_peak peak;
    double share = 1;
    for (; fgets(text, sizeof text, stdin) != NULL; fflush(stdout)) {
        char *rest = text, type[TYPE_BYTES] = "";
        if (strncmp(text, "time ", 5) == 0 && all.what != NULL) {
            time_calls(strtod(text + 5, NULL), &s, share);
        } else if (strncmp(text, "stream ", 7) == 0 && has_moves()) {
            const double read = strtod(text + 7, &rest), written = strtod(rest, NULL);
            begin_stream(&s, (size_t)read, (size_t)written);
            share = 1;
            printf("ready\n");
        } else if (sscanf(text, "flops %15s", type) == 1 && best_flops(type, &peak)) {
            all.what = multiply;
            all.self = &peak;
            share = strtod(strstr(text, type) + strlen(type), NULL) / (2 * peak.products * all.threads);
            printf("ready\n");
        } else {
            printf("no\n");
        }
    }
}

int main(int argc, char **argv)
{
    const long threads = argc == 2 ? strtol(argv[1], NULL, 10) : 0;
    if (threads < 1 || threads > THREADS_MAX) {
        fprintf(stderr, "usage: native_limits THREADS\n");
        return 2;
    }
    all.threads = (uint32_t)threads;
    for (uint32_t i = 1; i < all.threads; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, follow, (void *)(uintptr_t)i) != 0) return 1;
    }
    stay_on(0);
    printf("ready\n");
    fflush(stdout);
    obey();
    return 0;
}
