/* Loops that gcc makes calls of glibc's vector functions of when it is told -O3 -ffast-math, within 4 ulp. */
#include <math.h>

enum { COUNT = 2048 };

#define PEER(name, call)                                \
    void peer_##name(const float *x, float *y);         \
    void peer_##name(const float *x, float *restrict y) \
    {                                                   \
        for (int i = 0; i < COUNT; i++) y[i] = call;    \
    }
PEER(exp, expf(x[i]))
PEER(exp2, exp2f(x[i]))
PEER(expm1, expm1f(x[i]))
PEER(log, logf(x[i]))
PEER(log1p, log1pf(x[i]))
PEER(tanh, tanhf(x[i]))
PEER(erf, erff(x[i]))
PEER(sin, sinf(x[i]))
PEER(cbrt, cbrtf(x[i]))
PEER(pow, powf(x[i], 1.7F))
