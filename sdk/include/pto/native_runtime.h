/* What libraries that pto-build makes have in common: the C that it writes around a module, and the runtime that is
 * linked into each of them (libpto_runtime.a). Users of such a library see its own header alone. */
#ifndef PTO_NATIVE_RUNTIME_H
#define PTO_NATIVE_RUNTIME_H

#include <pto/dlpack.h>
#include <pto/native.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { PTO_RUNTIME_RANK_MAX = 8, PTO_RUNTIME_ERROR_BYTES = 512 };

/* What a call returns; the header of a library says it in words. */
enum {
    PTO_RUNTIME_OK = 0,
    PTO_RUNTIME_ARGUMENT = 1, /* a tensor does not fit */
    PTO_RUNTIME_FAULT = 2,    /* an op failed */
    PTO_RUNTIME_SYSTEM = 3    /* no memory, no threads, another CPU */
};

/* Threads and memory of calls, and what the last one failed for. */
typedef struct pto_runtime_context pto_runtime_context;

/* A tensor of a function. */
typedef struct pto_runtime_argument {
    const char *name, *type; /* "f32" */
    DLDataType dtype;
    DLDataType other_dtype; /* is taken too, for types that not everybody has; lanes are 0 when there is none */
    uint8_t is_written;
    uint8_t is_read;
    uint8_t rank;
    uint8_t reserved;
    const char *dims[PTO_RUNTIME_RANK_MAX]; /* as the module says them */
    int32_t symbol[PTO_RUNTIME_RANK_MAX];   /* the number of the symbol that this extent is; -1: it is computed */
    uint64_t may_alias;                     /* bit i: argument i may be in the same memory, in part or whole */
} pto_runtime_argument;

/* A fact that calls must keep: what it says. */
typedef struct pto_runtime_fact {
    const char *text;
} pto_runtime_fact;

/* A function of a library. */
typedef struct pto_runtime_function {
    const char *name;                /* in the module */
    const pto_native_module *module; /* where it is */
    const char *const *symbols;
    uint32_t symbol_count, argument_count, fact_count;
    uint32_t isa;                          /* that the module was compiled for: PTO_RUNTIME_ISA */
    const pto_runtime_argument *arguments; /* in the order of the C function */
    const uint32_t *order;                 /* of the compiled function: which argument each of its parameters is */
    uint32_t order_count;
    const pto_runtime_fact *facts;
    /* Extents of all arguments, and whether each fact holds, once symbols are known. */
    void (*extents)(const int64_t *symbols, int64_t (*out)[PTO_RUNTIME_RANK_MAX]);
    void (*holds)(const int64_t *symbols, uint8_t *out);
} pto_runtime_function;

/* A context for so many threads, the calling one included; 0: as many as CPUs, OMP_NUM_THREADS and the quota of the
 * cgroup allow. `isa`: PTO_RUNTIME_ISA of the functions that it is for. NULL: there are not so many threads or there is
 * no memory. */
pto_runtime_context *pto_runtime_open(int32_t threads, uint32_t isa);
/* Ends its threads; NULL is none. */
void pto_runtime_close(pto_runtime_context *c);
/* Calls from now on whose constants are at the same addresses have the same elements in them, until this is called with
 * another version: what is made of them stays in `c`. 0, as at first: nothing is known of constants. NULL: nothing
 * stays. */
void pto_runtime_constants(pto_runtime_context *c, uint64_t version);
/* The sentence of the last call that failed, "" after one that did not. Lives until the next call. */
const char *pto_runtime_error(const pto_runtime_context *c);
/* Checks the tensors and runs the function; `c` may be NULL: on this thread alone. */
int32_t pto_runtime_call(pto_runtime_context *c, const pto_runtime_function *f, const DLTensor *const *tensors);

/* Index arithmetic of extents; dividing by what is not positive is -1. */
static inline int64_t pto_runtime_floordiv(int64_t a, int64_t b) { return b > 0 ? pto_index_floordiv(a, b) : -1; }
static inline int64_t pto_runtime_ceildiv(int64_t a, int64_t b) { return b > 0 ? pto_index_ceildiv(a, b) : -1; }
static inline int64_t pto_runtime_mod(int64_t a, int64_t b) { return b > 0 ? pto_index_mod(a, b) : -1; }

/* Instructions that a module was compiled for, as far as this file is compiled as it was: AVX2 with FMA and F16C,
 * AVX-512 with F, BW, VL and DQ. Kernels of products that the runtime has use no wider vectors. */
enum { PTO_RUNTIME_AVX2 = 1, PTO_RUNTIME_AVX512 = 2 };
#if !defined(PTO_RUNTIME_ISA)
#if defined(__AVX512F__)
#define PTO_RUNTIME_ISA (PTO_RUNTIME_AVX2 | PTO_RUNTIME_AVX512)
#elif defined(__AVX2__)
#define PTO_RUNTIME_ISA PTO_RUNTIME_AVX2
#else
#define PTO_RUNTIME_ISA 0
#endif
#endif

#ifdef __cplusplus
}
#endif
#endif
