/* Elements of arrays and tiles: size, decoding, encoding, conversion.
 *
 * Floats are IEEE with subnormals; a NaN that arithmetic makes is the canonical quiet one: f32 7fc00000, f16 7e00,
 * bf16 7fc0, f8e4m3 7f, f8e5m2 7e, f8e8m0 ff. f8e4m3 has no infinity (largest 448); f8e8m0 is a power of two, without
 * sign or zero. bool is one byte, 0 or 1. index is a signed 64-bit integer. 64-bit integers travel as int64_t with the
 * bits of the value. Memory may have any alignment. */
#ifndef PTO_SEMANTICS_ELEMENT_H
#define PTO_SEMANTICS_ELEMENT_H

#include <pto/names.h>
#include <pto/relation.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum element_class { ELEMENT_NONE, ELEMENT_FLOAT, ELEMENT_SINT, ELEMENT_UINT, ELEMENT_BOOL } element_class;

/* NONE: nearest even for float targets, towards zero for integer targets. ROUND: nearest, ties away from zero.
 * ODD: truncate, then set the last bit when that was inexact. */
typedef enum round_mode {
    ROUND_NONE,
    ROUND_RINT,
    ROUND_ROUND,
    ROUND_FLOOR,
    ROUND_CEIL,
    ROUND_TRUNC,
    ROUND_ODD,
    ROUND_COUNT
} round_mode;
/* By the text of the attribute `mode`; ROUND_COUNT when there is no such mode. */
round_mode round_mode_by_name(const char *p, size_t n);

/* A number from an attribute or a scalar value. */
typedef struct number {
    bool is_int;
    int64_t i; /* when is_int */
    double f;  /* otherwise */
} number;
number number_from_int(int64_t i);
number number_from_float(double f);

element_class element_class_of(pto_dtype t); /* ELEMENT_NONE for no type */
size_t element_bytes(pto_dtype t);           /* 0 for no type */
bool element_is_float(pto_dtype t);          /* whatever its size */
bool element_is_wide_float(pto_dtype t);     /* one that ops compute in: of more than 8 bits */
bool element_is_unsigned(pto_dtype t);       /* u8..u64, bool */
pto_dtype element_bits_type(pto_dtype t);    /* the unsigned integer type of the same size */
/* Lowest and highest value of an integer type; the highest of u64 as its bits. */
int64_t element_int_min(pto_dtype t);
int64_t element_int_max(pto_dtype t);

/* Runs: n elements, `stride` elements apart (any sign, 0 repeats one).
 * read_f32: float types. read_f64: every type, exact except for 64-bit integers, which round to nearest even.
 * read_i64: integers, bool, index. */
void element_read_f32(pto_dtype t, const void *from, int64_t stride, size_t n, float *out);
void element_read_f64(pto_dtype t, const void *from, int64_t stride, size_t n, double *out);
void element_read_i64(pto_dtype t, const void *from, int64_t stride, size_t n, int64_t *out);
/* The element at `from` as a number. */
number element_number(pto_dtype t, const void *from);
/* Rounds to nearest even, once; float types only. Any NaN becomes the canonical one. */
void element_write_f32(pto_dtype t, void *to, int64_t stride, size_t n, const float *from);
void element_write_f64(pto_dtype t, void *to, int64_t stride, size_t n, const double *from);
/* Wraps; bool: not zero. Integers, bool, index. */
void element_write_i64(pto_dtype t, void *to, int64_t stride, size_t n, const int64_t *from);
/* Copies bits. Strides count elements of `bytes`. */
void element_copy(size_t bytes, void *to, int64_t to_stride, const void *from, int64_t from_stride, size_t n);

/* Rounds each to the float type t and back: what storing and loading it would make of it. */
void element_round_f32(pto_dtype t, size_t n, float *values);

/* The bits of x in a float type. Overflow: saturate ? largest finite : infinity (f8e4m3, f8e8m0: NaN). */
uint32_t element_encode(pto_dtype t, double x, round_mode mode, bool saturate);
/* The value of a pattern of a float type with a sign, from the definition: slower than element_read_f32, for types that
 * have no conversion of their own. */
double element_decode(pto_dtype t, uint32_t bits);

/* Converts n elements. Integer targets: rounding by mode, then clamp (saturate) or wrap; NaN and infinities: saturate ?
 * 0 and the limits : the lowest value (signed) or all ones (unsigned). bool targets: not zero. Equal float types:
 * `integral` rounds to integral values by mode (NONE: copy), otherwise bits are copied. */
void element_convert(pto_dtype to_type, void *to, int64_t to_stride, pto_dtype from_type, const void *from,
                     int64_t from_stride, size_t n, round_mode mode, bool saturate, bool integral);

/* Whether `a r b`, both rounded to type t first. With a NaN only `ne` holds. */
bool element_relation_holds(pto_dtype t, pto_relation r, number a, number b);

/* The bits of a number in type t, rounded to nearest even. saturate: integer targets clamp; otherwise they wrap. */
uint64_t element_from_number(pto_dtype t, number x, bool saturate);

#endif
