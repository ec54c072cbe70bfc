/* Contractions C[m x n] (+)= A[m x k] B[k x n], one row for each pair of element types and instruction set.
 *
 * Each element of C is a chain over k, upwards, from 0 or from what C holds, in parts where `sums` says so: its bits
 * depend neither on m and n, nor on how the product is cut into blocks, nor on strides and alignment. Elements have any
 * alignment. Sizes and strides count elements, and strides have any sign; those of I4 are along halves of bytes. No
 * function has state of its own, so each may be called on any thread; none fails. */
#ifndef PTO_KERNEL_TABLE_H
#define PTO_KERNEL_TABLE_H

#include <pto/abi.h>

#include <stdbool.h>
#include <stdint.h>

/* Instruction sets, as bits of a mask. Each means what is named, whatever the model of the processor. */
enum {
    PTO_ISA_AVX2 = 1 << 0,        /* AVX2, FMA and F16C */
    PTO_ISA_AVX512 = 1 << 1,      /* AVX-512 F, BW, DQ and VL */
    PTO_ISA_AVX512_VNNI = 1 << 2, /* and VBMI is not needed */
    PTO_ISA_AVX512_BF16 = 1 << 3,
    PTO_ISA_AMX_INT8 = 1 << 4,
    PTO_ISA_AMX_BF16 = 1 << 5,
    PTO_ISA_COUNT = 6
};

/* Signed 4-bit integers, two in a byte: element e of an array is in byte e / 2, in the low half when e is even. The IR
 * has no such type; it stands beside pto_dtype here. */
enum { PTO_KERNEL_I4 = PTO_DTYPE_COUNT };

/* How a row sums. */
typedef enum pto_contraction_sums {
    /* Exact products, added modulo 2^32. */
    PTO_SUMS_EXACT,
    /* c = fma(a, b, c) in f32 for k upwards: all rows of a pair of types have the same bits. */
    PTO_SUMS_FMA,
    /* The same, but sums that are subnormal in f32 become 0, and so does what C held: off by at most (k + 1) * 2^-126.
     */
    PTO_SUMS_FMA_FLUSHED,
    /* For each 32 of k, the last ones filled up with 0, the even and the odd ones by fma from 0 for k upwards; the two
     * sums are added, and that to c. Flushed as above. Blocks along k are multiples of 32. */
    PTO_SUMS_BY_TILES,
} pto_contraction_sums;

/* Packs `count` rows of A or columns of B, k deep, into panels of mr or nr each, which begin at multiples of 64 bytes,
 * `panel_bytes` apart. Reads element offset + i * stride + p * k_stride. What panels have beyond `count` and k adds
 * nothing. */
typedef void pto_contraction_pack(int64_t count, int64_t k, const void *from, int64_t offset, int64_t stride,
                                  int64_t k_stride, void *panels, int64_t panel_bytes);

/* C[m x n] = or += one panel of A times one of B; m <= mr, n <= nr. C is of f32 or i32. */
typedef void pto_contraction_micro(int64_t k, const void *a_panel, const void *b_panel, void *c, int64_t c_row_stride,
                                   int64_t m, int64_t n, bool accumulate);

/* The same with a panel of B that is `b_depth` deep, of which the first k count, a multiple of k_group. */
typedef void pto_contraction_micro_deeper(int64_t k, int64_t b_depth, const void *a_panel, const void *b_panel, void *c,
                                          int64_t c_row_stride, int64_t m, int64_t n, bool accumulate);

/* The same for operands as they lie: elements i * a_row_stride + p * a_k_stride of A, and of B p * b_k_stride + j, of
 * nr columns also where n is less. */
typedef void pto_contraction_micro_strided(int64_t k, const void *a, int64_t a_row_stride, int64_t a_k_stride,
                                           const void *b, int64_t b_k_stride, void *c, int64_t c_row_stride, int64_t m,
                                           int64_t n, bool accumulate);

/* The whole product. scratch: scratch_bytes(m, n, k) bytes, of any alignment, for the time of the call. C does not
 * overlap A and B. k = 0: C becomes 0, or stays. */
