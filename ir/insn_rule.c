/* The tables of ir/ops/rules.def, one view of the rows after the other. */
#include "ir/insn_rule.h"

#include "ir/op_info.h"

enum {
    PLAIN = 0,
    SAME_LAYOUT = OPERAND_SAME_LAYOUT,
    IN_PLACE = OPERAND_IN_PLACE | SAME_LAYOUT,
    CONTINUED = OPERAND_CONTINUED | IN_PLACE,
    SUMS = OPERAND_SUMS,
    CONVERTED = OPERAND_CONVERTED,
    BITS = OPERAND_MASK | OPERAND_SAME_LAYOUT,
    INDICES = OPERAND_INDEX,
    RECORDS = OPERAND_RECORD,
    FACTORS = OPERAND_FACTORS,
    ROUNDED = OPERAND_ROUNDED
};
#define ON(role) (1u << SPACE_ROLE_##role)
#define ON_CHIP (~ON(GLOBAL))
/* Of a tile; 0: those of the op. */
#define DTYPES_OF(flags)                                    \
    (((flags) & OPERAND_SUMS) != 0      ? DT(F32) | DT(I32) \
     : ((flags) & OPERAND_MASK) != 0    ? DT(MASK)          \
     : ((flags) & OPERAND_INDEX) != 0   ? DT(I32)           \
     : ((flags) & OPERAND_RECORD) != 0  ? DT(REC64)         \
     : ((flags) & OPERAND_FACTORS) != 0 ? DT(F32)           \
                                        : 0)

/* ---- operands of instructions ---- */
#define TILE(name, shape, spaces, flags) {name, TY_TILE, DTYPES_OF(flags), flags, shape, spaces},
#define MEMORY(name) {name, TY_GM, 0, 0, "", 0},
#define SCALAR(name) {name, TY_SCALAR, 0, 0, "", 0},
#define SCRATCH(name, size) {name, TY_TILE, DT_ANY | DT(REC64), OPERAND_WRITTEN | OPERAND_SCRATCH, "", 0},
#define TILE_OUT(name, shape, spaces, flags) TILE(name, shape, spaces, OPERAND_WRITTEN | (flags))
#define MEMORY_OUT(name) {name, TY_GM, 0, OPERAND_WRITTEN, "", 0},
#define SCALAR_OUT
#define NOTHING_OUT
const operand_spec insn_operands[RULE_COUNT][INSN_OPERANDS_MAX + 1] = {
#define RULE(ID, target, sources, ...) [RULE_##ID] = {target sources},
#include "ir/ops/rules.def"
};

/* ---- operands of value forms: no scratch, a tile that is written is the result, memory may be a tensor ---- */
#undef TILE_OUT
#define TILE_OUT(...)
#undef MEMORY
#define MEMORY(name) {name, TY_MEMORY, 0, 0, "", 0},
#undef MEMORY_OUT
#define MEMORY_OUT(name) {name, TY_MEMORY, 0, OPERAND_WRITTEN, "", 0},
#undef SCRATCH
#define SCRATCH(...)
const operand_spec insn_value_operands[RULE_COUNT][INSN_OPERANDS_MAX + 1] = {
#define RULE(ID, target, sources, ...) [RULE_##ID] = {sources target{0}},
#include "ir/ops/rules.def"
};

/* ---- the rest of a row ---- */
#undef TILE
#define TILE(...)
#undef MEMORY
#define MEMORY(...)
#undef SCALAR
#define SCALAR(...)
#undef SCRATCH
#define SCRATCH(name, size) , .tmp = TMP_##size
static const insn_rule_row rules[RULE_COUNT] = {
#define RULE(ID, target, sources, ...) [RULE_##ID] = {__VA_ARGS__ sources},
#include "ir/ops/rules.def"
};

const insn_rule_row *insn_rule_at(insn_rule rule)
{
    BUG_IF(rule == RULE_NONE || rule >= RULE_COUNT, "there is no rule %d", (int)rule);
    return &rules[rule];
}
