/* What C that pto.emit-c writes and its caller have in common, and the scalar arithmetic that such C is made of.
 *
 * Generated files include it, and so does the backend that loads them. It includes nothing of the SDK but small headers
 * of pure functions, so that a compiler reads it fast. Numerics are those of the tile ops: f32 is IEEE, nearest even;
 * f16 and bf16 compute in f32 and are rounded after each op; max and min ignore a NaN beside a number, -0 < +0;
 * integers wrap, and x / 0 is all ones. */
#ifndef PTO_NATIVE_H
#define PTO_NATIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the boundary ---- */

/* What an instance runs on: the frame that the launch filled, which instance it is, and scratch memory of the thread,
 * aligned to 64 bytes. Returns 0, or the number of a fault. */
typedef int32_t (*pto_native_kernel)(const void *frame, int64_t instance, char *scratch);

/* Element types of products that callers have kernels for. Appended to: numbers are part of the boundary. */
enum { PTO_PRODUCT_F32, PTO_PRODUCT_F16, PTO_PRODUCT_BF16, PTO_PRODUCT_I8, PTO_PRODUCT_COUNT };

/* Weights of 4 bits as an operand B[k x n]. Element (p, j) is the half of a byte with number
 * first + p * k_stride + j * column_stride, of which a byte has two, the low one first; from -8 to 7, times
 * scales[p / group * scale_k_stride + j * scale_column_stride], rounded to f32. */
typedef struct pto_native_weights {
    const void *halves;
    int64_t first, k_stride, column_stride;
    const float *scales;
    int64_t scale_k_stride, scale_column_stride, group;
} pto_native_weights;

/* Kernels of products C[m x n] = or += A[m x k] B[k x n]; C is of f32, of i32 for integers. Each element is a chain
 * over k, upwards: its bits do not depend on m and n, strides and alignment. Strides count elements. Any thread may
 * call. */
typedef struct pto_native_product {
    uint32_t struct_size, reserved;
    /* Bytes of scratch for products of at most m rows and n columns, of any depth. */
    int64_t (*scratch_most)(int64_t m, int64_t n);
    /* scratch is of any alignment. C does not overlap A and B. k = 0: C becomes 0, or stays. */
    void (*block)(int64_t m, int64_t n, int64_t k, const void *a, int64_t a_row_stride, int64_t a_k_stride,
                  const void *b, int64_t b_k_stride, int64_t b_column_stride, void *c, int64_t c_row_stride,
                  bool accumulate, void *scratch);
    /* The same of A in f32 with weights: the bits of the product with what they stand for. NULL for other types; since
     * they were added: callers before have none. */
    int64_t (*weights_scratch)(int64_t m, int64_t n);
    void (*weights)(int64_t m, int64_t n, int64_t k, const void *a, int64_t a_row_stride, int64_t a_k_stride,
                    const pto_native_weights *b, void *c, int64_t c_row_stride, bool accumulate, void *scratch);
    /* The same with B in panels of `width` columns, each dense and k deep or deeper, `panel_stride` elements apart:
     * faster where a kernel multiplies so many at a time, and memory is read from its begin to its end. Its scratch is
     * that of panels_scratch(), which is as scratch_most(). Since they were added, as weights. */
    void (*panels)(int64_t m, int64_t n, int64_t k, const void *a, int64_t a_row_stride, int64_t a_k_stride,
                   const void *b, int64_t width, int64_t panel_stride, void *c, int64_t c_row_stride, bool accumulate,
                   void *scratch);
    int64_t (*panels_scratch)(int64_t m, int64_t n);
    /* B packed once for several products with it. packed_bytes(): of n columns, k deep, from a multiple of 64 on; 0: a
     * product takes it as it lies. pack() packs PTO_PACKED_COLUMNS of the columns, from that many times `part` on; any
     * thread may pack any part. packed() is block() with n columns of B from `column` on, a multiple of
     * PTO_PACKED_BEGIN, and the first k of each, of all that are packed, `columns` that are `depth` deep; its scratch
     * is that of block(). false: it has no way for such a k, and nothing is done. Since they were added, as weights. */
    int64_t (*packed_bytes)(int64_t n, int64_t k, int64_t b_k_stride, int64_t b_column_stride);
    void (*pack)(int64_t part, int64_t n, int64_t k, const void *b, int64_t b_k_stride, int64_t b_column_stride,
                 void *packed);
    bool (*packed)(int64_t m, int64_t n, int64_t k, const void *a, int64_t a_row_stride, int64_t a_k_stride,
                   const void *packed, int64_t columns, int64_t depth, int64_t column, void *c, int64_t c_row_stride,
                   bool accumulate, void *scratch);
    int64_t packed_rows; /* fewer rows of A are multiplied faster by B as it lies, even where it was packed before */
    /* B in panels, as panels() takes them, which at most few_rows rows of A are multiplied faster by than by what
     * pack() makes. few_bytes(): of all, from a multiple of 64 on, each of few_columns columns, of which
     * PTO_PACKED_BEGIN is a multiple; 0: a product takes it in another way. few_pack() is as pack(). Since they were
     * added, as weights. */
    int64_t few_columns, few_rows;
    int64_t (*few_bytes)(int64_t n, int64_t k, int64_t b_k_stride, int64_t b_column_stride);
    void (*few_pack)(int64_t part, int64_t n, int64_t k, const void *b, int64_t b_k_stride, int64_t b_column_stride,
                     void *panels);
    /* The same kernels where no cache holds what they multiply by from one call to the next; NULL: these ones. */
    const struct pto_native_product *beyond;
} pto_native_product;

