/* Words and sizes for the enumerations of <pto/abi.h>, as the IR text, machine files and messages write them, and short
 * forms of what the host says of memory spaces and layouts. */
#ifndef PTO_NAMES_H
#define PTO_NAMES_H

#include <pto/call.h>

#include <math.h>
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

/* ---- memory spaces and layouts ----
 * "?" for none; NONE when there is no such name. */
static inline const char *pto_space_name(const pto_run *run, pto_space space)
{
    return pto_name_text(run, PTO_NAME_SPACE, space).p;
}
static inline pto_space pto_space_by_name(const pto_run *run, pto_str name)
{
    return pto_name_find(run, PTO_NAME_SPACE, name);
}
/* PTO_ROLE_* */
static inline uint32_t pto_space_role(const pto_run *run, pto_space space)
{
    return pto_name_role(run, PTO_NAME_SPACE, space);
}
static inline pto_space pto_space_of_role(const pto_run *run, uint32_t role)
{
    return pto_name_of_role(run, PTO_NAME_SPACE, role);
}
/* Facts of the machine, of its first spaces of these roles; NULL when it lacks them. */
static inline pto_space_facts pto_space_facts_of(const pto_run *run, uint32_t role)
{
    return pto_machine_space(run, pto_space_of_role(run, role));
}
static inline pto_path_facts pto_path_facts_of(const pto_run *run, uint32_t from_role, uint32_t to_role)
{
    return pto_machine_path(run, pto_space_of_role(run, from_role), pto_space_of_role(run, to_role));
}
/* Bytes that tiles may fill in a space, the alignment of buffers in it; `absent` when the machine does not have it. */
static inline int64_t pto_space_usable_bytes(const pto_run *run, pto_space space, int64_t absent)
{
    const pto_space_facts facts = pto_machine_space(run, space);
    return facts != NULL ? facts->usable_bytes : absent;
}
static inline int64_t pto_space_align(const pto_run *run, pto_space space, int64_t absent)
{
    const pto_space_facts facts = pto_machine_space(run, space);
    return facts != NULL ? facts->align : absent;
}
static inline const char *pto_layout_name(const pto_run *run, pto_layout layout)
{
    return pto_name_text(run, PTO_NAME_LAYOUT, layout).p;
}
static inline pto_layout pto_layout_by_name(const pto_run *run, pto_str name)
{
    return pto_name_find(run, PTO_NAME_LAYOUT, name);
}
/* PTO_ORDER_* */
static inline uint32_t pto_layout_order(const pto_run *run, pto_layout layout)
{
    return pto_name_role(run, PTO_NAME_LAYOUT, layout);
}
static inline pto_layout pto_layout_of_order(const pto_run *run, uint32_t order)
{
    return pto_name_of_role(run, PTO_NAME_LAYOUT, order);
}

/* ---- pipes ----
 * "all" is PTO_PIPE_ALL. */
static inline pto_str pto_pipe_name(const pto_run *run, pto_pipe pipe)
{
    if (pipe == PTO_PIPE_ALL) return PTO_STR("all");
    return pipe != PTO_PIPE_NONE ? pto_name_text(run, PTO_NAME_PIPE, pipe) : pto_no_str();
}
static inline pto_pipe pto_pipe_by_name(const pto_run *run, pto_str name)
{
    if (pto_str_is(name, "all")) return PTO_PIPE_ALL;
    return pto_name_find(run, PTO_NAME_PIPE, name);
}
/* What its unit does, PTO_UNIT_*; NONE of all. */
static inline uint32_t pto_pipe_role(const pto_run *run, pto_pipe pipe)
{
    if (pipe == PTO_PIPE_ALL) return PTO_UNIT_NONE;
    return pto_name_role(run, PTO_NAME_PIPE, pipe);
}

