/* plugins/shared/kernels: each row that this machine can run, one thread, on squares and one odd shape, beside the peak
 * of f32 FMA measured in turn with it, and OpenBLAS's sgemm where its library is found; then with weights in panels,
 * and with weights of 4 bits.
 *
 *     bench_kernels [PATTERN [SIZE..]]     rows whose name holds the pattern; sizes instead of the usual ones
 *
 * Operands are random; times are of the thread's processor clock, the best and the median of repetitions. OPENBLAS
 * names the library's file where the loader does not find it. */
#include <dlfcn.h>
#include <kernel_table.h>
#include <kernel_weights.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum { REPEAT_MIN = 5, REPEAT_MAX = 200, SIZES_MAX = 16 };
static const double seconds_each = 0.4, seconds_longest = 3;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#if defined(__x86_64__)
#define TWELVE(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11)

__attribute__((target("avx512f"))) static double flops_512(void)
{
    enum { STEPS = 40000 };
    const __m512 m = _mm512_set1_ps(0.999F), d = _mm512_set1_ps(1e-3F);
#define BEGIN(i) __m512 s##i = _mm512_set1_ps(i);
    TWELVE(BEGIN)
    const double begin = now();
    for (int step = 0; step < STEPS; step++) {
#define STEP(i)                         \
    s##i = _mm512_fmadd_ps(s##i, m, d); \
    __asm__ volatile("" : "+v"(s##i));
        TWELVE(STEP)
    }
    return 12.0 * 32 * (double)STEPS / (now() - begin);
#undef BEGIN
#undef STEP
}

__attribute__((target("avx2,fma"))) static double flops_256(void)
{
    enum { STEPS = 40000 };
    const __m256 m = _mm256_set1_ps(0.999F), d = _mm256_set1_ps(1e-3F);
#define BEGIN(i) __m256 s##i = _mm256_set1_ps(i);
    TWELVE(BEGIN)
    const double begin = now();
    for (int step = 0; step < STEPS; step++) {
#define STEP(i)                         \
    s##i = _mm256_fmadd_ps(s##i, m, d); \
    __asm__ volatile("" : "+x"(s##i));
        TWELVE(STEP)
    }
    return 12.0 * 16 * (double)STEPS / (now() - begin);
#undef BEGIN
#undef STEP
}
#endif

/* Of f32 FMA, by the widest vectors that there are; 0 when this program does not know how to measure it. */
static double flops_of_fma(uint32_t isa)
{
#if defined(__x86_64__)
    if (isa & PTO_ISA_AVX512) return flops_512();
    if (isa & PTO_ISA_AVX2) return flops_256();
#endif
    return 0 * (double)isa;
}

typedef void sgemm(int order, int transpose_a, int transpose_b, int m, int n, int k, float alpha, const float *a,
                   int lda, const float *b, int ldb, float beta, float *c, int ldc);

static sgemm *find_openblas(void)
{
    const char *const named = getenv("OPENBLAS");
    void *const library = dlopen(named != NULL ? named : "libopenblas.so.0", RTLD_NOW);
    if (library == NULL) return NULL;
    void (*one_thread)(int);
    sgemm *call;
    *(void **)&one_thread = dlsym(library, "openblas_set_num_threads");
    *(void **)&call = dlsym(library, "cblas_sgemm");
    if (one_thread != NULL) one_thread(1);
    return call;
}

static void *memory(int64_t bytes)
{
    void *const p = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) {
        perror("bench_kernels: mmap");
        exit(1);
    }
    madvise(p, (size_t)bytes, MADV_HUGEPAGE);
    return p;
}

static int64_t bytes_of(pto_dtype type, int64_t count)
{
    if (type == PTO_KERNEL_I4) return (count + 1) / 2;
    return count * (type == PTO_F32 || type == PTO_I32 ? 4 : type == PTO_BF16 || type == PTO_F16 ? 2 : 1);
}

/* Integers of all values; floats of (-2, 2). */
static void *random_operand(pto_dtype type, int64_t count)
{
    const int64_t bytes = bytes_of(type, count);
    unsigned char *const p = memory(bytes + 64);
    uint64_t state = 1;
    for (int64_t i = 0; i < bytes; i++) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        p[i] = (unsigned char)(state >> 56);
        const int64_t size = bytes_of(type, 1);
        const bool is_top = i % size == size - 1;
        if (is_top && (type == PTO_F32 || type == PTO_BF16)) p[i] = (p[i] & 0x80) | 0x3f;
        if (is_top && type == PTO_F16) p[i] = (p[i] & 0x83) | 0x38;
    }
    return p;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

typedef struct times {
    double of[REPEAT_MAX];
    int count;
} times;

static void add(times *t, double seconds)
{
    if (t->count < REPEAT_MAX) t->of[t->count++] = seconds;
}

/* Best and median, as rates. */
static void show(const char *what, times *t, double flops, double peak)
{
    if (t->count == 0) return;
    qsort(t->of, (size_t)t->count, sizeof t->of[0], by_value);
    const double best = flops / t->of[0], median = flops / t->of[t->count / 2];
    printf("  %s %7.1f (%6.1f)", what, best * 1e-9, median * 1e-9);
    if (peak > 0) printf(" %5.1f %%", 100 * median / peak);
}

/* One line; returns the seconds of one product. */
static double bench(const pto_contraction *row, int64_t m, int64_t n, int64_t k, sgemm *peer, uint32_t isa)
{
    const int64_t scratch_bytes = row->scratch_bytes(m, n, k);
    void *const a = random_operand(row->a, m * k), *const b = random_operand(row->b, k * n);
    void *const c = memory(4 * m * n), *const scratch = memory(scratch_bytes);
    static times ours, theirs, peaks;
    ours.count = theirs.count = peaks.count = 0;
    const double flops = 2 * (double)m * (double)n * (double)k;
    double spent = 0;
    for (int i = 0; i < REPEAT_MAX && (i < REPEAT_MIN || spent < seconds_each); i++) {
        double begin = now();
        row->block(m, n, k, a, k, 1, b, n, 1, c, n, false, scratch);
        double took = now() - begin;
        spent += took;
        if (i > 0 || took > seconds_longest) add(&ours, took); /* the first one touches memory */
        if (took > seconds_longest) break;
        if (peer != NULL) {
            begin = now();
            peer(101, 111, 111, (int)m, (int)n, (int)k, 1, a, (int)k, b, (int)n, 0, c, (int)n);
            took = now() - begin;
            if (i > 0) add(&theirs, took);
        }
        const double peak = flops_of_fma(isa);
        if (peak > 0) add(&peaks, 1 / peak);
    }
    double peak = 0;
    if (peaks.count > 0) {
        qsort(peaks.of, (size_t)peaks.count, sizeof peaks.of[0], by_value);
        peak = 1 / peaks.of[peaks.count / 2];
    }
    printf("%-20s %5lld x %5lld x %5lld", row->name, (long long)m, (long long)n, (long long)k);
    show("", &ours, flops, peak);
    show(" OpenBLAS", &theirs, flops, peak);
    if (peak > 0) printf("  FMA %.1f", peak * 1e-9);
    printf("\n");
    fflush(stdout);
    const double seconds = ours.of[0];
    munmap(a, (size_t)(bytes_of(row->a, m * k) + 64));
    munmap(b, (size_t)(bytes_of(row->b, k * n) + 64));
    munmap(c, (size_t)(4 * m * n));
    munmap(scratch, (size_t)scratch_bytes);
    return seconds;
}

/* A product with weights of 4 bits, with a scale for each 32 along k. */
static void bench_weights(const pto_weights *row, int64_t m, int64_t n, int64_t k, uint32_t isa)
{
    const int64_t groups = (k + 31) / 32, scratch_bytes = row->scratch_most(m, n);
    float *const a = random_operand(PTO_F32, m * k), *const scales = random_operand(PTO_F32, groups * n),
                 *const c = memory(4 * m * n);
    const pto_native_weights w = {.halves = random_operand(PTO_KERNEL_I4, k * n),
                                  .k_stride = n,
                                  .column_stride = 1,
                                  .scales = scales,
                                  .scale_k_stride = n,
                                  .scale_column_stride = 1,
                                  .group = 32};
    void *const scratch = memory(scratch_bytes);
    times ours = {.count = 0};
    for (int i = 0; i <= REPEAT_MIN; i++) {
        const double begin = now();
        row->block(m, n, k, a, k, 1, &w, c, n, false, scratch);
        if (i > 0) add(&ours, now() - begin);
    }
    const double peak = flops_of_fma(isa);
    printf("%-20s %5lld x %5lld x %5lld", row->name, (long long)m, (long long)n, (long long)k);
    show("", &ours, 2.0 * (double)m * (double)n * (double)k, peak);
    if (peak > 0) printf("  FMA %.1f", peak * 1e-9);
    printf("\n");
}

/* Columns of a panel, as pto.native-layout has them: a vector of elements, and two of sums. */
static int64_t width_of(const pto_contraction *row)
{
    const int64_t vector = row->isa & PTO_ISA_AVX512 ? 64 : row->isa & PTO_ISA_AVX2 ? 32 : 16;
    const int64_t elements = vector / bytes_of(row->b, 1), sums = vector / 2, least = 16;
    const int64_t most = elements > sums ? elements : sums;
    return most > least ? most : least;
}

/* A product with weights that are in panels. */
static void bench_panels(const pto_contraction *row, int64_t m, int64_t n, int64_t k, uint32_t isa)
{
    const int64_t width = width_of(row), columns = (n + width - 1) / width * width,
                  scratch_bytes = row->panels_scratch(m, n);
    void *const a = random_operand(row->a, m * k), *const b = random_operand(row->b, k * columns);
    void *const c = memory(4 * m * n), *const scratch = memory(scratch_bytes);
    times ours = {.count = 0};
    double spent = 0;
    for (int i = 0; i < REPEAT_MAX && (i < REPEAT_MIN || spent < seconds_each); i++) {
        const double begin = now();
        row->panels(m, n, k, a, k, 1, b, width, k * width, c, n, false, scratch);
        const double took = now() - begin;
        spent += took;
        if (i > 0) add(&ours, took);
    }
    const double peak = flops_of_fma(isa);
    char name[64];
    snprintf(name, sizeof name, "%s, panels", row->name);
    printf("%-28s %5lld x %5lld x %5lld", name, (long long)m, (long long)n, (long long)k);
    show("", &ours, 2.0 * (double)m * (double)n * (double)k, peak);
    if (peak > 0) printf("  FMA %.1f", peak * 1e-9);
    printf("\n");
    munmap(a, (size_t)(bytes_of(row->a, m * k) + 64));
    munmap(b, (size_t)(bytes_of(row->b, k * columns) + 64));
    munmap(c, (size_t)(4 * m * n));
    munmap(scratch, (size_t)scratch_bytes);
}

/* Of weights that have such panels: those of the same type as what they are multiplied with. */
static void bench_all_panels(const char *pattern, uint32_t isa)
{
    static const int64_t rows[] = {1, 4, 16, 64, 512};
    const pto_contraction *row;
    for (uint32_t r = 0; (row = pto_contraction_at(r)) != NULL; r++) {
        if (strstr(row->name, pattern) == NULL || (row->isa & ~isa) != 0 || row->isa == 0 || row->a != row->b) continue;
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) bench_panels(row, rows[i], 4096, 4096, isa);
    }
}

static void bench_all_weights(const char *pattern, uint32_t isa)
{
    const pto_weights *row;
    for (uint32_t r = 0; (row = pto_weights_at(r)) != NULL; r++) {
        if (strstr(row->name, pattern) == NULL || (row->isa & ~isa) != 0) continue;
        for (int64_t m = 1; m <= (row->isa != 0 ? 512 : 4); m *= m < 16 ? 4 : 32)
            bench_weights(row, m, 4096, 4096, isa);
    }
}

int main(int argc, char **argv)
{
    static const int64_t usual[][3] = {{1, 4096, 4096},   {4, 4096, 4096},    {16, 4096, 4096},   {26, 627, 2321},
                                       {32, 4096, 4096},  {64, 4096, 4096},   {256, 256, 256},    {512, 512, 512},
                                       {1000, 4099, 517}, {1024, 1024, 1024}, {2048, 2048, 2048}, {4096, 4096, 4096}};
    const uint32_t isa = pto_isa_of_host();
    sgemm *const openblas = find_openblas();
    const int count = argc > 2 ? argc - 2 : (int)(sizeof usual / sizeof usual[0]);
    printf("GFLOP/s, one thread: best (median), median in %% of the f32 FMA peak; OpenBLAS %s\n",
           openblas != NULL ? "beside sgemm" : "not found");
    const pto_contraction *row;
    for (uint32_t r = 0; (row = pto_contraction_at(r)) != NULL; r++) {
        if (argc > 1 && strstr(row->name, argv[1]) == NULL) continue;
        if (row->isa & ~isa) {
            printf("%-20s not run: this machine lacks its instructions\n", row->name);
            continue;
        }
        double seconds_of_one = 0; /* of 2 flops, in the last product */
        for (int s = 0; s < count; s++) {
            const int64_t size = argc > 2 ? strtoll(argv[s + 2], NULL, 10) : 0;
            const int64_t m = size > 0 ? size : usual[s][0], n = size > 0 ? size : usual[s][1];
            const int64_t k = size > 0 ? size : usual[s][2];
            const double products = (double)m * (double)n * (double)k;
            if (seconds_of_one * products > seconds_longest) continue;
            sgemm *const peer = row->a == PTO_F32 && row->b == PTO_F32 && row->isa != 0 ? openblas : NULL;
            seconds_of_one = bench(row, m, n, k, peer, isa) / products;
        }
    }
    bench_all_panels(argc > 1 ? argv[1] : "", isa);
    bench_all_weights(argc > 1 ? argv[1] : "", isa);
    return 0;
}