/* Columns of B that are packed at a time; of how many a multiple is where a product begins with what is packed. */
enum { PTO_PACKED_COLUMNS = 128, PTO_PACKED_BEGIN = 64 };

/* What generated code asks of its caller. Calls come from the thread of the call of the function. */
typedef struct pto_native_services {
    uint32_t struct_size, reserved;
    void *self;
    /* Runs all instances, in any order and on any threads, and returns when all are done: 0, or the fault of the first
     * instance that has one. */
    int32_t (*launch)(void *self, pto_native_kernel kernel, const void *frame, int64_t instances, size_t scratch_bytes);
    /* Memory aligned to 64 bytes, until release is called with what `mark` returned before, or the call ends. NULL:
     * there is none. Its contents are arbitrary. */
    void *(*allocate)(void *self, size_t bytes);
    uint64_t (*mark)(void *self);
    void (*release)(void *self, uint64_t mark);
    /* A debug op, by its number in the module: prints `data`, or checks it. Returns 0, or `fault`. */
    int32_t (*debug)(void *self, uint32_t op, const void *data, const int64_t *dims, const int64_t *strides,
                     int32_t fault);
    /* By PTO_PRODUCT_*; they live as long as the call. Since they were added: callers before have none. */
    uint32_t product_count;
    uint32_t thread_count; /* that launches run on; 0: callers that do not say it */
    const pto_native_product *const *products;
    /* Memory, aligned to 64 bytes, for what is made of `const` arguments: with the same key it is the same, and holds
     * the same, in all calls whose constants have the same elements at the same addresses. The key is all else that it
     * is made of. `**is_made`: an earlier call put there what belongs there; the one that does says so. NULL: there is
     * none, or nothing is known of constants. The function itself may be NULL, too. Since it was added: callers before
     * have none. */
    void *(*keep)(void *self, const void *key, size_t key_bytes, size_t bytes, bool **is_made);
    /* Of the last cache before memory, which threads share; 0: not known. Since it was added: callers before have none.
     */
    int64_t cache_bytes;
} pto_native_services;

/* Whether the caller has a member of pto_native_services. */
#define PTO_NATIVE_HAS(services, member) \
    ((services)->struct_size >= offsetof(pto_native_services, member) + sizeof(services)->member)

/* Kernels of one element type, PTO_PRODUCT_*; NULL: the caller has none. */
static inline const pto_native_product *pto_native_product_of(const pto_native_services *services, uint32_t type)
{
    if (!PTO_NATIVE_HAS(services, products) || type >= services->product_count) return NULL;
    return services->products[type];
}

/* The same where products with weights are needed. */
static inline const pto_native_product *pto_native_weights_of(const pto_native_services *services, uint32_t type)
{
    const pto_native_product *const p = pto_native_product_of(services, type);
    return p != NULL && p->struct_size >= sizeof *p && p->weights != NULL ? p : NULL;
}

/* Those of kernels for a call whose arguments have so many bytes: an eighth more than the last cache are read anew in
 * each call. */
static inline const pto_native_product *pto_native_beyond(const pto_native_services *services,
                                                          const pto_native_product *p, int64_t bytes)
{
    const int64_t cache = PTO_NATIVE_HAS(services, cache_bytes) ? services->cache_bytes : 0;
    return p->beyond != NULL && cache > 0 && bytes > cache && bytes - cache > cache / 8 ? p->beyond : p;
}

/* The same for panels, in a call whose arguments have so many bytes. */
static inline const pto_native_product *pto_native_panels_of(const pto_native_services *services, uint32_t type,
                                                             int64_t bytes)
{
    const pto_native_product *const p = pto_native_product_of(services, type);
    return p != NULL && p->struct_size >= sizeof *p && p->panels != NULL ? pto_native_beyond(services, p, bytes) : NULL;
}

/* B of a launch whose instances multiply by it: so many matrices of n columns, k deep, `matrix_bytes` apart. What comes
 * before `packed` has no gaps: it is the key of what stays packed. */
typedef struct pto_native_right {
    const pto_native_product *product;
    const void *b;
    int64_t count, matrix_bytes, n, k, k_stride, column_stride;
    int64_t width; /* of panels for few rows; 0: it is as pack() has it */
    char *packed;  /* each of `bytes`; NULL: a product packs what it takes */
    int64_t bytes;
} pto_native_right;

