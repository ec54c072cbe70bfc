/* Element types as C has them, by their rows in <pto/ops/types.def>. */
#ifndef PTO_C_TYPES_H
#define PTO_C_TYPES_H

#include <pto/names.h>

/* Whether numbers of the type may be below 0; of floats 0. */
static inline int c_type_is_signed(pto_dtype t)
{
    const uint32_t group = pto_dtype_class(t);
    return group == PTO_CLASS_SINT || group == PTO_CLASS_INDEX;
}

/* The integer of <stdint.h> of that size and sign; NULL where there is none. */
static inline const char *c_integer_of(int64_t bytes, int is_signed)
{
    switch (bytes) {
    case 1: return is_signed ? "int8_t" : "uint8_t";
    case 2: return is_signed ? "int16_t" : "uint16_t";
    case 4: return is_signed ? "int32_t" : "uint32_t";
    case 8: return is_signed ? "int64_t" : "uint64_t";
    default: return NULL;
    }
}

/* That of an element type of integers, truth values or indices; NULL of others. */
static inline const char *c_integer_type(pto_dtype t)
{
    const uint32_t group = pto_dtype_class(t);
    if (group == PTO_CLASS_FLOAT || group == PTO_CLASS_OPAQUE) return NULL;
    return c_integer_of(pto_dtype_bytes(t), c_type_is_signed(t));
}

#endif
