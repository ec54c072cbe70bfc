/* Words and sizes for the enumerations of <pto/abi.h>, as the IR text, machine files and messages write them. */
#ifndef PTO_NAMES_H
#define PTO_NAMES_H

#include <pto/abi.h>

#include <string.h>

/* "?" for none and for a number that is not an enumerator. The text is static. */
static inline const char *pto_dtype_name(pto_dtype dtype)
{
    static const char *const names[] = {
        "?",
#define DTYPE(ID, text, ...) text,
#include <pto/ops/types.def>
    };
    return names[dtype < PTO_DTYPE_COUNT ? dtype : 0];
}
static inline const char *pto_space_name(pto_space space)
{
    static const char *const names[] = {
        "?",
#define SPACE(ID, text, ...) text,
#include <pto/ops/types.def>
    };
    return names[space < PTO_SPACE_COUNT ? space : 0];
}
static inline const char *pto_layout_name(pto_layout layout)
{
    static const char *const names[] = {
        "?",
#define LAYOUT(ID, text, ...) text,
#include <pto/ops/types.def>
    };
    return names[layout < PTO_LAYOUT_COUNT ? layout : 0];
}

/* What a unit does, as machine files write it. */
static inline const char *pto_unit_name(uint32_t unit)
{
    static const char *const names[] = {
        "?",
#define UNIT(ID, role, ...) role,
#include <pto/ops/units.def>
    };
    return names[unit < PTO_UNIT_COUNT ? unit : 0];
}

/* Of one element in memory; 0 for none. */
static inline int64_t pto_dtype_bytes(pto_dtype dtype)
{
    static const uint8_t bytes[] = {
        0,
#define DTYPE(ID, text, bits, ...) ((bits) + 7) / 8,
#include <pto/ops/types.def>
    };
    return bytes[dtype < PTO_DTYPE_COUNT ? dtype : 0];
}
static inline int pto_dtype_is_float(pto_dtype dtype)
{
    enum { PTO_IS_FLOAT = 1, PTO_IS_SINT = 0, PTO_IS_UINT = 0, PTO_IS_BOOL = 0, PTO_IS_INDEX = 0, PTO_IS_OPAQUE = 0 };
    static const uint8_t is_float[] = {
        0,
#define DTYPE(ID, text, bits, group, ...) PTO_IS_##group,
#include <pto/ops/types.def>
    };
    return is_float[dtype < PTO_DTYPE_COUNT ? dtype : 0];
}

/* The enumerator with a name; NONE when there is none. */
static inline pto_space pto_space_by_name(pto_str name)
{
    for (pto_space i = 1; i < PTO_SPACE_COUNT; i++) {
        const char *text = pto_space_name(i);
        if (strlen(text) == name.n && memcmp(text, name.p, name.n) == 0) return i;
    }
    return PTO_SPACE_NONE;
}

#endif
