/* Floating point as programs begin with it, around code whose results must not depend on the caller's. */
#ifndef PTO_NATIVE_FLOATS_H
#define PTO_NATIVE_FLOATS_H

#include <fenv.h>

#if defined(__x86_64__)
/* Rounding, traps, denormals and flags of SSE and AVX; what `long double` has is nobody's. */
typedef unsigned native_floats;
/* Sets the default and returns what was before. */
static inline native_floats native_floats_begin(void)
{
    enum { MXCSR_DEFAULT = 0x1f80 };
    const native_floats before = __builtin_ia32_stmxcsr();
    __builtin_ia32_ldmxcsr(MXCSR_DEFAULT);
    return before;
}
/* Puts that back. */
static inline void native_floats_end(native_floats before) { __builtin_ia32_ldmxcsr(before); }
#else
typedef fenv_t native_floats;
/* The same by the C library. */
static inline native_floats native_floats_begin(void)
{
    native_floats before;
    fegetenv(&before);
    fesetenv(FE_DFL_ENV);
    return before;
}
static inline void native_floats_end(native_floats before) { fesetenv(&before); }
#endif
#endif
