#include "ir/op_info.h"

#include "ir/op_rules.h" /* IWYU pragma: keep (rows of the tables name the rules) */

#include <string.h>

/* Rows leave fields out and override a default given before them: that is what a form is. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#ifdef __clang__
#pragma GCC diagnostic ignored "-Winitializer-overrides"
#else
#pragma GCC diagnostic ignored "-Woverride-init"
#endif

/* Operands by rule: PTO_<rule> of the instruction, TILE_<rule> of the value form. */
#define ONE_TILE(name) {name, TY_TILE}
#define SCRATCH {"tmp", TY_TILE, DT_ANY}
#define ACC(name) {name, TY_TILE, DT(F32) | DT(I32)}
#define VALUE .out_count = 1, .out_types = TY_TILE, .traits = TRAIT_PURE
#define ROW_SCRATCH .in_optional = 1

#define PTO_RULE_LOAD .in = {ONE_TILE("dst"), {"src", TY_GM}}, .syntax = "$0, $1[offsets]"
#define TILE_RULE_LOAD \
    .in = {{"src", TY_MEMORY}}, .syntax = "$0[offsets] size(sizes)", .out_count = 1, .out_types = TY_TILE
#define PTO_RULE_STORE .in = {{"dst", TY_GM}, ONE_TILE("src")}, .syntax = "$0[offsets], $1"
#define TILE_RULE_STORE .in = {ONE_TILE("src"), {"dst", TY_MEMORY}}, .syntax = "$0, $1[offsets]"
#define PTO_RULE_FILL .in = {ONE_TILE("dst"), {"scalar", TY_SCALAR}}
#define TILE_RULE_FILL .in = {{"scalar", TY_SCALAR}}, .syntax = "$0 valid(valid)", VALUE
#define PTO_RULE_MOVE .in = {ONE_TILE("dst"), ONE_TILE("src")}
#define TILE_RULE_MOVE .in = {ONE_TILE("src")}, VALUE
#define PTO_RULE_UNARY .in = {ONE_TILE("dst"), ONE_TILE("a")}
#define TILE_RULE_UNARY .in = {ONE_TILE("a")}, VALUE
#define PTO_RULE_BINARY .in = {ONE_TILE("dst"), ONE_TILE("a"), ONE_TILE("b")}
#define TILE_RULE_BINARY .in = {ONE_TILE("a"), ONE_TILE("b")}, VALUE
#define PTO_RULE_SCALAR .in = {ONE_TILE("dst"), ONE_TILE("a"), {"scalar", TY_SCALAR}}
#define TILE_RULE_SCALAR .in = {ONE_TILE("a"), {"scalar", TY_SCALAR}}, VALUE
#define PTO_RULE_CONVERT PTO_RULE_UNARY
#define TILE_RULE_CONVERT TILE_RULE_UNARY
#define PTO_RULE_ROW_REDUCE .in = {ONE_TILE("dst"), ONE_TILE("a"), SCRATCH}, ROW_SCRATCH
#define TILE_RULE_ROW_REDUCE TILE_RULE_UNARY
#define PTO_RULE_COL_REDUCE PTO_RULE_UNARY
#define TILE_RULE_COL_REDUCE TILE_RULE_UNARY
#define PTO_RULE_ROW_EXPAND .in = {ONE_TILE("dst"), ONE_TILE("v")}
#define TILE_RULE_ROW_EXPAND .in = {ONE_TILE("v")}, VALUE
#define PTO_RULE_COL_EXPAND PTO_RULE_ROW_EXPAND
#define TILE_RULE_COL_EXPAND TILE_RULE_ROW_EXPAND
#define PTO_RULE_ROW_BINARY .in = {ONE_TILE("dst"), ONE_TILE("a"), ONE_TILE("v"), SCRATCH}, ROW_SCRATCH
#define TILE_RULE_ROW_BINARY .in = {ONE_TILE("a"), ONE_TILE("v")}, VALUE
#define PTO_RULE_COL_BINARY .in = {ONE_TILE("dst"), ONE_TILE("a"), ONE_TILE("v")}
#define TILE_RULE_COL_BINARY TILE_RULE_ROW_BINARY
#define PTO_RULE_MATMUL .in = {ACC("acc"), ONE_TILE("left"), ONE_TILE("right")}
#define TILE_RULE_MATMUL .in = {ONE_TILE("left"), ONE_TILE("right")}, VALUE
#define PTO_RULE_MATMUL_ACC .in = {ACC("acc_out"), ACC("acc_in"), ONE_TILE("left"), ONE_TILE("right")}
#define TILE_RULE_MATMUL_ACC .in = {ACC("acc"), ONE_TILE("left"), ONE_TILE("right")}, VALUE
#define PTO_RULE_FILLPAD PTO_RULE_MOVE
#define TILE_RULE_FILLPAD TILE_RULE_MOVE
#define PTO_RULE_TRANSPOSE .in = {ONE_TILE("dst"), ONE_TILE("a"), SCRATCH}, ROW_SCRATCH
#define TILE_RULE_TRANSPOSE TILE_RULE_UNARY

