/* The element types of ir/ops/types.def. */
#include "ir/context/context.h"

typedef struct dtype_info {
    const char *name;
    uint32_t bits;
    dtype_class class;
    const char *mlir;
} dtype_info;

static const dtype_info dtypes[DTYPE_COUNT] = {
    [DTYPE_NONE] = {"none", 0, DTYPE_CLASS_NONE, NULL},
#define DTYPE(ID, text, bits, class, exponent_bits, mantissa_bits, largest, quiet_nan, numpy, mlir, ...) \
    [DTYPE_##ID] = {text, bits, DTYPE_CLASS_##class, mlir},
#include "ir/ops/types.def"
};

const char *dtype_name(dtype d)
{
    BUG_IF(d >= DTYPE_COUNT, "element type number %d", (int)d);
    return dtypes[d].name;
}

uint32_t dtype_bits(dtype d)
{
    BUG_IF(d >= DTYPE_COUNT, "element type number %d", (int)d);
    return dtypes[d].bits;
}

uint32_t dtype_bytes(dtype d) { return (dtype_bits(d) + 7) / 8; }

dtype_class dtype_class_of(dtype d)
{
    BUG_IF(d >= DTYPE_COUNT, "element type number %d", (int)d);
    return dtypes[d].class;
}

const char *dtype_mlir(dtype d)
{
    BUG_IF(d >= DTYPE_COUNT, "element type number %d", (int)d);
    return dtypes[d].mlir;
}

dtype dtype_by_name(str s)
{
    if (s.n == 0) return DTYPE_NONE;
    for (uint32_t d = DTYPE_NONE + 1; d < DTYPE_COUNT; d++) {
        if (dtypes[d].name[0] == s.p[0] && str_is(s, dtypes[d].name)) return (dtype)d;
    }
    return DTYPE_NONE;
}
