/* Elements a second of the functions of <pto/native_vector.h>, one core, data in the first cache: 2048 numbers from -8
 * to 8, or from 0.001 to 16 for logarithms. Beside them what glibc's vector functions make of the same loop, where
 * vector_peer.c has it. Minimum of many runs that alternate. */
#include <pto/native_vector.h>

#include <stdio.h>
#include <time.h>

enum { COUNT = 2048, HALF = COUNT / 2, PER_ONE = COUNT / 16, CALLS = 100, ROUNDS = 60 };

typedef void (*array_function)(const float *x, float *y);

#define FUNCTIONS(F) \
    F(exp)           \
    F(log) F(tanh) F(erf) F(gelu_tanh) F(sigmoid) F(silu) F(rsqrt) F(sqrt) F(sin) F(cbrt) F(exp2) F(log1p) F(expm1)

#define DEFINE(name)                                                                                             \
    static __attribute__((noinline)) void ours_##name(const float *x, float *y)                                  \
    {                                                                                                            \
        for (long i = 0; i < COUNT; i += PTO_LANES) pto_store_f32(y + i, pto_##name##_f32(pto_load_f32(x + i))); \
    }
FUNCTIONS(DEFINE)

static __attribute__((noinline)) void ours_pow(const float *x, float *y)
{
    for (long i = 0; i < COUNT; i += PTO_LANES)
        pto_store_f32(y + i, pto_pow_f32(pto_load_f32(x + i), pto_splat_f32(1.7F)));
}

static __attribute__((noinline)) void ours_softmax_row(const float *x, float *y)
{
    pto_f32 sum = pto_splat_f32(0);
    for (long i = 0; i < COUNT; i += PTO_LANES) {
        const pto_f32 e = pto_exp_f32(pto_load_f32(x + i) - 8.0F);
        sum += e;
        pto_store_f32(y + i, e);
    }
    const float scale = 1 / pto_sum_f32(sum);
    for (long i = 0; i < COUNT; i += PTO_LANES) pto_store_f32(y + i, pto_load_f32(y + i) * scale);
}

void peer_exp(const float *x, float *y);
void peer_log(const float *x, float *y);
void peer_tanh(const float *x, float *y);
void peer_erf(const float *x, float *y);
void peer_sin(const float *x, float *y);
void peer_cbrt(const float *x, float *y);
void peer_exp2(const float *x, float *y);
void peer_log1p(const float *x, float *y);
void peer_expm1(const float *x, float *y);
void peer_pow(const float *x, float *y);

typedef struct row {
    const char *name;
    array_function ours, peer;
    int positive;
} row;

static const row rows[] = {
    {"exp", ours_exp, peer_exp, 0},       {"exp2", ours_exp2, peer_exp2, 0},
    {"expm1", ours_expm1, peer_expm1, 0}, {"log", ours_log, peer_log, 1},
    {"log1p", ours_log1p, peer_log1p, 1}, {"tanh", ours_tanh, peer_tanh, 0},
    {"erf", ours_erf, peer_erf, 0},       {"sigmoid", ours_sigmoid, NULL, 0},
    {"silu", ours_silu, NULL, 0},         {"gelu_tanh", ours_gelu_tanh, NULL, 0},
    {"rsqrt", ours_rsqrt, NULL, 1},       {"sqrt", ours_sqrt, NULL, 1},
    {"sin", ours_sin, peer_sin, 0},       {"cbrt", ours_cbrt, peer_cbrt, 0},
    {"pow", ours_pow, peer_pow, 1},       {"softmax row", ours_softmax_row, NULL, 0},
};
enum { ROWS = sizeof rows / sizeof *rows };

static double seconds_of(array_function f, const float *x, float *y)
{
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (int i = 0; i < CALLS; i++) {
        f(x, y);
        __asm__ volatile("" ::"r"(y) : "memory");
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    return (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
}

int main(void)
{
    static float any[COUNT], positive[COUNT], y[COUNT];
    static double best[ROWS][2];
    for (int i = 0; i < COUNT; i++) {
        any[i] = (float)(i - HALF) / (float)PER_ONE;
        positive[i] = 0.001F + (float)i / (float)PER_ONE;
    }
    for (int round = 0; round < ROUNDS; round++) {
        for (int r = 0; r < ROWS; r++) {
            const float *x = rows[r].positive ? positive : any;
            for (int peer = 0; peer < 2; peer++) {
                if (peer && rows[r].peer == NULL) continue;
                const double s = seconds_of(peer ? rows[r].peer : rows[r].ours, x, y);
                if (round == 0 || s < best[r][peer]) best[r][peer] = s;
            }
        }
    }
    printf("vectors of %d bytes; 1e9 elements a second, ours and glibc's\n", PTO_VECTOR_BYTES);
    for (int r = 0; r < ROWS; r++) {
        printf("  %-12s %6.2f", rows[r].name, 1e-9 * COUNT * CALLS / best[r][0]);
        if (rows[r].peer != NULL) printf(" %6.2f", 1e-9 * COUNT * CALLS / best[r][1]);
        printf("\n");
    }
    return 0;
}