/* The product with the first k of columns `column` and on of one of the matrices, as block() has it. false: it is not
 * packed, or has no way for such a k, and nothing is done. Its scratch: pto_native_scratch_most(). */
static inline bool pto_native_multiply(const pto_native_right *r, int64_t index, int64_t column, int64_t m, int64_t n,
                                       int64_t k, const void *a, int64_t a_row_stride, int64_t a_k_stride, void *c,
                                       int64_t c_row_stride, bool accumulate, void *scratch)
{
    const char *const packed = r->packed != NULL ? r->packed + index * r->bytes : NULL;
    if (packed == NULL) return false;
    if (r->width == 0)
        return r->product->packed(m, n, k, a, a_row_stride, a_k_stride, packed, r->n, r->k, column, c, c_row_stride,
                                  accumulate, scratch);
    const int64_t panel_bytes = r->bytes / ((r->n + r->width - 1) / r->width);
    r->product->panels(m, n, k, a, a_row_stride, a_k_stride, packed + column / r->width * panel_bytes, r->width,
                       r->width * r->k, c, c_row_stride, accumulate, scratch);
    return true;
}

/* Bytes of scratch for products of at most m rows and n columns with B as it lies, or packed. */
static inline int64_t pto_native_scratch_most(const pto_native_product *p, int64_t m, int64_t n)
{
    const int64_t most = p->scratch_most(m, n),
                  panels = p->struct_size >= sizeof *p && p->panels_scratch != NULL ? p->panels_scratch(m, n) : 0;
    return panels > most ? panels : most;
}

/* An instance of pto_native_packed(): a pto_native_kernel. */
static inline int32_t pto_native_pack_part(const void *right, int64_t instance,
                                           char *scratch) // NOLINT(readability-non-const-parameter)
{
    const pto_native_right *const r = (const pto_native_right *)right;
    const int64_t parts = (r->n + PTO_PACKED_COLUMNS - 1) / PTO_PACKED_COLUMNS, index = instance / parts;
    (void)scratch;
    (r->width == 0 ? r->product->pack : r->product->few_pack)(instance % parts, r->n, r->k,
                                                              (const char *)r->b + index * r->matrix_bytes, r->k_stride,
                                                              r->column_stride, r->packed + index * r->bytes);
    return 0;
}

/* Packs all of it, into `packed`. */
static inline bool pto_native_pack(const pto_native_services *services, const pto_native_right *r)
{
    const int64_t parts = r->count * ((r->n + PTO_PACKED_COLUMNS - 1) / PTO_PACKED_COLUMNS);
    return services->launch(services->self, pto_native_pack_part, r, parts, 0) == 0;
}

/* Packs B where it stays so: what is made of constants is not packed again. `packed` stays NULL where there is no place
 * for it. */
static inline pto_native_right pto_native_kept(const pto_native_services *services, pto_native_right r)
{
    bool *is_made = NULL;
    if (!PTO_NATIVE_HAS(services, keep) || services->keep == NULL) return r;
    r.packed = (char *)services->keep(services->self, &r, offsetof(pto_native_right, packed),
                                      (size_t)(r.count * r.bytes), &is_made);
    if (r.packed != NULL && !*is_made) *is_made = pto_native_pack(services, &r);
    if (r.packed != NULL && !*is_made) r.packed = NULL;
    return r;
}

/* Packs B for a launch whose instances take `rows` of `all_rows` rows at a time, those of all matrices. A constant
 * stays packed, for few rows in panels; what is not is so for the launch, in memory of services->allocate. `packed`
 * stays NULL where nothing is to be packed, or there is no memory, and for what does not stay where no thread takes a
 * matrix twice: what a thread packs by itself is in its caches. `call_bytes`: as for pto_native_panels_of(). */
static inline pto_native_right pto_native_packed(const pto_native_services *services, pto_native_right r,
                                                 int64_t all_rows, int64_t rows, bool is_constant, int64_t call_bytes)
{
    const pto_native_product *const p = r.product;
    const int64_t most = INT64_C(1) << 30; /* more would be memory that nobody expects */
    const int64_t threads = services->thread_count > 0 ? services->thread_count : 1,
                  least = r.count > threads ? r.count : threads;
    if (p->struct_size < sizeof *p || p->packed == NULL || r.count < 1) return r;
    if (is_constant && all_rows > 0 && all_rows <= r.count * p->few_rows) {
        pto_native_right few = r;
        few.width = p->few_columns;
        few.bytes = p->few_bytes(r.n, r.k, r.k_stride, r.column_stride);
        if (few.bytes > 0 && few.bytes <= most / r.count) few = pto_native_kept(services, few);
        few.product = pto_native_beyond(services, p, call_bytes); /* which is not of the key: panels are the same */
        if (few.packed != NULL) return few;
    }
    r.bytes = p->packed_bytes(r.n, r.k, r.k_stride, r.column_stride);
    if (r.bytes <= 0 || r.bytes > most / r.count) return r;
    if (is_constant && all_rows >= r.count * p->packed_rows) {
        r = pto_native_kept(services, r);
        if (r.packed != NULL) return r;
    }
    if (all_rows <= least * rows) return r;
    r.packed = (char *)services->allocate(services->self, (size_t)(r.count * r.bytes));
    if (r.packed != NULL && !pto_native_pack(services, &r)) r.packed = NULL;
    return r;
}

