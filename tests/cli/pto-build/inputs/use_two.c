/* Two libraries in one program, on threads of their own: one has a function, the other one an @f.init too. */
#include "one.h"
#include "two.h"

#include <fenv.h>
#include <pthread.h>
#include <stdio.h>

enum { N = 5 };

static DLTensor vector_of(float *data, int64_t *n)
{
    const DLTensor t = {.data = data, .device = {kDLCPU, 0}, .ndim = 1, .dtype = {kDLFloat, 32, 1}, .shape = n};
    return t;
}

static void *use_one(void *result)
{
    volatile float tenth = 0.1f;
    const float want = tenth * tenth;
    float x[N] = {tenth, 2, 3, 4, 5}, y[N];
    int64_t n = N;
    const DLTensor tx = vector_of(x, &n), ty = vector_of(y, &n);
    /* How the caller rounds is nothing to it. */
    fesetround(FE_UPWARD);
    one_context *c = one_open(2);
    for (int i = 0; i < 100; i++)
        if (one_f(c, &tx, &ty) != 0) puts(one_error(c));
    one_close(c);
    if (fegetround() != FE_UPWARD || y[0] != want) puts("rounding");
    *(float *)result = y[4];
    return NULL;
}

static void *use_two(void *result)
{
    float w[N] = {1, 2, 3, 4, 5}, v[N], x[N] = {0}, y[N];
    int64_t n = N;
    const DLTensor tw = vector_of(w, &n), tv = vector_of(v, &n), tx = vector_of(x, &n), ty = vector_of(y, &n);
    two_context *c = two_open(0);
    if (two_f_init(c, &tw, &tv) != 0) puts(two_error(c)); /* once for all calls */
    for (int i = 0; i < 100; i++)
        if (two_f(c, &tx, &tv, &ty) != 0) puts(two_error(c));
    two_close(c);
    *(float *)result = y[4];
    return NULL;
}

int main(void)
{
    pthread_t threads[4];
    float results[4];
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, i % 2 == 0 ? use_one : use_two, &results[i]);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    printf("%g %g %g %g\n", (double)results[0], (double)results[1], (double)results[2], (double)results[3]);
    return 0;
}