typedef void pto_contraction_block(int64_t m, int64_t n, int64_t k, const void *a, int64_t a_row_stride,
                                   int64_t a_k_stride, const void *b, int64_t b_k_stride, int64_t b_column_stride,
                                   void *c, int64_t c_row_stride, bool accumulate, void *scratch);

/* Computes C for few rows without packing B, when it has a way for these strides; false when it does not. */
typedef bool pto_contraction_skinny(int64_t m, int64_t n, int64_t k, const void *a, int64_t a_row_stride,
                                    int64_t a_k_stride, const void *b, int64_t b_k_stride, int64_t b_column_stride,
                                    void *c, int64_t c_row_stride, bool accumulate);

/* B in panels of `width` columns beside each other, k deep or deeper, `panel_stride` elements apart: weights that lie
 * so. Scratch: panels_scratch(m, n) bytes, of any alignment. */
typedef void pto_contraction_panels(int64_t m, int64_t n, int64_t k, const void *a, int64_t a_row_stride,
                                    int64_t a_k_stride, const void *b, int64_t width, int64_t panel_stride, void *c,
                                    int64_t c_row_stride, bool accumulate, void *scratch);

/* The same for few rows and the widths that it has a way for; false when it has none. Scratch: CONTRACTION_FEW_BYTES
 * of <kernel_rows.h>, from a cache line on. */
typedef bool pto_contraction_few(int64_t m, int64_t n, int64_t k, const void *a, int64_t a_row_stride,
                                 int64_t a_k_stride, const void *b, int64_t width, int64_t panel_stride, void *c,
                                 int64_t c_row_stride, bool accumulate, void *scratch);

/* Bytes of all of B packed, from a cache line on; 0: there is nothing of it, or products take it as it lies. */
typedef int64_t pto_contraction_packed_bytes(int64_t n, int64_t k, int64_t b_k_stride, int64_t b_column_stride);

/* Packs PTO_PACKED_COLUMNS columns of <pto/native.h> from that many times `part` on, of n. */
typedef void pto_contraction_pack_part(int64_t part, int64_t n, int64_t k, const void *b, int64_t b_k_stride,
                                       int64_t b_column_stride, void *packed);

/* The product with n columns from `column` on, a multiple of PTO_PACKED_BEGIN, and the first k of each, of what is
 * packed: `columns`, `depth` deep. Its bits are those of `block`; false: part of a group along k is asked for, and
 * nothing is done. Scratch: scratch_most(m, n) bytes, of any alignment. */
typedef bool pto_contraction_packed(int64_t m, int64_t n, int64_t k, const void *a, int64_t a_row_stride,
                                    int64_t a_k_stride, const void *packed, int64_t columns, int64_t depth,
                                    int64_t column, void *c, int64_t c_row_stride, bool accumulate, void *scratch);

/* Bytes of all of B in panels of few_columns, as pto_contraction_panels takes them; 0: there is nothing of it, or it is
 * for no number of rows faster. few_pack makes them of what has a stride of 1, as pto_contraction_pack_part. */
typedef int64_t pto_contraction_few_bytes(int64_t n, int64_t k, int64_t b_k_stride, int64_t b_column_stride);