/* One call. Tensors are dense, row-major. */
typedef struct pto_native_call {
    uint32_t struct_size, reserved;
    const pto_native_services *services;
    void *const *arguments; /* one for each parameter, then results */
    const int64_t *symbols; /* in the order of the function's list */
} pto_native_call;

/* A function that a caller may run. */
typedef struct pto_native_function {
    uint32_t struct_size, argument_count, symbol_count, reserved;
    const char *name;           /* as in the module, without `@` */
    const char *const *symbols; /* names, without `$` */
    int32_t (*run)(const pto_native_call *call);
} pto_native_function;

/* What can go wrong: at the op with that number in a walk through the module, the first of which has number 1. */
typedef struct pto_native_fault {
    uint32_t op;
    const char *text;
    /* The op's kind, "tile.gather", and where a user wrote it, "FILE:line:column"; each may be NULL. For callers that
     * do not have the module. */
    const char *kind, *place;
    uint32_t is_memory; /* there was none; not: the op is wrong */
    uint32_t has_index; /* its kernel leaves what pto_index_fault() does; 0 in files from before it was added */
} pto_native_fault;

/* A kernel, and its op by number, as that of a fault. */
typedef struct pto_native_kernel_entry {
    pto_native_kernel run;
    uint32_t op, reserved;
} pto_native_kernel_entry;

/* What a generated file exports, as `pto_native_module_v1`. */
typedef struct pto_native_module {
    uint32_t struct_size, function_count, fault_count, kernel_count;
    const pto_native_function *const *functions;
    const pto_native_fault *faults; /* fault n is faults[n - 1] */
    const pto_native_kernel_entry *kernels;
} pto_native_module;

/* Kernels of a long text are of part 1, 2 or 3, and all else is of part 0: each part is compiled on its own, at the
 * same time as the others, when PTO_PARTS_HERE has the bits of those that are wanted. Then kernels are names of the
 * library. Without PTO_PARTS_HERE the text is one file as any other. */
#define PTO_KERNEL_PARAMETERS (const void *, int64_t, char *)
#if !defined(PTO_PARTS_HERE)
#define PTO_PARTS_HERE 15
#define PTO_KERNEL_HERE(kernel) kernel
#else
#define PTO_KERNEL_HERE(kernel)                                                 \
    kernel##_static_ PTO_KERNEL_PARAMETERS;                                     \
    __attribute__((visibility("hidden"))) int32_t kernel PTO_KERNEL_PARAMETERS; \
    int32_t kernel
#endif
/* What is static and not used costs a compiler no more than reading it. */
#define PTO_KERNEL_ELSEWHERE(kernel)                                            \
    kernel##_static_ PTO_KERNEL_PARAMETERS;                                     \
    __attribute__((visibility("hidden"))) int32_t kernel PTO_KERNEL_PARAMETERS; \
    static int32_t kernel##_static_
#if PTO_PARTS_HERE & 1
#define PTO_MODULE __attribute__((visibility("default"))) const pto_native_module
#else
#define PTO_MODULE static const pto_native_module
#endif
#if PTO_PARTS_HERE & 2
#define PTO_PART_1(kernel) PTO_KERNEL_HERE(kernel)
#else
#define PTO_PART_1(kernel) PTO_KERNEL_ELSEWHERE(kernel)
#endif
#if PTO_PARTS_HERE & 4
#define PTO_PART_2(kernel) PTO_KERNEL_HERE(kernel)
#else
#define PTO_PART_2(kernel) PTO_KERNEL_ELSEWHERE(kernel)
#endif
#if PTO_PARTS_HERE & 8
#define PTO_PART_3(kernel) PTO_KERNEL_HERE(kernel)
#else
#define PTO_PART_3(kernel) PTO_KERNEL_ELSEWHERE(kernel)
#endif

/* Results of so many bytes and more may be written past the caches: pto_streams of <pto/native_vector_memory.h>. */
#define PTO_STREAM_BYTES (8 << 20)

/* From how many bytes on a result of a launch is written so; `bytes`: those of all arrays that it reads and writes.
 * Past the caches no line is read before it is overwritten, which one thread alone would wait for. Several threads are
 * held up by memory itself, and take half the time where the last cache holds what they write: arrays of half again its
 * size are where both ways take as long. */
