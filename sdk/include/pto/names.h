/* Words and sizes for the enumerations of <pto/abi.h>, as the IR text, machine files and messages write them. */
#ifndef PTO_NAMES_H
#define PTO_NAMES_H

#include <pto/abi.h>

#include <string.h>

#define PTO_TEXT(ID, text) text,
#define PTO_DTYPE_TEXT(ID, text, bytes) text,
#define PTO_DTYPE_BYTES(ID, text, bytes) bytes,

/* "?" for none and for a number that is no enumerator. The text is static. */
static inline const char *pto_dtype_name(pto_dtype dtype)
{
    static const char *const names[] = {"?", PTO_DTYPES(PTO_DTYPE_TEXT)};
    return names[dtype < PTO_DTYPE_COUNT ? dtype : 0];
}
static inline const char *pto_space_name(pto_space space)
{
    static const char *const names[] = {"?", PTO_SPACES(PTO_TEXT)};
    return names[space < PTO_SPACE_COUNT ? space : 0];
}
static inline const char *pto_layout_name(pto_layout layout)
{
    static const char *const names[] = {"?", PTO_LAYOUTS(PTO_TEXT)};
    return names[layout < PTO_LAYOUT_COUNT ? layout : 0];
}
static inline const char *pto_pipe_name(uint32_t pipe)
{
    static const char *const names[] = {"?",
#define UNIT(ID, role, pipe, ...) pipe,
#include <pto/ops/units.def>
                                        "all"};
    return names[pipe < PTO_PIPE_COUNT ? pipe : 0];
}

/* Of one element in memory; 0 for none. */
static inline int64_t pto_dtype_bytes(pto_dtype dtype)
{
    static const uint8_t bytes[] = {0, PTO_DTYPES(PTO_DTYPE_BYTES)};
    return bytes[dtype < PTO_DTYPE_COUNT ? dtype : 0];
}
static inline int pto_dtype_is_float(pto_dtype dtype) { return dtype >= PTO_F32 && dtype <= PTO_F8E8M0; }

/* The enumerator with a name; NONE when there is none. */
static inline pto_space pto_space_by_name(pto_str name)
{
    for (pto_space i = 1; i < PTO_SPACE_COUNT; i++) {
        const char *text = pto_space_name(i);
        if (strlen(text) == name.n && memcmp(text, name.p, name.n) == 0) return i;
    }
    return PTO_SPACE_NONE;
}
static inline uint32_t pto_pipe_by_name(pto_str name)
{
    for (uint32_t i = 1; i < PTO_PIPE_COUNT; i++) {
        const char *text = pto_pipe_name(i);
        if (strlen(text) == name.n && memcmp(text, name.p, name.n) == 0) return i;
    }
    return PTO_PIPE_NONE;
}

#endif