/* How lines of elements follow each other in a tile of an order, or of boxes: NONE where there are no boxes. */
enum { PTO_LINES_NONE, PTO_LINES_ROW, PTO_LINES_COLUMN };
static inline uint32_t pto_order_boxes(uint32_t order)
{
    static const uint8_t lines[] = {
        0,
#define LAYOUT_ORDER(ID, text, boxes, elements, doc) PTO_LINES_##boxes,
#include <pto/ops/types.def>
    };
    return lines[order < PTO_ORDER_COUNT ? order : 0];
}
static inline uint32_t pto_order_elements(uint32_t order)
{
    static const uint8_t lines[] = {
        0,
#define LAYOUT_ORDER(ID, text, boxes, elements, doc) PTO_LINES_##elements,
#include <pto/ops/types.def>
    };
    return lines[order < PTO_ORDER_COUNT ? order : 0];
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
/* Bytes of a tile of rows x columns: of `mask` rows of bits (columns, where that is the order), each from a multiple of
 * 32 bytes on. -1: negative extents, or beyond 63 bits. */
static inline int64_t pto_tile_bytes(pto_dtype dtype, uint32_t order, int64_t rows, int64_t columns)
{
    const int is_down = order == PTO_ORDER_COLUMN;
    const int64_t lines = is_down ? columns : rows, length = is_down ? rows : columns;
    int64_t line = length, bytes = 0;
    if (rows < 0 || columns < 0) return -1;
    if (dtype == PTO_MASK)
        line = (length / 256 + (length % 256 != 0)) * 32;
    else if (__builtin_mul_overflow(length, pto_dtype_bytes(dtype), &line))
        return -1;
    return __builtin_mul_overflow(lines, line, &bytes) ? -1 : bytes;
}
/* What the numbers of a type are: the class of its row. */
enum {
    PTO_CLASS_NONE,
    PTO_CLASS_FLOAT,
    PTO_CLASS_SINT,
    PTO_CLASS_UINT,
    PTO_CLASS_BOOL,
    PTO_CLASS_INDEX, /* signed */
    PTO_CLASS_OPAQUE /* not numbers: masks and records */
};
static inline uint32_t pto_dtype_class(pto_dtype dtype)
{
    static const uint8_t classes[] = {
        0,
#define DTYPE(ID, text, bits, group, ...) PTO_CLASS_##group,
#include <pto/ops/types.def>
    };
    return classes[dtype < PTO_DTYPE_COUNT ? dtype : 0];
}
static inline int pto_dtype_is_float(pto_dtype dtype) { return pto_dtype_class(dtype) == PTO_CLASS_FLOAT; }
/* Floats of 8 bits are stored, converted and multiplied; ops compute in wider ones. */
static inline int pto_dtype_is_byte_float(pto_dtype dtype)
{
    return pto_dtype_is_float(dtype) && pto_dtype_bytes(dtype) == 1;
}

/* Floats of 16 bits, all of whose values f32 has. */
static inline int pto_dtype_is_half_float(pto_dtype dtype)
{
    return pto_dtype_is_float(dtype) && pto_dtype_bytes(dtype) == 2;
}

/* The fields of a float, as in IEEE 754, and the patterns of its largest finite value and of a NaN, without sign; 0 of
 * other types. Where the pattern after the largest is not that of infinity, the type has none. */
typedef struct pto_float_format {
    uint8_t exponent_bits, mantissa_bits;
    uint32_t largest, quiet_nan;
} pto_float_format;
static inline pto_float_format pto_dtype_float_format(pto_dtype dtype)
{
    static const pto_float_format formats[] = {
        {0, 0, 0, 0},
#define DTYPE(ID, text, bits, group, exponent_bits, mantissa_bits, largest, quiet_nan, ...) \
    {exponent_bits, mantissa_bits, largest, quiet_nan},
#include <pto/ops/types.def>
    };
    return formats[dtype < PTO_DTYPE_COUNT ? dtype : 0];
}
/* Significant bits of a float, the leading one included: integers of at most so many are exact. 0 of other types. */
static inline int pto_dtype_significand_bits(pto_dtype dtype)
{
    const pto_float_format f = pto_dtype_float_format(dtype);
    return f.exponent_bits > 0 ? f.mantissa_bits + 1 : 0;
}
/* The exponent of the least normal value of a float. */
static inline int pto_dtype_exponent_min(pto_dtype dtype)
{
    return 2 - (1 << pto_dtype_float_format(dtype).exponent_bits) / 2;
}
/* The largest finite value of a float. */
static inline double pto_dtype_float_max(pto_dtype dtype)
{
    const pto_float_format f = pto_dtype_float_format(dtype);
    const uint32_t one = UINT32_C(1) << f.mantissa_bits;
    const int exponent = (int)(f.largest >> f.mantissa_bits) - 1 + pto_dtype_exponent_min(dtype) - f.mantissa_bits;
    return ldexp((double)((f.largest & (one - 1)) | one), exponent);
}

#endif
