/* Rows in memory: extremes of zeros, infinities and NaN, sums, sweeps with any tail, stores that are streamed,
 * transposes. */
#include <pto/native_vector.h>

#include <stdio.h>
#include <string.h>

enum { LENGTH_MAX = 150 };

static long compared, bad;
static unsigned long long state = 88172645463325252ull;

static unsigned draw(unsigned below)
{
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (unsigned)(state >> 33) % below;
}

static unsigned bits_of(float x)
{
    unsigned bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static void compare(const char *what, long n, float got, float wanted)
{
    compared++;
    if (bits_of(got) == bits_of(wanted) || (got != got && wanted != wanted)) return;
    bad++;
    printf("%s of %ld: %08x, not %08x\n", what, n, bits_of(got), bits_of(wanted));
}

static const unsigned special[] = {0,          0x80000000, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc00000,
                                   0x7f800001, 0xff800001, 0x3f800000, 0xbf800000, 1,          0x80000001};
enum { SPECIAL = sizeof special / sizeof *special };

/* A few kinds of numbers in each row, so that all of them are often zeros, or none is a number. */
static void check_extremes(void)
{
    float row[LENGTH_MAX];
    for (int t = 0; t < 20000; t++) {
        const int n = (int)draw(LENGTH_MAX), kinds = 1 + (int)draw(3);
        unsigned pool[3];
        for (int k = 0; k < kinds; k++) pool[k] = special[draw(SPECIAL)];
        for (int i = 0; i < n; i++) memcpy(&row[i], &pool[draw((unsigned)kinds)], sizeof *row);
        pto_f32 most = pto_splat_f32(n != 0 ? __builtin_nanf("") : -__builtin_inff());
        pto_f32 least = pto_splat_f32(n != 0 ? __builtin_nanf("") : __builtin_inff());
        for (int i = 0; i < n; i++) {
            most = pto_max_ignore_f32(most, pto_splat_f32(row[i]));
            least = pto_min_ignore_f32(least, pto_splat_f32(row[i]));
        }
        compare("the largest", n, pto_row_max_f32(row, n), most[0]);
        compare("the smallest", n, pto_row_min_f32(row, n), least[0]);
    }
}

#define CHECK_SCALAR(c)                                                                                         \
    compare("the larger than " #c, k, pto_max_scalar_f32(v, c)[0], pto_max_ignore_f32(v, pto_splat_f32(c))[0]); \
    compare("the smaller than " #c, k, pto_min_scalar_f32(v, c)[0], pto_min_ignore_f32(v, pto_splat_f32(c))[0]);

static void check_scalars(void)
{
    for (int k = 0; k < SPECIAL; k++) {
        float x;
        memcpy(&x, &special[k], sizeof x);
        const pto_f32 v = pto_splat_f32(x);
        CHECK_SCALAR(0.0f)
        CHECK_SCALAR(-0.0f)
        CHECK_SCALAR(1.0f)
        CHECK_SCALAR(-1.0f)
        CHECK_SCALAR(1e-45f)
        CHECK_SCALAR(__builtin_inff())
        CHECK_SCALAR(-__builtin_inff())
        CHECK_SCALAR(__builtin_nanf(""))
    }
}

/* Sweeps that begin anywhere in a line, over what they read: each element is read before it is written, once. */
static void check_heads(void)
{
    static float memory[LENGTH_MAX + 40] __attribute__((aligned(64)));
    for (int shift = 0; shift < 16; shift++)
        for (int n = 0; n < LENGTH_MAX; n++) {
            float *const row = memory + 16 + shift;
            for (int i = 0; i < LENGTH_MAX + 40; i++) memory[i] = (float)i;
            const int64_t head = pto_head(row, 1, n);
            const int streams = pto_streams(row + head, 1);
            PTO_SWEEP_FROM(j, left, n, head)
            {
                const pto_f32 v = pto_load_f32_tail(row + j, left) * 2.0f;
                pto_put_f32_from(row + j, v, left, streams, head - j);
            }
            pto_stream_end();
            for (int i = 0; i < LENGTH_MAX + 40; i++) {
                const int is_in_row = i >= 16 + shift && i < 16 + shift + n;
                compare("an element where a row is changed in place", n, memory[i], (float)(is_in_row ? 2 * i : i));
            }
            compare("a row begins with a head to be streamed", n, (float)(streams || n < 2 * PTO_LANES), 1);
        }
    compare("a small row has a head", 0, (float)pto_head(memory + 1, 0, LENGTH_MAX), 0);
    compare("a short row has a head", 0, (float)pto_head(memory + 1, 1, 2 * PTO_LANES - 1), 0);
}

/* Whole numbers, whose sums are exact in any order; each element is written once, and none after the row. */
static void check_sweeps(void)
{
    static float row[LENGTH_MAX] __attribute__((aligned(64))), to[LENGTH_MAX + 1] __attribute__((aligned(64)));
    for (int i = 0; i < LENGTH_MAX; i++) row[i] = (float)(i % 7) - 2;
    for (int n = 0; n < LENGTH_MAX; n++) {
        float sum = 0;
        for (int i = 0; i < n; i++) sum += row[i];
        compare("the sum", n, pto_row_sum_f32(row, n), sum);
        for (int streams = 0; streams < 2; streams++) {
            pto_f32 all = pto_splat_f32(0);
            memset(to, 0, sizeof to);
            to[n] = 77;
            PTO_SWEEP(j, left, n)
            {
                const pto_f32 v = pto_load_f32_tail(row + j, left) + 1.0f;
                all = all + pto_first_f32_tail(v, 0, left);
                pto_put_f32_tail(to + j, v, left, streams);
            }
            pto_stream_end();
            for (int i = 0; i < n; i++) compare("an element", n, to[i], row[i] + 1);
            compare("what is after the row", n, to[n], 77);
            compare("the sum of a sweep", n, pto_sum_f32(all), sum + (float)n);
            memset(to, 0, sizeof to);
            to[n] = 77;
            pto_copy_row_b32(to, row, n, streams);
            pto_stream_end();
            for (int i = 0; i < n; i++) compare("an element of a copy", n, to[i], row[i]);
            compare("what is after the copy", n, to[n], 77);
        }
    }
    /* Not constants: a compiler may make two loops of it. */
    for (volatile int n = -LENGTH_MAX; n < 0; n++) {
        const int columns = n;
        PTO_SWEEP(j, left, columns) compare("elements of a row that has less than none", n, (float)left, 0);
    }
    compare("a small row is streamed", 0, (float)pto_streams(row, 0), 0);
    compare("a row that is not aligned is streamed", 0, (float)pto_streams(row + 1, 1), 0);
    compare("a large row is streamed", 0, (float)pto_streams(row, 1), 1);
}

/* Each element of the result, and none beside it. */
#define CHECK_TRANSPOSE(bits, element)                                                       \
    {                                                                                        \
        static element from[70][72], to[72][80] __attribute__((aligned(64)));                \
        for (int i = 0; i < 70; i++)                                                         \
            for (int j = 0; j < 72; j++) from[i][j] = (element)(i * 72 + j);                 \
        memset(to, 0xff, sizeof to);                                                         \
        pto_transpose_b##bits(to, 80, from, 72, rows, columns, streams);                     \
        pto_stream_end();                                                                    \
        for (int j = 0; j < 72; j++)                                                         \
            for (int i = 0; i < 80; i++) {                                                   \
                const element wanted = i < rows && j < columns ? from[i][j] : (element) - 1; \
                compared++;                                                                  \
                if (to[j][i] == wanted) continue;                                            \
                bad++;                                                                       \
                printf(#bits " bits, %d x %d: [%d][%d] differs\n", rows, columns, j, i);     \
            }                                                                                \
    }

static void check_transposes(void)
{
    static const int sizes[] = {0, 1, 7, 16, 33, 64, 70};
    for (int r = 0; r < 7; r++)
        for (int c = 0; c < 7; c++)
            for (int streams = 0; streams < 2; streams++) {
                const int rows = sizes[r], columns = sizes[c];
                CHECK_TRANSPOSE(8, uint8_t)
                CHECK_TRANSPOSE(16, uint16_t)
                CHECK_TRANSPOSE(32, uint32_t)
                CHECK_TRANSPOSE(64, uint64_t)
            }
}

int main(void)
{
    check_extremes();
    check_scalars();
    check_sweeps();
    check_heads();
    check_transposes();
    if (bad == 0) printf("%ld results agree\n", compared);
    return bad != 0;
}