static inline __attribute__((unused)) int64_t pto_native_stream_bytes(const pto_native_services *services,
                                                                      int64_t bytes)
{
    const int64_t most = 48 << 20, cache = PTO_NATIVE_HAS(services, cache_bytes) ? services->cache_bytes : 0,
                  held = cache > 0 && cache < most / 3 * 2 ? cache / 2 * 3 : most;
    return services->thread_count > 1 && bytes < held ? INT64_MAX : PTO_STREAM_BYTES;
}

/* ---- index arithmetic ---- */

/* Quotients rounded down and up, and the rest of the first; the lesser and the greater. A quotient by 0 is 0: it is
 * computed ahead of loops that do not run. Quotients by what the compiler does not know are calls, of which it keeps
 * one of several: as code in each place they would be most of what it has to compile. */
__attribute__((noinline, const, unused)) static int64_t pto_index_quotient(int64_t a, int64_t b)
{
    return b == 0 ? 0 : a / b - ((a % b != 0) & ((a < 0) != (b < 0)));
}
static inline int64_t pto_index_floordiv(int64_t a, int64_t b)
{
    if (!__builtin_constant_p(b) || b <= 0) return pto_index_quotient(a, b);
    return (b & (b - 1)) == 0 ? a >> __builtin_ctzll((unsigned long long)b) : a / b - (a % b < 0);
}
static inline int64_t pto_index_mod(int64_t a, int64_t b) { return a - b * pto_index_floordiv(a, b); }
static inline int64_t pto_index_ceildiv(int64_t a, int64_t b)
{
    const int64_t down = pto_index_floordiv(a, b);
    return down + (b != 0 && a != b * down);
}
static inline int64_t pto_index_min(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t pto_index_max(int64_t a, int64_t b) { return a > b ? a : b; }
/* Whether n elements from `at` on reach beyond a dim. */
static inline int pto_index_outside(int64_t at, int64_t n, int64_t dim) { return at < 0 || at > dim - n; }
/* What a kernel returns where elements from `at` on do: that fault. The first index that is not in the dim, and the
 * dim, are left at the begin of scratch, as two int64_t. */
static inline int32_t pto_index_fault(char *scratch, int32_t fault, int64_t at, int64_t dim)
{
    const int64_t index_and_extent[2] = {at >= 0 && at < dim ? dim : at, dim};
    memcpy(scratch, index_and_extent, sizeof index_and_extent);
    return fault;
}

/* Of <pto/native_vector_sort.h>: records of a list, at least; bytes of scratch memory, aligned to 64 of them, for the
 * order of rows of n elements. */
#define PTO_SORT_LIST 128
#define PTO_SORT_BYTES(n) (24 * ((n) + 2 * PTO_SORT_LIST))

/* ---- floats in memory ---- */

typedef uint16_t pto_f16_bits, pto_bf16_bits;
typedef uint8_t pto_f8_bits;

/* A float by its bits. */
static inline float pto_float_of_bits(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}
/* The bits of a float. */
static inline uint32_t pto_bits_of_float(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

#if defined(__FLT16_MAX__)
__extension__ typedef _Float16 pto_native_half;
/* An f16 in memory as a float. */
static inline float pto_f16_load_1(uint16_t bits)
{
    pto_native_half x;
    memcpy(&x, &bits, sizeof x);
    return (float)x;
}
/* A float as an f16 in memory, nearest even. */
static inline uint16_t pto_f16_store_1(float x)
{
    const pto_native_half y = (pto_native_half)x;
    uint16_t bits;
    memcpy(&bits, &y, sizeof bits);
    return x != x ? 0x7e00 : bits;
}
#else
/* An f16 in memory as a float. */
static inline float pto_f16_load_1(uint16_t bits)
{
    const uint32_t sign = (uint32_t)(bits & 0x8000u) << 16, magnitude = bits & 0x7fffu;
    if (magnitude >= 0x7c00u) return pto_float_of_bits(sign | 0x7f800000u | (magnitude & 0x3ffu) << 13);
    const float x = pto_float_of_bits(magnitude << 13) * 0x1p112f; /* exponents of both types, subnormals too */
    return pto_float_of_bits(sign | pto_bits_of_float(x));
}
/* A float as an f16 in memory, nearest even. */
static inline uint16_t pto_f16_store_1(float x)
{
    const uint32_t bits = pto_bits_of_float(x), magnitude = bits & 0x7fffffffu;
    const uint16_t sign = (uint16_t)(bits >> 16 & 0x8000u);
    if (magnitude > 0x7f800000u) return 0x7e00;
    if (magnitude >= 0x477ff000u) return (uint16_t)(sign | 0x7c00u);
    if (magnitude < 0x38800000u) {
        /* The sum has the last bit of the result as its own: adding rounds. */
        const float sum = pto_float_of_bits(magnitude) + 0.5f;
        return (uint16_t)(sign | (pto_bits_of_float(sum) - 0x3f000000u));
    }
    const uint32_t rounded = magnitude + 0xfffu + (magnitude >> 13 & 1u);
    return (uint16_t)(sign | (rounded - 0x38000000u) >> 13);
}
#endif
/* The same of bf16. */
static inline float pto_bf16_load_1(uint16_t bits) { return pto_float_of_bits((uint32_t)bits << 16); }
/* A float as a bf16 in memory, nearest even. */
static inline uint16_t pto_bf16_store_1(float x)
{
    const uint32_t bits = pto_bits_of_float(x);
    return x != x ? 0x7fc0 : (uint16_t)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}
/* To the nearest that an f16, or a bf16, holds. */
static inline float pto_f16_round_1(float x) { return pto_f16_load_1(pto_f16_store_1(x)); }
static inline float pto_bf16_round_1(float x) { return pto_bf16_load_1(pto_bf16_store_1(x)); }

/* ---- f32, which f16 and bf16 compute in too; <pto/native_vector.h> has the other functions ---- */

/* The sum of two zeros is -0 only when both are. */
static inline float pto_max_f32_1(float a, float b)
{
    const float larger = a > b ? a : b, equal = a == b && a == 0 ? a + b : larger;
    return a != a ? b : b != b ? a : equal;
}
static inline float pto_min_f32_1(float a, float b)
{
    const float smaller = a < b ? a : b, equal = a == b && a == 0 ? -(-a - b) : smaller;
    return a != a ? b : b != b ? a : equal;
}
/* a * b + c, rounded once where the target has an instruction for it. */
static inline float pto_fma_f32_1(float a, float b, float c)
{
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
    return __builtin_fmaf(a, b, c);
#else
    return a * b + c;
#endif
}

/* ---- integers: T of `bits` bits, U its unsigned one ---- */

#define PTO_NATIVE_INTEGER(name, T, U, bits)                                                                      \
    static inline T pto_add_##name##_1(T a, T b) { return (T)((uint64_t)a + (uint64_t)b); }                       \
    static inline T pto_sub_##name##_1(T a, T b) { return (T)((uint64_t)a - (uint64_t)b); }                       \
    static inline T pto_mul_##name##_1(T a, T b) { return (T)((uint64_t)a * (uint64_t)b); }                       \
    static inline T pto_max_##name##_1(T a, T b) { return a > b ? a : b; }                                        \
    static inline T pto_min_##name##_1(T a, T b) { return a < b ? a : b; }                                        \
    static inline T pto_neg_##name##_1(T a) { return (T)(0 - (uint64_t)a); }                                      \
    static inline T pto_abs_##name##_1(T a) { return a < (T)1 && a != 0 ? (T)(0 - (uint64_t)a) : a; }             \
    static inline T pto_relu_##name##_1(T a) { return a > 0 ? a : 0; }                                            \
    static inline T pto_and_##name##_1(T a, T b) { return (T)(a & b); }                                           \
    static inline T pto_or_##name##_1(T a, T b) { return (T)(a | b); }                                            \
    static inline T pto_xor_##name##_1(T a, T b) { return (T)(a ^ b); }                                           \
    static inline T pto_not_##name##_1(T a) { return (T)~a; }                                                     \
    static inline T pto_shl_##name##_1(T a, T b) { return (uint64_t)b >= (bits) ? (T)0 : (T)((uint64_t)a << b); } \
    static inline T pto_shr_##name##_1(T a, T b)                                                                  \
    {                                                                                                             \
        if ((uint64_t)b >= (bits)) return a < (T)1 && a != 0 ? (T) - 1 : (T)0;                                    \
        return (T)(a >> b);                                                                                       \
    }                                                                                                             \
    static inline T pto_div_##name##_1(T a, T b)                                                                  \
    {                                                                                                             \
        return b == 0 ? (T) - 1 : b == (T) - 1 && (T) - 1 < (T)1 ? (T)(0 - (uint64_t)a) : (T)(a / b);             \
    }                                                                                                             \
    static inline T pto_fmod_##name##_1(T a, T b)                                                                 \
    {                                                                                                             \
        return b == 0 ? (T) - 1 : b == (T) - 1 && (T) - 1 < (T)1 ? (T)0 : (T)(a % b);                             \
    }                                                                                                             \
    static inline T pto_rem_##name##_1(T a, T b)                                                                  \
    {                                                                                                             \
        const T rest = pto_fmod_##name##_1(a, b);                                                                 \
        return b != 0 && rest != 0 && (rest < (T)1) != (b < (T)1) ? (T)(rest + b) : rest;                         \
    }
PTO_NATIVE_INTEGER(i8, int8_t, uint8_t, 8)
PTO_NATIVE_INTEGER(i16, int16_t, uint16_t, 16)
PTO_NATIVE_INTEGER(i32, int32_t, uint32_t, 32)
PTO_NATIVE_INTEGER(i64, int64_t, uint64_t, 64)
PTO_NATIVE_INTEGER(u8, uint8_t, uint8_t, 8)
PTO_NATIVE_INTEGER(u16, uint16_t, uint16_t, 16)
PTO_NATIVE_INTEGER(u32, uint32_t, uint32_t, 32)
PTO_NATIVE_INTEGER(u64, uint64_t, uint64_t, 64)
#undef PTO_NATIVE_INTEGER

/* ---- conversions ---- */

/* NONE: nearest even for float targets, towards zero for integer targets. ROUND: ties away from zero. ODD: truncate,
 * then set the last bit when that was inexact. */
enum { PTO_CAST_NONE, PTO_CAST_RINT, PTO_CAST_ROUND, PTO_CAST_FLOOR, PTO_CAST_CEIL, PTO_CAST_TRUNC, PTO_CAST_ODD };

/* To a whole number. */
static inline double pto_cast_integral(double x, int mode)
{
    const double t = __builtin_trunc(x);
    switch (mode) {
    case PTO_CAST_NONE:
    case PTO_CAST_TRUNC: return t;
    case PTO_CAST_RINT: return __builtin_rint(x);
    case PTO_CAST_ROUND: return __builtin_round(x);
    case PTO_CAST_FLOOR: return __builtin_floor(x);
    case PTO_CAST_CEIL: return __builtin_ceil(x);
    default: return t == x || __builtin_fmod(t, 2) != 0 || x != x ? t : t + __builtin_copysign(1, x);
    }
}

/* To an integer of `bits` bits, in 64: clamps (NaN: 0) or wraps; of what is not finite, without clamping, the lowest
 * value of signed types and all ones of others. */
static inline int64_t pto_cast_to_int(double x, int bits, int is_unsigned, int mode, int saturates)
{
    const int64_t most = is_unsigned ? (int64_t)(bits == 64 ? UINT64_MAX : (UINT64_C(1) << (bits & 63)) - 1)
                                     : (int64_t)((UINT64_C(1) << (bits - 1)) - 1),
                  least = is_unsigned ? 0 : -most - 1;
    if (x - x != 0) {
        if (!saturates) return is_unsigned ? -1 : least;
        return x != x ? 0 : x > 0 ? most : least;
    }
    x = pto_cast_integral(x, mode);
    if (saturates) {
        if (x >= (is_unsigned ? (double)(uint64_t)most : (double)most)) return most;
        if (x <= (double)least) return least;
    }
    if (x >= -0x1p63 && x < 0x1p63) return (int64_t)x;
    const uint64_t magnitude = (uint64_t)__builtin_fmod(__builtin_fabs(x), 0x1p64);
    return (int64_t)(x < 0 ? 0 - magnitude : magnitude);
}

/* An integer in 64 bits, clamped to another type. */
static inline int64_t pto_cast_clamp(int64_t v, int from_unsigned, int bits, int is_unsigned)
{
    const int64_t most = is_unsigned ? (int64_t)((UINT64_C(1) << (bits & 63)) - 1)
                                     : (int64_t)((UINT64_C(1) << (bits - 1)) - 1),
                  least = is_unsigned ? 0 : -most - 1;
    if (bits == 64 && is_unsigned) return !from_unsigned && v < 0 ? 0 : v;
    if ((from_unsigned && v < 0) || v > most) return most;
    return v < least ? least : v;
}

/* Truncated to 53 bits, with an odd last bit when inexact: rounding that once more to at most 51 bits is exact. */
static inline double pto_cast_from_int(int64_t v, int is_unsigned)
{
    const int is_negative = !is_unsigned && v < 0;
    uint64_t a = is_negative ? 0 - (uint64_t)v : (uint64_t)v;
    double scale = is_negative ? -1 : 1;
    for (uint64_t sticky = 0; a >> 53 != 0; scale *= 2) {
        sticky |= a & 1;
        a = a >> 1 | sticky;
    }
    return (double)a * scale;
}

/* A float format: bits of exponent and mantissa, the patterns without sign of the largest value, of what is beyond and
 * of NaN. */
typedef struct pto_cast_format {
    uint32_t bias, mantissa_bits, sign_bit, max_bits, inf_bits, nan_bits;
} pto_cast_format;
static const pto_cast_format pto_format_f32 = {127, 23, 0x80000000u, 0x7f7fffff, 0x7f800000, 0x7fc00000};
static const pto_cast_format pto_format_f16 = {15, 10, 0x8000, 0x7bff, 0x7c00, 0x7e00};
static const pto_cast_format pto_format_bf16 = {127, 7, 0x8000, 0x7f7f, 0x7f80, 0x7fc0};
static const pto_cast_format pto_format_f8e4m3 = {7, 3, 0x80, 0x7e, 0x7f, 0x7f};
static const pto_cast_format pto_format_f8e5m2 = {15, 2, 0x80, 0x7b, 0x7c, 0x7e};

/* Whether a magnitude with this rest between two neighbours goes to the larger one. */
static inline int pto_cast_rounds_up(double rest, int is_odd, int is_negative, int mode)
{
    switch (mode) {
    case PTO_CAST_ROUND: return rest >= 0.5;
    case PTO_CAST_FLOOR: return rest > 0 && is_negative;
    case PTO_CAST_CEIL: return rest > 0 && !is_negative;
    case PTO_CAST_TRUNC: return 0;
    case PTO_CAST_ODD: return rest > 0 && !is_odd;
    default: return rest > 0.5 || (rest == 0.5 && is_odd);
    }
}

/* The pattern of x in a format. Beyond the largest value: that when it clamps, else infinity. */
static inline uint32_t pto_cast_encode(pto_cast_format f, double x, int mode, int saturates)
{
    if (x != x) return f.nan_bits;
    const int is_negative = __builtin_signbit(x) != 0;
    const uint32_t sign = is_negative ? f.sign_bit : 0;
    const double a = __builtin_fabs(x);
    int e;
    if (__builtin_isinf(a)) return sign | (saturates ? f.max_bits : f.inf_bits);
    if (a == 0) return sign;
    (void)__builtin_frexp(a, &e);
    /* 2^quantum is one unit of the last place: of the binade of a, or of the subnormals. */
    const int least = 1 - (int)f.bias - (int)f.mantissa_bits;
    const int quantum = e - 1 - (int)f.mantissa_bits > least ? e - 1 - (int)f.mantissa_bits : least;
    const double scaled = __builtin_ldexp(a, -quantum), whole = __builtin_floor(scaled);
    uint64_t bits = (uint64_t)whole;
    bits += (uint64_t)pto_cast_rounds_up(scaled - whole, (int)(bits & 1), is_negative, mode);
    bits += (uint64_t)(quantum - least) << f.mantissa_bits;
    if (bits > f.max_bits) bits = saturates ? f.max_bits : f.inf_bits;
    return sign | (uint32_t)bits;
}

/* The value of a pattern of a format of 8 bits. */
static inline float pto_cast_decode(pto_cast_format f, uint32_t bits)
{
    const uint32_t magnitude = bits & (f.sign_bit - 1), mantissa = magnitude & ((1u << f.mantissa_bits) - 1);
    const int exponent = (int)(magnitude >> f.mantissa_bits), least = 1 - (int)f.bias - (int)f.mantissa_bits;
    const float sign = (bits & f.sign_bit) != 0 ? -1.0f : 1.0f;
    if (magnitude > f.max_bits)
        return f.inf_bits != f.nan_bits && mantissa == 0 ? sign * __builtin_inff() : __builtin_nanf("");
    if (exponent == 0) return sign * __builtin_ldexpf((float)mantissa, least);
    return sign * __builtin_ldexpf((float)(mantissa + (1u << f.mantissa_bits)), least + exponent - 1);
}
static inline float pto_f8e4m3_load_1(uint8_t bits) { return pto_cast_decode(pto_format_f8e4m3, bits); }
static inline float pto_f8e5m2_load_1(uint8_t bits) { return pto_cast_decode(pto_format_f8e5m2, bits); }
static inline uint8_t pto_f8e4m3_store_1(float x)
{
    return (uint8_t)pto_cast_encode(pto_format_f8e4m3, (double)x, PTO_CAST_RINT, 0);
}
static inline uint8_t pto_f8e5m2_store_1(float x)
{
    return (uint8_t)pto_cast_encode(pto_format_f8e5m2, (double)x, PTO_CAST_RINT, 0);
}
/* A power of two, without sign and zero. */
static inline float pto_f8e8m0_load_1(uint8_t bits)
{
    return bits == 0xff ? __builtin_nanf("") : __builtin_ldexpf(1.0f, (int)bits - 127);
}
static inline uint32_t pto_cast_encode_f8e8m0(double x, int mode, int saturates)
{
    int e;
    if (x != x || __builtin_signbit(x)) return 0xff;
    if (__builtin_isinf(x)) return saturates ? 0xfe : 0xff;
    if (x <= 0x1p-127) return 0;
    const double rest = __builtin_frexp(x, &e) * 2 - 1; /* x = (1 + rest) * 2^(e-1) */
    const int exponent = e - 1 + 127 + pto_cast_rounds_up(rest, ((e - 1 + 127) & 1) != 0, 0, mode);
    if (exponent < 0) return 0;
    return exponent > 0xfe ? saturates ? 0xfe : 0xff : (uint32_t)exponent;
}
static inline uint8_t pto_f8e8m0_store_1(float x)
{
    return (uint8_t)pto_cast_encode_f8e8m0((double)x, PTO_CAST_RINT, 0);
}

#ifdef __cplusplus
}
#endif
#endif
