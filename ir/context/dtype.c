/* The tables of ir/ops/types.def. */
#include "ir/context/context.h"

typedef struct dtype_info {
    const char *name;
    uint32_t bits;
    dtype_class class;
    const char *numpy, *mlir;
} dtype_info;

static const dtype_info dtypes[DTYPE_COUNT] = {
    [DTYPE_NONE] = {"none", 0, DTYPE_CLASS_NONE, NULL, NULL},
#define DTYPE(ID, text, bits, class, exponent_bits, mantissa_bits, largest, quiet_nan, numpy, mlir) \
    [DTYPE_##ID] = {text, bits, DTYPE_CLASS_##class, numpy, mlir},
#include "ir/ops/types.def"
};

static const char *const spaces[SPACE_COUNT] = {
    [SPACE_NONE] = "?",
#define SPACE(ID, text, role, doc) [SPACE_##ID] = (text),
#include "ir/ops/types.def"
};

static const uint8_t roles[SPACE_COUNT] = {
#define SPACE(ID, text, role, doc) [SPACE_##ID] = SPACE_ROLE_##role,
#include "ir/ops/types.def"
};

static const char *const layouts[LAYOUT_COUNT] = {
    [LAYOUT_NONE] = "none",
#define LAYOUT(ID, text, doc) [LAYOUT_##ID] = (text),
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

const char *dtype_numpy(dtype d)
{
    BUG_IF(d >= DTYPE_COUNT, "element type number %d", (int)d);
    return dtypes[d].numpy;
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

const char *space_name(space s)
{
    BUG_IF(s >= SPACE_COUNT, "space number %d", (int)s);
    return spaces[s];
}

space space_by_name(str s)
{
    for (uint32_t i = SPACE_NONE + 1; i < SPACE_COUNT; i++) {
        if (str_is(s, spaces[i])) return (space)i;
    }
    return SPACE_NONE;
}

space_role space_role_of(space s)
{
    BUG_IF(s >= SPACE_COUNT, "space number %d", (int)s);
    return (space_role)roles[s];
}

const char *layout_name(layout l)
{
    BUG_IF(l >= LAYOUT_COUNT, "layout number %d", (int)l);
    return layouts[l];
}

layout layout_by_name(str s)
{
    for (uint32_t i = LAYOUT_NONE + 1; i < LAYOUT_COUNT; i++) {
        if (str_is(s, layouts[i])) return (layout)i;
    }
    return LAYOUT_NONE;
}