/* One row. Rows are static. */
typedef struct pto_contraction {
    const char *name;    /* "bf16 bf16 avx512" */
    pto_dtype a, b, acc; /* acc: F32 or I32, the type of C */
    uint32_t isa;        /* PTO_ISA_*, all of which it needs */
    pto_contraction_sums sums;
    int64_t mr, nr, k_group;            /* panels are zero up to a multiple of k_group */
    int64_t a_bytes, b_bytes;           /* of one element in a panel */
    int64_t a_tail_bytes, b_tail_bytes; /* of what a panel holds after its elements, for each row or column */
    int64_t m_block, k_block, n_block;  /* most of each that is packed at a time */
    pto_contraction_pack *pack_a, *pack_b;
    pto_contraction_micro *micro;
    pto_contraction_micro_deeper *micro_deeper;   /* or NULL; without b_tail_bytes `micro` does that */
    pto_contraction_micro_strided *micro_strided; /* or NULL */
    int64_t a_near_bytes, b_near_bytes; /* operands that lie within so many bytes may be left unpacked for it */
    int64_t near_rows;                  /* of A at least, for which `skinny` is slower than that with both unpacked */
    pto_contraction_skinny *skinny;     /* or NULL */
    pto_contraction_few *few;           /* or NULL */
    int64_t packed_rows;                /* of A at least, for which it is faster with all of B packed before */
    bool asks_ahead;                    /* `micro` asks for what comes next of a panel of B */
    bool flushes;                       /* `block` flushes what C holds, and lets the processor flush sums */
    int64_t (*scratch_bytes)(int64_t m, int64_t n, int64_t k);
    int64_t (*scratch_most)(int64_t m, int64_t n); /* of at most m x n, and of any k */
    pto_contraction_block *block;
    int64_t (*panels_scratch)(int64_t m, int64_t n); /* as scratch_most */
    pto_contraction_panels *panels;
    pto_contraction_packed_bytes *packed_bytes;
    pto_contraction_pack_part *pack;
    pto_contraction_packed *packed;
    int64_t few_columns, few_rows; /* so many rows at most are faster with all of B in panels of so many columns */
    pto_contraction_few_bytes *few_bytes;
    pto_contraction_pack_part *few_pack;
    pto_contraction_panels *panels_beyond; /* where no cache holds B; NULL: `panels` */
} pto_contraction;

/* What a processor of x86-64 and its system say, as CPUID and XGETBV have it: of leaf 1 ECX, of leaf 7 EBX, ECX and
 * EDX, of leaf 7.1 EAX (0: there is none), of extended control register 0 the lower half; and whether the system lets
 * this process use the tiles of AMX, which it is asked for. */
typedef struct pto_isa_facts {
    uint32_t leaf1_c, leaf7_b, leaf7_c, leaf7_d, leaf7_1_a, saves;
    bool permits_tiles;
} pto_isa_facts;

/* The instruction sets that these facts amount to. */
uint32_t pto_isa_of_facts(const pto_isa_facts *facts);

/* Instruction sets of this processor that the system lets this process use. Asks Linux for AMX, which answers the same
 * each time, and leaves it out where its rows and their twins disagree; call it once and keep the answer. */
uint32_t pto_isa_of_host(void);

/* The same without AVX512_BF16 where its rows take longer than those of AVX-512, as on some processors, whose
 * instruction for pairs of bf16 is slower than two for f32. Both have the same bits. Measures for some 20 us. */
uint32_t pto_isa_worth_using(uint32_t isa);

/* "avx2", "avx512", "avx512-vnni", ..; NULL when there is no such bit. The text is static. */
const char *pto_isa_name(uint32_t bit);

/* The last row for these types that `isa` has all instruction sets of; NULL when there is no row for these types. */
const pto_contraction *pto_contraction_find(pto_dtype a, pto_dtype b, pto_dtype acc, uint32_t isa);

/* Whether both rows, of the same panels and types, compute the same bits of a small product; the first one runs here.
 */
bool pto_contraction_agrees(const pto_contraction *row, const pto_contraction *other);

/* The rows of AMX with its instructions in plain C, which run everywhere and are never found: for tests. NULL past the
 * last one. */
const pto_contraction *pto_contraction_twin_at(uint32_t index);

/* All rows, those of one instruction set after the other; NULL past the last one. */
const pto_contraction *pto_contraction_at(uint32_t index);

/* Bytes of one panel of A or B, k deep. */
int64_t pto_panel_a_bytes(const pto_contraction *row, int64_t k);
int64_t pto_panel_b_bytes(const pto_contraction *row, int64_t k);

/* Copies `rows` lines of `bytes` each; `streaming` goes past the caches, for more than they hold that nobody reads
 * soon. */
void pto_copy_rows(int64_t rows, int64_t bytes, const void *from, int64_t from_row_bytes, void *to,
                   int64_t to_row_bytes, bool streaming);

/* to[j][i] = from[i][j] for elements of 1, 2, 4 or 8 bytes; strides of rows in elements. */
void pto_transpose(int64_t element_bytes, int64_t rows, int64_t columns, const void *from, int64_t from_row_stride,
                   void *to, int64_t to_row_stride);

#endif