static const op_info rows[OP_KIND_COUNT] = {
#define OP(ID, mnemonic, sentence, ...) [OP_##ID] = {.name = mnemonic, .doc = sentence, __VA_ARGS__},
#include "ir/ops/block.def"
#include "ir/ops/core.def"
#include "ir/ops/exec.def"
#include "ir/ops/tensor.def"
#include "ir/ops/tile.def"
#undef OP

#define INSN(ID, mnemonic, TILE_ID, tile_mnemonic, sentence, RULE, ...) \
    [OP_PTO_##ID] = {.name = "pto." mnemonic,                           \
                     .doc = sentence,                                   \
                     .home = HOME_PTO,                                  \
                     .since = 1,                                        \
                     .rule = RULE,                                      \
                     .partner = OP_TILE_##TILE_ID,                      \
                     PTO_##RULE,                                        \
                     __VA_ARGS__},
#define INSN_ONLY(ID, mnemonic, sentence, ...) \
    [OP_PTO_##ID] = {.name = "pto." mnemonic, .doc = sentence, .home = HOME_PTO, .since = 1, __VA_ARGS__},
#define VALUE_FORM(...)
#include "ir/ops/pto.def"
#undef INSN
#undef INSN_ONLY
#undef VALUE_FORM

#define INSN(ID, mnemonic, TILE_ID, tile_mnemonic, sentence, RULE, ...) \
    [OP_TILE_##TILE_ID] = {.name = "tile." tile_mnemonic,               \
                           .doc = sentence,                             \
                           .home = HOME_TILE,                           \
                           .since = 1,                                  \
                           .rule = RULE,                                \
                           .partner = OP_PTO_##ID,                      \
                           TILE_##RULE,                                 \
                           __VA_ARGS__},
#define INSN_ONLY(...)
#define VALUE_FORM(...) __VA_ARGS__,
#include "ir/ops/pto.def"
#undef INSN
#undef INSN_ONLY
#undef VALUE_FORM
};

/* A name's length and three of its characters, so that a lookup compares one number per row. The end of a name tells
 * more than its start. */
#define FROM_END(text, i) ((uint32_t)(unsigned char)(text)[sizeof(text) - 2 - (i)])
#define SIGNATURE(text)                                                                      \
    ((uint32_t)(sizeof(text) - 1) << 24 | FROM_END(text, 0) << 16 | FROM_END(text, 1) << 8 | \
     (uint32_t)(unsigned char)(text)[(sizeof(text) - 1) / 2])

static uint32_t signature_of(str name)
{
    const unsigned char *p = (const unsigned char *)name.p;
    return (uint32_t)name.n << 24 | (uint32_t)p[name.n - 1] << 16 | (uint32_t)p[name.n - 2] << 8 | p[name.n / 2];
}

static const uint32_t signatures[OP_KIND_COUNT] = {
#define OP(ID, mnemonic, ...) [OP_##ID] = SIGNATURE(mnemonic),
#include "ir/ops/block.def"
#include "ir/ops/core.def"
#include "ir/ops/exec.def"
#include "ir/ops/tensor.def"
#include "ir/ops/tile.def"
#undef OP
#define INSN(ID, mnemonic, TILE_ID, tile_mnemonic, ...) \
    [OP_PTO_##ID] = SIGNATURE("pto." mnemonic), [OP_TILE_##TILE_ID] = SIGNATURE("tile." tile_mnemonic),
#define INSN_ONLY(ID, mnemonic, ...) [OP_PTO_##ID] = SIGNATURE("pto." mnemonic),
#include "ir/ops/pto.def"
#undef INSN
#undef INSN_ONLY
};

const op_info *op_info_at(op_kind kind)
{
    BUG_IF(kind == OP_NONE || kind >= OP_KIND_COUNT, "there is no op kind %u", kind);
    return &rows[kind];
}

op_kind op_kind_by_name(str name)
{
    if (name.n < 2 || name.n > 255) return OP_NONE;
    uint32_t signature = signature_of(name);
    for (uint32_t k = 1; k < OP_KIND_COUNT; k++) {
        if (signatures[k] == signature && memcmp(rows[k].name, name.p, name.n) == 0) return (op_kind)k;
    }
    return OP_NONE;
}

uint32_t op_kind_count(void) { return OP_KIND_COUNT; }

const char *op_nearest_name(str name)
{
    const char *names[OP_KIND_COUNT];
    for (uint32_t k = 1; k < OP_KIND_COUNT; k++) names[k - 1] = rows[k].name;
    names[OP_KIND_COUNT - 1] = NULL;
    return str_nearest(name, names);
}

const attr_spec *op_attr_spec(const op_info *info, str name)
{
    for (size_t i = 0; i < sizeof info->attrs / sizeof info->attrs[0] && info->attrs[i].name != NULL; i++) {
        if (str_is(name, info->attrs[i].name)) return &info->attrs[i];
    }
    return NULL;
}

bool op_has_hint(str name)
{
    for (uint32_t k = OP_NONE + 1; k < op_kind_count(); k++) {
        const attr_spec *spec = op_attr_spec(op_info_at((op_kind)k), name);
        if (spec != NULL && spec->hint) return true;
    }
    return false;
}

bool attr_spec_allows(const attr_spec *spec, str word)
{
    for (const char *at = spec->choices; at != NULL;) {
        size_t n = strcspn(at, "|");
        if (str_eq(word, (str){at, n})) return true;
        at = at[n] == 0 ? NULL : at + n + 1;
    }
    return false;
}

static const char *const level_names[LEVEL_COUNT] = {
    [LEVEL_NONE] = "none",     [LEVEL_TENSOR] = "tensor/1", [LEVEL_TILE] = "tile/1",
    [LEVEL_BLOCK] = "block/1", [LEVEL_EXEC] = "exec/1",
};

const char *level_name(ir_level l)
{
    BUG_IF((uint32_t)l >= LEVEL_COUNT, "there is no level %d", (int)l);
    return level_names[l];
}

ir_level level_by_name(str s)
{
    for (uint32_t l = LEVEL_NONE + 1; l < LEVEL_COUNT; l++) {
        if (str_is(s, level_names[l])) return (ir_level)l;
    }
    return LEVEL_NONE;
}

static const char *const pipe_names[PIPE_COUNT] = {
    [PIPE_NONE] = "none", [PIPE_SCALAR] = "s", [PIPE_VECTOR] = "v", [PIPE_MTE1] = "mte1", [PIPE_MTE2] = "mte2",
    [PIPE_MTE3] = "mte3", [PIPE_MATRIX] = "m", [PIPE_FIX] = "fix",  [PIPE_ALL] = "all",
};

const char *pipe_name(pipe_kind p)
{
    BUG_IF((uint32_t)p >= PIPE_COUNT, "there is no pipe %d", (int)p);
    return pipe_names[p];
}
